// What moderators do, as slash commands, chat commands and menus: each action is one tool with its arguments.

import { ChannelType } from "discord.js";
import type { JsonObject } from "../../lib/json.ts";
import { ToolError } from "../../lib/tool-error.ts";
import type { Action, ActionOption } from "../commands/action.ts";
import { readDuration } from "../tool/arguments/times.ts";

/** Minimum number of people in one command for which the moderator must confirm the action. */
const manyPeople = 4;

const user = (description: string): ActionOption => ({
	name: "user",
	description,
	kind: "user",
	argument: "user_ids",
	required: true,
	several: true,
});

const reason: ActionOption = {
	name: "reason",
	description: "Why: for the record and the audit log",
	kind: "reason",
	argument: "reason",
};

const tell: ActionOption = {
	name: "tell",
	description: "Whether to tell them by direct message",
	kind: "flag",
	argument: "tell",
};

const member = user("Who");

const isMany = ({ user_ids }: JsonObject) => Array.isArray(user_ids) && user_ids.length >= manyPeople;

const bans: readonly Action[] = [
	{
		name: "ban",
		description: "Ban someone, for a time or for good; repeat it to change when the ban ends",
		tool: ({ duration }) => (duration === undefined ? "ban" : "temp_ban"),
		options: [
			user("Person to ban"),
			{
				name: "duration",
				description: 'For how long, such as 12h or 3d, or "forever"; default: for good',
				kind: "duration",
				argument: "duration",
				suggestions: ["1h", "12h", "1d", "3d", "1w", "2w", "30d", "forever"],
			},
			reason,
			{
				name: "delete_messages",
				description: "Which of their messages to delete",
				kind: "choice",
				argument: "delete_message_seconds",
				choices: [
					{ name: "none", value: "0" },
					{ name: "the last hour", value: "3600" },
					{ name: "the last 6 hours", value: "21600" },
					{ name: "the last 24 hours", value: "86400" },
					{ name: "the last 3 days", value: "259200" },
					{ name: "the last 7 days", value: "604800" },
				],
				convert: Number,
			},
			tell,
		],
		permission: "BanMembers",
		heavy: true,
		confirm: isMany,
		chat: { order: ["user", "duration", "reason"], required: ["duration"] },
	},
	{
		name: "unban",
		description: "Lift someone's ban",
		tool: "unban",
		options: [user("Whose ban to lift"), reason],
		permission: "BanMembers",
		heavy: true,
	},
	{
		name: "banlist",
		description: "List temporary bans",
		tool: "list_temp_bans",
		options: [{ name: "page", description: "Which page", kind: "integer", argument: "page", min: 1, max: 100_000 }],
		permission: "BanMembers",
	},
];

const people: readonly Action[] = [
	{
		name: "kick",
		description: "Kick someone",
		tool: "kick",
		options: [user("Person to kick"), reason, tell],
		permission: "KickMembers",
		heavy: true,
		confirm: isMany,
	},
	{
		name: "timeout",
		description: "Time someone out: they cannot write, react or speak",
		tool: "timeout",
		options: [
			user("Person to time out"),
			{
				name: "duration",
				description: "For how long, at most 28 days, such as 10m, 2h or 3d",
				kind: "duration",
				argument: "duration",
				required: true,
				suggestions: ["5m", "10m", "1h", "6h", "1d", "1w"],
				longestMs: 28 * 86_400_000,
			},
			reason,
			tell,
		],
		permission: "ModerateMembers",
		heavy: true,
		menus: [
			{ type: "user", name: "Time out", args: ({ userId }) => ({ user_ids: [userId] }), asks: ["duration", "reason"] },
		],
	},
	{
		name: "untimeout",
		description: "End someone's timeout",
		tool: "remove_timeout",
		options: [user("Whose timeout to end"), reason],
		permission: "ModerateMembers",
		heavy: true,
	},
	{
		name: "nick",
		description: "Set or remove someone's nickname",
		tool: "set_nickname",
		options: [
			{ name: "user", description: "Whose nickname", kind: "user", argument: "user_id", required: true },
			{
				name: "nickname",
				description: "The nickname; without it, the nickname is removed",
				kind: "text",
				argument: "nickname",
				max: 32,
			},
			reason,
		],
		permission: "ManageNicknames",
		chat: { order: ["user", "nickname"] },
	},
	...(["add", "remove"] as const).map(
		(action): Action => ({
			name: `role ${action}`,
			description: action === "add" ? "Give someone a role" : "Take a role from someone",
			tool: "bulk_role_update",
			fixed: { action },
			options: [
				member,
				{ name: "role", description: "The role", kind: "role", argument: "role_id", required: true },
				reason,
			],
			permission: "ManageRoles",
			chat: { order: ["role", "user", "reason"] },
		}),
	),
];

const voice: readonly Action[] = [
	{
		name: "move",
		description: "Move someone to another voice channel",
		tool: "edit_voice_members",
		options: [
			member,
			{
				name: "channel",
				description: "Where to",
				kind: "channel",
				argument: "channel_id",
				required: true,
				channelTypes: [ChannelType.GuildVoice, ChannelType.GuildStageVoice],
			},
			reason,
		],
		permission: "MoveMembers",
		chat: { order: ["channel", "user", "reason"] },
	},
	{
		name: "disconnect",
		description: "Disconnect someone from voice",
		tool: "edit_voice_members",
		fixed: { channel_id: "" },
		options: [member, reason],
		permission: "MoveMembers",
	},
];

const channel: ActionOption = {
	name: "channel",
	description: "Which channel; default: this one",
	kind: "channel",
	argument: "channel_ids",
	several: true,
};

const channels: readonly Action[] = [
	{
		name: "lock",
		description: "Lock a channel, except for administrators and people that the channel itself allows to write",
		tool: "lock_channel",
		options: [channel, reason],
		here: "channel_ids",
		hereIsList: true,
		permission: "ManageRoles",
		heavy: true,
	},
	{
		name: "unlock",
		description: "Undo a lock",
		tool: "lock_channel",
		fixed: { unlock: true },
		options: [channel, reason],
		here: "channel_ids",
		hereIsList: true,
		permission: "ManageRoles",
		heavy: true,
	},
	{
		name: "slowmode",
		description: "Set how often members can write in a channel",
		tool: "edit_channel",
		options: [
			{
				name: "interval",
				description: "Time between two messages, at most 6 hours, such as 10s or 1m; off",
				kind: "duration",
				argument: "slowmode_seconds",
				required: true,
				suggestions: ["off", "5s", "10s", "30s", "1m", "5m", "1h"],
				longestMs: 6 * 3_600_000,
				convert: readSlowMode,
			},
			{ name: "channel", description: "Which channel; default: this one", kind: "channel", argument: "channel_id" },
			reason,
		],
		here: "channel_id",
		permission: "ManageChannels",
	},
	{
		name: "setlog",
		description: "Show or set the channel of the moderation log",
		tool: "moderation_log",
		options: [
			{
				name: "channel",
				description: "Where to log; without it, the bot shows where",
				kind: "channel",
				argument: "channel_id",
				channelTypes: [ChannelType.GuildText, ChannelType.GuildAnnouncement],
			},
			{
				name: "log",
				description: "Turn the log off",
				kind: "choice",
				argument: "off",
				choices: [{ name: "off", value: "off" }],
				convert: () => true,
			},
		],
		permission: "ManageGuild",
	},
];

export const moderationActions: readonly Action[] = [...bans, ...people, ...voice, ...channels];

function readSlowMode(value: unknown): number {
	const ms = value === "off" ? 0 : readDuration(String(value));
	if (ms === undefined)
		throw new ToolError('The interval is a duration such as 10s or 5m, or "off". Nothing was done.');
	return Math.round(ms / 1000);
}
