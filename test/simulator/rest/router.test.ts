// What all routes share: authentication, paths, bodies, and Discord's errors.

import { test as bunTest, describe, expect } from "bun:test";
import { allRoutes } from "../../../src/simulator/rest/routes/all.ts";
import { operationKey, readOperations } from "../../support/discord-spec/operations.ts";
import { as, startSimulator, testWith } from "../support.ts";

const test = testWith();

test("bots authenticate with the prefix Bot, people without", async ({ simulator }) => {
	const bot = simulator.bot("alpha");
	const person = simulator.user("ada");
	const status = async (authorization: string) => {
		const response = await fetch(`${simulator.api}/v10/users/@me`, { headers: { authorization } });
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

test("a request without a token gets Discord's 401", async ({ simulator }) => {
	const response = await fetch(`${simulator.api}/users/@me`);
	expect(await response.json()).toEqual({ message: "401: Unauthorized", code: 0 });
});

test("API versions 9, 10 and none are served, others refused", async ({ simulator }) => {
	const authorization = simulator.user("ada").token;
	const status = async (prefix: string) => {
		const response = await fetch(`${simulator.url}${prefix}/users/@me`, { headers: { authorization } });
		return response.status;
	};
	expect(await status("/api")).toBe(200);
	expect(await status("/api/v9")).toBe(200);
	expect(await status("/api/v10")).toBe(200);
	expect(await status("/api/v6")).toBe(400);
});

test("a route that is not simulated gets 501 and is listed", async ({ simulator, as }) => {
	const ada = as("ada");
	const answer = await ada("GET", "/guilds/1/nothing");
	expect(answer.status).toBe(501);
	expect(answer.json().message).toBe("The simulator does not simulate GET /guilds/1/nothing.");
	expect(simulator.unknownRoutes).toEqual([{ method: "GET", path: "/guilds/1/nothing", count: 1 }]);
});

test("another method of a simulated path gets 501 and is listed", async ({ simulator, as }) => {
	const ada = as("ada");
	expect((await ada("DELETE", "/guilds/1")).status).toBe(501);
	expect(simulator.unknownRoutes).toEqual([{ method: "DELETE", path: "/guilds/1", count: 1 }]);
});

test("every documented operation is simulated or gets 501", async ({ simulator, as }) => {
	const simulated = new Set(allRoutes.map(({ method, path }) => operationKey(method, path)));
	const others = [...readOperations()].filter(([key]) => !simulated.has(key));
	for (const [, { name }] of others) {
		const [method = "", path = ""] = name.replace(/{\w+}/g, "1").split(" ");
		const { status } = await as("ada")(method, path);
		expect([name, status]).toEqual([name, 501]);
	}
	expect(simulator.unknownRoutes.length).toBeGreaterThan(50);
});

test("the Gateway's URL and invites need no token", async ({ simulator, world, channel, ada }) => {
	const { code } = world.invites.add(channel, { inviter: ada });
	const status = async (path: string, headers = {}) => (await fetch(`${simulator.api}/v10${path}`, { headers })).status;
	expect(await status("/gateway")).toBe(200);
	expect(await status(`/invites/${code}`)).toBe(200);
	expect(await status("/gateway/bot")).toBe(401);
	// A guess: an invalid token is refused all the same.
	expect(await status("/gateway", { authorization: "Bot x" })).toBe(401);
});

test("an application has its owner", async ({ alpha }) => {
	for (const path of ["/applications/@me", "/oauth2/applications/@me"]) {
		const { owner } = (await alpha("GET", path)).json();
		expect(owner).toMatchObject({ username: "developer" });
	}
});

bunTest.each([
	["true", 200, true],
	["True", 200, true],
	["1", 200, true],
	["false", 200, false],
	["False", 200, false],
	["0", 200, false],
	["yes", 400, false],
])("the query boolean %s gets %d", async (text, status, counts) => {
	await using simulator = await startSimulator();
	const { id } = simulator.guild("The Cooks");
	const ask = as(simulator, simulator.bot("alpha"));
	const answer = await ask("GET", `/guilds/${id}?with_counts=${text}`);
	expect(answer.status).toBe(status);
	expect("approximate_member_count" in answer.json()).toBe(counts);
});

test("an invalid id is an error of its field", async ({ as }) => {
	const ada = as("ada");
	for (const id of ["abc", "-1", "99999999999999999999", "%00"]) {
		const answer = await ada("GET", `/channels/${id}`);
		expect(answer.code).toBe(50035);
		expect(answer.faults).toEqual({ channel_id: "NUMBER_TYPE_COERCE" });
	}
});

test("an unknown entity gets Discord's code for its type", async ({ simulator, as }) => {
	const ada = as("ada");
	const { id: guild } = simulator.guild("The Cooks");
	const { id: channel } = simulator.channel("The Cooks/general");
	const code = async (method: string, path: string) => (await ada(method, path)).code;
	expect(await code("GET", "/guilds/1")).toBe(10004);
	expect(await code("GET", "/channels/1")).toBe(10003);
	expect(await code("GET", `/channels/${channel}/messages/1`)).toBe(10008);
	expect(await code("GET", `/guilds/${guild}/roles/1`)).toBe(10011);
	expect(await code("GET", `/guilds/${guild}/members/1`)).toBe(10013);
	expect(await code("GET", `/guilds/${guild}/bans/1`)).toBe(10026);
	expect(await code("PUT", `/guilds/${guild}/bans/1`)).toBe(10013);
	expect(await code("GET", "/users/1")).toBe(10013);
	const stranger = simulator.user("bob_the_baker").id;
	expect(await code("GET", `/guilds/${guild}/members/${stranger}`)).toBe(10007);
	expect(await code("DELETE", `/channels/${channel}/permissions/${guild}`)).toBe(10009);
});

test("the guilds of others are hidden", async ({ simulator, alpha }) => {
	const { id } = simulator.guild("The Bakers");
	expect((await alpha("GET", `/guilds/${id}`)).code).toBe(10004);
	expect((await alpha("GET", `/guilds/${id}/roles`)).code).toBe(50001);
	const { id: channel } = simulator.channel("The Bakers/general");
	expect((await alpha("GET", `/channels/${channel}`)).code).toBe(50001);
});

describe("bodies", () => {
	async function post(body: string, headers: Record<string, string>) {
		await using simulator = await startSimulator();
		const { id } = simulator.channel("The Cooks/general");
		const response = await fetch(`${simulator.api}/v10/channels/${id}/messages`, {
			method: "POST",
			headers: { authorization: simulator.user("ada").token, ...headers },
			body,
		});
		const text = await response.text();
		return { status: response.status, text, simulator };
	}
	const json = { "content-type": "application/json" };

	test("invalid JSON gets 50109", async () => {
		const { status, text } = await post('{"content":', json);
		expect(status).toBe(400);
		expect(JSON.parse(text).code).toBe(50109);
	});

	test("deeply nested JSON gets 50109", async () => {
		const deep = `{"components":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
		const { text } = await post(deep, json);
		expect(JSON.parse(text).code).toBe(50109);
	});

	test("another content type is a form error", async () => {
		const { status, text } = await post("content=hello", { "content-type": "text/plain" });
		expect(status).toBe(400);
		expect(text).toContain("CONTENT_TYPE_INVALID");
	});

	bunTest.each([
		["a list", "[]"],
		["a number", "7"],
		["a text", '"content"'],
		["null", "null"],
	])("%s in place of an object is a form fault", async (_, body) => {
		const { text } = await post(body, json);
		expect(JSON.parse(text).code).toBe(50035);
	});

	test("a key __proto__ changes nothing", async () => {
		const { status, text } = await post('{"__proto__":{"content":"from the prototype"},"constructor":{}}', json);
		expect(status).toBe(400);
		expect(JSON.parse(text).code).toBe(50006);
		expect(Object.hasOwn(Object.prototype, "content")).toBe(false);
	});

	test("a broken multipart body is refused", async () => {
		const { status } = await post("nonsense", { "content-type": "multipart/form-data; boundary=x" });
		expect(status).toBe(400);
	});

	test("every error of a form is listed at its path", async ({ simulator, as }) => {
		const ada = as("ada");
		const { id } = simulator.channel("The Cooks/general");
		const answer = await ada("POST", `/channels/${id}/messages`, {
			content: "x".repeat(2001),
			tts: "perhaps",
			embeds: [{ title: "fine" }, { title: "x".repeat(257), fields: [{ name: "x".repeat(257), value: 7 }] }],
			allowed_mentions: { parse: ["nobody"], users: "all" },
		});
		expect(answer.code).toBe(50035);
		expect(answer.faults).toEqual({
			content: "BASE_TYPE_MAX_LENGTH",
			tts: "BOOLEAN_TYPE_CONVERT",
			"embeds.1.title": "BASE_TYPE_MAX_LENGTH",
			"embeds.1.fields.0.name": "BASE_TYPE_MAX_LENGTH",
			"embeds.1.fields.0.value": "STRING_TYPE_CONVERT",
			"allowed_mentions.parse.0": "BASE_TYPE_CHOICES",
			"allowed_mentions.users": "LIST_TYPE_CONVERT",
		});
	});
});

test("an id beyond 2^53 can be sent as an integer", async ({ simulator, world, channel }) => {
	const { id } = await simulator.user("ada").say(channel.id, "soup?");
	const { status } = await fetch(`${simulator.api}/v10/channels/${channel.id}/messages`, {
		method: "POST",
		headers: { authorization: simulator.user("ada").token, "content-type": "application/json" },
		body: `{"content":"soup!","message_reference":{"message_id":${id}}}`,
	});
	expect(status).toBe(200);
	const reply = world.messages.in(channel.id).at(-1);
	expect(reply?.message_reference?.message_id).toBe(id);
});

test("the audit log reason is decoded", async ({ simulator, as }) => {
	const ada = as("ada");
	const { id } = simulator.channel("The Cooks/general");
	await ada("PATCH", `/channels/${id}`, { topic: "soup" }, { "x-audit-log-reason": encodeURIComponent("weil ja, 是") });
	const [entry] = simulator.journal.entries("PATCH /channels/:channel_id");
	expect(entry?.reason).toBe("weil ja, 是");
	expect(simulator.guild("The Cooks").auditLog.at(-1)?.reason).toBe("weil ja, 是");
});

test("a reason has at most 512 characters before its encoding", async ({ simulator, as }) => {
	const { id } = simulator.channel("The Cooks/general");
	const set = (reason: string) =>
		as("ada")("PATCH", `/channels/${id}`, { topic: reason }, { "x-audit-log-reason": encodeURIComponent(reason) });
	const longest = ["x".repeat(512), "% ".repeat(256), "是🍞".repeat(256)];
	for (const reason of longest) {
		expect((await set(reason)).status).toBe(200);
		expect((await set(`${reason}.`)).code).toBe(50035);
	}
	expect(simulator.journal.entries().map(({ reason }) => reason)).toEqual(longest);
});

test("the journal lists executed writes only", async ({ simulator, alpha }) => {
	const { id } = simulator.channel("The Cooks/general");
	await alpha("GET", `/channels/${id}`);
	await alpha("POST", `/channels/${id}/messages`, {});
	await alpha("POST", `/channels/${id}/typing`);
	await alpha("POST", `/channels/${id}/messages`, { content: "a", nonce: "n1" });
	expect(simulator.journal.entries()).toMatchObject([
		{
			seq: 1,
			actor: simulator.bot("alpha").id,
			method: "POST",
			route: "POST /channels/:channel_id/messages",
			path: `/channels/${id}/messages`,
			body: { content: "a", nonce: "n1" },
		},
	]);
	expect(simulator.requests.list().map(({ status }) => status)).toEqual([200, 400, 204, 200]);
});
