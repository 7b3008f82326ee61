// What tools that write messages have in common: whom a text may ping, embeds, and that one edits only one's own.

import {
	type AllowedMentionsTypes,
	type APIAllowedMentions,
	type APIEmbed,
	type APIMessage,
	type Client,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { invalidParameters, ToolError } from "../mcp/tool.ts";
import { choice, flag, integer, list, text } from "./arguments.ts";
import { authorName } from "./message-lines.ts";
import type { NeededWith } from "./permissions.ts";

/** What a text may ping. Each kind includes the one before. */
const mentionTypes = {
	none: [],
	users: ["users"],
	roles: ["users", "roles"],
	everyone: ["users", "roles", "everyone"],
} as const;

type Mentions = keyof typeof mentionTypes;

export const mentions = v.optional(
	choice(
		Object.keys(mentionTypes) as Mentions[],
		"Whom mentions in it may ping; each includes the ones before.",
	),
	"none",
);

export function allowedMentions(mentions: Mentions): APIAllowedMentions {
	return {
		parse: [...mentionTypes[mentions]] as AllowedMentionsTypes[],
		replied_user: false,
	};
}

export const content = text(1, 2000, "The message, in Discord's Markdown.");

// Their names say what they are: an embed is in the list of tools several times, and every word of it costs.
const selfEvident = "";
const embed = v.strictObject({
	title: v.optional(text(1, 256, selfEvident)),
	description: v.optional(text(1, 4096, selfEvident)),
	url: v.optional(text(1, 2048, selfEvident)),
	color: v.optional(integer(0, 0xffffff, selfEvident)),
	footer: v.optional(text(1, 2048, selfEvident)),
	image_url: v.optional(text(1, 2048, selfEvident)),
	fields: v.optional(
		list(
			v.strictObject({
				name: text(1, 256, selfEvident),
				value: text(1, 1024, selfEvident),
				inline: v.optional(flag(selfEvident), false),
			}),
			0,
			25,
			selfEvident,
		),
	),
});

export const embeds = list(embed, 0, 10, "Framed text below the content.");

const embedLimit = 6000;

/** Embeds as Discord takes them. Throws an RpcError where they are too long together. */
export function readEmbeds(given: v.InferOutput<typeof embed>[]): APIEmbed[] {
	const read = given.map(
		({ footer, image_url, fields, ...rest }): APIEmbed => ({
			...(rest as APIEmbed),
			...(footer && { footer: { text: footer } }),
			...(image_url && { image: { url: image_url } }),
			...(fields && { fields }),
		}),
	);
	const length = read
		.flatMap(({ title, description, footer, fields = [] }) => [
			title,
			description,
			footer?.text,
			...fields.flatMap(({ name, value }) => [name, value]),
		])
		.reduce((sum, part) => sum + [...(part ?? "")].length, 0);
	if (length > embedLimit)
		throw invalidParameters([
			`embeds: expected at most ${embedLimit} characters over all embeds, received ${length}`,
		]);
	return read;
}

/** What a text needs that pings everyone. */
export const pingsEveryone: NeededWith<{
	content?: string | undefined;
	mentions: Mentions;
}> = {
	permission: "MentionEveryone",
	with: "mentions",
	// Without it Discord sends the message, and pings nobody.
	when: ({ content = "", mentions }) =>
		mentions === "everyone" && /@(everyone|here)/.test(content),
};

/** What such a text needs beside the permission to write at all. */
export const textPermissions: readonly NeededWith<{
	content?: string | undefined;
	mentions: Mentions;
	embeds?: readonly unknown[] | undefined;
}>[] = [pingsEveryone, { permission: "EmbedLinks", with: "embeds" }];

/** Where a message stands: a channel of a guild, or a direct one. */
export interface Place {
	id: string;
	client: Client<true>;
}

/** A message as it is now, asked for. */
export async function currentMessage(
	{ id, client }: Place,
	messageId: string,
): Promise<APIMessage> {
	const path = Routes.channelMessage(id, messageId);
	return (await client.rest.get(path)) as APIMessage;
}

/** The same, of a message that the bot wrote; throws the ToolError to show for others. */
export async function ownMessage(
	place: Place,
	messageId: string,
	toDo: string,
): Promise<APIMessage> {
	const message = await currentMessage(place, messageId);
	if (message.author.id === place.client.user.id) return message;
	throw new ToolError(
		`The message ${messageId} is by ${authorName(message)}: the bot can ${toDo} only its own. Nothing was done.`,
	);
}
