// One question to the AI: with tools where the guild's settings say so, and who may read the answer.

import type { Guild, GuildMember } from "discord.js";
import type { Ai, AiMessage, AnswerOptions } from "../../../ai/ai.ts";
import type { AskedCalls, Asker, ShownCall } from "../../approval/asked-calls.ts";
import type { FeatureOptions } from "../../commands/feature.ts";
import { mayAllKnow } from "./chat-audience.ts";
import type { Question } from "./chat-question.ts";
import { answerWithTools } from "./chat-tools.ts";

export interface SessionOptions extends Pick<FeatureOptions, "connection" | "settings"> {
	ai: Ai;
	askedCalls: AskedCalls;
}

/** Whether the guild lets the AI use tools. */
export function hasTools({ settings }: Pick<SessionOptions, "settings">, guildId: string): boolean {
	return settings.of(guildId)["chat.tools"];
}

export class Session {
	planned: readonly ShownCall[] = [];
	readonly asker: Asker;
	readonly #guild: Guild | undefined;
	readonly #member: GuildMember | undefined;

	/** `isPrivate`: only the asker may read the answer, even without tool calls. `isOff`: who has AI chat off. */
	constructor(
		private readonly options: SessionOptions,
		private readonly question: Question,
		public isPrivate: boolean,
		isOff: (userId: string) => boolean,
	) {
		const { guildId, userId, displayName, link, language } = question;
		this.asker = { guildId, person: { id: userId, name: displayName }, link, language, hides: isOff };
		this.#guild = options.connection.guild(guildId);
		this.#member = hasTools(options, guildId) ? this.#guild?.members.cache.get(userId) : undefined;
	}

	get hasTools(): boolean {
		return this.#member !== undefined;
	}

	/** Pieces of the answer's text. */
	answer(messages: readonly AiMessage[], given: AnswerOptions & { signal: AbortSignal }): AsyncIterable<string> {
		const { ai, askedCalls: calls } = this.options;
		const member = this.#member;
		if (!member) return ai.answer(messages, given);
		const onCalls = (planned: readonly ShownCall[]) => this.#noteCalls(planned, member);
		return answerWithTools(ai, { ...given, calls, asker: this.asker, member, messages, onCalls });
	}

	async #noteCalls(planned: readonly ShownCall[], member: GuildMember): Promise<void> {
		this.planned = planned;
		if (this.isPrivate) return;
		const { connection, settings: grants } = this.options;
		const channel = this.#guild?.channels.cache.get(this.question.channelId);
		const hasAllMembers = this.#guild !== undefined && connection.hasAllMembers(this.#guild);
		this.isPrivate = !channel?.isTextBased() || !(await mayAllKnow(channel, member, { hasAllMembers, grants }));
	}
}
