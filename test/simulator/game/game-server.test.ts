// The game server: codes, donators, bans and chargebacks, the secret, and misbehaviour on demand.

import { describe, expect, test } from "bun:test";
import { type GameServer, startGameServer } from "../../../src/simulator/game/game-server.ts";
import { longError, type Misbehaviour, misbehaviours } from "../../../src/simulator/game/misbehaviour.ts";
import { testWith } from "../../support/test-with.ts";
import { until } from "../../support/until.ts";

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

describe("donators and bans", () => {
	gameTest("donators are listed and bans are recorded", async (game) => {
		const given = { chat_id: "7", tier: "premium" };
		const { uuid } = game.addDonator(given);
		const list = await call(game, "GET", "/api/donators");
		expect(await list.json()).toEqual({ donators: [{ ...given, uuid, username: "player1" }] });
		await call(game, "POST", "/api/ban", { uuid: "u", reason: "chargeback" });
		expect(game.bans.get("u")).toBe("chargeback");
	});

	test("the field of Discord ids can be called discord_id", async () => {
		await using game = await startGameServer({ idField: "discord_id" });
		game.addDonator({ chat_id: "7", tier: "premium" });
		const ids = async () => {
			const list = await call(game, "GET", "/api/donators");
			const { donators } = (await list.json()) as { donators: Record<string, unknown>[] };
			return donators.map(({ chat_id, discord_id }) => [chat_id, discord_id]);
		};
		expect(await ids()).toEqual([[undefined, "7"]]);
		game.idField = "chat_id";
		expect(await ids()).toEqual([["7", undefined]]);
	});
});

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

describe("chargebacks", () => {
	gameTest("one is sent to the bot with the secret, and can be sent again", async (game) => {
		await using bot = startListener();
		const given = { username: "Steve", chatId: null, tier: "premium" };
		const told = await game.chargeback(given, bot);
		expect(told).toMatchObject({ status: 202, body: { success: true } });
		expect(told.event).toEqual({
			uuid: expect.any(String),
			username: "Steve",
			chat_id: null,
			tier: "premium",
			timestamp: expect.any(String),
		});
		await told.again();
		const [first, second] = bot.heard;
		expect(first).toEqual({
			path: "/webhook/chargeback",
			authorization: `Bearer ${game.secret}`,
			body: JSON.stringify(told.event),
		});
		expect(second).toEqual(first);
	});

	test("it can be sent with a wrong secret, without one, and with any body", async () => {
		await using game = await startGameServer({ idField: "discord_id" });
		await using bot = startListener();
		const given = { username: "Steve", chatId: "7", tier: "premium" };
		const { url } = bot;
		const { event } = await game.chargeback(given, { url, secret: "wrong" });
		expect(event.discord_id).toBe("7");
		await game.chargeback(given, { url, secret: null, body: "{" });
		await game.chargeback(given, { url, body: { uuid: 7 } });
		expect(bot.heard.map(({ authorization }) => authorization)).toEqual([
			"Bearer wrong",
			null,
			`Bearer ${game.secret}`,
		]);
		expect(bot.heard.slice(1).map(({ body }) => body)).toEqual(["{", '{"uuid":7}']);
	});
});

describe("misbehaviour", () => {
	test.each([
		["html", 200],
		["401", 401],
		["500", 500],
		["redirect", 307],
		["wrong-types", 200],
		["204", 204],
		["403", 403],
		["404", 404],
		["no-error", 200],
		["no-username", 200],
		["long-error", 200],
		["refused-400", 400],
		["refused-404", 404],
		["refused-409", 409],
		["large", 200],
	] as const)("%s is sent once, and links nothing", async (kind, status) => {
		await using game = await startGameServer();
		const { code } = game.issueCode();
		game.misbehave(kind, { times: 1 });
		const body = { code, chat_id: "7" };
		const wrong = await call(game, "POST", "/api/verify", body);
		expect(wrong.status).toBe(status);
		expect(game.links.size).toBe(0);
		expect((await verify(game, code)).success).toBe(true);
	});

	gameTest("a cut response ends in the middle, after linking the account if executed", async (game) => {
		const { code } = game.issueCode();
		game.misbehave("cut", { executed: true });
		const answer = call(game, "POST", "/api/verify", { code, chat_id: "7" });
		await expect(answer.then((response) => response.text())).rejects.toThrow();
		expect(game.links.size).toBe(1);
	});

	gameTest("a huge response has over 60 MB", async (game) => {
		game.misbehave("huge");
		const response = await call(game, "GET", "/api/donators");
		const { byteLength } = await response.arrayBuffer();
		expect(byteLength).toBeGreaterThan(60_000_000);
	});

	gameTest("refusals have the documented form and text", async (game) => {
		const body = async (kind: Misbehaviour) => {
			game.misbehave(kind, { times: 1 });
			const response = await call(game, "POST", "/api/verify", {});
			return response.text();
		};
		expect(longError).toHaveLength(5000);
		const text = expect.any(String);
		for (const [kind, expected] of [
			["long-error", { success: false, error: longError }],
			["refused-409", { success: false, error: text }],
			["no-error", { success: false }],
			["no-username", { success: true, uuid: text }],
		] as const)
			expect(JSON.parse(await body(kind))).toEqual(expected);
		expect(await body("404")).not.toStartWith("{");
		expect((await body("large")).length).toBeGreaterThan(65_536);
	});

	gameTest("the list of donators is empty, wrong or shorter on demand", async (game) => {
		for (let number = 0; number < 8; number += 1) game.addDonator({ chat_id: `${number}`, tier: "premium" });
		const list = async (kind: Misbehaviour) => {
			game.misbehave(kind, { times: 1 });
			const response = await call(game, "GET", "/api/donators");
			const { donators } = (await response.json()) as { donators: unknown[] };
			return donators;
		};
		expect(await list("no-donators")).toEqual([]);
		expect(await list("fewer-donators")).toHaveLength(2);
		expect(await list("wrong-donators")).toContain("someone");
	});

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

	gameTest("a trickling response begins at once and ends at behave()", async (game) => {
		const { code } = game.issueCode();
		game.misbehave("trickle");
		const body = { code, chat_id: "7" };
		const response = await call(game, "POST", "/api/verify", body);
		expect(response.status).toBe(200);
		expect(game.links.size).toBe(1);
		game.behave();
		expect(await response.json()).toMatchObject({ success: true });
	});

	gameTest("a slow response is sent at behave()", async (game) => {
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

	gameTest("a slow response ends when the client disconnects", async (game) => {
		game.misbehave("slow");
		const controller = new AbortController();
		const { signal } = controller;
		const answer = fetch(`${game.url}/api/donators`, { signal });
		await until("it is held", () => game.requests[0]?.status === "waiting");
		controller.abort();
		await expect(answer).rejects.toThrow();
		await until("it is over", () => game.requests[0]?.status === "no answer");
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
