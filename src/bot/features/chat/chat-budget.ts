// Limits of AI chat: allowed channels and roles, questions per person, tokens per person and per guild. Days and months are
// calendar ones in the bot's time zone.

import { type Said, said } from "../../../texts/texts.ts";
import { Limiter } from "../../commands/cooldown.ts";
import type { FeatureOptions } from "../../commands/feature.ts";
import { addUse, daysAt, selectUse } from "../../store/tables/chat.ts";
import { ignoreUnavailable } from "../../store/unavailable.ts";
import type { Question } from "./chat-question.ts";

type Place = Pick<Question, "channelId" | "parentId" | "roles">;

interface BudgetOptions extends Pick<FeatureOptions, "settings" | "log" | "registry"> {
	store: Pick<FeatureOptions["store"], "sql">;
	/** Epoch milliseconds. */
	now(): number;
	timezone: string;
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
	const daysNow = () => daysAt(now(), timezone);

	async function overLimit(guild_id: string, user_id: string): Promise<Said | undefined> {
		const values = settings.of(guild_id);
		const { "chat.questions_a_minute": max, "chat.questions_a_day": maxToday } = values;
		const limiter = limiters.getOrInsertComputed(max, () => new Limiter({ max, windowMs: 60_000, now }));
		if (!limiter.accepts(`${guild_id} ${user_id}`)) return said("chat.rate-limited", { count: max });
		const days = daysNow();
		for (const [tokens, limit, of] of [
			["chat.tokens", "chat.limit.guild", { guild_id }],
			["chat.person_tokens", "chat.limit", { guild_id, user_id }],
		] as const) {
			const [{ tokens_today: today = 0, tokens_this_month: month = 0 } = {}] = await selectUse(sql, days, of);
			if (month >= (values[`${tokens}_a_month`] ?? Infinity)) return said(`${limit}.month`);
			if (today >= (values[`${tokens}_a_day`] ?? Infinity)) return said(`${limit}.day`);
		}
		const isCounted = await addUse(sql, { guild_id, day: days.day, user_id, questions: 1, tokens: 0 }, maxToday);
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
		async spend(guild_id: string, user_id: string, tokens: number, outcome: "answered" | "failed" = "answered") {
			outcomes?.add([outcome]);
			await addUse(sql, { guild_id, day: daysNow().day, user_id, questions: 0, tokens: Math.ceil(tokens) })
				.catch(ignoreUnavailable)
				.catch((error) => log.error("AI chat: could not count tokens: internal error", { error }));
		},
	};
}

/** Whether a person may be told why a question is not answered: one notice a minute, five in a guild. */
export function createNotices(now = () => performance.now()) {
	const notified = new Limiter({ max: 1, windowMs: 60_000, now });
	const notices = new Limiter({ max: 5, windowMs: 60_000, now });
	return (guildId: string, userId: string) =>
		notices.hasRoom(guildId) && notified.accepts(userId) && notices.accepts(guildId);
}

/** Where the provider reports no usage. */
export const estimateUsage = (sent: unknown, text: string) => ({
	input: Math.ceil(JSON.stringify(sent).length / 4),
	output: Math.ceil(text.length / 4),
});
