// One answer of AI chat: streams the AI's text to Discord, and adds a note when it ends early.

import {
	DiscordAPIError,
	MessageFlags,
	type REST,
	RESTJSONErrorCodes,
	Routes,
} from "discord.js";
import type { Log } from "../../../lib/log.ts";
import type { Ai, AiMessage, AnswerEnd } from "../../ai/ai.ts";
import { AiError } from "../../ai/error.ts";
import type { Question } from "./chat-question.ts";
import type { EndReason } from "./chat-run.ts";
import { isCodeOpen } from "./chat-split.ts";
import {
	createWriter,
	type MessageApi,
	type WrittenMessage,
} from "./chat-writer.ts";

/** Longer answers are cut here. In UTF-16 units. */
const maxLength = 8_000;
/** Discord shows the typing indicator for 10 s. */
const typingMs = 8_000;

/** What people read when an answer ends early: without any text, and below a part of it. */
const notes: Readonly<
	Record<Exclude<EndReason, "deleted">, { empty: string; partial: string }>
> = {
	restart: {
		empty: "I am being restarted. Please ask me again in a minute.",
		partial: "I am being restarted: the answer ends here.",
	},
	timeout: {
		empty: "That took too long. Please ask me again.",
		partial: "That took too long: the answer ends here.",
	},
};

export interface AnswerOptions {
	ai: Ai;
	messages: readonly AiMessage[];
	question: Question;
	rest: REST;
	/** Minimum time between two edits. */
	editIntervalMs(): number;
	/** Aborts the AI request. Its reason is an `EndReason`. */
	ending: AbortSignal;
	/** Nothing more is written. */
	stopped: AbortSignal;
	/** Called with each new message, and at the end with all: its part of the answer, without the note. */
	onPart(part: { id: string; text: string }, index: number): void;
	log: Log;
}

/** Asks the AI and writes its answer. Rejects when Discord refuses the answer. */
export async function answerQuestion(options: AnswerOptions): Promise<void> {
	const { question, rest, stopped } = options;
	let answer = "";
	const report = ({ id, from, to }: WrittenMessage, index: number) =>
		options.onPart({ id, text: answer.slice(from, to) }, index);
	const typing = startTyping(question.channelId, rest);
	const writer = createWriter({
		api: createMessageApi(question, rest),
		editIntervalMs: options.editIntervalMs,
		onMessage(message, index) {
			typing.end();
			report(message, index);
		},
		signal: stopped,
	});
	// When Discord refuses the answer, the AI request is aborted.
	const unwritable = new AbortController();
	writer.done.catch(() => unwritable.abort());
	try {
		const { text, note } = await readAnswer(
			options,
			unwritable.signal,
			(partial) => {
				answer = partial;
				writer.update(partial);
			},
		);
		answer = text;
		await writer.finish(withNote(text, note));
		for (const [index, message] of writer.written.entries())
			report(message, index);
	} finally {
		typing.end();
	}
}

/** Replies to a question with one sentence. */
export async function sendReply(
	sentence: string,
	question: Question,
	rest: REST,
): Promise<void> {
	await createMessageApi(question, rest).send(sentence, 0);
}

const createNonce = (questionId: string, index: number) =>
	`${questionId}-${index}`;

/** The question that a message answers, and the message's index in the answer; undefined for other messages. */
export function readNonce(
	nonce: string | number | null,
): { questionId: string; index: number } | undefined {
	const [, questionId, index] = /^(\d+)-(\d+)$/.exec(String(nonce)) ?? [];
	if (questionId === undefined) return undefined;
	return { questionId, index: Number(index) };
}

/** Whether a request failed because its message or channel was deleted. */
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

/** Reads the AI's answer. Calls `update` with the text so far. `note` explains an early end. */
async function readAnswer(
	{ ai, messages, ending, log }: AnswerOptions,
	unwritable: AbortSignal,
	update: (text: string) => void,
): Promise<{ text: string; note?: string }> {
	let text = "";
	let end: AnswerEnd | undefined;
	const note = "The answer became too long, and ends here.";
	const onEnd = (answerEnd: AnswerEnd) => {
		end = answerEnd;
	};
	const signal = AbortSignal.any([ending, unwritable]);
	try {
		for await (const piece of ai.answer(messages, { signal, onEnd })) {
			text += piece;
			if (text.length > maxLength)
				return { text: toStorable(text.slice(0, maxLength)), note };
			update(toStorable(text));
		}
		const isCut = end?.finish === "length";
		return { text: toStorable(text), ...(isCut && { note }) };
	} catch (error) {
		if (unwritable.aborted) return { text: toStorable(text) };
		return { text: toStorable(text), note: noteOn(error, text, ending, log) };
	}
}

function noteOn(
	error: unknown,
	text: string,
	ending: AbortSignal,
	log: Log,
): string {
	const reason: EndReason | undefined = ending.aborted
		? ending.reason
		: undefined;
	if (reason === "deleted") return "";
	if (reason) return notes[reason][text === "" ? "empty" : "partial"];
	// Already logged.
	if (error instanceof AiError) return error.message;
	log.error("chat answer failed", { error });
	return "Something went wrong on my side. Please ask me again later.";
}

function withNote(text: string, note = ""): string {
	if (text.trim() === "") return note || "I have no answer to that.";
	if (note === "") return text;
	const closed = isCodeOpen(text)
		? `${text.trimEnd()}\n\`\`\``
		: text.trimEnd();
	return `${closed}\n-# ${note}`;
}

/** Replaces what Discord or a database refuses: lone surrogates and NUL. */
function toStorable(text: string): string {
	return text.toWellFormed().replaceAll("\0", "\u{fffd}");
}

/** Messages without pings and link previews. The first one replies to the question. */
function createMessageApi(
	{ id, channelId, replyable }: Question,
	rest: REST,
): MessageApi {
	const allowed_mentions = { parse: [], replied_user: false };
	return {
		async send(content, index) {
			const body = {
				content,
				allowed_mentions,
				flags: MessageFlags.SuppressEmbeds,
				nonce: createNonce(id, index),
				enforce_nonce: true,
				...(index === 0 &&
					replyable && { message_reference: { message_id: id } }),
			};
			const path = Routes.channelMessages(channelId);
			return (await rest.post(path, { body })) as Awaited<
				ReturnType<MessageApi["send"]>
			>;
		},
		async edit(messageId, content) {
			const body = { content, allowed_mentions };
			await rest.patch(Routes.channelMessage(channelId, messageId), { body });
		},
	};
}

/** Shows the typing indicator until `end`. */
function startTyping(channelId: string, rest: REST): { end(): void } {
	const type = () => {
		// The indicator is optional: failures do not matter.
		rest.post(Routes.channelTyping(channelId)).catch(() => {});
	};
	const timer = setInterval(type, typingMs);
	type();
	return { end: () => clearInterval(timer) };
}
