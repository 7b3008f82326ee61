// AI chat: answers people who mention the bot in a guild, reply to its answers or use /ask. Its messages ping nobody. It sees
// only the conversation, what everyone can read of the community and, where the guild's settings say so, what tools find in
// the name of who asks.

import {
	ButtonStyle,
	type Client,
	Events,
	GatewayDispatchEvents,
	type GuildMember,
	type Message,
	MessageFlags,
	type RepliableInteraction,
	SnowflakeUtil,
} from "discord.js";
import type { Ai, AiMessage } from "../../../ai/ai.ts";
import { toToolError } from "../../../discord/rest/errors.ts";
import { within } from "../../../lib/wait.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { languageOf, render, type Said, said, sayIn } from "../../../texts/texts.ts";
import type { AskedCalls } from "../../approval/asked-calls.ts";
import { answerPrivately, deferPrivately } from "../../commands/answer.ts";
import type { ComponentHandler, ComponentInteraction } from "../../commands/components.ts";
import type { Feature, FeatureOptions, MenuHandler } from "../../commands/feature.ts";
import { GuildSemaphores } from "../../commands/guild-semaphores.ts";
import { buttonRow } from "../../messages/buttons.ts";
import { noMentions } from "../../messages/split-message.ts";
import type { Routine, Turn } from "../../store/tables/chat.ts";
import type { Person } from "../../store/tables/privacy.ts";
import { ignoreUnavailable } from "../../store/unavailable.ts";
import { answerQuestion, createMessageApi, isGone, readNonce } from "./chat-answer.ts";
import { type Budget, createBudget, createNotices } from "./chat-budget.ts";
import { type Conversations, createConversations } from "./chat-conversations.ts";
import { createPlans, type PlanMessage, type Plans } from "./chat-plans.ts";
import { systemPrompt, toAiMessages } from "./chat-prompt.ts";
import { isForgetting, type Question, questionOf, readQuestion, sanitize } from "./chat-question.ts";
import { Run } from "./chat-run.ts";
import { hasTools, Session } from "./chat-tools.ts";
import { type Community, createCommunity } from "./community.ts";
import { PrivateTexts } from "./private-texts.ts";
import { createRoutines, type Routines } from "./routines.ts";

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
const answerLimits = { max: 3, maxWaiting: 10, maxOwnWaiting: 2, maxWaitMs: 60_000 };
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
	const { config, ai, log } = options;
	if (!config.toml.features.chat) return {};
	if (ai) return new Chat({ ...options, ai, ...defaultTiming, ...timing });
	log.info("features.chat has no effect: no AI provider configured");
	return {};
}

interface ChatOptions extends ChatFeatureOptions, ChatTiming {
	ai: Ai;
}

/** How an answer differs from one to a mention. */
interface Way {
	/** The message that the question continues; null: none. Default: the latest answer. */
	continues?: string | null | undefined;
	/** Who asked reads the answer here alone, and it is not remembered. */
	interaction?: RepliableInteraction;
	/** For which its plan can be carried out. */
	planMs?: number;
}

class Chat implements Feature {
	readonly menus: readonly MenuHandler[];
	readonly components: readonly ComponentHandler[];
	readonly #semaphores = new GuildSemaphores(answerLimits);
	readonly #mayNotify = createNotices();
	readonly #conversations: Conversations;
	readonly #budget: Budget;
	readonly #community: Community;
	readonly #plans: Plans;
	readonly #routines: Routines;
	readonly #privateTexts = new PrivateTexts();
	readonly #runs = new Map<Run, Promise<unknown>>();
	#closed = false;

	constructor(private readonly options: ChatOptions) {
		const { config, askedCalls: calls, chatPrivacy } = options;
		this.#conversations = createConversations({ ...options, keepDays: config.toml.chat.keep_days });
		this.#budget = createBudget({ ...options, timezone: config.timezone });
		this.#community = createCommunity(options);
		this.#plans = createPlans({ ...options, calls, onDone: (...done) => this.#privateTexts.add(...done) });
		this.#routines = createRoutines({
			...options,
			timezone: config.timezone,
			run: (...asked) => this.#runRoutine(...asked),
		});
		chatPrivacy.onErase = (person) => this.#erase(person);
		const ask: MenuHandler = {
			type: "slash",
			name: "ask",
			options: [{ name: "question", kind: "text", required: true, min: 1, max: maxQuestionLength }],
			run: (interaction) => this.#askPrivately(interaction, interaction.options.getString("question", true)),
		};
		this.menus = [ask, this.#routines.command];
		const show: ComponentHandler = { prefix: showPrefix, run: (interaction) => this.#show(interaction) };
		this.components = [this.#plans.component, this.#routines.component, show];
	}

	start(): void {
		this.#conversations.start();
		this.#routines.start();
	}

	attach(client: Client): void {
		const { config, log } = this.options;
		this.#community.attach(client);
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
		const deleteMessages = (ids: readonly string[]) => {
			this.#noteDeleted(ids);
			this.#conversations.deleteMessages(ids);
		};
		ws.on(MessageDelete, ({ id }: { id: string }) => deleteMessages([id]));
		ws.on(MessageDeleteBulk, ({ ids }: { ids: string[] }) => deleteMessages(ids));
		for (const event of [ChannelDelete, ThreadDelete] as const)
			ws.on(event, ({ id }: { id: string }) => {
				// Discord sends no event for the channel's threads. discord.js still caches them at this moment.
				const { cache } = client.channels;
				const ids = [id, ...cache.filter((channel) => channel.isThread() && channel.parentId === id).keys()];
				this.#noteDeleted(ids);
				this.#conversations.deleteChannels(ids);
			});
	}

	async close(): Promise<void> {
		await this.#routines.close();
		this.#closed = true;
		for (const run of this.#runs.keys()) run.end("restart");
		await within(shutdownGraceMs, Promise.allSettled(this.#runs.values()));
		for (const run of this.#runs.keys()) run.stop();
		await this.#conversations.close();
	}

	/** All that is in memory of a person in a guild. */
	#erase(person: Person): void {
		this.#noteDeleted([`${person.guild} ${person.user}`]);
		this.#conversations.erase(person);
		this.#privateTexts.erase(person.user);
	}

	#noteDeleted(ids: readonly string[]): void {
		for (const run of this.#runs.keys()) run.noteDeleted(ids);
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
		run.noteAnswer(index, id);
		const parent_id = answerIds[index - 1] ?? question.id;
		const told = { message_id: id, parent_id, role: "assistant", content: sanitize(content ?? "") } as const;
		this.#store(run, { ...turnOf(question), ...told });
	}

	#store(run: Run, turn: Omit<Turn, "at">): void {
		if (run.mayStore(turn.message_id)) this.#conversations.add(turn);
	}

	async #handle(question: Question): Promise<void> {
		const { guildId, text, mentionsBot, repliesTo } = question;
		// Discord hides the text of messages that do not mention the bot.
		if (!mentionsBot && text === "") return;
		// A reply to a message that is not part of a conversation, such as an alert, is not for the AI.
		const chain = repliesTo === undefined ? undefined : await this.#conversations.chain(repliesTo);
		const elsewhere = this.#budget.elsewhere(guildId, question);
		if (!mentionsBot && (chain === undefined || elsewhere)) return;
		const continues = Array.isArray(chain) ? repliesTo : undefined;
		const asked = () =>
			this.#ask(question, { continues }).catch((error): undefined => this.#logFailure(question, error));
		const why = text === "" ? (elsewhere ?? said("chat.empty")) : await asked();
		if (why?.key === "chat.restart") await this.#reply(why, question);
		else if (why && this.#mayNotify(guildId, question.userId)) await this.#reply(why, question);
	}

	/** /ask */
	async #askPrivately(interaction: RepliableInteraction & { guildId: string }, text: string): Promise<void> {
		await deferPrivately(interaction);
		const { id, guildId, channelId, locale, user } = interaction;
		const member = this.options.connection.guild(guildId)?.members.cache.get(user.id);
		if (!member) throw new SaidError(said("refusal.offline"));
		await this.options.settings.ready();
		const question = questionOf(member, { id, channelId: channelId ?? "", text, language: languageOf(locale) });
		const why = await this.#ask(question, { interaction });
		if (why) throw new SaidError(why);
	}

	async #runRoutine({ id, channel_id: channelId, question: text }: Routine, member: GuildMember): Promise<void> {
		const { log, settings } = this.options;
		await settings.ready();
		const question = questionOf(member, { id: String(SnowflakeUtil.generate()), channelId, text });
		const asked = this.#ask(question, { continues: null, planMs: routinePlanMs });
		const why = await asked.catch((error): undefined => this.#logFailure(question, error));
		if (why) log.warn("a routine of AI chat was not answered", { routine: id, reason: render(why, "en") });
	}

	/** Answers when it is the question's turn. Returns why not. */
	async #ask(question: Question, way: Way): Promise<Said | undefined> {
		const refusal = await this.#budget.take(question.guildId, question.userId, question);
		if (refusal) return refusal;
		const run = new Run(question);
		const running = this.#inTurn(run, way);
		this.#runs.set(run, running);
		// The bot may have closed since the question arrived.
		if (this.#closed) run.end("restart");
		return running.finally(() => this.#runs.delete(run));
	}

	async #inTurn(run: Run, way: Way): Promise<Said | undefined> {
		const { question, ending } = run;
		const { guildId, userId } = question;
		let release: (() => void) | string;
		try {
			release = await this.#semaphores.acquire(guildId, userId, ending);
		} catch {
			// Waiting for a slot rejects only when the run ends.
			return ending.reason === "restart" ? said("chat.restart") : undefined;
		}
		if (typeof release === "string") return said("chat.busy");
		const { answerTimeoutMs } = this.options;
		const maxMs = hasTools(this.options, guildId) ? Math.min(maxToolAnswerMs, answerTimeoutMs) : answerTimeoutMs;
		const timer = setTimeout(() => run.end("timeout"), maxMs);
		run.hasAnswer = true;
		try {
			return await this.#answer(run, way);
		} finally {
			clearTimeout(timer);
			release();
		}
	}

	async #answer(run: Run, way: Way): Promise<Said | undefined> {
		const { chatPrivacy, log } = this.options;
		const { question, ending, stopped } = run;
		const { guildId, channelId, userId, text } = question;
		if (!way.interaction && isForgetting(text)) return void (await this.#forget(question, way.continues));
		const isOff = await chatPrivacy.off(guildId).catch(ignoreUnavailable);
		if (!isOff || isOff(userId)) return said(isOff ? "chat.off" : "error.database");
		const { turns, isPrivate } = await this.#turns(run, way, isOff);
		const session = new Session(this.options, question, isPrivate, isOff);
		const { system, links } = await this.#instructions(session);
		const own = turns.filter(({ role, user_id }) => role === "user" && user_id === userId);
		const whole = await answerQuestion({
			answer: (messages, given) => session.answer(messages, given),
			messages: [system, ...toAiMessages(turns)],
			isPrivate: () => session.isPrivate,
			isSilent: way.interaction !== undefined,
			question,
			log,
			linkSources: [...links, ...own.map(({ content }) => content)],
			editIntervalMs: () => this.options.editIntervalMs * this.#answersIn(channelId),
			ending,
			stopped,
			onUse: (tokens, outcome) => this.#budget.spend(guildId, userId, tokens, outcome),
			onPart: (part, index) => this.#noteAnswer(run, index, part.id, part.text),
		});
		if (!stopped.aborted) await this.#conclude(run, session, whole, way);
		return undefined;
	}

	/** The conversation, with the question. `isPrivate`: it holds what only the person was told. */
	async #turns(
		run: Run,
		{ continues, interaction }: Way,
		isOff: (userId: string) => boolean,
	): Promise<{ turns: readonly Omit<Turn, "at">[]; isPrivate: boolean }> {
		const { question } = run;
		const asked = turnOf(question);
		if (interaction) return { turns: [asked], isPrivate: true };
		const parent_id = continues === undefined ? ((await this.#latest(question)) ?? null) : continues;
		this.#store(run, { ...asked, parent_id });
		const found = await this.#conversations.chain(question.id);
		const stored = Array.isArray(found) ? found.filter(({ user_id }) => !isOff(user_id)) : [];
		return this.#privateTexts.known(stored, question.userId);
	}

	/** And texts whose links the answer may repeat. */
	async #instructions({ asker, hasTools }: Session): Promise<{ system: AiMessage; links: readonly string[] }> {
		const { config, now } = this.options;
		const facts = await this.#community.facts(asker.guildId);
		const links = [config.personality ?? "", facts?.rules ?? "", ...Object.values(facts?.tags ?? {})];
		return { system: { role: "system", content: systemPrompt(config, now(), hasTools, facts) }, links };
	}

	/** The button under an answer that only who asked may read. */
	async #show(interaction: ComponentInteraction): Promise<void> {
		if (!interaction.isButton()) return;
		await deferPrivately(interaction);
		const kept = this.#privateTexts.get(interaction.message.id);
		if (!kept) throw new SaidError(said("ask.gone"));
		if (kept.userId !== interaction.user.id) throw new SaidError(said("ask.others", { who: `<@${kept.userId}>` }));
		await showPrivately(interaction, kept.text, () => kept.plan);
	}

	/** The person's part of the conversation. */
	async #forget(question: Question, continues: Way["continues"]): Promise<void> {
		const chain = await this.#conversations.chain(continues ?? (await this.#latest(question)) ?? "");
		const own = Array.isArray(chain) ? chain.filter(({ user_id }) => user_id === question.userId) : [];
		this.#conversations.deleteMessages(own.map(({ message_id }) => message_id));
		await this.#reply(said("ask.forgotten"), question);
	}

	/** The answer that a question continues: in a thread the latest, elsewhere the person's. */
	#latest({ channelId, userId, isThread }: Question): Promise<string | undefined> {
		return this.#conversations.latest(channelId, isThread ? undefined : userId);
	}

	/** What the person alone may read stands behind a button. */
	async #conclude(run: Run, session: Session, whole: string | undefined, { interaction, planMs }: Way): Promise<void> {
		const { connection, now } = this.options;
		const { question, answerIds } = run;
		const { userId, language } = question;
		const { asker, planned } = session;
		const expiresAt = planMs === undefined ? undefined : now() + planMs;
		const planFor = (answerId: string) =>
			planned.length > 0 ? this.#plans.show(asker, planned, { answerId, expiresAt }) : undefined;
		if (interaction) return showPrivately(interaction, whole ?? "", () => planFor(""));
		const channel = connection.discord.channels.cache.get(question.channelId);
		if (!channel?.isSendable()) return;
		if (whole === undefined) {
			const plan = await planFor(answerIds.at(-1) ?? "");
			return void (plan && (await channel.send(plan)));
		}
		const say = sayIn(language);
		const label = say("ask.show.button");
		const notice = await channel.send({
			content: say("ask.private", { who: `<@${userId}>` }),
			components: [buttonRow([{ id: showPrefix, label, style: ButtonStyle.Primary }])],
			allowedMentions: noMentions,
		});
		this.#noteAnswer(run, answerIds.length, notice.id, "");
		// Without the plan if the store is down.
		const plan = await planFor(notice.id)?.catch(ignoreUnavailable);
		this.#privateTexts.add(notice.id, { userId, text: whole, plan });
	}

	#answersIn(channelId: string): number {
		return [...this.#runs.keys()].filter((run) => run.hasAnswer && run.question.channelId === channelId).length;
	}

	async #reply(sentence: Said, question: Question): Promise<void> {
		try {
			await createMessageApi(question).send(render(sentence, question.language), 0);
		} catch (error) {
			this.#logFailure(question, error);
		}
	}

	/** Logs why a question could not be answered, unless the question was deleted. Rethrows internal errors. */
	#logFailure({ guildId, channelId }: Question, error: unknown): undefined {
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

function turnOf({ id, guildId, channelId, userId, name, text }: Question): Omit<Turn, "at"> {
	const about = { guild_id: guildId, channel_id: channelId, user_id: userId, name };
	return { ...about, message_id: id, parent_id: null, role: "user", content: text };
}

/** The plan last: the text is shown, too, if the plan cannot be stored. */
async function showPrivately(
	interaction: RepliableInteraction,
	text: string,
	planOf: () => PlanMessage | Promise<PlanMessage> | undefined,
): Promise<void> {
	await answerPrivately(interaction, text);
	const plan = await planOf();
	if (plan) await interaction.followUp({ ...plan, flags: MessageFlags.Ephemeral });
}
