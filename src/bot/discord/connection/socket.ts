// WebSocket client for Discord's Gateway: one shard, JSON without compression. It replaces the one in @discordjs/ws, which
// opens a second connection when an upgrade is refused, waits forever for a peer that does not answer a close, and exits
// when a listener throws. Here one loop owns the socket: the next one opens only after the last one has closed, with
// back-off.
// https://discord.com/developers/docs/events/gateway

import { setTimeout as sleep } from "node:timers/promises";
import {
	GatewayCloseCodes,
	GatewayDispatchEvents,
	GatewayOpcodes,
	type GatewaySendPayload,
	type WebSocketOptions,
} from "discord.js";
import { backOffMs } from "../../../lib/back-off.ts";
import { parseJson } from "../../../lib/json.ts";
import { isObject } from "../../../mcp/json-rpc.ts";

type BuildStrategy = NonNullable<WebSocketOptions["buildStrategy"]>;
type Manager = Parameters<BuildStrategy>[0];
type Strategy = ReturnType<BuildStrategy>;

export interface SocketTiming {
	/** Back-off between connections: first and maximum. */
	backOffMs: readonly [number, number];
	/** A session that lasted this long resets the back-off. */
	stableMs: number;
	/** Timeout for the upgrade and Hello together. */
	helloMs: number;
	/** Timeout for READY or RESUMED. In an outage Discord acknowledges heartbeats and answers eventually. */
	readyMs: number;
	/** Timeout for the peer to answer a close. */
	closeMs: number;
}

export const defaultTiming: SocketTiming = {
	backOffMs: [500, 60_000],
	stableMs: 10_000,
	helloMs: 30_000,
	readyMs: 300_000,
	closeMs: 2_000,
};

/** A dispatch payload that has not been validated. */
export interface Dispatch {
	op: GatewayOpcodes.Dispatch;
	t: string;
	s: unknown;
	d: unknown;
}

export interface SocketOptions {
	timing: SocketTiming;
	/** Sockets of all clients that are not closed yet. */
	open: Set<WebSocket>;
	/** Aborted when the bot stops. No connection is opened after that. */
	closing: AbortSignal;
	/** Resolves when a connection for a new session may be opened. Rejects when `signal` aborts. */
	beforeNewSession(signal: AbortSignal): Promise<void>;
	/** Resolves when the bot may identify. Rejects when `signal` aborts. */
	beforeIdentify(signal: AbortSignal): Promise<void>;
	/** The ids of the guilds in discord.js's cache. */
	knownGuilds(): Iterable<string>;
	/**
	 * Calls `read`, which passes an event to discord.js. Returns false if it could not be read. `isReplay`: the event was
	 * sent before the session was resumed.
	 */
	readEvent(
		event: Dispatch,
		how: { read: () => void; isReplay: boolean },
	): boolean;
	/** A session's connection was lost. `heardAt` is when the last data arrived, on the monotonic clock. */
	onLost(reason: string, heardAt: number): void;
	/** A connection could not be established. */
	onFailure(reason: string, retryMs: number): void;
}

/** Discord closed the connection with a code after which clients must not reconnect. */
export class GatewayCloseError extends Error {
	override name = "GatewayCloseError";
	constructor(readonly code: number) {
		super(
			`Discord's Gateway closed the connection with code ${code}, after which a bot must not reconnect`,
		);
	}
}

/** https://discord.com/developers/docs/topics/opcodes-and-status-codes#gateway-gateway-close-event-codes */
const finalCodes = new Set<number>([
	GatewayCloseCodes.AuthenticationFailed,
	GatewayCloseCodes.InvalidShard,
	GatewayCloseCodes.ShardingRequired,
	GatewayCloseCodes.InvalidAPIVersion,
	GatewayCloseCodes.InvalidIntents,
	GatewayCloseCodes.DisallowedIntents,
]);

/** Close code of a connection that ended without a close frame. */
const abnormalClosure = 1006;

/** Our close code to keep the session for a resume. */
const resumableCloseCode = 4900;
/** Our close code to end the session. */
const normalClosure = 1000;

/**
 * Close codes that end the session. 1001 is not among them: Discord sends it when one of its servers restarts, and it ends
 * the session only when a client sends it.
 * https://discord.com/developers/docs/events/gateway#initiating-a-disconnect
 */
const sessionEndingCodes = new Set<number>([
	normalClosure,
	GatewayCloseCodes.NotAuthenticated,
	GatewayCloseCodes.InvalidSeq,
	GatewayCloseCodes.SessionTimedOut,
]);

/** After this many failures in a row, the session is resumed at the Gateway's initial URL. */
const maxResumeFailures = 3;

/** Discord allows 120 payloads per minute; the rest is for heartbeats. */
const payloadLimit = { count: 110, windowMs: 60_000 };

interface Session {
	id: string;
	/** Gateway URL for a resume. */
	url: string;
	/** Sequence number of the latest event. */
	sequence: number;
}

/** One connection, from its upgrade to its close. */
interface SocketConnection {
	readonly socket: WebSocket;
	/** Aborted when the connection ends. */
	readonly ended: AbortController;
	state: "connecting" | "waiting" | "ready" | "closing";
	/** Start of the session, on the monotonic clock. */
	readyAt: number | undefined;
	/** Timeout of the current state. */
	timeout: Timer | undefined;
	heartbeat: Timer | undefined;
	/** When the heartbeat was sent that Discord has not acknowledged yet, on the monotonic clock. */
	unacknowledgedAt: number | undefined;
	/** When data last arrived, on the monotonic clock. */
	heardAt: number;
	/** Why it ended, if known. */
	reason: string | undefined;
	/** Payloads sent in the current rate limit window. */
	sent: { count: number; since: number };
	flushTimer: Timer | undefined;
}

export class Socket implements Strategy {
	readonly #manager: Manager;
	readonly #options: SocketOptions;
	#closing = new AbortController();
	readonly #queue: GatewaySendPayload[] = [];
	#running: Promise<void> | undefined;
	#session: Session | undefined;
	/** The Gateway's initial URL. Discord asks clients to cache it. */
	#url: string | undefined;
	#connection: SocketConnection | undefined;
	#onReady: () => void = () => {};

	constructor(manager: Manager, options: SocketOptions) {
		this.#manager = manager;
		this.#options = options;
	}

	/** Required by the interface; there is one shard. */
	spawn(): void {}

	/** Required by the interface; discord.js does not call it. */
	fetchStatus(): never {
		throw new Error("fetchStatus is not implemented");
	}

	/** Resolves when there is a session; reconnects until `destroy`. Rejects only with a GatewayCloseError. */
	async connect(): Promise<void> {
		// discord.js does not cancel a login when the bot stops.
		this.#options.closing.throwIfAborted();
		const { promise, resolve } = Promise.withResolvers<void>();
		this.#onReady = resolve;
		// @discordjs/ws calls `destroy` before each connect, also the first.
		this.#closing = new AbortController();
		this.#running = this.#run();
		await Promise.race([promise, this.#running]);
		// Later failures reach discord.js as a close code.
		this.#running.catch((error) => {
			if (!(error instanceof GatewayCloseError)) throw error;
			this.#emit("closed", { code: error.code });
		});
	}

	/** Ends the session. Resolves when the socket is closed. */
	async destroy(): Promise<void> {
		this.#closing.abort();
		if (this.#connection)
			this.#close(this.#connection, normalClosure, "the bot stops");
		// `connect` reports the error.
		await this.#running?.catch(() => {});
	}

	/** Queues a payload until there is a session, within the rate limit. A new session clears the queue. */
	send(_shard: number, payload: GatewaySendPayload): void {
		this.#queue.push(payload);
		this.#flush();
	}

	/** Opens one connection after the other. Rejects with a GatewayCloseError. */
	async #run(): Promise<void> {
		const { signal } = this.#closing;
		const { timing, onLost, onFailure } = this.#options;
		for (let failures = 0; !signal.aborted; ) {
			const { code, reason, heardAt, readyMs } =
				await this.#runConnection(failures);
			if (signal.aborted) return;
			if (finalCodes.has(code)) throw new GatewayCloseError(code);
			if (readyMs !== undefined) this.#emit("closed", { code });
			if (readyMs !== undefined && readyMs >= timing.stableMs) failures = 0;
			const waitMs = backOffMs(failures, timing.backOffMs);
			failures += 1;
			if (readyMs === undefined) onFailure(reason, waitMs);
			else onLost(reason, heardAt);
			await sleep(waitMs, undefined, { signal }).catch(() => {});
		}
	}

	/** Runs one connection. Resolves when its socket has closed; `readyMs` is the age of its session. Never rejects. */
	async #runConnection(failures: number): Promise<{
		code: number;
		reason: string;
		heardAt: number;
		readyMs?: number;
	}> {
		const { open, timing, beforeNewSession } = this.#options;
		const { signal } = this.#closing;
		const { promise: closed, resolve } = Promise.withResolvers<number>();
		let socket: WebSocket;
		try {
			if (!this.#session) await beforeNewSession(signal);
			this.#url ??= (await this.#manager.fetchGatewayInformation()).url;
			const canResume = this.#session && failures < maxResumeFailures;
			const url = new URL((canResume && this.#session?.url) || this.#url);
			url.searchParams.set("v", this.#manager.options.version);
			url.searchParams.set("encoding", "json");
			signal.throwIfAborted();
			socket = new WebSocket(url);
		} catch (error) {
			return { code: 0, reason: String(error), heardAt: 0 };
		}
		open.add(socket);
		const connection: SocketConnection = {
			socket,
			ended: new AbortController(),
			state: "connecting",
			readyAt: undefined,
			heartbeat: undefined,
			flushTimer: undefined,
			unacknowledgedAt: undefined,
			reason: undefined,
			heardAt: performance.now(),
			sent: { count: 0, since: performance.now() },
			timeout: setTimeout(
				() =>
					this.#close(
						connection,
						resumableCloseCode,
						"Discord's Gateway does not answer",
					),
				timing.helloMs,
			),
		};
		this.#connection = connection;
		socket.onmessage = ({ data }) => this.#receive(connection, data);
		socket.onerror = (event) => {
			connection.reason ??= describeUpgradeError(event);
		};
		socket.onclose = ({ code }) => {
			// A close frame counts as data from the peer; its absence does not.
			if (code !== abnormalClosure && connection.state !== "closing")
				connection.heardAt = performance.now();
			resolve(code);
		};
		const code = await closed;
		open.delete(socket);
		this.#cleanUp(connection);
		if (sessionEndingCodes.has(code)) this.#forgetSession();
		const reason =
			connection.reason ?? `Discord closed the connection (${code})`;
		const { heardAt, readyAt } = connection;
		if (readyAt === undefined) return { code, reason, heardAt };
		return { code, reason, heardAt, readyMs: performance.now() - readyAt };
	}

	#cleanUp(connection: SocketConnection): void {
		connection.state = "closing";
		connection.ended.abort();
		clearTimeout(connection.timeout);
		clearTimeout(connection.heartbeat);
		clearTimeout(connection.flushTimer);
		this.#connection = undefined;
		this.#reportSession();
	}

	/** Closes a connection; terminates it if the peer does not answer in time. */
	#close(connection: SocketConnection, code: number, reason: string): void {
		if (connection.state === "closing") return;
		const { socket } = connection;
		connection.state = "closing";
		connection.reason = reason;
		connection.ended.abort();
		clearTimeout(connection.heartbeat);
		clearTimeout(connection.timeout);
		if (sessionEndingCodes.has(code)) this.#forgetSession();
		if (socket.readyState !== WebSocket.OPEN) {
			socket.terminate();
			return;
		}
		socket.close(code, reason);
		connection.timeout = setTimeout(
			() => socket.terminate(),
			this.#options.timing.closeMs,
		);
	}

	#receive(connection: SocketConnection, text: unknown): void {
		if (connection.state === "closing") return;
		connection.heardAt = performance.now();
		const payload = typeof text === "string" ? parseJson(text) : undefined;
		if (!isObject(payload)) return;
		const { op, d } = payload;
		switch (op) {
			case GatewayOpcodes.Dispatch:
				this.#handleDispatch(connection, payload as unknown as Dispatch);
				break;
			case GatewayOpcodes.Heartbeat:
				// Not counted as unacknowledged: a heartbeat due right now would take the connection for dead.
				this.#sendHeartbeat(connection);
				break;
			case GatewayOpcodes.HeartbeatAck:
				this.#handleHeartbeatAck(connection);
				break;
			case GatewayOpcodes.Hello:
				this.#handleHello(connection, d);
				break;
			case GatewayOpcodes.Reconnect:
				this.#close(
					connection,
					resumableCloseCode,
					"Discord asked to reconnect",
				);
				break;
			case GatewayOpcodes.InvalidSession: {
				const code = d === true ? resumableCloseCode : normalClosure;
				this.#close(connection, code, "Discord calls the session invalid");
				break;
			}
		}
	}

	#handleHello(connection: SocketConnection, d: unknown): void {
		const intervalMs = isObject(d) ? d.heartbeat_interval : undefined;
		if (connection.state !== "connecting") return;
		if (typeof intervalMs !== "number" || !(intervalMs > 0)) {
			this.#close(
				connection,
				resumableCloseCode,
				"Discord's Hello cannot be read",
			);
			return;
		}
		connection.state = "waiting";
		clearTimeout(connection.timeout);
		connection.timeout = setTimeout(
			() =>
				this.#close(
					connection,
					resumableCloseCode,
					"Discord does not begin the session",
				),
			this.#options.timing.readyMs,
		);
		const next = (ms: number) => {
			connection.heartbeat = setTimeout(() => {
				if (connection.unacknowledgedAt === undefined) {
					connection.unacknowledgedAt = performance.now();
					this.#sendHeartbeat(connection);
					next(intervalMs);
				} else
					this.#close(
						connection,
						resumableCloseCode,
						"Discord answers no heartbeat",
					);
			}, ms);
		};
		next(intervalMs * Math.random());
		this.#emit("hello");
		if (this.#session) this.#resume(connection, this.#session);
		else void this.#identify(connection);
	}

	#sendHeartbeat(connection: SocketConnection): void {
		transmit(connection, {
			op: GatewayOpcodes.Heartbeat,
			d: this.#session?.sequence ?? null,
		});
	}

	#handleHeartbeatAck(connection: SocketConnection): void {
		const sentAt = connection.unacknowledgedAt;
		if (sentAt === undefined) return;
		connection.unacknowledgedAt = undefined;
		const latency = performance.now() - sentAt;
		const ackAt = Date.now();
		this.#emit("heartbeat", { ackAt, heartbeatAt: ackAt - latency, latency });
	}

	async #identify(connection: SocketConnection): Promise<void> {
		try {
			await this.#options.beforeIdentify(connection.ended.signal);
		} catch {
			// The connection ended.
			return;
		}
		const { token, intents, identifyProperties, initialPresence } =
			this.#manager.options;
		transmit(connection, {
			op: GatewayOpcodes.Identify,
			d: {
				token,
				intents,
				properties: identifyProperties,
				compress: false,
				shard: [0, 1],
				...(initialPresence && { presence: initialPresence }),
			},
		});
	}

	#resume(connection: SocketConnection, { id, sequence }: Session): void {
		const { token } = this.#manager.options;
		transmit(connection, {
			op: GatewayOpcodes.Resume,
			d: { token, session_id: id, seq: sequence },
		});
	}

	#handleDispatch(connection: SocketConnection, event: Dispatch): void {
		if (event.t === GatewayDispatchEvents.Ready) {
			this.#handleReady(connection, event);
			return;
		}
		// Before dispatching, so that an unreadable event is not replayed.
		if (this.#session && Number.isSafeInteger(event.s))
			this.#session.sequence = Number(event.s);
		if (event.t === GatewayDispatchEvents.Resumed) this.#markReady(connection);
		this.#dispatch(event, connection.state !== "ready");
	}

	/** Starts a new session. Closes it if its READY cannot be read. */
	#handleReady(connection: SocketConnection, event: Dispatch): void {
		const ready = readReady(event.d);
		if (ready) {
			this.#session = {
				id: ready.session_id,
				url: ready.resume_gateway_url,
				sequence: Number.isSafeInteger(event.s) ? Number(event.s) : 0,
			};
			this.#queue.length = 0;
			this.#markReady(connection);
		}
		const read = () => {
			if (!ready) throw new TypeError("READY lacks a required field");
			this.#emit("ready", { data: ready });
			this.#emit("dispatch", { data: { ...event, d: ready } });
		};
		const isRead = this.#options.readEvent(event, { read, isReplay: false });
		if (!ready || !isRead) {
			connection.readyAt = undefined;
			this.#close(connection, normalClosure, "Discord's READY cannot be read");
			return;
		}
		// Discord sends no event for guilds that the bot left while it was disconnected.
		const present = new Set(ready.guilds.map(({ id }) => id));
		for (const id of this.#options.knownGuilds())
			if (!present.has(id))
				this.#dispatch({ ...event, t: "GUILD_DELETE", d: { id } });
		this.#onReady();
	}

	#markReady(connection: SocketConnection): void {
		connection.state = "ready";
		connection.readyAt = performance.now();
		clearTimeout(connection.timeout);
		this.#reportSession();
		this.#flush();
	}

	#dispatch(event: Dispatch, isReplay = false): void {
		if (event.t === GatewayDispatchEvents.Resumed) this.#emit("resumed");
		const read = (one: Dispatch) =>
			this.#options.readEvent(one, {
				read: () => this.#emit("dispatch", { data: one }),
				isReplay,
			});
		const { d } = event;
		if (event.t !== GatewayDispatchEvents.GuildCreate || !isObject(d)) {
			read(event);
			return;
		}
		// `unavailable` is optional; absent means available, but discord.js then keeps its old value.
		// https://discord.com/developers/docs/events/gateway-events#guild-create
		if (read({ ...event, d: { unavailable: false, ...d } })) return;
		if (typeof d.id !== "string") return;
		// It may be half applied: mark the guild unavailable until Discord sends a readable one.
		const gone = { id: d.id, unavailable: true };
		read({ ...event, d: gone });
		read({ ...event, t: GatewayDispatchEvents.GuildDelete, d: gone });
	}

	/** Sends queued payloads as far as the rate limit allows. */
	#flush(): void {
		const connection = this.#connection;
		if (connection?.state !== "ready") return;
		clearTimeout(connection.flushTimer);
		const now = performance.now();
		const { count, windowMs } = payloadLimit;
		if (now - connection.sent.since >= windowMs)
			connection.sent = { count: 0, since: now };
		for (; connection.sent.count < count; connection.sent.count += 1) {
			const payload = this.#queue.shift();
			if (!payload) return;
			transmit(connection, payload);
		}
		const waitMs = connection.sent.since + windowMs - now;
		connection.flushTimer = setTimeout(() => this.#flush(), waitMs);
	}

	#forgetSession(): void {
		this.#session = undefined;
		this.#reportSession();
	}

	/** Reports the session to discord.js, which derives the number of replayed events from it. */
	#reportSession(): void {
		const session = this.#session;
		void this.#manager.options.updateSessionInfo(
			0,
			session
				? {
						sessionId: session.id,
						resumeURL: session.url,
						sequence: session.sequence,
						shardId: 0,
						shardCount: 1,
					}
				: null,
		);
	}

	/** Emits an event as the shards of @discordjs/ws do. */
	#emit(event: string, payload: object = {}): void {
		const emitter: { emit(event: string, payload: object): void } = this
			.#manager as never;
		emitter.emit(event, { ...payload, shardId: 0 });
	}
}

function transmit({ socket }: SocketConnection, payload: object): void {
	// A payload for a closed socket is lost, as if in transit.
	if (socket.readyState === WebSocket.OPEN)
		socket.send(JSON.stringify(payload));
}

/** The documented fields of READY that a session needs; undefined if one is missing. */
function readReady(d: unknown) {
	if (!isObject(d)) return undefined;
	const { v, user, guilds, session_id, resume_gateway_url, application } = d;
	if (!isObject(user) || typeof user.id !== "string") return undefined;
	if (typeof session_id !== "string") return undefined;
	if (typeof resume_gateway_url !== "string") return undefined;
	if (!Array.isArray(guilds)) return undefined;
	const ids = guilds.map((one) => (isObject(one) ? one.id : undefined));
	if (!ids.every((id) => typeof id === "string")) return undefined;
	const { id = user.id, flags = 0 } = isObject(application) ? application : {};
	return {
		v,
		user,
		session_id,
		resume_gateway_url,
		guilds: ids.map((id) => ({ id, unavailable: true })),
		application: { id, flags },
	};
}

/** Describes a failed upgrade without its URL. Bun's message holds the URL, then the HTTP status or the cause. */
function describeUpgradeError(event: Event): string {
	const message = "message" in event ? String(event.message) : "";
	const [, status] = /status code: (\d{3})/.exec(message) ?? [];
	if (status) return `Discord's Gateway answered HTTP ${status}`;
	const [, cause = "it cannot be reached"] = /failed: (.+)/.exec(message) ?? [];
	return `Discord's Gateway: ${cause}`;
}
