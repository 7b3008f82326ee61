// The gateway: one MCP endpoint in front of many bots. It keeps no state per client, and one session with each bot.

import { ByteBudget } from "../lib/byte-budget.ts";
import { ConfigError } from "../lib/config.ts";
import { Deadlines } from "../lib/deadlines.ts";
import type { Log } from "../lib/log.ts";
import type { Counter } from "../lib/metrics.ts";
import { type ListenOptions, listen, pathOf } from "../lib/program/listen.ts";
import { createMonitor } from "../lib/program/monitor.ts";
import { type Running, version } from "../lib/program/program.ts";
import { createBearerCheck, createHostCheck, createOriginCheck, unauthorized, withCors } from "../mcp/access.ts";
import { notFound } from "../mcp/http-response.ts";
import { countedMethod, createServer } from "../mcp/server.ts";
import { createEndpoint } from "../mcp/streamable-http.ts";
import { Backend, type BackendOptions, maxUnfinishedBytes } from "./backends/backend.ts";
import { ToolsReader } from "./backends/listed-tools.ts";
import { refreshAll } from "./backends/refresh-all.ts";
import { ClientNames } from "./callers/client-names.ts";
import { instructionsFor } from "./callers/instructions.ts";
import { narrow, readOnlyPath } from "./callers/narrowing.ts";
import { createAskRights, Rights } from "./callers/rights.ts";
import { Views } from "./callers/views.ts";
import { type ApprovalTiming, approvalTiming } from "./calls/approvals.ts";
import { createCalls } from "./calls/calls.ts";
import { createMetrics } from "./calls/metrics.ts";
import { createPrompts } from "./calls/prompts.ts";
import { RecentCalls } from "./calls/recent-calls.ts";
import { MergedCatalog } from "./catalog/merged-catalog.ts";
import { ScopedCatalogs, type See } from "./catalog/scoped-catalogs.ts";
import { describeStatus } from "./catalog/status.ts";
import type { GatewayConfig } from "./config/config.ts";
import { createAuthenticator } from "./keys/authenticator.ts";
import { createFindKey } from "./keys/keys.ts";
import { createLazyConsole, loadClients, loadOAuth, loadStore, loadStoreFile, loadWithdrawals } from "./load.ts";
import type { OAuthOptions } from "./oauth/oauth.ts";
import { systemClocks } from "./oauth/protocol/clocks.ts";
import { GuildIndex } from "./routing/guild-index.ts";
import { createFindTarget } from "./routing/target.ts";
import { limitStore } from "./store/limited-store.ts";
import type { GatewayStore } from "./store/store.ts";

const maxBodyBytes = 64 * 1024;
const sessions = "gateway-session";
const shutdownGraceMs = 500;
const info = { name: "guildhall-gateway", title: "Guildhall", version };

export interface Gateway {
	fetch: ListenOptions["fetch"];
	responses: Counter;
	/** Updates the state, tools and guilds of all bots within 5 s. Never rejects. */
	refresh(): Promise<void>;
	/** Cancels every tool call in flight. The client of each call gets an error result. */
	cancelCalls(): void;
	/** Ends the console's event streams, which would otherwise keep the gateway from stopping. */
	endStreams(): void;
	/** Ends the gateway's MCP sessions with all bots. */
	close(): Promise<void>;
}

export interface GatewayOptions extends Pick<BackendOptions, "connect" | "awayMs"> {
	/**
	 * How many milliseconds the gateway waits, after its start, for the first answers of bots: for the tools of the other
	 * bots when the first has listed its tools, and for the guilds of the bots before the one that serves a call's guild.
	 * Default 1,000.
	 */
	firstAnswersMs?: number;
	/**
	 * The gateway's database of API keys and sign-ins. Without it, the gateway accepts only the root key (MCP_AUTH_TOKEN).
	 */
	store?: GatewayStore | undefined;
	/** Replaces parts of the sign-in with Discord, for tests. */
	signIn?: Partial<Pick<OAuthOptions, "clients" | "askRights" | "clocks">>;
	/**
	 * How long a tool call that needs a person's approval waits for the decision. Default: 10 s, during which the gateway
	 * asks the bot every 500 ms.
	 */
	approvals?: ApprovalTiming;
}

export function createGateway(
	config: GatewayConfig,
	log: Log,
	{ connect, awayMs, firstAnswersMs = 1_000, store, signIn, approvals = approvalTiming }: GatewayOptions = {},
): Gateway {
	const metrics = createMetrics({
		backends: () => backends,
		toolsListBytes: () => Buffer.byteLength(merged.catalog.list),
		refreshAgeSeconds: () => (performance.now() - refreshedAt) / 1000,
	});
	const budget = new ByteBudget(maxUnfinishedBytes);
	const { token, maxInFlight } = config;
	const bounds = { maxInFlight, budget, awayMs };
	// A list for each bot, which the bots keep anyway, and a few for callers with limits.
	const toolsReader = new ToolsReader(config.instances.length + 8);
	const parts = { token, info, metrics, log, connect, toolsReader, ...bounds };
	const backends = config.instances.map((instance) => new Backend({ ...parts, instance, onChange: noteChange }));
	const merged = new MergedCatalog(backends);
	const clocks = signIn?.clocks ?? systemClocks;
	const recent = new RecentCalls();
	const withdrawals =
		store &&
		loadWithdrawals().createWithdrawals({
			...{ backends, store, recent, log, now: clocks.now },
		});
	const index = new GuildIndex(backends);
	/**
	 * Settles when the gateway may answer its first tools/list request, because enough bots have listed their tools.
	 * Undefined before the gateway asks the bots for their tools, and after the promise has settled.
	 */
	let firstCatalog: Promise<unknown> | undefined;
	let started = false;
	const deadlines = new Deadlines(config.callTimeoutMs);
	let refreshedAt = performance.now();

	const rights = new Rights();
	const views = new Views(backends, rights);
	const scopedCatalogs = new ScopedCatalogs();

	const see: See = async (principal) => {
		await firstCatalog;
		const signal = AbortSignal.timeout(config.callTimeoutMs);
		const seen = await views.load(principal, signal);
		const catalog = await scopedCatalogs.get(principal, seen);
		for (const view of seen) {
			const offer = catalog.offers.get(view.name);
			view.dropped = offer?.dropped ?? [];
			view.prompts = offer?.prompts ?? [];
		}
		return { views: seen, catalog };
	};

	function noteChange(): void {
		withdrawals?.wake();
		scopedCatalogs.expire();
		merged.noteChange();
		index.noteChange();
	}

	async function refresh(): Promise<void> {
		const rounds = refreshAll(backends).map((refreshed, at) =>
			refreshed.then(() => {
				const backend = backends[at];
				if (backend) logState(backend);
			}),
		);
		const all = Promise.all(rounds);
		if (!started) {
			started = true;
			firstCatalog = Promise.race([all, someTools(rounds)]).finally(() => {
				firstCatalog = undefined;
			});
		}
		await all;
		refreshedAt = performance.now();
		warnOfSharedGuilds();
	}

	/**
	 * Resolves a short time after the first bot has listed its tools; never if no bot lists tools. Each promise
	 * in `rounds` settles when one bot has responded.
	 */
	async function someTools(rounds: readonly Promise<void>[]): Promise<void> {
		const { promise, resolve } = Promise.withResolvers<void>();
		for (const round of rounds)
			void round.then(() => {
				if (backends.some(({ tools }) => tools)) resolve();
			});
		await promise;
		await Bun.sleep(firstAnswersMs);
	}

	function logState({ name, state, guilds }: Backend): void {
		if (state.online)
			log.info("refreshed the guilds and tools of a bot", {
				instance: name,
				guilds: guilds.size,
			});
	}

	function warnOfSharedGuilds(): void {
		const { serving } = index.now;
		for (const backend of backends)
			for (const id of backend.guilds.keys()) {
				const first = serving(id);
				if (first && first !== backend)
					log.warn("guild is served by two bots: only one gets calls", {
						guild: id,
						instance: first.name,
						ignored: backend.name,
					});
			}
	}

	const findTarget = createFindTarget(
		backends,
		views,
		config.defaultInstance,
		() => firstCatalog,
		index,
		firstAnswersMs,
	);
	const limited = { views, see };
	const parties = { config, backends, findTarget, metrics, log, deadlines };
	const shared = { ...parties, ...limited };
	const clientNames = new ClientNames();
	const call = createCalls({
		...shared,
		clientNames,
		approvals,
		recent,
		withdrawals,
		catalog: () => merged.catalog,
	});
	const server = createServer({
		info,
		instructions: (principal) => instructionsFor(config, principal),
		tools: {
			list: (principal) =>
				principal
					? see(principal).then(({ catalog }) => catalog.toolList)
					: (firstCatalog?.then(() => merged.toolList) ?? merged.toolList),
			// The tools do not change before the next refresh.
			ttlMs() {
				const age = performance.now() - refreshedAt;
				return Math.max(0, Math.round(config.refreshIntervalMs - age));
			},
			call,
		},
		prompts: createPrompts({ ...shared, firstList: () => firstCatalog }),
		log,
		answered(request, response, { principal }) {
			if (response.kind === "text" && response.initialized) clientNames.note(request.params, principal);
			metrics.requests.add([countedMethod(request), response.outcome]);
		},
	});
	const endpoint = createEndpoint({ server, maxBodyBytes, sessions });
	const checkHost = createHostCheck(config.allowedHosts);
	const checkOrigin = createOriginCheck(config.allowedOrigins);
	const checkBearer = createBearerCheck(config.token);
	const checkCaller = (request: Request) => checkHost(request) ?? checkOrigin(request);
	// Calls to a bot that is away are held, so the gateway can accept them.
	const isReady = () => backends.some(({ state }) => state.online || state.away);
	const monitor = createMonitor({
		notReady: () => (isReady() ? undefined : "no backend is online"),
		degraded: () => store?.reason !== undefined,
		status: () => describeStatus(backends, merged.catalog, store),
		registry: metrics.registry,
		refuse: (request) => checkCaller(request) ?? checkBearer(request),
		// Health checks may use any host name, and need no token.
		refuseUnauthenticated: checkOrigin,
	});

	const oauth =
		config.signIn && store
			? loadOAuth().createOAuth({
					settings: config.signIn,
					store,
					clients: loadClients().createClients({
						store: limitStore(store),
						log,
					}),
					askRights: createAskRights(rights, backends),
					log,
					...signIn,
				})
			: undefined;
	const console = config.console
		? createLazyConsole({
				...{ backends, views, recent, see, call, store, log, clocks },
				token: config.token,
				publicUrl: config.signIn?.publicUrl,
				discord: oauth?.console,
				run: Math.random().toString(36).slice(2, 8),
			})
		: undefined;
	const authenticate = createAuthenticator({
		token: config.token,
		find: {
			...(store && { key: createFindKey(store) }),
			...(oauth && { access: oauth.findAccessToken }),
		},
		refuse: (request) => unauthorized(request, oauth?.challenge(pathOf(request))),
		log,
		now: clocks.now,
	});

	const respond: ListenOptions["fetch"] = (request, http) => {
		const path = pathOf(request);
		const answer =
			monitor(request, path) ??
			checkHost(request) ??
			// Pages of any origin may use what needs no token there.
			oauth?.respond(request, path, http) ??
			// The console checks the origin itself and accepts only its own.
			console?.respond(request, path, http) ??
			checkOrigin(request);
		if (answer) return answer;
		// 404 comes before the check of the token: a client that gets 401 for OAuth metadata waits for a login that never comes.
		if (path !== "/mcp" && path !== readOnlyPath) return notFound({ hasOAuth: oauth !== undefined });
		const { headers } = request;
		const caller = authenticate(request);
		if (caller === "root") return endpoint(request, http, narrow(undefined, headers, path));
		if (caller instanceof Response) return caller;
		return caller.then((known) =>
			known instanceof Response ? known : endpoint(request, http, narrow(known, headers, path)),
		);
	};
	const withOrigins = withCors(config.allowedOrigins, respond);

	return {
		fetch: withOrigins,
		responses: metrics.responses,
		refresh,
		cancelCalls: () => deadlines.stop(),
		endStreams: () => console?.close(),
		async close() {
			withdrawals?.close();
			await Promise.all(backends.map((backend) => backend.close()));
		},
	};
}

/**
 * Starts the gateway. It listens at once. In the background, it asks all bots for their tools and guilds, and repeats
 * this at the configured interval.
 */
export async function startGateway(
	config: GatewayConfig,
	log: Log,
	options?: GatewayOptions,
): Promise<Running & { url: string }> {
	for (const warning of config.warnings) log.warn("gateway configuration warning", { warning });
	log.info("gateway is starting", { instances: config.instances.length });
	for (const { name, url } of config.instances) {
		const route = `${name} -> ${url}`;
		log.info("read a bot from the gateway's configuration", {
			instance: name,
			route,
		});
	}

	const issue = config.store && loadStoreFile().fileIssue(config.store);
	if (issue) throw new ConfigError("the environment", [issue]);
	const store = config.store && loadStore().openStore(config.store, log);
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

	let closed = false;
	let timer: Timer | undefined;
	async function refresh() {
		await gateway.refresh();
		if (!closed) timer = setTimeout(refresh, config.refreshIntervalMs);
	}
	void refresh();

	return {
		url,
		drain: () => listener.drain(),
		async close() {
			closed = true;
			clearTimeout(timer);
			gateway.endStreams();
			const last = setTimeout(gateway.cancelCalls, config.shutdownMs);
			await listener.close(config.shutdownMs + shutdownGraceMs);
			clearTimeout(last);
			await gateway.close();
			await store?.close();
		},
		...(store && { failed: store.failed }),
	};
}
