// A running simulator: Discord's REST API, its Gateway and the control routes on one loopback port.

import { randomBytes } from "node:crypto";
import { ConfigError } from "../lib/config.ts";
import { parseJson } from "../lib/json.ts";
import { createLog, type Log } from "../lib/log.ts";
import { LruMap } from "../lib/lru-map.ts";
import { reachableHost } from "../lib/program/listen.ts";
import { pageFiles } from "../pages/page-files.ts" with { type: "macro" };
import { serveFiles } from "../pages/static-files.ts";
import { createControl, refusalReason, urlOf } from "./control/control.ts";
import type { Controllable } from "./control/controllable.ts";
import { controlRoutes } from "./control/routes.ts";
import { type BuildOptions, buildGuild, type DocumentGuild, type GuildFile } from "./documents/build-guild.ts";
import type { Call } from "./documents/read-state.ts";
import { discordInteractionTiming, Interactions, type InteractionTiming } from "./interactions/interactions.ts";
import { bodyWith, UserClient } from "./interactions/user-client.ts";
import { isRedirectedToPage, serveAuthorizePage } from "./rest/authorize-page.ts";
import { servePicture } from "./rest/cdn.ts";
import { Faults } from "./rest/faults.ts";
import { Journal, RequestLog } from "./rest/journal.ts";
import { generousLimits, RateLimiter, type RateLimits } from "./rest/rate-limits.ts";
import { type Exchange, Router } from "./rest/router.ts";
import { allRoutes } from "./rest/routes/all.ts";
import { applySeed, demoSeed, type Seed } from "./seed.ts";
import { type Connection, discordTiming, SocketHub, type SocketTiming } from "./socket/socket.ts";
import type { ShardingSettings } from "./world/accounts/sharding.ts";
import { type Account, type Channel, type Guild, type GuildPlace, inGuild } from "./world/state/entities.ts";
import { World } from "./world/world.ts";

export interface SimulatorOptions {
	port?: number;
	hostname?: string | undefined;
	/** Default: that of the demo; if `worlds` is set, only the people of the demo. */
	seed?: Seed;
	/** Each guild has its own bot. The people of the seed join all of these guilds. */
	worlds?: readonly GuildFile[];
	worldOptions?: BuildOptions;
	/** Receives the log of the simulator. By default only its errors are logged, to stderr. */
	log?: Log;
	/** Intervals and timeouts of the simulated Gateway, slash commands and buttons. Default: those of Discord. */
	timing?: Partial<SocketTiming & InteractionTiming>;
	/** How bots must divide their guilds into shards. Default: as on Discord. */
	sharding?: Partial<ShardingSettings>;
	/** The rate limits of the REST API. Default: so high that tests do not reach them. */
	rateLimits?: RateLimits | undefined;
	/** The clock of the rate limits, in milliseconds. Default: Date.now. */
	rateLimitNow?: () => number;
	onExchange?: (exchange: Exchange) => void;
}

interface ChannelView {
	id: string;
	channel: Channel;
	transcript(): string;
}

// Above Discord's limit, so that Discord's error is sent.
const bodyLimitBytes = 64 * 1024 * 1024;
const maxFiles = 1_000;

const servePage = serveFiles(pageFiles("simulator"), "/", "/pages");

const fileHeaders = { "Content-Security-Policy": "sandbox; default-src 'none'", "X-Content-Type-Options": "nosniff" };

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
	const simulator = new Simulator(options);
	await simulator.start();
	return simulator;
}

/** A simulator. It listens after `start`. */
export class Simulator implements Controllable, AsyncDisposable {
	readonly world = new World();
	readonly journal = new Journal();
	readonly requests = new RequestLog();
	readonly faults = new Faults();
	readonly interactions: Interactions;
	readonly sockets: SocketHub;
	readonly documentGuilds: DocumentGuild[] = [];
	tour: string[][] = [];
	readonly #options: SimulatorOptions & { log: Log; hostname: string };
	readonly #files = new LruMap<string, Blob>(maxFiles);
	readonly #router: Router;
	readonly #control: ReturnType<typeof createControl>;
	#server: Bun.Server<Connection> | undefined;

	constructor(options: SimulatorOptions) {
		const { world } = this;
		const { timing, log = quietLog, hostname = "127.0.0.1" } = options;
		this.#options = { ...options, log, hostname };
		world.sharding.configure(options.sharding ?? {});
		const people = options.worlds?.length ? { ...demoSeed(), bots: [], guilds: [] } : demoSeed();
		applySeed(world, options.seed ?? people);
		this.interactions = new Interactions(world, { ...discordInteractionTiming, ...timing });
		this.sockets = new SocketHub(world, log, { ...discordTiming, ...timing });
		const limiter = new RateLimiter(options.rateLimits ?? generousLimits, options.rateLimitNow);
		this.#router = this.#newRouter(this.journal, this.requests, limiter);
		this.#control = createControl(controlRoutes(this));
	}

	get port(): number {
		return Number(this.#server?.port);
	}

	get url(): string {
		return `http://${reachableHost(this.#options.hostname)}:${this.port}`;
	}

	get api(): string {
		return `${this.url}/api`;
	}

	get cdn(): string {
		return this.url;
	}

	get unknownRoutes() {
		return this.requests.unknownRoutes();
	}

	async start(): Promise<void> {
		const { worlds = [], worldOptions, port = 0, hostname, log } = this.#options;
		const { world } = this;
		// The requests that make guilds are in no list, and have no rate limits.
		const builder = this.#newRouter(new Journal(), new RequestLog(), new RateLimiter(generousLimits));
		const callAs = (account: Account) => callerOf(builder, account);
		for (const given of worlds) this.documentGuilds.push(await buildGuild(world, callAs, given, worldOptions));
		try {
			this.#server = Bun.serve({
				hostname,
				port,
				development: false,
				reusePort: false,
				maxRequestBodySize: bodyLimitBytes,
				// A stalled response can take any time.
				idleTimeout: 0,
				websocket: this.sockets.handlers,
				fetch: (request, server) => this.#respond(request, server),
				error: (error) => {
					log.error("could not handle an HTTP request: internal error", { error });
					return new Response("Internal error\n", { status: 500 });
				},
			});
		} catch (error) {
			const code = (error as NodeJS.ErrnoException).code ?? String(error);
			throw new ConfigError("the simulator", [
				code === "EADDRINUSE" ? `port: ${port} is already in use` : `port: listening on ${port} failed: ${code}`,
			]);
		}
	}

	readonly handle = (request: Request): Promise<Response> => this.#router.handle(request, new URL(request.url));

	/** Returns a client that acts as the bot with this user name. Throws if there is none. */
	readonly bot = (username: string): UserClient => {
		const account = this.#accountNamed(username);
		if (!account.user.bot) throw new Error(`the account ${username} is not a bot`);
		return this.#clientOf(account);
	};

	readonly user = (username: string): UserClient => this.#clientOf(this.#accountNamed(username));

	readonly guild = (name: string): Guild => {
		for (const guild of this.world.guilds.values()) if (guild.name === name) return guild;
		throw new Error(`the simulator has no guild named ${name}`);
	};

	/** By id, name or, if several guilds have the name, "guild name/channel name". Throws if there is none. */
	readonly channel = (name: string): ChannelView => {
		const channel = findChannelIn(this.world, name);
		const lines = () =>
			this.world.messages.in(channel.id).map(({ author, content }) => `${author.username}: ${content}`);
		return { id: channel.id, channel, transcript: () => lines().join("\n") };
	};

	async close(): Promise<void> {
		this.faults.close();
		this.interactions.close();
		this.sockets.close();
		await this.#server?.stop(true);
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.close();
	}

	#newRouter(journal: Journal, requests: RequestLog, limiter: RateLimiter): Router {
		const { world, interactions, faults } = this;
		const { log, onExchange } = this.#options;
		return new Router({
			routes: allRoutes,
			world,
			interactions,
			faults,
			journal,
			requests,
			limiter,
			log,
			onExchange,
			storeFile: (host, path, file) => {
				this.#files.set(path, file);
				return `http://${host}/attachments/${path}?${newSignature()}`;
			},
		});
	}

	#respond(request: Request, server: Bun.Server<Connection>): Response | undefined | Promise<Response | undefined> {
		const called = urlOf(request);
		const { pathname } = called;
		if (isRedirectedToPage(request, called)) return Response.redirect(`/oauth2/authorize${called.search}`, 302);
		if (pathname.startsWith("/api/")) return this.#router.handle(request, called);
		// Clients add "?v=10" or "/?v=10" to the URL. discord.py uses only the URL's host, and the root.
		const isSocket = /^\/socket\/?$/.test(pathname);
		const isUpgrade = request.headers.get("upgrade") === "websocket";
		if (isSocket || (pathname === "/" && isUpgrade)) return this.sockets.upgrade(request, called, server);
		if (pathname.startsWith("/simulator/")) return this.#control(request, called);
		const page = servePage(request, pathname);
		if (page || pathname === "/oauth2/authorize") {
			const refused = refusalReason(request, called);
			if (refused) return new Response(`${refused}\n`, { status: 403 });
			return page ?? serveAuthorizePage(this.world, request, called);
		}
		const file = this.#files.get(pathname.replace("/attachments/", ""));
		if (file) return new Response(file, { headers: fileHeaders });
		return servePicture(this.world.pictures, called);
	}

	#accountNamed(username: string): Account {
		for (const account of this.world.accounts.values()) if (account.user.username === username) return account;
		throw new Error(`the simulator has no account with the user name ${username}`);
	}

	#clientOf(account: Account): UserClient {
		const { world, interactions } = this;
		return new UserClient(account, {
			world,
			interactions,
			findChannel: (name) => findChannelIn(world, name),
			call: (path, json, files = []) => this.handle(requestOf(account, this.url, "POST", path, bodyWith(json, files))),
		});
	}
}

function requestOf({ user, token }: Account, origin: string, method: string, path: string, body?: string | FormData) {
	const headers = {
		authorization: user.bot ? `Bot ${token}` : token,
		...(typeof body === "string" && { "content-type": "application/json" }),
	};
	return new Request(`${origin}/api/v10${path}`, { method, headers, body });
}

/** Not checked. https://docs.discord.com/developers/reference#signed-attachment-cdn-urls */
function newSignature(): string {
	const issued = Math.floor(Date.now() / 1000);
	const hex = (seconds: number) => seconds.toString(16);
	const signature = randomBytes(32).toString("hex");
	return `ex=${hex(issued + 24 * 60 * 60)}&is=${hex(issued)}&hm=${signature}&`;
}

export function callerOf(router: Pick<Router, "handle">, account: Account): Call {
	return async (method, path, body) => {
		const text = method === "GET" ? undefined : JSON.stringify(body ?? {});
		const request = requestOf(account, "http://127.0.0.1", method, path, text);
		const response = await router.handle(request, new URL(request.url));
		return { status: response.status, body: parseJson(await response.text()) };
	};
}

const quietLog: Log = createLog({ format: "text", level: "error" }, console.error);

function findChannelIn(world: World, name: string): Channel {
	const known = world.channels.get(name);
	if (known) return known;
	const isNamed = (one: GuildPlace) => [one.name, `${world.guilds.of(one).name}/${one.name}`].includes(name);
	const found = [...world.channels.values()].filter(inGuild).filter(isNamed);
	const [channel, ...others] = found;
	if (!channel) throw new Error(`the simulator has no channel named ${name}`);
	if (others.length > 0)
		throw new Error(
			`${found.length} channels are named ${name}; use "${world.guilds.of(channel).name}/${channel.name}"`,
		);
	return channel;
}
