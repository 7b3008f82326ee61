// Queue of presses in role menus (pressed buttons and used select menus). The presses of each guild are handled in
// order of arrival. The number of waiting presses is limited per guild and per member, so a flood in one guild delays
// no other guild.

import { setTimeout as sleep } from "node:timers/promises";
import type { RateLimitState } from "../../../discord/rest/rest.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import { Overloaded, Semaphore } from "../../../lib/semaphore.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { said } from "../../../texts/texts.ts";
import { RateShare } from "../../commands/role-writer.ts";

export interface PressLimits {
	/** Maximum number of presses per guild that are handled at the same time. */
	running: number;
	/** Maximum number of waiting presses per guild. */
	waiting: number;
	/** Maximum number of presses per member and guild, both waiting and being handled. */
	perPerson: number;
	/** Maximum time that a press waits, in milliseconds. Discord accepts responses to an interaction for 15 minutes. */
	waitMs: number;
	/**
	 * How long a member's presses are refused after a request to change the member's roles had an unknown outcome, in
	 * milliseconds. Discord may still execute that request after a later one. The duration is a guess.
	 */
	holdMs: number;
}

export const defaultPressLimits: PressLimits = {
	running: 3,
	waiting: 60,
	perPerson: 3,
	waitMs: 60_000,
	holdMs: 60_000,
};

const maxHeld = 1_000;

const tooMany = said("menu.busy");

interface GuildQueue {
	readonly semaphore: Semaphore;
	readonly people: Map<string, number>;
	readonly share: RateShare;
}

export class PressQueue {
	readonly #guilds = new Map<string, GuildQueue>();
	readonly #held = new LruMap<string, number>(maxHeld);
	readonly #closing = new AbortController();

	constructor(private readonly limits: PressLimits = defaultPressLimits) {}

	/** At the end of the guild's queue. Throws a SaidError for the member if it is full. */
	enter(guildId: string, userId: string) {
		if (this.#closing.signal.aborted) throw restarting();
		const { running: max, waiting: maxWaiting, waitMs: maxWaitMs } = this.limits;
		const queue = this.#guilds.get(guildId) ?? {
			semaphore: new Semaphore({ max, maxWaiting, maxWaitMs }),
			people: new Map(),
			share: new RateShare(),
		};
		const own = queue.people.get(userId) ?? 0;
		if (own >= this.limits.perPerson) throw new SaidError(said("menu.busy.own"));
		const left = new AbortController();
		const turn = takeTurn(queue.semaphore, AbortSignal.any([left.signal, this.#closing.signal]));
		const isGranted = turn.then(
			() => true,
			() => false,
		);
		this.#guilds.set(guildId, queue);
		queue.people.set(userId, own + 1);
		return {
			/** Resolves when the press may be handled. Rejects with a SaidError for the member on a timeout. */
			turn: async () => {
				await turn;
				await this.#pauseOf(queue);
			},
			/** Call it when the press was handled or no longer waits. */
			leave: () => {
				left.abort();
				void isGranted.then((granted) => granted && queue.semaphore.release());
				const rest = (queue.people.get(userId) ?? 1) - 1;
				if (rest > 0) queue.people.set(userId, rest);
				else queue.people.delete(userId);
				if (queue.people.size === 0 && queue.share.waitMs <= 0) this.#guilds.delete(guildId);
			},
		};
	}

	/** Delays the next press until the rate limit resets, if the rest is reserved for tools and commands. */
	note(guildId: string, state: RateLimitState): void {
		this.#guilds.get(guildId)?.share.note(state);
	}

	/** Makes `requireSettled` throw for some time, after a role change of this member had an unknown outcome. */
	hold(guildId: string, userId: string): void {
		const until = performance.now() + this.limits.holdMs;
		this.#held.set(`${guildId} ${userId}`, until);
	}

	/** Throws a SaidError for the member if Discord may still execute an earlier role change. */
	requireSettled(guildId: string, userId: string): void {
		const until = this.#held.get(`${guildId} ${userId}`) ?? -Infinity;
		if (until > performance.now()) throw new SaidError(said("menu.unsettled"));
	}

	/** Refuses new presses and rejects the waiting ones. */
	close(): void {
		this.#closing.abort();
	}

	async #pauseOf(queue: GuildQueue): Promise<void> {
		const until = performance.now() + this.limits.waitMs;
		for (;;) {
			const ms = queue.share.waitMs;
			if (ms <= 0) return;
			if (performance.now() + ms > until) throw new SaidError(tooMany);
			await sleep(ms, undefined, { signal: this.#closing.signal }).catch(() => {
				throw restarting();
			});
		}
	}
}

function takeTurn(semaphore: Semaphore, signal: AbortSignal): Promise<void> {
	const refusal = (error: unknown) => (error instanceof Overloaded ? new SaidError(tooMany) : restarting());
	try {
		return Promise.resolve(semaphore.acquire(signal)).catch((error) => {
			throw refusal(error);
		});
	} catch (error) {
		throw refusal(error);
	}
}

function restarting(): SaidError {
	return new SaidError(said("menu.restarting"));
}
