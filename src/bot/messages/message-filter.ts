// The filter arguments of tools that search or delete messages, and whether a message matches them.

import type { APIMessage } from "discord.js";
import * as v from "valibot";
import { anyChannel } from "../../discord/find.ts";
import { fold } from "../../discord/text.ts";
import { expected, list, moment, text } from "../tool/arguments/arguments.ts";
import { messageTexts } from "./message-lines.ts";

// https://docs.discord.com/developers/resources/message#search-guild-messages-search-has-types
const kinds = ["image", "sound", "video", "file", "sticker", "embed", "link", "poll", "snapshot"] as const;

type Kind = (typeof kinds)[number];

const has = v.pipe(
	list(
		v.pipe(
			v.string(),
			// Unlike an enum, this is not part of tools/list: the description names the kinds.
			v.regex(new RegExp(`^-?(${kinds.join("|")})$`), expected(`one of ${kinds.join(", ")}, or with "-" in front`)),
		),
		0,
		2 * kinds.length,
		`One of ${kinds.join(", ")}; -link: without.`,
	),
	v.transform((items) => (items.length > 0 ? items : undefined)),
);

// Without a description, because the list has one.
const id = v.pipe(v.string(), v.regex(/^\d{17,20}$/, expected("an id of 17 to 20 digits")));

export function userIds(description: string) {
	return v.optional(list(id, 1, 100, description));
}

/** Only accents and white space: nearly every text would match. */
export function isBlank(text: string): boolean {
	return fold(text).trim() === "";
}

export const filterArguments = {
	text: v.optional(
		v.pipe(
			text(1, 1024, "Part of the text."),
			v.check((input) => !isBlank(input), "expected visible characters"),
		),
	),
	user_ids: userIds("Authors."),
	has: v.optional(has),
	channel_ids: v.optional(list({ ...id, find: anyChannel }, 1, 200, "Or forums, categories; default: all.")),
	after: v.optional(moment("After", true)),
	before: v.optional(v.pipe(moment("Before"), v.description("Before."))),
};

/** Without channels and time. */
export interface MessageFilter {
	text?: string | undefined;
	user_ids?: readonly string[] | undefined;
	not_user_ids?: readonly string[] | undefined;
	/** Such as "image"; "-image" excludes. */
	has?: readonly string[] | undefined;
	mentions?: readonly string[] | undefined;
	pinned?: boolean | undefined;
}

export function matcher(filter: MessageFilter): (message: APIMessage) => boolean {
	const { not_user_ids: others, has, mentions, pinned } = filter;
	const text = filter.text === undefined ? undefined : fold(filter.text);
	const authors = filter.user_ids && new Set(filter.user_ids);
	return (message) => {
		const { author } = message;
		return (
			(!authors || authors.has(author.id)) &&
			!others?.includes(author.id) &&
			(pinned === undefined || message.pinned === pinned) &&
			(!mentions || message.mentions.some(({ id }) => mentions.includes(id))) &&
			passes(has, () => kindsIn(message)) &&
			(text === undefined || messageTexts(message).some((one) => one && fold(one).includes(text)))
		);
	};
}

// None of the values with "-" in front and, if there are others, at least one of those.
function passes(wanted: readonly string[] | undefined, there: () => readonly string[]): boolean {
	if (!wanted) return true;
	const values = there();
	const required = wanted.filter((value) => !value.startsWith("-"));
	return (
		!wanted.some((value) => value.startsWith("-") && values.includes(value.slice(1))) &&
		(required.length === 0 || required.some((value) => values.includes(value)))
	);
}

// A guess: Discord's own search may not count invites without "https://" as links.
const linkPattern = /https?:\/\/\S|\bdiscord(?:\.gg|(?:app)?\.com\/invite)\/\w/i;

/** A guess: which previews count as images or videos, and that forwarded content counts; Discord does not say it. */
export function kindsIn(message: APIMessage): Kind[] {
	const { poll, sticker_items, message_snapshots: forwarded = [] } = message;
	const parts = [message, ...forwarded.map(({ message }) => message)];
	const files = parts.flatMap(({ attachments }) => attachments);
	const embeds = parts.flatMap((part) => part.embeds);
	const stickers = [sticker_items, ...forwarded.map(({ message }) => message.sticker_items)];
	const isFile = (type: string) => files.some(({ content_type }) => content_type?.startsWith(`${type}/`));
	const isEmbed = (...types: readonly string[]) => embeds.some(({ type }) => types.includes(String(type)));
	const present: Record<Kind, boolean> = {
		image: isFile("image") || isEmbed("image", "gifv") || embeds.some(({ image }) => image),
		sound: isFile("audio"),
		video: isFile("video") || isEmbed("video"),
		file: files.length > 0,
		sticker: stickers.some((items = []) => items.length > 0),
		embed: embeds.length > 0,
		link: embeds.some(({ url }) => url) || messageTexts(message).some((text) => linkPattern.test(text)),
		poll: poll !== undefined,
		snapshot: forwarded.length > 0,
	};
	return kinds.filter((kind) => present[kind]);
}
