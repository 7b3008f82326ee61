// What AI chat may use: where it answers and whom, questions of a person, tokens of a person and of the guild. Days and months
// are those of the bot's time zone.

import type { Log } from "../../../lib/log.ts";
import type { Registry } from "../../../lib/metrics.ts";
import { type Said, said } from "../../../texts/texts.ts";
import { Limiter } from "../../commands/cooldown.ts";
import type { GuildSettings } from "../../settings/guild-settings.ts";
import type { Store } from "../../store/store.ts";
import { addTokens, countQuestion, selectUse } from "../../store/tables/chat-use.ts";
import { ignoreUnavailable } from "../../store/unavailable.ts";

interface Place {
	channelId: string;
	/** Of a thread, its channel. */
	parentId: string | undefined;
	/** Those of the person. */
	roles: readonly string[];
}

interface BudgetOptions {
	store: Pick<Store, "sql">;
	settings: Pick<GuildSettings, "of">;
	log: Log;
	/** Epoch milliseconds. */
	now(): number;
	timezone: string;
	registry?: Registry | undefined;
}

export type Budget = ReturnType<typeof createBudget>;

export function createBudget({ store: { sql }, settings, log, now, timezone, registry }: BudgetOptions) {
	// By the maximum, which a guild can change.
	const limiters = new Map<number, Limiter>();
	const outcomes = registry?.counter(
		"guildhall_bot_chat_questions_total",
		"Questions of AI chat by outcome: answered, failed, or limited by the guild's settings.",
		["outcome"],
	);
	const today = () => dayAt(now(), timezone);

	async function overLimit(guildId: string, userId: string): Promise<Said | undefined> {
		const values = settings.of(guildId);
		const perMinute = values["chat.questions_a_minute"];
		const limiter = limiters.get(perMinute) ?? new Limiter({ max: perMinute, windowMs: 60_000, now });
		limiters.set(perMinute, limiter);
		if (limiter.take(`${guildId} ${userId}`).waitS > 0) return said("chat.rate-limited", { count: perMinute });
		const { day, month } = today();
		const reached = (use: number, max = Number.POSITIVE_INFINITY) => use >= max;
		const ofGuild = await selectUse(sql, guildId, day, month);
		if (reached(ofGuild.tokensThisMonth, values["chat.tokens_a_month"])) return said("chat.limit.guild.month");
		if (reached(ofGuild.tokensToday, values["chat.tokens_a_day"])) return said("chat.limit.guild.day");
		const own = await selectUse(sql, guildId, day, month, userId);
		if (reached(own.tokensThisMonth, values["chat.person_tokens_a_month"])) return said("chat.limit.month");
		if (reached(own.tokensToday, values["chat.person_tokens_a_day"])) return said("chat.limit.day");
		const one = { guild_id: guildId, day, user_id: userId };
		const isCounted = await countQuestion(sql, one, values["chat.questions_a_day"]);
		return isCounted ? undefined : said("chat.limit.day");
	}

	/** Why nothing is answered there, or to this person. */
	function elsewhere(guildId: string, { channelId, parentId = channelId, roles }: Place): Said | undefined {
		const { "chat.channels": channels, "chat.roles": allowed } = settings.of(guildId);
		const isOpen = channels.length === 0 || channels.includes(channelId) || channels.includes(parentId);
		if (!isOpen) return said("chat.elsewhere");
		return allowed.length === 0 || allowed.some((id) => roles.includes(id)) ? undefined : said("chat.without-role");
	}

	return {
		elsewhere,
		/**
		 * Counts a question. Undefined if it may be answered, else the sentence for the person. Tokens of answers that are still
		 * being written do not count yet. While the store is down, only the limit of questions a minute holds.
		 */
		async take(guildId: string, userId: string, place: Place): Promise<Said | undefined> {
			const refusal = elsewhere(guildId, place);
			if (refusal) return refusal;
			const limit = await overLimit(guildId, userId).catch(ignoreUnavailable);
			if (limit) outcomes?.add(["limited"]);
			return limit;
		},
		/** After an answer, also one that failed midway. Never rejects. While the store is down, tokens are not counted. */
		async spend(
			guildId: string,
			userId: string,
			tokens: number,
			outcome: "answered" | "failed" = "answered",
		): Promise<void> {
			outcomes?.add([outcome]);
			const one = { guild_id: guildId, day: today().day, user_id: userId };
			await addTokens(sql, one, Math.ceil(tokens))
				.catch(ignoreUnavailable)
				.catch((error) => log.error("AI chat: could not count tokens: internal error", { error }));
		},
		use(guildId: string) {
			const { day, month } = today();
			return selectUse(sql, guildId, day, month);
		},
	};
}

/** The date, and the first of its month, as UTC midnights in epoch milliseconds. */
function dayAt(at: number, timeZone: string) {
	// In Swedish, dates are written as in ISO 8601.
	const date = new Intl.DateTimeFormat("sv", { dateStyle: "short", timeZone }).format(at);
	return { day: Date.parse(date), month: Date.parse(`${date.slice(0, 8)}01`) };
}

/** Where the provider reports no usage. */
export const estimateTokens = (...texts: readonly string[]): number =>
	texts.reduce((sum, { length }) => sum + length, 0) / 4;
