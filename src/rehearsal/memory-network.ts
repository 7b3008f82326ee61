// A network inside this process: replaces servers, fetch and WebSocket. What is not served here cannot be reached, so nothing
// of a rehearsal leaves it. Each request of the bot takes `latencyMs` of simulated time.

import { sleep } from "../lib/wait.ts";

export const latencyMs = 100;

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
		await sleep(latencyMs);
		return response;
	},
});
