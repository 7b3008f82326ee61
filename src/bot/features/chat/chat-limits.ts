// How much of AI chat there is at once: for a person, for a guild, and how often people are told that it is too much.

/** Questions of a person within `windowMs`. */
export const maxQuestions = 10;
const windowMs = 60_000;
/** Of a person: one is answered, and so many wait. */
const maxWaitingPerPerson = 2;
/** In a guild. */
const maxAtOnce = 3;
const maxWaiting = 10;
/** Whose turn has not come by then is told to come back. */
const maxWaitMs = 60_000;
/** So many people in a guild are told within `windowMs` that it is too much. */
const maxNotices = 5;
/** People that are kept in mind; of more, the oldest are forgotten. */
const maxPeople = 10_000;

export interface LimitsOptions {
	/** Milliseconds of the monotonic clock. */
	now?: () => number;
	maxWaitMs?: number;
}

export interface Limits {
	/** Counts a question; false: it is one too many. */
	ask(userId: string): boolean;
	/** Whether to tell a person that it is too much: once in a while, and not everybody at the same time. */
	mayTell(guildId: string, userId: string): boolean;
	/** Waits for a turn. Gives what ends it; undefined: there is none to be had. Rejects with the signal's reason. */
	enter(
		guildId: string,
		userId: string,
		signal: AbortSignal,
	): Promise<(() => void) | undefined>;
}

export function createLimits({
	now = () => performance.now(),
	...options
}: LimitsOptions = {}): Limits {
	const questions = createWindow(maxQuestions, now);
	const told = createWindow(1, now);
	const notices = createWindow(maxNotices, now);
	const gates = new Map<string, Gate>();

	return {
		ask: (userId) => questions.take(userId),
		mayTell: (guildId, userId) =>
			notices.has(guildId) && told.take(userId) && notices.take(guildId),
		async enter(guildId, userId, signal) {
			const gate = gates.get(guildId) ?? new Gate();
			gates.set(guildId, gate);
			const tidy = () => {
				if (gate.idle) gates.delete(guildId);
			};
			const mostMs = options.maxWaitMs ?? maxWaitMs;
			const entered = await gate.enter(userId, signal, mostMs).finally(tidy);
			if (!entered) return undefined;
			return () => {
				gate.leave(userId);
				tidy();
			};
		},
	};
}

/** So many of something within `windowMs`, by key. */
function createWindow(most: number, now: () => number) {
	/** In the order of the latest. */
	const times = new Map<string, number[]>();
	const recent = (key: string) =>
		(times.get(key) ?? []).filter((at) => at > now() - windowMs);
	return {
		has: (key: string) => recent(key).length < most,
		take(key: string): boolean {
			for (const [id, all] of times) {
				const old = (all.at(-1) ?? 0) <= now() - windowMs;
				if (!old && times.size < maxPeople) break;
				times.delete(id);
			}
			const taken = recent(key);
			if (taken.length >= most) return false;
			times.delete(key);
			times.set(key, [...taken, now()]);
			return true;
		},
	};
}

interface Waiting {
	userId: string;
	go(entered: boolean): void;
}

/** A guild's answers: those that are under way, and whoever waits, first come, first served. */
class Gate {
	readonly #inside: string[] = [];
	#waiting: readonly Waiting[] = [];

	get idle(): boolean {
		return this.#inside.length + this.#waiting.length === 0;
	}

	/** Resolves with whether there is a turn. */
	async enter(
		userId: string,
		signal: AbortSignal,
		maxMs: number,
	): Promise<boolean> {
		signal.throwIfAborted();
		if (this.#admits(userId)) {
			this.#inside.push(userId);
			return true;
		}
		const own = this.#waiting.filter((one) => one.userId === userId).length;
		if (own >= maxWaitingPerPerson || this.#waiting.length >= maxWaiting)
			return false;
		const { promise, resolve } = Promise.withResolvers<boolean>();
		const waiting = { userId, go: resolve };
		this.#waiting = [...this.#waiting, waiting];
		const giveUp = () => {
			this.#waiting = this.#waiting.filter((one) => one !== waiting);
			resolve(false);
		};
		const timer = setTimeout(giveUp, maxMs);
		signal.addEventListener("abort", giveUp, { once: true });
		const entered = await promise;
		clearTimeout(timer);
		signal.removeEventListener("abort", giveUp);
		if (signal.aborted && entered) this.leave(userId);
		signal.throwIfAborted();
		return entered;
	}

	leave(userId: string): void {
		const index = this.#inside.indexOf(userId);
		if (index >= 0) this.#inside.splice(index, 1);
		for (const waiting of this.#waiting)
			if (this.#admits(waiting.userId)) {
				this.#waiting = this.#waiting.filter((one) => one !== waiting);
				this.#inside.push(waiting.userId);
				waiting.go(true);
			}
	}

	#admits(userId: string): boolean {
		return this.#inside.length < maxAtOnce && !this.#inside.includes(userId);
	}
}
