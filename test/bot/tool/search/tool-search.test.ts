// The search of find_tools: queries as assistants phrase them, and the tools that they must find.

import { describe, expect, test } from "bun:test";
import { donatorTools } from "../../../../src/bot/game/donator-tools.ts";
import { createCaseTools } from "../../../../src/bot/moderation/cases/case-tools.ts";
import { purgeTool } from "../../../../src/bot/moderation/purge/purge.ts";
import { raidTools } from "../../../../src/bot/moderation/raid/raid-tools.ts";
import { createReportTools } from "../../../../src/bot/moderation/reports/report-tools.ts";
import { tempBanTools } from "../../../../src/bot/moderation/temp-ban-tools.ts";
import { searchTools } from "../../../../src/bot/tool/search/tool-search.ts";
import { stem } from "../../../../src/bot/tool/search/tool-synonyms.ts";
import { tools as ownTools } from "../../../../src/bot/tools/index.ts";

const tools = [...ownTools, ...donatorTools(() => undefined)];

const unused = () => {
	throw new Error("only its listing is wanted");
};
/** With those of moderation, which exist only while that feature is on. */
const moderationTools = [
	...tools,
	...createCaseTools({ cases: {} as never, settings: {} as never, cdn: "" }),
	...createReportTools({
		settings: {} as never,
		reports: { find: unused, list: unused, openAbout: unused, end: unused },
		cases: {} as never,
	}),
	...raidTools({ turn: unused, view: unused }),
	...tempBanTools({ ban: unused }, {} as never),
	purgeTool(unused),
];

const found = (query: string, limit = 3) => searchTools(query, tools, limit).best.map(({ name }) => name);

/** Queries, and the tool that must be first. */
const first: [query: string, tool: string][] = [
	["clone a channel", "clone_channel"],
	["duplicate channel", "clone_channel"],
	["send a DM", "send_private_message"],
	["whisper to a user", "send_private_message"],
	["direct message a member", "send_private_message"],
	["read DMs with a user", "read_private_messages"],
	["edit a private message", "edit_private_message"],
	["delete a DM that the bot sent", "delete_private_message"],
	["ban a member", "ban"],
	["ban_user", "ban"],
	["mass ban raiders", "ban"],
	["ban several users at once", "ban"],
	["unban someone", "unban"],
	["list bans", "get_bans"],
	["who is banned", "get_bans"],
	["kick a user", "kick"],
	["mute a member for 10 minutes", "timeout"],
	["timeout user", "timeout"],
	["unmute a user", "remove_timeout"],
	["lift a timeout", "remove_timeout"],
	["change nick", "set_nickname"],
	["rename a member's nickname", "set_nickname"],
	["kick inactive members", "prune_members"],
	["deafen someone in voice", "edit_voice_members"],
	["server mute a member in voice", "edit_voice_members"],
	["disconnect someone from a voice channel", "edit_voice_members"],
	["drag a member to another voice channel", "edit_voice_members"],
	["who is in voice channels right now", "list_voice_members"],
	["lockdown a channel", "lock_channel"],
	["unlock channel", "lock_channel"],
	["purge messages", "delete_messages"],
	["bulk delete messages", "delete_messages"],
	["channel message history", "get_recent_messages"],
	["get_channel_history", "get_recent_messages"],
	["search messages for a word", "search_messages"],
	["audit log", "get_audit_log"],
	["who deleted the channel, moderation log", "get_audit_log"],
	["publish an announcement", "crosspost_message"],
	["crosspost", "crosspost_message"],
	["forward message to another channel", "forward_message"],
	["pin a message", "pin_message"],
	["unpin", "pin_message"],
	["list pinned messages", "list_pins"],
	["add reaction to message", "add_reaction"],
	["who reacted to a message", "get_reactions"],
	["remove all reactions", "remove_reaction"],
	["create a poll", "create_poll"],
	["start a vote", "create_poll"],
	["close a poll early", "end_poll"],
	["who voted for an answer", "get_poll_voters"],
	["upload a file", "send_file"],
	["attach an image to a message", "send_file"],
	["create webhook", "create_webhook"],
	["rename a webhook", "edit_webhook"],
	["post as webhook", "send_webhook_message"],
	["list webhooks of the server", "list_webhooks"],
	["create an invite link", "create_invite"],
	["revoke an invite", "delete_invite"],
	["list invites and who made them", "list_invites"],
	["pause invites during a raid", "set_incident_actions"],
	["disable DMs between members", "set_incident_actions"],
	["create custom emoji", "create_emoji"],
	["list emotes", "list_emojis"],
	["rename emoji", "edit_emoji"],
	["archive a thread", "edit_thread"],
	["add people to a private thread", "edit_thread_members"],
	["who is in a thread", "list_thread_members"],
	["list forum posts", "list_threads"],
	["edit forum tags", "edit_channel"],
	["start a stage", "set_stage"],
	["set voice channel status", "edit_channel"],
	["create a scheduled event", "create_scheduled_event"],
	["cancel an event", "edit_scheduled_event"],
	["who is interested in an event", "get_event_users"],
	["block bad words", "set_automod_rule"],
	["create a spam filter", "set_automod_rule"],
	["disable an automod rule", "set_automod_rule"],
	["list automod rules", "list_automod_rules"],
	["change the server name", "edit_guild"],
	["server verification level settings", "edit_guild"],
	["server info", "get_guild_info"],
	["get_server_info", "get_guild_info"],
	["list servers", "list_guilds"],
	["who can see a channel", "check_permissions"],
	["effective permissions of a member", "check_permissions"],
	["check the bot's setup", "run_setup_check"],
	["bot latency and uptime", "get_bot_info"],
	["recent tool calls", "list_recent_tool_calls"],
	["give a role to many members", "bulk_role_update"],
	["reorder roles", "move_roles"],
	["create a role", "create_role"],
	["sync permissions with category", "copy_channel_permissions"],
	["copy permissions from one channel to another", "copy_channel_permissions"],
	["role members", "list_members"],
	["get_user_id_by_name", "lookup_user_by_name"],
];

/** Queries, and the tool that must be among the first three. */
const amongThree: [query: string, tool: string][] = [
	["slowmode", "edit_channel"],
	["set slow mode in a channel", "edit_channel"],
	["channel overwrites", "set_channel_permissions"],
	["allow a role to see a channel", "set_channel_permissions"],
	["make channel private", "set_channel_permissions"],
	["clean up chat", "delete_messages"],
	["hoist a role", "edit_role"],
	["change role color", "edit_role"],
	["vanity URL", "get_guild_info"],
	["sticker", "list_emojis"],
	["backup of the server structure", "export_guild"],
	["raid", "set_incident_actions"],
	["who has a role", "list_members"],
	["members who joined in the last hour", "list_members"],
	["promote a member to moderator", "bulk_role_update"],
	["take a role away from a user", "bulk_role_update"],
	["message statistics per author", "search_messages"],
	["rename a channel", "edit_channel"],
	["reply to a message", "send_message"],
	["send an embed", "send_message"],
	["announce something in a channel", "send_message"],
	["close a thread", "edit_thread"],
	["create a ticket thread", "create_thread"],
	["create a category", "create_channel"],
	["create voice channel", "create_channel"],
	["change bitrate of a voice channel", "edit_channel"],
	["reorder channels", "move_channels"],
	["why can the bot not do something, diagnose", "run_setup_check"],
	["whois user", "get_member"],
	["see who left the server", "get_audit_log"],
	["undo a role change", "undo_actions"],
	["a moderator account was hijacked", "undo_actions"],
	["warn a user", "send_private_message"],
	["list moderators", "check_permissions"],
	["read forum posts", "list_threads"],
	["count messages per user", "search_messages"],
	["make an announcement channel", "create_channel"],
	["delete a category", "delete_channel"],
	["stop a stage", "set_stage"],
	["filter swear words", "set_automod_rule"],
	["donators of the game", "list_donators"],
];

/** Queries of moderators, and the tool that must be first while moderation is on. */
const firstForModerators: [query: string, tool: string][] = [
	["warn a member", "warn_member"],
	["warn the one who insulted people", "warn_member"],
	["warn the one who insulted", "warn_member"],
	["give a warning", "warn_member"],
	["ban for three days", "temp_ban"],
	["ban someone for 3 days", "temp_ban"],
	["ban the spammer for a week", "temp_ban"],
	["ban a member", "ban"],
	["timeout for 2 days", "timeout"],
	["what was done about a member before", "list_cases"],
	["who of my moderators acted most", "list_cases"],
	["what did my moderators do this week", "list_cases"],
	["correct the reason of a case", "edit_case"],
	["queue of reports", "list_reports"],
	["dismiss a report", "resolve_report"],
	["raid off", "raid_mode"],
	["stop a raid", "raid_mode"],
	["delete messages of people who joined recently", "purge"],
	["delete everything that new members wrote", "purge"],
	["list members who joined today", "list_members"],
	["list bans", "get_bans"],
	["list temp bans", "list_temp_bans"],
	["joins by invite", "list_members"],
	["who came by which invite", "list_members"],
	["who joined through an invite", "list_members"],
	["which invites exist", "list_invites"],
	["delete messages of a user", "delete_messages"],
];

describe("find_tools", () => {
	test.each(firstForModerators)("with moderation, %s: %s is first", (...row) => {
		const [query, tool] = row;
		const [best] = searchTools(query, moderationTools, 1).best;
		expect(best?.name).toBe(tool);
	});

	test.each(first)("%s: %s is first", (query, tool) => {
		// A new tool that suits a query better takes its place in the table.
		expect(found(query)[0]).toBe(tool);
	});

	test.each(amongThree)("%s: %s is among the first three", (query, tool) => {
		expect(found(query)).toContain(tool);
	});

	test("each tool is first for its name", () => {
		expect(tools.filter(({ name }) => found(name)[0] !== name)).toEqual([]);
	});

	test("words that no tool has find nothing", () => {
		expect(searchTools("zzz qqq", tools, 3)).toEqual({ best: [], others: [], named: [] });
	});
});

test.each([
	["banned", "ban"],
	["banning", "ban"],
	["bans", "ban"],
	["deletes", "delet"],
	["deleting", "delet"],
	["deleted", "delet"],
	["delete", "delet"],
	["replies", "reply"],
	["replied", "reply"],
	["messages", "messag"],
	["status", "status"],
	["access", "access"],
	["need", "need"],
	["string", "string"],
])("the stem of %s is %s", (word, expected) => {
	expect(stem(word)).toBe(expected);
});
