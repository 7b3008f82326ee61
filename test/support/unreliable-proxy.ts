// A TCP proxy in front of an HTTP server that disturbs some exchanges. It can tell where a request begins because clients
// wait for a response before they send the next request.

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Random } from "./random.ts";

const kinds = [
	/** The connection ends before the server receives a byte. */
	"cut before the request",
	/** The server receives a part of the request, then the connection ends. */
	"cut in the request",
	/** The server responds, but the client does not receive it. */
	"cut before the answer",
	"cut in the answer",
	"delay of the answer",
	/** The connection ends some time after a response, perhaps while the next request is being sent. */
	"cut after the answer",
] as const;
export type Meddling = (typeof kinds)[number];

const maxDelayMs = 800;
const maxIdleMs = 50;

export interface UnreliableProxy extends AsyncDisposable {
	port: number;
	/** The Mcp-Session-Id of the latest request that had one. */
	readonly sessionId: string | undefined;
	/** The count of each kind so far. */
	readonly meddled: ReadonlyMap<Meddling, number>;
	/**
	 * When it ended connections, and the request in flight. Undefined if that was answered; the client may have sent another.
	 */
	readonly cutOff: readonly { request: string | undefined; at: number }[];
	/** Stops disturbing exchanges. */
	calmDown(): void;
}

export interface UnreliableProxyOptions {
	/** The loopback port of the server, which may restart. */
	port: number;
	/** The fraction of disturbed exchanges, from 0 to 1. */
	probability: number;
	random: Random;
}

export async function startUnreliableProxy({
	port,
	probability,
	random,
}: UnreliableProxyOptions): Promise<UnreliableProxy> {
	const meddled = new Map<Meddling, number>(kinds.map((kind) => [kind, 0]));
	const open = new Set<Socket>();
	const cutOff: { request: string | undefined; at: number }[] = [];
	let calm = false;
	let sessionId: string | undefined;

	function choose(): Meddling | undefined {
		if (calm || !random.chance(probability)) return undefined;
		const kind = random.pick(kinds);
		meddled.set(kind, (meddled.get(kind) ?? 0) + 1);
		return kind;
	}

	const server = createServer({ noDelay: true }, (caller) => {
		const callee = connect({ port, host: "127.0.0.1", noDelay: true });
		let meddling: Meddling | undefined;
		let delayMs = 0;
		/** The request in flight. */
		let request: string | undefined;
		const noteCut = () => cutOff.push({ request, at: performance.now() });
		const later = (work: () => void) => (delayMs > 0 ? void setTimeout(work, delayMs) : work());
		const cut = () => {
			noteCut();
			callee.destroy();
			if (random.chance(0.5)) caller.destroy();
			else caller.resetAndDestroy();
		};

		caller.on("data", (chunk: Buffer) => {
			const [head = ""] = chunk.toString("latin1").split("\r\n\r\n", 1);
			if (!/^(POST|DELETE) /.test(head)) return void callee.write(chunk);
			sessionId = /^mcp-session-id: *(\S+)/im.exec(head)?.[1] ?? sessionId;
			meddling = choose();
			delayMs = meddling === "delay of the answer" ? 1 + random.below(maxDelayMs) : 0;
			request = chunk.toString("utf8");
			if (meddling === "cut before the request") return cut();
			if (meddling !== "cut in the request") return void callee.write(chunk);
			caller.pause();
			callee.write(chunk.subarray(0, random.below(chunk.length)), cut);
		});
		callee.on("data", (chunk: Buffer) => {
			switch (meddling) {
				case "cut before the answer":
					return cut();
				case "cut in the answer":
					noteCut();
					callee.destroy();
					return caller.end(chunk.subarray(0, random.below(chunk.length)));
				case "cut after the answer":
					request = undefined;
					caller.write(chunk);
					return void setTimeout(cut, random.below(maxIdleMs));
				default:
					request = undefined;
					later(() => caller.write(chunk));
			}
		});
		// Neither end half-closes: when one closes, the other is closed too.
		caller.on("close", () => callee.destroy());
		callee.on("close", () => later(() => caller.end()));
		for (const socket of [caller, callee]) {
			open.add(socket);
			socket.on("close", () => open.delete(socket));
			// A "close" follows.
			socket.on("error", () => {});
		}
		callee.on("error", () => caller.resetAndDestroy());
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");

	return {
		port: (server.address() as AddressInfo).port,
		get sessionId() {
			return sessionId;
		},
		meddled,
		cutOff,
		calmDown() {
			calm = true;
		},
		async [Symbol.asyncDispose]() {
			server.close();
			for (const socket of open) socket.destroy();
		},
	};
}
