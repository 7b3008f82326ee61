// An authorization server with a stub of Discord, a client, and browsers; the clock is the test's.

import { hash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { readConfig } from "../../../src/gateway/config/config.ts";
import { createGateway } from "../../../src/gateway/gateway.ts";
import type { OAuthClient } from "../../../src/gateway/oauth/clients/client-metadata.ts";
import { createClients } from "../../../src/gateway/oauth/clients/clients.ts";
import type { SafeFetch } from "../../../src/gateway/oauth/clients/safe-fetch.ts";
import { createOAuth } from "../../../src/gateway/oauth/oauth.ts";
import type { StoreSettings } from "../../../src/gateway/store/settings.ts";
import { openStore } from "../../../src/gateway/store/store.ts";
import type { PrincipalPerson } from "../../../src/lib/principal.ts";
import { type ListenOptions, pathOf } from "../../../src/lib/program/listen.ts";
import type { PersonRights } from "../../../src/mcp/rights.ts";
import { databaseDirectory } from "../../support/database-directory.ts";
import { gatewayToken } from "../../support/gateway.ts";
import { recordLog } from "../../support/log.ts";
import { Browser } from "./browser.ts";
import { startStubDiscord } from "./stub-discord.ts";

export const hanna = { id: "100000000000000001", name: "Hanna" };
export const verifier = "verifier-".padEnd(43, "v");
export const challenge = hash("sha256", verifier, "base64url");
export const cooks = { id: "200000000000000001", name: "The Cooks", signIn: true };

export const assistant: OAuthClient = {
	id: "client-1",
	name: "Assistant",
	redirectUris: ["https://assistant.example/callback", "http://127.0.0.1/done"],
};

export interface TokenBody {
	access_token: string;
	refresh_token: string;
	scope: string;
	token_type: string;
	expires_in: number;
	error?: string;
	error_description?: string;
}

export type World = Awaited<ReturnType<typeof startWorld>>;

export interface WorldOptions {
	/** Default: a new SQLite file. */
	database?: StoreSettings;
	/** The bots behind a gateway. Without them, there is only the authorization server. */
	bots?: Record<string, { url: string }>;
	/**
	 * If given, clients have to register, or have metadata documents on hosts that this resolves and fetches. Otherwise they
	 * are those in `clients`.
	 */
	realClients?: SafeFetch;
}

export async function startWorld({ database, bots, realClients }: WorldOptions = {}) {
	const recorded = recordLog();
	const directory = await mkdtemp(join(databaseDirectory, "guildhall-oauth-"));
	const file = join(directory, "gateway.sqlite");
	const settings = database ?? { database: file, schema: "" };
	const store = openStore(settings, recorded.log);
	const discord = startStubDiscord({ ...hanna, username: "hanna" });
	const clients = new Map([[assistant.id, assistant]]);
	/** What the bots say of a person. */
	const rights: { answer: (PersonRights | undefined)[]; asked: string[] } = {
		answer: [{ guilds: [cooks] }],
		asked: [],
	};
	/** `setMs` is by how much the time of day was changed. */
	const clock = { now: Date.parse("2026-03-01T12:00:00Z"), setMs: 0 };
	/** Set once the address of the server is known. */
	let respond: ListenOptions["fetch"] = () => new Response(null);
	const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request, http) => respond(request, http) });
	const url = server.url.origin;
	const { log } = recorded;
	const clocks = { now: () => clock.now + clock.setMs, monotonicNow: () => clock.now };
	const stubClients = {
		findClient: async (id: string) => clients.get(id),
		authenticate: async () => {},
		registerClient: async () => new Response(null, { status: 501 }),
	};
	const signIn = {
		clients: realClients ? createClients({ store, log, clocks, ...realClients }) : stubClients,
		askRights: async ({ id }: PrincipalPerson) => {
			rights.asked.push(id);
			return rights.answer;
		},
		clocks,
	};
	const config = readConfig({
		INSTANCES: Object.entries(bots ?? { alpha: { url } })
			.map(([name, bot]) => `${name}=${bot.url}`)
			.join(),
		MCP_AUTH_TOKEN: gatewayToken,
		GATEWAY_DATABASE: settings.database,
		PUBLIC_URL: url,
		DISCORD_CLIENT_ID: discord.clientId,
		DISCORD_CLIENT_SECRET: discord.clientSecret,
		DISCORD_API_URL: discord.apiUrl,
	});
	if (!config.signIn) throw new Error("signing in is off");
	const oauth = createOAuth({ settings: config.signIn, store, log, ...signIn });
	const gateway = bots && createGateway(config, log, { store, signIn });
	respond =
		gateway?.fetch ??
		((request, http) => oauth.respond(request, pathOf(request), http) ?? new Response("Not found", { status: 404 }));
	await gateway?.refresh();

	const parameters = {
		response_type: "code",
		client_id: assistant.id,
		redirect_uri: "https://assistant.example/callback",
		code_challenge: challenge,
		code_challenge_method: "S256",
		state: "the-client-state",
		resource: `${url}/mcp`,
		scope: "read write all",
	};

	/** The address at which a client sends a person. `changes` replace parameters; undefined leaves one out. */
	function authorizeUrl(changes: Changes = {}): string {
		return `${url}/oauth/authorize?${query({ ...parameters, ...changes })}`;
	}

	async function post(path: string, form: Changes): Promise<Response> {
		return fetch(`${url}${path}`, { method: "POST", body: query(form) });
	}

	/** Walks a new browser from the client to the consent page. */
	const toConsent = (changes: Changes = {}, browser?: Browser) => toConsentAt(authorizeUrl(changes), browser);

	/** Walks a browser from an address of the authorization endpoint to the consent page. */
	async function toConsentAt(url: string, browser = new Browser()) {
		const discordUrl = await browser.redirected(url);
		const callback = discord.signIn(discordUrl);
		const consent = await browser.redirected(callback);
		const page = await browser.get(consent);
		return { browser, discordUrl, callback, consent, page };
	}

	/** Presses a button of the consent page, and returns the address that the browser is sent to. */
	async function decide(
		{ browser, consent, page }: { browser: Browser; consent: string; page: string },
		changes: Changes = {},
	): Promise<URL> {
		const csrf = fieldOf(page, "csrf");
		const form = { csrf, decision: "allow", access: "write", ...changes };
		return new URL(await browser.submitted(consent, query(form)));
	}

	/** Signs in, and returns the code that the client gets. */
	async function getCode(changes: Changes = {}, choice: Changes = {}) {
		const target = await decide(await toConsent(changes), choice);
		return target.searchParams.get("code") ?? "";
	}

	const exchange = (code: string, changes: Changes = {}) =>
		post("/oauth/token", {
			grant_type: "authorization_code",
			client_id: assistant.id,
			code,
			code_verifier: verifier,
			redirect_uri: parameters.redirect_uri,
			resource: parameters.resource,
			...changes,
		});

	/** Signs in and exchanges the code. */
	async function getTokens(changes: Changes = {}, choice: Changes = {}) {
		const code = await getCode(changes, choice);
		const { resource, redirect_uri } = { ...parameters, ...changes };
		const response = await exchange(code, { resource, redirect_uri });
		return (await response.json()) as TokenBody;
	}

	const refresh = (refresh_token: string, changes: Changes = {}) =>
		post("/oauth/token", { grant_type: "refresh_token", client_id: assistant.id, refresh_token, ...changes });

	return {
		url,
		oauth,
		store,
		settings,
		discord,
		clients,
		rights,
		clock,
		recorded,
		parameters,
		authorizeUrl,
		post,
		toConsent,
		toConsentAt,
		decide,
		getCode,
		exchange,
		getTokens,
		refresh,
		async [Symbol.asyncDispose]() {
			await server.stop(true);
			await gateway?.close();
			await discord.stop();
			await store.close();
			await rm(directory, { recursive: true, force: true });
		},
	};
}

export type Changes = Record<string, string | undefined>;

/** A query or form of the given values; undefined ones are left out. */
export function query(form: Changes): URLSearchParams {
	const given = Object.entries(form).filter((entry): entry is [string, string] => entry[1] !== undefined);
	return new URLSearchParams(given);
}

/** The value of a hidden field in a page. */
export function fieldOf(page: string, name: string): string {
	const tag = page.match(new RegExp(`<input[^>]*name="${name}"[^>]*>`))?.[0];
	return tag?.match(/value="([^"]*)"/)?.[1] ?? "";
}

/** An OAuth error response: its status and code. */
export async function errorOf(response: Response) {
	const { error } = (await response.json()) as { error?: string };
	return { status: response.status, error };
}
