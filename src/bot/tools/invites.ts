// Invites.

import {
	type APIExtendedInvite,
	type APIInvite,
	type Guild,
	PermissionFlagsBits,
	RESTJSONErrorCodes,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { channelName, nowIs, time } from "../../discord/describe.ts";
import { absentIf, channel, role } from "../../discord/find.ts";
import { allowed, impliedIn, personHas, requireOfPerson, requirePermissions } from "../../discord/permissions.ts";
import { grantsOf } from "../../discord/powers.ts";
import { fieldLine, inlineText, oneField, resultLines } from "../../discord/text.ts";
import { isHidden, visibleChannel } from "../../discord/visible-channels.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { listedAs, published } from "../../mcp/json-schema.ts";
import { said } from "../../texts/texts.ts";
import { asking, listed, parts } from "../results/result.ts";
import { duration, flag, found, guild_id, integer, list, oneOrMore, reason } from "../tool/arguments/arguments.ts";
import { planEach } from "../tool/bulk.ts";
import { destructiveTool, readTool, writeTool } from "../tool/define.ts";
import { requireAssignable } from "./roles.ts";

const inviteCode = v.pipe(
	v.string(),
	v.transform((input) => input.trim().replace(link, "$1")),
	v.check(
		(code) => /^[A-Za-z0-9-]{2,32}$/.test(code),
		"expected an invite code, such as CODE in https://discord.gg/CODE",
	),
	published({ pattern: "[A-Za-z0-9-]{2}" }),
	v.description("Invite code or link."),
);

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
		const invites = visibleInvites(guild, all);
		const where = channels?.map(channelName).join(", ") ?? "the guild";
		if (invites.length === 0) return `There is no invite to ${where}.`;
		const hidden = !showsUses || invites.some((invite) => !("uses" in invite));
		const createdAt = (invite: (typeof all)[number]) =>
			"created_at" in invite ? Date.parse(invite.created_at) || 0 : 0;
		return resultLines(
			`${invites.length} invite(s) to ${where}, ${hidden ? "in Discord's order" : "newest first"}, times in UTC, ${nowIs()}. Links: ${inviteLink({ code: "CODE" })}`,
			hidden
				? invites.map((one) => inviteLine(one, false))
				: invites.sort((a, b) => createdAt(b) - createdAt(a)).map((one) => inviteLine(one)),
			hidden && "Discord shows the number of uses only with MANAGE_GUILD.",
		);
	},
});

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
		temporary: flag("Kick who goes offline without a role.", false),
		unique: flag("Always a new one.", false),
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
	input: { guild_id, invite_code: { ...inviteCode, find: invite } },
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
		return planEach({
			items: invites,
			asks: asking(
				resultLines(
					`Would delete ${invites.length} invite(s), whose links would stop working; ${nowIs()}:`,
					invites.map((one) => inviteLine(one)),
					missing,
				),
				said("preview.delete_invite", { codes: listed(invites.map(({ code }) => inlineText(code, 200))) }),
			),
			idOf: ({ code }) => code,
			describe: (one) => inviteLine(one),
			write: ({ code }) => discord.rest.delete(Routes.invite(code)),
			done: (count, of) => `Deleted ${count} of ${of} invite(s):`,
			after: (output) => parts(output, missing),
		});
	},
});

const link = /^(?:https?:\/\/)?(?:www\.)?(?:discord\.gg|discord(?:app)?\.com\/invite)\/([^/?#]*).*$/i;

/** `missing`: a line about codes that lead nowhere. Throws a ToolError if none is left, or one is not the bot's to manage. */
async function invitesOf(guild: Guild, codes: readonly string[]) {
	const { ManageGuild, ManageChannels } = PermissionFlagsBits;
	const { rest } = guild.client;
	const managesGuild = (allowed(guild, undefined) & ManageGuild) !== 0n;
	const all =
		managesGuild && codes.length > 1
			? visibleInvites(guild, (await rest.get(Routes.guildInvites(guild.id))) as APIInvite[])
			: undefined;
	const found = all
		? codes.map((code) => all.find((invite) => invite.code === code))
		: await Promise.all(codes.map((code) => fetchInvite(guild, code)));
	const invites = found.filter((invite) => invite !== undefined);
	const missing = codes.filter((_, index) => !found[index]);
	if (invites.length === 0)
		throw new ToolError(
			`There is no invite ${missing.join(", ")} to the guild ${guild.id}. Nothing was done; list_invites lists them.`,
		);
	if (!managesGuild)
		for (const invite of invites) {
			const channel = visibleChannel(guild, invite.channel?.id ?? "");
			requirePermissions(guild, channel, ManageChannels | impliedIn(channel));
		}
	return { invites, missing: missing.length > 0 && `${missing.length} not found in the guild: ${missing.join(", ")}` };
}

/** Returns the invites without those to channels that the person in whose name the running call acts cannot see. */
function visibleInvites<Invite extends APIInvite>(guild: Guild, invites: readonly Invite[]): Invite[] {
	return invites.filter(({ channel }) => !channel || !isHidden(guild, channel.id));
}

async function fetchInvite(guild: Guild, code: string): Promise<APIInvite | undefined> {
	const { rest } = guild.client;
	const query = new URLSearchParams({ with_counts: "true" });
	const data = await absentIf(
		[RESTJSONErrorCodes.UnknownInvite],
		() => rest.get(Routes.invite(code), { query }) as Promise<APIInvite>,
	);
	return data?.guild?.id === guild.id ? visibleInvites(guild, [data])[0] : undefined;
}

async function invite(guild: Guild, code: string): Promise<APIInvite> {
	const found = await fetchInvite(guild, code);
	if (found) return found;
	throw new ToolError(`There is no invite ${code} to the guild ${guild.id}. list_invites lists them.`);
}

function inviteLink({ code }: Pick<APIInvite, "code">): string {
	return `https://discord.gg/${code}`;
}

/** Discord sends the number of uses only to bots with MANAGE_GUILD or MANAGE_CHANNELS. */
function inviteLine(data: APIInvite | APIExtendedInvite, showsUses = true): string {
	const { channel, inviter, expires_at } = data;
	const roles = (data.roles ?? []).map(({ name, id }) => `@${oneField(name)} (ID: ${id})`);
	return fieldLine(
		oneField(data.code),
		channel ? `to #${oneField(channel.name ?? "")} (ID: ${channel.id})` : "to no channel",
		inviter && `by @${oneField(inviter.username)} (ID: ${inviter.id})`,
		roles.length > 0 && `gives: ${roles.join(", ")}`,
		`expires: ${expires_at ? time(new Date(expires_at)) : "never"}`,
		...(showsUses && "uses" in data
			? [
					`used: ${data.uses}${data.max_uses > 0 ? ` of ${data.max_uses}` : ""}`,
					data.temporary && "temporary membership",
					`created: ${time(Date.parse(data.created_at))}`,
				]
			: []),
	);
}
