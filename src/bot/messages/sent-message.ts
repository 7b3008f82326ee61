// Messages that were sent: what a tool's result says of them, and editing those of the bot or its webhooks. Discord keeps neither
// the old text nor an audit log entry.

import { type APIMessage, type Guild, PermissionFlagsBits, SnowflakeUtil } from "discord.js";
import { actingPerson } from "../../discord/acting-person.ts";
import { channelName, roleName, userLabel } from "../../discord/describe.ts";
import { describeBits, personHas } from "../../discord/permissions.ts";
import { toToolError } from "../../discord/rest/errors.ts";
import { ToolError } from "../../lib/tool-error.ts";
import type { Said } from "../../texts/texts.ts";
import { asking } from "../results/result.ts";
import type { Audit } from "../tool/audit.ts";
import type { Plan } from "../tool/context.ts";

/** Without `guild`, a DM channel. */
export interface Place {
	id: string;
	guild?: Pick<Guild, "id"> | undefined;
}

/** Like "Copy Link". */
export function linkTo({ id, guild }: Place, messageId?: string): string {
	const path = [guild?.id ?? "@me", id, messageId].filter(Boolean).join("/");
	return `https://discord.com/channels/${path}`;
}

export function placeOf(channel: { id: string; name: string; guild: Guild }, messageId: string): string {
	return `${channelName(channel)}: ${linkTo(channel, messageId)}`;
}

/** Does what follows `done`. Throws a ToolError that says what was done and what, such as "it is not pinned", was not. */
export async function afterwards<T>(done: string, missing: string, work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (error) {
		const failure = toToolError(error);
		throw failure ? new ToolError(`${done}, but ${missing}: ${failure.message}`, { cause: error }) : error;
	}
}

/** Pinged, or mentioned without a ping. https://discord.com/developers/docs/resources/message#edit-message */
export function pingLines(
	guild: Guild,
	content: string | undefined,
	message: Partial<Pick<APIMessage, "mentions" | "mention_roles" | "mention_everyone">>,
): string[] {
	const { mentions = [], mention_roles = [], mention_everyone } = message;
	const roleOf = (id: string) => {
		const role = guild.roles.cache.get(id);
		return role ? roleName(role) : `the role ${id}`;
	};
	const pinged = [...(mention_everyone ? ["@everyone"] : []), ...mentions.map(userLabel), ...mention_roles.map(roleOf)];
	const userIds = new Set(mentions.map(({ id }) => id));
	const everyone = /@(?:everyone|here)/.exec(content ?? "")?.[0];
	const silent = [
		...(everyone && !mention_everyone ? [everyone] : []),
		...idsIn(content, /<@!?(\d{17,20})>/g)
			.filter((id) => !userIds.has(id))
			.map((id) => {
				const member = guild.members.cache.get(id);
				return member ? userLabel(member.user) : `the user ${id}`;
			}),
		...idsIn(content, /<@&(\d{17,20})>/g)
			.filter((id) => !mention_roles.includes(id))
			.map(roleOf),
	];
	return [
		...(pinged.length > 0 ? [`Pinged: ${pinged.join(", ")}.`] : []),
		...(silent.length > 0 ? [`Not pinged: ${silent.join(", ")}.`] : []),
	];
}

function idsIn(text: string | undefined, mention: RegExp): string[] {
	return [...new Set(Array.from((text ?? "").matchAll(mention), ([, id]) => id ?? ""))];
}

/** Its id, "channel_id/message_id", or its link. */
export const messageReference =
	/^(?:(?:https:\/\/(?:\w+\.)?discord(?:app)?\.com\/channels\/(\d{17,20})\/)?(\d{17,20})\/)?(\d{17,20})$/;

// Discord's clock and the bot's differ.
const clockToleranceMs = 600_000;

/**
 * Throws a ToolError unless the audit log says that it was sent in the person's name, or the person has
 * MANAGE_GUILD.
 */
export async function requireSender(
	guild: Guild,
	{ id }: Pick<APIMessage, "id">,
	audit: Pick<Audit, "recent">,
): Promise<void> {
	const person = actingPerson(guild);
	const { ManageGuild } = PermissionFlagsBits;
	if (!person || personHas(guild, undefined, ManageGuild)) return;
	const sentMs = SnowflakeUtil.timestampFrom(id);
	const [call] = await audit.recent({
		messageId: id,
		from: new Date(sentMs - clockToleranceMs),
		before: { at: new Date(sentMs + clockToleranceMs) },
		limit: 1,
	});
	if (call?.person === person.id) return;
	throw new ToolError(
		`The message ${id} was not sent in your name, so you need ${describeBits(ManageGuild)} to change it. Nothing was done.`,
	);
}

export function editPlan(
	changes: object,
	target: string,
	{ content }: Pick<APIMessage, "content">,
	{ link, ask, write }: { link: string; ask: Said; write: () => Promise<unknown> },
): Plan {
	const fields = Object.keys(changes).join(", ");
	const preview = `Would replace ${fields} of ${target}. What it says now would be lost.`;
	return {
		preview: asking(preview, ask),
		// An approval counts for the text that was there.
		basis: [preview, content],
		write,
		result: `Changed ${fields} of ${target}: ${link}`,
	};
}
