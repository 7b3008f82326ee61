// Time that passes only when it is told to: replaces the clock, the timers and the randomness of this process, so that the same
// seed gives the same run. Imported before anything that reads the clock. Work between two timers takes no time.

const real = { setImmediate, setTimeout, setInterval, clearTimeout, Date };
/** Then it passes as fast as real time. */
export const isWatched = process.argv.includes("--watch");
/** Turns of the event loop that work takes at most without a timer: nothing leaves this process. */
const turns = 40;
const maxBytes = 1_000_000_000;
/** In the order in which they were set. */
const timers = new Set<VirtualTimer>();
const startedAt = Date.now();
let now = startedAt;

class VirtualTimer {
	at = 0;
	ref = () => this;
	unref = this.ref;
	close = () => timers.delete(this);

	constructor(
		readonly run: () => void,
		readonly ms: number,
		readonly repeats: boolean,
	) {
		this.refresh();
	}

	refresh(): this {
		this.at = now + this.ms;
		timers.delete(this);
		timers.add(this);
		return this;
	}
}

/** Lets `ms` pass, or less if `isOver`. Rejects if the process takes too much memory. */
export async function advance(ms: number, isOver = () => false): Promise<void> {
	if (process.memoryUsage.rss() > maxBytes) throw new Error(`the copy takes more than ${maxBytes / 1e6} MB of memory`);
	const end = now + ms;
	for (;;) {
		for (let turn = 0; turn < turns; turn += 1) await new Promise<void>((resolve) => real.setImmediate(resolve));
		if (isOver()) return;
		let next: VirtualTimer | undefined;
		for (const timer of timers) if (timer.at < (next?.at ?? Infinity)) next = timer;
		if (!next || next.at > end) break;
		if (isWatched && next.at > now) await new Promise((resolve) => real.setTimeout(resolve, next.at - now));
		now = Math.max(now, next.at);
		if (next.repeats) next.refresh();
		else next.close();
		next.run();
	}
	now = end;
}

/** Lets time pass until `work` has ended. */
export async function during<T>(work: Promise<T>): Promise<T> {
	let isOver = false;
	const end = () => (isOver = true);
	work.then(end, end);
	while (!isOver) await advance(1_000, () => isOver);
	return work;
}

type Work = (...args: unknown[]) => void;
const timerOf =
	(repeats: boolean) =>
	(work: Work, ms = 1, ...args: unknown[]) =>
		new VirtualTimer(() => work(...args), Math.max(Number(ms) || 1, 1), repeats);
const clear = (timer: unknown) => (timer instanceof VirtualTimer ? timer.close() : real.clearTimeout(timer as Timer));

class VirtualDate extends real.Date {
	static override now = () => Math.floor(now);
	constructor(...given: []) {
		super(...((given.length === 0 ? [now] : given) as []));
	}
}

const virtual = { Date: VirtualDate, setTimeout: timerOf(false), setInterval: timerOf(true) };
Object.assign(globalThis, { ...virtual, clearTimeout: clear, clearInterval: clear });
performance.now = () => now - startedAt;

export const everyRealSecond = (work: () => void) => real.setInterval(work, 1_000);

/** Of Math.random, too. */
export function seed(number: number): () => number {
	let drawn = 0;
	Math.random = () => Number(Bun.hash.wyhash(`${number} ${drawn++}`) >> 11n) / 2 ** 53;
	return Math.random;
}
