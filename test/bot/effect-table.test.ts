// Every tool by the effect of its calls: which access level they need, which of them wait for approval, what the listing
// and the log say of them. Where the effect follows from the arguments, the examples stand in effect-table.ts.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { toolsetNames } from "../../src/bot/config/tool-choice.ts";
import { donatorTools } from "../../src/bot/game/donator-tools.ts";
import type { BotContext } from "../../src/bot/tool/context.ts";
import { callingTools, tools } from "../../src/bot/tools/index.ts";
import type { JsonObject } from "../../src/lib/json.ts";
import type { Access, Principal } from "../../src/lib/principal.ts";
import type { Effect } from "../../src/mcp/tool.ts";
import { until } from "../support/until.ts";
import { type ApprovalWorld, staffChannel, startApprovalWorld } from "./approval/approval-world.ts";
import { examplesIn, prepareExamples } from "./effect-table.ts";

/** The tools whose calls all have the same effect. */
const always: Record<Effect, readonly string[]> = {
	read: [
		"list_guilds",
		"get_guild_info",
		"export_guild",
		"plan_guild",
		"get_job",
		"list_backups",
		"list_members",
		"lookup_user_by_name",
		"get_member",
		"get_recent_messages",
		"get_message",
		"search_messages",
		"get_reactions",
		"list_pins",
		"get_poll_voters",
		"list_threads",
		"list_thread_members",
		"read_private_messages",
		"list_channels",
		"get_channel",
		"list_channel_permissions",
		"list_roles",
		"get_bans",
		"list_voice_members",
		"list_scheduled_events",
		"get_event_users",
		"list_automod_rules",
		"get_audit_log",
		"list_invites",
		"get_invite",
		"list_webhooks",
		"list_emojis",
		"list_recent_tool_calls",
		"check_permissions",
		"get_bot_info",
		"run_setup_check",
		"find_tools",
		"use_reading_tool",
		"list_temp_bans",
		"list_cases",
		"list_reports",
		"raid_status",
		"get_approval",
		"list_approvals",
		"list_donators",
	],
	write: [
		"cancel_job",
		"send_message",
		"send_file",
		"add_reaction",
		"pin_message",
		"forward_message",
		"create_poll",
		"create_thread",
		"edit_thread",
		"send_private_message",
		"clone_channel",
		"unban",
		"remove_timeout",
		"set_nickname",
		"create_scheduled_event",
		"create_webhook",
		"edit_webhook",
		"send_webhook_message",
		"create_emoji",
		"edit_emoji",
		"moderation_log",
		"note_member",
		"edit_case",
		"resolve_report",
	],
	destructive: [
		"apply_guild",
		"edit_message",
		"delete_messages",
		"remove_reaction",
		"crosspost_message",
		"end_poll",
		"delete_thread",
		"edit_channel",
		"edit_thread_members",
		"edit_private_message",
		"delete_channel",
		"delete_private_message",
		"set_channel_permissions",
		"delete_role",
		"copy_channel_permissions",
		"bulk_role_update",
		"ban",
		"kick",
		"prune_members",
		"timeout",
		"edit_voice_members",
		"set_stage",
		"delete_scheduled_event",
		"delete_automod_rule",
		"delete_invite",
		"delete_webhook",
		"edit_webhook_message",
		"delete_webhook_message",
		"delete_emoji",
		"temp_ban",
		"raid_mode",
		"purge",
		"use_tool",
		"sync_donators",
	],
};

/** The tools of "write" that can do nothing but add. */
const additive = [
	"send_message",
	"send_file",
	"add_reaction",
	"forward_message",
	"create_poll",
	"create_thread",
	"send_private_message",
	"clone_channel",
	"create_scheduled_event",
	"create_webhook",
	"send_webhook_message",
	"create_emoji",
	"note_member",
];

let world: ApprovalWorld;
let examples: ReturnType<typeof examplesIn>;

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
	const args = { user_ids: [id], reason: "Spam", tell: false };
	await world.call(undefined, "warn_member", args);
	examples = examplesIn(world.simulator);
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
	const game = donatorTools({ plan: () => Promise.reject(new Error()), apply: () => Promise.reject(new Error()) });
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
		if (!isRead) expect([name, hints.destructiveHint]).toEqual([name, !additive.includes(name)]);
	}
	for (const [name, { write, destructive }] of Object.entries(examples))
		expect([name, write.length > 0, destructive.length > 0]).toEqual([name, true, true]);
});

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
					}
				expect(changed()).toEqual([]);
			}
	});

	test('waits for a person with approval = "destructive", who is told why', async () => {
		for (const [name, { destructive }] of Object.entries(examples))
			for (const [reason, args] of destructive) {
				world.simulator.journal.clear();
				const { pending, text } = await world.call(callerWith("all"), name, args as JsonObject);
				expect({ name, args, text, pending }).toEqual({
					name,
					args,
					text: expect.any(String),
					pending: expect.any(String),
				});
				const shown = JSON.stringify(world.posts().at(-1)?.embeds);
				expect(shown).toContain("Counts as destructive: it ");
				expect(shown).toContain(JSON.stringify(reason).slice(1, -1));
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
	const helpers = [...guild.roles.values()].find(({ name }) => name === "Helpers");
	const args = { channel_id: simulator.channel("The Cooks/general").id, role_ids: [helpers?.id ?? ""] };
	const give = () => world.call(callerWith("write"), "create_role_menu", args);
	expect((await give()).isError).toBe(false);
	const lounge = guild.channels.get(simulator.channel("The Cooks/Lounge").id);
	if (!lounge) throw new Error("the seed has a lounge");
	simulator.world.channels.setOverwrite(lounge, {
		id: simulator.bot("alpha").id,
		type: 1,
		allow: "0",
		deny: String(PermissionFlagsBits.ViewChannel),
	});
	await until("the bot has heard", async () =>
		(await give()).text.includes("gives access to channels that the bot does not see"),
	);
});
