// The game server: codes are used once and in time, the secret is checked, and its answers go wrong on demand.

import { describe, expect, test } from "bun:test";
import {
	type GameServer,
	misbehaviours,
	startGameServer,
} from "../../src/simulator/game-server.ts";
import { until } from "../support/until.ts";

function call(
	game: GameServer,
	method: string,
	path: string,
	body?: unknown,
	secret = game.secret,
) {
	return fetch(`${game.url}${path}`, {
		method,
		redirect: "manual",
		headers: { authorization: `Bearer ${secret}` },
		...(body === undefined ? {} : { body: JSON.stringify(body) }),
	});
}

async function verify(game: GameServer, code: string, chat_id = "7") {
	const response = await call(game, "POST", "/api/verify", { code, chat_id });
	return (await response.json()) as Record<string, unknown>;
}

describe("verifying", () => {
	test("a code links the account, once", async () => {
		await using game = await startGameServer();
		const { code, uuid } = game.issueCode({ username: "Alex" });
		expect(await verify(game, code)).toEqual({
			success: true,
			username: "Alex",
			uuid,
		});
		expect(game.links.get("7")).toEqual({ username: "Alex", uuid });
		expect(game.codes.size).toBe(0);
		expect(await verify(game, code)).toEqual({
			success: false,
			error: "This code has been used already.",
		});
	});

	test("unknown, expired and lower-case codes link nothing", async () => {
		await using game = await startGameServer({
			codes: [
				{
					code: "GOOD22",
					username: "Alex",
					uuid: "u",
					expiresAt: Date.now() + 60_000,
				},
			],
		});
		const old = game.issueCode({ validMs: -1 });
		expect((await verify(game, "NOPE22")).error).toBe(
			"This code is not known.",
		);
		expect((await verify(game, "good22")).error).toBe(
			"This code is not known.",
		);
		expect((await verify(game, old.code)).error).toContain("expired");
		expect(game.links.size).toBe(0);
		expect((await verify(game, "GOOD22")).success).toBe(true);
	});

	test("a wrong secret is answered 401, and a body that is none 400", async () => {
		await using game = await startGameServer({ secret: "s3cret" });
		const { code } = game.issueCode();
		const body = { code, chat_id: "7" };
		for (const secret of ["", "s3cre", "s3crets", "S3CRET"])
			expect(
				(await call(game, "POST", "/api/verify", body, secret)).status,
			).toBe(401);
		expect((await call(game, "POST", "/api/verify", "x")).status).toBe(400);
		expect(game.links.size).toBe(0);
		expect(game.requests.map(({ status }) => status)).toEqual([
			401, 401, 401, 401, 400,
		]);
	});
});

test("donators are listed and bans are noted", async () => {
	await using game = await startGameServer();
	game.donators.push({ chat_id: "7", tier: "premium" });
	const list = await call(game, "GET", "/api/donators");
	expect(await list.json()).toEqual({
		donators: [{ chat_id: "7", tier: "premium" }],
	});
	await call(game, "POST", "/api/ban", { uuid: "u", reason: "chargeback" });
	expect(game.bans.get("u")).toBe("chargeback");
});

describe("misbehaviour", () => {
	test.each([
		["html", 200],
		["401", 401],
		["500", 500],
		["redirect", 307],
		["wrong-types", 200],
	] as const)(
		"%s is answered once, and links nothing",
		async (kind, status) => {
			await using game = await startGameServer();
			const { code } = game.issueCode();
			game.misbehave(kind, { times: 1 });
			const wrong = await call(game, "POST", "/api/verify", {
				code,
				chat_id: "7",
			});
			expect(wrong.status).toBe(status);
			expect(game.links.size).toBe(0);
			expect((await verify(game, code)).success).toBe(true);
		},
	);

	test("a cut answer ends in its middle, with the account linked if so told", async () => {
		await using game = await startGameServer();
		const { code } = game.issueCode();
		game.misbehave("cut", { executed: true });
		const answer = call(game, "POST", "/api/verify", { code, chat_id: "7" });
		await expect(answer.then((response) => response.text())).rejects.toThrow();
		expect(game.links.size).toBe(1);
	});

	test("a huge answer is huge", async () => {
		await using game = await startGameServer();
		game.misbehave("huge");
		const response = await call(game, "GET", "/api/donators");
		expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(
			60_000_000,
		);
	});

	test("a slow answer comes when the server behaves again", async () => {
		await using game = await startGameServer();
		const { code } = game.issueCode();
		game.misbehave("slow");
		let answered = false;
		const answer = verify(game, code).then((body) => {
			answered = true;
			return body;
		});
		await until("it is held", () => game.requests[0]?.status === "waiting");
		expect(answered).toBe(false);
		game.behave();
		expect((await answer).success).toBe(true);
	});

	test("a slow answer is over for a client that hangs up", async () => {
		await using game = await startGameServer();
		game.misbehave("slow");
		const controller = new AbortController();
		const answer = fetch(`${game.url}/api/donators`, {
			signal: controller.signal,
		});
		await until("it is held", () => game.requests[0]?.status === "waiting");
		controller.abort();
		await expect(answer).rejects.toThrow();
		await until("it is over", () => game.requests[0]?.status === "no answer");
	});

	test("it is ordered over the control routes too, and so is a code", async () => {
		await using game = await startGameServer();
		const control = async (path: string, body: unknown, headers = {}) => {
			const response = await fetch(`${game.url}/simulator/${path}`, {
				method: "POST",
				headers,
				body: JSON.stringify(body),
			});
			return {
				status: response.status,
				body: (await response.json()) as unknown,
			};
		};
		const issued = await control("codes", { username: "Alex" });
		const { code } = issued.body as { code: string };
		for (const kind of misbehaviours)
			expect((await control("misbehave", { kind })).status).toBe(200);
		expect((await control("misbehave", { kind: "nice" })).status).toBe(400);
		expect(
			(await control("codes", {}, { origin: "http://evil.example" })).status,
		).toBe(403);
		await control("behave", {});
		expect((await verify(game, code)).username).toBe("Alex");
	});
});
