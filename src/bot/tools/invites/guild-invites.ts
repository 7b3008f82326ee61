// Invites: codes as arguments, fetching an invite, and an invite as a result line.

import {
	type APIExtendedInvite,
	type APIInvite,
	type Guild,
	PermissionFlagsBits,
	RESTJSONErrorCodes,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { time } from "../../../discord/describe.ts";
import { absentIf } from "../../../discord/find.ts";
import { allowed, impliedIn, requirePermissions } from "../../../discord/permissions.ts";
import { fieldLine, oneField } from "../../../discord/text.ts";
import { isHidden, visibleChannel } from "../../../discord/visible-channels.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { published } from "../../../mcp/json-schema.ts";

const link = /^(?:https?:\/\/)?(?:www\.)?(?:discord\.gg|discord(?:app)?\.com\/invite)\/([^/?#]*).*$/i;

export const inviteCode = v.pipe(
	v.string(),
	v.transform((input) => input.trim().replace(link, "$1")),
	v.check(
		(code) => /^[A-Za-z0-9-]{2,32}$/.test(code),
		"expected an invite code, such as CODE in https://discord.gg/CODE",
	),
	published({ pattern: "[A-Za-z0-9-]{2}" }),
	v.description("Invite code or link."),
);

export const foundInvite = { ...inviteCode, find: invite };

/** `missing`: a line about codes that lead nowhere. Throws a ToolError if none is left, or one is not the bot's to manage. */
export async function invitesOf(
	guild: Guild,
	codes: readonly string[],
): Promise<{ invites: APIInvite[]; missing: string | false }> {
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
export function visibleInvites<Invite extends APIInvite>(guild: Guild, invites: readonly Invite[]): Invite[] {
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

export function inviteLink({ code }: Pick<APIInvite, "code">): string {
	return `https://discord.gg/${code}`;
}

/** Discord sends the number of uses only to bots with MANAGE_GUILD or MANAGE_CHANNELS. */
export function inviteLine(data: APIInvite | APIExtendedInvite): string {
	const { channel, inviter, expires_at } = data;
	const roles = (data.roles ?? []).map(({ name, id }) => `@${oneField(name)} (ID: ${id})`);
	return fieldLine(
		oneField(data.code),
		channel ? `to #${oneField(channel.name ?? "")} (ID: ${channel.id})` : "to no channel",
		inviter && `by @${oneField(inviter.username)} (ID: ${inviter.id})`,
		roles.length > 0 && `gives: ${roles.join(", ")}`,
		`expires: ${expires_at ? time(new Date(expires_at)) : "never"}`,
		...("uses" in data
			? [
					`used: ${data.uses}${data.max_uses > 0 ? ` of ${data.max_uses}` : ""}`,
					data.temporary && "temporary membership",
					`created: ${time(Date.parse(data.created_at))}`,
				]
			: []),
	);
}
