// In which guilds of which bots a person is, as the bots say. The gateway shows a person no other guilds; what the person may
// do in a guild is checked by its bot at each call.

import { LruMap } from "../../lib/lru-map.ts";
import type { Signal } from "../../lib/signal.ts";
import { raceSignal, within } from "../../lib/wait.ts";
import type { PersonRights } from "../../mcp/rights.ts";
import type { Backend } from "../backends/backend.ts";
import type { AskRights } from "../oauth/people/rights.ts";

/** Milliseconds for which a bot is not asked again about a person. */
const freshMs = 5_000;
const staleMs = 5 * 60_000;
const requestTimeoutMs = 2_000;
const maxEntries = 10_000;

interface Entry {
	askedAt: number;
	/** Settles when the bot has answered or failed; never rejects. Undefined if it is not being asked. */
	asking: Promise<void> | undefined;
	answer: { rights: PersonRights; at: number } | undefined;
}

export class Rights {
	readonly #entries = new LruMap<string, Entry>(maxEntries);

	/** `now`: a monotonic clock in milliseconds. `limit`: ends a request to a bot after 2 s. */
	constructor(
		private readonly now: () => number = () => performance.now(),
		private readonly limit: () => Signal = () => AbortSignal.timeout(requestTimeoutMs),
	) {}

	/**
	 * Asks the bots in which of their guilds a person is. Skips bots that were asked within the last `maxAgeMs`. Resolves
	 * when each bot has answered or has failed to answer within 2 s, or when `signal` aborts. If a bot is away and its
	 * last answer is too old, waits until the bot is back or offline, because the person's call waits for it too. Never
	 * rejects.
	 */
	async load(backends: readonly Backend[], personId: string, signal: Signal, maxAgeMs = freshMs): Promise<void> {
		const asking = backends.flatMap((backend): Promise<unknown>[] => {
			const asked = this.#ask(backend, personId, maxAgeMs);
			if (!asked) return [];
			const isKnown = this.known(backend, personId) !== undefined;
			return [isKnown ? within(requestTimeoutMs, asked) : asked];
		});
		if (asking.length === 0) return;
		await raceSignal(Promise.all(asking), signal).catch(() => {});
	}

	/** Undefined if the bot has not answered within the last `maxAgeMs`. */
	known({ name }: Backend, personId: string, maxAgeMs = staleMs): PersonRights | undefined {
		const { answer } = this.#entries.get(`${name} ${personId}`) ?? {};
		return answer && this.now() - answer.at < maxAgeMs ? answer.rights : undefined;
	}

	#ask(backend: Backend, personId: string, maxAgeMs: number): Promise<void> | undefined {
		const entry = this.#entries.getOrMake(
			`${backend.name} ${personId}`,
			(): Entry => ({ askedAt: Number.NEGATIVE_INFINITY, asking: undefined, answer: undefined }),
		);
		if (entry.asking) return entry.asking;
		const at = this.now();
		if (at - entry.askedAt < maxAgeMs) return undefined;
		entry.askedAt = at;
		entry.asking = this.#request(backend, personId)
			.then(
				(rights) => {
					entry.answer = { rights, at };
				},
				// The last answer stays. The backend has noted whether it is offline.
				() => {},
			)
			.finally(() => {
				entry.asking = undefined;
			});
		return entry.asking;
	}

	async #request(backend: Backend, personId: string): Promise<PersonRights> {
		for (;;) {
			const signal = this.limit();
			try {
				return await backend.rights(personId, signal);
			} catch (error) {
				if (!signal.aborted || !backend.state.away) throw error;
			}
		}
	}
}

/**
 * Returns a function that asks the bots in which of their guilds a person is. It caches nothing, so that a change of
 * the person's roles takes effect at once. It also returns undefined for offline bots: otherwise a gateway that
 * starts before its bots would refuse people and end their connections. It resolves within 2 s and never rejects.
 */
export function createAskRights(rights: Rights, backends: readonly Backend[]): AskRights {
	return async ({ id }) => {
		const asked = backends.filter(({ acceptsPrincipals, state }) => acceptsPrincipals || !state.online);
		await rights.load(asked, id, AbortSignal.timeout(requestTimeoutMs), 0);
		return asked.map((backend) => rights.known(backend, id, freshMs + requestTimeoutMs));
	};
}
