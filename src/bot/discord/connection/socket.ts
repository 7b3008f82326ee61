// The bot's connection to Discord's Gateway, in place of the one in @discordjs/ws: one loop owns the socket, so that the
// next one is opened only after the last one has closed, with a back-off in between. The other one connects again beside
// its owner when a WebSocket upgrade is refused, waits for ever for a peer that does not answer a close, and lets what a
// listener throws end the process. JSON without compression, one shard.
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
	/** Waits between connections: doubled each time, up to the second number. */
	backOffMs: readonly [number, number];
	/** A session that was there for so long begins the back-off anew. */
	stableMs: number;
	/** How long the upgrade and Hello may take together. */
	helloMs: number;
	/** How long READY or RESUMED may take. In an outage Discord acknowledges heartbeats, and answers eventually. */
	readyMs: number;
	/** How long a peer may take to answer a close. */
	closeMs: number;
}

export const usualTiming: SocketTiming = {
	backOffMs: [500, 60_000],
	stableMs: 10_000,
	helloMs: 30_000,
	readyMs: 300_000,
	closeMs: 2_000,
};

/** A dispatch, as far as it is known to be one. */
export interface Dispatch {
	op: GatewayOpcodes.Dispatch;
	t: string;
	s: unknown;
	d: unknown;
}

export interface SocketOptions {
	timing: SocketTiming;
	/** The sockets that are not closed yet, of all clients. */
	open: Set<WebSocket>;
	/** Aborted when the bot stops: nothing is connected after that. */
	closing: AbortSignal;
	/** Resolves before a connection whose session would be a new one. Rejects when `signal` aborts. */
	beforeNewSession(signal: AbortSignal): Promise<void>;
	/** Resolves when the bot may identify, at once. Rejects when `signal` aborts. */
	beforeIdentify(signal: AbortSignal): Promise<void>;
	/** The ids of the guilds that discord.js knows. */
	knownGuilds(): Iterable<string>;
	/**
	 * Does `read`, which gives an event to discord.js. False: it could not be read. A replay is of the time before a
	 * session is resumed.
	 */
	readEvent(
		event: Dispatch,
		how: { read: () => void; isReplay: boolean },
	): boolean;
	/** A session's connection is lost. `heardAt` is when Discord was last heard, by the monotonic clock. */
	onLost(reason: string, heardAt: number): void;
	/** A connection did not come about. */
	onFailure(reason: string, retryMs: number): void;
}

/** Discord closed the connection with a code after which it should not be tried again. */
export class GatewayRefusal extends Error {
	override name = "GatewayRefusal";
	constructor(readonly code: number) {
		super(`Discord's Gateway closed for good, with code ${code}`);
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

/** Stands for a connection that ended without a close. */
const abnormalClosure = 1006;

/** Our own code for a connection whose session goes on. */
const toResume = 4900;
/** Ends the session. */
const farewell = 1000;

/**
 * After these Discord has forgotten the session. 1001 is none of them: Discord sends it when a server of its own restarts,
 * and only from us does it end the session.
 * https://discord.com/developers/docs/events/gateway#initiating-a-disconnect
 */
const endOfSession = new Set<number>([
	farewell,
	GatewayCloseCodes.NotAuthenticated,
	GatewayCloseCodes.InvalidSeq,
	GatewayCloseCodes.SessionTimedOut,
]);

/** After so many failures in a row, the session is resumed at the Gateway's first address. */
const maxResumeFailures = 3;

/** Discord takes 120 payloads a minute; heartbeats need some of them. */
const payloadLimit = { count: 110, windowMs: 60_000 };

interface Session {
	id: string;
	/** Where to resume it. */
	url: string;
	/** Of the latest event. */
	sequence: number;
}

/** One connection, from its upgrade to its end. */
interface Line {
	readonly socket: WebSocket;
	/** Aborted at its end. */
	readonly ended: AbortController;
	state: "connecting" | "waiting" | "ready" | "closing";
	/** By the monotonic clock. */
	readyAt: number | undefined;
	/** Ends it where Discord takes too long. */
	deadline: Timer | undefined;
	heartbeat: Timer | undefined;
	/** When the last heartbeat was sent that was not acknowledged, by the monotonic clock. */
	unacknowledged: number | undefined;
	/** When the peer was last heard, by the monotonic clock. */
	heardAt: number;
	/** Why it ends, as far as we know. */
	reason: string | undefined;
	/** What was sent in the current window. */
	sent: { count: number; since: number };
	paced: Timer | undefined;
}

export class Socket implements Strategy {
	readonly #manager: Manager;
	readonly #options: SocketOptions;
	#closing = new AbortController();
	readonly #queue: GatewaySendPayload[] = [];
	#running: Promise<void> | undefined;
	#session: Session | undefined;
	/** The Gateway's first address, which Discord asks to be kept. */
	#url: string | undefined;
	#line: Line | undefined;
	#onReady: () => void = () => {};

	constructor(manager: Manager, options: SocketOptions) {
		this.#manager = manager;
		this.#options = options;
	}

	/** Part of the interface; there is one shard. */
	spawn(): void {}

	/** Part of the interface; discord.js does not ask. */
	fetchStatus(): never {
		throw new Error("there is no status of shards");
	}

	/** Connects until there is a session, and keeps it. Rejects with a GatewayRefusal only. */
	async connect(): Promise<void> {
		// A login that was under way when the bot stopped goes on in discord.js.
		this.#options.closing.throwIfAborted();
		const { promise, resolve } = Promise.withResolvers<void>();
		this.#onReady = resolve;
		// @discordjs/ws destroys what was there before, also the first time.
		this.#closing = new AbortController();
		this.#running = this.#run();
		await Promise.race([promise, this.#running]);
		// From here on nobody waits for it: discord.js is told of a refusal by the code.
		this.#running.catch((error) => {
			if (!(error instanceof GatewayRefusal)) throw error;
			this.#emit("closed", { code: error.code });
		});
	}

	/** Ends the session. Resolves when the socket is closed. */
	async destroy(): Promise<void> {
		this.#closing.abort();
		if (this.#line) this.#hangUp(this.#line, farewell, "the bot stops");
		// Of what has failed for good `connect` has told.
		await this.#running?.catch(() => {});
	}

	/** Sends a payload when there is a session, at Discord's pace; it is forgotten with its session. */
	send(_shard: number, payload: GatewaySendPayload): void {
		this.#queue.push(payload);
		this.#flush();
	}

	/** One connection after the other. Rejects with a GatewayRefusal. */
	async #run(): Promise<void> {
		const { signal } = this.#closing;
		const { timing, onLost, onFailure } = this.#options;
		for (let failures = 0; !signal.aborted; ) {
			const { code, reason, heardAt, readyMs } = await this.#converse(failures);
			if (signal.aborted) return;
			if (finalCodes.has(code)) throw new GatewayRefusal(code);
			if (readyMs !== undefined) this.#emit("closed", { code });
			if (readyMs !== undefined && readyMs >= timing.stableMs) failures = 0;
			const waitMs = backOffMs(failures, timing.backOffMs);
			failures += 1;
			if (readyMs === undefined) onFailure(reason, waitMs);
			else onLost(reason, heardAt);
			await sleep(waitMs, undefined, { signal }).catch(() => {});
		}
	}

	/** One connection. Resolves when its socket is closed; `readyMs` is how long it had a session. Never rejects. */
	async #converse(failures: number): Promise<{
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
			const isKnown = this.#session && failures < maxResumeFailures;
			const url = new URL((isKnown && this.#session?.url) || this.#url);
			url.searchParams.set("v", this.#manager.options.version);
			url.searchParams.set("encoding", "json");
			signal.throwIfAborted();
			socket = new WebSocket(url);
		} catch (error) {
			return { code: 0, reason: String(error), heardAt: 0 };
		}
		open.add(socket);
		const line: Line = {
			socket,
			ended: new AbortController(),
			state: "connecting",
			...{ readyAt: undefined, heartbeat: undefined, paced: undefined },
			...{ unacknowledged: undefined, reason: undefined },
			...{ heardAt: performance.now() },
			sent: { count: 0, since: performance.now() },
			deadline: setTimeout(
				() => this.#hangUp(line, toResume, "Discord's Gateway does not answer"),
				timing.helloMs,
			),
		};
		this.#line = line;
		socket.onmessage = ({ data }) => this.#receive(line, data);
		socket.onerror = (event) => {
			line.reason ??= upgradeFault(event);
		};
		socket.onclose = ({ code }) => {
			// Of a peer that is merely gone nothing was heard now.
			if (code !== abnormalClosure && line.state !== "closing")
				line.heardAt = performance.now();
			resolve(code);
		};
		const code = await closed;
		open.delete(socket);
		this.#end(line);
		if (endOfSession.has(code)) this.#forgetSession();
		const reason = line.reason ?? `Discord closed the connection (${code})`;
		const { heardAt, readyAt } = line;
		if (readyAt === undefined) return { code, reason, heardAt };
		return { code, reason, heardAt, readyMs: performance.now() - readyAt };
	}

	#end(line: Line): void {
		line.state = "closing";
		line.ended.abort();
		clearTimeout(line.deadline);
		clearTimeout(line.heartbeat);
		clearTimeout(line.paced);
		this.#line = undefined;
		this.#noteSession();
	}

	/** Closes a connection, at once where the peer does not answer. */
	#hangUp(line: Line, code: number, reason: string): void {
		if (line.state === "closing") return;
		const { socket } = line;
		line.state = "closing";
		line.reason = reason;
		line.ended.abort();
		clearTimeout(line.heartbeat);
		clearTimeout(line.deadline);
		if (endOfSession.has(code)) this.#forgetSession();
		if (socket.readyState !== WebSocket.OPEN) {
			socket.terminate();
			return;
		}
		socket.close(code, reason);
		line.deadline = setTimeout(
			() => socket.terminate(),
			this.#options.timing.closeMs,
		);
	}

	#receive(line: Line, text: unknown): void {
		if (line.state === "closing") return;
		line.heardAt = performance.now();
		const payload = typeof text === "string" ? parseJson(text) : undefined;
		if (!isObject(payload)) return;
		const { op, d } = payload;
		switch (op) {
			case GatewayOpcodes.Dispatch:
				this.#hear(line, payload as unknown as Dispatch);
				break;
			case GatewayOpcodes.Heartbeat:
				// Noted as unacknowledged, it would make a zombie of a connection whose next heartbeat is due at the moment.
				this.#beat(line);
				break;
			case GatewayOpcodes.HeartbeatAck:
				this.#noteAcknowledgement(line);
				break;
			case GatewayOpcodes.Hello:
				this.#greet(line, d);
				break;
			case GatewayOpcodes.Reconnect:
				this.#hangUp(line, toResume, "Discord asked to reconnect");
				break;
			case GatewayOpcodes.InvalidSession: {
				const code = d === true ? toResume : farewell;
				this.#hangUp(line, code, "Discord calls the session invalid");
				break;
			}
		}
	}

	#greet(line: Line, d: unknown): void {
		const intervalMs = isObject(d) ? d.heartbeat_interval : undefined;
		if (line.state !== "connecting") return;
		if (typeof intervalMs !== "number" || !(intervalMs > 0)) {
			this.#hangUp(line, toResume, "Discord's Hello cannot be read");
			return;
		}
		line.state = "waiting";
		clearTimeout(line.deadline);
		line.deadline = setTimeout(
			() => this.#hangUp(line, toResume, "Discord does not begin the session"),
			this.#options.timing.readyMs,
		);
		const next = (ms: number) => {
			line.heartbeat = setTimeout(() => {
				if (line.unacknowledged === undefined) {
					line.unacknowledged = performance.now();
					this.#beat(line);
					next(intervalMs);
				} else this.#hangUp(line, toResume, "Discord answers no heartbeat");
			}, ms);
		};
		next(intervalMs * Math.random());
		this.#emit("hello");
		if (this.#session) this.#resume(line, this.#session);
		else void this.#identify(line);
	}

	#beat(line: Line): void {
		transmit(line, {
			op: GatewayOpcodes.Heartbeat,
			d: this.#session?.sequence ?? null,
		});
	}

	#noteAcknowledgement(line: Line): void {
		const sentAt = line.unacknowledged;
		if (sentAt === undefined) return;
		line.unacknowledged = undefined;
		const latency = performance.now() - sentAt;
		const ackAt = Date.now();
		this.#emit("heartbeat", { ackAt, heartbeatAt: ackAt - latency, latency });
	}

	async #identify(line: Line): Promise<void> {
		try {
			await this.#options.beforeIdentify(line.ended.signal);
		} catch {
			// The connection has ended meanwhile.
			return;
		}
		const { token, intents, identifyProperties, initialPresence } =
			this.#manager.options;
		transmit(line, {
			op: GatewayOpcodes.Identify,
			d: {
				...{ token, intents, properties: identifyProperties },
				...{ compress: false, shard: [0, 1] },
				...(initialPresence && { presence: initialPresence }),
			},
		});
	}

	#resume(line: Line, { id, sequence }: Session): void {
		const { token } = this.#manager.options;
		transmit(line, {
			op: GatewayOpcodes.Resume,
			d: { token, session_id: id, seq: sequence },
		});
	}

	#hear(line: Line, event: Dispatch): void {
		if (event.t === GatewayDispatchEvents.Ready) {
			this.#begin(line, event);
			return;
		}
		// Noted first: an event that cannot be read is not to be replayed.
		if (this.#session && Number.isSafeInteger(event.s))
			this.#session.sequence = Number(event.s);
		if (event.t === GatewayDispatchEvents.Resumed) this.#noteReady(line);
		this.#dispatch(event, line.state !== "ready");
	}

	/** A new session. One whose READY cannot be read is given up. */
	#begin(line: Line, event: Dispatch): void {
		const ready = readReady(event.d);
		if (ready) {
			this.#session = {
				id: ready.session_id,
				url: ready.resume_gateway_url,
				sequence: Number.isSafeInteger(event.s) ? Number(event.s) : 0,
			};
			this.#queue.length = 0;
			this.#noteReady(line);
		}
		const read = () => {
			if (!ready) throw new TypeError("READY lacks what a session needs");
			this.#emit("ready", { data: ready });
			this.#emit("dispatch", { data: { ...event, d: ready } });
		};
		const isRead = this.#options.readEvent(event, { read, isReplay: false });
		if (!ready || !isRead) {
			line.readyAt = undefined;
			this.#hangUp(line, farewell, "Discord's READY cannot be read");
			return;
		}
		// The bot has left those that it was in before, and nobody told of it.
		const present = new Set(ready.guilds.map(({ id }) => id));
		for (const id of this.#options.knownGuilds())
			if (!present.has(id))
				this.#dispatch({ ...event, t: "GUILD_DELETE", d: { id } });
		this.#onReady();
	}

	#noteReady(line: Line): void {
		line.state = "ready";
		line.readyAt = performance.now();
		clearTimeout(line.deadline);
		this.#noteSession();
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
		// Documented as optional, and taken by discord.js to stay as it was. Absent means available.
		// https://discord.com/developers/docs/events/gateway-events#guild-create
		if (read({ ...event, d: { unavailable: false, ...d } })) return;
		if (typeof d.id !== "string") return;
		// Half of it may have been read: it is shown as unavailable, until Discord sends one that can be read.
		const gone = { id: d.id, unavailable: true };
		read({ ...event, d: gone });
		read({ ...event, t: GatewayDispatchEvents.GuildDelete, d: gone });
	}

	/** Sends what waits, as far as Discord's limit allows now. */
	#flush(): void {
		const line = this.#line;
		if (line?.state !== "ready") return;
		clearTimeout(line.paced);
		const now = performance.now();
		const { count, windowMs } = payloadLimit;
		if (now - line.sent.since >= windowMs) line.sent = { count: 0, since: now };
		for (; line.sent.count < count; line.sent.count += 1) {
			const payload = this.#queue.shift();
			if (!payload) return;
			transmit(line, payload);
		}
		const waitMs = line.sent.since + windowMs - now;
		line.paced = setTimeout(() => this.#flush(), waitMs);
	}

	#forgetSession(): void {
		this.#session = undefined;
		this.#noteSession();
	}

	/** discord.js tells by it how many events were replayed, and whether a connection resumes. */
	#noteSession(): void {
		const session = this.#session;
		void this.#manager.options.updateSessionInfo(
			0,
			session
				? {
						...{ sessionId: session.id, resumeURL: session.url },
						...{ sequence: session.sequence, shardId: 0, shardCount: 1 },
					}
				: null,
		);
	}

	/** As the shards of @discordjs/ws do. */
	#emit(event: string, payload: object = {}): void {
		const emitter: { emit(event: string, payload: object): void } = this
			.#manager as never;
		emitter.emit(event, { ...payload, shardId: 0 });
	}
}

function transmit({ socket }: Line, payload: object): void {
	// What is said to a socket that has closed is lost, as on the way.
	if (socket.readyState === WebSocket.OPEN)
		socket.send(JSON.stringify(payload));
}

/** What of READY is documented; the rest, which could be unreadable, nobody needs. Undefined where that is not there. */
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
		...{ v, user, session_id, resume_gateway_url },
		guilds: ids.map((id) => ({ id, unavailable: true })),
		application: { id, flags },
	};
}

/** Bun says the status of a refused upgrade, and nothing that we have to hide, behind the address. */
function upgradeFault(event: Event): string {
	const message = "message" in event ? String(event.message) : "";
	const [, status] = /status code: (\d{3})/.exec(message) ?? [];
	if (status) return `Discord's Gateway answered HTTP ${status}`;
	const [, cause = "it cannot be reached"] = /failed: (.+)/.exec(message) ?? [];
	return `Discord's Gateway: ${cause}`;
}
