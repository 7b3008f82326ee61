// Signing in to the console: with MCP_AUTH_TOKEN, which the page sends once, or with Discord.

import type { JsonObject } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import { createTokenMatch } from "../../mcp/access.ts";
import { clientAddress, SenderLimit } from "../http/sender-limit.ts";
import type { OAuth } from "../oauth/oauth.ts";
import type { DiscordPerson } from "../oauth/people/discord.ts";
import { OAuthError } from "../oauth/protocol/oauth-error.ts";
import { StoreUnavailable } from "../store/unavailable.ts";
import { type OwnOrigin, ownOrigin } from "./origin.ts";
import { ConsoleError, jsonResponse, readJson } from "./respond.ts";
import { type Session, type Sessions, sessionCookie } from "./sessions.ts";

interface SignInOptions {
	token: string;
	/** An origin, if the operator has set it. */
	publicUrl: string | undefined;
	sessions: Sessions;
	discord: OAuth["console"] | undefined;
	log: Log;
	/** A monotonic clock, in milliseconds. */
	monotonicNow: () => number;
}

/** Signing in and out. */
export function createSignIn({ token, publicUrl, sessions, discord, log, monotonicNow }: SignInOptions) {
	const isToken = createTokenMatch(token);
	const wrongTokens = new SenderLimit({ perNetwork: 10, total: 100, now: monotonicNow });

	/** Throws a ConsoleError for every origin but the console's own, and over http from another machine. */
	function requirePrivateOrigin(request: Request): OwnOrigin {
		const own = requireOwnOrigin(request, publicUrl);
		if (own.isPrivate) return own;
		throw new ConsoleError(
			"insecure",
			"This page was loaded with plain http, so others on the network could read the token. Open it with https, or on this machine: ssh -L 9100:127.0.0.1:9100 user@server, then http://127.0.0.1:9100/console.",
		);
	}

	/** `token`, or the ticket of a link. */
	async function checkProof({ token, ticket }: JsonObject, address: string): Promise<void> {
		const waitMs = wrongTokens.waitMs(address);
		if (waitMs > 0)
			throw new ConsoleError(
				"too_many",
				"Too many wrong tokens were sent. Wait a minute, then try again.",
				Math.ceil(waitMs / 1000),
			);
		if (typeof token === "string" && isToken(token)) return;
		if (typeof ticket === "string" && (await sessions.redeem(ticket))) return;
		if (wrongTokens.add(address)) log.warn("refused a sign-in to the console: wrong token", { address });
		throw new ConsoleError(
			"wrong_token",
			ticket === undefined
				? "This is not the gateway's MCP_AUTH_TOKEN."
				: "This link was used before, or it is older than ten minutes. Sign in with the gateway's MCP_AUTH_TOKEN.",
		);
	}

	async function discordPerson(request: Request): Promise<DiscordPerson> {
		const person = await discord?.finish(request).catch(throwForPerson);
		if (person) return person;
		throw new ConsoleError(
			"signed_out",
			"You have not signed in with Discord in this browser in the last ten minutes. Sign in again.",
		);
	}

	return {
		show: (session: Session | undefined): Response =>
			jsonResponse({ session: session ? describeSession(session) : null, discord: (discord && publicUrl) ?? null }),
		async signIn(request: Request, peer: string | undefined): Promise<Response> {
			const { isHttps } = requirePrivateOrigin(request);
			const body = await readJson(request);
			const address = clientAddress(request, peer);
			if (body.discord !== true) await checkProof(body, address);
			const person = body.discord === true ? await discordPerson(request) : undefined;
			const { session, cookie } = await sessions.begin(person, isHttps);
			log.info("signed in to the console", { address, person: person?.id });
			return jsonResponse({ session: describeSession(session) }, { more: { "Set-Cookie": cookie } });
		},
		async toDiscord(request: Request, peer: string | undefined): Promise<Response> {
			const { origin } = requirePrivateOrigin(request);
			await readJson(request);
			if (!discord || origin !== publicUrl)
				throw new ConsoleError(
					"not_found",
					discord
						? `To sign in with Discord, open ${publicUrl}/console.`
						: "Signing in with Discord is not configured: set PUBLIC_URL.",
				);
			const { url, cookie } = await discord.begin(request, clientAddress(request, peer)).catch(throwForPerson);
			return jsonResponse({ url }, { more: { "Set-Cookie": cookie } });
		},
		async signOut(session: Session): Promise<Response> {
			await sessions.end(session).catch((error) => {
				if (!(error instanceof StoreUnavailable)) throw error;
				log.warn("signed out of the console at this gateway only: the database is unavailable");
			});
			log.info("signed out of the console", { person: session.person?.id });
			return jsonResponse({}, { more: { "Set-Cookie": sessionCookie(undefined, session.isHttps) } });
		},
	};
}

/** Throws a ConsoleError unless it is the console's own. */
export function requireOwnOrigin(request: Request, publicUrl: string | undefined): OwnOrigin {
	const own = ownOrigin(request, publicUrl);
	if (own) return own;
	throw wrongOrigin();
}

/** Another page's request would change something. */
export function wrongOrigin(): ConsoleError {
	return new ConsoleError(
		"origin",
		"This request does not come from the console's own page. Behind a proxy, configure it to pass on the Host header, or set PUBLIC_URL.",
	);
}

function describeSession({ person, csrf, expiresAt }: Session) {
	return { kind: person ? "person" : "root", person: person ?? null, csrf, expiresAt };
}

function throwForPerson(error: unknown): never {
	if (!(error instanceof OAuthError)) throw error;
	throw error.code === "temporarily_unavailable"
		? new ConsoleError("unavailable", error.message, 5)
		: new ConsoleError(
				"forbidden",
				"You cannot sign in here. You need the permission Manage Server, or a role that the bot's operator has chosen, in one of the bot's servers.",
			);
}
