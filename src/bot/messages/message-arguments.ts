// Arguments and permissions of tools that write messages: content, mentions, embeds; and fetching a message.

import {
	type AllowedMentionsTypes,
	type APIAllowedMentions,
	type APIMessage,
	ChannelType,
	type Client,
	type Guild,
	type Role,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { roleName } from "../../discord/describe.ts";
import { textChannel } from "../../discord/find.ts";
import type { NeededWith } from "../../discord/permissions.ts";
import { visibleChannel } from "../../discord/visible-channels.ts";
import { mentionTypes } from "../../guild-document/steps/message-steps.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { publishedAs } from "../../mcp/json-schema.ts";
import { said } from "../../texts/texts.ts";
import { choice, color, flag, found, guild_id, instant, snowflake, text } from "../tool/arguments/arguments.ts";
import { authorName } from "./message-lines.ts";

export const inChannel = { guild_id, channel_id: found(textChannel, "channel or thread") };

export const onMessage = { ...inChannel, message_id: snowflake("message") };

type Mentions = keyof typeof mentionTypes;

const mentionsChoice = choice(Object.keys(mentionTypes) as Mentions[], "Who may be pinged, cumulatively.");

export const mentions = v.optional(mentionsChoice, "none");

export function allowedMentions(mentions: Mentions): APIAllowedMentions {
	return { parse: [...mentionTypes[mentions]] as AllowedMentionsTypes[], replied_user: false };
}

export const content = text(1, 2000, "Text, in Markdown.");

// The embed's description explains them.
const undescribed = "";
const link = v.optional(
	v.pipe(text(1, 2048, undescribed), v.regex(/^https?:\/\/[^\s/]\S*$/i, "expected a URL that begins with https://")),
);
const shortText = text(1, 256, undescribed);
const optionalText = <const Max extends number>(max: Max) => v.optional(text(1, max, undescribed));

// https://discord.com/developers/docs/resources/message#embed-object, without the fields that only link previews have.
const embed = v.pipe(
	v.strictObject({
		title: optionalText(256),
		description: optionalText(4096),
		url: link,
		timestamp: v.optional(instant("Timestamp")),
		color: v.optional(color),
		footer: v.optional(v.strictObject({ text: text(1, 2048, undescribed), icon_url: link })),
		image: v.optional(v.strictObject({ url: link.wrapped })),
		thumbnail: v.optional(v.strictObject({ url: link.wrapped })),
		author: v.optional(v.strictObject({ name: shortText, url: link, icon_url: link })),
		fields: v.optional(
			v.pipe(
				v.array(
					v.strictObject({ name: shortText, value: text(1, 1024, undescribed), inline: flag(undescribed, false) }),
				),
				v.maxLength(25, "expected at most 25"),
			),
		),
	}),
	// Published without its properties: several tools list this schema, and in full it is as long as a tool.
	publishedAs({
		type: "object",
		description: "Has title, description, url, timestamp, color, footer, image, thumbnail, author, fields.",
	}),
);

export const embeds = v.pipe(
	v.array(embed),
	v.maxLength(10, "expected at most 10"),
	v.check(
		(input) => lengthOf(input) <= embedLimit,
		({ input }) => `expected at most ${embedLimit} characters over all embeds, received ${lengthOf(input)}`,
	),
	v.description("Embeds."),
);

const embedLimit = 6000;

// Counts as Discord does for its limit of 6,000 characters.
function lengthOf(embeds: readonly v.InferOutput<typeof embed>[]): number {
	return embeds
		.flatMap(({ title, description, footer, author, fields = [] }) => [
			...[title, description, footer?.text, author?.name],
			...fields.flatMap(({ name, value }) => [name, value]),
		])
		.reduce((sum, part) => sum + [...(part ?? "")].length, 0);
}

interface TextArguments {
	content?: string | undefined;
	mentions?: Mentions;
}

/** The bot needs it to ping @everyone or a role that is not mentionable. */
export const pingsMany: NeededWith<TextArguments> = {
	permission: "MentionEveryone",
	with: "mentions",
	// Without it, Discord sends the message but pings nobody.
	when: (args, _, guild) =>
		(args.mentions === "everyone" && /@(everyone|here)/.test(args.content ?? "")) ||
		rolesToPing(guild, args).length > 0,
	why(args, guild) {
		const roles = rolesToPing(guild, args).map(roleName);
		return roles.length > 0
			? `Without it, Discord pings nobody for ${roles.join(", ")}, which is not mentionable. edit_role can make it mentionable; with another \`mentions\` the text is sent without this ping.`
			: undefined;
	},
};

function rolesToPing(guild: Guild, { content = "", mentions = "none" }: TextArguments): Role[] {
	if (!mentionTypes[mentions].some((type) => type === "roles")) return [];
	const ids = new Set(Array.from(content.matchAll(/<@&(\d{17,20})>/g), ([, id]) => id ?? ""));
	return [...ids].flatMap((id) => {
		const role = guild.roles.cache.get(id);
		return role && !role.mentionable && id !== guild.id ? [role] : [];
	});
}

/** For persons: slow mode does not limit the bot. `argument` has the channel's id. */
export function slowMode<Key extends string>(argument: Key): NeededWith<{ [Name in Key]: string }> {
	return {
		permission: "BypassSlowmode",
		with: argument,
		when(args, _, guild) {
			const channel = visibleChannel(guild, args[argument]);
			return Boolean(
				channel && "rateLimitPerUser" in channel && channel.rateLimitPerUser !== null && channel.rateLimitPerUser > 0,
			);
		},
		why: () => said("refusal.why.slow_mode"),
	};
}

/** In addition to those for sending the message. */
export const textPermissions: readonly NeededWith<TextArguments & { embeds?: readonly unknown[] | undefined }>[] = [
	pingsMany,
	{ permission: "EmbedLinks", with: "embeds" },
];

// In angle brackets, links have no preview.
const previewed = /(?<!<)\bhttps?:\/\/[^\s>]/i;

function hasForeignEmoji(text: string, guild: Guild): boolean {
	return text.matchAll(/<a?:\w{1,32}:(\d{17,20})>/g).some(([, id = ""]) => !guild.emojis.cache.has(id));
}

/**
 * For persons: for previews, emoji of other guilds and adding people to private threads, Discord goes by the bot.
 * https://docs.discord.com/developers/topics/permissions#permissions-bitwise-permission-flags
 */
export const contentPermissions: readonly NeededWith<
	TextArguments & { channel_id: string; embeds?: readonly unknown[] | undefined }
>[] = [
	{
		permission: "EmbedLinks",
		with: "content",
		when: ({ content = "" }) => previewed.test(content),
		why: () => said("refusal.why.links"),
	},
	{
		permission: "UseExternalEmojis",
		with: "content",
		when: ({ content = "", embeds = [] }, _, guild) => hasForeignEmoji(content + JSON.stringify(embeds), guild),
		why: () => said("refusal.why.emoji"),
	},
	{
		permission: "ManageThreads",
		with: "mentions",
		when({ channel_id, content = "", mentions = "none" }, _, guild) {
			const channel = visibleChannel(guild, channel_id);
			return (
				channel?.type === ChannelType.PrivateThread && !channel.invitable && mentions !== "none" && /<@/.test(content)
			);
		},
		why: () => said("refusal.why.thread"),
	},
];

export function messageFields({ content, embeds }: APIMessage) {
	return { content, embeds: embeds as readonly object[] };
}

export interface MessageChannel {
	id: string;
	client: Client<true>;
}

export async function fetchMessage({ id, client }: MessageChannel, messageId: string): Promise<APIMessage> {
	return (await client.rest.get(Routes.channelMessage(id, messageId))) as APIMessage;
}

/** Throws a ToolError if someone else sent it; `action` completes "the bot can only … its own messages". */
export async function fetchOwnMessage(channel: MessageChannel, messageId: string, action: string): Promise<APIMessage> {
	const message = await fetchMessage(channel, messageId);
	if (message.author.id === channel.client.user.id) return message;
	throw new ToolError(
		`The message ${messageId} is by ${authorName(message)}: the bot can only ${action} its own messages. Nothing was done.`,
	);
}
