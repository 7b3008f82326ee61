// Signing in at Discord: the one file with its addresses. Discord's token serves to learn who the person is, once; then it
// is revoked and dropped.
// https://docs.discord.com/developers/topics/oauth2#authorization-code-grant

import * as v from "valibot";
import { describeConnectionError } from "../../../lib/http.ts";
import { parseJson } from "../../../lib/json.ts";
import type { Log } from "../../../lib/log.ts";
import { bytesAtMost } from "../../../lib/program/listen.ts";

interface DiscordOptions {
	/** Without the version, such as `https://discord.com/api`. */
	apiUrl: string;
	clientId: string;
	clientSecret: string;
	/** Must also be in the settings of the Discord application. */
	redirectUri: string;
	/** For each request, in milliseconds. */
	timeoutMs?: number;
	log: Log;
}

export interface DiscordPerson {
	id: string;
	name: string;
}

/** The message is for the operator. */
export class DiscordFailure extends Error {
	override name = "DiscordFailure";
	constructor(
		message: string,
		readonly status?: number,
		options?: ErrorOptions,
	) {
		super(message, options);
	}
}

const maxBodyBytes = 64 * 1024;
const tokenSchema = v.object({
	access_token: v.pipe(v.string(), v.minLength(1)),
	token_type: v.pipe(v.string(), v.regex(/^bearer$/i)),
});
const userSchema = v.object({
	id: v.pipe(v.string(), v.regex(/^\d{17,20}$/)),
	username: v.string(),
	global_name: v.nullish(v.string()),
});

export class Discord {
	readonly #authorization: string;

	constructor(private readonly options: DiscordOptions) {
		const credentials = Buffer.from(`${options.clientId}:${options.clientSecret}`);
		this.#authorization = `Basic ${credentials.toString("base64")}`;
	}

	/** Discord sends the same `state` back. */
	signInUrl(state: string): string {
		const query = new URLSearchParams({
			response_type: "code",
			client_id: this.options.clientId,
			scope: "identify",
			redirect_uri: this.options.redirectUri,
			// The person sees Discord's page each time, and can choose another account.
			prompt: "consent",
			state,
		});
		return `${this.options.apiUrl.replace(/\/api$/, "")}/oauth2/authorize?${query}`;
	}

	/** Takes an authorization code of Discord. Rejects with a DiscordFailure. */
	async personOf(code: string): Promise<DiscordPerson> {
		const form = { grant_type: "authorization_code", code, redirect_uri: this.options.redirectUri };
		const token = parse(tokenSchema, await this.#post("/oauth2/token", form)).access_token;
		try {
			const headers = { Authorization: `Bearer ${token}` };
			const user = parse(userSchema, await this.#request("/v10/users/@me", { headers }));
			return { id: user.id, name: [...(user.global_name || user.username)].slice(0, 100).join("") };
		} finally {
			this.#revoke(token).catch((error) =>
				this.options.log.warn("could not revoke a Discord token: it expires by itself", { error }),
			);
		}
	}

	/** Whether id and secret are right. Rejects with a DiscordFailure if Discord does not say. */
	async knowsApplication(): Promise<boolean> {
		try {
			// For an unknown token only the credentials are checked: https://www.rfc-editor.org/rfc/rfc7009#section-2.1
			await this.#revoke("none");
			return true;
		} catch (error) {
			if (error instanceof DiscordFailure && error.status === 401) return false;
			throw error;
		}
	}

	#revoke(token: string): Promise<unknown> {
		return this.#post("/oauth2/token/revoke", { token });
	}

	#post(path: string, form: Record<string, string>): Promise<unknown> {
		const headers = { Authorization: this.#authorization };
		return this.#request(path, { method: "POST", headers, body: new URLSearchParams(form) });
	}

	async #request(path: string, init: RequestInit): Promise<unknown> {
		const { apiUrl, timeoutMs = 8_000 } = this.options;
		let response: Response;
		let text: string;
		try {
			response = await fetch(`${apiUrl}${path}`, {
				...init,
				signal: AbortSignal.timeout(timeoutMs),
				// A redirect would send secrets to another address.
				redirect: "manual",
			});
			const body = await bytesAtMost(response.body, maxBodyBytes);
			if (body === "too long") throw new Error("the response is too large");
			text = body.toString();
		} catch (cause) {
			throw new DiscordFailure(`${path}: ${describeConnectionError(cause)}`, undefined, { cause });
		}
		if (response.ok) return parseJson(text);
		throw new DiscordFailure(`${path}: HTTP ${response.status}${describeError(parseJson(text))}`, response.status);
	}
}

function parse<const S extends v.GenericSchema>(schema: S, value: unknown) {
	const result = v.safeParse(schema, value);
	if (result.success) return result.output;
	throw new DiscordFailure("Discord answered a sign-in (OAuth2) with an unexpected response");
}

function describeError(body: unknown): string {
	const { error } = Object(body) as { error?: unknown };
	return typeof error === "string" ? `: ${error.slice(0, 100)}` : "";
}
