// The browser of a person who signs in, known by a cookie with a secret. What is begun in one browser can only be
// continued in the same one.

import { hash, timingSafeEqual } from "node:crypto";
import { newSecret } from "./secrets.ts";

/** Seconds after which a browser forgets its cookie. */
const maxAgeSeconds = 3600;

export interface Browsers {
	/** Returns the secret of the browser that sent a request; undefined if it has none. */
	secretOf(request: Request): string | undefined;
	/** Returns a secret for a browser that has none. */
	newSecret(): string;
	/** Returns the Set-Cookie header that keeps a secret in the browser. */
	setCookie(secret: string): string;
	/** Whether a form's request comes from a page of the gateway, by the headers that a browser sends. */
	isOwnPage(request: Request): boolean;
}

/** `publicUrl` is the origin under which browsers reach the gateway. */
export function createBrowsers(publicUrl: string): Browsers {
	const isSecure = publicUrl.startsWith("https:");
	// Browsers accept the prefix only from this host and over https, so no other host can plant a cookie.
	const name = isSecure ? "__Host-guildhall" : "guildhall";
	const attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
	return {
		secretOf(request) {
			const cookies = request.headers.get("cookie") ?? "";
			const values = cookies
				.split(";")
				.map((cookie) => cookie.trim().split("=", 2))
				.filter(([key]) => key === name)
				.map(([, value]) => value);
			const [secret] = values;
			const isValid = values.length === 1 && /^[\w-]{43}$/.test(secret ?? "");
			return isValid ? secret : undefined;
		},
		newSecret: () => newSecret(),
		setCookie: (secret) => `${name}=${secret}; ${attributes}`,
		isOwnPage({ headers }) {
			const site = headers.get("sec-fetch-site");
			if (site !== null && site !== "same-origin") return false;
			const origin = headers.get("origin");
			// Browsers send "null" for a page with the Referrer-Policy no-referrer.
			return origin === null || origin === "null" || origin === publicUrl;
		},
	};
}

/**
 * Returns a token for a form that only this browser's page about this purpose can have, since it is made from the secret
 * in the browser's cookie.
 */
export function formToken(browserSecret: string, purpose: string): string {
	return hash("sha256", `form ${browserSecret} ${purpose}`, "base64url");
}

/** Whether a form's token is the right one. Compares in constant time. */
export function isFormToken(
	given: string | undefined,
	browserSecret: string,
	purpose: string,
): boolean {
	const expected = Buffer.from(formToken(browserSecret, purpose));
	const actual = Buffer.from(given ?? "");
	return actual.length === expected.length && timingSafeEqual(actual, expected);
}
