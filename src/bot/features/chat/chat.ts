// AI chat: answers people who mention the bot in a guild or reply to its answers. The AI has no tools, its messages ping
// nobody, and it sees only the conversation.

import { type Client, Events, GatewayDispatchEvents, type Message } from "discord.js";
import type { Ai } from "../../../ai/ai.ts";
import { toToolError } from "../../../discord/rest/errors.ts";
import { within } from "../../../lib/wait.ts";
import { render, type Said, said } from "../../../texts/texts.ts";
import type { Feature, FeatureOptions } from "../../commands/feature.ts";
import { ignoreUnavailable } from "../../store/unavailable.ts";
import { answerQuestion, createMessageApi, isGone, readNonce } from "./chat-answer.ts";
import { type Budget, createBudget } from "./chat-budget.ts";
import { type Conversations, createConversations } from "./chat-conversations.ts";
import { createLimits } from "./chat-limits.ts";
import { systemPrompt, toAiMessages } from "./chat-prompt.ts";
import { type Question, readQuestion, sanitize } from "./chat-question.ts";
import { Run } from "./chat-run.ts";

export interface ChatTiming {
	/** Per channel, in milliseconds. Discord allows a bot about one edit per second in a channel. */
	editIntervalMs: number;
	answerTimeoutMs: number;
	/** Before a failed write is retried, and before messages deleted on Discord are deleted from the database. */
	retryMs: number;
	now(): number;
}

const defaultTiming: ChatTiming = {
	editIntervalMs: 1_200,
	answerTimeoutMs: 180_000,
	retryMs: 3_000,
	now: () => Date.now(),
};
const shutdownGraceMs = 3_000;

export function createChat(options: FeatureOptions, timing: Partial<ChatTiming> = {}): Feature {
	const { config, settings, store, log, registry, ai, chatPrivacy } = options;
	const { retryMs, now, ...others } = { ...defaultTiming, ...timing };
	if (!config.toml.features.chat) return {};
	if (!ai) {
		log.info("features.chat has no effect: no AI provider configured");
		return {};
	}
	const conversations = createConversations({ store, log, keepDays: config.toml.chat.keep_days, now, retryMs });
	const { start, close } = conversations;
	const budget = createBudget({ store, settings, log, now, timezone: config.timezone, registry });
	chatPrivacy.onErase = conversations.erase;
	const chat = new Chat({ config, log, ai, chatPrivacy, conversations, budget, now, ...others });
	return {
		attach: (client) => chat.attach(client),
		start,
		async close() {
			await chat.close();
			await close();
		},
	};
}

interface ChatOptions extends Omit<ChatTiming, "retryMs">, Pick<FeatureOptions, "config" | "log" | "chatPrivacy"> {
	ai: Ai;
	conversations: Conversations;
	budget: Budget;
}

class Chat {
	readonly #limits = createLimits();
	readonly #runs = new Map<Run, Promise<void>>();
	#closed = false;

	constructor(private readonly options: ChatOptions) {}

	attach(client: Client): void {
		const { config, log } = this.options;
		client.on(Events.MessageCreate, (message) => {
			const botId = client.user?.id;
			if (botId === undefined) return;
			if (message.author.id === botId) return this.#noteOwnMessage(message);
			if (this.#closed) return;
			const question = readQuestion(message, botId, config.command);
			if (question)
				this.#handle(question).catch((error) =>
					log.error("AI chat: could not handle a question: internal error", { error }),
				);
		});
		// Raw events: discord.js emits deletions only for messages in its cache.
		const { ws } = client;
		const { MessageDelete, MessageDeleteBulk, ChannelDelete, ThreadDelete } = GatewayDispatchEvents;
		ws.on(MessageDelete, ({ id }: { id: string }) => this.#deleteMessages([id]));
		ws.on(MessageDeleteBulk, ({ ids }: { ids: string[] }) => this.#deleteMessages(ids));
		for (const event of [ChannelDelete, ThreadDelete] as const)
			ws.on(event, ({ id }: { id: string }) => {
				// Discord sends no event for the channel's threads. discord.js still caches them at this moment.
				const { cache } = client.channels;
				const threads = cache.filter((channel) => channel.isThread() && channel.parentId === id);
				this.#deleteChannels([id, ...threads.keys()]);
			});
	}

	async close(): Promise<void> {
		this.#closed = true;
		for (const run of this.#runs.keys()) run.end("restart");
		await within(shutdownGraceMs, Promise.allSettled(this.#runs.values()));
		for (const run of this.#runs.keys()) run.stop();
	}

	#deleteChannels(ids: readonly string[]): void {
		for (const run of this.#runs.keys())
			if (ids.includes(run.question.channelId)) {
				run.isChannelDeleted = true;
				run.end("deleted");
			}
		this.options.conversations.deleteChannels(ids);
	}

	#deleteMessages(ids: readonly string[]): void {
		for (const run of this.#runs.keys()) {
			const deleted = ids.filter((id) => run.messageIds.has(id));
			for (const id of deleted) run.deletedIds.add(id);
			if (deleted.length > 0) run.end("deleted");
		}
		this.options.conversations.deleteMessages(ids);
	}

	#noteOwnMessage({ id, nonce }: Message): void {
		const { questionId, index } = readNonce(nonce) ?? {};
		if (index === undefined) return;
		for (const run of this.#runs.keys())
			if (run.question.id === questionId && run.hasAnswer) this.#noteAnswer(run, index, id);
	}

	/** Stores a Discord message of an answer, so that users can continue the conversation by replying to it. */
	#noteAnswer(run: Run, index: number, id: string, content?: string): void {
		const { question, answerIds } = run;
		if (content === undefined && answerIds.includes(id)) return;
		answerIds[index] = id;
		run.messageIds.add(id);
		if (run.isChannelDeleted || run.deletedIds.has(id)) return;
		this.options.conversations.add({
			message_id: id,
			parent_id: answerIds[index - 1] ?? question.id,
			guild_id: question.guildId,
			channel_id: question.channelId,
			user_id: question.userId,
			name: question.name,
			role: "assistant",
			content: sanitize(content ?? ""),
		});
	}

	async #handle(question: Question): Promise<void> {
		const { guildId, userId, text, mentionsBot, repliesTo } = question;
		const { budget, conversations } = this.options;
		// Discord hides the text of messages that do not mention the bot.
		if (!mentionsBot && text === "") return;
		// A reply to a message that is not part of a conversation, such as an alert, is not for the AI.
		const chain = repliesTo === undefined ? undefined : await conversations.chain(repliesTo);
		const elsewhere = budget.elsewhere(guildId, question);
		if (!mentionsBot && (chain === undefined || elsewhere)) return;
		const refusal = text === "" ? (elsewhere ?? said("chat.empty")) : await budget.take(guildId, userId, question);
		if (refusal) return this.#notify(refusal, question);
		const run = new Run(question);
		const parentId = Array.isArray(chain) ? repliesTo : undefined;
		const running = this.#run(run, parentId);
		this.#runs.set(run, running);
		// The bot may have closed since the message arrived.
		if (this.#closed) run.end("restart");
		await running.finally(() => this.#runs.delete(run));
	}

	async #run(run: Run, parentId: string | undefined): Promise<void> {
		const { question, ending } = run;
		const { guildId, userId } = question;
		let release: (() => void) | undefined;
		try {
			release = await this.#limits.acquire(guildId, userId, ending);
		} catch {
			// Waiting for a slot rejects only when the run ends.
			if (ending.reason === "restart") await this.#reply(said("chat.restart"), question);
			return;
		}
		if (!release) return this.#notify(said("chat.busy"), question);
		const timer = setTimeout(() => run.end("timeout"), this.options.answerTimeoutMs);
		run.hasAnswer = true;
		try {
			await this.#answer(run, parentId);
		} catch (error) {
			this.#logFailure(question, error);
		} finally {
			clearTimeout(timer);
			release();
		}
	}

	async #answer(run: Run, repliesTo: string | undefined): Promise<void> {
		const { ai, budget, chatPrivacy, config, conversations, log, now } = this.options;
		const { question, ending, stopped } = run;
		const { id, guildId, channelId, userId, name, text } = question;
		const isOff = await chatPrivacy.off(guildId).catch(ignoreUnavailable);
		if (!isOff || isOff(userId)) return this.#notify(said(isOff ? "chat.off" : "error.database"), question);
		const parentId = repliesTo ?? (await conversations.latest(channelId, userId));
		conversations.add({
			message_id: id,
			parent_id: parentId ?? null,
			guild_id: guildId,
			channel_id: channelId,
			user_id: userId,
			name,
			role: "user",
			content: text,
		});
		const found = await conversations.chain(id);
		const chain = Array.isArray(found) ? found.filter(({ user_id }) => !isOff(user_id)) : [];
		await answerQuestion({
			ai,
			question,
			log,
			messages: [{ role: "system", content: systemPrompt(config, now()) }, ...toAiMessages(chain)],
			linkSources: [
				config.personality ?? "",
				...chain.flatMap(({ role, user_id, content }) => (role === "user" && user_id === userId ? content : [])),
			],
			editIntervalMs: () => this.options.editIntervalMs * this.#answersIn(channelId),
			ending,
			stopped,
			onUse: (tokens, outcome) => budget.spend(guildId, userId, tokens, outcome),
			onPart: (part, index) => this.#noteAnswer(run, index, part.id, part.text),
		});
	}

	#answersIn(channelId: string): number {
		const runs = [...this.#runs.keys()];
		return runs.filter((run) => run.hasAnswer && run.question.channelId === channelId).length;
	}

	async #notify(sentence: Said, question: Question): Promise<void> {
		const { guildId, userId } = question;
		if (this.#limits.mayNotify(guildId, userId)) await this.#reply(sentence, question);
	}

	async #reply(sentence: Said, question: Question): Promise<void> {
		try {
			await createMessageApi(question).send(render(sentence, question.language), 0);
		} catch (error) {
			this.#logFailure(question, error);
		}
	}

	/** Logs why a question could not be answered, unless the question was deleted. Rethrows internal errors. */
	#logFailure({ guildId, channelId }: Question, error: unknown): void {
		// The question was deleted.
		if (isGone(error)) return;
		const refusal = toToolError(error);
		if (!refusal) throw error;
		this.options.log.warn("AI chat: could not send an answer", {
			guild: guildId,
			channel: channelId,
			reason: refusal.message,
		});
	}
}
