// Invites: the ways into a guild.

import {
	type APIExtendedInvite,
	type APIInvite,
	type RESTPostAPIChannelInviteJSONBody,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { channelName } from "../discord/describe.ts";
import { channel, role } from "../discord/find.ts";
import { foundInvite, inviteLine, inviteLink } from "../guild/guild-invites.ts";
import {
	flag,
	found,
	guild_id,
	integer,
	list,
	reason,
} from "../tool/arguments.ts";
import { destructiveTool, tool } from "../tool/define.ts";
import { requireAssignable } from "./roles.ts";

export const listInvites = tool({
	name: "list_invites",
	toolset: "guild",
	title: "List invites",
	description:
		"List the invites to a guild, or to one of its channels, the latest first: code, link, channel, who made it, when it expires, how often it was used.",
	effect: "read",
	permissions: [
		{ permission: "ManageChannels", with: "channel_id" },
		{
			permission: "ManageGuild",
			orInGuild: "ViewAuditLog",
			with: "channel_id",
			when: ({ channel_id }) => channel_id === undefined,
		},
	],
	input: v.strictObject({
		guild_id,
		channel_id: v.optional(found(channel, "channel; all when omitted")),
	}),
	async run(_, { discord, guild, channel }) {
		const invites = (await discord.rest.get(
			channel
				? Routes.channelInvites(channel.id)
				: Routes.guildInvites(guild.id),
		)) as (APIInvite | APIExtendedInvite)[];
		const where = channel ? channelName(channel) : "the guild";
		if (invites.length === 0) return `There is no invite to ${where}.`;
		const hidden = invites.some((invite) => !("uses" in invite));
		return [
			`${invites.length} invite(s) to ${where}, ${hidden ? "as Discord orders them" : "the latest first"}, times in UTC:`,
			...invites.sort((a, b) => createdAt(b) - createdAt(a)).map(inviteLine),
			...(hidden
				? [
						"How often they were used Discord shows to a bot with MANAGE_GUILD only.",
					]
				: []),
		];
	},
});

function createdAt(invite: APIInvite | APIExtendedInvite): number {
	return "created_at" in invite ? Date.parse(invite.created_at) : 0;
}

export const createInvite = tool({
	name: "create_invite",
	toolset: "guild",
	title: "Create an invite",
	description:
		"Make a link by which people join the guild and come to a channel. Without `unique`, Discord may give one of the bot's that is alike. Answers with the link.",
	effect: "write",
	permissions: [
		"CreateInstantInvite",
		{ permission: "ManageRoles", orInGuild: "ManageRoles", with: "role_ids" },
	],
	ranked: true,
	input: v.strictObject({
		guild_id,
		channel_id: found(channel, "channel"),
		max_age_seconds: v.optional(
			integer(0, 604_800, "How long it lasts; 0 for ever."),
			86_400,
		),
		max_uses: v.optional(
			integer(0, 100, "How many may use it; 0 for any number."),
			0,
		),
		temporary: v.optional(
			flag("Who has no role when they go offline is put out."),
			false,
		),
		unique: v.optional(flag("Always a new one."), false),
		role_ids: v.optional(
			list(found(role, "role"), 1, 100, "Roles for who joins by it."),
		),
		reason,
	}),
	async run({ max_age_seconds, ...args }, { discord, channel, roles }) {
		const { max_uses, temporary, unique, role_ids } = args;
		for (const one of roles ?? []) requireAssignable(one);
		const body: RESTPostAPIChannelInviteJSONBody = {
			max_age: max_age_seconds,
			...{ max_uses, temporary, unique },
			...(role_ids && { role_ids }),
		};
		const invite = (await discord.rest.post(Routes.channelInvites(channel.id), {
			body,
		})) as APIExtendedInvite;
		return [
			`This invite leads to ${channelName(channel)}:`,
			inviteLine(invite),
		];
	},
});

export const getInvite = tool({
	name: "get_invite",
	toolset: "guild",
	title: "Get an invite",
	description:
		"Show an invite to the guild: channel, who made it, when it expires. list_invites also shows how often it was used.",
	effect: "read",
	input: v.strictObject({ guild_id, invite_code: foundInvite }),
	run(_, { invite: { data } }) {
		const { approximate_member_count: members } = data;
		return [
			inviteLine(data),
			...(members == null ? [] : [`The guild has about ${members} member(s).`]),
		];
	},
});

export const deleteInvite = destructiveTool({
	name: "delete_invite",
	toolset: "guild",
	title: "Delete an invite",
	description:
		"Delete an invite: nobody joins by its link any more. It cannot be brought back.",
	permissions: [
		{
			permission: "ManageChannels",
			orInGuild: "ManageGuild",
			with: "invite_code",
		},
	],
	idempotent: true,
	input: v.strictObject({ guild_id, invite_code: foundInvite, reason }),
	plan(_, { discord, invite: { data } }) {
		return {
			preview: [
				`Would delete the invite ${data.code}, after which nobody joins by ${inviteLink(data)}:`,
				inviteLine(data),
			],
			async act() {
				await discord.rest.delete(Routes.invite(data.code));
				return `Deleted the invite ${inviteLine(data)}`;
			},
		};
	},
});
