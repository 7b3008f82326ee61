// The bot's connection to Discord: logging in until it works, noticing when the token no longer does, and the members
// of every guild, which only Discord's Gateway tells of completely.

import {
	Client,
	type ClientEvents,
	DiscordAPIError,
	Events,
	GatewayCloseCodes,
	GatewayIntentBits,
	type Guild,
	Routes,
	type User,
} from "discord.js";
import type { Log } from "../../lib/log.ts";
import { ToolError } from "../../mcp/tool.ts";
import { IdentifyThrottler } from "./identify.ts";
import { describeRefusal, portal } from "./intents.ts";
import { followNames, makeCache } from "./member-cache.ts";
import { RequestGuard } from "./request-guard.ts";
import {
	guardRest,
	type PlatformOutcome,
	platformTimeoutMs,
	restOptions,
} from "./rest.ts";

/** Waits between attempts: doubled each time, up to the second number. */
const backOffMs = [500, 60_000] as const;
/** discord.js waits this long for the members of a guild. */
const membersTimeoutMs = 120_000;

/** How long Discord may take to close the connection with us. */
const goodbyeMs = 500;

const tokenRefused = `Discord refuses DISCORD_TOKEN: reset the token at ${portal} (Bot), and put the new one into .env`;

export interface ConnectionOptions {
	token: string;
	/** Where Discord's REST API is, without its version. */
	api: string;
	log: Log;
	/** Is told of every request to Discord's API. */
	onAnswer(outcome: PlatformOutcome): void;
	/** Whether messages that people write are wanted, with what is in them. */
	readsMessages?: boolean;
	/** Whether bans that are made and lifted are wanted. */
	watchesBans?: boolean;
	/** Is given each client before it logs in: there is another one for every attempt. */
	attach?(client: Client): void;
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

	readonly #options: ConnectionOptions;
	readonly #closing = new AbortController();
	readonly #throttler = new IdentifyThrottler();
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
		this.#options = options;
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
			await this.#pause(attempt);
		}
	}

	async close(): Promise<void> {
		this.#closing.abort();
		// A platform that has gone does not answer our goodbye.
		await Promise.race([this.#client?.destroy(), Bun.sleep(goodbyeMs)]);
	}

	async #logIn(client: Client): Promise<void> {
		const ready = once(client, Events.ClientReady);
		await client.login(this.#options.token);
		await ready;
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
		const { api, log, onAnswer, readsMessages, watchesBans, attach } =
			this.#options;
		const {
			Guilds,
			GuildMembers,
			GuildMessages,
			GuildModeration,
			GuildVoiceStates,
			MessageContent,
		} = GatewayIntentBits;
		const client = new Client({
			intents: [
				// Of these GuildMembers alone is privileged. Without GuildMessages nobody tells of a message that is deleted.
				...[Guilds, GuildMembers, GuildVoiceStates, GuildMessages],
				...(readsMessages ? [MessageContent] : []),
				...(watchesBans ? [GuildModeration] : []),
			],
			rest: restOptions(api, onAnswer, this.requests),
			ws: { buildIdentifyThrottler: () => this.#throttler },
			makeCache,
			// Text that the bot sends pings nobody unless whoever sends it says so.
			allowedMentions: { parse: [], repliedUser: false },
		});
		this.#client = client;
		this.#complete = new Set();
		guardRest(client.rest, {
			timeoutMs: platformTimeoutMs,
			onUnauthorized: () => void this.#verifyToken(client),
		});

		followNames(client);
		attach?.(client);
		// Without a listener an error would end the process.
		client.on(Events.Error, (error) => log.error("discord.js", { error }));
		client.on(Events.ShardError, (error) => {
			const reason = String(error?.message ?? error);
			this.#noteState(reason);
			log.warn("the connection to Discord's Gateway broke", { reason });
		});
		client.on(Events.ShardReconnecting, () => {
			this.#cutOff = true;
			this.#noteState("reconnecting to Discord's Gateway");
			// discord.js says so of a connection that we close, too.
			if (!this.#closing.signal.aborted)
				log.warn("reconnecting to Discord's Gateway");
		});
		client.on(Events.ShardResume, (_, replayed) => {
			this.#cutOff = false;
			this.#noteState();
			log.info("back on Discord's Gateway", { replayed });
		});
		client.on(Events.ShardReady, () => {
			this.#cutOff = false;
			this.#noteState();
		});
		client.on(Events.ShardDisconnect, ({ code }) => {
			const fault =
				closeFault(code) ??
				new Error(`Discord's Gateway closed for good, with code ${code}`);
			void this.#giveUp(client, fault);
		});
		// A new Gateway session knows nothing of what happened before it.
		for (const event of [Events.GuildCreate, Events.GuildAvailable] as const)
			client.on(event, (guild) => this.#loadMembers(client, guild));
		return client;
	}

	/** Asks for all members of a guild until they are here. */
	async #loadMembers(client: Client, guild: Guild): Promise<void> {
		const { log } = this.#options;
		this.#complete.delete(guild.id);
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
		const [first, most] = backOffMs;
		const ms = Math.min(first * 2 ** attempt, most) * (0.5 + Math.random() / 2);
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
	if (!(error instanceof Error)) return undefined;
	const invalid = "code" in error && error.code === "TokenInvalid";
	// @discordjs/ws gives these two no code.
	if (invalid || error.message === "Authentication failed")
		return new Error(tokenRefused, { cause: error });
	if (error.message === "Used disallowed intents")
		return new IntentsRefused(undefined, { cause: error });
	return undefined;
}

function closeFault(code: number): Error | undefined {
	if (code === GatewayCloseCodes.AuthenticationFailed)
		return new Error(tokenRefused);
	if (code === GatewayCloseCodes.DisallowedIntents) return new IntentsRefused();
	return undefined;
}

function once(client: Client, event: keyof ClientEvents): Promise<void> {
	return new Promise((resolve) => client.once(event, () => resolve()));
}
