// Discord's Gateway: the socket on which bots log in and are told of events. JSON only, without compression.
// https://discord.com/developers/docs/events/gateway

import {
	GatewayCloseCodes,
	GatewayIntentBits,
	GatewayOpcodes,
} from "discord.js";
import * as v from "valibot";
import type { Log } from "../../lib/log.ts";
import type { PrivilegedIntent } from "../world/state/entities.ts";
import * as serialize from "../world/state/serialize.ts";
import type { World } from "../world/world.ts";
import { memberChunks } from "./member-chunks.ts";
import { Gate } from "./pausable-queue.ts";
import { type Alter, type Line, Session, socketUrl } from "./session.ts";

export interface SocketTiming {
	/** How often bots are asked to show that they live. */
	readonly heartbeatIntervalMs: number;
	/** How long a session waits for its bot to come back. */
	readonly resumeWindowMs: number;
}

export const discordTiming: SocketTiming = {
	heartbeatIntervalMs: 41_250,
	resumeWindowMs: 300_000,
};

/** What is known of one connection. */
export interface Connection {
	/** The host and port it called us by. */
	readonly host: string;
	readonly version: string;
	readonly encoding: string;
	session: Session | undefined;
	/** What its session knows of it. */
	line: Line | undefined;
	heartbeat: Timer | undefined;
	/** Payloads in the current minute, and when it began. */
	minute: { count: number; since: number };
}

type Socket = Bun.ServerWebSocket<Connection>;

const payloadLimit = 4096;
const payloadsPerMinute = 120;

const payload = v.object({ op: v.number(), d: v.optional(v.unknown()) });

const identify = v.object({
	token: v.string(),
	intents: v.pipe(v.number(), v.integer(), v.minValue(0)),
	large_threshold: v.optional(
		v.pipe(v.number(), v.minValue(50), v.maxValue(250)),
		50,
	),
	shard: v.optional(v.tuple([v.number(), v.number()]), [0, 1]),
	compress: v.optional(v.boolean(), false),
});

const resume = v.object({
	token: v.string(),
	session_id: v.string(),
	seq: v.number(),
});

const knownIntents = Object.values(GatewayIntentBits)
	.filter((bits) => typeof bits === "number")
	.reduce((all, bits) => all | bits, 0);

const privileged: Readonly<Record<PrivilegedIntent, number>> = {
	GuildMembers: GatewayIntentBits.GuildMembers,
	GuildPresences: GatewayIntentBits.GuildPresences,
	MessageContent: GatewayIntentBits.MessageContent,
};

// What GUILD_CREATE lists no members of, whatever the bot may see.
const hugeGuild = 75_000;

export class SocketHub {
	readonly #world: World;
	readonly #log: Log;
	readonly #timing: SocketTiming;
	readonly #sessions = new Map<string, Session>();
	readonly #connections = new Gate();
	readonly #memberRequests = new Gate();
	readonly #sockets = new Set<Socket>();
	#deaf = false;
	/** The HTTP status that new connections get instead of a WebSocket. */
	#refusal: number | undefined;
	#upgrades = 0;
	#alter: Alter | undefined;

	constructor(world: World, log: Log, timing: SocketTiming) {
		this.#world = world;
		this.#log = log;
		this.#timing = timing;
		world.state.subscribe((event) => {
			for (const session of this.#sessions.values()) session.tell(event, world);
		});
	}

	/** What Bun.serve needs to know. */
	readonly handlers: Bun.WebSocketHandler<Connection> = {
		open: (socket) => closing(socket, () => this.#open(socket)),
		message: (socket, message) =>
			closing(socket, () => this.#receive(socket, message)),
		close: (socket, code) => this.#gone(socket, code),
		maxPayloadLength: 1 << 20,
		// A chunk of members is large, and a bot may be slow to take it.
		backpressureLimit: 1 << 28,
		// Heartbeats tell who is gone.
		idleTimeout: 0,
	};

	/** Upgrades a request; undefined when it became a socket. */
	async upgrade(
		request: Request,
		url: URL,
		server: Bun.Server<Connection>,
	): Promise<Response | undefined> {
		this.#upgrades += 1;
		if (this.#refusal !== undefined)
			return new Response("<html>simulated</html>", { status: this.#refusal });
		await new Promise<void>((resolve) => this.#connections.pass(resolve));
		if (url.searchParams.has("compress"))
			this.#log.warn("a bot asked for compression and gets none");
		const upgraded = server.upgrade(request, {
			data: {
				host: url.host,
				version: url.searchParams.get("v") ?? "10",
				encoding: url.searchParams.get("encoding") ?? "json",
				session: undefined,
				line: undefined,
				heartbeat: undefined,
				minute: { count: 0, since: Date.now() },
			},
		});
		return upgraded
			? undefined
			: new Response("This is a WebSocket.\n", { status: 426 });
	}

	/** The user ids of the bots that are connected now, once per connection. */
	get connected(): readonly string[] {
		return [...this.#sockets].flatMap(
			({ data }) => data.session?.bot.user.id ?? [],
		);
	}

	/** How many connections are open, identified or not. */
	get open(): number {
		return this.#sockets.size;
	}

	/** How often a WebSocket was asked for so far. */
	get upgrades(): number {
		return this.#upgrades;
	}

	/** Answers every new connection with this HTTP status from now on, as a proxy before a Gateway that is down; undefined ends that. */
	refuseConnections(status: number | undefined): void {
		this.#refusal = status;
	}

	/** Sends every bot with this id an event as it stands, whatever its intents. `data` need not be what Discord would send. */
	dispatch(botId: string, type: string, data: unknown): void {
		for (const session of this.#sessions.values())
			if (session.bot.user.id === botId) session.dispatch(type, data);
	}

	/** Has every event's data be what `alter` makes of it from now on, in sessions old and new; undefined ends that. */
	alterEvents(alter: Alter | undefined): void {
		this.#alter = alter;
		for (const session of this.#sessions.values()) session.alter = alter;
	}

	/** Closes all connections; with `resumable: false` the sessions are forgotten too. */
	disconnect({ code = 4000, resumable = true } = {}): void {
		if (!resumable) this.#sessions.clear();
		for (const socket of this.#sockets) {
			// Only a bot's own 1000 or 1001 ends its session.
			this.#detach(socket);
			socket.close(code, "simulated");
		}
	}

	/** Tells all bots that their session is invalid, and forgets it unless it is resumable. */
	invalidate({ resumable = false } = {}): void {
		if (!resumable) this.#sessions.clear();
		for (const socket of this.#sockets) {
			this.#detach(socket);
			send(socket, GatewayOpcodes.InvalidSession, resumable);
		}
	}

	/** Asks all bots to connect anew, as Discord does now and then. */
	requestReconnect(): void {
		for (const socket of this.#sockets)
			send(socket, GatewayOpcodes.Reconnect, null);
	}

	/** Whether the events of all who are connected are held back from now on, as by a slow network; then they come late. */
	holdEvents(held: boolean): void {
		for (const session of this.#sessions.values()) session.hold(held);
	}

	/** Whether new connections wait from now on, as on a slow network; those that waited are let in once they need no longer. */
	holdConnections(held: boolean): void {
		this.#connections.hold(held);
	}

	/** Whether requests for members wait from now on; those that waited are answered once they need no longer. */
	holdMembers(held: boolean): void {
		this.#memberRequests.hold(held);
	}

	/** Whether heartbeats go unanswered from now on. */
	ignoreHeartbeats(ignored: boolean): void {
		this.#deaf = ignored;
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
		if (version !== "10" && version !== "9")
			throw new Refused(GatewayCloseCodes.InvalidAPIVersion);
		if (encoding !== "json") throw new Refused(GatewayCloseCodes.DecodeError);
		send(socket, GatewayOpcodes.Hello, {
			heartbeat_interval: this.#timing.heartbeatIntervalMs,
			_trace: ["simulator"],
		});
		this.#expectHeartbeat(socket);
	}

	#expectHeartbeat(socket: Socket): void {
		clearTimeout(socket.data.heartbeat);
		// Half an interval of grace: the first heartbeat comes at a random moment, the others may be a little late.
		socket.data.heartbeat = setTimeout(
			() => socket.close(GatewayCloseCodes.SessionTimedOut, "no heartbeat"),
			this.#timing.heartbeatIntervalMs * 1.5,
		);
	}

	#gone(socket: Socket, code: number): void {
		this.#sockets.delete(socket);
		clearTimeout(socket.data.heartbeat);
		const { session } = socket.data;
		// A bot that says good-bye does not come back.
		if (session && (code === 1000 || code === 1001))
			this.#sessions.delete(session.id);
		this.#detach(socket);
	}

	/** Parts a connection from its session, which waits a while for another one. */
	#detach({ data }: Socket): void {
		const { session, line } = data;
		data.session = undefined;
		data.line = undefined;
		// A session that was resumed has another line already.
		if (!session || session.line !== line) return;
		session.line = undefined;
		session.expiry = setTimeout(
			() => this.#sessions.delete(session.id),
			this.#timing.resumeWindowMs,
		).unref();
	}

	#receive(socket: Socket, message: string | Buffer): void {
		if (this.#tooMany(socket)) throw new Refused(GatewayCloseCodes.RateLimited);
		const text = message.toString();
		const parsed = text.length <= payloadLimit ? parsePayload(text) : undefined;
		if (!parsed) throw new Refused(GatewayCloseCodes.DecodeError);

		const { op, d } = parsed;
		const { session } = socket.data;
		if (op === GatewayOpcodes.Heartbeat) {
			this.#expectHeartbeat(socket);
			if (this.#deaf) return;
			send(socket, GatewayOpcodes.HeartbeatAck, undefined);
			return;
		}
		if (op === GatewayOpcodes.Identify || op === GatewayOpcodes.Resume) {
			if (session) throw new Refused(GatewayCloseCodes.AlreadyAuthenticated);
			if (op === GatewayOpcodes.Identify) this.#identify(socket, d);
			else this.#resume(socket, d);
			return;
		}
		if (!answered.has(op)) throw new Refused(GatewayCloseCodes.UnknownOpcode);
		if (!session) throw new Refused(GatewayCloseCodes.NotAuthenticated);
		if (op === GatewayOpcodes.RequestGuildMembers) {
			const chunks = memberChunks(d, session, this.#world);
			if (!chunks) {
				this.#log.warn("a request for members was not answered", {
					bot: session.bot.user.username,
				});
				return;
			}
			this.#memberRequests.pass(() => {
				for (const chunk of chunks)
					session.dispatch("GUILD_MEMBERS_CHUNK", chunk);
			});
		}
		// Presences are taken note of, and so is a bot that wants to be in voice; they change nothing.
	}

	#tooMany({ data }: Socket): boolean {
		const now = Date.now();
		if (now - data.minute.since >= 60_000)
			data.minute = { count: 0, since: now };
		data.minute.count += 1;
		return data.minute.count > payloadsPerMinute;
	}

	#identify(socket: Socket, d: unknown): void {
		const { success, output } = v.safeParse(identify, d);
		if (!success) throw new Refused(GatewayCloseCodes.DecodeError);
		const { token, intents, shard, large_threshold } = output;
		const bot = this.#world.accounts.get(token.replace(/^Bot /, ""));
		if (!bot?.user.bot)
			throw new Refused(GatewayCloseCodes.AuthenticationFailed);
		const [shardId, shards] = shard;
		if (!(shardId >= 0 && shardId < shards))
			throw new Refused(GatewayCloseCodes.InvalidShard);
		if ((intents & ~knownIntents) !== 0)
			throw new Refused(GatewayCloseCodes.InvalidIntents);
		const granted = bot.privilegedIntents.reduce(
			(bits, name) => bits | privileged[name],
			0,
		);
		const asked = Object.values(privileged).reduce((a, b) => a | b) & intents;
		if ((asked & ~granted) !== 0)
			throw new Refused(GatewayCloseCodes.DisallowedIntents);

		const { total, used } = this.#world.users.sessionStarts;
		const starts = (used.get(bot.user.id) ?? 0) + 1;
		// Discord resets the token.
		if (starts > total)
			throw new Refused(GatewayCloseCodes.AuthenticationFailed);
		used.set(bot.user.id, starts);
		const session = new Session(bot, intents, shard);
		session.alter = this.#alter;
		attach(session, socket);
		this.#sessions.set(session.id, session);
		this.#welcome(session, socket.data, large_threshold);
	}

	#welcome(
		session: Session,
		{ host, version }: Connection,
		largeThreshold: number,
	): void {
		const { bot } = session;
		const guilds = [...this.#world.guilds.values()].filter(
			(guild) => guild.members.has(bot.user.id) && session.serves(guild.id),
		);
		session.dispatch("READY", {
			v: Number(version),
			user: serialize.ownUser(bot),
			guilds: guilds.map(({ id }) => ({ id, unavailable: true })),
			session_id: session.id,
			session_type: "normal",
			resume_gateway_url: socketUrl(host),
			shard: session.shard,
			application: { id: bot.user.id, flags: serialize.applicationFlags(bot) },
			private_channels: [],
			relationships: [],
			user_settings: {},
			presences: [],
			geo_ordered_rtc_regions: [],
			_trace: ["simulator"],
		});
		if (!session.hasIntent(GatewayIntentBits.Guilds)) return;
		for (const guild of guilds) {
			const { size } = guild.members;
			const listed =
				session.hasIntent(GatewayIntentBits.GuildPresences) &&
				size < largeThreshold &&
				size < hugeGuild;
			session.dispatch(
				"GUILD_CREATE",
				listed
					? this.#world.guilds.serializeFor(
							guild,
							bot.user,
							guild.members.values(),
						)
					: this.#world.guilds.serializeFor(guild, bot.user),
			);
		}
	}

	#resume(socket: Socket, d: unknown): void {
		const { success, output } = v.safeParse(resume, d);
		if (!success) throw new Refused(GatewayCloseCodes.DecodeError);
		const { token, session_id, seq } = output;
		const session = this.#sessions.get(session_id);
		if (!session) {
			send(socket, GatewayOpcodes.InvalidSession, false);
			return;
		}
		if (session.bot.token !== token.replace(/^Bot /, ""))
			throw new Refused(GatewayCloseCodes.AuthenticationFailed);
		if (!session.canReplay(seq)) {
			this.#sessions.delete(session.id);
			throw new Refused(GatewayCloseCodes.InvalidSeq);
		}
		session.line?.close(GatewayCloseCodes.UnknownError, "resumed elsewhere");
		attach(session, socket);
		session.replay(seq);
		session.dispatch("RESUMED", { _trace: ["simulator"] });
	}
}

const answered = new Set<number>([
	GatewayOpcodes.RequestGuildMembers,
	GatewayOpcodes.PresenceUpdate,
	GatewayOpcodes.VoiceStateUpdate,
]);

function parsePayload(text: string) {
	try {
		const { success, output } = v.safeParse(payload, JSON.parse(text));
		return success ? output : undefined;
	} catch {
		// Not JSON: the caller closes the connection and says so.
		return undefined;
	}
}

function send(socket: Socket, op: GatewayOpcodes, d: unknown): void {
	socket.send(JSON.stringify({ op, d, s: null, t: null }));
}

/** What a bot sent is not right: its connection is closed with this code. */
class Refused extends Error {
	override name = "Refused";

	constructor(readonly code: GatewayCloseCodes) {
		super(GatewayCloseCodes[code]);
	}
}

function closing(socket: Socket, receive: () => void): void {
	try {
		receive();
	} catch (error) {
		if (!(error instanceof Refused)) throw error;
		socket.close(error.code, error.message);
	}
}

function attach(session: Session, socket: Socket): void {
	const line: Line = {
		send: (text) => void socket.send(text),
		close: (code, reason) => socket.close(code, reason),
	};
	socket.data.session = session;
	socket.data.line = line;
	session.line = line;
	clearTimeout(session.expiry);
}
