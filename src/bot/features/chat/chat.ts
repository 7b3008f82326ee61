// AI chat: answers people who mention the bot in a guild, reply to its answers or use /ask. Its messages ping nobody. It sees
// only the conversation, what everyone can read of the community and, where the guild's settings say so, what tools find in
// the name of who asks.

import {
	ButtonStyle,
	type ChatInputCommandInteraction,
	type Client,
	Events,
	GatewayDispatchEvents,
	type Message,
	MessageFlags,
} from "discord.js";
import type { AiMessage } from "../../../ai/ai.ts";
import { toToolError } from "../../../discord/rest/errors.ts";
import { within } from "../../../lib/wait.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { render, type Said, said, sayIn } from "../../../texts/texts.ts";
import type { AskedCalls } from "../../approval/asked-calls.ts";
import { answerPrivately, deferPrivately } from "../../commands/answer.ts";
import type { ComponentInteraction } from "../../commands/components.ts";
import type { Feature, FeatureOptions } from "../../commands/feature.ts";
import { buttonRow } from "../../messages/buttons.ts";
import { noMentions, sendablePieces } from "../../messages/split-message.ts";
import type { Routine } from "../../store/tables/routines.ts";
import { ignoreUnavailable } from "../../store/unavailable.ts";
import { answerQuestion, createMessageApi, isGone, readNonce, readWhole } from "./chat-answer.ts";
import { type Budget, createBudget } from "./chat-budget.ts";
import { type Conversations, createConversations } from "./chat-conversations.ts";
import { createLimits } from "./chat-limits.ts";
import { createPlans, type Plans } from "./chat-plans.ts";
import { systemPrompt, toAiMessages } from "./chat-prompt.ts";
import { isForgetting, type Question, questionOf, readQuestion, sanitize } from "./chat-question.ts";
import { Run } from "./chat-run.ts";
import { hasTools, Session, type SessionOptions } from "./chat-session.ts";
import { type Community, createCommunity } from "./community.ts";
import { PrivateTexts } from "./private-texts.ts";
import { createRoutines } from "./routines.ts";

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
const maxToolAnswerMs = 60_000;
const showPrefix = "askshow";
const maxQuestionLength = 2_000;
/** For which the plan of a routine can be carried out: nobody need be there when it is made. */
const routinePlanMs = 86_400_000;

export interface ChatFeatureOptions extends FeatureOptions {
	askedCalls: AskedCalls;
}

export function createChat(options: ChatFeatureOptions, timing: Partial<ChatTiming> = {}): Feature {
	const { config, settings, connection, store, log, registry, ai, chatPrivacy, askedCalls: calls } = options;
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
	const privateTexts = new PrivateTexts();
	const guild = connection.guild.bind(connection);
	const plans = createPlans({ store, calls, guild, onDone: privateTexts.add.bind(privateTexts), now });
	const community = createCommunity({ connection, settings, now });
	const parts = { ai, calls, conversations, budget, community, plans, privateTexts, now };
	const chat = new Chat({ ...options, ...parts, ...others });
	const run = (routine: Routine) => chat.runRoutine(routine);
	const routines = createRoutines({ connection, settings, store, log, timezone: config.timezone, run, now });
	return {
		menus: [
			{
				type: "slash",
				name: "ask",
				options: [{ name: "question", kind: "text", required: true, min: 1, max: maxQuestionLength }],
				run: (interaction) => chat.ask(interaction),
			},
			routines.command,
		],
		components: [
			plans.component,
			routines.component,
			{ prefix: showPrefix, run: (interaction) => chat.show(interaction) },
		],
		attach: (client) => chat.attach(client),
		start() {
			start();
			routines.start();
		},
		async close() {
			await routines.close();
			await chat.close();
			await close();
		},
	};
}

interface ChatOptions
	extends Omit<ChatTiming, "retryMs">,
		SessionOptions,
		Pick<FeatureOptions, "config" | "log" | "chatPrivacy"> {
	conversations: Conversations;
	budget: Budget;
	community: Community;
	plans: Plans;
	privateTexts: PrivateTexts;
}

class Chat {
	readonly #limits = createLimits();
	readonly #runs = new Map<Run, Promise<unknown>>();
	#closed = false;

	constructor(private readonly options: ChatOptions) {}

	attach(client: Client): void {
		const { config, community, log } = this.options;
		community.attach(client);
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
		const parentId = Array.isArray(chain) ? repliesTo : undefined;
		if (isForgetting(text)) return this.#forget(question, parentId);
		const why = await this.#inTurn(new Run(question), (run) =>
			this.#answer(run, parentId).catch((error): void => this.#logFailure(question, error)),
		);
		if (why?.key === "chat.restart") await this.#reply(why, question);
		else if (why) await this.#notify(why, question);
	}

	/** Does `work` when it is the question's turn. Returns why not. */
	async #inTurn(run: Run, work: (run: Run) => Promise<void>): Promise<Said | undefined> {
		const running = this.#wait(run, work);
		this.#runs.set(run, running);
		// The bot may have closed since the question arrived.
		if (this.#closed) run.end("restart");
		return running.finally(() => this.#runs.delete(run));
	}

	async #wait(run: Run, work: (run: Run) => Promise<void>): Promise<Said | undefined> {
		const { question, ending } = run;
		const { guildId, userId } = question;
		let release: (() => void) | undefined;
		try {
			release = await this.#limits.acquire(guildId, userId, ending);
		} catch {
			// Waiting for a slot rejects only when the run ends.
			return ending.reason === "restart" ? said("chat.restart") : undefined;
		}
		if (!release) return said("chat.busy");
		const { answerTimeoutMs } = this.options;
		const maxMs = hasTools(this.options, guildId) ? Math.min(maxToolAnswerMs, answerTimeoutMs) : answerTimeoutMs;
		const timer = setTimeout(() => run.end("timeout"), maxMs);
		run.hasAnswer = true;
		try {
			await work(run);
		} finally {
			clearTimeout(timer);
			release();
		}
		return undefined;
	}

	/** /ask: the answer is for the person alone, and is not remembered. */
	async ask(interaction: ChatInputCommandInteraction & { guildId: string }): Promise<void> {
		await deferPrivately(interaction);
		const { id, guildId, channelId, locale, user } = interaction;
		const member = this.options.connection.guild(guildId)?.members.cache.get(user.id);
		if (!member) throw new SaidError(said("refusal.offline"));
		const text = interaction.options.getString("question", true);
		const why = await this.#askOnce(
			questionOf(member, { id, channelId, text, locale }),
			true,
			async (_, session, answer) => {
				await answerPrivately(interaction, answer);
				if (session.planned.length === 0) return;
				const plan = await this.options.plans.show(session.asker, session.planned, { answerId: "" });
				await interaction.followUp({ ...plan, flags: MessageFlags.Ephemeral });
			},
		);
		if (why) throw new SaidError(why);
	}

	/** Answers in the channel; what not everybody there may read, behind a button. */
	async runRoutine({ id, guild_id, channel_id, person_id, question: text }: Routine): Promise<void> {
		const { connection, log, now } = this.options;
		const guild = connection.guild(guild_id);
		const member = guild?.members.cache.get(person_id);
		const channel = guild?.channels.cache.get(channel_id);
		if (!member || !channel?.isSendable()) return;
		const question = questionOf(member, { id, channelId: channel_id, text, locale: guild?.preferredLocale ?? "" });
		const why = await this.#askOnce(question, false, async (run, session, answer) => {
			const pieces = session.isPrivate ? [] : sendablePieces(answer);
			for (const content of pieces)
				await channel.send({ content, allowedMentions: noMentions, flags: MessageFlags.SuppressEmbeds });
			await this.#conclude(run, session, session.isPrivate ? answer : undefined, now() + routinePlanMs);
		});
		if (why) log.warn("a routine of AI chat was not answered", { routine: id, reason: render(why, "en") });
	}

	/** A question without a conversation. Returns why it was not answered. */
	async #askOnce(
		question: Question,
		isPrivate: boolean,
		onAnswer: (run: Run, session: Session, answer: string) => Promise<void>,
	): Promise<Said | undefined> {
		const { budget, chatPrivacy, settings, log } = this.options;
		const { guildId, userId, name, text } = question;
		await settings.ready();
		const refusal = await budget.take(guildId, userId, question);
		if (refusal) return refusal;
		const isOff = await chatPrivacy.off(guildId);
		if (isOff(userId)) return said("chat.off");
		return this.#inTurn(new Run(question), async (run) => {
			const session = new Session(this.options, question, isPrivate, isOff);
			const { system, links } = await this.#instructions(session);
			const asked = { role: "user" as const, content: `${name}: ${text}` };
			const answer = await readWhole({
				answer: (messages, given) => session.answer(messages, given),
				messages: [system, asked],
				question,
				linkSources: [...links, text],
				ending: run.ending,
				onUse: (tokens, outcome) => budget.spend(guildId, userId, tokens, outcome),
				log,
			});
			await onAnswer(run, session, answer);
		});
	}

	/** And texts whose links the answer may repeat. */
	async #instructions({ asker, hasTools }: Session): Promise<{ system: AiMessage; links: readonly string[] }> {
		const { community, config, now } = this.options;
		const facts = await community.facts(asker.guildId);
		const links = [config.personality ?? "", facts?.rules ?? "", ...Object.values(facts?.tags ?? {})];
		return { system: { role: "system", content: systemPrompt(config, now(), hasTools, facts) }, links };
	}

	/** The button under an answer that only who asked may read. */
	async show(interaction: ComponentInteraction): Promise<void> {
		if (!interaction.isButton()) return;
		await deferPrivately(interaction);
		const kept = this.options.privateTexts.get(interaction.message.id);
		if (!kept) throw new SaidError(said("ask.gone"));
		if (kept.userId !== interaction.user.id) throw new SaidError(said("ask.others", { who: `<@${kept.userId}>` }));
		await answerPrivately(interaction, kept.text);
		if (kept.plan) await interaction.followUp({ ...kept.plan, flags: MessageFlags.Ephemeral });
	}

	/** The person's part of the conversation. */
	async #forget(question: Question, repliesTo: string | undefined): Promise<void> {
		const { conversations } = this.options;
		const chain = await conversations.chain(repliesTo ?? (await this.#latest(question)) ?? "");
		const own = Array.isArray(chain) ? chain.filter(({ user_id }) => user_id === question.userId) : [];
		conversations.deleteMessages(own.map(({ message_id }) => message_id));
		await this.#reply(said("ask.forgotten"), question);
	}

	/** The answer that a question continues: in a thread the latest, elsewhere the person's. */
	#latest({ channelId, userId, isThread }: Question): Promise<string | undefined> {
		return this.options.conversations.latest(channelId, isThread ? undefined : userId);
	}

	async #answer(run: Run, repliesTo: string | undefined): Promise<void> {
		const { budget, chatPrivacy, conversations, log, privateTexts } = this.options;
		const { question, ending, stopped } = run;
		const { id, guildId, channelId, userId, name, text } = question;
		const isOff = await chatPrivacy.off(guildId).catch(ignoreUnavailable);
		if (!isOff || isOff(userId)) return this.#notify(said(isOff ? "chat.off" : "error.database"), question);
		const parentId = repliesTo ?? (await this.#latest(question));
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
		const stored = Array.isArray(found) ? found.filter(({ user_id }) => !isOff(user_id)) : [];
		const { turns: chain, isPrivate } = privateTexts.known(stored, userId);
		const session = new Session(this.options, question, isPrivate, isOff);
		const { system, links } = await this.#instructions(session);
		const whole = await answerQuestion({
			answer: (messages, given) => session.answer(messages, given),
			messages: [system, ...toAiMessages(chain)],
			isPrivate: () => session.isPrivate,
			question,
			log,
			linkSources: [
				...links,
				...chain.flatMap(({ role, user_id, content }) => (role === "user" && user_id === userId ? content : [])),
			],
			editIntervalMs: () => this.options.editIntervalMs * this.#answersIn(channelId),
			ending,
			stopped,
			onUse: (tokens, outcome) => budget.spend(guildId, userId, tokens, outcome),
			onPart: (part, index) => this.#noteAnswer(run, index, part.id, part.text),
		});
		if (!stopped.aborted) await this.#conclude(run, session, whole);
	}

	/** What the person alone may read stands behind a button. */
	async #conclude(run: Run, session: Session, whole: string | undefined, expiresAt?: number): Promise<void> {
		const { connection, plans, privateTexts } = this.options;
		const { question, answerIds } = run;
		const { userId, language } = question;
		const channel = connection.discord.channels.cache.get(question.channelId);
		if (!channel?.isSendable()) return;
		const say = sayIn(language);
		const planFor = (answerId: string) => plans.show(session.asker, session.planned, { answerId, expiresAt });
		const hasPlan = session.planned.length > 0;
		if (whole === undefined) {
			if (hasPlan) await channel.send(await planFor(answerIds.at(-1) ?? ""));
			return;
		}
		const label = say("ask.show.button");
		const notice = await channel.send({
			content: say("ask.private", { who: `<@${userId}>` }),
			components: [buttonRow([{ id: showPrefix, label, style: ButtonStyle.Primary }])],
			allowedMentions: noMentions,
		});
		this.#noteAnswer(run, answerIds.length, notice.id, "");
		// Without the plan, too, if the store is down.
		privateTexts.set(notice.id, { userId, text: whole });
		if (hasPlan) privateTexts.set(notice.id, { userId, text: whole, plan: await planFor(notice.id) });
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
