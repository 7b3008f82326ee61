// AI chat: whoever mentions the bot in a guild, or replies to what it said there, is answered by an AI. It has no tools,
// pings nobody, and is told of nothing but what was said in the conversation.

import {
	type Client,
	Events,
	GatewayDispatchEvents,
	type GatewayMessageDeleteBulkDispatchData,
	type GatewayMessageDeleteDispatchData,
	type Message,
	type REST,
} from "discord.js";
import type { Log } from "../../../lib/log.ts";
import type { Ai } from "../../ai/ai.ts";
import type { Feature, FeatureOptions } from "../../commands/feature.ts";
import type { BotConfig } from "../../config/config.ts";
import { toToolError } from "../../discord/rest/errors.ts";
import {
	answerQuestion,
	type End,
	isGone,
	readNonce,
	say,
} from "./chat-answer.ts";
import {
	type Conversations,
	createConversations,
} from "./chat-conversations.ts";
import { createLimits, maxQuestions } from "./chat-limits.ts";
import { messagesOf, systemPrompt } from "./chat-prompt.ts";
import { plain, type Question, readQuestion } from "./chat-question.ts";

/** Times, which tests choose. */
export interface ChatTimes {
	/** Between two edits in a channel: Discord lets a bot edit about one message a second there. */
	paceMs: number;
	/** What an answer may take. */
	maxAnswerMs: number;
	/** Until the store is given again what it did not take; deletions wait that long as well. */
	retryMs: number;
	/** The wall clock. */
	now(): number;
}

const usualTimes: ChatTimes = {
	paceMs: 1_200,
	maxAnswerMs: 180_000,
	retryMs: 3_000,
	now: () => Date.now(),
};
/** How long answers under way may take to say that they end. */
const farewellMs = 3_000;

const sentences = {
	bare: "What would you like to know? Write it in the same message as my name. I can read text only.",
	often: `That was ${maxQuestions} questions within a minute. Give me a moment, please.`,
	busy: "I am answering as many people as I can. Please ask me again in a minute.",
	restart: "I am being restarted. Please ask me again in a minute.",
};

/** As the configuration has it. Where it is off, what it once kept still goes in time. */
export function createChat(
	options: FeatureOptions,
	changes: Partial<ChatTimes> = {},
): Feature | undefined {
	const { config, store, log, ai } = options;
	const times = { ...usualTimes, ...changes };
	const conversations = createConversations({
		...{ store, log, keepDays: config.toml.chat.keep_days, now: times.now },
		retryMs: times.retryMs,
	});
	const { start, close } = conversations;
	if (!config.toml.features.chat) return { start, close };
	if (!ai) {
		log.info("features.chat is on, and does nothing without an AI provider");
		return { start, close };
	}
	const chat = new Chat({ config, log, ai, conversations, times });
	return {
		attach: (client) => chat.attach(client),
		start,
		async close() {
			await chat.close();
			await close();
		},
	};
}

interface ChatOptions {
	config: BotConfig;
	log: Log;
	ai: Ai;
	conversations: Conversations;
	times: ChatTimes;
}

/** A question that is being answered, or waits for that. */
interface Run {
	readonly question: Question;
	/** The messages without which it goes no further: the question, and those of the answer. */
	readonly ids: Set<string>;
	/** The ids of the answer's messages, in order. */
	readonly answer: string[];
	/** Whether its turn has come. */
	answering: boolean;
	/** Those of its messages that are deleted; what is said of them later is not noted any more. */
	readonly forgotten: Set<string>;
	/** Whether the channel is. */
	isForgotten: boolean;
	/** Aborted with an `End`. */
	readonly ending: AbortController;
	readonly stopped: AbortController;
}

class Chat {
	readonly #options: ChatOptions;
	readonly #limits = createLimits();
	readonly #runs = new Map<Run, Promise<void>>();
	#closed = false;

	constructor(options: ChatOptions) {
		this.#options = options;
	}

	attach(client: Client): void {
		const { config, log } = this.#options;
		client.on(Events.MessageCreate, (message) => {
			const botId = client.user?.id;
			if (botId === undefined) return;
			if (message.author.id === botId) return this.#hearOwn(message);
			if (this.#closed) return;
			const question = readQuestion(message, botId, config.command);
			if (question)
				this.#take(question, client.rest).catch((error) =>
					log.error("a question was not answered", { error }),
				);
		});
		// Discord itself tells of the deletions: discord.js only of those of messages that it has in its cache.
		const { ws } = client;
		const { MessageDelete, MessageDeleteBulk } = GatewayDispatchEvents;
		ws.on(MessageDelete, ({ id }: GatewayMessageDeleteDispatchData) =>
			this.#forget([id]),
		);
		ws.on(MessageDeleteBulk, ({ ids }: GatewayMessageDeleteBulkDispatchData) =>
			this.#forget(ids),
		);
		const { ChannelDelete, ThreadDelete } = GatewayDispatchEvents;
		for (const event of [ChannelDelete, ThreadDelete] as const)
			ws.on(event, ({ id }: { id: string }) => {
				// Its threads go with it, without a word. discord.js still has them at this moment.
				const { cache } = client.channels;
				const threads = cache.filter(
					(one) => one.isThread() && one.parentId === id,
				);
				this.#forgetChannels([id, ...threads.keys()]);
			});
	}

	#forgetChannels(ids: readonly string[]): void {
		for (const run of this.#runs.keys())
			if (ids.includes(run.question.channelId)) {
				run.isForgotten = true;
				end(run, "deleted");
			}
		this.#options.conversations.forgetChannels(ids);
	}

	/** Ends what is under way, each answer with what there is of it. */
	async close(): Promise<void> {
		this.#closed = true;
		for (const run of this.#runs.keys()) end(run, "restart");
		const all = Promise.allSettled(this.#runs.values());
		await Promise.race([all, Bun.sleep(farewellMs)]);
		for (const { stopped } of this.#runs.keys()) stopped.abort();
	}

	/** Somebody may reply to an answer before Discord has answered the bot that it is there. */
	#hearOwn({ id, nonce }: Message): void {
		const { question, number } = readNonce(nonce) ?? {};
		if (number === undefined) return;
		for (const run of this.#runs.keys())
			if (run.question.id === question && run.answering)
				this.#note(run, number, id);
	}

	/** A message of the answer is there: from now on it can be replied to, whatever becomes of the rest. */
	#note(run: Run, number: number, id: string, content?: string): void {
		const { question, answer } = run;
		if (content === undefined && answer.includes(id)) return;
		answer[number] = id;
		run.ids.add(id);
		if (run.isForgotten || run.forgotten.has(id)) return;
		const { channelId, userId, name } = question;
		this.#options.conversations.add({
			...{ message_id: id, parent_id: answer[number - 1] ?? question.id },
			...{ channel_id: channelId, user_id: userId, name, role: "assistant" },
			content: plain(content ?? ""),
		});
	}

	#forget(ids: readonly string[]): void {
		for (const run of this.#runs.keys()) {
			const gone = ids.filter((id) => run.ids.has(id));
			for (const id of gone) run.forgotten.add(id);
			if (gone.length > 0) end(run, "deleted");
		}
		this.#options.conversations.forget(ids);
	}

	/** Answers a question, unless it is none of chat's, or one too many. Rejects where that is a fault of ours. */
	async #take(question: Question, rest: REST): Promise<void> {
		const { userId, text, mentionsBot, repliesTo } = question;
		// Discord does not show all replies to a bot.
		if (!mentionsBot && text === "") return;
		if (!this.#limits.ask(userId))
			return this.#tell(sentences.often, question, rest);
		// Not all that the bot writes is chat: a reply to an alert, say, is not for the AI.
		const before =
			repliesTo === undefined
				? undefined
				: await this.#options.conversations.chain(repliesTo);
		if (!mentionsBot && before === undefined) return;
		if (text === "") return this.#tell(sentences.bare, question, rest);
		const run: Run = {
			...{ question, ids: new Set([question.id]), answer: [] },
			...{ answering: false, forgotten: new Set(), isForgotten: false },
			...{ ending: new AbortController(), stopped: new AbortController() },
		};
		const parent = Array.isArray(before) ? repliesTo : undefined;
		const running = this.#runInTurn(run, parent, rest);
		this.#runs.set(run, running);
		// That may have come in the meantime.
		if (this.#closed) end(run, "restart");
		await running.finally(() => this.#runs.delete(run));
	}

	async #runInTurn(
		run: Run,
		parent: string | undefined,
		rest: REST,
	): Promise<void> {
		const { question, ending } = run;
		const { guildId, userId } = question;
		let leave: (() => void) | undefined;
		try {
			leave = await this.#limits.enter(guildId, userId, ending.signal);
		} catch {
			// With the end that it came to, and nothing else.
			if (ending.signal.reason === "restart")
				await this.#say(sentences.restart, question, rest);
			return;
		}
		if (!leave) return this.#tell(sentences.busy, question, rest);
		const late = setTimeout(
			() => end(run, "late"),
			this.#options.times.maxAnswerMs,
		);
		run.answering = true;
		try {
			await this.#answer(run, parent, rest);
		} catch (error) {
			this.#noteFailure(question, error);
		} finally {
			clearTimeout(late);
			leave();
		}
	}

	async #answer(
		run: Run,
		repliesTo: string | undefined,
		rest: REST,
	): Promise<void> {
		const { ai, config, conversations, log, times } = this.#options;
		const { question, ending, stopped } = run;
		const { id, channelId, userId, name, text } = question;
		const parent = repliesTo ?? (await conversations.latest(channelId, userId));
		conversations.add({
			...{ message_id: id, parent_id: parent ?? null, role: "user" },
			...{ channel_id: channelId, user_id: userId, name, content: text },
		});
		const said = await conversations.chain(id);
		await answerQuestion({
			...{ ai, question, rest, log },
			messages: [
				{ role: "system", content: systemPrompt(config, times.now()) },
				...messagesOf(Array.isArray(said) ? said : []),
			],
			paceMs: () => times.paceMs * this.#answeringIn(channelId),
			...{ ending: ending.signal, stopped: stopped.signal },
			onPart: (part, number) => this.#note(run, number, part.id, part.text),
		});
	}

	#answeringIn(channelId: string): number {
		const runs = [...this.#runs.keys()];
		return runs.filter(
			({ answering, question }) =>
				answering && question.channelId === channelId,
		).length;
	}

	/** Says it if that has not been said too often of late. */
	async #tell(sentence: string, question: Question, rest: REST): Promise<void> {
		const { guildId, userId } = question;
		if (this.#limits.mayTell(guildId, userId))
			await this.#say(sentence, question, rest);
	}

	async #say(sentence: string, question: Question, rest: REST): Promise<void> {
		try {
			await say(sentence, question, rest);
		} catch (error) {
			this.#noteFailure(question, error);
		}
	}

	/** Rethrows what is a fault of ours. */
	#noteFailure({ guildId, channelId }: Question, error: unknown): void {
		// Who deletes what was asked wants no answer.
		if (isGone(error)) return;
		const refusal = toToolError(error);
		if (!refusal) throw error;
		this.#options.log.warn("an answer could not be written", {
			...{ guild: guildId, channel: channelId, reason: refusal.message },
		});
	}
}

/** Gives it up. Where there is nobody to read it, no more is written either. */
function end({ ending, stopped }: Run, why: End): void {
	ending.abort(why);
	if (why === "deleted") stopped.abort();
}
