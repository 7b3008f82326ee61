// In which guilds of which bots a person is, as the bots say. The gateway shows a person no other guilds; what the person may
// do in a guild is checked by its bot at each call.

import { LruMap } from "../lib/lru-map.ts";
import type { Signal } from "../lib/signal.ts";
import { raceSignal } from "../lib/wait.ts";
import type { PersonGuild } from "../mcp/rights.ts";
import type { Backend } from "./backend.ts";
import type { AskRights } from "./oauth/rights.ts";

/** Milliseconds for which a bot is not asked again about the same person. */
const freshMs = 5_000;
/** Milliseconds for which the last answer of a bot counts that does not answer any more. */
const staleMs = 5 * 60_000;
const requestTimeoutMs = 2_000;
/** Maximum number of answers about persons that are cached. */
const maxEntries = 10_000;

interface Entry {
	askedAt: number;
	/** Settles when the bot has answered, or has failed to. Never rejects. Undefined if no request is in flight. */
	asking: Promise<void> | undefined;
	/** The last answer, and when the bot was asked for it. */
	answer: { guilds: readonly PersonGuild[]; at: number } | undefined;
}

export class Rights {
	readonly #entries = new LruMap<string, Entry>(maxEntries);

	/** `now` returns the time of a monotonic clock in milliseconds. */
	constructor(private readonly now: () => number = () => performance.now()) {}

	/**
	 * Asks each bot about a person, unless it was asked within the last `maxAgeMs`. Resolves when all have answered, failed to
	 * answer within 2 s, or `signal` aborts. Never rejects.
	 */
	async load(
		backends: readonly Backend[],
		personId: string,
		signal: Signal,
		maxAgeMs = freshMs,
	): Promise<void> {
		const asking = backends.flatMap(
			(backend) => this.#ask(backend, personId, maxAgeMs) ?? [],
		);
		if (asking.length === 0) return;
		await raceSignal(Promise.all(asking), signal).catch(() => {});
	}

	/**
	 * Returns the guilds of a bot in which a person is, by the bot's last answer. Undefined if there is none, or if it is
	 * older than `maxAgeMs`.
	 */
	known(
		{ name }: Backend,
		personId: string,
		maxAgeMs = staleMs,
	): readonly PersonGuild[] | undefined {
		const { answer } = this.#entries.get(`${name} ${personId}`) ?? {};
		return answer && this.now() - answer.at < maxAgeMs
			? answer.guilds
			: undefined;
	}

	#ask(
		backend: Backend,
		personId: string,
		maxAgeMs: number,
	): Promise<void> | undefined {
		const entry = this.#entries.getOrMake(
			`${backend.name} ${personId}`,
			(): Entry => ({
				askedAt: Number.NEGATIVE_INFINITY,
				asking: undefined,
				answer: undefined,
			}),
		);
		if (entry.asking) return entry.asking;
		const at = this.now();
		if (at - entry.askedAt < maxAgeMs) return undefined;
		entry.askedAt = at;
		entry.asking = backend
			.rights(personId, AbortSignal.timeout(requestTimeoutMs))
			.then(
				(guilds) => {
					entry.answer = { guilds, at };
				},
				// The last answer stays. The backend has noted whether it is offline.
				() => {},
			)
			.finally(() => {
				entry.asking = undefined;
			});
		return entry.asking;
	}
}

/**
 * Returns a function that asks all bots that accept principals about a person, each time anew: a lost role ends a
 * connection with the next refresh, and with a new role a person can sign in at once. Bots that are offline count as bots
 * that do not answer, even if it is not known yet whether they accept principals: otherwise a start of the gateway before
 * its bots would end connections. It resolves within 2 s and never rejects.
 */
export function createAskRights(
	rights: Rights,
	backends: readonly Backend[],
): AskRights {
	return async ({ id }) => {
		const asked = backends.filter(
			({ acceptsPrincipals, state }) => acceptsPrincipals || !state.online,
		);
		const signal = AbortSignal.timeout(requestTimeoutMs);
		await rights.load(asked, id, signal, 0);
		return asked.map((backend) => ({
			instance: backend.name,
			guilds: rights.known(backend, id, freshMs + requestTimeoutMs),
		}));
	};
}
