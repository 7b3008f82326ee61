// Invites.

import { type APIExtendedInvite, type APIInvite, PermissionFlagsBits, Routes } from "discord.js";
import * as v from "valibot";
import { channelName, nowIs } from "../../discord/describe.ts";
import { channel, role } from "../../discord/find.ts";
import { personHas, requireOfPerson } from "../../discord/permissions.ts";
import { grantsOf } from "../../discord/powers.ts";
import { inlineText, oneField, resultLines } from "../../discord/text.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { listedAs } from "../../mcp/json-schema.ts";
import { said } from "../../texts/texts.ts";
import { asking, listed } from "../results/result.ts";
import { duration, flag, found, guild_id, integer, list, oneOrMore, reason } from "../tool/arguments/arguments.ts";
import { onEach } from "../tool/bulk.ts";
import { destructiveTool, readTool, writeTool } from "../tool/define.ts";
import { foundInvite, inviteCode, inviteLine, inviteLink, invitesOf, visibleInvites } from "./invites/guild-invites.ts";
import { requireAssignable } from "./roles.ts";

export const listInvites = readTool({
	name: "list_invites",
	toolset: "guild",
	offered: "listed",
	title: "List invites",
	description: "List invites, newest first: code, channel, creator, expiry, uses.",
	permissions: [
		{ permission: "ManageChannels", with: "channel_ids" },
		{
			permission: "ManageGuild",
			orInGuild: "ViewAuditLog",
			with: "channel_ids",
			when: ({ channel_ids }) => channel_ids === undefined,
		},
	],
	permissionsIn: "channel_ids",
	input: { guild_id, channel_ids: v.optional(oneOrMore(found(channel, "channel"), 20, "Default: all.")) },
	async run(_, { discord, guild, channels }) {
		const routes = channels?.map(({ id }) => Routes.channelInvites(id)) ?? [Routes.guildInvites(guild.id)];
		const lists = await Promise.all(routes.map((route) => discord.rest.get(route)));
		const all = lists.flat() as (APIInvite | APIExtendedInvite)[];
		const { ManageGuild } = PermissionFlagsBits;
		// Of all invites of a guild, Discord shows a person the uses only with MANAGE_GUILD.
		const showsUses = channels || personHas(guild, undefined, ManageGuild);
		const invites = visibleInvites(guild, all).map((invite) => (showsUses ? invite : withoutUses(invite)));
		const where = channels?.map(channelName).join(", ") ?? "the guild";
		if (invites.length === 0) return `There is no invite to ${where}.`;
		const hidden = invites.some((invite) => !("uses" in invite));
		return resultLines(
			`${invites.length} invite(s) to ${where}, ${hidden ? "in Discord's order" : "newest first"}, times in UTC, ${nowIs()}. Links: ${inviteLink({ code: "CODE" })}`,
			invites.sort((a, b) => createdAt(b) - createdAt(a)).map(inviteLine),
			hidden && "Discord shows the number of uses only with MANAGE_GUILD.",
		);
	},
});

function withoutUses(invite: APIInvite | APIExtendedInvite): APIInvite {
	if (!("uses" in invite)) return invite;
	const { uses: _, max_uses: __, max_age: ___, ...rest } = invite;
	const { temporary: ____, created_at: _____, ...basic } = rest;
	return basic;
}

function createdAt(invite: APIInvite | APIExtendedInvite): number {
	return "created_at" in invite ? Date.parse(invite.created_at) || 0 : 0;
}

export const createInvite = writeTool({
	name: "create_invite",
	toolset: "guild",
	title: "Create an invite",
	description:
		"Create an invite to a channel. Unless `unique`, Discord may return an earlier one of the bot with the same settings.",
	permissions: ["CreateInstantInvite", { permission: "ManageRoles", orInGuild: "ManageRoles", with: "role_ids" }],
	ranked: true,
	input: {
		guild_id,
		channel_id: found(channel, "channel"),
		// Discord's page still says 7 days: https://github.com/discord/discord-api-spec, CreateGuildInviteRequest
		max_age: v.optional(duration({ max: "60d", none: "forever" }, "Up to 60d; forever."), "1d"),
		max_uses: v.optional(
			v.pipe(integer(0, 100, "Maximum uses."), listedAs({ type: "integer", description: "At most 100; 0: no limit." })),
			0,
		),
		temporary: v.optional(flag("Kick who goes offline without a role."), false),
		unique: v.optional(flag("Always a new one."), false),
		role_ids: v.optional(list(found(role, "role"), 1, 100, "Roles for new members.")),
		reason,
	},
	destructive(_, { roles = [] }) {
		const grants = grantsOf(roles);
		return grants && `gives ${grants} to those who join by it`;
	},
	async run(args, { discord, guild, channel, roles = [] }) {
		const { max_age, max_uses, temporary, unique } = args;
		for (const role of roles) {
			requireAssignable(role);
			// https://docs.discord.com/developers/resources/channel#create-channel-invite
			requireOfPerson(guild, undefined, role.permissions.bitfield);
		}
		const { role_ids } = args;
		const body = { max_age, max_uses, temporary, unique, role_ids };
		const route = Routes.channelInvites(channel.id);
		const invite = (await discord.rest.post(route, { body })) as APIExtendedInvite | ArrayBuffer;
		// 204: discord-userdoccers, Create Channel Invite.
		if (invite instanceof ArrayBuffer)
			throw new ToolError(
				"Discord created no invite: invites are paused or disabled in this guild. set_incident_actions, or someone in the guild's settings (Invites), can resume them.",
			);
		const name = channelName(channel);
		return [`${oneField(inviteLink(invite))} leads to ${name}, times in UTC, ${nowIs()}:`, inviteLine(invite)];
	},
});

export const getInvite = readTool({
	name: "get_invite",
	toolset: "guild",
	title: "Get an invite",
	description: "Get an invite to the guild: channel, creator, expiry. list_invites also shows its uses.",
	input: { guild_id, invite_code: foundInvite },
	run(_, { invite }) {
		const { approximate_member_count: members } = invite;
		return [
			`${inviteLine(invite)} | ${oneField(inviteLink(invite))}`,
			...(members == null ? [] : [`The guild has about ${members} member(s).`]),
		];
	},
});

export const deleteInvite = destructiveTool({
	name: "delete_invite",
	toolset: "guild",
	title: "Delete invites",
	description: "Delete invites: their links stop working.",
	permissions: [{ permission: "ManageChannels", orInGuild: "ManageGuild", with: "invite_codes" }],
	permissionsIn: "run",
	input: { guild_id, invite_codes: list(inviteCode, 1, 100, "Codes or links."), reason },
	async plan({ invite_codes }, { discord, guild }) {
		const { invites, missing } = await invitesOf(guild, invite_codes);
		return {
			preview: asking(
				resultLines(
					`Would delete ${invites.length} invite(s), whose links would stop working; ${nowIs()}:`,
					invites.map(inviteLine),
					missing,
				),
				said("preview.delete_invite", { codes: listed(invites.map(({ code }) => inlineText(code, 200))) }),
			),
			act: onEach(
				{
					items: invites,
					resumes: true,
					idOf: ({ code }) => code,
					describe: inviteLine,
					write: ({ code }) => discord.rest.delete(Routes.invite(code)),
					done: (count, of) => `Deleted ${count} of ${of} invite(s):`,
				},
				missing,
			),
		};
	},
});
