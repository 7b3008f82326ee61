// The HTTP routes for guild documents: access, limits, errors as JSON.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Bot, startBot } from "../../../src/bot/bot.ts";
import { createDocumentRoute } from "../../../src/bot/guild-documents/route.ts";
import { pictureHash } from "../../../src/guild-document/read/picture.ts";
import { botConfig } from "../../support/bot-config.ts";
import { recordLog } from "../../support/log.ts";
import { until } from "../../support/until.ts";
import { startWorld, type TestWorld } from "../../support/world.ts";

const token = "a-token-of-enough-length";

type Headers = Record<string, string>;

async function post(base: string, name: string, input: unknown, headers: Headers = {}, method = "POST") {
	const response = await fetch(new URL(`/guild-document/${name}`, base), {
		method,
		headers: { "Content-Type": "application/json", ...headers },
		...(method === "POST" && { body: typeof input === "string" ? input : JSON.stringify(input) }),
	});
	const text = await response.text();
	return { status: response.status, text };
}

describe("access", () => {
	let bot: Bot;
	const { log, entries } = recordLog();

	beforeAll(() => {
		bot = startBot(botConfig({ mcpToken: token }), log);
	});

	afterAll(() => bot.close());

	const bearer = { Authorization: `Bearer ${token}` };
	test.each([
		["without the token", "export", {}, 401, "Unauthorized"],
		["with a wrong token", "export", { Authorization: "Bearer wrong" }, 401, "Unauthorized"],
		["from another host", "export", { ...bearer, Host: "a.example" }, 403, "Host"],
		["from a web page", "export", { ...bearer, Origin: "https://a.example" }, 403, "Origin"],
		["of an unknown name", "delete", bearer, 404, '"error"'],
		["of an inherited name", "toString", bearer, 404, '"error"'],
		["before the bot is connected", "export", bearer, 422, "not connected"],
	])("a request %s is refused", async (_, name, headers, status, text) => {
		const response = await post(bot.url, name, {}, headers as Headers);
		expect(response.status).toBe(status);
		expect(response.text).toContain(text);
	});

	test("only POST is allowed", async () => {
		for (const method of ["GET", "PUT", "DELETE"])
			expect(await post(bot.url, "apply", {}, bearer, method)).toMatchObject({ status: 405 });
	});

	test.each([
		["{", 400, "not a JSON object"],
		['{"guild_id": 1}', 422, "Invalid request: guild_id"],
		['{"parts": ["x"]}', 422, "Invalid request: parts"],
		['{"more": 1}', 422, "Invalid request: more"],
		["[]", 400, "not a JSON object"],
	])("the input %s is refused", async (body, status, text) => {
		const response = await post(bot.url, "export", body, bearer);
		expect(response.status).toBe(status);
		expect(JSON.parse(response.text).error).toContain(text);
	});

	test("a body of 16 MiB is read, and one byte more gets 413", async () => {
		const limit = 16 * 1024 * 1024;
		const send = (length: number) => post(bot.url, "plan", "{}".padEnd(length), bearer);
		expect(await send(limit)).toMatchObject({ status: 422 });
		expect(await send(limit + 1)).toMatchObject({ status: 413 });
	});

	test("requests are logged without their contents", async () => {
		await post(bot.url, "plan", { document: { secret: "xyzzy" } }, bearer);
		const logged = entries("finished a command-line request about a guild document");
		expect(logged.at(-1)).toMatchObject({ request: "plan", outcome: "failed" });
		expect(JSON.stringify(logged)).not.toContain("xyzzy");
	});
});

test("without a token, a request needs no token and must not come from a web page", async () => {
	const bot = startBot(botConfig(), recordLog().log);
	await using stack = new AsyncDisposableStack();
	stack.defer(() => bot.close());
	expect(await post(bot.url, "export", {})).toMatchObject({ status: 422 });
	const { origin } = new URL(bot.url);
	const page = { Origin: origin };
	expect(await post(bot.url, "export", {}, page)).toMatchObject({ status: 403 });
});

describe("requests", () => {
	let world: TestWorld;

	beforeAll(async () => {
		world = await startWorld();
	});

	afterAll(() => world[Symbol.asyncDispose]());

	const ask = async (name: string, input: unknown) => {
		const { status, text } = await post(world.bot.url, name, input);
		return { status, ...JSON.parse(text) };
	};

	test("a document that is larger than the gateway's limit is planned", async () => {
		const topic = "a".repeat(1_000);
		const channels = Array.from({ length: 150 }, (_, index) => ({ name: `room-${index}`, topic }));
		const document = { version: 1, channels };
		const plan = await ask("plan", { document });
		expect(plan).toMatchObject({ status: 200, steps: 150, refusals: 0 });
		expect(plan.text).toContain("create 150");
	});

	test("a job is started, followed and found in the bot's audit log", async () => {
		const document = { version: 1, roles: [{ name: "Waiter" }] };
		const { plan_hash } = await ask("plan", { document });
		const { job } = await ask("apply", { plan_hash });
		const ended = await until("the job ends", async () => {
			const now = await ask("job", { job_id: job.job_id });
			return now.state !== "running" && now;
		});
		expect(ended).toMatchObject({ state: "done", done: 1, total: 1, failed: 0 });
		expect(await ask("running-job", {})).toEqual({ status: 200 });
		// Nothing is left to do.
		expect(await ask("apply", { plan_hash })).toEqual({ status: 200 });
		const calls = await until("the calls are stored", async () => {
			const { text } = await world.call("list_recent_tool_calls");
			return text.split("apply_guild").length === 3 && text;
		});
		expect(calls).toContain("command line");
		expect(calls).toContain("plan_guild");
		expect(calls).not.toContain("Waiter");
	});

	test("a guild that is not the bot's, and an invalid document, are refused", async () => {
		expect(await ask("export", { guild_id: "123456789012345678" })).toMatchObject({
			status: 422,
			error: expect.stringContaining("Its guilds"),
		});
		expect(await ask("plan", { document: { version: 2 } })).toMatchObject({
			status: 422,
			error: expect.stringContaining("version"),
		});
		expect(await ask("apply", { plan_hash: "0".repeat(32) })).toMatchObject({
			status: 422,
			error: expect.stringContaining("There is no plan"),
		});
	});

	const allOf = {
		apply: { plan_hash: "0".repeat(32) },
		cancel: { job_id: "1" },
		export: {},
		picture: { hash: "0".repeat(32) },
		plan: { document: {} },
	};
	test.each([
		[{}, []],
		[{ tools: { deny: ["apply_guild"] } }, ["apply"]],
		[{ tools: { deny: ["export_guild"] } }, ["export", "picture"]],
		[{ read_only: true }, ["apply", "cancel"]],
		[{ toolsets: ["messages"] }, Object.keys(allOf)],
	])("with %j in [mcp], the requests %j are refused", async (mcp, refused) => {
		const bot = startBot(botConfig({ toml: { mcp } }), recordLog().log);
		await using stack = new AsyncDisposableStack();
		stack.defer(() => bot.close());
		const found: string[] = [];
		for (const [name, input] of Object.entries(allOf)) {
			const { text } = await post(bot.url, name, input);
			if (text.includes("configuration does not allow ")) found.push(name);
		}
		expect(found).toEqual(refused);
	});

	test("a picture is stored only under its own hash", async () => {
		const bytes = Buffer.from("GIF89a and more");
		const hash = pictureHash(bytes);
		const data = bytes.toString("base64");
		expect(await ask("missing-pictures", { hashes: [hash] })).toEqual({ status: 200, hashes: [hash] });
		const other = "0".repeat(32);
		expect(await ask("add-picture", { hash: other, data })).toMatchObject({
			status: 422,
			error: expect.stringContaining("another hash"),
		});
		const text = Buffer.from("text");
		expect(await ask("add-picture", { hash: pictureHash(text), data: text.toString("base64") })).toMatchObject({
			status: 422,
		});
		expect(await ask("picture", { hash })).toEqual({ status: 200 });
		expect(await ask("add-picture", { hash, data })).toEqual({ status: 200 });
		expect(await ask("picture", { hash })).toEqual({ status: 200, data });
		expect(await ask("missing-pictures", { hashes: [hash] })).toEqual({ status: 200, hashes: [] });
	});
});

test("at most 4 requests are carried out at the same time", async () => {
	const gate = Promise.withResolvers<object>();
	const route = createDocumentRoute({ handle: () => gate.promise, log: recordLog().log });
	const http = { timeout() {} } as unknown as Bun.Server<undefined>;
	const send = () =>
		route(
			new Request("http://a/guild-document/export", {
				method: "POST",
				headers: { "Content-Type": "application/json" },
				body: "{}",
			}),
			http,
			"/guild-document/export",
		);
	const held = Array.from({ length: 4 }, send);
	expect((await send()).status).toBe(503);
	gate.resolve({});
	for (const one of held) expect((await one).status).toBe(200);
	expect((await send()).status).toBe(200);
});
