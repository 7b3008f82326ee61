// A running simulator: Discord's REST API, its Gateway and the control routes on one loopback port.

import { randomBytes } from "node:crypto";
import { ConfigError } from "../lib/config.ts";
import { createLog, type Log } from "../lib/log.ts";
import { reachableHost } from "../lib/program/listen.ts";
import { createControl, refusalReason, urlOf } from "./control/control.ts";
import type { Controllable } from "./control/controllable.ts";
import { servePage } from "./control/page.ts";
import { controlRoutes } from "./control/routes.ts";
import { type BuildOptions, buildGuild, type DocumentGuild, type GuildFile } from "./documents/build-guild.ts";
import type { Call } from "./documents/read-state.ts";
import { bodyWith } from "./interactions/given-options.ts";
import { discordInteractionTiming, Interactions, type InteractionTiming } from "./interactions/interactions.ts";
import { createUserClient, type UserClient } from "./interactions/user-client.ts";
import { isAuthorizePage, isRedirectedToPage, serveAuthorizePage } from "./rest/authorize-page.ts";
import { servePicture } from "./rest/cdn.ts";
import { Faults } from "./rest/faults.ts";
import { Journal, RequestLog } from "./rest/journal.ts";
import { generousLimits, RateLimiter, type RateLimits } from "./rest/rate-limits.ts";
import { type Exchange, Router } from "./rest/router.ts";
import { allRoutes } from "./rest/routes/all.ts";
import { applySeed, demoSeed, type Seed } from "./seed.ts";
import { discordTiming, SocketHub, type SocketTiming } from "./socket/socket.ts";
import type { ShardingSettings } from "./world/accounts/sharding.ts";
import type { Account, Channel, Guild, GuildPlace } from "./world/state/entities.ts";
import { inGuild } from "./world/state/entities.ts";
import { World } from "./world/world.ts";

export interface SimulatorOptions {
	/** The port to listen on. 0, the default, picks a free one. */
	readonly port?: number;
	/** The address to listen on. Default: the loopback address. */
	readonly hostname?: string | undefined;
	/**
	 * The initial guilds, channels and users. Default: those of the demo (two guilds with one bot each); if `worlds` is
	 * set, only the people of the demo.
	 */
	readonly seed?: Seed;
	/**
	 * Guild documents from which further guilds are built, each with its own bot. The people of the seed join all of
	 * these guilds.
	 */
	readonly worlds?: readonly GuildFile[];
	readonly worldOptions?: BuildOptions;
	/** Receives the log of the simulator. By default only its errors are logged, to stderr. */
	readonly log?: Log;
	/** Intervals and timeouts of the simulated Gateway, slash commands and buttons. Default: those of Discord. */
	readonly timing?: Partial<SocketTiming & InteractionTiming>;
	/** How bots must divide their guilds into shards. Default: as on Discord. */
	readonly sharding?: Partial<ShardingSettings>;
	/** The rate limits of the REST API. Default: so high that tests do not reach them. */
	readonly rateLimits?: RateLimits;
	/** The clock of the rate limits, in milliseconds. Default: Date.now. */
	readonly rateLimitNow?: () => number;
	/** Called with each REST request and its response, so that tests can validate them. */
	readonly onExchange?: (exchange: Exchange) => void;
}

export interface ChannelView {
	readonly id: string;
	readonly channel: Channel;
	/** Returns the channel's messages, oldest first, one per line: "username: content". */
	transcript(): string;
}

export interface Simulator extends Controllable, AsyncDisposable {
	readonly port: number;
	/** Handles a REST request directly, without a network connection. */
	handle(request: Request): Promise<Response>;
	/** The guilds that were built from the option `worlds`, in the same order. */
	readonly documentGuilds: readonly DocumentGuild[];
	clearFaults(): void;
	/**
	 * Closes all WebSocket connections to the simulated Gateway. With `resumable: false`, bots cannot resume their
	 * sessions.
	 */
	disconnectSockets(given?: { code?: number; resumable?: boolean }): void;
	/** Returns a client that acts as the bot with this user name. Throws if there is none. */
	bot(username: string): UserClient;
	guild(name: string): Guild;
	/**
	 * Returns the channel with this id or name. If channels of several guilds have the name, use "guild name/channel
	 * name". Throws if there is none.
	 */
	channel(name: string): ChannelView;
	close(): Promise<void>;
}

// Above Discord's limit, so that Discord's error is sent.
const bodyLimitBytes = 64 * 1024 * 1024;
const keptFileBytes = 256 * 1024 * 1024;

const fileHeaders = {
	"Content-Security-Policy": "sandbox; default-src 'none'",
	"X-Content-Type-Options": "nosniff",
};

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
	const log = options.log ?? quietLog;
	const world = new World();
	world.sharding.configure(options.sharding ?? {});
	const { worlds = [] } = options;
	const ownSeed = worlds.length > 0 ? { ...demoSeed(), ...nothing } : demoSeed();
	applySeed(world, options.seed ?? ownSeed);
	const journal = new Journal();
	const requests = new RequestLog();
	const faults = new Faults();
	const interactions = new Interactions(world, {
		...discordInteractionTiming,
		...options.timing,
	});
	const files = new Files();
	const parts = {
		routes: allRoutes,
		world,
		interactions,
		faults,
		log,
		onExchange: options.onExchange,
		storeFile: (host, path, file) => {
			files.add(path, file);
			return `http://${host}/attachments/${path}?${newSignature()}`;
		},
	} satisfies Partial<ConstructorParameters<typeof Router>[0]>;
	const router = new Router({
		...parts,
		journal,
		requests,
		limiter: new RateLimiter(options.rateLimits ?? generousLimits, options.rateLimitNow),
	});
	// The requests that make guilds are in no list, and have no rate limits.
	const builder = new Router({
		...parts,
		journal: new Journal(),
		requests: new RequestLog(),
		limiter: new RateLimiter(generousLimits),
	});
	const documentGuilds: DocumentGuild[] = [];
	for (const given of worlds)
		documentGuilds.push(
			await buildGuild(
				{
					world,
					people: [...world.accounts.values()].filter(({ user }) => !user.bot),
					callAs: (account) => callerOf(builder, account),
				},
				given,
				options.worldOptions,
			),
		);
	const sockets = new SocketHub(world, log, {
		...discordTiming,
		...options.timing,
	});
	const { hostname = "127.0.0.1" } = options;
	const listen = () =>
		Bun.serve({
			hostname,
			port: options.port ?? 0,
			development: false,
			reusePort: false,
			maxRequestBodySize: bodyLimitBytes,
			// A stalled response can take any time.
			idleTimeout: 0,
			websocket: sockets.handlers,
			fetch: (request, server) => {
				const called = urlOf(request);
				const { pathname } = called;
				if (isRedirectedToPage(request, called)) return Response.redirect(`/oauth2/authorize${called.search}`, 302);
				if (pathname.startsWith("/api/")) return router.handle(request, called);
				// Clients add "?v=10" or "/?v=10" to the URL. discord.py uses only the URL's host, and the root.
				const isSocket = /^\/socket\/?$/.test(pathname);
				const isUpgrade = request.headers.get("upgrade") === "websocket";
				if (isSocket || (pathname === "/" && isUpgrade)) return sockets.upgrade(request, called, server);
				if (pathname.startsWith("/simulator/")) return control(request, called);
				const page = servePage(request, called);
				if (page) return page;
				if (isAuthorizePage(called)) {
					const refused = refusalReason(request, called);
					if (refused) return new Response(`${refused}\n`, { status: 403 });
					return serveAuthorizePage(world, request, called);
				}
				const file = files.get(pathname.replace("/attachments/", ""));
				if (file) return new Response(file, { headers: fileHeaders });
				return servePicture(world.pictures, called);
			},
			error: (error) => {
				log.error("could not handle an HTTP request: internal error", {
					error,
				});
				return new Response("Internal error\n", { status: 500 });
			},
		});
	const server = listenOrFail(options.port ?? 0, listen);
	const url = `http://${reachableHost(hostname)}:${server.port}`;

	const accountNamed = (username: string): Account => {
		for (const account of world.accounts.values()) if (account.user.username === username) return account;
		throw new Error(`the simulator has no account with the user name ${username}`);
	};
	const findChannel = (name: string): Channel => findChannelIn(world, name);
	const person = (account: Account): UserClient =>
		createUserClient(account, {
			world,
			interactions,
			findChannel,
			call: async (path, json, files = []) => {
				const { user, token } = account;
				const body = bodyWith(json, files);
				const request = new Request(`${url}/api/v10${path}`, {
					method: "POST",
					headers: {
						authorization: user.bot ? `Bot ${token}` : token,
						...(typeof body === "string" && {
							"content-type": "application/json",
						}),
					},
					body,
				});
				return await router.handle(request, new URL(request.url));
			},
		});

	const simulator: Simulator = {
		url,
		api: `${url}/api`,
		cdn: url,
		port: Number(server.port),
		world,
		interactions,
		journal,
		requests,
		faults,
		sockets,
		get unknownRoutes() {
			return router.unknownRoutes;
		},
		documentGuilds,
		handle: (request) => router.handle(request, new URL(request.url)),
		clearFaults: () => faults.clear(),
		disconnectSockets: (given) => sockets.disconnect(given),
		bot: (username) => {
			const account = accountNamed(username);
			if (!account.user.bot) throw new Error(`the account ${username} is not a bot`);
			return person(account);
		},
		user: (username) => person(accountNamed(username)),
		guild: (name) => {
			for (const guild of world.guilds.values()) if (guild.name === name) return guild;
			throw new Error(`the simulator has no guild named ${name}`);
		},
		channel: (name) => {
			const channel = findChannel(name);
			return {
				id: channel.id,
				channel,
				transcript: () =>
					world.messages
						.in(channel.id)
						.map(({ author, content }) => `${author.username}: ${content}`)
						.join("\n"),
			};
		},
		close: async () => {
			router.close();
			interactions.close();
			sockets.close();
			await server.stop(true);
		},
		[Symbol.asyncDispose]: () => simulator.close(),
	};
	const control = createControl(controlRoutes(simulator));
	return simulator;
}

/**
 * Returns the parameters of an attachment's URL: when it expires and was issued, and a signature. The simulator does not
 * check them. https://docs.discord.com/developers/reference#signed-attachment-cdn-urls
 */
function newSignature(): string {
	const issued = Math.floor(Date.now() / 1000);
	const hex = (seconds: number) => seconds.toString(16);
	const signature = randomBytes(32).toString("hex");
	return `ex=${hex(issued + 24 * 60 * 60)}&is=${hex(issued)}&hm=${signature}&`;
}

class Files {
	readonly #byPath = new Map<string, Blob>();
	#bytes = 0;

	get(path: string): Blob | undefined {
		return this.#byPath.get(path);
	}

	add(path: string, file: Blob): void {
		this.#byPath.set(path, file);
		this.#bytes += file.size;
		for (const [oldest, { size }] of this.#byPath) {
			if (this.#bytes <= keptFileBytes) return;
			this.#byPath.delete(oldest);
			this.#bytes -= size;
		}
	}
}

const nothing = { bots: [], guilds: [] };

function callerOf(router: Router, { token }: Account): Call {
	return async (method, path, body) => {
		const request = new Request(`http://127.0.0.1/api/v10${path}`, {
			method,
			headers: { authorization: token, "content-type": "application/json" },
			...(method !== "GET" && { body: JSON.stringify(body ?? {}) }),
		});
		const response = await router.handle(request, new URL(request.url));
		const text = await response.text();
		return {
			status: response.status,
			body: text === "" ? undefined : JSON.parse(text),
		};
	};
}

const quietLog: Log = createLog({ format: "text", level: "error" }, console.error);

function listenOrFail<T>(port: number, listen: () => T): T {
	try {
		return listen();
	} catch (error) {
		const code = (error as NodeJS.ErrnoException).code ?? String(error);
		throw new ConfigError("the simulator", [
			code === "EADDRINUSE" ? `port: ${port} is already in use` : `port: listening on ${port} failed: ${code}`,
		]);
	}
}

function findChannelIn(world: World, name: string): Channel {
	const known = world.channels.get(name);
	if (known) return known;
	const found: GuildPlace[] = [];
	for (const channel of world.channels.values()) {
		if (!inGuild(channel)) continue;
		const guild = world.guilds.of(channel).name;
		if (name === channel.name || name === `${guild}/${channel.name}`) found.push(channel);
	}
	const [channel, ...others] = found;
	if (!channel) throw new Error(`the simulator has no channel named ${name}`);
	if (others.length > 0)
		throw new Error(
			`${found.length} channels are named ${name}; use "${world.guilds.of(channel).name}/${channel.name}"`,
		);
	return channel;
}
