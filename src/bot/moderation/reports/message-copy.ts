// Copies a reported message for staff: its texts without formatting, and its files as names and URLs.

import { type APIEmbed, type APIMessage, EmbedBuilder, type Message, type MessageSnapshot } from "discord.js";
import { escapeInvisible, inlineText, truncate } from "../../../discord/text.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import { allLanguages, type Say, sayIn } from "../../../texts/texts.ts";
import { messageTexts } from "../../messages/message-lines.ts";
import type { AuthorKind } from "../../store/tables/reports.ts";

const maxTextLength = 3_000;
const maxFilesLength = 800;
const maxFileLength = 260;

/** A copy of a message. Kept in memory only, until its report is posted. */
export interface MessageCopy {
	text: string;
	files: readonly { name: string; url: string }[];
}

export function copyMessage(message: Message): MessageCopy {
	const forwarded = [...message.messageSnapshots.values()];
	const texts = messageTexts({
		type: message.type,
		...partsOf(message),
		message_snapshots: forwarded.map((snapshot) => ({ message: partsOf(snapshot) })),
		poll: message.poll && {
			question: { text: message.poll.question.text },
			answers: [...message.poll.answers.values()].map(({ text }) => ({ poll_media: { text } })),
		},
	} as unknown as APIMessage);
	const stickers = [...message.stickers.values()].map(({ name }) => `[sticker: ${name}]`);
	return {
		text: truncate([...texts, ...stickers].filter((part) => part.trim() !== "").join("\n"), maxTextLength),
		files: [message, ...forwarded]
			.flatMap(({ attachments }) => [...attachments.values()])
			.map(({ name, url }) => ({ name, url })),
	};
}

function partsOf({
	content,
	embeds,
	components,
}: Pick<Message | MessageSnapshot, "content" | "embeds" | "components">) {
	return {
		content: content ?? "",
		embeds: embeds.map(({ data }) => data as APIEmbed),
		components: components.map((component) => component.toJSON()),
		attachments: [],
	};
}

const notes = ["report.copy.none", "report.copy.empty", "report.copy.refused"] as const;

/** The text is in a code block, so that links and mentions do not work. Without a copy, the embed says so. */
export function copyEmbed(copy: MessageCopy | undefined, say: Say): EmbedBuilder {
	if (!copy) return embedOf({ description: say("report.copy.none") }, say);
	const description = copy.text === "" ? say("report.copy.empty") : codeBlock(copy.text);
	return embedOf({ description, files: filesText(copy.files, say) }, say);
}

/** If Discord refuses the copy, for example because of a link to known malware. */
export function refusedCopy(say: Say): EmbedBuilder {
	return embedOf({ description: say("report.copy.refused") }, say);
}

/** The copy that an embed shows in any language, with what the bot says about it in the language of `say`. */
export function readCopy({ description = "", fields = [] }: Pick<APIEmbed, "description" | "fields">, say: Say) {
	const note = notes.find((key) => allLanguages.some((language) => sayIn(language)(key) === description));
	return { description: note ? say(note) : description, files: fields[0]?.value ?? "" };
}

export function embedOf({ description, files = "" }: { description: string; files?: string }, say: Say): EmbedBuilder {
	const embed = new EmbedBuilder().setTitle(say("report.copy.title")).setColor(0x546e7a).setDescription(description);
	return files === "" ? embed : embed.addFields({ name: say("report.copy.files.field"), value: files });
}

/** In which links and mentions do not work. */
export function codeBlock(text: string, max = maxTextLength): string {
	const shown = escapeInvisible(text.toWellFormed()).replaceAll("`", "ˋ");
	return `\`\`\`\n${truncate(shown, max)}\n\`\`\``;
}

function filesText(files: MessageCopy["files"], say: Say): string {
	const lines = files.map(({ name, url }) => {
		const shown = inlineText(name, 100);
		// A truncated URL would lead elsewhere.
		const isShown = url.length <= maxFileLength && /^https?:[^\s<>]+$/.test(url);
		return isShown ? `${shown}: <${url}>` : shown;
	});
	let text = "";
	for (const [index, line] of lines.entries()) {
		const more = say("report.copy.more", { count: lines.length - index });
		if (text.length + line.length + more.length > maxFilesLength) return `${text}${more}`;
		text += `${line}\n`;
	}
	return text.trimEnd();
}

export interface ReportedMessage {
	id: string;
	channelId: string;
	authorId: string;
	authorKind: AuthorKind;
	copy: MessageCopy;
}

const maxMessages = 500;
/** Discord accepts the submission of a form for 15 minutes. */
const keptMs = 900_000;

/**
 * Copies of reported messages, in memory only and for some minutes, because the database stores no texts. A copy is
 * kept after its report was posted, because others may still be filling in the form for the same message.
 */
export class Copies {
	readonly #byId = new LruMap<string, ReportedMessage>(maxMessages);

	/** The first copy of a message shows what was reported. */
	add(message: ReportedMessage): void {
		if (this.#byId.has(message.id)) return;
		this.#byId.set(message.id, message);
		setTimeout(() => this.#byId.delete(message.id), keptMs).unref();
	}

	get(id: string): ReportedMessage | undefined {
		return this.#byId.get(id);
	}
}
