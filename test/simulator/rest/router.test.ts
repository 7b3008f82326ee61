// What all routes have in common: who may ask, what a request may look like, and what Discord says to the rest.

import { describe, expect, test } from "bun:test";
import { as, startSimulator } from "../support.ts";

describe("authorisation", () => {
	test("a bot says who it is with the prefix Bot, a person without", async () => {
		await using simulator = await startSimulator();
		const bot = simulator.bot("alpha");
		const person = simulator.user("ada");
		const status = async (authorization: string) => {
			const response = await fetch(`${simulator.api}/v10/users/@me`, {
				headers: { authorization },
			});
			return response.status;
		};
		expect(await status(`Bot ${bot.token}`)).toBe(200);
		expect(await status(person.token)).toBe(200);
		expect(await status(bot.token)).toBe(401);
		expect(await status(`Bot ${person.token}`)).toBe(401);
		expect(await status("Bot nonsense")).toBe(401);
		expect(await status("")).toBe(401);
		expect(simulator.requests.invalid).toBe(4);
	});

	test("without a token the answer is Discord's 401", async () => {
		await using simulator = await startSimulator();
		const response = await fetch(`${simulator.api}/users/@me`);
		expect(await response.json()).toEqual({
			message: "401: Unauthorized",
			code: 0,
		});
	});
});

describe("paths", () => {
	test("versions 9 and 10 are served, and none; others are refused", async () => {
		await using simulator = await startSimulator();
		const authorization = simulator.user("ada").token;
		const status = async (prefix: string) => {
			const response = await fetch(`${simulator.url}${prefix}/users/@me`, {
				headers: { authorization },
			});
			return response.status;
		};
		expect(await status("/api")).toBe(200);
		expect(await status("/api/v9")).toBe(200);
		expect(await status("/api/v10")).toBe(200);
		expect(await status("/api/v6")).toBe(400);
	});

	test("a route that is not simulated is answered 501, named and listed", async () => {
		await using simulator = await startSimulator();
		const ada = as(simulator, simulator.user("ada"));
		const answer = await ada("GET", "/guilds/1/stickers");
		expect(answer.status).toBe(501);
		expect(answer.json().message).toBe(
			"The simulator does not simulate GET /guilds/1/stickers.",
		);
		expect(simulator.unknownRoutes).toEqual([
			{ method: "GET", path: "/guilds/1/stickers", count: 1 },
		]);
	});

	test("a known path with a method it has not is answered 405", async () => {
		await using simulator = await startSimulator();
		const ada = as(simulator, simulator.user("ada"));
		const answer = await ada("DELETE", "/gateway");
		expect(answer.status).toBe(405);
		expect(answer.json()).toEqual({
			message: "405: Method Not Allowed",
			code: 0,
		});
		expect(simulator.unknownRoutes).toEqual([]);
	});

	test("an id that is none is a fault of its field", async () => {
		await using simulator = await startSimulator();
		const ada = as(simulator, simulator.user("ada"));
		for (const id of ["abc", "-1", "99999999999999999999", "%00"]) {
			const answer = await ada("GET", `/channels/${id}`);
			expect(answer.code).toBe(50035);
			expect(answer.faults).toEqual({ channel_id: "NUMBER_TYPE_COERCE" });
		}
	});

	test("what does not exist has Discord's number for its kind", async () => {
		await using simulator = await startSimulator();
		const ada = as(simulator, simulator.user("ada"));
		const { id: guild } = simulator.guild("The Cooks");
		const { id: channel } = simulator.channel("The Cooks/general");
		const code = async (method: string, path: string) =>
			(await ada(method, path)).code;
		expect(await code("GET", "/guilds/1")).toBe(10004);
		expect(await code("GET", "/channels/1")).toBe(10003);
		expect(await code("GET", `/channels/${channel}/messages/1`)).toBe(10008);
		expect(await code("GET", `/guilds/${guild}/roles/1`)).toBe(10011);
		expect(await code("GET", `/guilds/${guild}/members/1`)).toBe(10013);
		expect(await code("GET", `/guilds/${guild}/bans/1`)).toBe(10026);
		expect(await code("PUT", `/guilds/${guild}/bans/1`)).toBe(10013);
		expect(await code("GET", "/users/1")).toBe(10013);
		const stranger = simulator.user("bob_the_baker").id;
		expect(await code("GET", `/guilds/${guild}/members/${stranger}`)).toBe(
			10007,
		);
		expect(
			await code("DELETE", `/channels/${channel}/permissions/${guild}`),
		).toBe(10009);
	});

	test("a guild that one is not in stays hidden", async () => {
		await using simulator = await startSimulator();
		const alpha = as(simulator, simulator.bot("alpha"));
		const { id } = simulator.guild("The Bakers");
		expect((await alpha("GET", `/guilds/${id}`)).code).toBe(10004);
		expect((await alpha("GET", `/guilds/${id}/roles`)).code).toBe(50001);
		const { id: channel } = simulator.channel("The Bakers/general");
		expect((await alpha("GET", `/channels/${channel}`)).code).toBe(50001);
	});
});

describe("bodies", () => {
	async function post(body: string, headers: Record<string, string>) {
		await using simulator = await startSimulator();
		const { id } = simulator.channel("The Cooks/general");
		const response = await fetch(
			`${simulator.api}/v10/channels/${id}/messages`,
			{
				method: "POST",
				headers: { authorization: simulator.user("ada").token, ...headers },
				body,
			},
		);
		const text = await response.text();
		return { status: response.status, text, simulator };
	}
	const json = { "content-type": "application/json" };

	test("what is not JSON is refused with 50109", async () => {
		const { status, text } = await post('{"content":', json);
		expect(status).toBe(400);
		expect(JSON.parse(text).code).toBe(50109);
	});

	test("nesting without end is refused, not followed", async () => {
		const deep = `{"components":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
		const { text } = await post(deep, json);
		expect(JSON.parse(text).code).toBe(50109);
	});

	test("another content type is a form fault", async () => {
		const { status, text } = await post("content=hello", {
			"content-type": "text/plain",
		});
		expect(status).toBe(400);
		expect(text).toContain("CONTENT_TYPE_INVALID");
	});

	test.each([
		["a list", "[]"],
		["a number", "7"],
		["a text", '"content"'],
		["null", "null"],
	])("%s in place of an object is a form fault", async (_, body) => {
		const { text } = await post(body, json);
		expect(JSON.parse(text).code).toBe(50035);
	});

	test("a key __proto__ changes nothing", async () => {
		const { status, text } = await post(
			'{"__proto__":{"content":"from the prototype"},"constructor":{}}',
			json,
		);
		expect(status).toBe(400);
		expect(JSON.parse(text).code).toBe(50006);
		expect(Object.hasOwn(Object.prototype, "content")).toBe(false);
	});

	test("a broken multipart body is refused", async () => {
		const { status } = await post("nonsense", {
			"content-type": "multipart/form-data; boundary=x",
		});
		expect(status).toBe(400);
	});

	test("every fault of a form is listed, at its path", async () => {
		await using simulator = await startSimulator();
		const ada = as(simulator, simulator.user("ada"));
		const { id } = simulator.channel("The Cooks/general");
		const answer = await ada("POST", `/channels/${id}/messages`, {
			content: "x".repeat(2001),
			tts: "perhaps",
			embeds: [
				{ title: "fine" },
				{ title: "x".repeat(257), fields: [{ name: "", value: 7 }] },
			],
			allowed_mentions: { parse: ["nobody"], users: "all" },
		});
		expect(answer.code).toBe(50035);
		expect(answer.faults).toEqual({
			content: "BASE_TYPE_MAX_LENGTH",
			tts: "BOOLEAN_TYPE_CONVERT",
			"embeds.1.title": "BASE_TYPE_MAX_LENGTH",
			"embeds.1.fields.0.name": "BASE_TYPE_BAD_LENGTH",
			"embeds.1.fields.0.value": "STRING_TYPE_CONVERT",
			"allowed_mentions.parse.0": "BASE_TYPE_CHOICES",
			"allowed_mentions.users": "LIST_TYPE_CONVERT",
		});
	});
});

test("the reason for the audit log arrives decoded", async () => {
	await using simulator = await startSimulator();
	const ada = as(simulator, simulator.user("ada"));
	const { id } = simulator.channel("The Cooks/general");
	await ada(
		"PATCH",
		`/channels/${id}`,
		{ topic: "soup" },
		{ "x-audit-log-reason": encodeURIComponent("weil ja, 是") },
	);
	const [entry] = simulator.journal.entries("PATCH /channels/:channel_id");
	expect(entry?.reason).toBe("weil ja, 是");
	expect(simulator.guild("The Cooks").auditLog.at(-1)?.reason).toBe(
		"weil ja, 是",
	);
});

test("a reason of more than 512 characters is refused", async () => {
	await using simulator = await startSimulator();
	const ada = as(simulator, simulator.user("ada"));
	const { id } = simulator.channel("The Cooks/general");
	const answer = await ada(
		"PATCH",
		`/channels/${id}`,
		{ topic: "soup" },
		{ "x-audit-log-reason": "x".repeat(513) },
	);
	expect(answer.code).toBe(50035);
	expect(simulator.journal.entries()).toEqual([]);
});

test("the journal lists what was executed, and nothing that was refused or only read", async () => {
	await using simulator = await startSimulator();
	const alpha = as(simulator, simulator.bot("alpha"));
	const { id } = simulator.channel("The Cooks/general");
	await alpha("GET", `/channels/${id}`);
	await alpha("POST", `/channels/${id}/messages`, {});
	await alpha("POST", `/channels/${id}/typing`);
	await alpha("POST", `/channels/${id}/messages`, {
		content: "a",
		nonce: "n1",
	});
	expect(simulator.journal.entries()).toMatchObject([
		{
			seq: 1,
			actor: simulator.bot("alpha").id,
			method: "POST",
			route: "POST /channels/:channel_id/messages",
			path: `/channels/${id}/messages`,
			body: { content: "a", nonce: "n1" },
			nonce: "n1",
		},
	]);
	expect(simulator.requests.list().map(({ status }) => status)).toEqual([
		200, 400, 204, 200,
	]);
});
