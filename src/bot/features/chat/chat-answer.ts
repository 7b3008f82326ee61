// One answer of AI chat: what the AI says, on Discord while it says it, with a word on why where it ends too early.

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
import { isCodeOpen } from "./chat-pieces.ts";
import type { Question } from "./chat-question.ts";
import { createWriter, type Pen, type Written } from "./chat-writer.ts";

/** An answer ends here, however much more there would be. */
const maxLength = 8_000;
/** Discord shows that somebody types for 10 s. */
const typingMs = 8_000;

/** Why an answer is given up before it is whole. */
export type End = "deleted" | "restart" | "late";

const notes: Readonly<Record<Exclude<End, "deleted">, [string, string]>> = {
	restart: [
		"I am being restarted. Please ask me again in a minute.",
		"I am being restarted: the answer ends here.",
	],
	late: [
		"That took too long. Please ask me again.",
		"That took too long: the answer ends here.",
	],
};

export interface AnswerOptions {
	ai: Ai;
	messages: readonly AiMessage[];
	question: Question;
	rest: REST;
	/** The least time between two edits. */
	paceMs(): number;
	/** Its reason is an `End`. */
	ending: AbortSignal;
	/** Nothing more is written. */
	stopped: AbortSignal;
	/** Is told of each message that is new, and at the end of all: its part of the answer, without what is said about that. */
	onPart(part: { id: string; text: string }, number: number): void;
	log: Log;
}

/** Asks, and answers. Rejects when Discord does not take the answer. */
export async function answerQuestion(options: AnswerOptions): Promise<void> {
	const { question, rest, stopped } = options;
	let said = "";
	const tell = ({ id, from, to }: Written, number: number) =>
		options.onPart({ id, text: said.slice(from, to) }, number);
	const typing = startTyping(question.channelId, rest);
	const writer = createWriter({
		pen: penFor(question, rest),
		paceMs: options.paceMs,
		onMessage(message, number) {
			typing.end();
			tell(message, number);
		},
		signal: stopped,
	});
	// What nobody can read needs not be thought of.
	const unreadable = new AbortController();
	writer.done.catch(() => unreadable.abort());
	try {
		const { text, note } = await listen(options, unreadable.signal, (soFar) => {
			said = soFar;
			writer.update(soFar);
		});
		said = text;
		await writer.finish(withNote(text, note));
		for (const [number, message] of writer.written.entries())
			tell(message, number);
	} finally {
		typing.end();
	}
}

/** Sends one sentence to whoever asked. */
export async function say(
	sentence: string,
	question: Question,
	rest: REST,
): Promise<void> {
	await penFor(question, rest).send(sentence, 0);
}

const nonceOf = (questionId: string, number: number) =>
	`${questionId}-${number}`;

/** Of which answer a message is, and which of its messages; undefined where it is of none. */
export function readNonce(
	nonce: string | number | null,
): { question: string; number: number } | undefined {
	const [, question, number] = /^(\d+)-(\d+)$/.exec(String(nonce)) ?? [];
	if (question === undefined) return undefined;
	return { question, number: Number(number) };
}

/** Whether it is about a message or a channel that is not there any more. */
export function isGone(error: unknown): boolean {
	if (!(error instanceof DiscordAPIError)) return false;
	const { UnknownMessage, UnknownChannel } = RESTJSONErrorCodes;
	return (
		error.code === UnknownMessage ||
		error.code === UnknownChannel ||
		// Of all that is sent, only the message that is replied to can be wrong.
		error.code === RESTJSONErrorCodes.InvalidFormBodyOrContentType
	);
}

/** What the AI says, and why it ends if that is too early. `update` is told of the text as it grows. */
async function listen(
	{ ai, messages, ending, log }: AnswerOptions,
	unreadable: AbortSignal,
	update: (text: string) => void,
): Promise<{ text: string; note?: string }> {
	let text = "";
	let end: AnswerEnd | undefined;
	const note = "The answer became too long, and ends here.";
	const onEnd = (given: AnswerEnd) => {
		end = given;
	};
	const signal = AbortSignal.any([ending, unreadable]);
	try {
		for await (const piece of ai.answer(messages, { signal, onEnd })) {
			text += piece;
			if (text.length > maxLength)
				return { text: storable(text.slice(0, maxLength)), note };
			update(storable(text));
		}
		const isCut = end?.finish === "length";
		return { text: storable(text), ...(isCut && { note }) };
	} catch (error) {
		if (unreadable.aborted) return { text: storable(text) };
		return { text: storable(text), note: noteOn(error, text, ending, log) };
	}
}

/** What people are told of an answer that is not whole. */
function noteOn(
	error: unknown,
	text: string,
	ending: AbortSignal,
	log: Log,
): string {
	const end: End | undefined = ending.aborted ? ending.reason : undefined;
	if (end === "deleted") return "";
	if (end) return notes[end][text === "" ? 0 : 1];
	// It is in the log already.
	if (error instanceof AiError) return error.message;
	log.error("an answer failed", { error });
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

/** What Discord and every database take. */
function storable(text: string): string {
	return text.toWellFormed().replaceAll("\0", "\u{fffd}");
}

/** Messages that ping nobody and unfold no links, the first of which replies. */
function penFor({ id, channelId, replyable }: Question, rest: REST): Pen {
	const allowed_mentions = { parse: [], replied_user: false };
	return {
		async send(content, number) {
			const body = {
				...{ content, allowed_mentions, flags: MessageFlags.SuppressEmbeds },
				...{ nonce: nonceOf(id, number), enforce_nonce: true },
				...(number === 0 &&
					replyable && { message_reference: { message_id: id } }),
			};
			const path = Routes.channelMessages(channelId);
			return (await rest.post(path, { body })) as Awaited<
				ReturnType<Pen["send"]>
			>;
		},
		async edit(messageId, content) {
			const body = { content, allowed_mentions };
			await rest.patch(Routes.channelMessage(channelId, messageId), { body });
		},
	};
}

/** Shows that the bot is at it, until that is ended. */
function startTyping(channelId: string, rest: REST): { end(): void } {
	const type = () => {
		// Nobody misses it.
		rest.post(Routes.channelTyping(channelId)).catch(() => {});
	};
	const timer = setInterval(type, typingMs);
	type();
	return { end: () => clearInterval(timer) };
}
