// Invites: codes as arguments, fetching an invite, and an invite as a result line.

import {
	type APIExtendedInvite,
	type APIInvite,
	type Guild,
	type GuildBasedChannel,
	RESTJSONErrorCodes,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { published } from "../../mcp/json-schema.ts";
import { ToolError } from "../../mcp/tool.ts";
import { time } from "../discord/describe.ts";
import { absentIf } from "../discord/find.ts";
import { fieldLine, oneField } from "../discord/text.ts";

/** An invite to a guild, with the channel that it leads to. */
export interface GuildInvite {
	data: APIInvite;
	/** The channel that the invite leads to; undefined if the channel is not in the bot's cache. */
	channel: GuildBasedChannel | undefined;
}

const link =
	/^(?:https?:\/\/)?(?:www\.)?(?:discord\.gg|discord(?:app)?\.com\/invite)\/([^/?#]*).*$/i;

/**
 * Schema of an argument with an invite's code or link. Before the tool runs, the invite is fetched from Discord and
 * passed to the tool.
 */
export const foundInvite = {
	...v.pipe(
		v.string(),
		v.transform((input) => input.trim().replace(link, "$1")),
		v.check(
			(code) => /^[A-Za-z0-9-]{2,32}$/.test(code),
			"expected an invite code, such as CODE in https://discord.gg/CODE",
		),
		published({ pattern: "[A-Za-z0-9-]{2}" }),
		v.description("Invite code or link."),
	),
	find: invite,
};

async function invite(guild: Guild, code: string): Promise<GuildInvite> {
	const { rest } = guild.client;
	const query = new URLSearchParams({ with_counts: "true" });
	const data = await absentIf(
		[RESTJSONErrorCodes.UnknownInvite],
		() => rest.get(Routes.invite(code), { query }) as Promise<APIInvite>,
	);
	if (data?.guild?.id === guild.id)
		return { data, channel: guild.channels.cache.get(data.channel?.id ?? "") };
	throw new ToolError(
		`There is no invite ${code} to the guild ${guild.id}. list_invites lists them.`,
	);
}

export function inviteLink({ code }: Pick<APIInvite, "code">): string {
	return `https://discord.gg/${code}`;
}

/**
 * Describes an invite in one line. Discord sends the number of uses only to bots with MANAGE_GUILD or MANAGE_CHANNELS.
 */
export function inviteLine(data: APIInvite | APIExtendedInvite): string {
	const { channel, inviter, expires_at } = data;
	const roles = (data.roles ?? []).map(
		({ name, id }) => `@${oneField(name)} (ID: ${id})`,
	);
	return fieldLine(
		`${oneField(data.code)} | ${oneField(inviteLink(data))}`,
		channel
			? `to #${oneField(channel.name ?? "")} (ID: ${channel.id})`
			: "to no channel",
		inviter && `by @${oneField(inviter.username)} (ID: ${inviter.id})`,
		roles.length > 0 && `gives: ${roles.join(", ")}`,
		`expires: ${expires_at ? time(new Date(expires_at)) : "never"}`,
		...("uses" in data ? usesOf(data) : []),
	);
}

function usesOf({ uses, max_uses, temporary, created_at }: APIExtendedInvite) {
	return [
		`used: ${uses}${max_uses > 0 ? ` of ${max_uses}` : ""}`,
		temporary && "temporary membership",
		`created: ${time(new Date(created_at))}`,
	];
}
