// One connection to Discord's Gateway. Sessions and events are in socket.ts.

import { isObject, type JsonObject, parseJson } from "../../lib/json.ts";
import { SlidingWindow } from "../../lib/sliding-window.ts";
import { Inbox } from "./inbox.ts";

const abnormalClosure = 1006;

/** Keeps the session for a resume. */
const resumableCloseCode = 4900;

/** Discord allows 120 per minute; 10 are left for heartbeats. */
const payloadLimit = { max: 110, windowMs: 60_000 };

export class SocketConnection {
	state: "connecting" | "waiting" | "ready" | "closing" = "connecting";
	/** In milliseconds of `performance.now()`. */
	heardAt = performance.now();
	/** In milliseconds of `performance.now()`; undefined before. */
	readyAt: number | undefined;
	hasIdentified = false;
	/** Opcode 9. */
	isInvalid = false;
	reason: string | undefined;
	/** Without heartbeats and payloads that start a session. */
	readonly sent = new SlidingWindow(payloadLimit);
	readonly ended = new AbortController();
	/** Resolves with the close code. */
	readonly closed: Promise<number>;
	readonly #socket: WebSocket;
	readonly #inbox: Inbox;
	readonly #closeMs: number;
	#timeout: Timer | undefined;
	#heartbeat: Timer | undefined;
	/** In milliseconds of `performance.now()`; undefined once Discord has acknowledged the heartbeat. */
	#unacknowledgedAt: number | undefined;

	/** `helloMs` is the time up to Discord's Hello. */
	constructor(
		url: URL,
		{ helloMs, closeMs }: { helloMs: number; closeMs: number },
		receive: (payload: JsonObject) => void,
	) {
		const { promise, resolve } = Promise.withResolvers<number>();
		this.closed = promise;
		this.#closeMs = closeMs;
		this.#inbox = new Inbox((text) => {
			const payload = parseJson(text);
			if (isObject(payload)) receive(payload);
		});
		this.#socket = new WebSocket(url);
		this.closeAfter(helloMs, "Discord's Gateway does not answer");
		this.#socket.onmessage = ({ data }) => {
			if (this.state === "closing") return;
			this.heardAt = performance.now();
			if (typeof data === "string") this.#inbox.add(data);
		};
		this.#socket.onerror = (event) => {
			this.reason ??= describeUpgradeError(event);
		};
		this.#socket.onclose = ({ code }) => {
			// A close frame counts as data from the peer; its absence does not.
			if (code !== abnormalClosure && this.state !== "closing") this.heardAt = performance.now();
			this.#end();
			resolve(code);
		};
	}

	/** A payload for a closed socket is dropped. */
	send(payload: object): void {
		if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(payload));
	}

	/** Closes the connection if Discord has not acknowledged a heartbeat when the next one is due. */
	startHeartbeats(intervalMs: number, heartbeat: () => object): void {
		const next = (ms: number) => {
			this.#heartbeat = setTimeout(() => {
				// An acknowledgement may wait behind other messages.
				if (this.#unacknowledgedAt !== undefined && this.#inbox.isEmpty)
					return this.close("Discord answers no heartbeat");
				this.#unacknowledgedAt ??= performance.now();
				this.send(heartbeat());
				next(intervalMs);
			}, ms);
		};
		next(intervalMs * Math.random());
	}

	/** Returns the latency; undefined if no acknowledgement was due. */
	acknowledgeHeartbeat(): number | undefined {
		const sentAt = this.#unacknowledgedAt;
		this.#unacknowledgedAt = undefined;
		return sentAt === undefined ? undefined : performance.now() - sentAt;
	}

	markReady(): void {
		this.state = "ready";
		this.readyAt = performance.now();
		clearTimeout(this.#timeout);
	}

	/** Unless the session becomes ready first. Replaces the timeout of an earlier call. */
	closeAfter(ms: number, reason: string): void {
		clearTimeout(this.#timeout);
		this.#timeout = setTimeout(() => this.close(reason), ms);
	}

	cancelTimeout(): void {
		clearTimeout(this.#timeout);
	}

	/** If Discord does not answer the close frame in time, drops the connection. */
	close(reason: string, code = resumableCloseCode): void {
		if (this.state === "closing") return;
		this.reason = reason;
		this.#end();
		if (this.#socket.readyState !== WebSocket.OPEN) {
			this.#socket.terminate();
			return;
		}
		this.#socket.close(code, reason);
		this.#timeout = setTimeout(() => this.#socket.terminate(), this.#closeMs);
	}

	#end(): void {
		this.state = "closing";
		// Discord sends again, after a resume, what was not handled.
		this.#inbox.clear();
		this.ended.abort();
		clearTimeout(this.#timeout);
		clearTimeout(this.#heartbeat);
	}
}

/** Without the URL, which Bun's message contains. */
function describeUpgradeError(event: Event): string {
	const message = "message" in event ? String(event.message) : "";
	const [, status] = /status code: (\d{3})/.exec(message) ?? [];
	if (status) return `Discord's Gateway answered HTTP ${status}`;
	const [, cause = "it cannot be reached"] = /failed: (.+)/.exec(message) ?? [];
	return `Discord's Gateway: ${cause}`;
}
