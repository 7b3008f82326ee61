// The bot's connection to Discord: logging in until it works, noticing when the token no longer does, and the members
// of every guild, which only Discord's Gateway tells of completely. There is one client at a time, and one socket.

import {
	Client,
	type ClientEvents,
	DiscordAPIError,
	Events,
	GatewayCloseCodes,
	GatewayDispatchEvents,
	GatewayIntentBits,
	type Guild,
	Routes,
	Status,
	type User,
} from "discord.js";
import { backOffMs } from "../../../lib/back-off.ts";
import type { Log } from "../../../lib/log.ts";
import { isObject } from "../../../mcp/json-rpc.ts";
import { ToolError } from "../../../mcp/tool.ts";
import { followNames, makeCache, rereadName } from "../members/member-cache.ts";
import { RequestGuard } from "../rest/request-guard.ts";
import {
	guardRest,
	type PlatformOutcome,
	platformTimeoutMs,
	restOptions,
} from "../rest/rest.ts";
import { DroppedEvents } from "./dropped-events.ts";
import { requireSound } from "./event-schemas.ts";
import { IdentifyThrottler } from "./identify-throttler.ts";
import { describeRefusal, portal } from "./intents.ts";
import { SessionStarts } from "./session-starts.ts";
import {
	type Dispatch,
	GatewayRefusal,
	Socket,
	type SocketTiming,
	usualTiming,
} from "./socket.ts";

/** discord.js waits this long for the members of a guild. */
const membersTimeoutMs = 120_000;

/** Discord lets a bot ask for all members of a guild once in 30 seconds. */
const reloadMs = 35_000;
/** What was asked for longer ago than this, and is told only when a session is resumed, is not carried out. */
const usualCommandAgeMs = 30_000;

const isCommand = new Set<string>([
	GatewayDispatchEvents.MessageCreate,
	GatewayDispatchEvents.InteractionCreate,
]);

/**
 * What discord.js handles before it is ready. It keeps the others for later and then handles them outside of our reach;
 * so they are given to it only then.
 */
const isEarly = new Set<string>([
	GatewayDispatchEvents.Ready,
	GatewayDispatchEvents.Resumed,
	GatewayDispatchEvents.GuildCreate,
	GatewayDispatchEvents.GuildDelete,
	GatewayDispatchEvents.GuildMembersChunk,
	GatewayDispatchEvents.GuildMemberAdd,
	GatewayDispatchEvents.GuildMemberRemove,
]);

const changesMembers = new Set<string>([
	GatewayDispatchEvents.GuildMemberAdd,
	GatewayDispatchEvents.GuildMemberUpdate,
	GatewayDispatchEvents.GuildMemberRemove,
]);

/** How long Discord may take to close the connection with us. */
const goodbyeMs = 500;

const tokenRefused = `Discord refuses DISCORD_TOKEN: reset the token at ${portal} (Bot), and put the new one into .env`;

export interface ConnectionOptions {
	token: string;
	/** Where Discord's REST API is, without its version. */
	api: string;
	log: Log;
	/** Is told of every request to Discord's API. */
	onResponse(outcome: PlatformOutcome): void;
	/** Whether messages that people write are wanted, with what is in them. */
	readsMessages?: boolean;
	/** Whether bans that are made and lifted are wanted. */
	watchesBans?: boolean;
	/** How long Discord's Gateway may take, what is waited between connections, and how old a command may be. */
	timing?:
		| Partial<
				SocketTiming & {
					identifyMs: number;
					/** The clock for `identifyMs`, in milliseconds. */
					identifyClock: () => number;
					maxCommandAgeMs: number;
					/** How long the guilds of a new session are waited for. */
					guildsMs: number;
				}
		  >
		| undefined;
	/** Where logins are counted across restarts; undefined: nowhere. */
	sessionStartsFile?: string;
	/** Is given each client before it logs in: there is another one after a login that failed before it had a socket. */
	attach?(client: Client): void;
	/** Fires when a request to Discord has had its time: see `guardRest`. */
	timeoutSignal?: ((ms: number) => AbortSignal) | undefined;
	/** How many requests discord.js sends in a second: 50, which Discord allows a bot, unless it is given. */
	requestsPerSecond?: number | undefined;
}

export interface ConnectionState {
	/** Whether tools can act, and Discord's Gateway tells us of what happens. */
	connected: boolean;
	/** When that began. */
	since: Date;
	/** Why the connection was last lost, or did not come about. */
	reason: string;
}

export class Connection {
	/** Resolves with the reason when trying on would not help: only an operator can. */
	readonly failed: Promise<Error>;
	/** Those of all clients: Discord counts by address. */
	readonly requests = new RequestGuard({
		onPause: ({ waitMs, ...pause }) =>
			this.#options.log.warn("requests to Discord are paused", {
				...pause,
				seconds: Math.ceil(waitMs / 1000),
			}),
	});
	/** Events that could not be read. */
	readonly droppedEvents: DroppedEvents;

	readonly #options: ConnectionOptions;
	readonly #closing = new AbortController();
	readonly #throttler: IdentifyThrottler;
	readonly #starts: SessionStarts;
	/** The sockets to Discord's Gateway that are not closed yet. */
	readonly #sockets = new Set<WebSocket>();
	/** What is given to discord.js when it is ready. */
	#early: (() => void)[] = [];
	/** Messages and presses that were replayed too late to be carried out. */
	#late = 0;
	/** Loads of members that are to begin, by guild. */
	readonly #reloads = new Map<string, Timer>();
	/**
	 * When Discord was last heard before the connection was lost, by the monotonic clock; undefined while there is one. A
	 * connection that is silently dead is noticed up to two heartbeats later.
	 */
	#lostAt: number | undefined;
	/** Whether a connection has a session, of which Discord may not have told all guilds yet. */
	#hasSession = false;
	readonly #fail: (error: Error) => void;
	#client: Client | undefined;
	/** Whether the token has been refused since it last worked. */
	#refused = false;
	/** Guilds whose members are all known. */
	#complete = new Set<string>();
	/** Whether Discord's Gateway is away: who joins and leaves meanwhile is not known. */
	#cutOff = false;
	/** The latest load of each guild's members. */
	readonly #loads = new Map<string, symbol>();
	#state: ConnectionState = {
		connected: false,
		since: new Date(),
		reason: "not logged in yet",
	};

	constructor(options: ConnectionOptions) {
		const { log, sessionStartsFile } = options;
		this.#options = options;
		this.droppedEvents = new DroppedEvents(log);
		const { identifyMs, identifyClock } = options.timing ?? {};
		this.#throttler = new IdentifyThrottler(identifyMs, identifyClock);
		this.#starts = new SessionStarts({ file: sessionStartsFile, log });
		const { promise, resolve } = Promise.withResolvers<Error>();
		this.failed = promise;
		this.#fail = (error) => {
			this.#noteState(error.message);
			resolve(error);
		};
	}

	/** Whether tools can act now. */
	get ready(): boolean {
		return this.#client?.isReady() === true && !this.#refused;
	}

	/** The connection as an operator sees it. */
	get state(): Readonly<ConnectionState> {
		this.#noteState();
		return this.#state;
	}

	/** How many sockets to Discord's Gateway are open: one, or none. */
	get sockets(): number {
		return this.#sockets.size;
	}

	/** How often the bot has begun a session on Discord's Gateway in the last 24 hours. */
	get sessionStarts(): number {
		return this.#starts.count;
	}

	/** Who the bot is on Discord, once that is known. */
	get user(): User | undefined {
		return this.#client?.user ?? undefined;
	}

	/** The guilds that the bot is in, as far as it knows. */
	get guilds(): readonly Guild[] {
		return [...(this.#client?.guilds.cache.values() ?? [])];
	}

	/** The client, logged in. Throws a ToolError while there is none. */
	get discord(): Client<true> {
		if (this.#client?.isReady()) return this.#client;
		throw new ToolError(
			"The bot is not connected to Discord yet. Nothing was done; try again in a few seconds.",
		);
	}

	/** Whether all members of a guild are known, or some are still on their way. */
	knowsMembers(guild: Guild): boolean {
		return !this.#cutOff && this.#complete.has(guild.id);
	}

	/** Logs in, again and again until it works or `close` is called. Never rejects. */
	async open(): Promise<void> {
		const { log } = this.#options;
		for (let attempt = 0; !this.#closing.signal.aborted; attempt++) {
			const client = this.#createClient();
			try {
				// A Gateway that accepts and says nothing would be waited for without end.
				await this.#untilClosing(this.#logIn(client));
				if (this.#closing.signal.aborted) return;
				this.#noteState();
				log.info(`logged in as ${client.user?.username}`, {
					guilds: client.guilds.cache.size,
				});
				return;
			} catch (error) {
				if (this.#closing.signal.aborted) return;
				const permanent = permanentFault(error);
				if (permanent) return await this.#giveUp(client, permanent);
				const reason = String(error);
				this.#noteState(reason);
				log.warn("could not log in to Discord, trying again", { reason });
			}
			// One client at a time: the next one is made when this one's socket is closed.
			await client.destroy();
			await this.#pause(attempt);
		}
	}

	async close(): Promise<void> {
		this.#closing.abort();
		// A platform that has gone does not answer our goodbye.
		await Promise.race([this.#client?.destroy(), Bun.sleep(goodbyeMs)]);
	}

	async #logIn(client: Client): Promise<void> {
		const { token } = this.#options;
		const ready = once(client, Events.ClientReady);
		client.rest.setToken(token);
		await this.#waitForStart(() => client.rest.get(Routes.gatewayBot()));
		await client.login(token);
		await ready;
	}

	/** Waits until another session may begin. `ask` gives Discord's answer to GET /gateway/bot. */
	#waitForStart(ask: () => Promise<unknown>): Promise<void> {
		return this.#starts.wait(ask, this.#closing.signal, (reason) =>
			this.#noteState(reason),
		);
	}

	/** Waits for `work`, or until `close` is called. */
	async #untilClosing(work: Promise<void>): Promise<void> {
		const { signal } = this.#closing;
		const { promise, resolve } = Promise.withResolvers<void>();
		const stop = () => resolve();
		signal.addEventListener("abort", stop, { once: true });
		if (signal.aborted) stop();
		try {
			await Promise.race([work, promise]);
		} finally {
			signal.removeEventListener("abort", stop);
		}
	}

	#createClient(): Client {
		const { api, log, onResponse, readsMessages, watchesBans, attach, timing } =
			this.#options;
		const { requestsPerSecond = 50 } = this.#options;
		const {
			Guilds,
			GuildMembers,
			GuildMessages,
			GuildModeration,
			GuildVoiceStates,
			MessageContent,
		} = GatewayIntentBits;
		let isAsked = true;
		const client: Client = new Client({
			intents: [
				// Of these GuildMembers alone is privileged. Without GuildMessages nobody tells of a message that is deleted.
				...[Guilds, GuildMembers, GuildVoiceStates, GuildMessages],
				...(readsMessages ? [MessageContent] : []),
				...(watchesBans ? [GuildModeration] : []),
			],
			rest: {
				...restOptions(api, onResponse, this.requests),
				globalRequestsPerSecond: requestsPerSecond,
			},
			ws: {
				buildStrategy: (manager) =>
					new Socket(manager, {
						timing: { ...usualTiming, ...timing },
						open: this.#sockets,
						closing: this.#closing.signal,
						beforeNewSession: async () => {
							// Before the first one, the login has asked.
							if (!isAsked)
								await this.#waitForStart(() =>
									manager.fetchGatewayInformation(true),
								);
							isAsked = false;
						},
						beforeIdentify: async (signal) => {
							await this.#throttler.waitForIdentify(0, signal);
							this.#starts.note();
						},
						knownGuilds: () => [...client.guilds.cache.keys()],
						readEvent: (event, read) => this.#readEvent(client, event, read),
						onLost: (reason, heardAt) => this.#noteLoss(reason, heardAt),
						onFailure: (reason, retryMs) => {
							this.#noteState(reason);
							log.warn("could not connect to Discord's Gateway, trying again", {
								reason,
								retry_in_ms: Math.round(retryMs),
							});
						},
					}),
			},
			makeCache,
			...(timing?.guildsMs !== undefined && {
				waitGuildTimeout: timing.guildsMs,
			}),
			// Text that the bot sends pings nobody unless whoever sends it says so.
			allowedMentions: { parse: [], repliedUser: false },
		});
		this.#client = client;
		this.#complete = new Set();
		this.#early = [];
		guardRest(client.rest, {
			timeoutMs: platformTimeoutMs,
			timeoutSignal: this.#options.timeoutSignal,
			onUnauthorized: () => void this.#verifyToken(client),
		});

		followNames(client);
		attach?.(client);
		client.once(Events.ClientReady, () => {
			for (const give of this.#early.splice(0)) give();
		});
		// What a listener of ours rejects with. Without this one it would end the process.
		client.on(Events.Error, (error) => this.droppedEvents.note("", error));
		client.on(Events.ShardResume, (_, replayed) =>
			this.#noteReturn("resumed", replayed),
		);
		client.on(Events.ShardReady, () => this.#noteReturn("new"));
		client.on(
			Events.ShardDisconnect,
			({ code }) => void this.#giveUp(client, closeFault(code)),
		);
		// A new Gateway session knows nothing of what happened before it.
		for (const event of [Events.GuildCreate, Events.GuildAvailable] as const)
			client.on(event, (guild) => this.#loadMembers(client, guild));
		return client;
	}

	/** Gives an event to discord.js and to our listeners, who may throw. */
	#readEvent(
		client: Client,
		event: Dispatch,
		how: { read: () => void; isReplay: boolean },
	): boolean {
		const { t: type, d } = event;
		const read = () => {
			requireSound(type, d);
			if (type === GatewayDispatchEvents.GuildCreate) forgetChannels(client, d);
			how.read();
			rereadName(client, event);
		};
		const { maxCommandAgeMs = usualCommandAgeMs } = this.#options.timing ?? {};
		const isLate = how.isReplay && this.#gapMs() > maxCommandAgeMs;
		if (isLate && isCommand.has(type)) {
			this.#late += 1;
			return true;
		}
		if (client.ws.status !== Status.Ready && !isEarly.has(type)) {
			this.#early.push(() => this.droppedEvents.attempt(type, read));
			return true;
		}
		if (type === GatewayDispatchEvents.Ready) {
			this.#hasSession = true;
			// What the session before told is older than what this one begins with.
			this.#early = [];
		}
		const isRead = this.droppedEvents.attempt(type, read);
		// A new session knows nothing of what happened before it.
		if (isRead && type === GatewayDispatchEvents.Ready) this.#complete.clear();
		if (!isRead && changesMembers.has(type)) this.#loadAgain(client, d);
		return isRead;
	}

	/** Loads the guild's members again after a member event that could not be read. */
	#loadAgain(client: Client, d: unknown): void {
		const id = isObject(d) ? d.guild_id : undefined;
		const guild = client.guilds.cache.get(String(id));
		if (!guild || this.#reloads.has(guild.id)) return;
		this.#complete.delete(guild.id);
		const timer = setTimeout(() => {
			this.#reloads.delete(guild.id);
			void this.#loadMembers(client, guild);
		}, reloadMs);
		this.#reloads.set(guild.id, timer.unref());
	}

	#noteLoss(reason: string, heardAt: number): void {
		this.#cutOff = true;
		this.#hasSession = false;
		this.#lostAt ??= heardAt;
		this.#noteState(reason);
		const { log } = this.#options;
		log.warn("lost Discord's Gateway, reconnecting", { reason });
	}

	#noteReturn(session: "new" | "resumed", replayed = 0): void {
		const { log } = this.#options;
		// discord.js waits so long for the guilds of a session, and no longer, also when its connection is lost meanwhile.
		if (session === "new" && !this.#hasSession) return;
		this.#hasSession = true;
		const isReturn = this.#lostAt !== undefined;
		const gap = (this.#gapMs() / 1000).toFixed(1);
		this.#cutOff = false;
		this.#lostAt = undefined;
		this.#noteState();
		if (isReturn)
			log.info("back on Discord's Gateway", {
				...{ session, gap_seconds: Number(gap), replayed },
				...(this.#late > 0 && { commands_not_carried_out: this.#late }),
			});
		this.#late = 0;
	}

	/** For how long there has been no session. */
	#gapMs(): number {
		return performance.now() - (this.#lostAt ?? performance.now());
	}

	/** Asks for all members of a guild until they are here. */
	async #loadMembers(client: Client, guild: Guild): Promise<void> {
		const { log } = this.#options;
		this.#complete.delete(guild.id);
		// Its return is told.
		if (!guild.available) return;
		// A later load, for a later session of Discord's Gateway, takes over from this one.
		const load = Symbol(guild.id);
		this.#loads.set(guild.id, load);
		const isWanted = () =>
			this.#isCurrent(client, guild) && this.#loads.get(guild.id) === load;
		for (let attempt = 0; isWanted(); attempt++) {
			const before = [...guild.members.cache.keys()];
			try {
				const members = await guild.members.fetch({ time: membersTimeoutMs });
				if (!isWanted()) return;
				// Who left while nobody told us is in the cache, but not in the answer.
				for (const id of before)
					if (!members.has(id)) guild.members.cache.delete(id);
				this.#complete.add(guild.id);
				log.info("members loaded", { guild: guild.id, members: members.size });
				return;
			} catch (error) {
				log.warn("could not load members, trying again", {
					guild: guild.id,
					reason: String(error),
				});
			}
			await this.#pause(attempt);
		}
	}

	#isCurrent(client: Client, guild: Guild): boolean {
		return (
			!this.#closing.signal.aborted &&
			this.#client === client &&
			client.guilds.cache.has(guild.id)
		);
	}

	/** After a 401: asks who we are until Discord knows us, or says again that it does not. */
	async #verifyToken(client: Client): Promise<void> {
		if (this.#refused || !client.isReady()) return;
		this.#refused = true;
		this.#noteState("Discord answered 401");
		const { log } = this.#options;
		log.warn("Discord answered 401, checking the token");
		for (let attempt = 0; !this.#closing.signal.aborted; attempt++) {
			await this.#pause(attempt);
			try {
				await client.rest.get(Routes.user());
				this.#refused = false;
				this.#noteState();
				log.info("Discord knows the token again");
				return;
			} catch (error) {
				const permanent = permanentFault(error);
				if (permanent) return this.#fail(permanent);
				log.warn("could not check the token, trying again", {
					reason: String(error),
				});
			}
		}
	}

	/** Ends with this fault; which intents are missing is asked first. Never rejects. */
	async #giveUp(client: Client, fault: Error): Promise<void> {
		if (!(fault instanceof IntentsRefused)) return this.#fail(fault);
		// A client whose login failed has forgotten its token.
		const flags = await client.rest
			.setToken(this.#options.token)
			.get(Routes.currentApplication())
			.then(
				(application) => (application as { flags?: number }).flags,
				() => undefined, // Then all that were asked for are named.
			);
		const text = describeRefusal(client.options.intents.bitfield, flags);
		this.#fail(new Error(text, { cause: fault }));
	}

	/** Notes when the connection came or went, and what is known about why it is not there. */
	#noteState(reason = this.#state.reason): void {
		const connected = this.ready && !this.#cutOff;
		const since =
			connected === this.#state.connected ? this.#state.since : new Date();
		this.#state = { connected, since, reason };
	}

	async #pause(attempt: number): Promise<void> {
		const { backOffMs: waits } = { ...usualTiming, ...this.#options.timing };
		const ms = backOffMs(attempt, waits);
		const { promise, resolve } = Promise.withResolvers<void>();
		const timer = setTimeout(resolve, ms);
		await this.#untilClosing(promise);
		clearTimeout(timer);
	}
}

/** Discord has closed a login for its intents. */
class IntentsRefused extends Error {}

/** What makes a login hopeless, in words for the operator; undefined when trying again may help. */
function permanentFault(error: unknown): Error | undefined {
	if (error instanceof DiscordAPIError && error.status === 401)
		return new Error(tokenRefused, { cause: error });
	if (error instanceof GatewayRefusal) return closeFault(error.code);
	if (!(error instanceof Error)) return undefined;
	if ("code" in error && error.code === "TokenInvalid")
		return new Error(tokenRefused, { cause: error });
	return undefined;
}

function closeFault(code: number): Error {
	if (code === GatewayCloseCodes.AuthenticationFailed)
		return new Error(tokenRefused);
	if (code === GatewayCloseCodes.DisallowedIntents) return new IntentsRefused();
	return new GatewayRefusal(code);
}

/** Those of a guild that is told anew: discord.js would keep the ones that are gone. */
function forgetChannels({ guilds, channels }: Client, d: unknown): void {
	const guild = guilds.cache.get(String(isObject(d) ? d.id : undefined));
	if (!guild || guild.available) return;
	for (const id of guild.channels.cache.keys()) channels.cache.delete(id);
}

function once(client: Client, event: keyof ClientEvents): Promise<void> {
	return new Promise((resolve) => client.once(event, () => resolve()));
}
