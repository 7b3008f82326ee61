// The gateway: one MCP endpoint in front of many bots. It keeps no state per client, and one session with each bot.

import { ByteBudget } from "../lib/byte-budget.ts";
import { ConfigError } from "../lib/config.ts";
import type { Log } from "../lib/log.ts";
import type { Principal } from "../lib/principal.ts";
import { type ListenOptions, listen, pathOf } from "../lib/program/listen.ts";
import { createMonitor, type MonitorOptions } from "../lib/program/monitor.ts";
import { type Running, version } from "../lib/program/program.ts";
import { Deadlines } from "../lib/signal.ts";
import type { Store } from "../lib/store/store.ts";
import {
	bearerToken,
	createBearerCheck,
	createHostCheck,
	createOriginCheck,
	createTokenMatch,
	unauthorized,
	withCors,
} from "../mcp/access.ts";
import { notFound } from "../mcp/http-response.ts";
import { countedMethod, createServer } from "../mcp/server.ts";
import { createEndpoint, type EndpointHandler } from "../mcp/streamable-http.ts";
import { Backend, type BackendOptions, maxUnfinishedBytes } from "./backends/backend.ts";
import { ToolsReader } from "./backends/listed-tools.ts";
import { type ApprovalTiming, approvalTiming } from "./calls/approvals.ts";
import { Calls } from "./calls/calls.ts";
import { addGauges, createMetrics } from "./calls/metrics.ts";
import { type ProgressTiming, progressTiming } from "./calls/progress.ts";
import { createPrompts } from "./calls/prompts.ts";
import { RecentCalls } from "./calls/recent-calls.ts";
import { createResources } from "./calls/resources.ts";
import { Catalogs } from "./catalog/catalogs.ts";
import { describeStatus } from "./catalog/status.ts";
import type { GatewayConfig } from "./config/config.ts";
import type { SignInSettings } from "./config/sign-in.ts";
import type { Console, ConsoleOptions } from "./console/console.ts";
import { serveDocs } from "./docs.ts";
import { type Authenticate, createAuthenticator } from "./keys/authenticator.ts";
import { createFindKey } from "./keys/keys.ts";
import type { OAuth, OAuthOptions } from "./oauth/oauth.ts";
import type { AskRights } from "./oauth/people/rights.ts";
import { systemClocks } from "./oauth/protocol/clocks.ts";
import { paths } from "./oauth/protocol/metadata.ts";
import { instructionsFor } from "./principals/instructions.ts";
import { narrow, readOnlyPath } from "./principals/narrowing.ts";
import { createAskRights, Rights } from "./principals/rights.ts";
import { Views } from "./principals/views.ts";
import { Refresher } from "./routing/refresher.ts";
import { Router } from "./routing/routing.ts";
import { UpClient } from "./routing/up-client.ts";
import { createWatch } from "./routing/watch.ts";
import { limitStore } from "./store/limited-store.ts";

const maxBodyBytes = 64 * 1024;
const sessions = "gateway-session";
const shutdownGraceMs = 500;
const info = { name: "guildhall-gateway", title: "Guildhall", version };

/** Parts that many gateways do not use, or not at the start: without them a gateway starts sooner and needs less memory. */
const load = {
	clients: (): typeof import("./oauth/clients/clients.ts") => require("./oauth/clients/clients.ts"),
	console: (): typeof import("./console/console.ts") => require("./console/console.ts"),
	oauth: (): typeof import("./oauth/oauth.ts") => require("./oauth/oauth.ts"),
	store: (): typeof import("./store/store.ts") => require("./store/store.ts"),
	storeFile: (): typeof import("./store/file.ts") => require("./store/file.ts"),
	withdrawals: (): typeof import("./calls/withdrawals.ts") => require("./calls/withdrawals.ts"),
};

export interface GatewayOptions extends Pick<BackendOptions, "awayMs"> {
	/**
	 * How many milliseconds the gateway waits, after its start, for the tools and guilds of the other bots when the first has
	 * listed its own. Default 1,000.
	 */
	firstAnswersMs?: number;
	/** Without it, only the root key (MCP_AUTH_TOKEN) is accepted. */
	store?: Store | undefined;
	/** For tests. */
	signIn?: Partial<Pick<OAuthOptions, "clients" | "askRights" | "clocks">>;
	/** Wait for a person's approval. Default: 10 s, asking the bot every 500 ms. */
	approvals?: ApprovalTiming;
	/** Default: after 2 s, once a second. */
	progress?: ProgressTiming;
}

/** Nothing happens before `start`, `refresh` or a request. */
export function createGateway(config: GatewayConfig, log: Log, options: GatewayOptions = {}) {
	const { awayMs, firstAnswersMs = 1_000, store, signIn } = options;
	const { approvals = approvalTiming, progress = progressTiming } = options;
	const clocks = signIn?.clocks ?? systemClocks;
	const metrics = createMetrics();
	const deadlines = new Deadlines(config.callTimeoutMs);
	const dependentsOfBots: { noteChange(): void }[] = [];
	const onChange = () => {
		for (const dependent of dependentsOfBots) dependent.noteChange();
	};
	const { token, maxInFlight, defaultInstance } = config;
	const budget = new ByteBudget(maxUnfinishedBytes);
	// A list for each bot, which the bots keep anyway, and a few for callers with limits.
	const toolsReader = new ToolsReader(config.instances.length + 8);
	const common = { token, info, metrics, log, toolsReader, maxInFlight, budget, awayMs, onChange };
	const backends = config.instances.map((instance) => new Backend({ instance, ...common }));
	const refresher = new Refresher({ backends, intervalMs: config.refreshIntervalMs, firstAnswersMs, log });
	const firstList = () => refresher.firstList;
	const rights = new Rights();
	const views = new Views(backends, rights);
	const catalogs = new Catalogs({ backends, views, timeoutMs: config.callTimeoutMs, firstList });
	const router = new Router({ backends, views, defaultInstance, firstList });
	const recent = config.console ? new RecentCalls() : undefined;
	const withdrawals = store && load.withdrawals().createWithdrawals({ backends, store, recent, log, now: clocks.now });
	const up = config.upSocket === undefined ? undefined : new UpClient(config.upSocket, backends);
	const watch = createWatch(backends, up);
	dependentsOfBots.push(...(up ? [up] : []), ...(withdrawals ? [withdrawals] : []), catalogs, router);
	addGauges(metrics, {
		backends,
		toolsListBytes: () => Buffer.byteLength(catalogs.all.list),
		refreshAgeSeconds: () => refresher.ageMs / 1000,
	});
	const publicUrl = config.signIn?.publicUrl;
	const oauth =
		config.signIn && store && createSignIn(config.signIn, store, createAskRights(rights, backends), log, signIn);
	const parts = {
		config,
		backends,
		router,
		views,
		catalogs,
		metrics,
		log,
		deadlines,
		approvals,
		progress,
		firstList,
		recent,
		withdrawals,
		stepUp: oauth?.stepUp,
		up,
	};
	const calls = new Calls(parts);
	const listFor = async (principal: Principal) => (await catalogs.see(principal)).catalog.toolList;
	const server = createServer({
		info,
		instructions: (principal) => instructionsFor(config, principal),
		tools: {
			list: (principal) =>
				principal ? listFor(principal) : (firstList()?.then(() => catalogs.all.toolList) ?? catalogs.all.toolList),
			ttlMs: () => Math.max(0, Math.round(config.refreshIntervalMs - refresher.ageMs)),
			call: (request, caller) => calls.call(request, caller),
		},
		prompts: createPrompts(parts),
		resources: createResources(parts),
		log,
		answered(request, response, { principal }) {
			if (response.kind === "text" && response.initialized) calls.noteClient(request.params, principal);
			metrics.requests.add([countedMethod(request), response.outcome]);
		},
	});
	const console = recent
		? createLazyConsole({ ...parts, recent, calls, store, clocks, token, publicUrl, discord: oauth?.console })
		: undefined;
	const decidesAt = config.console && publicUrl ? `${publicUrl}${paths.console}#approvals` : undefined;
	const authenticate = createAuthenticator({
		find: { key: store && createFindKey(store), access: oauth && ((hash) => oauth.findAccessToken(hash, decidesAt)) },
		refuse: (request) => unauthorized(request, oauth?.challenge(pathOf(request))),
		log,
		now: clocks.now,
	});
	const monitored = {
		// Calls to a bot that is away are held, so the gateway can accept them.
		notReady: () => (backends.some(({ state }) => state.online || state.away) ? undefined : "no backend is online"),
		degraded: () => store?.reason !== undefined,
		status: () => describeStatus(backends, catalogs.all, store),
		registry: metrics.registry,
	};
	const endpoint = createEndpoint({ server, maxBodyBytes, sessions });
	return {
		fetch: withCors(config.allowedOrigins, createFetch({ config, monitored, oauth, console, authenticate, endpoint })),
		responses: metrics.responses,
		/** Refreshes all bots now, and then at the configured interval. Watches whether they are ready. */
		start() {
			void refresher.start();
			watch.start();
		},
		/** Asks some of the bots whether they are ready; `start` calls it every 250 ms. */
		watch: watch.tick,
		/** All bots, within 5 s. Never rejects. */
		refresh: () => refresher.refresh(),
		/** Ends the refreshes and the event streams, which would keep the gateway from stopping. */
		stop() {
			refresher.stop();
			watch.stop();
			console?.close();
		},
		/** In flight; each client gets an error result. */
		cancelCalls: () => deadlines.stop(),
		async close() {
			withdrawals?.close();
			await Promise.all(backends.map((backend) => backend.close()));
		},
	};
}

function createSignIn(
	settings: SignInSettings,
	store: Store,
	askRights: AskRights,
	log: Log,
	replaced: GatewayOptions["signIn"],
): OAuth {
	const clients = load.clients().createClients({ store: limitStore(store), log });
	return load.oauth().createOAuth({ settings, store, clients, askRights, log, ...replaced });
}

/** Made at the first request for it. */
function createLazyConsole(options: ConsoleOptions): Console {
	let console: Console | undefined;
	return {
		respond(request, path, http) {
			if (path === "/" && request.method === "GET")
				return new Response(null, { status: 302, headers: { Location: paths.console } });
			if (!path.startsWith(paths.console)) return undefined;
			console ??= load.console().createConsole(options);
			return console.respond(request, path, http);
		},
		close: () => console?.close(),
	};
}

interface FetchOptions {
	config: Pick<GatewayConfig, "allowedHosts" | "allowedOrigins" | "token" | "docsDirectory">;
	monitored: Omit<MonitorOptions, "refuse" | "refuseUnauthenticated">;
	oauth: OAuth | undefined;
	console: Console | undefined;
	authenticate: Authenticate;
	endpoint: EndpointHandler;
}

function createFetch(options: FetchOptions): ListenOptions["fetch"] {
	const { config, oauth, console, authenticate, endpoint } = options;
	const checks = { host: createHostCheck(config.allowedHosts), origin: createOriginCheck(config.allowedOrigins) };
	const checkBearer = createBearerCheck(config.token);
	const isRoot = createTokenMatch(config.token);
	const monitor = createMonitor({
		...options.monitored,
		refuse: (request) => checks.host(request) ?? checks.origin(request) ?? checkBearer(request),
		// Health checks may use any host name, and need no token.
		refuseUnauthenticated: checks.origin,
	});
	return (request, http) => {
		const path = pathOf(request);
		if (path !== "/mcp" && path !== readOnlyPath)
			return (
				monitor(request, path) ??
				checks.host(request) ??
				serveDocs(request, path, config.docsDirectory) ??
				// Pages of any origin may use what needs no token there.
				oauth?.respond(request, path, http) ??
				// The console checks the origin itself and accepts only its own.
				console?.respond(request, path, http) ??
				checks.origin(request) ??
				// Without a check of the token: a client that gets 401 for OAuth metadata waits for a login that never comes.
				notFound({ hasOAuth: oauth !== undefined })
			);
		const refusal = checks.host(request) ?? checks.origin(request);
		if (refusal) return refusal;
		const { headers } = request;
		const isNarrowed = path === readOnlyPath || headers.has("x-mcp-readonly") || headers.has("x-mcp-toolsets");
		const token = bearerToken(request);
		if (token !== undefined && isRoot(token))
			return endpoint(request, http, isNarrowed ? narrow(undefined, headers, path) : undefined);
		const caller = authenticate(request, token);
		if (caller instanceof Response) return caller;
		return caller.then((known) => {
			if (known instanceof Response) return known;
			return endpoint(request, http, isNarrowed ? narrow(known, headers, path) : known);
		});
	};
}

/** Listens at once; asks the bots in the background, and again at the configured interval. */
export async function startGateway(
	config: GatewayConfig,
	log: Log,
	options?: GatewayOptions,
): Promise<Running & { url: string }> {
	for (const warning of config.warnings) log.warn("gateway configuration warning", { warning });
	log.info("gateway is starting", { instances: config.instances.length });
	for (const { name, url } of config.instances) {
		const route = `${name} -> ${url}`;
		log.info("read a bot from the gateway's configuration", { instance: name, route });
	}

	const issue = config.store && load.storeFile().fileIssue(config.store);
	if (issue) throw new ConfigError("the environment", [issue]);
	const store = config.store && load.store().openStore(config.store, log);
	const gateway = createGateway(config, log, { ...options, store });
	const listener = listen({
		hostname: config.bindAddress,
		port: config.port,
		settings: { hostname: "GATEWAY_BIND_ADDR", port: "GATEWAY_PORT" },
		fetch: gateway.fetch,
		log,
		responses: gateway.responses,
		sharePort: config.sharePort,
	});
	const url = `${listener.url}/mcp`;
	log.info("gateway is listening for MCP requests", { url });

	gateway.start();
	return {
		url,
		drain: () => listener.drain(),
		async close() {
			gateway.stop();
			const last = setTimeout(gateway.cancelCalls, config.shutdownMs);
			await listener.close(config.shutdownMs + shutdownGraceMs);
			clearTimeout(last);
			await gateway.close();
			await store?.close();
		},
		...(store && { failed: store.failed }),
	};
}
