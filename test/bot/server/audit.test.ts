// The audit log of tool calls: rows in the database, list_recent_tool_calls, the audit channel.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PermissionFlagsBits } from "discord.js";
import { startBot } from "../../../src/bot/bot.ts";
import type { Stored } from "../../../src/bot/settings/guild-settings.ts";
import type { BotTool } from "../../../src/bot/tool/context.ts";
import { tools } from "../../../src/bot/tools/index.ts";
import { encodePrincipal, principalHeader } from "../../../src/lib/principal.ts";
import type { JsonSchema } from "../../../src/mcp/json-schema.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { buttonsIn } from "../../../src/simulator/world/messages/components.ts";
import type { Message } from "../../../src/simulator/world/state/entities.ts";
import { type ConfigChanges, connectedConfig } from "../../support/bot-config.ts";
import { modernRequest, rawTool, token } from "../../support/both-servers.ts";
import { storeSettings } from "../../support/guild-settings.ts";
import { recordLog } from "../../support/log.ts";
import { parseMetrics, sampleOf } from "../../support/prometheus.ts";
import { startSimulator } from "../../support/simulator.ts";
import { onBoth, onOwnPostgres, type Place } from "../../support/stores.ts";
import { present, until } from "../../support/until.ts";
import { memberNamed, quickTiming, roleNamed } from "../../support/world.ts";

/** For bots whose database no test reads. */
const directory = mkdtempSync(join(tmpdir(), "guildhall-audit-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const broken = rawTool("broken", () => {
	throw new Error("a bug");
});

interface Answer {
	text: string;
	isError: boolean;
	/** Of a JSON-RPC error. */
	code?: number;
}

interface Row {
	at: bigint;
	request_id: string | null;
	client: string;
	tool: string;
	guild_id: string | null;
	arguments: string;
	outcome: string;
	milliseconds: bigint;
	answer: string | null;
	discord: string | null;
}

/** The response to a call. */
function readAnswer(body: string): Answer {
	const text = body.startsWith("{") ? body : (body.split("data: ")[1] ?? "");
	const { result, error } = JSON.parse(text);
	if (error) return { text: error.message, isError: true, code: error.code };
	const texts = result.content.map((item: { text: string }) => item.text);
	return { text: texts.join("\n"), isError: result.isError ?? false };
}

/** The bot "alpha", connected, with its guild, its log and its place in a database. */
async function startAudited(
	place?: Place,
	settings?: (simulator: Simulator) => Stored,
	{ tools, ...more }: ConfigChanges & { tools?: readonly BotTool[] } = {},
) {
	const simulator = await startSimulator();
	const guild = simulator.guild("The Cooks");
	const recorded = recordLog("debug");
	const config = connectedConfig(simulator, {
		mcpToken: token,
		guildId: guild.id,
		databaseUrl: place?.settings.databaseUrl,
		dbSchema: place?.settings.schema,
		dataDirectory: place?.settings.directory ?? mkdtempSync(join(directory, "bot-")),
		...more,
	});
	if (settings) await storeSettings(config, { [guild.id]: settings(simulator) });
	const bot = startBot(config, recorded.log, { tools, timing: quickTiming, requestsPerSecond: 1_000_000 });
	const headers = { Authorization: `Bearer ${token}` };
	const get = async (path: string) => {
		const response = await fetch(new URL(path, bot.url), { headers });
		return { status: response.status, text: await response.text() };
	};
	const post = (body: string, more: Record<string, string> = {}) =>
		fetch(bot.url, { method: "POST", body, headers: { ...headers, ...more } });
	let calls = 0;
	/** Without a session, unless `more` names one; under the id "call-1", "call-2" … */
	const call = async (name: unknown, args: unknown = {}, more: Record<string, string> = {}): Promise<Answer> => {
		calls += 1;
		const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
		const id = { "X-Request-Id": `call-${calls}` };
		const response = await post(JSON.stringify(body), { ...id, ...more });
		return readAnswer(await response.text());
	};
	/** A session's header, of a client that calls itself so. */
	const openSession = async (client: string) => {
		const params = { protocolVersion: "2025-11-25", clientInfo: { name: client } };
		const response = await post(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }));
		await response.text();
		return { "Mcp-Session-Id": String(response.headers.get("mcp-session-id")) };
	};
	const ready = () => until("the bot is ready", async () => (await get("/mcp")).text === "ready");
	await ready();
	await until("the bot has loaded", () => bot.loaded);
	return {
		bot,
		simulator,
		guild,
		recorded,
		get,
		post,
		call,
		openSession,
		ready,
		general: simulator.channel("The Cooks/general").id,
		metric: async (name: string) => sampleOf(parseMetrics((await get("/metrics")).text), `guildhall_bot_${name}`),
		async [Symbol.asyncDispose]() {
			simulator.faults.clear();
			await bot.close();
			await simulator.close();
		},
	};
}

type Audited = Awaited<ReturnType<typeof startAudited>>;

function rowsIn(place: Place): Promise<Row[]> {
	return place.look<Row>("SELECT * FROM tool_calls ORDER BY at, id");
}

/** The rows, once there are `count`. */
function writtenRows(place: Place, count: number): Promise<Row[]> {
	return until(`${count} rows are written`, async () => {
		const rows = await rowsIn(place);
		return rows.length >= count && rows;
	});
}

/** Inserts a row per time, with request ids by index. */
async function insertRows(place: Place, tool: string, times: readonly number[]) {
	const rows = times.map(
		(at, number) =>
			`('${tool}-${String(number).padStart(4, "0")}', ${at}, 'row-${number}', 'test', '${tool}', NULL, '{}', 'done', 1, 'read')`,
	);
	await place.look(
		`INSERT INTO tool_calls (id, at, request_id, client, tool, guild_id, arguments, outcome, milliseconds, effect) VALUES ${rows.join(", ")}`,
	);
}

/** The request ids on each page of list_recent_tool_calls, as `next_before` leads from one to the next. */
async function walk({ call }: Audited, args: Record<string, unknown>, maxPages: number): Promise<string[][]> {
	const pages: string[][] = [];
	for (let before: string | undefined; pages.length < maxPages; ) {
		const { text, isError } = await call("list_recent_tool_calls", { ...args, ...(before && { before }) });
		if (isError) throw new Error(text);
		pages.push([...text.matchAll(/request: (\S+) \|/g)].map(([, id]) => `${id}`));
		before = /\nnext_before=(\S+)$/.exec(text)?.[1];
		if (!before) return pages;
	}
	throw new Error(`it leads on after ${maxPages} pages`);
}

const anHourAgo = () => Date.now() - 3_600_000;
const named = (count: number) => Array.from({ length: count }, (_, number) => `row-${number}`);

/** Arguments with `secret` in every text, and under an unknown name. */
function withSecret(schema: JsonSchema, secret: string, key = ""): unknown {
	if (schema.type === "array") return [withSecret(schema.items as JsonSchema, secret, key)];
	// Names, reasons, and what should be an id or a choice are kept.
	const isKept = /^(name|nickname|reason|topic|emoji)$|(^|_)(ids?|names|permissions)$|^(allow|deny|neutral)$/.test(key);
	if (schema.type !== "object") return isKept || schema.enum || schema.pattern ? "1234" : secret;
	// What publishes no fields takes some all the same.
	const properties = (schema.properties ?? { title: { type: "string" } }) as Record<string, JsonSchema>;
	return Object.fromEntries([
		...Object.entries(properties).map(([name, one]) => [name, withSecret(one, secret, name)]),
		["other", { [secret]: [secret] }],
	]);
}

onBoth((databases, kind) => {
	test("a call becomes a row with time, request id, client, tool, guild, arguments and outcome", async () => {
		const place = await databases.place();
		await using audited = await startAudited(place, undefined, { tools: [...tools, broken] });
		const { call, simulator, guild, general } = audited;
		const guild_id = guild.id;
		const claude = await audited.openSession("Claude");
		const begun = Date.now();
		await call("send_message", { channel_id: general, content: "hello" }, claude);
		await call("list_guilds", {});
		await call("list_members", { guild_id: "123456789012345678", limit: 3 });
		simulator.faults.refuse("POST /channels/*/messages", 50013, { times: 1 });
		await call("send_message", { guild_id, channel_id: general, content: "no" });
		await call("send_message", { channel_id: "general", content: 5 }, claude);
		await call("send_message", "no object");
		await call("nobody_knows_it", { content: "hello" });
		await call(7);
		await call("broken", { text: "hello" });
		const modern = modernRequest("tools/call", {
			name: "list_guilds",
			arguments: {},
			_meta: { "io.modelcontextprotocol/clientInfo": { name: "Modern", version: "1" } },
		});
		const id = { "X-Request-Id": "modern:1" };
		await audited.post(modern.body, { ...modern.headers, ...id });
		await call("list_members", {}, { "X-Request-Id": "no name for a log" });
		// As a gateway asks, whenever it looks how the bot is: also not recorded if it fails.
		await audited.post(
			'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_guilds","arguments":{"x":1}}}',
			{ "X-Request-Id": "" },
		);

		const rows = await writtenRows(place, 11);
		const ended = Date.now();
		const texts = rows.map((row) =>
			[row.request_id, row.client || "-", row.tool, row.guild_id, row.arguments, row.outcome].join(" "),
		);
		expect(texts).toEqual([
			`call-1 Claude send_message ${guild_id} {"channel_id":"${general}","content":"[5 characters]"} done`,
			`call-2 - list_guilds ${guild_id} {} done`,
			'call-3 - list_members 123456789012345678 {"guild_id":"123456789012345678","limit":3} refused',
			`call-4 - send_message ${guild_id} {"guild_id":"${guild_id}","channel_id":"${general}","content":"[2 characters]"} refused`,
			`call-5 Claude send_message ${guild_id} {"channel_id":"[7 characters]","content":"[a number]"} refused`,
			`call-6 - send_message ${guild_id} {} refused`,
			`call-7 - nobody_knows_it ${guild_id} {"…":"unknown: content"} refused`,
			`call-8 - a name of type number ${guild_id} {} refused`,
			`call-9 - broken ${guild_id} {"…":"unknown: text"} error`,
			`modern:1 Modern list_guilds ${guild_id} {} done`,
			expect.stringMatching(new RegExp(`^[0-9a-f]{8} - list_members ${guild_id} {} done$`)),
		]);
		const [done, , , refusedByDiscord, refusedByBot] = rows;
		expect([done?.answer, refusedByDiscord?.answer, refusedByBot?.answer]).toEqual([
			null,
			expect.stringContaining("(code 50013)"),
			expect.stringContaining('or #name, received "general"; content: expected string, received 5'),
		]);
		const sent = { method: "POST", path: `/channels/${general}/messages`, milliseconds: expect.any(Number) };
		expect([done, refusedByDiscord].map((row) => JSON.parse(row?.discord ?? ""))).toEqual([
			{ milliseconds: expect.any(Number), count: 1, requests: [{ ...sent, status: 200 }] },
			{ milliseconds: expect.any(Number), count: 1, requests: [{ ...sent, status: 403, code: 50013 }] },
		]);
		for (const { at, milliseconds } of rows) {
			expect(Number(at)).toBeWithin(begun - 1, ended + 1);
			expect(Number(milliseconds)).toBeWithin(0, ended - begun + 2);
		}
		// The log calls them the same.
		expect(
			audited.recorded
				.entries("MCP tool call finished")
				.slice(0, -1)
				.map(({ request }) => request),
		).toEqual(rows.map(({ request_id }) => request_id));
	});

	test("a call's row has the time of its arrival and its duration", async () => {
		const place = await databases.place();
		await using audited = await startAudited(place);
		const fault = audited.simulator.faults.stall("POST /channels/*/messages");
		const begun = Date.now();
		const called = audited.call("send_message", { channel_id: audited.general, content: "hello" });
		await until("it is on its way", () => fault.hits > 0);
		const held = Date.now();
		// The row's time is the wall clock's, its duration the monotonic clock's: they may differ by some milliseconds.
		const driftMs = 100;
		await until("the clock has moved", () => Date.now() > held + 3 * driftMs);
		const released = Date.now();
		fault.release();
		await called;
		const ended = Date.now();
		const [row] = await writtenRows(place, 1);
		expect(Number(row?.at)).toBeWithin(begun - driftMs, held + driftMs);
		const end = Number(row?.at) + Number(row?.milliseconds);
		expect(end).toBeWithin(released - driftMs, ended + driftMs);
	});

	test("texts in arguments of any tool reach neither database nor log nor /status nor audit channel", async () => {
		const place = await databases.place();
		// The reason of a ban is kept in its case, where there are cases.
		const without = { commands: "off", features: { moderation: false } };
		const channel = (simulator: Simulator) => ({ "audit.channel": simulator.channel("The Cooks/staff").id });
		await using audited = await startAudited(place, channel, { toml: without });
		const { call, simulator, general, recorded } = audited;
		const secrets = {
			text: "the words of a message",
			token: simulator.bot("alpha").token,
			mcpToken: token,
			code: "K7QX2ZP9",
		};
		// What a row is to say is settled before it is known which database has it.
		const wrong = Object.values(secrets);
		const tried = kind === "SQLite" ? tools : tools.slice(0, 10);
		for (const { name, listing } of tried)
			await Promise.all(wrong.map((secret) => call(name, withSecret(listing.inputSchema, secret))));
		// And where the call is one that is carried out.
		const all = `${secrets.text} ${secrets.code}`;
		const tokens = `${secrets.token} ${secrets.mcpToken}`;
		const roleId = roleNamed(audited, "Newcomer").id;
		const user_id = simulator.user("liwei").id;
		const carriedOut = [
			await call("send_message", {
				channel_id: general,
				content: `${all} ${tokens}`,
				embeds: [{ title: all, fields: [{ name: all, value: all }] }],
			}),
			await call("edit_channel", { channel_id: general, topic: tokens, reason: tokens }),
			await call("create_channel", { name: secrets.mcpToken, topic: tokens, reason: tokens }),
			await call("edit_role", { role_id: roleId, name: tokens, reason: tokens }),
			await call("lookup_user_by_name", { query: secrets.token }),
			await call("delete_messages", { channel_id: general, count: 1, reason: tokens }),
			await call("ban", { user_ids: [user_id], reason: tokens }),
		];
		expect(carriedOut.map(({ isError, text }) => isError && text)).toEqual(carriedOut.map(() => false));
		const count = tried.length * wrong.length + carriedOut.length;
		const rows = await writtenRows(place, count);
		expect(rows).toHaveLength(count);
		const writers = new Set(
			tools.filter(({ listing: { annotations } }) => !Object(annotations).readOnlyHint).map(({ name }) => name),
		);
		const told = await until("all has been told in the channel", () => {
			const embeds = linesIn(simulator);
			return embeds.length >= rows.filter(({ tool }) => writers.has(String(tool))).length && JSON.stringify(embeds);
		});

		const raw =
			kind === "SQLite"
				? (await filesIn(place.settings.directory)).toString("latin1")
				: JSON.stringify(await place.look("SELECT t::text FROM tool_calls t"));
		const status = await audited.get("/status");
		const metrics = await audited.get("/metrics");
		// What is looked into is what it should be.
		expect(raw).toContain("send_message");
		expect(raw).toContain(`call-${count}`);
		expect(recorded.entries("MCP tool call finished")).toHaveLength(count);
		expect(told).toContain("Send a message");
		expect([status.status, metrics.status]).toEqual([200, 200]);
		const shown = [raw, ...recorded.lines, status.text, metrics.text, told];
		for (const secret of Object.values(secrets)) expect(shown.filter((text) => text.includes(secret))).toEqual([]);
	});

	test("a moderator's command is on record, but not in the audit channel", async () => {
		const place = await databases.place();
		await using audited = await startAudited(place, inStaff, { toml: { features: { moderation: true } } });
		const { simulator } = audited;
		const asked = await simulator.user("ada").run("The Cooks/general", "slowmode", { interval: "10s" });
		await asked.reply();
		await audited.call("send_message", { channel_id: audited.general, content: "hi" });
		expect((await writtenRows(place, 2)).map(({ tool }) => tool)).toEqual(["edit_channel", "send_message"]);
		await postedLines(audited, 1);
		expect(linesIn(simulator).map(({ text }) => text)).toEqual([expect.stringContaining("Send a message")]);
	});

	test("the details of a call in the audit channel are gone with its row", async () => {
		const place = await databases.place();
		await using audited = await startAudited(place, inStaff);
		await audited.call("send_message", { channel_id: audited.general, content: "hi" });
		await writtenRows(place, 1);
		await postedLines(audited, 1);
		const message = present(messagesIn(audited.simulator)[0]);
		expect(await detailsOf(audited, message)).toMatchObject({ Request: "call-1" });
		await place.look("DELETE FROM tool_calls");
		expect(await detailsOf(audited, message)).toBe(
			"The record of this call is gone: the bot keeps calls for a limited time.",
		);
	});

	test("list_recent_tool_calls shows the newest first, filtered", async () => {
		const place = await databases.place();
		await using audited = await startAudited(place);
		const { call, general, guild } = audited;
		const claude = await audited.openSession("Claude");
		const list = async (args: object) => (await call("list_recent_tool_calls", args)).text;
		expect(await list({})).toBe("No recorded tool call matches.");
		await call("send_message", { channel_id: general, content: "a|b" }, claude);
		await writtenRows(place, 2);
		await call("send_message", { channel_id: general });
		await writtenRows(place, 3);
		const [heading, ...lines] = (await list({ limit: 2 })).split("\n");
		expect(heading).toBe("2 call(s), newest first:");
		expect(lines).toEqual([
			expect.stringMatching(
				new RegExp(
					`^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ \\| send_message \\| refused \\| \\d+ ms \\| guild: ${guild.id} \\| client: unknown \\| request: call-3 \\| \\{"channel_id":"${general}"\\}$`,
				),
			),
			expect.stringMatching(
				new RegExp(
					`\\| send_message \\| done \\| \\d+ ms \\| guild: ${guild.id} \\| client: Claude \\| request: call-2 \\| \\{"channel_id":"${general}","content":"\\[3 characters\\]"\\}$`,
				),
			),
			expect.stringMatching(/^next_before=\d{4}-[\d:T.-]+Z,[\w-]+$/),
		]);
		await writtenRows(place, 4);
		const ids = async (args: object) => [...(await list(args)).matchAll(/request: (\S+) /g)].map(([, id]) => id);
		expect(await ids({ tool: "send_message" })).toEqual(["call-3", "call-2"]);
		expect(await ids({ outcome: "refused" })).toEqual(["call-3"]);
		expect(await ids({ tool: "send_message", outcome: "done" })).toEqual(["call-2"]);
		expect(await ids({ tool: "list_recent_tool_calls", limit: 1 })).toHaveLength(1);
		for (const none of [{ tool: "' OR 1=1 --" }, { outcome: "error" }, { before: "2000-01-01T00:00:00Z" }])
			expect(await list(none)).toBe("No recorded tool call matches.");
	});

	describe("next_before", () => {
		let place: Place;
		let audited: Audited;
		beforeAll(async () => {
			place = await databases.place();
			audited = await startAudited(place);
		});
		afterAll(() => audited[Symbol.asyncDispose]());

		test("leads through all calls, each shown once", async () => {
			const from = anHourAgo();
			await insertRows(
				place,
				"list_guilds",
				named(250).map((_, number) => from + number),
			);
			const pages = await walk(audited, { tool: "list_guilds", limit: 7 }, 100);
			expect(pages.map(({ length }) => length)).toEqual([...Array<number>(35).fill(7), 5]);
			expect(pages.flat()).toEqual(named(250).reverse());
			const all = await walk(audited, { tool: "list_guilds", limit: 5_000 }, 100);
			expect(all.map(({ length }) => length)).toEqual([100, 100, 50]);
		});

		test("leads past calls of the same millisecond without missing one", async () => {
			const from = anHourAgo();
			// Up to four at once, and pages of five, which end in their middle.
			await insertRows(
				place,
				"list_roles",
				named(100).map((_, number) => from + Math.floor(number / 4) + (number % 3)),
			);
			const pages = await walk(audited, { tool: "list_roles", limit: 5 }, 100);
			expect(new Set(pages.flat())).toEqual(new Set(named(100)));
		});

		test("leads past more calls of one millisecond than a page holds", async () => {
			const at = anHourAgo();
			await insertRows(
				place,
				"list_channels",
				named(12).map(() => at),
			);
			const pages = await walk(audited, { tool: "list_channels", limit: 5 }, 20);
			expect(new Set(pages.flat())).toEqual(new Set(named(12)));
		});
	});

	test("closing a bot writes the queued rows", async () => {
		const place = await databases.place();
		const audited = await startAudited(place);
		await Promise.all(named(250).map(() => audited.call("list_guilds")));
		await audited[Symbol.asyncDispose]();
		const rows = await rowsIn(place);
		expect(new Set(rows.map(({ request_id }) => request_id)).size).toBe(250);
		expect(rows).toHaveLength(250);
		expect(audited.recorded.messages()).not.toContain(
			"the program stopped before all tool calls were stored in the bot's audit log",
		);
	});
});

describe("list_recent_tool_calls", () => {
	let audited: Audited;
	beforeAll(async () => {
		audited = await startAudited();
	});
	afterAll(() => audited[Symbol.asyncDispose]());
	const shared = () => audited;

	test.each([
		[
			"several fields on a line of its own",
			"a line\n2026-01-01T00:00:00Z | ban | done | 1 ms | guild: none | client: x",
		],
		["several fields", "a | done | 0 ms | guild: 1"],
		["what ends in a backslash", "back\\slash\\| ban | \\"],
		["control characters", "\u2028\u2029\u0085\r\u202e\0 | \u0000"],
		["half a character", "half a pair \ud83d"],
		["what is cut within a character", `x${"🧵".repeat(80)}`],
		["something long", "|".repeat(101)],
	])("a client named %s is one field of one line", async (_, name) => {
		const { call, openSession } = shared();
		const id = `named-${Bun.hash(name)}`;
		await call("list_guilds", {}, { ...(await openSession(name)), "X-Request-Id": id });
		const text = await until("its row is written", async () => {
			const { text } = await call("list_recent_tool_calls", { tool: "list_guilds", limit: 1 });
			return text.includes(id) && text.replace(/\nnext_before=\S+$/, "");
		});
		// What ends a line for anyone at all.
		const lines = text.split(/[\n\r\v\f\u0085\u2028\u2029]/);
		expect(lines).toHaveLength(2);
		expect(text.slice(text.indexOf("\n") + 1)).not.toMatch(/[\p{Cc}\u202e]/u);
		// "|" with an even number of backslashes before it.
		const fields = lines[1]?.split(/(?<=(?<!\\)(?:\\\\)*) \| /);
		expect(fields).toHaveLength(8);
		expect(fields?.slice(1, 3)).toEqual(["list_guilds", "done"]);
		expect(fields?.[5]).toMatch(/^client: ./);
		expect(fields?.[6]).toBe(`request: ${id}`);
	});

	test.each([
		"yesterday",
		"",
		"' OR 1=1 --",
		"2026-13-01T00:00:00Z",
		"2026-01-31T25:00:00Z",
		"2026-02-30T00:00:00Z",
		"2026-01-31T12:00:00Z,",
		"2026-01-31T12:00:00Z,a b",
	])("before %j is refused", async (before) => {
		const { call } = shared();
		const refused = await call("list_recent_tool_calls", { before });
		expect(refused.code).toBe(-32602);
		expect(refused.text).toContain("before: expected a duration such as 6h");
	});

	test.each(["2001-01-31", "2001-01-31T12:00:00+02:00", "20y"])("before %j is accepted", async (before) => {
		const { call } = shared();
		const { text } = await call("list_recent_tool_calls", { before });
		expect(text).toBe("No recorded tool call matches.");
	});
});

onOwnPostgres((databases) => {
	test("without its database a bot serves its tools, reports degraded, and writes the rows once it is back", async () => {
		const place = await databases.place();
		await using audited = await startAudited(place);
		const { call, get, metric, general, simulator } = audited;
		expect(await metric("store_ready")).toBe(1);
		await databases.postgres.kill();
		await until("it has noticed", async () => (await metric("store_ready")) === 0);

		expect((await get("/mcp")).text).toBe("degraded");
		expect(await get("/readyz")).toEqual({ status: 200, text: "degraded\n" });
		expect((await get("/healthz")).status).toBe(200);
		const sent = await call("send_message", { channel_id: general, content: "a" });
		expect(sent.isError).toBe(false);
		expect(simulator.channel(general).transcript()).toBe("alpha: a");
		for (let number = 2; number <= 20; number++) await call("list_guilds");
		const asked = await call("list_recent_tool_calls", {});
		expect(asked).toEqual({
			isError: true,
			text: "The bot's database is unavailable at the moment. Nothing was stored. Try again in a minute.",
		});
		expect(await metric("audit_queued")).toBe(21);
		const { store } = JSON.parse((await get("/status")).text);
		expect(store).toMatchObject({
			state: "degraded",
			reason: expect.stringMatching(/127\.0\.0\.1:\d+/),
			audit_queued: 21,
			audit_dropped: 0,
		});

		await databases.postgres.start();
		await audited.ready();
		expect(await get("/readyz")).toEqual({ status: 200, text: "ok\n" });
		const rows = await writtenRows(place, 21);
		expect(rows.map(({ request_id }) => request_id)).toEqual(rows.map((_, index) => `call-${index + 1}`));
		expect(rows.at(-1)).toMatchObject({ tool: "list_recent_tool_calls", outcome: "failed" });
		await until("none is queued", async () => (await metric("audit_queued")) === 0);
		expect(await metric("store_ready")).toBe(1);
		expect(await metric("audit_dropped_total")).toBe(0);
		const { text } = await call("list_recent_tool_calls", { limit: 1 });
		expect(text).toContain("request: call-21");
	});
});

/** The lines in the channel "staff", with the custom_id of the button of each. */
function linesIn(simulator: Simulator) {
	return messagesIn(simulator).flatMap(({ embeds, components }) => {
		const buttons = buttonsIn(components);
		return embeds.map(({ description = "" }, index) => ({ text: description, button: buttons[index]?.custom_id }));
	});
}

function messagesIn(simulator: Simulator): readonly Message[] {
	const { id } = simulator.channel("The Cooks/staff");
	return simulator.world.messages.in(id);
}

const inStaff = (simulator: Simulator) => ({ "audit.channel": simulator.channel("The Cooks/staff").id });
const staffMessages = ({ simulator }: Audited) => `POST /channels/${simulator.channel("The Cooks/staff").id}/messages`;

/** The lines, once there are `count`. */
function postedLines({ simulator }: Audited, count: number) {
	return until(`${count} calls are told of`, () => {
		const lines = linesIn(simulator);
		return lines.length >= count && lines;
	});
}

/** The embed that the button "Details" of a message shows, with the texts of its fields by name; or else the answer. */
async function detailsOf({ simulator }: Audited, message: Message, button = "Details", person = "ada") {
	const asked = await simulator.user(person).press(message, button);
	const { content, ephemeral, embeds } = await asked.reply();
	expect(ephemeral).toBe(true);
	const [embed] = embeds ?? [];
	if (!embed) return content;
	const fields = embed.fields?.map(({ name, value }) => [name, value]) ?? [];
	return { title: embed.title, description: embed.description, ...Object.fromEntries(fields) };
}

const warning = "could not send log entries to a Discord channel";

test("the audit channel has a line for each call that is meant to change something, and for no other", async () => {
	await using audited = await startAudited(undefined, inStaff);
	const { call, simulator, general } = audited;
	const claude = await audited.openSession("Claude");
	const { id: message_id } = await simulator.user("ada").say("The Cooks/general", "hello");
	const user_id = simulator.user("liwei").id;
	const one = { channel_id: general, message_ids: [message_id] };
	await call("send_message", { channel_id: general, content: "hi" }, claude); // 1
	await call("list_guilds");
	await call("lookup_user_by_name", { query: "ada" });
	await call("list_recent_tool_calls");
	await call("delete_messages", { ...one, dry_run: true }); // 5
	await call("delete_messages", { ...one, dry_run: false });
	await call("ban", { user_ids: [user_id], dry_run: true });
	await call("send_message", { channel_id: general });
	await call("edit_channel", { channel_id: "123456789012345678", topic: "t" });
	await call("nobody_knows_it"); // 10
	await call("list_members", { nobody: "knows it" });
	await call("ban", { user_ids: [user_id], reason: "because" });
	await call("ban", { user_ids: [user_id], dry_run: true }); // 13
	await call("ban", { user_ids: [user_id], dry_run: true });
	await call("ban", { user_ids: [user_id], dry_run: false });
	await postedLines(audited, 6);
	// Nothing of it tells how many were sent together.
	const texts = linesIn(simulator).map(({ text }) => text.replace(/^\d+\. /, ""));
	expect(texts.map((text) => text.replace(/ · <t:\d+:f>$/, ""))).toEqual([
		"**Send a message** · done · the holder of MCP_AUTH_TOKEN",
		"**Delete messages** · done · the holder of MCP_AUTH_TOKEN",
		"**Send a message** · refused · the holder of MCP_AUTH_TOKEN",
		"**Edit a channel** · refused · the holder of MCP_AUTH_TOKEN",
		"**Ban users** · done · the holder of MCP_AUTH_TOKEN",
		"**Ban users** · refused · the holder of MCP_AUTH_TOKEN",
	]);
	for (const text of texts) expect(text).toMatch(/ · <t:\d+:f>$/);
	const kept = await until("the calls are on record", async () => {
		const { text } = await call("list_recent_tool_calls", { tool: "ban", limit: 3 });
		return text.includes('"dry_run":false') && text.split("\n").slice(1, 4);
	});
	expect(kept.map((line) => / \| \{.*"dry_run":(\w+)/.exec(line)?.[1])).toEqual(["false", "true", "true"]);
	expect(audited.recorded.messages()).not.toContain(warning);
});

test("300 calls are answered while the audit channel stalls, and posted afterwards, at most ten per message", async () => {
	await using audited = await startAudited(undefined, inStaff);
	const { call, simulator, general } = audited;
	const fault = simulator.faults.stall(staffMessages(audited), { times: 1 });
	const answers: Answer[] = [];
	// discord.js sends no more than 50 requests a second: most ask Discord nothing. A process has 256 connections for all of
	// its requests, the bot's among them: 50 at a time.
	for (let round = 0; round < 6; round++)
		answers.push(
			...(await Promise.all(
				named(50).map((content, index) =>
					index % 10 === 0
						? call("send_message", { channel_id: general, content })
						: call("send_message", { channel_id: general }),
				),
			)),
		);
	expect(answers.filter(({ isError }) => !isError)).toHaveLength(30);
	for (const { text } of answers) expect(text).toMatch(/^Message sent|content: is required/);
	expect(simulator.channel(general).transcript().split("\n")).toHaveLength(30);
	expect(fault.hits).toBe(1);
	expect(messagesIn(simulator)).toEqual([]);
	fault.release();
	const lines = await postedLines(audited, 300);
	expect(lines).toHaveLength(300);
	expect(new Set(lines.map(({ button }) => button)).size).toBe(300);
	const sizes = messagesIn(simulator).map(({ embeds }) => embeds.length);
	expect(Math.max(...sizes)).toBe(10);
	// The first one went by itself; meanwhile the others have gathered.
	expect(sizes).toHaveLength(31);
	expect(audited.recorded.messages()).not.toContain(warning);
});

test("the audit channel pings nobody, whatever the client's name", async () => {
	await using audited = await startAudited(undefined, inStaff);
	const { call, simulator, guild } = audited;
	const name = `@everyone @here <@${simulator.user("ada").id}> <@&${guild.id}>\`\`\``;
	const session = await audited.openSession(name);
	await call("ban", {}, session);
	await postedLines(audited, 1);
	const [message] = messagesIn(simulator);
	const shown = message && (await detailsOf(audited, message));
	const { Client = "" } = typeof shown === "object" ? shown : {};
	expect(Client.replaceAll("\\", "")).toBe(name);
	expect(Client).not.toMatch(/(?<!\\)[<`]/);
	for (const message of messagesIn(simulator))
		expect(message).toMatchObject({ mention_everyone: false, mentions: [], mention_roles: [], content: "" });
	const sent = simulator.journal
		.entries("POST /channels/:channel_id/messages")
		.map(({ body }) => (body as { allowed_mentions: object }).allowed_mentions);
	expect(sent).toEqual([{ parse: [], replied_user: false }]);
});

describe("the details of a call in the audit channel", () => {
	/** A bot that has posted one call, of a client with a name. */
	async function startTold(settings = inStaff) {
		const audited = await startAudited(undefined, settings);
		const session = await audited.openSession("Claude");
		await audited.call("send_message", { channel_id: audited.general, content: "hi" }, session);
		await postedLines(audited, 1);
		const message = present(messagesIn(audited.simulator)[0]);
		return { audited, message };
	}

	test("are shown to people with Manage Server, with the arguments but no text of them", async () => {
		const { audited, message } = await startTold();
		await using _ = audited;
		expect(await detailsOf(audited, message)).toEqual({
			title: "send_message",
			description: `\`\`\`json\n{"channel_id":"${audited.general}","content":"[2 characters]"}\n\`\`\``,
			Outcome: "done",
			Effect: "writes",
			For: "the holder of MCP_AUTH_TOKEN",
			Client: "Claude",
			Request: "call-1",
		});
		const { simulator, guild } = audited;
		const staff = roleNamed({ guild }, "Staff");
		const zoe = memberNamed({ guild }, "zoe");
		simulator.world.members.edit(guild, zoe, { roles: [staff.id] });
		expect(await detailsOf(audited, message, "Details", "zoe")).toBe(
			"Only people with Manage Server can see the details of calls.",
		);
	});

	test("of a guild beyond the key or the person of a call are not posted there", async () => {
		const mcpToken = "a-token-of-enough-length";
		await using audited = await startAudited(undefined, inStaff, { mcpToken });
		const { simulator, guild } = audited;
		const send = (more: object) => {
			const principal = encodePrincipal({ id: "key:k", name: "k", access: "all", ...more });
			const headers = { Authorization: `Bearer ${mcpToken}`, [principalHeader]: principal };
			return audited.call("ban", { guild_id: guild.id, user_ids: [simulator.user("zoe").id] }, headers);
		};
		const person = (name: string) => ({ id: simulator.user(name).id, name, signedIn: false });
		const beyond = [{ guilds: ["123456789012345678"] }, { person: person("bob_the_baker") }];
		for (const one of beyond) expect((await send(one)).isError).toBe(true);
		await send({ guilds: [guild.id], person: person("liwei") });
		await postedLines(audited, 1);
		await audited.bot.close();
		expect(linesIn(simulator).map(({ text }) => text)).toEqual([expect.stringContaining(`<@${person("liwei").id}>`)]);
	});

	test("name the key of a call without its hash, as the line does", async () => {
		const mcpToken = "a-token-of-enough-length";
		await using audited = await startAudited(undefined, inStaff, { mcpToken });
		const principal = { id: "key:Night shift:3fa2", name: "Night shift", access: "all" as const };
		const headers = { Authorization: `Bearer ${mcpToken}`, [principalHeader]: encodePrincipal(principal) };
		await audited.call("send_message", { channel_id: audited.general, content: "hi" }, headers);
		const [line] = await postedLines(audited, 1);
		expect(line?.text).toContain(" · the key Night shift · ");
		const message = present(messagesIn(audited.simulator).at(-1));
		expect(await detailsOf(audited, message)).toMatchObject({
			For: "the key Night shift",
			Key: "key:Night shift:3fa2",
		});
	});

	test("are in the language of the person, and the line in that of the server", async () => {
		const { audited, message } = await startTold((simulator) => {
			simulator.guild("The Cooks").preferred_locale = "de";
			return inStaff(simulator);
		});
		await using _ = audited;
		expect(linesIn(audited.simulator)[0]?.text).toMatch(
			/^\*\*Nachricht senden\*\* · erledigt · mit MCP_AUTH_TOKEN · <t:/,
		);
		expect(await detailsOf(audited, message)).toMatchObject({ Outcome: "done" });
		audited.simulator.world.users.locales.set(audited.simulator.user("ada").id, "de");
		expect(await detailsOf(audited, message)).toMatchObject({ Ergebnis: "erledigt", Anfrage: "call-1" });
	});

	test("of several calls in a message have a number each", async () => {
		await using audited = await startAudited(undefined, inStaff);
		const { call, general, simulator } = audited;
		const fault = simulator.faults.stall(staffMessages(audited), { times: 1 });
		for (let number = 0; number < 7; number++) await call("edit_channel", { channel_id: general, topic: `${number}` });
		await until("the first is on its way", () => fault.hits === 1);
		fault.release();
		await postedLines(audited, 7);
		const message = present(messagesIn(simulator).at(-1));
		expect(message.embeds.map(({ description }) => description?.slice(0, 3))).toEqual(
			[1, 2, 3, 4, 5, 6].map((number) => `${number}. `),
		);
		expect(await detailsOf(audited, message, "Details 6")).toMatchObject({ Request: "call-7" });
	});
});

test.each<[string, (simulator: Simulator) => string]>([
	["does not exist", () => "123456789012345678"],
	["takes no messages", (simulator) => simulator.channel("The Cooks/Talk").id],
	[
		"is closed to the bot",
		(simulator) => {
			const guild = simulator.guild("The Cooks");
			const { SendMessages } = PermissionFlagsBits;
			const denied = { allow: "0", deny: String(SendMessages) };
			const { id } = simulator.bot("alpha");
			return simulator.world.channels.add(guild, {
				name: "closed",
				permission_overwrites: [{ id, type: 1, ...denied }],
			}).id;
		},
	],
])("an audit channel that %s logs a warning, and no call fails", async (_, channel) => {
	await using audited = await startAudited(undefined, (simulator) => ({ "audit.channel": channel(simulator) }));
	const { call, general, recorded } = audited;
	for (let number = 1; number <= 3; number++) {
		const sent = await call("send_message", { channel_id: general, content: "a" });
		expect(sent.isError).toBe(false);
		await until("it is said", () => {
			const said = recorded.entries(warning);
			return said.reduce((sum, { entries }) => sum + Number(entries), 0) === number;
		});
	}
	expect(recorded.entries(warning)[0]).toMatchObject({ level: "warn", reason: expect.stringMatching(/./) });
	expect((await audited.get("/mcp")).text).toBe("ready");
});

test("the audit channel goes on after a message that Discord refused", async () => {
	await using audited = await startAudited(undefined, inStaff);
	const { call, simulator } = audited;
	simulator.faults.refuse(staffMessages(audited), 50013, { times: 1 });
	await call("ban", {});
	await until("it is said", () => audited.recorded.messages().includes(warning));
	await call("ban", {});
	await postedLines(audited, 1);
	const [message] = messagesIn(simulator);
	expect(message && (await detailsOf(audited, message))).toMatchObject({ Request: "call-2" });
});

test("closing a bot posts the queued embeds", async () => {
	await using audited = await startAudited(undefined, inStaff);
	await Promise.all(named(45).map(() => audited.call("ban", {})));
	await audited.bot.close();
	expect(linesIn(audited.simulator)).toHaveLength(45);
});

/** Everything in the files of a directory. */
async function filesIn(directory: string): Promise<Buffer> {
	const names = [...new Bun.Glob("*").scanSync(directory)];
	const files = names.map((name) => Bun.file(join(directory, name)).bytes());
	return Buffer.concat(await Promise.all(files));
}
