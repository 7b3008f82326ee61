// One answer of AI chat: streams the AI's text to Discord, and adds a note when it ends early.

import { DiscordAPIError, MessageFlags, RESTJSONErrorCodes, Routes } from "discord.js";
import type { AiMessage, AnswerEnd, Finish } from "../../../ai/ai.ts";
import { AiError } from "../../../ai/error.ts";
import type { Log } from "../../../lib/log.ts";
import { type Language, render, type Said, said } from "../../../texts/texts.ts";
import { withoutLinks } from "../ai-links.ts";
import { estimateUsage } from "./chat-budget.ts";
import type { Question } from "./chat-question.ts";
import type { EndReason } from "./chat-run.ts";
import { isCodeOpen } from "./chat-split.ts";
import { createWriter, type MessageApi, type SentMessage, type WrittenMessage } from "./chat-writer.ts";

const maxLength = 8_000;
/** Interval at which the typing indicator is sent again: Discord shows it for 10 s. */
const typingMs = 8_000;

interface AnswerOptions {
	/** Pieces of the AI's text. */
	answer(
		messages: readonly AiMessage[],
		options: { signal: AbortSignal; onEnd(end: AnswerEnd): void },
	): AsyncIterable<string>;
	messages: readonly AiMessage[];
	question: Question;
	/** The answer may repeat their links: personality, facts of the community, and what the asker has written. */
	linkSources: readonly string[];
	/** Aborts the AI request when the answer must end early. The abort reason is an `EndReason`, such as "timeout". */
	ending: AbortSignal;
	/** Once, when the AI has ended, before the answer is written. */
	onUse(tokens: number, outcome: "answered" | "failed"): Promise<void>;
	log: Log;
	/** Returns the minimum time between two edits of the answer's messages, in milliseconds. */
	editIntervalMs(): number;
	/** Whether the rest of the answer is for the person alone, and is not written to the channel. */
	isPrivate(): boolean;
	/** Whether nobody else need know of the question: the bot does not type. */
	isSilent: boolean;
	/** Aborts when the answer's messages may no longer be sent or edited on Discord. */
	stopped: AbortSignal;
	/** For each new message, and for all again at the end. `text` is without a note about an early end. */
	onPart(part: { id: string; text: string }, index: number): void;
}

/**
 * Asks the AI and streams its answer into Discord messages. Rejects when Discord refuses a message. Returns the whole answer if
 * its end is for the person alone.
 */
export async function answerQuestion(options: AnswerOptions): Promise<string | undefined> {
	const { question, stopped, linkSources } = options;
	let answer = "";
	const report = ({ id, from, to }: WrittenMessage, index: number) =>
		options.onPart({ id, text: answer.slice(from, to) }, index);
	const endTyping = options.isSilent ? () => {} : startTyping(question);
	const writer = createWriter({
		api: createMessageApi(question),
		editIntervalMs: options.editIntervalMs,
		onMessage(message, index) {
			endTyping();
			report(message, index);
		},
		signal: stopped,
	});
	// When Discord refuses the answer, the AI request is aborted.
	const unwritable = new AbortController();
	writer.done.catch(() => unwritable.abort());
	try {
		const update = (partial: string) => {
			if (options.isPrivate()) return;
			answer = withoutLinks(withoutLastAddress(partial), linkSources);
			writer.update(answer);
		};
		const { text, note } = await readAnswer(options, unwritable.signal, update);
		const whole = withoutLinks(text, linkSources);
		const isPrivate = options.isPrivate();
		if (!isPrivate) answer = whole;
		await writer.finish(isPrivate ? answer : withNote(answer, note, question.language));
		for (const [index, message] of writer.written.entries()) report(message, index);
		return isPrivate ? withNote(whole, note, question.language) : undefined;
	} finally {
		endTyping();
	}
}

/** The id of the question and the message's index in the answer. Undefined for nonces of other messages. */
export function readNonce(nonce: string | number | null): { questionId: string; index: number } | undefined {
	const [, questionId, index] = /^(\d+)-(\d+)$/.exec(String(nonce)) ?? [];
	if (questionId === undefined) return undefined;
	return { questionId, index: Number(index) };
}

/** Whether a Discord request failed because the message or channel that it concerns was deleted. */
export function isGone(error: unknown): boolean {
	if (!(error instanceof DiscordAPIError)) return false;
	const { UnknownMessage, UnknownChannel } = RESTJSONErrorCodes;
	return (
		error.code === UnknownMessage ||
		error.code === UnknownChannel ||
		// The only field that can be invalid is the reference to the question.
		error.code === RESTJSONErrorCodes.InvalidFormBodyOrContentType
	);
}

/** Calls `update` with the text so far. The note explains an early end to the user. */
async function readAnswer(
	{ answer, messages, ending, onUse, log }: AnswerOptions,
	unwritable: AbortSignal,
	update: (text: string) => void,
): Promise<{ text: string; note: Said | undefined }> {
	let text = "";
	let finish: Finish = "stop";
	let used = 0;
	const count = ({ input, output } = estimateUsage(messages, text)) => {
		used += input + output;
	};
	// Called several times for an answer with tools.
	const onEnd = ({ finish: how, usage }: AnswerEnd) => {
		finish = how;
		count(usage);
	};
	const signal = AbortSignal.any([ending, unwritable]);
	try {
		for await (const piece of answer(messages, { signal, onEnd })) {
			text += piece;
			if (text.length > maxLength) {
				text = text.slice(0, maxLength);
				finish = "length";
				count();
				break;
			}
			update(toStorable(text));
		}
		await onUse(used, "answered");
		return { text: toStorable(text), note: finish === "length" ? said("chat.length") : undefined };
	} catch (error) {
		// A provider that refused has read nothing.
		if (text !== "" || !(error instanceof AiError)) count();
		await onUse(used, "failed");
		const note = unwritable.aborted ? undefined : noteOn(error, text, ending, log);
		return { text: toStorable(text), note };
	}
}

function noteOn(error: unknown, text: string, ending: AbortSignal, log: Log): Said | undefined {
	const reason: EndReason | undefined = ending.aborted ? ending.reason : undefined;
	if (reason === "deleted") return undefined;
	if (reason) return said(text === "" ? `chat.${reason}` : `chat.${reason}.partial`);
	// Already logged.
	if (error instanceof AiError) return sentenceOf(error);
	log.error("AI chat: could not generate an answer: internal error", { error });
	return said("chat.internal");
}

/** What people in chat read of an error of the AI provider. */
export function sentenceOf({ kind, midway, details }: AiError): Said {
	const why =
		kind === "limited" ? said("chat.ai.limited", { when: when(details.retryAfterMs) }) : said(`chat.ai.${kind}`);
	return midway ? said("chat.ai.midway", { why }) : why;
}

function when(ms: number | undefined): Said {
	if (ms === undefined) return said("chat.when.later");
	const count = Math.max(1, Math.ceil(ms / 1_000));
	return count <= 90
		? said("chat.when.seconds", { count })
		: said("chat.when.minutes", { count: Math.ceil(count / 60) });
}

function withNote(text: string, note: Said | undefined, language: Language): string {
	if (text.trim() === "") return render(note ?? said("chat.no-answer"), language);
	if (!note) return text;
	const closed = isCodeOpen(text) ? `${text.trimEnd()}\n\`\`\`` : text.trimEnd();
	return `${closed}\n-# ${render(note, language)}`;
}

function withoutLastAddress(text: string): string {
	const [word = ""] = /\S*$/.exec(text.slice(-300)) ?? [];
	return /[.:/\\]/.test(word) ? text.slice(0, -word.length) : text;
}

/** Replaces characters that Discord or PostgreSQL refuse: lone surrogates and NUL. */
function toStorable(text: string): string {
	return text.toWellFormed().replaceAll("\0", "\u{fffd}");
}

/** Without pings and link previews. The first message is a reply to the question. */
export function createMessageApi(question: Question): MessageApi {
	const { id, channelId, replyable, rest } = question;
	const allowed_mentions = { parse: [], replied_user: false };
	return {
		async send(content, index) {
			const body = {
				content,
				allowed_mentions,
				flags: MessageFlags.SuppressEmbeds,
				// For `readNonce`.
				nonce: `${id}-${index}`,
				enforce_nonce: true,
				...(index === 0 && replyable && { message_reference: { message_id: id } }),
			};
			const path = Routes.channelMessages(channelId);
			return (await rest.post(path, { body })) as SentMessage;
		},
		async edit(messageId, content) {
			const body = { content, allowed_mentions };
			await rest.patch(Routes.channelMessage(channelId, messageId), { body });
		},
	};
}

function startTyping({ channelId, rest }: Question): () => void {
	const type = () => {
		// The indicator is optional: failures do not matter.
		rest.post(Routes.channelTyping(channelId)).catch(() => {});
	};
	const timer = setInterval(type, typingMs);
	type();
	return () => clearInterval(timer);
}
