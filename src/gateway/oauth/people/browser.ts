// The browser of a person who signs in, known by a cookie with a secret. What is begun in one browser can only be
// continued in the same one.

import { newSecret } from "../protocol/secrets.ts";

const maxAgeSeconds = 3600;

export interface Browsers {
	/**
	 * Returns the secret in the cookie of the browser that sent a request; undefined if the request has no such cookie.
	 */
	secretOf(request: Request): string | undefined;
	/** Returns a new secret for the cookie of a browser. */
	newSecret(): string;
	/** Returns the value of a Set-Cookie header that stores the secret in the browser. */
	setCookie(secret: string): string;
	/** Whether a form was submitted on a page of the gateway, by the browser's headers Sec-Fetch-Site and Origin. */
	isOwnPage(request: Request): boolean;
}

/**
 * Creates the functions that recognize a browser by a secret in its cookie. `publicUrl` is the gateway's origin in URLs
 * for browsers.
 */
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
 * Returns the CSRF token of a form: a hash of the secret in the browser's cookie and of `purpose`, which says what the
 * form is for. Other browsers cannot compute it.
 */
export function formToken(browserSecret: string, purpose: string): string {
	return Bun.SHA256.hash(`form ${browserSecret} ${purpose}`, "base64url");
}

/** Whether the CSRF token that a form was submitted with is the right one. Compares in constant time. */
export function isFormToken(given: string | undefined, browserSecret: string, purpose: string): boolean {
	const expected = Buffer.from(formToken(browserSecret, purpose));
	const actual = Buffer.from(given ?? "");
	return actual.length === expected.length && crypto.timingSafeEqual(actual, expected);
}
