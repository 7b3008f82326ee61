// The gateway as an OAuth 2.1 authorization server: people sign in with Discord, and clients act in their name.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization

import type { Log } from "../../lib/log.ts";
import { LruMap } from "../../lib/lru-map.ts";
import type { Access, Principal } from "../../lib/principal.ts";
import { methodNotAllowed } from "../../lib/program/listen.ts";
import type { Statements } from "../../lib/store/store.ts";
import { said } from "../../texts/texts.ts";
import type { SignInSettings } from "../config/sign-in.ts";
import { clientAddress, SenderLimit } from "../http/sender-limit.ts";
import { limitStore } from "../store/limited-store.ts";
import { StoreUnavailable } from "../store/unavailable.ts";
import type { Clients } from "./clients/clients.ts";
import { createAuthorize } from "./endpoints/authorize.ts";
import { createCallback } from "./endpoints/callback.ts";
import { createConsent } from "./endpoints/consent.ts";
import { beginSignIn, languageFor, type OAuthContext } from "./endpoints/context.ts";
import { createRevocationEndpoint, createTokenEndpoint } from "./endpoints/token-endpoint.ts";
import { Attempts } from "./grants/attempts.ts";
import { Grants } from "./grants/grants.ts";
import { errorPage } from "./pages/page.ts";
import { Browsers } from "./people/browser.ts";
import { Discord, type DiscordPerson } from "./people/discord.ts";
import { type AskRights, guildsOf } from "./people/rights.ts";
import { type Clocks, systemClocks } from "./protocol/clocks.ts";
import {
	challengeFor,
	paths,
	resourceMetadata,
	resourceMetadataPath,
	resourcePaths,
	serverMetadata,
	serverMetadataPaths,
} from "./protocol/metadata.ts";
import { errorResponse, type OAuthError } from "./protocol/oauth-error.ts";

export interface OAuthOptions {
	settings: SignInSettings;
	store: Statements;
	clients: Clients;
	askRights: AskRights;
	log: Log;
	clocks?: Clocks;
}

type Handler = (request: Request, address: () => string) => Response | Promise<Response>;

interface Route {
	on: Partial<Record<"GET" | "POST", Handler>>;
	/** For scripts on any web page (CORS). Handlers of such routes must not read cookies. */
	isPublic: boolean;
}

const signInsInAll = 300;
const signInsPerNetwork = 60;
const maxChallenged = 10_000;
const stepUpMs = 10_000;
const pruneIntervalMs = 60_000;
/** Milliseconds after its expiry, so that a second use of the code is detected. */
const keepCodesMs = 86_400_000;

export type OAuth = ReturnType<typeof createOAuth>;

export function createOAuth({ settings, store, clients, askRights, log, clocks = systemClocks }: OAuthOptions) {
	const { publicUrl, discordApiUrl: apiUrl, clientId, clientSecret } = settings;
	const redirectUri = publicUrl + paths.callback;
	const { now, monotonicNow } = clocks;
	const limited = limitStore(store);
	const grants = new Grants(limited, now);
	const challengedAt = new LruMap<string, number>(maxChallenged);
	const unlimited = new Grants(store, now);
	const context: OAuthContext = {
		publicUrl,
		attempts: new Attempts(limited, now),
		askRights,
		browsers: new Browsers(publicUrl),
		takeChallenge(id) {
			const isRecent = monotonicNow() - (challengedAt.get(id) ?? Number.NEGATIVE_INFINITY) < stepUpMs;
			if (isRecent) challengedAt.set(id, Number.NEGATIVE_INFINITY);
			return isRecent;
		},
		clients,
		discord: new Discord({ apiUrl, clientId, clientSecret, redirectUri, log }),
		grants,
		log,
		signIns: new SenderLimit({ perNetwork: signInsPerNetwork, total: signInsInAll, now: monotonicNow }),
	};
	const prune = createPruning(limited, log, clocks);
	const pruning =
		(handler: Handler): Handler =>
		(request, address) => {
			prune();
			return handler(request, address);
		};
	const consent = createConsent(context);

	const page = (on: Route["on"]): Route => ({ on, isPublic: false });
	const api = (on: Route["on"]): Route => ({ on, isPublic: true });
	const headers = { "Cache-Control": "public, max-age=300" };
	const document = (value: unknown) => api({ GET: () => Response.json(value, { headers }) });
	const routes = new Map<string, Route>([
		...serverMetadataPaths.map((path): [string, Route] => [path, document(serverMetadata(publicUrl))]),
		// Clients that look only at the root find the resource that most want.
		["/.well-known/oauth-protected-resource", document(resourceMetadata(publicUrl, "/mcp"))],
		...resourcePaths.map((path): [string, Route] => [
			resourceMetadataPath(path),
			document(resourceMetadata(publicUrl, path)),
		]),
		[paths.authorize, page({ GET: pruning(createAuthorize(context)) })],
		[paths.callback, page({ GET: createCallback(context) })],
		[paths.consent, page({ GET: consent.show, POST: consent.decide })],
		[paths.token, api({ POST: pruning(createTokenEndpoint(context)) })],
		[paths.revoke, api({ POST: createRevocationEndpoint(context) })],
		[paths.register, api({ POST: (request, address) => clients.registerClient(request, address()) })],
	]);

	return {
		/** Undefined for paths that are not of the authorization server. */
		respond(request: Request, path: string, http: Pick<Bun.Server<undefined>, "requestIP">) {
			const route = routes.get(path);
			const address = () => clientAddress(request, http.requestIP(request)?.address);
			return route && respond(request, route, address);
		},
		/** Signing in to the console: Discord redirects to the same callback as for clients, and the console begins its session. */
		console: {
			/** The URL at Discord, and the cookie that ties it to the browser. Rejects with an OAuthError if too many begin. */
			begin: (request: Request, address: string) => beginSignIn(context, request, address),
			/** Only once; undefined without a sign-in. Rejects with an OAuthError if no guild allows the person to sign in. */
			async finish(request: Request): Promise<DiscordPerson | undefined> {
				const browser = context.browsers.secretOf(request);
				const person = browser && (await context.attempts.visitor(browser));
				if (!browser || !person) return undefined;
				await guildsOf(person, context, "refused a sign-in to the console: no guild allows it");
				// The console now has its own session. Without this, the browser could begin another one without Discord.
				await context.attempts.leave(browser);
				return person;
			},
		},
		// The authenticator has a limit of its own, which does not count valid tokens.
		findAccessToken: (hash: string, decidesAt?: string) => unlimited.findOwner(hash, decidesAt),
		/** WWW-Authenticate with HTTP 403: a call of this principal needs more access. */
		stepUp(needed: Access, { id }: Pick<Principal, "id">): string {
			challengedAt.set(id, monotonicNow());
			return `Bearer error="insufficient_scope", ${challengeFor(publicUrl, "/mcp", needed)}`;
		},
		/** For `WWW-Authenticate: Bearer` with HTTP 401: where the metadata is. */
		challenge(path: string): string {
			return challengeFor(publicUrl, resourcePaths.find((known) => known === path) ?? "/mcp");
		},
	};
}

/** In the background, at most once a minute: expired attempts, codes, tokens and grants. */
function createPruning(store: Statements, log: Log, { now, monotonicNow }: Clocks): () => void {
	let prunedAt = Number.NEGATIVE_INFINITY;

	async function prune(at: number): Promise<void> {
		await store.sql`DELETE FROM oauth_attempts WHERE expires_at <= ${at}`;
		await store.sql`DELETE FROM oauth_codes WHERE expires_at <= ${at - keepCodesMs}`;
		await store.sql`DELETE FROM oauth_assertions WHERE expires_at <= ${at}`;
		await store.sql`DELETE FROM oauth_tokens WHERE expires_at <= ${at}`;
		await store.sql`DELETE FROM oauth_grants WHERE expires_at <= ${at}`;
	}

	return () => {
		const time = monotonicNow();
		if (time - prunedAt < pruneIntervalMs) return;
		prunedAt = time;
		prune(now()).catch((error) => {
			// Requests report an unavailable database themselves.
			if (error instanceof StoreUnavailable) return;
			log.error("could not delete expired codes, tokens and sign-ins from the database", { error });
		});
	};
}

async function respond(request: Request, { on, isPublic }: Route, address: () => string): Promise<Response> {
	const { method } = request;
	if (isPublic && method === "OPTIONS") return new Response(null, { status: 204, headers: preflightHeaders });
	const handler = method === "POST" ? on.POST : method === "GET" || method === "HEAD" ? on.GET : undefined;
	const response = handler
		? await Promise.try(handler, request, address).catch((error) =>
				errorResponse(error, isPublic || isProgram(request) ? undefined : (known) => pageOf(known, request)),
			)
		: methodNotAllowed(Object.keys(on).join(", "));
	if (isPublic) response.headers.set("Access-Control-Allow-Origin", "*");
	return response;
}

/** mcp-remote asks before it opens a browser, and registers again if the JSON has the error invalid_client. */
function isProgram({ headers }: Request): boolean {
	const accepted = headers.get("accept") ?? "";
	return accepted.includes("application/json") && !accepted.includes("html");
}

function pageOf({ code, text }: OAuthError, request: Request): Response {
	const [status, title] =
		code === "temporarily_unavailable" ? [503, said("page.unavailable")] : [400, said("page.invalid")];
	return errorPage({ status, title, text }, languageFor(request));
}

const preflightHeaders = {
	"Access-Control-Allow-Origin": "*",
	"Access-Control-Allow-Methods": "GET, POST",
	// The wildcard does not include Authorization.
	"Access-Control-Allow-Headers": "*, Authorization",
	"Access-Control-Max-Age": "7200",
};
