// What a tool's result says of a message that was sent: where it is, and who was pinged.

import type { APIMessage, Guild } from "discord.js";
import { channelName, roleName, userLabel } from "../../discord/describe.ts";
import { toToolError } from "../../discord/rest/errors.ts";
import { ToolError } from "../../lib/tool-error.ts";

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
