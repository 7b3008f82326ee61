// The bot's connection to Discord: login with retries, detection of a revoked token, and the member cache of every
// guild, which only Discord's Gateway can fill completely. There is one client at a time, and one socket.

import { setTimeout as sleep } from "node:timers/promises";
import {
	Client,
	DiscordAPIError,
	DiscordjsError,
	DiscordjsErrorCodes,
	Events,
	GatewayCloseCodes,
	GatewayDispatchEvents,
	GatewayIntentBits,
	GatewayRateLimitError,
	type Guild,
	Routes,
	Status,
	type User,
} from "discord.js";
import { backOffMs } from "../../../lib/back-off.ts";
import type { Log } from "../../../lib/log.ts";
import { raceSignal, within } from "../../../lib/wait.ts";
import { isObject } from "../../../mcp/json-rpc.ts";
import { ToolError } from "../../../mcp/tool.ts";
import { makeCache, refreshName, trackNames } from "../members/member-cache.ts";
import { resolveLostMessages } from "../rest/nonce.ts";
import { Pictures } from "../rest/pictures.ts";
import { RequestGuard } from "../rest/request-guard.ts";
import {
	guardRest,
	type PlatformOutcome,
	platformTimeoutMs,
	restOptions,
} from "../rest/rest.ts";
import { DroppedEvents } from "./dropped-events.ts";
import { validateEvent } from "./event-schemas.ts";
import { createIdentifyThrottler } from "./identify-throttler.ts";
import { describeRefusal, portal } from "./intents.ts";
import { SessionStarts } from "./session-starts.ts";
import {
	type Dispatch,
	defaultTiming,
	GatewayCloseError,
	Socket,
} from "./socket.ts";
import type { SocketConnection } from "./socket-connection.ts";

/** Timeout for loading all members of a guild from Discord's Gateway. */
const membersTimeoutMs = 120_000;

/**
 * Delay before the members of a guild are loaded again. Discord allows one request for all members of a guild in 30
 * seconds.
 * https://discord.com/developers/docs/events/gateway-events#request-guild-members
 */
const reloadDelayMs = 35_000;

const connectionTiming = {
	...defaultTiming,
	/**
	 * Time between two logins to Discord's Gateway. Discord allows one per 5 seconds; the bot adds 500 ms for varying
	 * network latency.
	 */
	identifyMs: 5_500,
	/**
	 * Returns the time of a monotonic clock, in milliseconds, to measure the time between two logins to Discord's
	 * Gateway.
	 */
	identifyClock: () => performance.now(),
	/**
	 * Maximum duration of a connection loss, in milliseconds. After a longer one, the bot ignores the messages and
	 * interactions that Discord replays.
	 */
	maxCommandAgeMs: 30_000,
	/**
	 * How long a discord.js client waits for the guilds of a new Gateway session before the client becomes ready, in
	 * milliseconds.
	 */
	guildsMs: 15_000,
};

const commandEvents = new Set<string>([
	GatewayDispatchEvents.MessageCreate,
	GatewayDispatchEvents.InteractionCreate,
]);

/**
 * Gateway events that are passed to a discord.js client before the client is ready. The bot holds back all other events
 * until the client is ready.
 */
const eventsBeforeReady = new Set<string>([
	GatewayDispatchEvents.Ready,
	GatewayDispatchEvents.Resumed,
	GatewayDispatchEvents.GuildCreate,
	GatewayDispatchEvents.GuildDelete,
	GatewayDispatchEvents.GuildMembersChunk,
	GatewayDispatchEvents.GuildMemberAdd,
	GatewayDispatchEvents.GuildMemberRemove,
]);

const memberEvents = new Set<string>([
	GatewayDispatchEvents.GuildMemberAdd,
	GatewayDispatchEvents.GuildMemberUpdate,
	GatewayDispatchEvents.GuildMemberRemove,
]);

/** Maximum time that the bot, when it stops, waits for Discord to close the connection, in milliseconds. */
const closeTimeoutMs = 500;

const tokenRefused = `Discord refuses DISCORD_TOKEN: reset the token at ${portal} (Bot), and put the new one into .env`;

export interface ConnectionOptions {
	token: string;
	/** Base URL of Discord's REST API, without the API version. */
	api: string;
	/** Base URL of Discord's CDN. */
	cdn: string;
	log: Log;
	/** Called after every request that was sent to Discord's API. `outcome` is how the request ended. */
	onResponse(outcome: PlatformOutcome): void;
	/** Whether to request the Message Content intent, which lets the bot read the text of messages. */
	needsMessageContent?: boolean;
	/** Whether to request events about bans, unbans and new entries of guilds' audit logs from Discord's Gateway. */
	needsModerationEvents?: boolean;
	/**
	 * Overrides for the Gateway timeouts, the back-off between connections, and the maximum age of replayed messages and
	 * interactions.
	 */
	timing?: Partial<typeof connectionTiming> | undefined;
	/**
	 * Path of the file that counts logins to Discord across restarts. If undefined, logins are counted in memory only.
	 */
	sessionStartsFile?: string;
	/**
	 * Called with each new discord.js client before the client logs in, for example to add event listeners. May be called
	 * several times, because failed logins can need a new client.
	 */
	attach?(client: Client): void;
	/** Returns a signal that aborts a request to Discord's API after `ms` milliseconds. Default: AbortSignal.timeout. */
	timeoutSignal?: ((ms: number) => AbortSignal) | undefined;
	/** Maximum number of requests per second to Discord's API. Default: 50, Discord's global limit. */
	requestsPerSecond?: number | undefined;
}

export interface ConnectionState {
	/** Whether the bot is logged in to Discord, so that tools can act and events arrive. */
	connected: boolean;
	/** When the bot's connection to Discord was last established or lost. */
	since: Date;
	/** Why the connection to Discord was last lost or could not be established. */
	reason: string;
}

export class Connection {
	/**
	 * Resolves with an error when the bot cannot connect to Discord and only the operator can fix that, such as after a
	 * token reset.
	 */
	readonly failed: Promise<Error>;
	/** Pauses all requests to Discord's API after too many invalid ones (answered with 401, 403 or 429). */
	readonly requests = new RequestGuard(({ why, status, waitMs }) =>
		this.#options.log.warn("requests to Discord are paused", {
			why,
			status,
			seconds: Math.ceil(waitMs / 1000),
		}),
	);
	/** Downloads pictures from Discord's CDN. */
	readonly pictures: Pictures;
	/** Counts events from Discord's Gateway that were dropped because they could not be read. */
	readonly droppedEvents: DroppedEvents;

	readonly #options: ConnectionOptions;
	readonly #timing: typeof connectionTiming;
	readonly #closing = new AbortController();
	/**
	 * Resolves when Discord's rate limit lets the bot identify (start a session) on the Gateway. Rejects when `signal`
	 * aborts.
	 */
	readonly #waitForIdentify: (signal: AbortSignal) => Promise<void>;
	readonly #starts: SessionStarts;
	/** Sockets to Discord's Gateway that are not closed yet. */
	readonly #sockets = new Set<SocketConnection>();
	/**
	 * Functions that each pass one Gateway event to discord.js. The events arrived before the discord.js client was
	 * ready.
	 */
	#deferredEvents: (() => void)[] = [];
	/**
	 * Number of messages and interactions that were ignored, because Discord replayed them after a long connection loss.
	 */
	#ignoredCommands = 0;
	/** Timers that will load the members of a guild again, by guild id. */
	readonly #scheduledLoads = new Map<string, Timer>();
	/**
	 * When the last data arrived from Discord's Gateway before the connection was lost, in milliseconds of
	 * `performance.now()`; undefined while connected.
	 */
	#lostAt: number | undefined;
	/** Whether the bot has a session on Discord's Gateway. */
	#hasSession = false;
	readonly #fail: (error: Error) => void;
	#client: Client | undefined;
	/** Whether Discord has answered 401 (unauthorized) since the bot's token last worked. */
	#isTokenRefused = false;
	/** Ids of the guilds whose members are all in the cache. */
	#completeGuilds = new Set<string>();
	/**
	 * By guild id: a unique symbol for the latest load of the guild's members. An older load ends when it finds a newer
	 * symbol.
	 */
	readonly #loads = new Map<string, symbol>();
	#state: ConnectionState = {
		connected: false,
		since: new Date(),
		reason: "not logged in yet",
	};

	constructor(options: ConnectionOptions) {
		const { log, sessionStartsFile } = options;
		this.#options = options;
		this.pictures = new Pictures(options);
		this.#timing = { ...connectionTiming, ...options.timing };
		this.droppedEvents = new DroppedEvents(log);
		const { identifyMs, identifyClock } = this.#timing;
		this.#waitForIdentify = createIdentifyThrottler(identifyMs, identifyClock);
		this.#starts = new SessionStarts(sessionStartsFile, log);
		const { promise, resolve } = Promise.withResolvers<Error>();
		this.failed = promise;
		this.#fail = (error) => {
			this.#noteState(error.message);
			resolve(error);
		};
	}

	/** Whether the bot is logged in to Discord and its token works, so that tools can act. */
	get ready(): boolean {
		return this.#client?.isReady() === true && !this.#isTokenRefused;
	}

	/** The state of the bot's connection to Discord, for operators. */
	get state(): Readonly<ConnectionState> {
		this.#noteState();
		return this.#state;
	}

	/** Number of open sockets to Discord's Gateway: 0 or 1. */
	get sockets(): number {
		return this.#sockets.size;
	}

	/** Number of sessions that the bot started on Discord's Gateway in the last 24 hours. */
	get sessionStarts(): number {
		return this.#starts.count;
	}

	/** The bot's own Discord user; undefined before the first login. */
	get user(): User | undefined {
		return this.#client?.user ?? undefined;
	}

	/** The guilds of the bot that are in discord.js's cache. */
	get guilds(): readonly Guild[] {
		return [...(this.#client?.guilds.cache.values() ?? [])];
	}

	/** The logged-in discord.js client. Throws a ToolError while the bot is not logged in. */
	get discord(): Client<true> {
		if (this.#client?.isReady()) return this.#client;
		throw new ToolError(
			"The bot is not connected to Discord yet. Nothing was done; try again in a few seconds.",
		);
	}

	/** Whether discord.js's cache holds all members of a guild. */
	hasAllMembers(guild: Guild): boolean {
		return this.#lostAt === undefined && this.#completeGuilds.has(guild.id);
	}

	/**
	 * Logs in to Discord. Retries failed logins until one succeeds, retries cannot help, or the connection is closed.
	 * Never rejects.
	 */
	async open(): Promise<void> {
		const { log } = this.#options;
		for (let attempt = 0; !this.#closing.signal.aborted; attempt++) {
			const client = this.#createClient();
			try {
				// Without this a Gateway that accepts the connection but sends nothing would block `close`.
				await raceSignal(this.#logIn(client), this.#closing.signal);
				this.#noteState();
				log.info("logged in to Discord", {
					user: client.user?.username,
					guilds: client.guilds.cache.size,
				});
				return;
			} catch (error) {
				if (this.#closing.signal.aborted) return;
				if (await this.#failIfPermanent(client, error)) return;
				const reason = String(error);
				this.#noteState(reason);
				log.warn("could not log in to Discord, trying again", { reason });
			}
			// One client at a time: the next one is created after this one's socket has closed.
			await client.destroy();
			await this.#pause(attempt);
		}
	}

	async close(): Promise<void> {
		this.#closing.abort();
		// An unreachable Discord does not answer the close.
		await within(closeTimeoutMs, this.#client?.destroy());
	}

	async #logIn(client: Client): Promise<void> {
		const { token } = this.#options;
		const ready = new Promise((resolve) =>
			client.once(Events.ClientReady, resolve),
		);
		client.rest.setToken(token);
		await this.#waitForStart(() => client.rest.get(Routes.gatewayBot()));
		await client.login(token);
		await ready;
	}

	/** Waits until the bot may start another Gateway session. `fetchLimit` returns the response to GET /gateway/bot. */
	#waitForStart(fetchLimit: () => Promise<unknown>): Promise<void> {
		return this.#starts.wait(fetchLimit, this.#closing.signal, (reason) =>
			this.#noteState(reason),
		);
	}

	#createClient(): Client {
		const { api, log, onResponse } = this.#options;
		const { needsMessageContent, needsModerationEvents } = this.#options;
		const { requestsPerSecond = 50 } = this.#options;
		const intents = GatewayIntentBits;
		let isLimitChecked = true;
		const client: Client = new Client({
			intents: [
				// Only GuildMembers is privileged. GuildMessages is needed for the events of deleted messages.
				intents.Guilds,
				intents.GuildMembers,
				intents.GuildVoiceStates,
				intents.GuildMessages,
				...(needsMessageContent ? [intents.MessageContent] : []),
				...(needsModerationEvents ? [intents.GuildModeration] : []),
			],
			rest: {
				...restOptions(api, onResponse, this.requests),
				globalRequestsPerSecond: requestsPerSecond,
			},
			ws: {
				buildStrategy: (manager) =>
					new Socket(manager, {
						timing: this.#timing,
						open: this.#sockets,
						closing: this.#closing.signal,
						beforeNewSession: async () => {
							// The login itself has checked the limit for the first session.
							if (!isLimitChecked)
								await this.#waitForStart(() =>
									manager.fetchGatewayInformation(true),
								);
							isLimitChecked = false;
						},
						beforeIdentify: async (signal) => {
							await this.#waitForIdentify(signal);
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
			waitGuildTimeout: this.#timing.guildsMs,
			// By default no message pings anybody.
			allowedMentions: { parse: [], repliedUser: false },
		});
		this.#client = client;
		this.#completeGuilds = new Set();
		this.#deferredEvents = [];
		guardRest(client.rest, {
			timeoutMs: platformTimeoutMs,
			timeoutSignal: this.#options.timeoutSignal,
			onUnauthorized: () => void this.#verifyToken(client),
		});
		resolveLostMessages(client.rest, this.#closing.signal);

		trackNames(client);
		this.#options.attach?.(client);
		client.once(Events.ClientReady, () => {
			for (const pass of this.#deferredEvents.splice(0)) pass();
		});
		// Rejections of our async listeners. Without a listener for them the process would exit.
		client.on(Events.Error, (error) => this.droppedEvents.note("", error));
		client.on(Events.ShardResume, (_, replayed) =>
			this.#noteReturn("resumed", replayed),
		);
		client.on(Events.ShardReady, () => this.#noteReturn("new"));
		client.on(
			Events.ShardDisconnect,
			({ code }) =>
				void this.#failIfPermanent(client, new GatewayCloseError(code)),
		);
		// Member events from before a new session are lost.
		for (const event of [Events.GuildCreate, Events.GuildAvailable] as const)
			client.on(event, (guild) => this.#loadMembers(client, guild));
		return client;
	}

	/**
	 * Passes a Gateway event to discord.js and to the bot's listeners. Returns false if the event could not be read
	 * because discord.js or a listener threw an error.
	 */
	#readEvent(
		client: Client,
		event: Dispatch,
		how: { read: () => void; isReplay: boolean },
	): boolean {
		const { t: type, d } = event;
		const read = () => {
			validateEvent(type, d);
			if (type === GatewayDispatchEvents.GuildCreate) forgetChannels(client, d);
			how.read();
			refreshName(client, event);
		};
		const { maxCommandAgeMs } = this.#timing;
		const isLate = how.isReplay && this.#gapMs() > maxCommandAgeMs;
		if (isLate && commandEvents.has(type)) {
			this.#ignoredCommands += 1;
			return true;
		}
		if (client.ws.status !== Status.Ready && !eventsBeforeReady.has(type)) {
			this.#deferredEvents.push(() => this.droppedEvents.attempt(type, read));
			return true;
		}
		if (type === GatewayDispatchEvents.Ready) {
			this.#hasSession = true;
			// Deferred events of the previous session are outdated.
			this.#deferredEvents = [];
		}
		const wasRead = this.droppedEvents.attempt(type, read);
		// Member events from before a new session are lost.
		if (wasRead && type === GatewayDispatchEvents.Ready)
			this.#completeGuilds.clear();
		if (!wasRead && memberEvents.has(type)) this.#loadAgain(client, d);
		return wasRead;
	}

	/**
	 * Loads the members of a guild again after a short delay, because a Gateway event about a member could not be read.
	 * `d` is the data of this event.
	 */
	#loadAgain(client: Client, d: unknown): void {
		const id = isObject(d) ? d.guild_id : undefined;
		const guild = client.guilds.cache.get(String(id));
		if (!guild || this.#scheduledLoads.has(guild.id)) return;
		this.#completeGuilds.delete(guild.id);
		const timer = setTimeout(() => {
			this.#scheduledLoads.delete(guild.id);
			void this.#loadMembers(client, guild);
		}, reloadDelayMs);
		this.#scheduledLoads.set(guild.id, timer.unref());
	}

	#noteLoss(reason: string, heardAt: number): void {
		this.#hasSession = false;
		this.#lostAt ??= heardAt;
		this.#noteState(reason);
		this.#options.log.warn(
			"lost the connection to Discord's Gateway, reconnecting",
			{ reason },
		);
	}

	#noteReturn(session: "new" | "resumed", replayed = 0): void {
		const { log } = this.#options;
		// discord.js emits ShardReady after its timeout for guilds, even when the connection was lost meanwhile.
		if (session === "new" && !this.#hasSession) return;
		this.#hasSession = true;
		const wasLost = this.#lostAt !== undefined;
		const gapSeconds = Number((this.#gapMs() / 1000).toFixed(1));
		this.#lostAt = undefined;
		this.#noteState();
		if (wasLost)
			log.info("reconnected to Discord's Gateway", {
				session,
				gap_seconds: gapSeconds,
				replayed,
				commands_not_carried_out: this.#ignoredCommands || undefined,
			});
		this.#ignoredCommands = 0;
	}

	/** Milliseconds since the connection to Discord's Gateway was lost; 0 while connected. */
	#gapMs(): number {
		return performance.now() - (this.#lostAt ?? performance.now());
	}

	/** Loads all members of a guild into discord.js's cache, with retries. */
	async #loadMembers(client: Client, guild: Guild): Promise<void> {
		const { log } = this.#options;
		this.#completeGuilds.delete(guild.id);
		// An unavailable guild is loaded when an event announces its return.
		if (!guild.available) return;
		// A load for a later session replaces this one.
		const loadId = Symbol(guild.id);
		this.#loads.set(guild.id, loadId);
		const isCurrent = () =>
			!this.#closing.signal.aborted &&
			this.#client === client &&
			client.guilds.cache.has(guild.id) &&
			this.#loads.get(guild.id) === loadId;
		for (let attempt = 0; isCurrent(); attempt++) {
			const before = [...guild.members.cache.keys()];
			try {
				const members = await guild.members.fetch({ time: membersTimeoutMs });
				if (!isCurrent()) return;
				// Members who left while the bot was disconnected are still in the cache.
				for (const id of before)
					if (!members.has(id)) guild.members.cache.delete(id);
				this.#completeGuilds.add(guild.id);
				log.info("loaded all members of a guild", {
					guild: guild.id,
					members: members.size,
				});
				return;
			} catch (error) {
				log.warn("could not load the members of a guild, trying again", {
					guild: guild.id,
					reason: String(error),
				});
				// Discord allows one request for all members per guild and 30 seconds.
				if (error instanceof GatewayRateLimitError)
					await this.#sleep(error.data.retry_after * 1_000);
				else await this.#pause(attempt);
			}
		}
	}

	/**
	 * Checks the bot's token after Discord answered 401: requests the bot's Discord user until the token works or Discord
	 * answers 401 again.
	 */
	async #verifyToken(client: Client): Promise<void> {
		if (this.#isTokenRefused || !client.isReady()) return;
		this.#isTokenRefused = true;
		this.#noteState("Discord answered 401");
		const { log } = this.#options;
		log.warn("Discord answered 401 Unauthorized, checking the bot token");
		for (let attempt = 0; !this.#closing.signal.aborted; attempt++) {
			await this.#pause(attempt);
			try {
				await client.rest.get(Routes.user());
				this.#isTokenRefused = false;
				this.#noteState();
				log.info("Discord accepts the bot token again");
				return;
			} catch (error) {
				if (await this.#failIfPermanent(client, error)) return;
				log.warn("could not check the bot token with Discord, trying again", {
					reason: String(error),
				});
			}
		}
	}

	/**
	 * Returns whether a login error is permanent, such as a refused token. A permanent error also resolves the
	 * connection's promise `failed`. Never rejects.
	 */
	async #failIfPermanent(client: Client, error: unknown): Promise<boolean> {
		const closeCode = error instanceof GatewayCloseError && error.code;
		const isTokenRefused =
			closeCode === GatewayCloseCodes.AuthenticationFailed ||
			(error instanceof DiscordAPIError && error.status === 401) ||
			(error instanceof DiscordjsError &&
				error.code === DiscordjsErrorCodes.TokenInvalid);
		if (isTokenRefused) this.#fail(new Error(tokenRefused, { cause: error }));
		else if (closeCode === GatewayCloseCodes.DisallowedIntents) {
			const text = await this.#describeRefusedIntents(client);
			this.#fail(new Error(text, { cause: error }));
		} else if (error instanceof GatewayCloseError) this.#fail(error);
		else return false;
		return true;
	}

	async #describeRefusedIntents(client: Client): Promise<string> {
		// A client whose login failed has forgotten its token.
		const flags = await client.rest
			.setToken(this.#options.token)
			.get(Routes.currentApplication())
			.then(
				(application) => (application as { flags?: number }).flags,
				() => undefined, // Then the error names all requested intents.
			);
		return describeRefusal(client.options.intents.bitfield, flags);
	}

	/**
	 * Updates the connection state that operators see. `reason` is why the connection was lost or could not be
	 * established.
	 */
	#noteState(reason = this.#state.reason): void {
		const connected = this.ready && this.#lostAt === undefined;
		const since =
			connected === this.#state.connected ? this.#state.since : new Date();
		this.#state = { connected, since, reason };
	}

	#pause(attempt: number): Promise<void> {
		return this.#sleep(backOffMs(attempt, this.#timing.backOffMs));
	}

	async #sleep(ms: number): Promise<void> {
		const { signal } = this.#closing;
		await sleep(ms, undefined, { signal }).catch(() => {});
	}
}

/**
 * Removes the cached channels of a guild that becomes available again, because channels may have been deleted while the
 * guild was unavailable. `d` is the data of the guild's GUILD_CREATE event.
 */
function forgetChannels({ guilds, channels }: Client, d: unknown): void {
	const guild = guilds.cache.get(String(isObject(d) ? d.id : undefined));
	if (!guild || guild.available) return;
	for (const id of guild.channels.cache.keys()) channels.cache.delete(id);
}
