// The bot's connection to Discord: login with retries, detection of a revoked token, and the member cache of every
// guild, which only Discord's Gateway can fill completely. There is one client at a time, and one socket per shard.

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
	type Guild,
	GuildMemberManager,
	IntentsBitField,
	Partials,
	Routes,
	Status,
	type User,
} from "discord.js";
import * as v from "valibot";
import { isObject } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import { raceSignal, within } from "../../lib/wait.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import { describeRefused, type PrivilegedIntent, portal, privilegedIntents, refusedIntents } from "../intents.ts";
import { completeMembers, defaultCaches, MemberCache } from "../members/member-cache.ts";
import { MemberLoader } from "../members/member-loader.ts";
import { keepObfuscated } from "../obfuscation.ts";
import { createPictureDownload, type DownloadPicture } from "../rest/pictures.ts";
import { RequestPacing } from "../rest/request-pacing.ts";
import { guardRest, type OutcomeCounter, platformTimeoutMs, resendPauseMs, restOptions } from "../rest/rest.ts";
import { DroppedEvents } from "./dropped-events.ts";
import { eventSchemas } from "./event-schemas.ts";
import { createIdentifyThrottler } from "./identify-throttler.ts";
import { ReconnectDelay } from "./reconnect-delay.ts";
import { SessionStarts } from "./session-starts.ts";
import { type ShardState, ShardStates } from "./shard-states.ts";
import { describeShardRefusal, recommendedShards, Shards, shardOf } from "./shards.ts";
import {
	type Dispatch,
	defaultTiming,
	GatewayCloseError,
	type Manager,
	type Shard,
	type SocketOptions,
} from "./socket.ts";
import type { SocketConnection } from "./socket-connection.ts";

const connectionTiming = {
	...defaultTiming,
	/** Discord allows one login per 5 seconds; 500 ms are for varying network latency. */
	identifyMs: 5_500,
	identifyClock: () => performance.now(),
	maxCommandAgeMs: 30_000,
	/** How long a client waits for the guilds of a new session before it becomes ready. */
	guildsMs: 15_000,
	resendPauseMs,
};

const commandEvents = new Set<string>([GatewayDispatchEvents.MessageCreate, GatewayDispatchEvents.InteractionCreate]);

/** All others are held back until the client is ready. */
const eventsBeforeReady = new Set<string>([
	GatewayDispatchEvents.Ready,
	GatewayDispatchEvents.Resumed,
	GatewayDispatchEvents.GuildCreate,
	GatewayDispatchEvents.GuildDelete,
	GatewayDispatchEvents.GuildMembersChunk,
	GatewayDispatchEvents.GuildMemberAdd,
	GatewayDispatchEvents.GuildMemberRemove,
]);

const eventsWithMembers = new Set<string>([GatewayDispatchEvents.GuildCreate, GatewayDispatchEvents.GuildMembersChunk]);

const memberEvents = new Set<string>([
	GatewayDispatchEvents.GuildMemberAdd,
	GatewayDispatchEvents.GuildMemberUpdate,
	GatewayDispatchEvents.GuildMemberRemove,
]);

const maxDeferredEvents = 10_000;

const closeTimeoutMs = 500;

const discordHost = "discord.com";

function tokenRefused(api: string): string {
	return URL.parse(api)?.hostname === discordHost
		? `Discord refuses DISCORD_TOKEN: reset the token at ${portal} (Bot), and put the new one into .env`
		: `Discord refuses DISCORD_TOKEN: put a token into .env that ${api} knows (DISCORD_API_URL); a simulator has new tokens and ids after each start`;
}

export interface ConnectionOptions {
	token: string;
	/** Without the API version. */
	api: string;
	cdn: string;
	/** "auto": as many as Discord recommends. Default: 1. */
	shards?: number | "auto";
	log: Log;
	/** Counts every request that was sent. */
	responses?: OutcomeCounter | undefined;
	/** The privileged intents to ask for. */
	privileged: readonly PrivilegedIntent[];
	timing?: Partial<typeof connectionTiming> | undefined;
	/** Default: AbortSignal.timeout. */
	timeoutSignal?: ((ms: number) => AbortSignal) | undefined;
	/** Default: 50, Discord's global limit. */
	requestsPerSecond?: number | undefined;
}

interface ConnectionState {
	/** Whether all shards are logged in. */
	connected: boolean;
	since: Date;
	reason: string;
}

export class Connection {
	/** Resolves when only the operator can mend why the bot cannot connect, such as after a token reset. */
	readonly failed: Promise<Error>;
	readonly requests: RequestPacing;
	readonly downloadPicture: DownloadPicture;
	readonly droppedEvents: DroppedEvents;

	readonly #timing: typeof connectionTiming;
	readonly #closing = new AbortController();
	readonly #waitForIdentify: ReturnType<typeof createIdentifyThrottler>;
	readonly #starts: SessionStarts;
	readonly #sockets = new Set<SocketConnection>();
	/** By shard: each passes one event, which arrived before the client was ready, to discord.js. */
	#deferredEvents = new Map<number, (() => void)[]>();
	#undeferredEvents = 0;
	readonly #shards = new ShardStates();
	readonly #members: MemberLoader;
	#gateway: Promise<unknown> | undefined;
	readonly #fail: (error: Error) => void;
	#client: Client | undefined;
	readonly #refusedIntents = new Set<PrivilegedIntent>();
	/** Since the token last worked. */
	#isTokenRefused = false;
	#state: ConnectionState = { connected: false, since: new Date(), reason: "not logged in yet" };

	constructor(private readonly options: ConnectionOptions) {
		const { log } = options;
		this.downloadPicture = createPictureDownload(options);
		this.requests = new RequestPacing({
			perSecond: options.requestsPerSecond,
			onPause: ({ why, status, waitMs }) =>
				log.warn("requests to Discord are paused", { why, status, seconds: Math.ceil(waitMs / 1000) }),
		});
		this.#timing = { ...connectionTiming, ...options.timing };
		this.droppedEvents = new DroppedEvents(log);
		this.#starts = new SessionStarts(log);
		this.#waitForIdentify = createIdentifyThrottler(this.#timing.identifyMs, this.#timing.identifyClock);
		this.#members = new MemberLoader({
			log,
			backOffMs: this.#timing.backOffMs,
			closing: this.#closing.signal,
			shardOf: (guild) => this.shardOf(guild),
		});
		const { promise, resolve } = Promise.withResolvers<Error>();
		this.failed = promise;
		this.#fail = (error) => {
			this.#noteState(error.message);
			resolve(error);
		};
	}

	/** Whether the bot is logged in and its token works. */
	get ready(): boolean {
		return this.#client?.isReady() === true && !this.#isTokenRefused;
	}

	get state(): Readonly<ConnectionState> {
		this.#noteState();
		return this.#state;
	}

	/** One until the login knows the number of shards. */
	get shards(): readonly ShardState[] {
		return this.#shards.list;
	}

	shardOf({ id }: Pick<Guild, "id">): number {
		return shardOf(id, this.#shards.count);
	}

	/** Whether events of a guild arrive. */
	isConnected(guild: Pick<Guild, "id">): boolean {
		return this.ready && !this.#shards.isLost(this.shardOf(guild));
	}

	get sockets(): number {
		return this.#sockets.size;
	}

	get sessionStarts(): number {
		return this.#starts.count;
	}

	get user(): User | undefined {
		return this.#client?.user ?? undefined;
	}

	get guilds(): readonly Guild[] {
		return [...(this.#client?.guilds.cache.values() ?? [])];
	}

	readonly guild = (id: string): Guild | undefined => this.#client?.guilds.cache.get(id);

	/** Throws a SaidError while the bot is not logged in. */
	get discord(): Client<true> {
		if (this.#client?.isReady()) return this.#client;
		throw new SaidError(said("refusal.offline"), { isFailure: true });
	}

	/** Those that Discord has refused. The bot does without them until its next start. */
	get refusedIntents(): readonly PrivilegedIntent[] {
		return [...this.#refusedIntents];
	}

	/** As far as Discord lets the bot know them. */
	get hasLoadedMembers(): boolean {
		return this.#refusedIntents.has("GuildMembers") || this.guilds.every((guild) => this.hasAllMembers(guild));
	}

	hasAllMembers(guild: Guild): boolean {
		return !this.#shards.isLost(this.shardOf(guild)) && this.#members.isComplete(guild);
	}

	/**
	 * Retries until the login succeeds, retries cannot help, or the connection is closed. Never rejects. `attach` gets
	 * each new client before it logs in; failed logins can need several.
	 */
	async open(attach?: (client: Client) => void): Promise<void> {
		const { log } = this.options;
		const delay = new ReconnectDelay(this.#timing);
		while (!this.#closing.signal.aborted) {
			const client = this.#createClient(attach);
			try {
				// Without this a Gateway that accepts the connection but sends nothing would block `close`.
				await raceSignal(this.#logIn(client), this.#closing.signal);
				this.#noteState();
				log.info("logged in to Discord", {
					user: client.user?.username,
					guilds: client.guilds.cache.size,
					...(this.shards.length > 1 && { shards: this.shards.length }),
				});
				return;
			} catch (error) {
				if (this.#closing.signal.aborted) return;
				if (await this.#failIfPermanent(error)) return;
				const reason = String(error);
				this.#noteState(reason);
				log.warn("could not log in to Discord, trying again", { reason });
			}
			// One client at a time: the next one is created after this one's socket has closed.
			await client.destroy();
			await this.#sleep(delay.next());
		}
	}

	async close(): Promise<void> {
		this.#closing.abort();
		this.requests.close();
		// An unreachable Discord does not answer the close.
		await within(closeTimeoutMs, this.#client?.destroy());
	}

	async #logIn(client: Client): Promise<void> {
		const { token } = this.options;
		const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
		client.rest.setToken(token);
		const fetchInfo = () => client.rest.get(Routes.gatewayBot());
		const { shards = 1 } = this.options;
		const count = shards === "auto" ? (recommendedShards(await fetchInfo()) ?? 1) : shards;
		await this.#waitForStart(fetchInfo, () => count);
		// Before the login, which reads these options.
		client.options.shards = Array.from({ length: count }, (_, id) => id);
		client.options.shardCount = count;
		this.#shards.begin(count);
		await client.login(token);
		await ready;
	}

	#waitForStart(fetchLimit: () => Promise<unknown>, sessions: () => number): Promise<void> {
		const note = (reason: string) => this.#noteState(reason);
		return this.#starts.wait(fetchLimit, this.#closing.signal, note, sessions);
	}

	#createClient(attach: ((client: Client) => void) | undefined): Client {
		const intents = GatewayIntentBits;
		const refused = new Set(this.refusedIntents.map((name): number => intents[name]));
		const client: Client = new Client({
			intents: [
				// GuildMessages is needed for the events of deleted messages.
				intents.Guilds,
				intents.GuildVoiceStates,
				intents.GuildMessages,
				intents.GuildModeration,
				intents.AutoModerationExecution,
				...this.options.privileged.map((name) => intents[name]),
			].filter((intent) => !refused.has(intent)),
			rest: restOptions(this.options.api, this.options.responses, this.requests),
			ws: { buildStrategy: (manager) => new Shards(manager, (shard) => this.#socketOptions(client, manager, shard)) },
			// discord.js would read variables such as SHARDS itself. The login sets the number.
			shards: [0],
			makeCache: (...args) => (args[2] === GuildMemberManager ? new MemberCache() : defaultCaches(...args)),
			waitGuildTimeout: this.#timing.guildsMs,
			// Events about messages that discord.js does not know, too.
			partials: [Partials.Message],
			// By default no message pings anybody.
			allowedMentions: { parse: [], repliedUser: false },
		});
		// Each feature listens to the same few events. Node.js warns of a leak above 10 listeners.
		client.setMaxListeners(50);
		this.#client = client;
		this.#members.begin(client);
		this.#deferredEvents.clear();
		guardRest(client.rest, {
			timeoutMs: platformTimeoutMs,
			timeoutSignal: this.options.timeoutSignal,
			onUnauthorized: () => void this.#verifyToken(client),
			closing: this.#closing.signal,
			pauseMs: this.#timing.resendPauseMs,
		});

		attach?.(client);
		client.once(Events.ClientReady, () => {
			this.#passDeferredEvents();
		});
		// Rejections of our async listeners. Without a listener for them the process would exit.
		client.on(Events.Error, (error) => this.droppedEvents.note("", error));
		client.on(Events.ShardResume, (shard, replayed) => {
			this.#noteReturn(shard, "resumed", replayed);
			completeLogin(client);
		});
		client.on(Events.ShardReady, (shard) => this.#noteReturn(shard, "new"));
		client.on(Events.ShardDisconnect, ({ code }) => void this.#failIfPermanent(new GatewayCloseError(code)));
		// Member events from before a new session are lost.
		for (const event of [Events.GuildCreate, Events.GuildAvailable] as const)
			client.on(event, (guild) => this.#members.load(guild));
		return client;
	}

	#socketOptions(client: Client, manager: Manager, shard: Shard): SocketOptions {
		const { id, count } = shard;
		let isLimitChecked = true;
		return {
			timing: this.#timing,
			open: this.#sockets,
			closing: this.#closing.signal,
			beforeNewSession: async () => {
				// The login itself has checked the limit for the first session of each shard.
				if (!isLimitChecked)
					await this.#waitForStart(
						() => this.#fetchGateway(manager),
						() => this.#shards.withoutSession,
					);
				isLimitChecked = false;
			},
			beforeIdentify: async (signal) => {
				await this.#waitForIdentify(signal, id, this.#starts.maxConcurrency);
				this.#starts.note();
			},
			intents: () => client.options.intents.bitfield,
			onDisallowedIntents: (requested) => this.#leaveOutIntents(client, requested),
			knownGuilds: () => [...client.guilds.cache.keys()].filter((guild) => shardOf(guild, count) === id),
			readEvent: (event, how) => this.#readEvent(client, id, event, how),
			onLost: (reason, heardAt) => {
				this.#shards.noteLoss(id, reason, heardAt);
				this.#noteState(reason);
				this.options.log.warn("lost the connection to Discord's Gateway, reconnecting", {
					reason,
					...this.#shardField(id),
				});
			},
			onFailure: (reason, retryMs) => {
				this.#shards.noteFailure(id, reason);
				this.#noteState(reason);
				this.options.log.warn("could not connect to Discord's Gateway, trying again", {
					reason,
					retry_in_ms: Math.round(retryMs),
					...this.#shardField(id),
				});
			},
		};
	}

	#fetchGateway(manager: Manager): Promise<unknown> {
		this.#gateway ??= manager.fetchGatewayInformation(true).finally(() => (this.#gateway = undefined));
		return this.#gateway;
	}

	#shardField(shard: number): { shard?: number } {
		return this.#shards.count > 1 ? { shard } : {};
	}

	/** Returns false if discord.js or a listener could not read the event. */
	#readEvent(client: Client, shard: number, event: Dispatch, how: { read: () => void; isReplay: boolean }): boolean {
		const { t: type, d } = event;
		const read = () => {
			const schema = eventSchemas[type];
			if (schema && !v.is(schema, d)) throw new TypeError("an event that is not as Discord documents it");
			if (type === GatewayDispatchEvents.GuildCreate) forgetChannels(client, d);
			if (eventsWithMembers.has(type)) completeMembers(d);
			if (type === GatewayDispatchEvents.InteractionCreate) keepObfuscated(client, d);
			how.read();
		};
		const isLate = how.isReplay && this.#shards.gapMs(shard) > this.#timing.maxCommandAgeMs;
		if (isLate && commandEvents.has(type)) {
			this.#shards.noteIgnoredCommand(shard);
			return true;
		}
		if (client.ws.status !== Status.Ready && !eventsBeforeReady.has(type)) {
			const deferred = this.#deferredEvents.getOrInsert(shard, []);
			if (deferred.length < maxDeferredEvents) deferred.push(() => this.#attempt(type, read));
			else this.#undeferredEvents += 1;
			return true;
		}
		if (type === GatewayDispatchEvents.Ready) {
			this.#shards.noteSession(shard);
			// Deferred events of the previous session are outdated.
			this.#deferredEvents.delete(shard);
			this.#members.forgetRequests(shard);
		}
		const wasRead = this.#attempt(type, read);
		if (wasRead && type === GatewayDispatchEvents.Ready) this.#members.forgetMembers(shard);
		const outdated = !wasRead && memberEvents.has(type) && isObject(d) && client.guilds.cache.get(String(d.guild_id));
		if (outdated) this.#members.loadLater(outdated);
		return wasRead;
	}

	#attempt(type: string, read: () => void): boolean {
		try {
			read();
			return true;
		} catch (error) {
			this.droppedEvents.note(type, error);
			return false;
		}
	}

	#passDeferredEvents(): void {
		const deferred = [...this.#deferredEvents.values()].flat();
		this.#deferredEvents.clear();
		if (this.#undeferredEvents > 0)
			this.options.log.warn("dropped events from Discord's Gateway: too many arrived during the login", {
				events: this.#undeferredEvents,
			});
		this.#undeferredEvents = 0;
		for (const pass of deferred) pass();
	}

	#noteReturn(shard: number, session: "new" | "resumed", replayed = 0): void {
		const returned = this.#shards.noteReturn(shard, session);
		if (!returned) return;
		this.#noteState();
		if (returned.wasLost)
			this.options.log.info("reconnected to Discord's Gateway", {
				session,
				gap_seconds: Number((returned.gapMs / 1000).toFixed(1)),
				replayed,
				commands_not_carried_out: returned.ignoredCommands || undefined,
				...this.#shardField(shard),
			});
	}

	async #verifyToken(client: Client): Promise<void> {
		if (this.#isTokenRefused || !client.isReady()) return;
		this.#isTokenRefused = true;
		this.#noteState("Discord answered 401");
		const { log } = this.options;
		log.warn("Discord answered 401 Unauthorized, checking the bot token");
		const delay = new ReconnectDelay(this.#timing);
		while (!this.#closing.signal.aborted) {
			await this.#sleep(delay.next());
			try {
				await client.rest.get(Routes.user());
				this.#isTokenRefused = false;
				this.#noteState();
				log.info("Discord accepts the bot token again");
				return;
			} catch (error) {
				if (await this.#failIfPermanent(error)) return;
				log.warn("could not check the bot token with Discord, trying again", { reason: String(error) });
			}
		}
	}

	/** Whether a retry cannot help. Then `failed` resolves. Never rejects. */
	async #failIfPermanent(error: unknown): Promise<boolean> {
		const closeCode = error instanceof GatewayCloseError && error.code;
		const isTokenRefused =
			closeCode === GatewayCloseCodes.AuthenticationFailed ||
			(error instanceof DiscordAPIError && error.status === 401) ||
			(error instanceof DiscordjsError && error.code === DiscordjsErrorCodes.TokenInvalid);
		if (isTokenRefused) this.#fail(new Error(tokenRefused(this.options.api), { cause: error }));
		else if (error instanceof GatewayCloseError) {
			const { shards = 1 } = this.options;
			const text = describeShardRefusal(error.code, shards);
			this.#fail(text ? new Error(text, { cause: error }) : error);
		} else return false;
		return true;
	}

	/** Leaves out the intents that Discord refuses. False if no requested intent is privileged. */
	async #leaveOutIntents(client: Client, requested: number): Promise<boolean> {
		const { options, rest } = client;
		// Another shard may have done it.
		if (options.intents.bitfield !== requested) return true;
		const flags = await rest.get(Routes.currentApplication()).then(
			(application) => (application as { flags?: number }).flags,
			() => undefined,
		);
		const refused = refusedIntents(requested, flags);
		for (const name of refused) {
			if (this.#refusedIntents.has(name)) continue;
			this.#refusedIntents.add(name);
			this.options.log.warn("running without a privileged intent", { intent: name, reason: describeRefused(name) });
		}
		const bits = refused.map((name) => privilegedIntents[name].bit);
		options.intents = new IntentsBitField(requested).remove(bits).freeze();
		return bits.length > 0;
	}

	#noteState(reason = this.#state.reason): void {
		const connected = this.ready && !this.#shards.isAnyLost;
		const since = connected === this.#state.connected ? this.#state.since : new Date();
		this.#state = { connected, since, reason };
	}

	async #sleep(ms: number): Promise<void> {
		await sleep(ms, undefined, { signal: this.#closing.signal }).catch(() => {});
	}
}

/**
 * discord.js checks this only after new sessions: a shard that resumes after all others would leave the login waiting.
 */
function completeLogin({ ws }: Client): void {
	const { checkShardsReady }: { checkShardsReady(): void } = ws as never;
	checkShardsReady.call(ws);
}

/** Channels may have been deleted while the guild was unavailable. */
function forgetChannels({ guilds, channels }: Client, d: unknown): void {
	const guild = guilds.cache.get(String(isObject(d) ? d.id : undefined));
	if (!guild || guild.available) return;
	for (const id of guild.channels.cache.keys()) channels.cache.delete(id);
}
