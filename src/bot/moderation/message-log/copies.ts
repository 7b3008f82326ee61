// Copies of messages in an entry of a log: their texts in code blocks, and their files. Discord keeps them, no database does.

import { AttachmentBuilder, type Guild } from "discord.js";
import { userName } from "../../../discord/describe.ts";
import { escapeInvisible, inlineText, oneLine, truncate } from "../../../discord/text.ts";
import { type Say, said } from "../../../texts/texts.ts";
import { at as timestamp } from "../../results/result.ts";
import { codeBlock } from "../reports/message-copy.ts";
import type { RecentFile, RecentMessage } from "./recent-messages.ts";

/** Of the 6,000 characters of all texts of an embed: fields of an entry take the rest. */
const maxLength = 2_600;
const maxTextLength = 1_800;
const maxNamesLength = 600;
/** https://docs.discord.com/developers/reference#uploading-files */
const maxUploaded = { files: 9, bytes: 10_000_000 };

/** As Markdown, with the images that were saved. What does not fit is in a text file. */
export function copiesOf(guild: Guild | undefined, messages: readonly RecentMessage[], say: Say, hasHeads = false) {
	const images = imagesOf(messages);
	const lines: string[] = [];
	let length = 0;
	for (const message of messages) {
		const shown = shownAs(message, images, hasHeads || messages.length > 1, say);
		length += shown.length;
		if (length > maxLength && lines.length > 0) break;
		lines.push(shown);
	}
	const uploads = [...images].map(([{ name }, content]) => new AttachmentBuilder(content, { name }));
	const left = messages.length - lines.length;
	if (left > 0) lines.push(say("messages.more", { count: left }));
	if (left > 0 || messages.some(({ text }) => text.length > maxTextLength)) uploads.push(textFile(guild, messages));
	return { text: lines.join("\n"), files: uploads };
}

function imagesOf(messages: readonly RecentMessage[]): ReadonlyMap<RecentFile, Buffer> {
	let bytes = 0;
	const images = new Map<RecentFile, Buffer>();
	for (const file of messages.flatMap(({ files }) => files)) {
		if (!file.content || images.size === maxUploaded.files || bytes + file.content.length > maxUploaded.bytes) continue;
		bytes += file.content.length;
		images.set(file, file.content);
	}
	return images;
}

function shownAs(message: RecentMessage, images: ReadonlyMap<RecentFile, Buffer>, hasHead: boolean, say: Say): string {
	const { channelId, at, text, files } = message;
	const head = hasHead ? [`${authorOf(message)} <#${channelId}> ${timestamp(at)}`] : [];
	const names = files.map((file) => {
		const [name, type] = [inlineText(file.name, 100), inlineText(file.type, 60)];
		const values = { name, type, size: sizeText(file.size) };
		return say(images.has(file) ? "messages.image" : "messages.file", values);
	});
	const shown = text === "" ? (files.length > 0 ? [] : [say("messages.no_text")]) : [codeBlock(text, maxTextLength)];
	return [...head, ...shown, truncate(names.join("\n"), maxNamesLength)].filter(Boolean).join("\n");
}

/** In Discord's Markdown: of a mention of a webhook, Discord shows only the id. */
export function authorOf({ authorId, webhook }: RecentMessage): string {
	return webhook === undefined ? `<@${authorId}>` : `${inlineText(webhook, 100)} (Webhook ID: ${authorId})`;
}

function sizeText(bytes: number): string {
	return bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

function textFile(guild: Guild | undefined, messages: readonly RecentMessage[]): AttachmentBuilder {
	const lines = messages.map(({ at, authorId, webhook, channelId, text, files }) => {
		const user = guild?.client.users.cache.get(authorId);
		const author = user
			? userName(user)
			: webhook
				? `webhook ${userName({ username: webhook, id: authorId })}`
				: authorId;
		const channel = guild?.channels.cache.get(channelId)?.name ?? "";
		const parts = [escapeInvisible(text).replaceAll("\n", "\n    "), ...files.map(({ name }) => `[${oneLine(name)}]`)];
		return `${new Date(at).toISOString()} #${channel} (${channelId}) ${author}: ${parts.join(" ")}`;
	});
	return new AttachmentBuilder(Buffer.from(`${lines.join("\n")}\n`), { name: "messages.txt" });
}

/** The channel's and the author's fields of an entry about one message say the rest. */
export const editedText = (before: string, after: string) => [
	said("messages.before"),
	codeBlock(before, maxTextLength),
	said("messages.after"),
	codeBlock(after, maxTextLength),
];
