// Every tool against answers of Discord's that are not what it promises: no tool shows what is not there, claims to have
// done what nobody confirmed, or fails without a word on what became of a write. Of each field by which the bot decides
// something, one of three changes is tried for each tool, chosen by the tool's name; with ALL_ANSWERS=1 all three.

import { expect, test } from "bun:test";
import type { ResponseData as Answer } from "../../src/simulator/rest/faults.ts";
import { type Args, type Scene, startScene } from "./tool-rows/scene.ts";
import { table } from "./tool-table.ts";

interface Mutation {
	name: string;
	/** Whether the answer as a whole is not the promised one. */
	whole: boolean;
	of(right: Answer): Answer;
}

const promised: readonly [string, (right: Answer) => Answer][] = [
	["202", (right) => ({ ...right, status: 202 })],
	["a page", () => ({ status: 200, body: "<!DOCTYPE html><p>Welcome", headers: { "content-type": "text/html" } })],
];
const promisedJson: readonly [string, (right: Answer) => Answer][] = [
	["204", () => ({ status: 204 })],
	["nothing", (right) => ({ ...right, body: "" })],
	["{}", (right) => ({ ...right, body: "{}" })],
	["null", (right) => ({ ...right, body: "null" })],
	["a text", (right) => ({ ...right, body: '"text"' })],
	["half", ({ body = "", ...right }) => ({ ...right, body: body.slice(0, -1) })],
];

type Path = readonly (string | number)[];

/** Where the values of some JSON stand; of a list only the first is looked at. */
function pathsIn(value: unknown, path: Path = []): Path[] {
	if (typeof value !== "object" || value === null) return [];
	const entries: [string | number, unknown][] = Array.isArray(value)
		? value.slice(0, 1).map((one, index) => [index, one])
		: Object.entries(value);
	return entries.flatMap(([key, one]) => {
		const at = [...path, key];
		return [at, ...pathsIn(one, at)];
	});
}

/** JSON in which the value at `path` is another one; undefined: it is not there. */
function replaced(value: unknown, [key, ...rest]: Path, by: unknown): unknown {
	if (key === undefined) return by;
	if (Array.isArray(value)) return value.map((one, index) => (index === key ? (replaced(one, rest, by) ?? null) : one));
	const object = Object(value) as Record<string, unknown>;
	return { ...object, [key]: replaced(object[key], rest, by) };
}

function valueAt(value: unknown, path: Path): unknown {
	return path.reduce((part, key) => (Object(part) as Record<string | number, unknown>)[key], value);
}

/** Fields by which the bot decides something, of Discord's objects. */
const decisive =
	/^((audit_log_entries|threads)\.)?(0\.)?(id|owner_id|roles|permissions|position|permission_overwrites(\.0\.\w+)?|actions)$/;

const changes = [
	["missing", () => undefined],
	["null", () => null],
	["of another type", (value: unknown) => (isPlainObject(value) ? "text" : {})],
] as const;

function isPlainObject(value: unknown): boolean {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The changes of an answer; `turn` says which change a field gets. */
function* mutationsOf(right: Answer, turn: number): Generator<Mutation> {
	const hasJson = right.body !== undefined;
	for (const [name, of] of [...promised, ...(hasJson ? promisedJson : [])]) yield { name, whole: true, of };
	const json: unknown = JSON.parse(right.body ?? "null");
	const paths = pathsIn(json).filter((path) => decisive.test(path.join(".")));
	for (const [index, path] of paths.entries())
		for (const [number, [what, by]] of changes.entries())
			if (process.env.ALL_ANSWERS || (index + turn) % changes.length === number)
				yield {
					name: `${path.join(".")} ${what}`,
					whole: false,
					of: ({ body = "null", ...rest }) => {
						const answer: unknown = JSON.parse(body);
						const value = by(valueAt(answer, path));
						return { ...rest, body: JSON.stringify(replaced(answer, path, value)) };
					},
				};
}

/** What may be answered 204, by the OpenAPI specification alone. */
const mayBeEmpty = ["PATCH /guilds/:guild_id/members/:user_id", "POST /channels/:channel_id/invites"];

const isWrite = (route: string) => !route.startsWith("GET ") && route !== "POST /users/@me/channels";

/** A request of a tool's, with its right answer. */
interface Exchange {
	route: string;
	right: Answer;
}

/** What the tool asks of Discord when all goes well. It is done. */
async function record({ world: { simulator, call } }: Scene, tool: string, args: Args): Promise<Exchange[]> {
	const rights: Answer[] = [];
	const fault = simulator.faults.rewrite("* *", (right) => {
		rights.push(right);
		return right;
	});
	const from = simulator.requests.list().length;
	const { text, isError } = await call(tool, args);
	fault.release();
	expect({ tool, text, isError }).toMatchObject({ isError: false });
	const answered = simulator.requests
		.list()
		.slice(from)
		.filter(({ status }) => Number(status) < 300);
	return answered.map(({ route = "" }, index) => ({ route, right: rights[index] ?? { status: 0 } }));
}

/** What is wrong with a tool's result after one of its answers was changed; undefined when it is as it should be. */
function problemOf(
	{ text, isError, code }: { text: string; isError: boolean; code?: number },
	wrote: boolean,
	wholeWrite: boolean,
): string | undefined {
	if (/\bundefined\b|\[object|\bNaN\b|1970-01-01/.test(text)) return "shows what is not there";
	if (code === -32603) return wrote ? "fails after a write" : "fails without a word";
	if (wholeWrite && !(isError && text.includes("unknown"))) return "claims what nobody confirmed";
	return undefined;
}

test("no tool shows, claims or fails at what an answer lacks", async () => {
	await using scene = await startScene();
	const { simulator, heard, call } = scene.world;
	const faults: string[] = [];
	/** What is refused for one tool, before the tool hears of it, is refused for all. */
	const refused = new Set<string>();
	let tried = 0;
	for (const [tool, row] of Object.entries(table)) {
		// By the name, so that a new tool changes nothing for the others.
		const turn = Bun.hash.crc32(tool) % changes.length;
		if ("answer" in row) continue;
		const fresh = () => ("ask" in row ? row.ask(scene).args : row.act(scene).args);
		const [first, second] = [fresh(), fresh()];
		await heard();
		const exchanges = await record(scene, tool, first);
		/** Calls the tool. What is answered from the record is not executed: the next case finds everything as it was. */
		const replay =
			(isRecorded: (route: string) => boolean) => (args: Args, changed?: Exchange, mutation?: Mutation) => {
				simulator.faults.clear();
				for (const exchange of exchanges) {
					const { route, right } = exchange;
					const change = exchange === changed ? mutation?.of : undefined;
					const once = { times: 1 };
					if (isRecorded(route)) simulator.faults.answer(route, { ...(change?.(right) ?? right), ...once });
					else if (change) simulator.faults.rewrite(route, change, once);
				}
				return call(tool, args);
			};
		const cases = exchanges.flatMap((exchange) =>
			[...mutationsOf(exchange.right, turn)].map((mutation) => ({
				exchange,
				mutation,
				name: `${exchange.route}: ${mutation.name}`,
			})),
		);
		const all = replay(() => true);
		const writes = replay(isWrite);
		// What is done already, as the bot knows without asking, has to be done to something else.
		const again = !(await all(first)).isError;
		// What these have done they remember, whatever Discord has executed.
		const remembers = tool === "lock_channel";
		const argsOf = cases.map(() => (again ? first : remembers ? fresh() : second));
		const callWith = again ? all : writes;
		if (remembers) await heard();
		if (!again) {
			const { text, isError } = await writes(remembers ? fresh() : second);
			expect({ tool, text, isError }).toMatchObject({ isError: false });
		}
		for (const [index, { exchange, mutation, name }] of cases.entries()) {
			if (refused.has(name)) continue;
			tried += 1;
			const from = simulator.requests.list().length;
			const args = argsOf[index] ?? second;
			const result = await callWith(args, exchange, mutation);
			const sent = simulator.requests.list().slice(from);
			const wrote = sent.some(({ route = "" }) => isWrite(route));
			const isAllowed = mayBeEmpty.includes(exchange.route) && mutation.name === "204";
			const unconfirmed = wrote && isWrite(exchange.route) && mutation.whole && !isAllowed;
			const fault = problemOf(result, wrote, unconfirmed);
			if (fault) faults.push(`${tool} ${fault}: ${name}: ${result.text.slice(0, 300)}`);
			const isSeen = !(isWrite(exchange.route) && mutation.whole);
			if (isSeen && / without (a usable|the promised|JSON)/.test(result.text)) refused.add(name);
		}
		simulator.faults.clear();
		// Later tools would meet what this one has kept of such answers.
		expect(faults).toEqual([]);
	}
	expect(tried).toBeGreaterThan(1_000);
}, 600_000);

type Json = Record<string, unknown>;
const json = (change: (answer: Json) => unknown) => (right: Answer) => ({
	...right,
	body: JSON.stringify(change(JSON.parse(right.body ?? "null") as Json)),
});
const each = (more: Json) => (answer: unknown) => (answer as Json[]).map((one) => ({ ...one, ...more }));
const noContent = () => ({ status: 204 });

// By the OpenAPI specification, https://github.com/discord/discord-api-spec; the empty answers with a type are a guess.
const allowed: readonly {
	tool: string;
	/** Where it is not the row's own request. */
	request?: string;
	of(right: Answer): Answer;
	shows: string;
}[] = [
	{ tool: "create_invite", of: json((invite) => ({ ...invite, roles: null })), shows: "https://discord.gg/" },
	{ tool: "get_invite", of: json((invite) => ({ ...invite, approximate_member_count: null })), shows: "expires: " },
	...["create_invite", "list_invites"].map((tool) => ({
		tool,
		of: json((answer) =>
			Array.isArray(answer) ? each({ created_at: null })(answer) : { ...answer, created_at: null },
		),
		shows: tool === "list_invites" ? "created: unknown" : "https://discord.gg/",
	})),
	{ tool: "create_role", of: json((role) => ({ ...role, colors: { primary_color: 0x8e44ad } })), shows: "#8E44AD" },
	{
		tool: "get_audit_log",
		of: json((log) => ({
			...log,
			threads: [{ id: "1", name: null }, { id: "2" }],
			audit_log_entries: ["1", "2"].map((id) => ({ id, target_id: id, action_type: 110, user_id: null })),
		})),
		shows: "thread (ID: 1)",
	},
	{ tool: "get_guild_info", of: json((guild) => ({ ...guild, approximate_presence_count: null })), shows: "members: " },
	{
		tool: "list_threads",
		of: json(({ threads, ...rest }) => ({ ...rest, threads: each({ owner_id: undefined })(threads) })),
		shows: "by unknown",
	},
	{
		tool: "list_threads",
		request: "GET /channels/:channel_id/threads/archived/public",
		of: json(({ threads, ...rest }) => ({
			...rest,
			threads: (threads as { thread_metadata: Json }[]).map((one) => ({
				...one,
				thread_metadata: { ...one.thread_metadata, archive_timestamp: null },
			})),
		})),
		shows: "archived: unknown",
	},
	{ tool: "edit_channel", of: json((channel) => ({ ...channel, flags: undefined })), shows: "Changed #" },
	{ tool: "list_webhooks", of: json(each({ channel_id: null, type: 9 })), shows: "channel: none | kind: 9" },
	{
		tool: "get_recent_messages",
		of: json(each({ embeds: [{ type: "rich", title: "Menu", image: {} }] })),
		shows: "embed: Menu",
	},
	{ tool: "set_nickname", of: noContent, shows: 'now has the nickname "Chef", and had no nickname' },
	{ tool: "timeout", of: noContent, shows: "Timed out" },
	{ tool: "delete_messages", of: () => ({ status: 200, body: "" }), shows: "Deleted" },
	{
		tool: "delete_messages",
		of: () => ({ status: 204, headers: { "content-type": "application/json" } }),
		shows: "Deleted",
	},
];

test("what an answer may lack, tools do without", async () => {
	await using scene = await startScene();
	const { simulator, heard, call } = scene.world;
	for (const { tool, request, of, shows } of allowed) {
		const row = table[tool];
		if (!row || "answer" in row) throw new Error(`${tool} asks`);
		const made = "ask" in row ? row.ask(scene) : row.act(scene);
		await heard();
		const fault = simulator.faults.rewrite(request ?? made.request, of);
		const { text, isError } = await call(tool, made.args);
		fault.release();
		expect({ tool, isError, hits: fault.hits, text }).toMatchObject({
			tool,
			isError: false,
			hits: 1,
			text: expect.stringContaining(shows) as string,
		});
		expect(text).not.toMatch(/\b(undefined|null|NaN)\b/);
	}
});
