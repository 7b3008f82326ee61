// WebSocket client for Discord's Gateway, instead of that of @discordjs/ws (DECISIONS.md, 23). One loop owns the
// socket: the next one opens only after the last one has closed. https://discord.com/developers/docs/events/gateway

import { setTimeout as sleep } from "node:timers/promises";
import {
	GatewayCloseCodes,
	GatewayDispatchEvents,
	GatewayOpcodes,
	type GatewaySendPayload,
	type WebSocketOptions,
} from "discord.js";
import { isObject, type JsonObject } from "../../lib/json.ts";
import { ReconnectDelay } from "./reconnect-delay.ts";
import { SocketConnection } from "./socket-connection.ts";

type BuildStrategy = NonNullable<WebSocketOptions["buildStrategy"]>;
export type Manager = Parameters<BuildStrategy>[0];
export type Strategy = ReturnType<BuildStrategy>;

export const defaultTiming = {
	backOffMs: [500, 60_000] as readonly [number, number],
	shortOutageBackOffMs: 2_000,
	stableMs: 10_000,
	invalidSessionMs: [1_000, 5_000] as readonly [number, number],
	/** For the upgrade and Discord's Hello together. */
	helloMs: 30_000,
	/** For READY or RESUMED: Discord can be very slow during an outage. */
	readyMs: 300_000,
	closeMs: 2_000,
};

/** Not validated. */
export interface Dispatch {
	op: GatewayOpcodes.Dispatch;
	t: string;
	s: unknown;
	d: unknown;
}

export interface Shard {
	readonly id: number;
	readonly count: number;
}

export interface SocketOptions {
	timing: typeof defaultTiming;
	/** Of all clients. */
	open: Set<SocketConnection>;
	closing: AbortSignal;
	/** Rejects when `signal` aborts. */
	beforeNewSession(signal: AbortSignal): Promise<void>;
	intents(): number;
	/** Discord refused some of the intents `requested`. Resolves with whether `intents` now returns others. */
	onDisallowedIntents(requested: number): Promise<boolean>;
	/** Rejects when `signal` aborts. */
	beforeIdentify(signal: AbortSignal): Promise<void>;
	knownGuilds(): Iterable<string>;
	/** Calls `read`, which passes the event to discord.js. Returns false if it could not be read. */
	readEvent(event: Dispatch, how: { read: () => void; isReplay: boolean }): boolean;
	/** `heardAt` is when the last data arrived, in milliseconds of `performance.now()`. */
	onLost(reason: string, heardAt: number): void;
	onFailure(reason: string, retryMs: number): void;
}

/** Discord's Gateway closed the connection with a code after which clients must not reconnect. */
export class GatewayCloseError extends Error {
	override name = "GatewayCloseError";
	constructor(readonly code: number) {
		super(`Discord's Gateway closed the connection with code ${code}, after which a bot must not reconnect`);
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

const normalClosure = 1000;

/**
 * Not 1001, which Discord sends, for example, at a restart of its server.
 * https://discord.com/developers/docs/events/gateway#initiating-a-disconnect
 */
const sessionEndingCodes = new Set<number>([
	normalClosure,
	GatewayCloseCodes.NotAuthenticated,
	GatewayCloseCodes.InvalidSeq,
	GatewayCloseCodes.SessionTimedOut,
]);

const maxResumeFailures = 3;

interface Session {
	id: string;
	url: string;
	sequence: number;
}

export class Socket {
	readonly #closing = new AbortController();
	readonly #queue: GatewaySendPayload[] = [];
	readonly #delay: ReconnectDelay;
	#running: Promise<void> | undefined;
	#session: Session | undefined;
	#url: string | undefined;
	#connection: SocketConnection | undefined;
	#flushTimer: Timer | undefined;
	#onReady: () => void = () => {};
	#intents = 0;

	constructor(
		private readonly manager: Manager,
		private readonly shard: Shard,
		private readonly options: SocketOptions,
	) {
		this.#delay = new ReconnectDelay(options.timing);
	}

	/** Resolves with the first session, and reconnects until `destroy`. Rejects with a GatewayCloseError. */
	async connect(): Promise<void> {
		// discord.js does not cancel a login when the bot stops.
		this.options.closing.throwIfAborted();
		const { promise, resolve } = Promise.withResolvers<void>();
		this.#onReady = resolve;
		this.#running = this.#run();
		await Promise.race([promise, this.#running]);
		// Later failures reach discord.js as a close code.
		this.#running.catch((error) => {
			if (!(error instanceof GatewayCloseError)) throw error;
			this.#emit("closed", { code: error.code });
		});
	}

	async destroy(): Promise<void> {
		this.#closing.abort();
		if (this.#connection) this.#endSession(this.#connection, "the bot is stopping");
		// `connect` reports the error.
		await this.#running?.catch(() => {});
	}

	/** Sent as soon as there is a session and the rate limit has room. A new session clears the queue. */
	send(payload: GatewaySendPayload): void {
		this.#queue.push(payload);
		this.#flush();
	}

	async #run(): Promise<void> {
		const { signal } = this.#closing;
		const { onLost, onFailure } = this.options;
		while (!signal.aborted) {
			const ended = await this.#runConnection();
			const { code, reason, heardAt, readyMs } = ended;
			if (signal.aborted) return;
			const hasOthers =
				code === GatewayCloseCodes.DisallowedIntents && (await this.options.onDisallowedIntents(this.#intents));
			if (hasOthers) this.#session = undefined;
			else if (finalCodes.has(code)) throw new GatewayCloseError(code);
			// For discord.js, 4014 is the end.
			if (readyMs !== undefined) this.#emit("closed", { code: hasOthers ? GatewayCloseCodes.UnknownError : code });
			const waitMs = this.#delay.next(ended);
			if (readyMs === undefined) onFailure(reason, waitMs);
			else onLost(reason, heardAt);
			await sleep(waitMs, undefined, { signal }).catch(() => {});
		}
	}

	/** Resolves when the connection has closed. Never rejects. */
	async #runConnection() {
		const { open, timing, beforeNewSession } = this.options;
		const { signal } = this.#closing;
		let connection: SocketConnection;
		try {
			if (!this.#session) await beforeNewSession(signal);
			this.#url ??= (await this.manager.fetchGatewayInformation()).url;
			const usesResumeUrl = this.#delay.failures < maxResumeFailures;
			const url = new URL((usesResumeUrl && this.#session?.url) || this.#url);
			url.searchParams.set("v", this.manager.options.version);
			url.searchParams.set("encoding", "json");
			signal.throwIfAborted();
			connection = new SocketConnection(url, timing, (payload) => this.#receive(connection, payload));
		} catch (error) {
			return { code: 0, reason: String(error), heardAt: 0 };
		}
		open.add(connection);
		this.#connection = connection;
		const code = await connection.closed;
		open.delete(connection);
		this.#connection = undefined;
		clearTimeout(this.#flushTimer);
		if (sessionEndingCodes.has(code)) this.#session = undefined;
		this.#reportSession();
		const { heardAt, readyAt, hasIdentified, isInvalid } = connection;
		const reason = connection.reason ?? `Discord closed the connection (${code})`;
		const readyMs = readyAt === undefined ? undefined : performance.now() - readyAt;
		return { code, reason, heardAt, readyMs, hasIdentified, isInvalid };
	}

	#endSession(connection: SocketConnection, reason: string): void {
		if (connection.state === "closing") return;
		this.#session = undefined;
		this.#reportSession();
		connection.close(reason, normalClosure);
	}

	#receive(connection: SocketConnection, payload: JsonObject): void {
		const { op, d } = payload;
		switch (op) {
			case GatewayOpcodes.Dispatch:
				this.#handleDispatch(connection, payload as unknown as Dispatch);
				break;
			case GatewayOpcodes.Heartbeat:
				// This heartbeat needs no acknowledgement: a regular one right after it would close the connection.
				connection.send(this.#heartbeat());
				break;
			case GatewayOpcodes.HeartbeatAck: {
				const latency = connection.acknowledgeHeartbeat();
				const ackAt = Date.now();
				if (latency !== undefined) this.#emit("heartbeat", { ackAt, heartbeatAt: ackAt - latency, latency });
				break;
			}
			case GatewayOpcodes.Hello:
				this.#handleHello(connection, d);
				break;
			case GatewayOpcodes.Reconnect:
				connection.close("Discord asked to reconnect");
				break;
			case GatewayOpcodes.InvalidSession: {
				const reason = "Discord's Gateway reported the session as invalid";
				connection.isInvalid = true;
				if (d === true) connection.close(reason);
				else this.#endSession(connection, reason);
				break;
			}
		}
	}

	#handleHello(connection: SocketConnection, d: unknown): void {
		const intervalMs = isObject(d) ? d.heartbeat_interval : undefined;
		if (connection.state !== "connecting") return;
		if (typeof intervalMs !== "number" || !(intervalMs > 0)) {
			connection.close("the HELLO message of Discord's Gateway cannot be parsed");
			return;
		}
		connection.state = "waiting";
		this.#expectSession(connection);
		connection.startHeartbeats(intervalMs, () => this.#heartbeat());
		this.#emit("hello");
		if (this.#session) this.#resume(connection, this.#session);
		else void this.#identify(connection);
	}

	#expectSession(connection: SocketConnection): void {
		connection.closeAfter(this.options.timing.readyMs, "Discord's Gateway did not confirm the session in time");
	}

	#heartbeat(): object {
		return { op: GatewayOpcodes.Heartbeat, d: this.#session?.sequence ?? null };
	}

	async #identify(connection: SocketConnection): Promise<void> {
		// With many shards, the wait can be longer than Discord takes to answer. Heartbeats detect a dead connection.
		connection.cancelTimeout();
		try {
			await this.options.beforeIdentify(connection.ended.signal);
		} catch {
			// The connection ended.
			return;
		}
		connection.hasIdentified = true;
		this.#expectSession(connection);
		const { token, identifyProperties, initialPresence } = this.manager.options;
		this.#intents = this.options.intents();
		connection.send({
			op: GatewayOpcodes.Identify,
			d: {
				token,
				intents: this.#intents,
				properties: identifyProperties,
				compress: false,
				shard: [this.shard.id, this.shard.count],
				...(initialPresence && { presence: initialPresence }),
			},
		});
	}

	#resume(connection: SocketConnection, { id, sequence }: Session): void {
		const { token } = this.manager.options;
		connection.send({ op: GatewayOpcodes.Resume, d: { token, session_id: id, seq: sequence } });
	}

	#handleDispatch(connection: SocketConnection, event: Dispatch): void {
		if (event.t === GatewayDispatchEvents.Ready) {
			this.#handleReady(connection, event);
			return;
		}
		// Before dispatching, so that an unreadable event is not replayed.
		if (this.#session && Number.isSafeInteger(event.s)) this.#session.sequence = Number(event.s);
		if (event.t === GatewayDispatchEvents.Resumed) this.#markReady(connection);
		this.#dispatch(event, connection.state !== "ready");
	}

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
			if (!ready) throw new TypeError("Discord's READY event lacks a required field");
			this.#emit("ready", { data: ready });
			this.#emit("dispatch", { data: { ...event, d: ready } });
		};
		const isRead = this.options.readEvent(event, { read, isReplay: false });
		if (!ready || !isRead) {
			connection.readyAt = undefined;
			this.#endSession(connection, "the READY event of Discord's Gateway cannot be parsed");
			return;
		}
		// Discord sends no event for guilds that the bot left while it was disconnected.
		const present = new Set(ready.guilds.map(({ id }) => id));
		for (const id of this.options.knownGuilds())
			if (!present.has(id)) this.#dispatch({ ...event, t: "GUILD_DELETE", d: { id } });
		this.#onReady();
	}

	#markReady(connection: SocketConnection): void {
		connection.markReady();
		this.#reportSession();
		this.#flush();
	}

	#dispatch(event: Dispatch, isReplay = false): void {
		if (event.t === GatewayDispatchEvents.Resumed) this.#emit("resumed");
		const read = (one: Dispatch) =>
			this.options.readEvent(one, { read: () => this.#emit("dispatch", { data: one }), isReplay });
		const { d } = event;
		if (event.t !== GatewayDispatchEvents.GuildCreate || !isObject(d)) {
			read(event);
			return;
		}
		// `unavailable` is optional; absent means available, but discord.js then keeps its old value.
		// https://discord.com/developers/docs/events/gateway-events#guild-create
		if (read({ ...event, d: { unavailable: false, ...d } })) return;
		if (typeof d.id !== "string") return;
		// The event may be half applied: mark the guild unavailable until Discord sends a readable one.
		const gone = { id: d.id, unavailable: true };
		read({ ...event, d: gone });
		read({ ...event, t: GatewayDispatchEvents.GuildDelete, d: gone });
	}

	#flush(): void {
		const connection = this.#connection;
		if (connection?.state !== "ready") return;
		clearTimeout(this.#flushTimer);
		while (connection.sent.waitMs === 0) {
			const payload = this.#queue.shift();
			if (!payload) return;
			connection.sent.add();
			connection.send(payload);
		}
		this.#flushTimer = setTimeout(() => this.#flush(), connection.sent.waitMs);
	}

	#reportSession(): void {
		const session = this.#session;
		const { id, count } = this.shard;
		void this.manager.options.updateSessionInfo(
			id,
			session
				? { sessionId: session.id, resumeURL: session.url, sequence: session.sequence, shardId: id, shardCount: count }
				: null,
		);
	}

	/** As the shards of @discordjs/ws do. */
	#emit(event: string, payload: object = {}): void {
		const emitter: { emit(event: string, payload: object): void } = this.manager as never;
		emitter.emit(event, { ...payload, shardId: this.shard.id });
	}
}

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
