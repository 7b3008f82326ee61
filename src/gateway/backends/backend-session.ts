// The gateway's one MCP session with a bot: opened when it is needed, replaced when the bot no longer knows it.
//
// A bot refuses a request in an unknown session before it runs anything, so only then a request is sent again, once.

import {
	approvalCapability,
	type Principal,
	principalCapability,
	rootPrincipal,
	withClient,
} from "../../lib/principal.ts";
import type { Signal } from "../../lib/signal.ts";
import { raceSignal } from "../../lib/wait.ts";
import { approvalMethod, type waitingMethod } from "../../mcp/approval.ts";
import {
	type Client,
	ClientError,
	type ClientResponse,
	type ClientSession,
	type RequestOptions,
	SessionNotFound,
} from "../../mcp/client.ts";
import type { consoleMethods } from "../../mcp/console.ts";
import type { rightsMethod } from "../../mcp/rights.ts";

/** Milliseconds after which opening an MCP session with a bot fails. */
export const handshakeTimeoutMs = 5_000;
const disconnectTimeoutMs = 1_000;

/** An MCP request that the gateway sends to a bot in its session with the bot. */
export interface SessionRequest extends RequestOptions {
	method:
		| "tools/call"
		| "tools/list"
		| "prompts/list"
		| "prompts/get"
		| "completion/complete"
		| typeof approvalMethod
		| typeof waitingMethod
		| typeof rightsMethod
		| (typeof consoleMethods)[keyof typeof consoleMethods];
	/** The parameters of the MCP request, as JSON text. */
	params: string;
	/** Name of the MCP client, if it is known. */
	client?: string | undefined;
	/** Whether the MCP client can show its user a form, so that this user can approve the call (elicitation). */
	elicits?: boolean;
}

export interface BackendSessionOptions {
	client: Client;
	/** Called when a new MCP session with the bot has replaced a session that the bot no longer knew. */
	onReplaced(): void;
	/**
	 * Called when the gateway sends a request again in a new MCP session, because the bot did not know the old session.
	 */
	onResent(): void;
}

export class BackendSession {
	/** Number of MCP sessions that the gateway has opened with the bot so far. */
	generation = 0;
	/** The version that the bot reported when the MCP session was opened; undefined before the first session. */
	serverVersion: string | undefined;
	/** Whether the bot has prompts, as it reported when the MCP session was opened. */
	hasPrompts = false;
	/** Names of the experimental MCP capabilities that the bot declared when the MCP session was opened. */
	experimental: readonly string[] = [];
	#current: ClientSession | undefined;
	#opening: Promise<ClientSession> | undefined;
	#closed = false;

	constructor(private readonly options: BackendSessionOptions) {}

	/**
	 * Whether the gateway has an MCP session with the bot. The bot may have ended the session without telling the
	 * gateway.
	 */
	get open(): boolean {
		return this.#current !== undefined;
	}

	/**
	 * Sends a request to the bot. If the bot does not know the session, sends the request once more in a new session.
	 * Rejects with a ClientError.
	 */
	request(request: SessionRequest, signal: Signal): Promise<ClientResponse> {
		// Neither function is async: each promise costs a measurable part of a call.
		const session = this.#closed || signal.aborted ? undefined : this.#current;
		if (!session) return this.#requestLater(request, signal);
		return this.#send(session, request, signal).catch((error) => this.#resend(error, session, request, signal));
	}

	/**
	 * Opens an MCP session with the bot, if there is none, within `timeoutMs` milliseconds. Rejects with a ClientError; its
	 * `cause` is the reason of the handshake's failure.
	 */
	async ensure(timeoutMs: number): Promise<void> {
		await this.#get(AbortSignal.timeout(timeoutMs));
	}

	/**
	 * Makes the next request open a new MCP session with the bot. Requests in flight continue in the old session, which
	 * is not ended.
	 */
	leave(): void {
		this.#current = undefined;
	}

	/**
	 * Ends the MCP session with a DELETE request; the next request opens a new session. Never rejects: if the DELETE
	 * fails, the session expires at the bot.
	 */
	async end(): Promise<void> {
		const session = this.#current;
		this.#current = undefined;
		if (!session?.id) return;
		const signal = AbortSignal.timeout(disconnectTimeoutMs);
		await this.options.client.disconnect(session, signal).catch(() => {});
	}

	/** Ends the MCP session with the bot; later requests are rejected. Never rejects. */
	async close(): Promise<void> {
		this.#closed = true;
		// A session that is just being opened has to be ended, too.
		await this.#opening?.catch(() => {});
		await this.end();
	}

	async #requestLater(request: SessionRequest, signal: Signal): Promise<ClientResponse> {
		const session = await this.#get(signal);
		return this.#send(session, request, signal).catch((error) => this.#resend(error, session, request, signal));
	}

	#send(session: ClientSession, request: SessionRequest, signal: Signal): Promise<ClientResponse> {
		if (request.principal && !declares(session, principalCapability))
			return Promise.reject(
				new ClientError(
					"this version of the bot does not enforce the limits of keys and sign-ins: update it",
					"refused",
				),
			);
		const { method, params } = request;
		const principal = principalFor(request, session);
		const options = principal === request.principal ? request : { ...request, principal };
		return this.options.client.request(session, method, params, signal, options);
	}

	/**
	 * Sends a request again, in a new session, if it failed because the bot did not know `session`. Otherwise throws
	 * `error`, with which it failed.
	 */
	async #resend(
		error: unknown,
		session: ClientSession,
		request: SessionRequest,
		signal: Signal,
	): Promise<ClientResponse> {
		if (!(error instanceof SessionNotFound)) throw error;
		this.options.onResent();
		// Of all calls in the lost session, the first one replaces it, and the others use the new one.
		if (this.#current === session) this.#current = undefined;
		try {
			return await this.#send(await this.#get(signal), request, signal);
		} catch (again) {
			// The new session cannot be unknown: this is perhaps a tool's error that reads like it.
			if (again instanceof SessionNotFound && again.response) return again.response;
			throw again;
		}
	}

	/**
	 * Returns the open MCP session with the bot. If there is none, opens one; concurrent calls then wait for the same
	 * session.
	 */
	#get(signal: Signal): ClientSession | Promise<ClientSession> {
		// The caller no longer waits for a session.
		if (signal.aborted) throw notBegun(signal);
		if (this.#closed) throw new ClientError("the gateway is stopping", "unsent");
		if (this.#current) return this.#current;
		this.#opening ??= this.#open().finally(() => {
			this.#opening = undefined;
		});
		return raceSignal(this.#opening, signal, notBegun);
	}

	async #open(): Promise<ClientSession> {
		try {
			// Not the first caller's signal: the other callers that wait for this session would fail with it.
			const signal = AbortSignal.timeout(handshakeTimeoutMs);
			const session = await this.options.client.connect(signal);
			this.#current = session;
			this.serverVersion = session.serverVersion;
			this.hasPrompts = session.hasPrompts ?? false;
			this.experimental = session.experimental ?? [];
			if (++this.generation > 1) this.options.onReplaced();
			return session;
		} catch (cause) {
			// However far the handshake got, the request that needed it was not sent.
			throw new ClientError((cause as Error).message, "unsent", { cause });
		}
	}
}

function declares({ experimental }: ClientSession, capability: string) {
	return experimental?.includes(capability) ?? false;
}

function principalFor(
	{ method, principal, client, elicits }: SessionRequest,
	session: ClientSession,
): Principal | undefined {
	const mayNeedApproval =
		(method === "tools/call" || method === approvalMethod) && declares(session, approvalCapability);
	const known = principal ?? (mayNeedApproval ? rootPrincipal : undefined);
	const canAsk = (mayNeedApproval && elicits) || undefined;
	return known && withClient(known, client ?? known.client, canAsk);
}

/**
 * Creates the error for a call that was aborted before the gateway sent it to the bot: while the call waited for an MCP
 * session with the bot, or for a check whether the bot is online.
 */
export function notBegun({ reason }: Signal): ClientError {
	return new ClientError("the call timed out before the gateway sent it to the bot", "unsent", {
		cause: reason,
	});
}
