// How many commands each person can use in a guild, and how many run at once.

import type { Log } from "../../lib/log.ts";
import type { Action } from "./action.ts";
import { Limiter, tooOften, tooOftenOnce } from "./cooldown.ts";
import type { Holds } from "./help.ts";

const commandLimits = { max: 5, windowMs: 10_000 } as const;

/**
 * Rate limit for moderators: `max` commands in `windowMs` milliseconds. Heavy actions have a separate limiter with the
 * same numbers. So do commands that failed because of a mistake, such as a wrong argument; beyond that limit, mistakes
 * count as commands.
 */
const moderatorLimits = { max: 30, windowMs: 60_000 } as const;

const maxConcurrent = 100;

/**
 * Weight of a command, which selects its rate limiter. "heavy": a moderator's action that costs Discord much, such as a
 * ban. "light": a moderator's other commands. "open": a command that everyone can use.
 */
export type Weight = "heavy" | "light" | "open";

export interface LimitedRun {
	/** Ids of the guild and of the person who uses the command. */
	guildId: string;
	userId: string;
	weight: Weight;
	/** Rate limiter of this command alone. Default: the limiter of the command's weight. */
	limiter?: Limiter | undefined;
	/**
	 * Whether only the first refused command gets a reply, until a command is accepted again. Otherwise each one gets a
	 * reply.
	 */
	tellsOnce: boolean;
}

/** Result of a command. `isMistake`: it failed because of the person's mistake, before it changed anything. */
export interface Ran<Answer> {
	answer: Answer;
	isMistake: boolean;
}

export type CommandLimits = ReturnType<typeof createCommandLimits>;

/** Creates the rate limiters of all commands. `open` is the limiter for commands that everyone can use. */
export function createCommandLimits(open = new Limiter(commandLimits)) {
	const byWeight: Record<Weight, Limiter> = {
		heavy: new Limiter(moderatorLimits),
		light: new Limiter(moderatorLimits),
		open,
	};
	const mistakes = new Limiter(moderatorLimits);

	return {
		async run<Answer>(
			{ guildId, userId, weight, limiter: own, tellsOnce }: LimitedRun,
			work: () => Promise<Ran<Answer>>,
		): Promise<Answer | string | undefined> {
			const limiter = own ?? byWeight[weight];
			const key = `${guildId} ${userId}`;
			const tell = tellsOnce ? tooOftenOnce : (by: Limiter, { waitS }: { waitS: number }) => tooOften(by, waitS);
			const attempt = limiter.take(key);
			if (attempt.waitS > 0) return tell(limiter, attempt);
			const { answer, isMistake } = await work();
			if (!isMistake || weight === "open") return answer;
			const mistake = mistakes.take(key);
			// Mistakes beyond their limit count as commands, because each can cost requests to Discord.
			if (mistake.waitS > 0) return tell(mistakes, mistake);
			limiter.refund(key);
			return answer;
		},
	};
}

/** Limits how many commands run at the same time, by guild and weight. */
export function createConcurrencyLimit(log: Log, logIntervalMs = 10_000) {
	const running = new Map<string, number>();
	let ignored = 0;

	/**
	 * Counts a command that was ignored because too many were running. Logs how many were ignored once per interval, so
	 * that a flood of commands does not fill the log.
	 */
	function noteIgnored(): void {
		ignored += 1;
		if (ignored > 1) return;
		setTimeout(() => {
			log.warn("commands ignored: too many were running at once", {
				commands: ignored,
			});
			ignored = 0;
		}, logIntervalMs).unref();
	}

	return {
		run(guildId: string, weight: Weight, work: () => Promise<void>): boolean {
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
		},
	};
}

export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>;

/** Returns the weight of a command for a person whose permissions are given by `holds`. */
export function weightOf(
	{
		permission,
		heavy = false,
	}: {
		permission?: Action["permission"] | undefined;
		heavy?: boolean | undefined;
	},
	holds: Holds,
): Weight {
	if (permission === undefined || !holds(permission)) return "open";
	return heavy ? "heavy" : "light";
}
