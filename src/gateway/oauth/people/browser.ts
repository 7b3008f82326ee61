// The browser of a person who signs in, known by a cookie with a secret. What is begun in one browser can only be
// continued in the same one.

import { isSameSecret } from "../../keys/token.ts";

const maxAgeSeconds = 3600;

/** The values of all cookies of this name: other servers may have set some. */
export function cookiesOf({ headers }: Request, name: string): string[] {
	const cookies = (headers.get("cookie") ?? "").split(";").map((cookie) => cookie.trim());
	return cookies.filter((cookie) => cookie.startsWith(`${name}=`)).map((cookie) => cookie.slice(name.length + 1));
}

export class Browsers {
	readonly #name: string;
	readonly #attributes: string;

	/** An origin. */
	constructor(private readonly publicUrl: string) {
		const isSecure = publicUrl.startsWith("https:");
		// Browsers accept the prefix only from this host and over https, so no other host can plant a cookie.
		this.#name = isSecure ? "__Host-guildhall" : "guildhall";
		this.#attributes = `Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
	}

	/** Undefined without the cookie. */
	secretOf(request: Request): string | undefined {
		const [secret = "", ...others] = cookiesOf(request, this.#name);
		return others.length === 0 && /^[\w-]{43}$/.test(secret) ? secret : undefined;
	}

	/** `state` is the secret in the URL. Undefined if one of both secrets is missing. */
	keyOf(request: Request, state: string | undefined) {
		const browser = this.secretOf(request);
		return browser && state ? { browser, state } : undefined;
	}

	/** Set-Cookie. */
	setCookie(secret: string): string {
		return `${this.#name}=${secret}; ${this.#attributes}`;
	}

	/** By the headers Sec-Fetch-Site and Origin. */
	isOwnPage({ headers }: Request): boolean {
		const site = headers.get("sec-fetch-site");
		if (site !== null && site !== "same-origin") return false;
		const origin = headers.get("origin");
		// Browsers send "null" for a page with the Referrer-Policy no-referrer.
		return origin === null || origin === "null" || origin === this.publicUrl;
	}
}

/** Hash of the cookie's secret and `purpose`; other browsers cannot compute it. */
export function formToken(browserSecret: string, purpose: string): string {
	return Bun.SHA256.hash(`form ${browserSecret} ${purpose}`, "base64url");
}

/** Compares in constant time. */
export function isFormToken(given: string | undefined, browserSecret: string, purpose: string): boolean {
	return isSameSecret(given ?? "", formToken(browserSecret, purpose));
}
