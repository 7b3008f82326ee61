// What tools that write messages have in common: whom a text may ping, embeds, and that one edits only one's own.

import {
	type AllowedMentionsTypes,
	type APIAllowedMentions,
	type APIMessage,
	type Client,
	type Guild,
	type Role,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { publishedAs } from "../../mcp/json-schema.ts";
import { ToolError } from "../../mcp/tool.ts";
import { roleName } from "../discord/describe.ts";
import type { NeededWith } from "../discord/permissions.ts";
import { choice, flag, instant, integer, text } from "../tool/arguments.ts";
import { authorName } from "./message-lines.ts";

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

const selfEvident = "";
const link = v.optional(
	v.pipe(
		text(1, 2048, selfEvident),
		v.regex(
			/^https?:\/\/[^\s/]\S*$/i,
			"expected a link that begins with https://",
		),
	),
);
const shown = <const Max extends number>(max: Max) =>
	v.optional(text(1, max, selfEvident));

// https://discord.com/developers/docs/resources/message#embed-object, but for what only links make.
const embed = v.pipe(
	v.strictObject({
		title: shown(256),
		description: shown(4096),
		url: link,
		timestamp: v.optional(instant("Timestamp")),
		color: v.optional(integer(0, 0xffffff, selfEvident)),
		footer: v.optional(
			v.strictObject({ text: text(1, 2048, selfEvident), icon_url: link }),
		),
		image: v.optional(v.strictObject({ url: link.wrapped })),
		thumbnail: v.optional(v.strictObject({ url: link.wrapped })),
		author: v.optional(
			v.strictObject({
				name: text(1, 256, selfEvident),
				url: link,
				icon_url: link,
			}),
		),
		fields: v.optional(
			v.pipe(
				v.array(
					v.strictObject({
						name: text(1, 256, selfEvident),
						value: text(1, 1024, selfEvident),
						inline: v.optional(flag(selfEvident), false),
					}),
				),
				v.maxLength(25, "expected at most 25"),
			),
		),
	}),
	// It is in the list of tools several times, and its tree would cost as much there as a tool.
	publishedAs({
		type: "object",
		description:
			"Discord's embed: title, description, url, timestamp, color, footer {text, icon_url}, image {url}, thumbnail {url}, author {name, url, icon_url}, fields [{name, value, inline}].",
	}),
);

export const embeds = v.pipe(
	v.array(embed),
	v.maxLength(10, "expected at most 10"),
	v.check(
		(input) => lengthOf(input) <= embedLimit,
		({ input }) =>
			`expected at most ${embedLimit} characters over all embeds, received ${lengthOf(input)}`,
	),
	v.description("Framed text below the content."),
);

const embedLimit = 6000;

/** The characters that Discord counts. */
function lengthOf(embeds: readonly v.InferOutput<typeof embed>[]): number {
	return embeds
		.flatMap(({ title, description, footer, author, fields = [] }) => [
			...[title, description, footer?.text, author?.name],
			...fields.flatMap(({ name, value }) => [name, value]),
		])
		.reduce((sum, part) => sum + [...(part ?? "")].length, 0);
}

/** What a message says, and whom that may ping. */
interface Pinging {
	content?: string | undefined;
	mentions: Mentions;
}

/** What a text needs that pings everyone, or a role that not everybody may mention. */
export const pingsMany: NeededWith<Pinging> = {
	permission: "MentionEveryone",
	with: "mentions",
	// Without it Discord sends the message, and pings nobody.
	when: (args, _, guild) =>
		(args.mentions === "everyone" &&
			/@(everyone|here)/.test(args.content ?? "")) ||
		rolesToPing(guild, args).length > 0,
	why(args, guild) {
		const roles = rolesToPing(guild, args).map(roleName);
		return roles.length > 0
			? `Without it nobody is pinged by the mention of ${roles.join(", ")}, which is not mentionable (edit_role can make it so); with another \`mentions\` the text is sent all the same.`
			: undefined;
	},
};

/** The roles that a text is to ping and that are not mentionable. */
function rolesToPing(
	guild: Guild,
	{ content = "", mentions }: Pinging,
): Role[] {
	if (!mentionTypes[mentions].some((type) => type === "roles")) return [];
	const ids = new Set(
		Array.from(content.matchAll(/<@&(\d{17,20})>/g), ([, id]) => id ?? ""),
	);
	return [...ids].flatMap((id) => {
		const role = guild.roles.cache.get(id);
		return role && !role.mentionable && id !== guild.id ? [role] : [];
	});
}

/** What such a text needs beside the permission to write at all. */
export const textPermissions: readonly NeededWith<{
	content?: string | undefined;
	mentions: Mentions;
	embeds?: readonly unknown[] | undefined;
}>[] = [pingsMany, { permission: "EmbedLinks", with: "embeds" }];

/** What an edit of a message can change. */
export interface MessageFields {
	content: string;
	embeds: readonly object[];
}

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
