// One answer of AI chat: streams the AI's text to Discord, and adds a note when it ends early.

import {
	DiscordAPIError,
	MessageFlags,
	RESTJSONErrorCodes,
	Routes,
} from "discord.js";
import type { Log } from "../../../lib/log.ts";
import type { Ai, AiMessage } from "../../ai/ai.ts";
import type { Finish } from "../../ai/completion.ts";
import { AiError } from "../../ai/error.ts";
import type { Question } from "./chat-question.ts";
import type { EndReason } from "./chat-run.ts";
import { isCodeOpen } from "./chat-split.ts";
import {
	createWriter,
	type MessageApi,
	type SentMessage,
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

const finishNotes: Readonly<Record<Finish, string>> = {
	stop: "",
	length: "The answer became too long, and ends here.",
};

export interface AnswerOptions {
	ai: Ai;
	messages: readonly AiMessage[];
	question: Question;
	/** Minimum time between two edits. */
	editIntervalMs(): number;
	/** Aborts the AI request. Its reason is an `EndReason`. */
	ending: AbortSignal;
	/** Aborts when nothing more may be written to Discord. */
	stopped: AbortSignal;
	/** Called with each new message, and at the end with all messages: their parts of the answer, without the note. */
	onPart(part: { id: string; text: string }, index: number): void;
	log: Log;
}

/** Asks the AI and writes its answer. Rejects when Discord refuses the answer. */
export async function answerQuestion(options: AnswerOptions): Promise<void> {
	const { question, stopped } = options;
	let answer = "";
	const report = ({ id, from, to }: WrittenMessage, index: number) =>
		options.onPart({ id, text: answer.slice(from, to) }, index);
	const endTyping = startTyping(question);
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
			answer = partial;
			writer.update(partial);
		};
		const { text, note } = await readAnswer(options, unwritable.signal, update);
		answer = text;
		await writer.finish(withNote(text, note));
		for (const [index, message] of writer.written.entries())
			report(message, index);
	} finally {
		endTyping();
	}
}

/** Parses a message's nonce: id of the question and index in the answer; undefined if it is not part of one. */
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
): Promise<{ text: string; note: string }> {
	let text = "";
	let finish: Finish = "stop";
	const onEnd = (end: Finish) => {
		finish = end;
	};
	const signal = AbortSignal.any([ending, unwritable]);
	try {
		for await (const piece of ai.answer(messages, { signal, onEnd })) {
			text += piece;
			if (text.length > maxLength) {
				text = text.slice(0, maxLength);
				finish = "length";
				break;
			}
			update(toStorable(text));
		}
		return { text: toStorable(text), note: finishNotes[finish] };
	} catch (error) {
		const note = unwritable.aborted ? "" : noteOn(error, text, ending, log);
		return { text: toStorable(text), note };
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

function withNote(text: string, note: string): string {
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

/** Sends and edits messages without pings and link previews. The first one replies to the question. */
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
				...(index === 0 &&
					replyable && { message_reference: { message_id: id } }),
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

/** Shows the typing indicator until the returned function is called. */
function startTyping({ channelId, rest }: Question): () => void {
	const type = () => {
		// The indicator is optional: failures do not matter.
		rest.post(Routes.channelTyping(channelId)).catch(() => {});
	};
	const timer = setInterval(type, typingMs);
	type();
	return () => clearInterval(timer);
}
