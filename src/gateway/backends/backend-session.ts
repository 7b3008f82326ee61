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
import type { ResourceMethod } from "../../mcp/resources.ts";
import type { rightsMethod } from "../../mcp/rights.ts";

export const handshakeTimeoutMs = 5_000;
const disconnectTimeoutMs = 1_000;

export interface SessionRequest extends RequestOptions {
	method:
		| "tools/call"
		| "tools/list"
		| "prompts/list"
		| "prompts/get"
		| "completion/complete"
		| ResourceMethod
		| typeof approvalMethod
		| typeof waitingMethod
		| typeof rightsMethod
		| (typeof consoleMethods)[keyof typeof consoleMethods];
	params: string;
	client?: string | undefined;
	/** The client can show its user a form, so that this user can approve the call (elicitation). */
	elicits?: boolean;
}

interface BackendSessionOptions {
	client: Client;
	onReplaced(): void;
	/** Called before a request is sent again, because the bot did not know the session. */
	onResent(): void;
}

export class BackendSession {
	/** Number of sessions opened so far. */
	generation = 0;
	/** What the bot said of itself in the last handshake. Empty before the first session. */
	server: Partial<ClientSession> = {};
	#current: ClientSession | undefined;
	#opening: Promise<ClientSession> | undefined;
	#closed = false;

	constructor(private readonly options: BackendSessionOptions) {}

	/** The bot may have ended the session without telling the gateway. */
	get open(): boolean {
		return this.#current !== undefined;
	}

	/** Sends once more in a new session if the bot does not know this one. Rejects with a ClientError. */
	request(request: SessionRequest, signal: Signal): Promise<ClientResponse> {
		// Not async: each promise costs a measurable part of a call.
		const session = this.#closed || signal.aborted ? undefined : this.#current;
		if (!session) return this.#requestLater(request, signal);
		return this.#sendOrResend(session, request, signal);
	}

	/** Without a session. Resolves with why the bot is not ready. Rejects with a ClientError. */
	notReady(signal: Signal): Promise<string | undefined> {
		return this.options.client.notReady(signal);
	}

	/** Opens a session, if there is none. Rejects with a ClientError; its `cause` is why the handshake failed. */
	async ensure(timeoutMs: number): Promise<void> {
		await this.#get(AbortSignal.timeout(timeoutMs));
	}

	/** The next request opens a new session. Requests in flight continue in the old one, which is not ended. */
	leave(): void {
		this.#current = undefined;
	}

	/** Never rejects: if the DELETE fails, the session expires at the bot. */
	async end(): Promise<void> {
		const session = this.#current;
		this.#current = undefined;
		if (!session?.id) return;
		await this.options.client.disconnect(session, AbortSignal.timeout(disconnectTimeoutMs)).catch(() => {});
	}

	/** Later requests are rejected. Never rejects itself. */
	async close(): Promise<void> {
		this.#closed = true;
		// A session that is just being opened has to be ended, too.
		await this.#opening?.catch(() => {});
		await this.end();
	}

	async #requestLater(request: SessionRequest, signal: Signal): Promise<ClientResponse> {
		return this.#sendOrResend(await this.#get(signal), request, signal);
	}

	#sendOrResend(session: ClientSession, request: SessionRequest, signal: Signal): Promise<ClientResponse> {
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

	/** Only if the bot did not know `session`; otherwise throws `error`. */
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

	/** Concurrent calls wait for the same new session. */
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
			this.server = session;
			if (++this.generation > 1) this.options.onReplaced();
			return session;
		} catch (cause) {
			// However far the handshake got, the request that needed it was not sent.
			throw new ClientError((cause as Error).message, "unsent", { cause });
		}
	}
}

export function declares({ experimental }: Pick<ClientSession, "experimental">, capability: string): boolean {
	return experimental?.includes(capability) ?? false;
}

function principalFor(
	{ method, principal, client, elicits }: SessionRequest,
	session: ClientSession,
): Principal | undefined {
	const mayNeedApproval =
		(method === "tools/call" || method === approvalMethod) && declares(session, approvalCapability);
	const isNamed = client !== undefined && declares(session, principalCapability);
	const known = principal ?? (mayNeedApproval || isNamed ? rootPrincipal : undefined);
	const canAsk = (mayNeedApproval && elicits) || undefined;
	return known && withClient(known, client ?? known.client, canAsk);
}

/** For a call that was aborted before it was sent to the bot. */
export function notBegun({ reason }: Signal): ClientError {
	return new ClientError("the call timed out before the gateway sent it to the bot", "unsent", { cause: reason });
}
