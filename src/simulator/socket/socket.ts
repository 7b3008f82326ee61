// Discord's Gateway: the WebSocket on which bots identify and receive events. JSON only, without compression.
// https://discord.com/developers/docs/events/gateway
//
// A gap: The socket has no compression and ETF. A bot that asks for compression gets plain JSON, which discord.js
// accepts.

import { GatewayCloseCodes as Code, GatewayIntentBits as Intent, GatewayOpcodes as Op } from "discord.js";
import * as v from "valibot";
import { parseJson } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import type { PrivilegedIntent } from "../world/state/entities.ts";
import { Subscribers } from "../world/state/events.ts";
import * as serialize from "../world/state/serialize.ts";
import { keepLargeIntegers } from "../world/state/snowflake.ts";
import type { World } from "../world/world.ts";
import { memberChunks } from "./member-chunks.ts";
import { type Alter, PausableQueue, Session, socketUrl } from "./session.ts";

export interface SocketTiming {
	heartbeatIntervalMs: number;
	resumeWindowMs: number;
	/** Minimum time between two requests of a bot for all members of a guild. */
	allMembersMs: number;
}

export const discordTiming: SocketTiming = {
	heartbeatIntervalMs: 41_250,
	resumeWindowMs: 300_000,
	allMembersMs: 30_000,
};

export interface Connection {
	host: string;
	version: string;
	encoding: string;
	session: Session | undefined;
	heartbeat: Timer | undefined;
	/** The payloads of the bot in the current minute, and when that began (milliseconds since 1970). */
	minute: { count: number; since: number };
}

type Socket = Bun.ServerWebSocket<Connection>;

const payloadLimit = 4096;
const payloadsPerMinute = 120;

const payload = v.object({ op: v.number(), d: v.optional(v.unknown()) });

const identify = v.object({
	token: v.string(),
	intents: v.pipe(v.number(), v.integer(), v.minValue(0)),
	large_threshold: v.optional(v.pipe(v.number(), v.minValue(50), v.maxValue(250)), 50),
	shard: v.optional(v.tuple([v.number(), v.number()]), [0, 1]),
	compress: v.optional(v.boolean(), false),
});

const resume = v.object({ token: v.string(), session_id: v.string(), seq: v.number() });

const knownIntents = Object.values(Intent)
	.filter((bits) => typeof bits === "number")
	.reduce((all, bits) => all | bits, 0);

const bitsOf = (intents: readonly PrivilegedIntent[]) => intents.reduce((bits, name) => bits | Intent[name], 0);

const allPrivileged = bitsOf(["GuildMembers", "GuildPresences", "MessageContent"]);

// GUILD_CREATE of larger guilds lists no members.
const maxListedGuildSize = 75_000;

export class SocketHub {
	readonly #sessions = new Map<string, Session>();
	readonly #newConnections = new PausableQueue();
	readonly #memberRequests = new PausableQueue();
	readonly #allMembersAt = new Map<string, number>();
	readonly #sockets = new Set<Socket>();
	/** Notified after each change, with the user ids of the connected bots. */
	readonly changed = new Subscribers<readonly string[]>();
	#refusedStatus: number | undefined;
	upgrades = 0;
	#alter: Alter | undefined;

	constructor(
		private readonly world: World,
		private readonly log: Log,
		private readonly timing: SocketTiming,
	) {
		world.state.subscribe((event) => {
			for (const session of this.#sessions.values()) session.dispatchIfConcerned(event, world);
		});
	}

	readonly handlers: Bun.WebSocketHandler<Connection> = {
		open: (socket) => closing(socket, () => this.#open(socket)),
		message: (socket, message) => closing(socket, () => this.#receive(socket, message)),
		close: (socket, code) => this.#onClose(socket, code),
		maxPayloadLength: 1 << 20,
		// A chunk of members is large, and a bot may read slowly.
		backpressureLimit: 1 << 28,
		// Heartbeats detect dead connections.
		idleTimeout: 0,
	};

	/** Resolves with undefined if that succeeds, else with an error response. */
	async upgrade(request: Request, url: URL, server: Bun.Server<Connection>): Promise<Response | undefined> {
		this.upgrades += 1;
		if (this.#refusedStatus !== undefined)
			return new Response("<html>simulated</html>", { status: this.#refusedStatus });
		await new Promise<void>((resolve) => this.#newConnections.run(resolve));
		if (url.searchParams.has("compress")) this.log.warn("a bot requested Gateway compression, which is not simulated");
		const upgraded = server.upgrade(request, {
			data: {
				host: url.host,
				version: url.searchParams.get("v") ?? "10",
				encoding: url.searchParams.get("encoding") ?? "json",
				session: undefined,
				heartbeat: undefined,
				minute: { count: 0, since: Date.now() },
			},
		});
		return upgraded ? undefined : new Response("This is a WebSocket.\n", { status: 426 });
	}

	get connected(): readonly string[] {
		return [...this.#sockets].flatMap(({ data }) => data.session?.bot.user.id ?? []);
	}

	get open(): number {
		return this.#sockets.size;
	}

	/** With this HTTP status, like a proxy whose backend is down. Undefined accepts them again. */
	refuseConnections(status: number | undefined): void {
		this.#refusedStatus = status;
	}

	/** Sends a Gateway event to all sessions of a bot, even if the bot lacks the intent for the event. */
	dispatch(botId: string, type: string, data: unknown): void {
		for (const session of this.#sessions.values()) if (session.bot.user.id === botId) session.dispatchAny(type, data);
	}

	/** In current and new sessions. Undefined stops it. */
	alterEvents(alter: Alter | undefined): void {
		this.#alter = alter;
	}

	/** Of all bots, or of `botId`, or only its `shard`. With `resumable: false`, the bots cannot resume their sessions. */
	disconnect({
		code = 4000,
		resumable = true,
		botId,
		shard,
	}: {
		code?: number | undefined;
		resumable?: boolean | undefined;
		botId?: string;
		shard?: number | undefined;
	} = {}): void {
		const isMeant = (session: Session | undefined) =>
			(botId === undefined || session?.bot.user.id === botId) && (shard === undefined || session?.shard[0] === shard);
		for (const session of this.#sessions.values())
			if (!resumable && isMeant(session)) this.#sessions.delete(session.id);
		for (const socket of this.#sockets) {
			if (!isMeant(socket.data.session)) continue;
			// Only a bot's own 1000 or 1001 ends its session.
			this.#detach(socket);
			socket.close(code, "simulated");
		}
	}

	/** Tells all bots that their session is invalid (opcode 9). The sessions end unless `resumable` is true. */
	invalidate({ resumable = false } = {}): void {
		if (!resumable) this.#sessions.clear();
		for (const socket of this.#sockets) {
			this.#detach(socket);
			send(socket, Op.InvalidSession, resumable);
		}
	}

	requestReconnect(): void {
		for (const socket of this.#sockets) send(socket, Op.Reconnect, null);
	}

	/** Holds back all events of the current sessions (true), or sends the held events and continues (false). */
	holdEvents(held: boolean): void {
		for (const session of this.#sessions.values()) session.queue.pause(held);
	}

	holdConnections(held: boolean): void {
		this.#newConnections.pause(held);
	}

	holdMembers(held: boolean): void {
		this.#memberRequests.pause(held);
	}

	close(): void {
		this.#sessions.clear();
		for (const socket of this.#sockets) {
			clearTimeout(socket.data.heartbeat);
			socket.terminate();
		}
	}

	#open(socket: Socket): void {
		this.#sockets.add(socket);
		const { version, encoding } = socket.data;
		if (version !== "10" && version !== "9") throw new CloseError(Code.InvalidAPIVersion);
		if (encoding !== "json") throw new CloseError(Code.DecodeError);
		send(socket, Op.Hello, { heartbeat_interval: this.timing.heartbeatIntervalMs, _trace: ["simulator"] });
		this.#expectHeartbeat(socket);
	}

	#expectHeartbeat(socket: Socket): void {
		clearTimeout(socket.data.heartbeat);
		// Half an interval of tolerance: the first heartbeat has random jitter, others may be late.
		socket.data.heartbeat = setTimeout(
			() => socket.close(Code.SessionTimedOut, "no heartbeat"),
			this.timing.heartbeatIntervalMs * 1.5,
		);
	}

	#onClose(socket: Socket, code: number): void {
		this.#sockets.delete(socket);
		clearTimeout(socket.data.heartbeat);
		const { session } = socket.data;
		// A bot that closes with these codes does not resume.
		if (session && (code === 1000 || code === 1001)) this.#sessions.delete(session.id);
		this.#detach(socket);
	}

	#detach(socket: Socket): void {
		const { session } = socket.data;
		socket.data.session = undefined;
		if (session) this.changed.notify(this.connected);
		// A resumed session has another connection already.
		if (session?.connection !== socket) return;
		session.connection = undefined;
		session.expiry = setTimeout(() => this.#sessions.delete(session.id), this.timing.resumeWindowMs).unref();
	}

	#receive(socket: Socket, message: string | Buffer): void {
		const { minute } = socket.data;
		const now = Date.now();
		if (now - minute.since >= 60_000) Object.assign(minute, { count: 0, since: now });
		minute.count += 1;
		if (minute.count > payloadsPerMinute) throw new CloseError(Code.RateLimited);
		const text = message.toString();
		if (text.length > payloadLimit) throw new CloseError(Code.DecodeError);
		const { op, d } = parse(payload, parseJson(text, keepLargeIntegers));
		const { session } = socket.data;
		if (op === Op.Heartbeat) {
			this.#expectHeartbeat(socket);
			send(socket, Op.HeartbeatAck, undefined);
			return;
		}
		if (op === Op.Identify || op === Op.Resume) {
			if (session) throw new CloseError(Code.AlreadyAuthenticated);
			if (op === Op.Identify) this.#identify(socket, d);
			else this.#resume(socket, d);
			return;
		}
		if (!answered.has(op)) throw new CloseError(Code.UnknownOpcode);
		if (!session) throw new CloseError(Code.NotAuthenticated);
		if (op === Op.RequestGuildMembers) {
			const request = memberChunks(d, session, this.world);
			if (!request) {
				this.log.warn("ignored an invalid Request Guild Members message from a bot", {
					bot: session.bot.user.username,
				});
				return;
			}
			const { chunks, limited } = request;
			const waitMs = limited ? this.#takeAllMembers(session, limited) : 0;
			if (limited && waitMs > 0) {
				session.dispatch("RATE_LIMITED", { opcode: Op.RequestGuildMembers, retry_after: waitMs / 1000, meta: limited });
				return;
			}
			this.#memberRequests.run(() => {
				for (const chunk of chunks) session.dispatch("GUILD_MEMBERS_CHUNK", chunk);
			});
		}
		// Presence and voice state updates are accepted and have no effect.
	}

	/** Milliseconds until a bot may request all members of a guild. At 0, records its request as sent now. */
	#takeAllMembers({ bot }: Session, { guild_id }: { guild_id: string }): number {
		const key = `${bot.user.id} ${guild_id}`;
		const now = performance.now();
		const at = this.#allMembersAt.get(key) ?? -Infinity;
		const waitMs = Math.max(0, at + this.timing.allMembersMs - now);
		if (waitMs === 0) this.#allMembersAt.set(key, now);
		return waitMs;
	}

	#identify(socket: Socket, d: unknown): void {
		const { token, intents, shard, large_threshold } = parse(identify, d);
		const bot = this.world.accounts.get(token.replace(/^Bot /, ""));
		if (!bot?.user.bot) throw new CloseError(Code.AuthenticationFailed);
		const { sharding } = this.world;
		const [shardId, shards] = shard;
		const isShard = Number.isInteger(shardId) && Number.isInteger(shards) && shardId >= 0 && shardId < shards;
		if (!isShard) throw new CloseError(Code.InvalidShard);
		if ((intents & ~knownIntents) !== 0) throw new CloseError(Code.InvalidIntents);
		const refused = allPrivileged & ~bitsOf(bot.privilegedIntents);
		if ((intents & refused) !== 0) throw new CloseError(Code.DisallowedIntents);

		const { total, used } = this.world.users.sessionStarts;
		const starts = (used.get(bot.user.id) ?? 0) + 1;
		// Discord resets the token.
		if (starts > total) throw new CloseError(Code.AuthenticationFailed);
		used.set(bot.user.id, starts);
		if (!sharding.takeIdentify(bot.user.id, shardId)) {
			send(socket, Op.InvalidSession, false);
			return;
		}
		if (sharding.isTooLarge(bot.user.id, shardId, shards)) throw new CloseError(Code.ShardingRequired);
		const session = new Session(bot, intents, shard, (type, data) => (this.#alter ? this.#alter(type, data) : data));
		attach(session, socket);
		this.#sessions.set(session.id, session);
		this.changed.notify(this.connected);
		this.#sendReady(session, socket.data, large_threshold);
	}

	#sendReady(session: Session, { host, version }: Connection, largeThreshold: number): void {
		const { bot } = session;
		const guilds = [...this.world.guilds.values()].filter(
			(guild) => guild.members.has(bot.user.id) && session.serves(guild.id),
		);
		const flags = serialize.applicationFlags(bot);
		session.dispatch("READY", {
			v: Number(version),
			user: serialize.ownUser(bot, this.world.users.hasMfa(bot.user)),
			guilds: guilds.map(({ id }) => ({ id, unavailable: true })),
			session_id: session.id,
			resume_gateway_url: socketUrl(host),
			shard: session.shard,
			application: { id: bot.user.id, flags, flags_new: String(flags) },
			private_channels: [],
		});
		if (!session.hasIntent(Intent.Guilds)) return;
		for (const guild of guilds) {
			const { size } = guild.members;
			const listed = session.hasIntent(Intent.GuildPresences) && size < largeThreshold && size < maxListedGuildSize;
			const members = listed ? guild.members.values() : undefined;
			session.dispatch("GUILD_CREATE", this.world.guilds.serializeFor(guild, bot.user, members));
			session.noteChannels(guild);
		}
	}

	#resume(socket: Socket, d: unknown): void {
		const { token, session_id, seq } = parse(resume, d);
		const session = this.#sessions.get(session_id);
		if (!session) {
			send(socket, Op.InvalidSession, false);
			return;
		}
		if (session.bot.token !== token.replace(/^Bot /, "")) throw new CloseError(Code.AuthenticationFailed);
		if (!session.canReplay(seq)) {
			this.#sessions.delete(session.id);
			throw new CloseError(Code.InvalidSeq);
		}
		session.connection?.close(Code.UnknownError, "resumed elsewhere");
		attach(session, socket);
		this.changed.notify(this.connected);
		session.replay(seq);
		session.dispatch("RESUMED", { _trace: ["simulator"] });
	}
}

const answered = new Set<number>([Op.RequestGuildMembers, Op.PresenceUpdate, Op.VoiceStateUpdate]);

function parse<const S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> {
	const { success, output } = v.safeParse(schema, value);
	if (!success) throw new CloseError(Code.DecodeError);
	return output;
}

function send(socket: Socket, op: Op, d: unknown): void {
	socket.send(JSON.stringify({ op, d, s: null, t: null }));
}

class CloseError extends Error {
	constructor(readonly code: Code) {
		super(Code[code]);
	}
}

function closing(socket: Socket, receive: () => void): void {
	try {
		receive();
	} catch (error) {
		if (!(error instanceof CloseError)) throw error;
		socket.close(error.code, error.message);
	}
}

function attach(session: Session, socket: Socket): void {
	socket.data.session = session;
	session.connection = socket;
	clearTimeout(session.expiry);
}
