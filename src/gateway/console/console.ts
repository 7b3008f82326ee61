// The console: a web page of the gateway for its operator, and for people who sign in with Discord. Only the console
// accepts its session cookie, and its API accepts no tokens.

import type { Log } from "../../lib/log.ts";
import type { Store } from "../../lib/store/store.ts";
import { pageFiles } from "../../pages/page-files.ts" with { type: "macro" };
import { serveFiles } from "../../pages/static-files.ts";
import type { OAuth } from "../oauth/oauth.ts";
import type { Clocks } from "../oauth/protocol/clocks.ts";
import { paths } from "../oauth/protocol/metadata.ts";
import { readOnlyPath } from "../principals/narrowing.ts";
import { createAccessRoutes } from "./access.ts";
import { createBotRoutes } from "./bots.ts";
import { createControl } from "./control.ts";
import { Events } from "./events.ts";
import { isForeign } from "./origin.ts";
import { createReadingTools, type ReadingToolsOptions } from "./reading-tools.ts";
import { ConsoleError, errorResponse, jsonResponse } from "./respond.ts";
import { createSessions, isCsrfToken } from "./sessions.ts";
import { createSignIn, requireOwnOrigin, wrongOrigin } from "./sign-in.ts";
import { createState, type StateOptions } from "./state.ts";
import { type Viewer, viewerOf } from "./viewer.ts";

/** In seconds. Bun's default of 10 s would close the connection of a longer call. */
const maxQuietSeconds = 60;
const consolePath = paths.console;
const servePage = serveFiles(pageFiles("console"), consolePath, consolePath);
const apiPath = `${consolePath}/api/`;

export interface ConsoleOptions extends StateOptions, ReadingToolsOptions {
	store: Store | undefined;
	token: string;
	/** An origin, if the operator has set it. */
	publicUrl: string | undefined;
	discord: OAuth["console"] | undefined;
	log: Log;
	clocks: Clocks;
}

/** Returns a response, or the JSON of one. */
type Route = (request: Request, viewer: Viewer) => unknown;

type Http = Pick<Bun.Server<undefined>, "requestIP" | "timeout">;

export type Console = ReturnType<typeof createConsole>;

export function createConsole(options: ConsoleOptions) {
	const { token, publicUrl, discord, store, log, clocks } = options;
	const sessions = createSessions(token, clocks.now, store);
	const state = createState(options);
	const events = new Events({ state, recent: options.recent, sessions, log });
	const signIn = createSignIn({ token, publicUrl, sessions, discord, log, monotonicNow: clocks.monotonicNow });

	const { now } = clocks;
	const instances = options.backends.map(({ name }) => name);
	const access = createAccessRoutes({ store, instances, log, now });
	const tools = createReadingTools(options, ({ session }, step) => events.send(session, "step", step));
	const bots = createBotRoutes({ ...options, state });

	const routes: Readonly<Record<string, Route>> = {
		"POST sign-out": (_, { session }) => {
			const response = signIn.signOut(session);
			events.signedOut(session);
			return response;
		},
		"GET state": async (_, viewer) => {
			await state.load(viewer);
			return state.now(viewer);
		},
		"GET calls": (_, viewer) => ({ calls: state.callsFor(viewer) }),
		"POST history": bots.history,
		"GET approvals": bots.approvals,
		"POST approvals/decide": bots.decide,
		"POST settings": bots.settings,
		"POST settings/submit": bots.submit,
		"GET clients": ({ headers }, { session }) => {
			const origin = publicUrl ?? `${session.isHttps ? "https" : "http"}://${headers.get("host")}`;
			const discordSignIn = discord !== undefined;
			return { endpoint: `${origin}/mcp`, readOnlyEndpoint: origin + readOnlyPath, discordSignIn };
		},
		"GET tools": tools.list,
		"POST tools/call": tools.call,
		"POST control": createControl(options),
		"GET access": access.list,
		"POST access/revoke": access.revoke,
		"POST keys": access.create,
		"GET events": (request, viewer) => events.open(viewer, request.signal),
	};
	const routePaths = new Set(Object.keys(routes).map((key) => key.split(" ")[1]));

	async function handle(request: Request, name: string, http: Http): Promise<Response> {
		const { method } = request;
		const own = method === "POST" ? requireOwnOrigin(request, publicUrl) : undefined;
		if (!own && isForeign(request, publicUrl))
			throw new ConsoleError("origin", "A page of another origin sent this request. Use the console's own page.");
		if (name === "sign-in" && method === "POST") return signIn.signIn(request, http.requestIP(request)?.address);
		if (name === "sign-in/discord" && method === "POST")
			return signIn.toDiscord(request, http.requestIP(request)?.address);
		const session = await sessions.of(request);
		if (name === "sign-in" && method === "GET") return signIn.show(session);
		if (!session) throw new ConsoleError("signed_out", "Sign in to the console first.");
		if (own && own.isHttps !== session.isHttps) throw wrongOrigin();
		if (method === "POST") http.timeout(request, maxQuietSeconds);
		const route = routes[`${method} ${name}`];
		if (!route && routePaths.has(name))
			throw new ConsoleError("method", "This path does not support this HTTP method.");
		if (!route) throw new ConsoleError("not_found", "The console's API has no such path.");
		if (method !== "GET" && !isCsrfToken(request.headers.get("x-guildhall-csrf"), session))
			throw new ConsoleError("csrf", "This page belongs to an earlier session. Reload it.");
		const answer = await route(request, viewerOf(session));
		return answer instanceof Response ? answer : jsonResponse(answer);
	}

	return {
		/** Undefined for paths other than `/console` and below. */
		respond(request: Request, path: string, http: Http): Response | Promise<Response> | undefined {
			if (path === `${consolePath}/`) return new Response(null, { status: 308, headers: { Location: consolePath } });
			if (!path.startsWith(apiPath)) return servePage(request, path);
			return handle(request, path.slice(apiPath.length), http).catch(errorResponse);
		},
		/** Ends all event streams, so that the gateway can stop. */
		close: () => events.close(),
	};
}
