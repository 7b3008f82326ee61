// Acts as a browser at the console: keeps the session cookie, and sends its own origin and the CSRF token.

import { createSessions } from "../../../src/gateway/console/sessions.ts";
import { gatewayToken } from "../../support/gateway.ts";

export interface ConsoleAnswer<Body = Record<string, unknown>> {
	status: number;
	headers: Headers;
	body: Body & { error?: { code: string; message: string } };
}

export interface ConsoleSession {
	kind: "root" | "person";
	person: { id: string; name: string } | null;
	csrf: string;
	expiresAt: number;
}

export class ConsoleClient {
	/** Value of the header Cookie. */
	cookie = "";
	session: ConsoleSession | undefined;

	/** `headers` are sent with each request, such as those of a proxy. */
	constructor(
		readonly url: string,
		readonly headers: Record<string, string> = {},
	) {}

	request(path: string, init: RequestInit = {}): Promise<Response> {
		const headers = new Headers({ ...this.headers });
		if (this.cookie !== "") headers.set("Cookie", this.cookie);
		new Headers(init.headers).forEach((value, name) => {
			headers.set(name, value);
		});
		return fetch(`${this.url}/console${path}`, { ...init, headers, redirect: "manual" });
	}

	async get<Body = Record<string, unknown>>(
		name: string,
		headers: Record<string, string> = {},
	): Promise<ConsoleAnswer<Body>> {
		return answerOf(await this.request(`/api/${name}`, { headers }));
	}

	/** Sends a request as the page does. `headers` replace the page's headers. */
	async post<Body = Record<string, unknown>>(
		name: string,
		body: unknown = {},
		headers: Record<string, string> = {},
	): Promise<ConsoleAnswer<Body>> {
		const response = await this.request(`/api/${name}`, {
			method: "POST",
			body: JSON.stringify(body),
			headers: {
				Origin: this.url,
				"Content-Type": "application/json",
				...(this.session && { "X-Guildhall-Csrf": this.session.csrf }),
				...this.headers,
				...headers,
			},
		});
		for (const line of response.headers.getSetCookie()) {
			const [, pair = ""] = /^([^;]*)/.exec(line) ?? [];
			this.cookie = pair.endsWith("=") ? "" : pair;
		}
		return answerOf(response);
	}

	async signIn(body: unknown = { token: gatewayToken }, headers: Record<string, string> = {}) {
		const answer = await this.post<{ session?: ConsoleSession }>("sign-in", body, headers);
		this.session = answer.body.session;
		return answer;
	}
}

/** Returns a browser that has signed in with the token. */
export async function signedIn(url: string, token = gatewayToken): Promise<ConsoleClient> {
	const client = new ConsoleClient(url);
	await client.signIn({ token });
	return client;
}

/** Returns a browser in which a person has signed in with Discord. */
export async function signedInPerson(
	url: string,
	person: { id: string; name: string },
	now: number,
	token = gatewayToken,
): Promise<ConsoleClient> {
	const sessions = createSessions(token, () => now);
	const { session, cookie } = await sessions.begin(person, false);
	const client = new ConsoleClient(url);
	client.cookie = cookie.split(";")[0] ?? "";
	client.session = { ...session, person, kind: "person" };
	return client;
}

async function answerOf<Body>(response: Response): Promise<ConsoleAnswer<Body>> {
	const text = await response.text();
	const isJson = response.headers.get("content-type") === "application/json";
	const { status, headers } = response;
	return { status, headers, body: isJson ? JSON.parse(text) : {} };
}
