// One connection to Discord's Gateway, from its upgrade to its close: timeouts, heartbeats, rate limit of payloads. Sessions
// and events are in socket.ts.

import { isObject, type JsonObject, parseJson } from "../../../lib/json.ts";
import { SlidingWindow } from "../../../lib/sliding-window.ts";
import { Inbox } from "./inbox.ts";

const abnormalClosure = 1006;

/** Close code that the bot sends to Discord's Gateway so that the session can be resumed later. */
const resumableCloseCode = 4900;

/**
 * Rate limit for payloads to Discord's Gateway. Discord allows 120 per minute; the bot leaves 10 of them for
 * heartbeats.
 */
const payloadLimit = { max: 110, windowMs: 60_000 };

export class SocketConnection {
	state: "connecting" | "waiting" | "ready" | "closing" = "connecting";
	/** When the last data arrived from Discord's Gateway, in milliseconds of `performance.now()`. */
	heardAt = performance.now();
	/** When the Gateway session became ready on this connection, in milliseconds of `performance.now()`. */
	readyAt: number | undefined;
	/** Whether the bot identified on this connection. */
	hasIdentified = false;
	/** Whether Discord reported the session as invalid (opcode 9). */
	isInvalid = false;
	/** Why the connection to Discord's Gateway ended, if known. */
	reason: string | undefined;
	/** Counts the payloads sent to Discord's Gateway, except heartbeats and payloads that start a session. */
	readonly sent = new SlidingWindow(payloadLimit);
	/** Aborted when the connection to Discord's Gateway ends. */
	readonly ended = new AbortController();
	/** Resolves with the WebSocket close code when the socket has closed. */
	readonly closed: Promise<number>;
	readonly #socket: WebSocket;
	readonly #inbox: Inbox;
	readonly #closeMs: number;
	#timeout: Timer | undefined;
	#heartbeat: Timer | undefined;
	/**
	 * When the bot sent the latest heartbeat, in milliseconds of `performance.now()`; undefined once Discord has
	 * acknowledged it.
	 */
	#unacknowledgedAt: number | undefined;

	/**
	 * Connects to Discord's Gateway. The parameters are the URL, the timeouts for connecting (up to Discord's Hello) and
	 * for closing, and a function that receives each payload (a JSON object).
	 */
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

	/** Sends a payload to Discord's Gateway. A payload for a closed socket is dropped. */
	send(payload: object): void {
		if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(payload));
	}

	/**
	 * Every `intervalMs`, calls `heartbeat` and sends the returned payload to Discord's Gateway. Closes the connection if
	 * Discord has not acknowledged a heartbeat when the next one is due.
	 */
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

	/**
	 * Call this when Discord acknowledges a heartbeat. Returns the latency of the heartbeat in milliseconds; undefined if
	 * the bot was not waiting for an acknowledgement.
	 */
	acknowledgeHeartbeat(): number | undefined {
		const sentAt = this.#unacknowledgedAt;
		this.#unacknowledgedAt = undefined;
		return sentAt === undefined ? undefined : performance.now() - sentAt;
	}

	/** Records that the session on Discord's Gateway is ready. Cancels the timeout that would close the connection. */
	markReady(): void {
		this.state = "ready";
		this.readyAt = performance.now();
		clearTimeout(this.#timeout);
	}

	/**
	 * Closes the connection after `ms` milliseconds, unless the session becomes ready first. Replaces the timeout of an
	 * earlier call.
	 */
	closeAfter(ms: number, reason: string): void {
		clearTimeout(this.#timeout);
		this.#timeout = setTimeout(() => this.close(reason), ms);
	}

	/** Cancels the timeout of `closeAfter`. */
	cancelTimeout(): void {
		clearTimeout(this.#timeout);
	}

	/** Closes the WebSocket connection. If Discord does not answer the close frame in time, drops the connection. */
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

/** Describes why a WebSocket upgrade failed, without the URL that Bun's message contains. */
function describeUpgradeError(event: Event): string {
	const message = "message" in event ? String(event.message) : "";
	const [, status] = /status code: (\d{3})/.exec(message) ?? [];
	if (status) return `Discord's Gateway answered HTTP ${status}`;
	const [, cause = "it cannot be reached"] = /failed: (.+)/.exec(message) ?? [];
	return `Discord's Gateway: ${cause}`;
}
