// How many commands each person can use in a guild, and how many run at once.

import type { Log } from "../../lib/log.ts";
import { languageOf, render } from "../../texts/texts.ts";
import { type Attempt, Limiter, tooOften, tooOftenOnce } from "./cooldown.ts";
import { type Holds, permissionOf, type Restricted } from "./who-may.ts";

const commandLimits = { max: 5, windowMs: 10_000 } as const;

// For moderators. Heavy actions and mistakes have limiters of their own with these numbers; further mistakes count.
const moderatorLimits = { max: 30, windowMs: 60_000 } as const;

const maxConcurrent = 100;

/** "heavy": costs Discord much, such as a ban. "light": a moderator's other commands. "open": for everyone. */
type Weight = "heavy" | "light" | "open";

export interface LimitedRun {
	guildId: string;
	userId: string;
	weight: Weight;
	/** Default: that of the weight. */
	limiter?: Limiter | undefined;
	/** Only the first refused command gets a reply. */
	tellsOnce: boolean;
	locale: string;
}

/** `isMistake`: failed by the person's mistake, before anything changed. */
export interface Ran<Answer> {
	answer: Answer;
	isMistake: boolean;
}

export type CommandLimits = ReturnType<typeof createCommandLimits>;

/** `open`: for commands that everyone can use. */
export function createCommandLimits(open = new Limiter(commandLimits)) {
	const byWeight: Record<Weight, Limiter> = {
		heavy: new Limiter(moderatorLimits),
		light: new Limiter(moderatorLimits),
		open,
	};
	const mistakes = new Limiter(moderatorLimits);

	return async <Answer>(
		{ guildId, userId, weight, limiter: own, tellsOnce, locale }: LimitedRun,
		work: () => Promise<Ran<Answer>>,
	): Promise<Answer | string | undefined> => {
		const limiter = own ?? byWeight[weight];
		const key = `${guildId} ${userId}`;
		const tell = (by: Limiter, refused: Attempt) => {
			const text = tellsOnce ? tooOftenOnce(by, refused) : tooOften(by, refused.waitS);
			return text && render(text, languageOf(locale));
		};
		const attempt = limiter.take(key);
		if (attempt.waitS > 0) return tell(limiter, attempt);
		const { answer, isMistake } = await work();
		if (!isMistake || weight === "open") return answer;
		const mistake = mistakes.take(key);
		// Mistakes beyond their limit count as commands, because each can cost requests to Discord.
		if (mistake.waitS > 0) return tell(mistakes, mistake);
		limiter.refund(key);
		return answer;
	};
}

export function createConcurrencyLimit(log: Log, logIntervalMs = 10_000) {
	const running = new Map<string, number>();
	let ignored = 0;

	// Logs once per interval, so that a flood of commands does not fill the log.
	function noteIgnored(): void {
		ignored += 1;
		if (ignored > 1) return;
		setTimeout(() => {
			log.warn("commands ignored: too many were running at once", { commands: ignored });
			ignored = 0;
		}, logIntervalMs).unref();
	}

	return (guildId: string, weight: Weight, work: () => Promise<void>): boolean => {
		const key = `${guildId} ${weight}`;
		const others = running.get(key) ?? 0;
		if (others >= maxConcurrent) {
			noteIgnored();
			return false;
		}
		running.set(key, others + 1);
		void work().finally(() => {
			const remaining = (running.get(key) ?? 1) - 1;
			if (remaining > 0) running.set(key, remaining);
			else running.delete(key);
		});
		return true;
	};
}

export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>;

export function weightOf(command: Restricted & { heavy?: boolean | undefined }, holds: Holds): Weight {
	if (permissionOf(command) === undefined || !holds(command)) return "open";
	return command.heavy ? "heavy" : "light";
}
