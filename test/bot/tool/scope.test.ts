// What a principal sees of a bot, which the gateway sends with its requests.

import { afterAll, describe, expect, test } from "bun:test";
import type { BotTool } from "../../../src/bot/tool/context.ts";
import { accessors, offerTools } from "../../../src/bot/tool/search/offered-tools.ts";
import { callingTools, tools as realTools } from "../../../src/bot/tools/index.ts";
import { HttpClient } from "../../../src/gateway/http/http-client.ts";
import type { Principal } from "../../../src/lib/principal.ts";
import { createClient } from "../../../src/mcp/client.ts";
import { until } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

const tools: readonly BotTool[] = [...realTools, ...callingTools];
const names = (list: readonly BotTool[]) => list.map(({ name }) => name);
const offer = offerTools(tools, { read_only: false, tools: { deny: ["kick"] } });
const isAccessor = ({ name }: BotTool) => Object.values(accessors).some((one) => one === name);

describe("the tools of a scope", () => {
	test.each([
		["read", ["read"]],
		["write", ["read", "write"]],
		["all", ["read", "write", "destructive"]],
	] as const)('access "%s" has the tools with the effects %j', (access, needed) => {
		const { allowed, listed } = offer({ access });
		const expected = tools.filter(
			(tool) =>
				tool.name !== "kick" &&
				(needed.some((one) => one === tool.effect) || (access === "write" && tool.name === accessors.use)),
		);
		expect(names(allowed)).toEqual(names(expected));
		expect(names(listed)).toEqual(names(allowed.filter(({ offered }) => offered === "listed")));
	});

	test("each tool says truly whether it deletes or overwrites something", () => {
		for (const [name, effect] of [
			["list_members", "read"],
			["find_tools", "read"],
			["use_reading_tool", "read"],
			["send_message", "write"],
			["use_tool", "destructive"],
			["ban", "destructive"],
			["apply_guild", "destructive"],
		]) {
			const tool = tools.find((one) => one.name === name);
			expect([name, tool?.effect]).toEqual([name, effect]);
		}
	});

	test("all allowed tools of the chosen toolsets are listed", () => {
		const { allowed, listed } = offer({ access: "all", toolsets: ["threads"] });
		const threads = tools.filter(({ toolset }) => toolset === "threads");
		expect(names(listed)).toEqual(names(threads));
		expect(names(allowed)).toEqual(names(threads));
		expect(names(offer({ access: "read", toolsets: ["threads"] }).listed)).toEqual(
			names(threads.filter(({ effect }) => effect === "read")),
		);
		expect(names(offer({ access: "all", toolsets: ["moderation"] }).listed)).not.toContain("kick");
	});

	test("without toolsets, or with unknown ones only, there are no tools", () => {
		for (const toolsets of [[], ["no_such_toolset"]]) expect(offer({ access: "all", toolsets }).allowed).toEqual([]);
	});

	test("equal scopes share their tools, and a scope without limits has all", () => {
		const scope = { access: "read", toolsets: ["threads", "roles"] } as const;
		const other = { access: "read", toolsets: ["roles", "x", "threads"] } as const;
		expect(offer(scope)).toBe(offer(other));
		expect(offer({ access: "all" })).toBe(offer(undefined));
	});

	const unlike = (allowed: readonly BotTool[]) => tools.filter(({ name }) => !names(allowed).includes(name));

	test("a tool outside the toolsets is unknown like one that does not exist", () => {
		const { allowed, resolve } = offer({ access: "all", toolsets: ["voice", "audit"] });
		const outside = unlike(allowed).filter((tool) => !isAccessor(tool) && tool.name !== "kick");
		expect(outside.length).toBeGreaterThan(20);
		for (const { name } of outside) expect(() => resolve(name, {})).toThrow(`Method not found: ${name}`);
	});

	test("a tool beyond the access is refused with how to raise the access", () => {
		for (const access of ["read", "write"] as const)
			for (const [id, how] of [
				["key:k:1", /creates a key with --access (write|all)/],
				["grant:g", /connect this client again/],
			] as const) {
				const { allowed, listed, resolve } = offer({ access, id });
				const beyond = unlike(allowed).filter((tool) => !isAccessor(tool) && tool.name !== "kick");
				expect(beyond.length).toBeGreaterThan(20);
				expect(names(listed).filter((name) => names(beyond).includes(name))).toEqual([]);
				for (const { name } of beyond) {
					const { refusal } = resolve(name, {});
					expect(refusal).toStartWith(`${name} was not run: it needs the`);
					expect(refusal).toContain(`this connection has only "${access}"`);
					expect(refusal).toMatch(how);
					for (const accessor of [accessors.use, accessors.read])
						if (allowed.some((tool) => tool.name === accessor))
							expect(resolve(accessor, { name }).refusal).toBe(refusal);
				}
			}
	});

	test("a tool that the configuration denies is refused as such, whatever the access", () => {
		expect(offer({ access: "read" }).resolve("kick", {}).refusal).toContain("deny in config.toml");
	});

	test("use_tool runs nothing beyond the access", () => {
		const { resolve } = offer({ access: "write" });
		expect(resolve("use_tool", { name: "clone_channel" }).refusal).toBe(undefined);
		expect(resolve("use_tool", { name: "ban" }).refusal).toStartWith('ban was not run: it needs the access "all"');
		expect(offer({ access: "read" }).resolve("use_tool", {}).refusal).toStartWith(
			'use_tool was not run: it needs the access "write"',
		);
	});
});

const token = "the-token-of-the-bot";
const guildNamed = (name: string) => ({
	name,
	owner: "owner",
	bots: [{ username: "alpha", permissions: 8n }],
	roles: [],
	channels: [{ name: `${name} talk` }],
	members: [{ username: "ada", roles: [] }],
});

async function startTwoGuilds() {
	const world = await startWorld(
		{
			seed: {
				bots: [{ username: "alpha" }],
				users: [{ username: "owner" }, { username: "ada" }],
				guilds: [guildNamed("The Cooks"), guildNamed("The Bakers")],
			},
		},
		{ mcpToken: token, toml: {} },
	);
	const client = createClient({
		dispatch: new HttpClient({ url: world.bot.url }).dispatch,
		token,
		info: { name: "test", version: "0" },
	});
	const session = await client.connect(AbortSignal.timeout(90_000));
	const as = (principal: Principal) => async (method: string, params: object) => {
		const signal = AbortSignal.timeout(90_000);
		const text = JSON.stringify(params);
		const { message } = await client.request(...([session, method, text, signal, { principal }] as const));
		return JSON.stringify(message.error ?? message.result);
	};
	return { world, as };
}

const started = startTwoGuilds();
afterAll(async () => (await started).world[Symbol.asyncDispose]());
const unknown = "123456789012345678";

describe("a principal that is limited to one guild", () => {
	async function start() {
		const { world, as } = await started;
		const cooks = world.simulator.guild("The Cooks").id;
		const bakers = world.simulator.guild("The Bakers").id;
		const limitedTo = (id: string) => as({ id: "key:a", name: "a", access: "all", guilds: [id] });
		const ask = limitedTo(cooks);
		const call = (name: string, args = {}) => ask("tools/call", { name, arguments: args });
		return { world, as, ask, call, cooks, bakers, limitedTo };
	}

	test("lists and counts no other guild", async () => {
		const { call, cooks, bakers, limitedTo } = await start();
		expect(await call("list_guilds")).toContain(`1 guild(s):`);
		expect(await call("list_guilds")).toContain(cooks);
		expect(await call("get_bot_info")).toContain("guilds: 1,");
		const check = await call("run_setup_check");
		expect(check).toContain("The Cooks");
		expect(check).not.toContain("The Bakers");
		expect(check).not.toContain(bakers);
		expect(await limitedTo(unknown)("tools/call", { name: "list_guilds" })).toContain("0 guild(s):");
	});

	test.each(
		tools
			.filter((tool) => "guild_id" in Object(tool.listing.inputSchema.properties) && !isAccessor(tool))
			.map(({ name }) => [name]),
	)("cannot tell with %s whether another guild exists", async (name) => {
		const { call, bakers } = await start();
		const answer = async (guild_id: string) => (await call(name, { guild_id })).replaceAll(guild_id, "ID");
		expect(await answer(bakers)).toBe(await answer(unknown));
	});

	test("is told of another guild what an unlimited caller is told of an unknown one", async () => {
		const { world, call, bakers } = await start();
		const { text } = await world.call("list_members", { guild_id: unknown });
		expect(await call("list_members", { guild_id: bakers })).toContain(text.replace(unknown, bakers));
	});

	test("is not told the guild of the bot's configuration: what it leaves out is its own guild", async () => {
		const { limitedTo, bakers, cooks, world } = await start();
		expect(world.guild.id).toBe(cooks);
		const ask = limitedTo(bakers);
		const answer = await ask("tools/call", { name: "list_members" });
		expect(answer).toContain("@owner");
		expect(answer).not.toContain(cooks);
		const prompt = await ask("prompts/get", { name: "review_permissions" });
		expect(prompt).toContain(bakers);
		expect(prompt).not.toContain(cooks);
	});

	test("cannot tell by prompts whether another guild exists", async () => {
		const { ask, cooks, bakers } = await start();
		const get = async (guild_id: string) => {
			return (await ask("prompts/get", { name: "weekly_report", arguments: { guild_id } })).replaceAll(guild_id, "ID");
		};
		expect(await get(bakers)).toBe(await get(unknown));
		expect(await get(cooks)).toContain("messages");
		const complete = (value: string) =>
			ask("completion/complete", {
				ref: { type: "ref/prompt", name: "weekly_report" },
				argument: { name: "guild_id", value },
			});
		expect(await complete("")).toContain(`"values":["${cooks}"]`);
		expect(await complete("Bakers")).toBe(await complete("Butchers"));
	});

	test("sees only the recorded calls of its guild", async () => {
		const { world, call, cooks, bakers } = await start();
		await world.call("list_roles", { guild_id: bakers });
		await world.call("list_roles", { guild_id: cooks });
		await until("both are on record", async () => {
			const { text } = await world.call("list_recent_tool_calls", { tool: "list_roles" });
			return text.includes(bakers) && text.includes(cooks);
		});
		const seen = await call("list_recent_tool_calls", { tool: "list_roles" });
		expect(seen).toContain(cooks);
		expect(seen).not.toContain(bakers);
	});

	test("cannot tell whether a plan, a job or a backup of another guild exists", async () => {
		const { world, call, cooks, bakers } = await start();
		const document = { roles: [{ name: "New" }] };
		const { text } = await world.call("plan_guild", { guild_id: bakers, document });
		const hash = /plan_hash=(\w+)/.exec(text)?.[1] ?? "";
		expect(hash).not.toBe("");
		const other = [...hash].reverse().join("");
		const same = async (name: string, args: (id: string) => object, ids: string[]) => {
			const answers = await Promise.all(
				ids.map(async (id) => {
					const answer = await call(name, { guild_id: cooks, ...args(id) });
					return answer.replaceAll(id, "ID");
				}),
			);
			expect(new Set(answers).size).toBe(1);
			expect(answers[0]).toContain("There is no ");
		};
		const plans = [hash, other];
		await same("apply_guild", (plan_hash) => ({ plan_hash }), plans);
		await same("plan_guild", (plan_hash) => ({ plan_hash, changes: {} }), plans);
		const guilds = [bakers, unknown];
		await same("plan_guild", (id) => ({ backup: `${id}/1` }), guilds);
		await same("export_guild", (id) => ({ backup: `${id}/latest` }), guilds);
		const applied = await world.call("apply_guild", { guild_id: bakers, plan_hash: hash });
		const job = /Job (\w+) in/.exec(applied.text)?.[1] ?? "";
		expect(job).not.toBe("");
		const jobs = [job, [...job].reverse().join("")];
		await same("get_job", (job_id) => ({ job_id }), jobs);
		await same("cancel_job", (job_id) => ({ job_id }), jobs);
	});
});

describe("a principal with less access", () => {
	test("lists and calls only tools of its access, and finds of the others the best one, with the access that it needs", async () => {
		const { as } = await started;
		const ask = as({ id: "key:b", name: "b", access: "read" });
		const listed = JSON.parse(await ask("tools/list", {})).tools.map(({ name }: { name: string }) => name);
		expect(listed).toContain("list_members");
		expect(listed).toContain("use_reading_tool");
		expect(listed).not.toContain("use_tool");
		expect(listed).not.toContain("ban");
		const call = (name: string, args = {}) => ask("tools/call", { name, arguments: args });
		expect(JSON.parse(await call("no_such_tool"))).toEqual({ code: -32601, message: "Method not found: no_such_tool" });
		for (const name of ["ban", "send_message", "use_tool"])
			expect(await call(name)).toContain(`${name} was not run: it needs the access`);
		const found = await call("find_tools", { query: "ban a member" });
		expect(found).toContain("get_bans");
		expect(found).toContain(
			'ban (needs the access \\"all\\", and this connection has only \\"read\\"): Ban users, members or not. | To raise it, the operator of the gateway creates a key with --access all.',
		);
		expect(await call("find_tools", { query: "list bans" })).not.toContain("needs the access");
		expect(await call("find_tools", { query: "list bans; write a message" })).toMatch(
			/"write a message\W.*send_message \(needs the access \W*write/,
		);
		const event = await call("find_tools", { query: "create an event" });
		expect(event).toContain('create_scheduled_event (needs the access \\"write\\", and');
		expect(event).not.toContain("plan_guild");
		expect(await call("find_tools", { query: "set the welcome screen" })).toMatch(
			/plan_guild \(.*with a document such as .*\\napply_guild \(needs the access \\"all\\", and this connection has only \\"read\\"\) \| To raise it/,
		);
		expect(await call("get_bot_info")).toMatch(/tools: \d+, of the toolsets/);
	});

	test("has only the prompts whose tools it may call", async () => {
		const { as } = await started;
		const ask = as({ id: "key:b", name: "b", access: "read" });
		const list = await ask("prompts/list", {});
		expect(list).toContain("weekly_report");
		expect(list).not.toContain("clean_up_after_raid");
		const get = async (name: string) => (await ask("prompts/get", { name })).replaceAll(name, "NAME");
		expect(await get("clean_up_after_raid")).toBe(await get("no_such_prompt"));
	});

	test("a refused call is logged as one of its tool", async () => {
		const { as, world } = await started;
		const ask = as({ id: "key:c", name: "c", access: "read" });
		await ask("tools/call", { name: "kick" });
		expect(world.logged.findLast((line) => line.includes('tool="kick"'))).toContain(' outcome="refused"');
	});
});
