// Every tool by the effect of its calls: which access level they need, which of them wait for approval, what the listing
// and the log say of them. The examples of calls whose effect follows from their arguments are the
// column "effects" of the tools' table.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ChannelType, GuildScheduledEventEntityType, PermissionFlagsBits } from "discord.js";
import { toolsetNames } from "../../src/bot/config/tool-choice.ts";
import { donatorTools } from "../../src/bot/game/donator-tools.ts";
import type { BotContext } from "../../src/bot/tool/context.ts";
import { saidDestructive, toolTitle } from "../../src/bot/tool/titles.ts";
import { callingTools, tools } from "../../src/bot/tools/index.ts";
import { inlineText } from "../../src/discord/text.ts";
import type { JsonObject } from "../../src/lib/json.ts";
import type { Access, Principal } from "../../src/lib/principal.ts";
import type { Effect } from "../../src/mcp/tool.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { allLanguages, render, textsOf } from "../../src/texts/texts.ts";
import { until } from "../support/until.ts";
import { addRule, channelNamed, denyBot, roleNamed, roleOverwrite, userNamed } from "../support/world.ts";
import { type ApprovalWorld, staffChannel, startApprovalWorld } from "./approval/approval-world.ts";
import { grant } from "./features/running-feature.ts";
import type { Effects, Named, Row } from "./tool-rows/scene.ts";
import { rows } from "./tool-scene.ts";

/** The tools of features, and those that need a plan or a job, whose calls all have the same effect. */
const others = {
	read: [
		"use_reading_tool",
		"list_temp_bans",
		"list_cases",
		"list_reports",
		"raid_status",
		"get_approval",
		"list_approvals",
		"list_donators",
		"get_settings",
	],
	write: ["note_member", "edit_case", "import_cases", "resolve_report", "cancel_job"],
	destructive: ["temp_ban", "raid_mode", "purge", "use_tool", "sync_donators", "apply_guild"],
} satisfies Record<Effect, readonly string[]>;

/** The tools of features whose calls have different effects. */
const otherEffects = (guild: Named, plan_hash: string | undefined): Record<string, Effects> => ({
	undo_actions: {
		write: [{ user_id: guild.user("zoe"), after: "3h" }],
		destructive: [["carries out the plan", { plan_hash }]],
	},
	set_settings: {
		write: [{ settings: { "welcome.message": "Hi {user}" } }],
		destructive: [
			["lets the bot give members @Helpers", { settings: { "join_role.role": guild.role("Helpers") } }],
			[
				"changes who decides about the bot, or sees what it does (audit.channel)",
				{ settings: { "audit.channel": null } },
			],
		],
	},
	create_role_menu: {
		write: [{ channel_id: guild.channel("general"), role_ids: [guild.role("Helpers")] }],
		destructive: [
			["gives VIEW_CHANNEL in #staff", { channel_id: guild.channel("general"), role_ids: [guild.role("Insiders")] }],
			[
				"replaces what a message says",
				{
					channel_id: guild.channel("general"),
					role_ids: [guild.role("Helpers")],
					content: "Choose",
					message_id: guild.message,
				},
			],
		],
	},
	warn_member: {
		write: [{ user_ids: [guild.user("zoe")], reason: "Spam", tell: false }],
		// José has been warned once.
		destructive: [
			[
				'may set off the rule "2 warnings in 30d: kick"',
				{ user_ids: [guild.user("jose.garcia")], reason: "Spam", tell: false },
			],
		],
	},
});

/** They have a dry run, and destroy nothing. */
const previewed = ["send_private_message", "set_nickname", "remove_timeout", "unban"];

/** What a row says of the effect of its tool. */
function effectOf(name: string, row: Row): Effect | "by its arguments" {
	if (!("act" in row)) return "read";
	if (row.effects) return "by its arguments";
	return row.dryRun && !previewed.includes(name) ? "destructive" : "write";
}
const withEffect = (effect: Effect | "by its arguments") =>
	rows.flatMap(([name, row]) => (effectOf(name, row) === effect ? name : []));

/** The tools whose calls all have the same effect. */
const always: Record<Effect, readonly string[]> = {
	read: [...withEffect("read"), ...others.read],
	write: [...withEffect("write"), ...others.write],
	destructive: [...withEffect("destructive"), ...others.destructive],
};

/** Those that can do nothing but add. */
const additive = [...rows.flatMap(([name, { adds }]) => (adds ? name : [])), "note_member", "import_cases"];

/** What the examples need in the guild, before the bot starts. */
function prepareExamples(simulator: Simulator): void {
	const guild = simulator.guild("The Cooks");
	const { world } = simulator;
	const alpha = userNamed(simulator, "alpha");
	const [general, staff] = [channelNamed(simulator, "general"), channelNamed(simulator, "staff")];
	grant(simulator, "Staff", PermissionFlagsBits.KickMembers);
	world.roles.add(guild, { name: "Helpers" });
	const insiders = world.roles.add(guild, { name: "Insiders" });
	world.channels.setOverwrite(staff, roleOverwrite(insiders.id, { allow: PermissionFlagsBits.ViewChannel }));
	world.channels.add(guild, { name: "Elsewhere", type: ChannelType.GuildCategory });
	world.messages.add(general, alpha, { content: "an announcement" });
	world.scheduledEvents.add(guild, guild.owner_id, {
		name: "Dinner",
		entity_type: GuildScheduledEventEntityType.External,
		entity_metadata: { location: "Outside" },
		scheduled_start_time: "2099-01-31T12:00:00.000Z",
		scheduled_end_time: "2099-01-31T13:00:00.000Z",
	});
	for (const enabled of [true, false])
		addRule(simulator, { name: `Soup ${enabled}`, enabled, trigger_metadata: { keyword_filter: ["soup", "stew"] } });
}

function namedIn(simulator: Simulator): Named {
	const guild = simulator.guild("The Cooks");
	const { world } = simulator;
	const named = (things: Iterable<{ id: string; name: string }>) => (name: string) => {
		for (const thing of things) if (thing.name === name) return thing.id;
		throw new Error(`nothing is called ${name}`);
	};
	return {
		id: guild.id,
		role: named([...guild.roles.values()]),
		channel: named([...guild.channels.values()]),
		user: (name) => simulator.user(name).id,
		event: named([...world.scheduledEvents.in(guild)]),
		rule: named([...world.autoModeration.in(guild)]),
		message: world.messages.in(simulator.channel("The Cooks/general").id)[0]?.id,
	};
}

let world: ApprovalWorld;
let examples: Record<string, Effects>;

beforeAll(async () => {
	world = await startApprovalWorld({
		prepare: prepareExamples,
		mcp: () => ({ toolsets: "all" }),
		toml: (simulator) => {
			const { id } = simulator.channel(staffChannel);
			const escalate = ["2 warnings in 30d: kick"];
			return { features: { moderation: true }, moderation: { log_channel: id, reports: id, escalate } };
		},
	});
	const { id } = world.simulator.user("jose.garcia");
	await world.call(undefined, "warn_member", { user_ids: [id], reason: "Spam", tell: false });
	const named = namedIn(world.simulator);
	const ofRows = rows.flatMap(([name, { effects }]) => (effects ? [[name, effects(named)] as const] : []));
	const { text } = await world.call(undefined, "undo_actions", { user_id: named.user("zoe"), after: "3h" });
	const all = [...ofRows, ...Object.entries(otherEffects(named, /plan_hash=(\w+)/.exec(text ?? "")?.[1]))];
	// By name: set_incident_actions pauses the invites that create_invite makes.
	examples = Object.fromEntries(all.sort(([one], [other]) => (one < other ? -1 : 1)));
});

afterAll(() => world[Symbol.asyncDispose]());

let callers = 0;
/** A key of its own for each call: a caller can have ten open requests for approval. */
function callerWith(access: Access): Principal {
	callers += 1;
	return { id: `key:k${callers}`, name: "k", access };
}

function connectionWith(access: Access): Principal {
	callers += 1;
	const person = { ...world.person("ada"), signedIn: true };
	return { id: `grant:g${callers}`, name: "Claude", access, person };
}

async function listed(access: Access) {
	const principal = { ...callerWith(access), toolsets: [...toolsetNames] };
	const { result } = await world.ask(principal, "tools/list", {});
	const { tools } = result as unknown as { tools: { name: string; annotations: Record<string, boolean> }[] };
	return new Map(tools.map(({ name, annotations }) => [name, annotations]));
}

const changed = () =>
	world.simulator.journal.entries().filter(({ path }) => {
		const { id } = world.simulator.channel(staffChannel);
		return path !== `/channels/${id}/messages`;
	});

test("every tool has a row, and is listed from the access on that its least effect needs", async () => {
	const varying = Object.keys(examples);
	const game = donatorTools(() => undefined);
	const findTools = tools.filter(({ name }) => name === "find_tools");
	const unlisted = [...game, ...callingTools, ...findTools];
	const ofEffect = (effect: Effect) => unlisted.flatMap((tool) => (tool.effect === effect ? tool.name : []));
	const [read, write, all] = [await listed("read"), await listed("write"), await listed("all")];
	const added = (some: Map<string, unknown>, before: Map<string, unknown>) =>
		[...some.keys()].filter((name) => !before.has(name));
	const found: Record<Effect, string[]> = {
		read: [...new Set([...read.keys(), ...ofEffect("read")])],
		write: [...new Set([...added(write, read), ...ofEffect("write")])],
		destructive: [...new Set([...added(all, write), ...ofEffect("destructive")])],
	};
	expect(found.read.sort()).toEqual([...always.read].sort());
	expect(found.write.sort()).toEqual([...always.write, ...varying].sort());
	expect(found.destructive.sort()).toEqual([...always.destructive].sort());
	for (const [name, hints] of all) {
		const isRead = always.read.includes(name);
		expect([name, hints.readOnlyHint ?? false]).toEqual([name, isRead]);
		if (isRead) continue;
		expect([name, hints.destructiveHint]).toEqual([name, !additive.includes(name)]);
	}
	for (const [name, { write, destructive }] of Object.entries(examples))
		expect([name, write.length > 0, destructive.length > 0]).toEqual([name, true, true]);
});

test.each(allLanguages.filter((language) => language !== "en"))(
	"in %s, every tool that changes something has a title",
	async (language) => {
		const writing = [...(await listed("all"))].flatMap(([name, { readOnlyHint }]) => (readOnlyHint ? [] : name));
		const titled = Object.keys(textsOf(language)).filter((key) => key.startsWith("tool."));
		const expected = [...writing, "sync_donators"].filter((name) => name !== "use_tool").map((name) => `tool.${name}`);
		// Those in English are in the tools, the others in src/texts.
		expect({
			missing: expected.filter((key) => !titled.includes(key)),
			unknown: titled.filter((key) => !expected.includes(key)),
		}).toEqual({ missing: [], unknown: [] });
		expect(render(toolTitle("ban", "Ban users"), language)).not.toBe("Ban users");
		expect(render(toolTitle("ban", "Ban users"), "en")).toBe("Ban users");
	},
);

test("the tool itself refuses a caller whose access it exceeds", async () => {
	for (const { name, effect, call } of tools)
		for (const access of ["read", "write"] as const) {
			if (effect === "read" || effect === access) continue;
			const context = { principal: callerWith(access) } as BotContext;
			const quiet = { signal: undefined, reportProgress() {} };
			const result = await call({}, context, quiet);
			expect(result).toContain(`${name} was not run: it needs the access`);
		}
});

describe("a call that counts as destructive by its arguments", () => {
	test("is refused to a key and a connection with write, also by use_tool, and says why", async () => {
		for (const [name, { destructive }] of Object.entries(examples))
			for (const [reason, args] of destructive) {
				world.simulator.journal.clear();
				const why = `${name} was not run: it needs the access "all" with these arguments, because it `;
				for (const [caller, how] of [
					[callerWith("write"), "--access all"],
					[connectionWith("write"), "connect this client again"],
				] as const)
					for (const [tool, given] of [
						[name, args],
						["use_tool", { name, arguments: args }],
					] as const) {
						const { text, isError } = await world.call(caller, tool, given as JsonObject);
						expect({ name, args, text, isError }).toEqual({
							name,
							args,
							isError: true,
							text: expect.stringContaining(why),
						});
						expect(text).toContain(reason);
						expect(text).toContain(how);
						const [, sentence = ""] = /because it (.*?), and this (?:key|connection)/s.exec(text) ?? [];
						expect(render(saidDestructive(sentence), "de")).not.toContain(inlineText(sentence, 300));
					}
				expect(changed()).toEqual([]);
			}
	});

	test('waits for a person with approval = "destructive", who is told why', async () => {
		for (const [name, { destructive }] of Object.entries(examples))
			for (const [, args] of destructive) {
				world.simulator.journal.clear();
				const { pending, text } = await world.call(callerWith("all"), name, args as JsonObject);
				expect({ name, args, text, pending }).toEqual({
					name,
					args,
					text: expect.any(String),
					pending: expect.any(String),
				});
				const [embed] = world.posts().at(-1)?.embeds ?? [];
				expect((embed as { description: string }).description).toContain("Counts as destructive: it ");
				expect(changed()).toEqual([]);
			}
	});

	test("runs after Approve, and is on record as destructive", async () => {
		const name = "Managers";
		await world.call(callerWith("all"), "create_role", { name, permissions: ["MANAGE_GUILD"] });
		const roles = () => [...world.guild.roles.values()].map(({ name }) => name);
		expect(roles()).not.toContain(name);
		expect(await world.press("ada", "Approve")).toContain("is done");
		expect(roles()).toContain(name);
		const { text } = await world.call(undefined, "list_recent_tool_calls", { tool: "create_role", limit: 1 });
		expect(text).toContain(" | destructive | {");
	});
});

test("other calls of these tools run at once for a key with write", async () => {
	for (const [name, { write }] of Object.entries(examples))
		for (const args of write) {
			const { text, isError, pending } = await world.call(callerWith("write"), name, args as JsonObject);
			expect({ name, args, text, isError, pending }).toEqual({
				name,
				args,
				text: expect.any(String),
				isError: false,
				pending: undefined,
			});
		}
	const { text } = await world.call(undefined, "list_recent_tool_calls", { outcome: "done", limit: 5 });
	expect(text).not.toContain(" | destructive | ");
});

test("a role counts as one with power while the bot does not see all channels", async () => {
	const { simulator, guild } = world;
	const helpers = roleNamed({ guild }, "Helpers");
	const args = { channel_id: simulator.channel("The Cooks/general").id, role_ids: [helpers.id] };
	const give = () => world.call(callerWith("write"), "create_role_menu", args);
	expect((await give()).isError).toBe(false);
	await denyBot(world, channelNamed(world, "Lounge"), PermissionFlagsBits.ViewChannel);
	await until("the bot has heard", async () =>
		(await give()).text.includes("gives access to channels that the bot does not see"),
	);
});
