// A process without a clock and a network of its own: replaces the clock, the timers, the randomness, servers, fetch and
// WebSocket. Time passes only when it is told to, so that the same seed gives the same run; work between two timers takes none,
// and each request of the bot `latencyMs`. What is not served here cannot be reached. Imported before anything that reads the clock.

const real = { setImmediate, setTimeout, setInterval, clearTimeout, Date };
/** Then it passes as fast as real time. */
export const isWatched = process.argv.includes("--watch");
/** Turns of the event loop that work takes at most without a timer: nothing leaves this process. */
const turns = 40;
export const latencyMs = 100;
const maxBytes = Number(process.env.MEMORY_BYTES);
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

/** Of Math.random. */
export function seed(number: number): void {
	let drawn = 0;
	Math.random = () => Number(Bun.hash.wyhash(`${number} ${drawn++}`) >> 11n) / 2 ** 53;
}

const parent = process.ppid;
real.setInterval(() => process.ppid === parent || process.exit(1), 1_000);

type Server = { fetch(request: Request, server: unknown): unknown; websocket?: Bun.WebSocketHandler<unknown> };

/** By port. */
const servers = new Map<string, Server>();

function serverOf(url: string): Server {
	const server = servers.get(new URL(url).port);
	if (!server) throw new Error(`a rehearsal reaches no other server: ${url}`);
	return server;
}

/** One end of a connection. What it sends arrives in order, in a later turn of the event loop. */
class MemorySocket {
	static readonly OPEN = 1;
	readyState = MemorySocket.OPEN;
	onmessage: ((event: { data: string }) => void) | undefined;
	onclose: ((event: { code: number }) => void) | undefined;
	#peer: MemorySocket | undefined;

	/** `url`: of the client's end. */
	constructor(url?: URL | string) {
		if (url === undefined) return;
		const http = String(url).replace(/^ws/, "http");
		const { fetch, websocket } = serverOf(http);
		const peer = new MemorySocket();
		this.#peer = peer;
		peer.#peer = this;
		peer.onmessage = ({ data }) => void websocket?.message?.(peer as never, data);
		peer.onclose = ({ code }) => void websocket?.close?.(peer as never, code, "");
		const upgrade = (_: Request, options: { data: unknown }) =>
			Boolean(setImmediate(() => websocket?.open?.(Object.assign(peer, options) as never)));
		fetch(new Request(http, { headers: { upgrade: "websocket" } }), { upgrade });
	}

	send(data: string): void {
		setImmediate(() => this.#peer?.onmessage?.({ data }));
	}

	close(code = 1005): void {
		if (this.readyState !== MemorySocket.OPEN) return;
		for (const end of [this, this.#peer]) {
			if (end) end.readyState = 3;
			setImmediate(() => end?.onclose?.({ code }));
		}
	}

	terminate = () => this.close(1006);
}

/** To one of the servers, without latency. */
export const call = async (request: Request) =>
	(await serverOf(request.url).fetch(request, { timeout() {} })) as Response;

const { serve } = Bun;

/** Shows what a server has to browsers on this machine, read only. Returns the address. */
export const show = (server: string) =>
	serve({
		hostname: "127.0.0.1",
		port: 0,
		idleTimeout: 0,
		fetch({ method, url, headers }) {
			const asked = new URL(url);
			// Another name is a page that had its name resolved to this machine.
			if (method !== "GET" || asked.hostname !== "127.0.0.1") return new Response("read only\n", { status: 405 });
			const authorization = headers.get("authorization") ?? "";
			return call(new Request(new URL(asked.pathname + asked.search, server).href, { headers: { authorization } }));
		},
	}).url.href;

Object.assign(Bun, {
	serve(server: Server) {
		const port = String(1024 + servers.size);
		servers.set(port, server);
		return { port, stop: async () => void servers.delete(port) };
	},
});
Object.assign(globalThis, {
	WebSocket: MemorySocket,
	async fetch(url: string, init?: RequestInit) {
		const response = await call(new Request(url, init));
		await new Promise((resolve) => setTimeout(resolve, latencyMs));
		return response;
	},
});
