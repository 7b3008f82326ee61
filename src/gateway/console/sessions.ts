// Sessions of the console: a cookie with the session's data, authenticated with a key derived from MCP_AUTH_TOKEN. So
// every replica accepts it, a restart does not end it, and a new MCP_AUTH_TOKEN ends all sessions.

import * as v from "valibot";
import { deriveKey, readTicket } from "../../lib/console-link.ts";
import { parseJson } from "../../lib/json.ts";
import { LruMap } from "../../lib/lru-map.ts";
import type { Store } from "../../lib/store/store.ts";
import { isLoopbackHost } from "../../mcp/access.ts";
import { isSameSecret } from "../keys/token.ts";
import { cookiesOf } from "../oauth/people/browser.ts";
import type { DiscordPerson } from "../oauth/people/discord.ts";
import { StoreUnavailable } from "../store/unavailable.ts";

/** In milliseconds, whether it is used or not. */
export const sessionLifetimeMs = 12 * 3_600_000;
const maxCookieLength = 3_000;
/** Of which this gateway knows without asking the database. */
const maxEnded = 10_000;

const cookieNames = { https: "__Host-guildhall-console", loopback: "guildhall-console" } as const;

/** As the cookie describes it. */
export interface Session {
	id: string;
	/** Undefined for the holder of MCP_AUTH_TOKEN. */
	person: DiscordPerson | undefined;
	/** Milliseconds since 1970. */
	since: number;
	expiresAt: number;
	/** The cookie is "Secure" then. */
	isHttps: boolean;
	/** Each request that changes something must send it in the header X-Guildhall-Csrf. */
	csrf: string;
}

const stored = v.strictObject({
	id: v.pipe(v.string(), v.regex(/^[\w-]{22}$/)),
	since: v.pipe(v.number(), v.integer()),
	person: v.optional(
		v.strictObject({ id: v.pipe(v.string(), v.regex(/^\d{17,20}$/)), name: v.pipe(v.string(), v.maxLength(200)) }),
	),
});

export type Sessions = ReturnType<typeof createSessions>;

/**
 * `now`: milliseconds since 1970. Sessions whose owners have signed out are kept in memory and in `store`, so that they stay
 * ended after a restart and at every replica.
 */
export function createSessions(token: string, now: () => number, store?: Pick<Store, "sql" | "reason">) {
	/** Derived when first needed. */
	let key: Promise<Buffer> | undefined;
	const ended = new LruMap<string, true>(maxEnded);

	async function mac(text: string): Promise<string> {
		key ??= deriveKey(token, "guildhall console", 32);
		return new Bun.CryptoHasher("sha256", await key).update(text).digest("base64url");
	}

	async function sessionOf({ id, since, person }: v.InferOutput<typeof stored>, isHttps: boolean): Promise<Session> {
		return { id, since, person, isHttps, expiresAt: since + sessionLifetimeMs, csrf: await mac(`csrf ${id}`) };
	}

	async function readCookie({
		value,
		isHttps,
	}: ReturnType<typeof sessionCookiesOf>[number]): Promise<Session | undefined> {
		const [, payload = "", given = ""] = /^([\w-]+)\.([\w-]{43})$/.exec(value) ?? [];
		if (!isSameSecret(given, await mac(`session ${payload}`))) return undefined;
		const content = v.safeParse(stored, parseJson(Buffer.from(payload, "base64url").toString()));
		return content.success ? sessionOf(content.output, isHttps) : undefined;
	}

	function isOpen(session: Session): boolean {
		const { since, expiresAt } = session;
		const at = now();
		// A session that begins in the future was made before the clock was set back.
		if (at >= expiresAt || since > at + 60_000) return false;
		return !ended.get(session.id);
	}

	/** Whether the session was ended at another gateway. Rejects with StoreUnavailable. */
	async function look({ id }: Session): Promise<void> {
		if (!store || ended.get(id)) return;
		const rows = await store.sql`SELECT id FROM console_ended_sessions WHERE id = ${id}`;
		if (rows.length > 0) ended.set(id, true);
	}

	async function tryToLook(session: Session): Promise<void> {
		if (store?.reason !== undefined) return;
		await look(session).catch((error) => {
			if (!(error instanceof StoreUnavailable)) throw error;
		});
	}

	/** False if the database says that it has ended before. */
	async function end({ id, expiresAt }: Pick<Session, "id" | "expiresAt">): Promise<boolean> {
		ended.set(id, true);
		if (!store) return true;
		await store.sql`DELETE FROM console_ended_sessions WHERE expires_at <= ${now()}`;
		const rows = await store.sql`INSERT INTO console_ended_sessions (id, expires_at) VALUES (${id}, ${expiresAt})
			ON CONFLICT (id) DO NOTHING RETURNING id`;
		return rows.length > 0;
	}

	return {
		async begin(person: DiscordPerson | undefined, isHttps: boolean): Promise<{ session: Session; cookie: string }> {
			const content = {
				id: crypto.getRandomValues(Buffer.alloc(16)).toString("base64url"),
				since: now(),
				...(person && { person: { id: person.id, name: person.name } }),
			};
			const payload = Buffer.from(JSON.stringify(content)).toString("base64url");
			const proof = await mac(`session ${payload}`);
			return {
				session: await sessionOf({ person: undefined, ...content }, isHttps),
				cookie: sessionCookie(`${payload}.${proof}`, isHttps),
			};
		},
		isOpen,
		async of(request: Request): Promise<Session | undefined> {
			// Other web servers on this machine can set cookies of this name for the loopback address.
			const read = await Promise.all(sessionCookiesOf(request).map(readCookie));
			const [session, ...others] = read.filter((one) => one !== undefined && isOpen(one));
			if (!session || others.length > 0) return undefined;
			await (session.person ? look(session) : tryToLook(session));
			return isOpen(session) ? session : undefined;
		},
		/** Whether a link to sign in is valid and was not used before. Rejects with StoreUnavailable. */
		async redeem(ticket: string): Promise<boolean> {
			const found = await readTicket(ticket, token, now());
			return found !== undefined && !ended.get(found.id) && end(found);
		},
		refresh: tryToLook,
		/**
		 * Ends a session at this gateway at once. When the promise resolves, the database records it, too, so that other
		 * replicas, and this gateway after a restart, refuse the session; without a database they accept it. Rejects with
		 * StoreUnavailable if the database cannot be reached.
		 */
		end,
	};
}

/** Compares in constant time. */
export function isCsrfToken(given: string | null, { csrf }: Session): boolean {
	return isSameSecret(given ?? "", csrf);
}

/** Set-Cookie; `value` undefined deletes the session. */
export function sessionCookie(value: string | undefined, isHttps: boolean): string {
	const name = isHttps ? cookieNames.https : cookieNames.loopback;
	const maxAge = value === undefined ? 0 : sessionLifetimeMs / 1000;
	return `${name}=${value ?? ""}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${isHttps ? "; Secure" : ""}`;
}

function sessionCookiesOf(request: Request) {
	const named = (name: string, isHttps: boolean) => cookiesOf(request, name).map((value) => ({ value, isHttps }));
	const given = [
		...named(cookieNames.https, true),
		// For another host, anyone on the network could have read or set the cookie without "Secure".
		...(isLoopbackHost(request.headers.get("host")) ? named(cookieNames.loopback, false) : []),
	];
	return given.filter(({ value }) => value.length <= maxCookieLength);
}
