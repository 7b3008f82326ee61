// What moderators do, as slash commands, chat commands and menus: each action is one tool with its arguments.

import { ChannelType, type GuildMember } from "discord.js";
import type { JsonObject } from "../../lib/json.ts";
import { type Action, type ActionOption, announceOption } from "../commands/action.ts";
import { bannedNamed } from "../tools/members/bans.ts";

const manyPeople = 4;

const user: ActionOption = { name: "user", kind: "user", argument: "user_ids", required: true, several: true };

const reason: ActionOption = { name: "reason", kind: "reason", argument: "reason" };

const tell: ActionOption = { name: "tell", kind: "flag", argument: "tell" };

const isMany = ({ user_ids }: JsonObject) => Array.isArray(user_ids) && user_ids.length >= manyPeople;

async function findBanned({ guild }: GuildMember, name: string): Promise<string | undefined> {
	return guild.members.me?.permissions.has("BanMembers") ? bannedNamed(guild, name) : undefined;
}

const bans: readonly Action[] = [
	{
		name: "ban",
		tool: ({ duration }) => (duration === undefined ? "ban" : "temp_ban"),
		options: [
			user,
			{
				name: "duration",
				kind: "duration",
				argument: "duration",
				suggestions: ["1h", "12h", "1d", "3d", "1w", "2w", "30d", "forever"],
			},
			reason,
			{
				name: "delete_messages",
				kind: "choice",
				argument: "delete_messages",
				choices: ["none", "1h", "6h", "24h", "3d", "7d"],
			},
			tell,
		],
		may: "ban",
		heavy: true,
		confirm: isMany,
		chat: ["user", "duration", "reason"],
	},
	{ name: "unban", tool: "unban", options: [{ ...user, findOther: findBanned }, reason], may: "ban", heavy: true },
	{
		name: "banlist",
		tool: "list_temp_bans",
		options: [{ name: "page", kind: "integer", argument: "page", min: 1, max: 100_000 }],
		pages: "page",
		may: "ban",
	},
];

const people: readonly Action[] = [
	{ name: "kick", tool: "kick", options: [user, reason, tell], may: "kick", heavy: true, confirm: isMany },
	{
		name: "timeout",
		tool: "timeout",
		options: [
			user,
			{
				name: "duration",
				kind: "duration",
				argument: "duration",
				required: true,
				suggestions: ["5m", "10m", "1h", "6h", "1d", "1w"],
				longestMs: 28 * 86_400_000,
			},
			reason,
			tell,
		],
		may: "timeout",
		heavy: true,
		menus: [
			{ type: "user", name: "Time out", args: ({ userId }) => ({ user_ids: [userId] }), asks: ["duration", "reason"] },
		],
	},
	{ name: "untimeout", tool: "remove_timeout", options: [user, reason], may: "timeout", heavy: true },
	{
		name: "nick",
		tool: "set_nickname",
		options: [
			{ name: "user", kind: "user", argument: "user_ids", required: true },
			{ name: "nickname", kind: "text", argument: "nickname", max: 32 },
			reason,
		],
		permission: "ManageNicknames",
		chat: ["user", "nickname"],
	},
	...(["add", "remove"] as const).map(
		(action): Action => ({
			name: `role ${action}`,
			tool: "bulk_role_update",
			fixed: { action },
			options: [user, { name: "role", kind: "role", argument: "role_id", required: true }, reason],
			permission: "ManageRoles",
			chat: ["role", "user", "reason"],
		}),
	),
];

const voice: readonly Action[] = [
	{
		name: "move",
		tool: "edit_voice_members",
		options: [
			user,
			{
				name: "channel",
				kind: "channel",
				argument: "channel_id",
				required: true,
				channelTypes: [ChannelType.GuildVoice, ChannelType.GuildStageVoice],
			},
			reason,
		],
		permission: "MoveMembers",
		chat: ["channel", "user", "reason"],
	},
	{
		name: "disconnect",
		tool: "edit_voice_members",
		fixed: { channel_id: "" },
		options: [user, reason],
		permission: "MoveMembers",
	},
];

const channel: ActionOption = { name: "channel", kind: "channel", argument: "channel_ids", several: true };

const channels: readonly Action[] = [
	{
		name: "lock",
		tool: "lock_channel",
		options: [channel, reason, announceOption],
		announces: true,
		here: "channel_ids",
		inThread: ({ reason }) => ({ locked: true, reason }),
		may: "lock",
		heavy: true,
	},
	{
		name: "unlock",
		tool: "lock_channel",
		fixed: { unlock: true },
		options: [channel, reason],
		here: "channel_ids",
		inThread: ({ reason }) => ({ locked: false, reason }),
		may: "lock",
		heavy: true,
	},
	{
		name: "slowmode",
		tool: "edit_channel",
		options: [
			{
				name: "interval",
				kind: "duration",
				argument: "slowmode",
				required: true,
				suggestions: ["off", "5s", "10s", "30s", "1m", "5m", "1h"],
				longestMs: 6 * 3_600_000,
			},
			{ name: "channel", kind: "channel", argument: "channel_id" },
			reason,
			announceOption,
		],
		here: "channel_id",
		inThread: ({ slowmode, reason }) => ({ slowmode, reason }),
		permission: "ManageChannels",
	},
];

export const moderationActions: readonly Action[] = [...bans, ...people, ...voice, ...channels];
