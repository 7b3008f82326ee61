// The game server: codes, donators, bans and chargebacks, the secret, and misbehaviour on demand.

import { describe, expect, test } from "bun:test";
import { type GameServer, startGameServer } from "../../../src/simulator/game/game-server.ts";
import { misbehaviours } from "../../../src/simulator/game/misbehaviour.ts";
import { testWith } from "../../support/test-with.ts";

const gameTest = testWith(() => startGameServer());

function call(game: GameServer, method: string, path: string, body?: unknown, secret = game.secret) {
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
	gameTest("a code links the account, once", async (game) => {
		const { code, uuid } = game.issueCode({ username: "Alex" });
		expect(await verify(game, code)).toEqual({ success: true, username: "Alex", uuid });
		expect(game.links.get("7")).toEqual({ username: "Alex", uuid });
		expect(game.codes.size).toBe(0);
		expect(await verify(game, code)).toEqual({ success: false, error: "This code has been used already." });
	});

	test("unknown, expired and lower-case codes link nothing", async () => {
		const expiresAt = Date.now() + 60_000;
		await using game = await startGameServer({ codes: [{ code: "GOOD22", username: "Alex", uuid: "u", expiresAt }] });
		const old = game.issueCode({ validMs: -1 });
		for (const code of ["NOPE22", "good22"]) expect((await verify(game, code)).error).toBe("This code is not known.");
		expect((await verify(game, old.code)).error).toContain("expired");
		expect(game.links.size).toBe(0);
		expect((await verify(game, "GOOD22")).success).toBe(true);
	});

	test("a wrong secret gets 401, an invalid body 400", async () => {
		await using game = await startGameServer({ secret: "s3cret" });
		const { code } = game.issueCode();
		const body = { code, chat_id: "7" };
		for (const secret of ["", "s3cre", "s3crets", "S3CRET"])
			expect((await call(game, "POST", "/api/verify", body, secret)).status).toBe(401);
		expect((await call(game, "POST", "/api/verify", "x")).status).toBe(400);
		expect(game.links.size).toBe(0);
		expect(game.requests.map(({ status }) => status)).toEqual([401, 401, 401, 401, 400]);
	});
});

describe("donators and bans", () => {});

/** A bot that records requests and responds with 202. */
function startListener() {
	const heard: { path: string; authorization: string | null; body: string }[] = [];
	const server = Bun.serve({
		hostname: "127.0.0.1",
		port: 0,
		fetch: async (request) => {
			const { pathname } = new URL(request.url);
			const authorization = request.headers.get("authorization");
			heard.push({ path: pathname, authorization, body: await request.text() });
			return Response.json({ success: true }, { status: 202 });
		},
	});
	return { url: `http://127.0.0.1:${server.port}`, heard, [Symbol.asyncDispose]: () => server.stop(true) };
}

describe("chargebacks", () => {});

describe("misbehaviour", () => {
	gameTest("the misbehaviour of a route precedes that of all routes", async (game) => {
		const status = async (method: string, path: string) =>
			(await call(game, method, path, method === "POST" ? {} : undefined)).status;
		game.misbehave("500", { route: "GET /api/donators" });
		expect(await status("GET", "/api/donators")).toBe(500);
		expect(await status("POST", "/api/ban")).toBe(400);
		game.misbehave("403");
		expect(await status("GET", "/api/donators")).toBe(500);
		expect(await status("POST", "/api/ban")).toBe(403);
		game.behave();
		expect(await status("GET", "/api/donators")).toBe(200);
	});

	gameTest("the control routes set misbehaviour, codes, donators and chargebacks", async (game) => {
		const control = async (path: string, body: unknown, headers = {}, method = "POST") => {
			const response = await fetch(`${game.url}/simulator/${path}`, { method, headers, body: JSON.stringify(body) });
			const told = (await response.json()) as Record<string, unknown>;
			return { status: response.status, body: told };
		};
		const { code } = (await control("codes", { username: "Alex" })).body;
		for (const kind of misbehaviours) expect((await control("misbehave", { kind })).status).toBe(200);
		expect((await control("misbehave", { kind: "nice" })).status).toBe(400);
		const foreign = { origin: "http://evil.example" };
		expect((await control("codes", {}, foreign)).status).toBe(403);
		await control("behave", {});
		expect((await verify(game, String(code))).username).toBe("Alex");
		const donators = [{ chat_id: "7", tier: "premium" }];
		await control("donators", { donators }, {}, "PUT");
		expect(game.donators).toMatchObject(donators);
		await using bot = startListener();
		const event = { username: "Alex", timestamp: "2026-01-02T03:04:05Z" };
		const target = { url: bot.url, chat_id: "7", tier: "premium" };
		const sent = await control("chargebacks", { ...target, ...event });
		expect(sent.body).toMatchObject({ status: 202, event: { chat_id: "7" } });
		expect(JSON.parse(bot.heard[0]?.body ?? "")).toMatchObject(event);
	});
});
