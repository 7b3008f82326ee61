// One connection to Discord's Gateway, from its upgrade to its close: timeouts, heartbeats, rate limit of payloads. Sessions
// and events are in socket.ts.

import { parseJson } from "../../../lib/json.ts";
import { SlidingWindow } from "../../../lib/sliding-window.ts";
import { isObject, type JsonObject } from "../../../mcp/json-rpc.ts";

/** Close code of a connection that ended without a close frame. */
const abnormalClosure = 1006;

/** Our close code to keep the session for a resume. */
const resumableCloseCode = 4900;

/** Discord allows 120 payloads per minute; the rest is for heartbeats. */
const payloadLimit = { max: 110, windowMs: 60_000 };

export class SocketConnection {
	state: "connecting" | "waiting" | "ready" | "closing" = "connecting";
	/** When data last arrived, on the monotonic clock. */
	heardAt = performance.now();
	/** Start of the session, on the monotonic clock. */
	readyAt: number | undefined;
	/** Why the connection ended, if known. */
	reason: string | undefined;
	/** Payloads sent, except heartbeats and those that start a session. */
	readonly sent = new SlidingWindow(payloadLimit);
	/** Aborted when the connection ends. */
	readonly ended = new AbortController();
	/** Resolves with the close code when the socket has closed. */
	readonly closed: Promise<number>;
	readonly #socket: WebSocket;
	readonly #closeMs: number;
	#timeout: Timer | undefined;
	#heartbeat: Timer | undefined;
	/** When the heartbeat was sent that Discord has not acknowledged yet, on the monotonic clock. */
	#unacknowledgedAt: number | undefined;

	/** `helloMs` and `closeMs` as in SocketTiming. `receive` is called with each payload that is a JSON object. */
	constructor(
		url: URL,
		{ helloMs, closeMs }: { helloMs: number; closeMs: number },
		receive: (payload: JsonObject) => void,
	) {
		const { promise, resolve } = Promise.withResolvers<number>();
		this.closed = promise;
		this.#closeMs = closeMs;
		this.#socket = new WebSocket(url);
		this.closeAfter(helloMs, "Discord's Gateway does not answer");
		this.#socket.onmessage = ({ data }) => {
			if (this.state === "closing") return;
			this.heardAt = performance.now();
			const payload = typeof data === "string" ? parseJson(data) : undefined;
			if (isObject(payload)) receive(payload);
		};
		this.#socket.onerror = (event) => {
			this.reason ??= describeUpgradeError(event);
		};
		this.#socket.onclose = ({ code }) => {
			// A close frame counts as data from the peer; its absence does not.
			if (code !== abnormalClosure && this.state !== "closing")
				this.heardAt = performance.now();
			this.#end();
			resolve(code);
		};
	}

	/** Sends a payload. A payload for a closed socket is dropped. */
	send(payload: object): void {
		if (this.#socket.readyState === WebSocket.OPEN)
			this.#socket.send(JSON.stringify(payload));
	}

	/** Sends `heartbeat()` every `intervalMs`, and closes the connection if one is not acknowledged before the next. */
	startHeartbeats(intervalMs: number, heartbeat: () => object): void {
		const next = (ms: number) => {
			this.#heartbeat = setTimeout(() => {
				if (this.#unacknowledgedAt !== undefined)
					return this.close("Discord answers no heartbeat");
				this.#unacknowledgedAt = performance.now();
				this.send(heartbeat());
				next(intervalMs);
			}, ms);
		};
		next(intervalMs * Math.random());
	}

	/** Call it when Discord acknowledges a heartbeat. Returns its latency; undefined if none was sent. */
	acknowledgeHeartbeat(): number | undefined {
		const sentAt = this.#unacknowledgedAt;
		this.#unacknowledgedAt = undefined;
		return sentAt === undefined ? undefined : performance.now() - sentAt;
	}

	/** Records that the session has started. */
	markReady(): void {
		this.state = "ready";
		this.readyAt = performance.now();
		clearTimeout(this.#timeout);
	}

	/** Closes the connection after `ms`, unless its state changes. Replaces the previous timeout. */
	closeAfter(ms: number, reason: string): void {
		clearTimeout(this.#timeout);
		this.#timeout = setTimeout(() => this.close(reason), ms);
	}

	/** Closes the connection; terminates it if the peer does not answer in time. */
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
		this.ended.abort();
		clearTimeout(this.#timeout);
		clearTimeout(this.#heartbeat);
	}
}

/** Describes a failed upgrade without its URL. Bun's message holds the URL, then the HTTP status or the cause. */
function describeUpgradeError(event: Event): string {
	const message = "message" in event ? String(event.message) : "";
	const [, status] = /status code: (\d{3})/.exec(message) ?? [];
	if (status) return `Discord's Gateway answered HTTP ${status}`;
	const [, cause = "it cannot be reached"] = /failed: (.+)/.exec(message) ?? [];
	return `Discord's Gateway: ${cause}`;
}
