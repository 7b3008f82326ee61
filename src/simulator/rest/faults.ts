// Injected faults: matching requests are refused, held, dropped, rate limited or failed.

import { RESTJSONErrorCodes } from "discord.js";
import { aborted } from "../../lib/signal.ts";
import { ApiError, apiError, httpError, rateLimited } from "./errors.ts";

interface FaultLimits {
	/** How many requests an injected fault affects. Default: all requests that match it. */
	times?: number | undefined;
	/** The id of the only user whose requests the injected fault affects. Default: all users. */
	actor?: string | undefined;
}

/** An HTTP response. Its body is JSON unless a content-type header says otherwise. */
export interface ResponseData {
	status: number;
	body?: string | undefined;
	headers?: Readonly<Record<string, string>> | undefined;
}

/** Closes the connection without a response. */
export class HangUp extends Error {}

export interface InjectedFault {
	id: number;
	kind: "refuse" | "fail" | "rateLimit" | "stall" | "drop" | "answer";
	match: string;
	/** The request takes effect, and only its response is affected. */
	executed: boolean;
	limits: FaultLimits;
	hits: number;
	release(): void;
}

interface ActiveFault extends InjectedFault {
	matches: (method: string, route: string, path: string) => boolean;
	/** Throws, waits, or returns a response. `right` is the response of a request that was executed. */
	apply(right: ResponseData | undefined, signal: AbortSignal): ResponseData | undefined | Promise<undefined>;
}

/** If several faults match a request, the one that was added first applies. */
export class Faults {
	readonly #active = new Set<ActiveFault>();
	// Faults that hold requests, possibly after their last match.
	readonly #holding = new Set<InjectedFault>();
	#count = 0;
	#closed = false;

	refuse(
		match: string,
		code: number,
		given: { status?: number | undefined; message?: string | undefined } & FaultLimits = {},
	): InjectedFault {
		return this.#add("refuse", match, given, throwing(apiError(code, given)));
	}

	/** Holds requests until the test releases them. With `after` they take effect and only their responses are held. */
	stall(match: string, given: { after?: boolean | undefined } & FaultLimits = {}): InjectedFault {
		const gate = Promise.withResolvers<void>();
		const hold = async (_: unknown, signal: AbortSignal) => {
			await Promise.race([gate.promise, aborted(signal)]);
			if (signal.aborted || this.#closed) throw new HangUp();
			return undefined;
		};
		const fault = this.#add("stall", match, { ...given, executed: given.after }, hold, gate.resolve);
		this.#holding.add(fault);
		return fault;
	}

	drop(match: string, given: { when: "before" | "after" } & FaultLimits): InjectedFault {
		return this.#add("drop", match, { ...given, executed: given.when === "after" }, throwing(new HangUp()));
	}

	rateLimit(
		match: string,
		given: {
			retryAfterMs: number;
			global?: boolean | undefined;
			scope?: "user" | "global" | "shared" | undefined;
		} & FaultLimits,
	): InjectedFault {
		const { retryAfterMs, global = false, scope = global ? "global" : "user" } = given;
		return this.#add("rateLimit", match, given, throwing(rateLimited(retryAfterMs, { global, scope })));
	}

	indexing(match: string, given: { retryAfterSeconds: number } & FaultLimits): InjectedFault {
		const error = new ApiError(202, {
			message: "Index not yet available. Try again later",
			code: RESTJSONErrorCodes.IndexNotYetAvailable,
			documents_indexed: 0,
			retry_after: given.retryAfterSeconds,
		});
		return this.#add("refuse", match, given, throwing(error));
	}

	fail(match: string, status: number, given: { executed?: boolean | undefined } & FaultLimits = {}): InjectedFault {
		return this.#add("fail", match, given, throwing(httpError(status, "Simulated Failure")));
	}

	answer(match: string, given: ResponseData & { executed?: boolean | undefined } & FaultLimits): InjectedFault {
		const { status, body, headers } = given;
		return this.#add("answer", match, given, () => ({ status, body, headers }));
	}

	/** Requests take effect, but each successful response is replaced by the result of `rewrite`. */
	rewrite(match: string, rewrite: (right: ResponseData) => ResponseData, limits: FaultLimits = {}): InjectedFault {
		return this.#add("answer", match, { ...limits, executed: true }, (right = { status: 204 }) => rewrite(right));
	}

	list(): readonly InjectedFault[] {
		return [...this.#active];
	}

	clear(): void {
		for (const fault of [...this.#active, ...this.#holding]) fault.release();
	}

	/** Ends all requests that are held, without executing them. */
	close(): void {
		this.#closed = true;
		this.clear();
	}

	/** The first fault that matches. Counts the request, and removes a fault that has affected its maximum number. */
	hit(request: { method: string; route: string; path: string; actor: string }): ActiveFault | undefined {
		for (const fault of this.#active) {
			const { times = Number.POSITIVE_INFINITY, actor } = fault.limits;
			if (actor !== undefined && actor !== request.actor) continue;
			if (!fault.matches(request.method, request.route, request.path)) continue;
			fault.hits += 1;
			if (fault.hits >= times) this.#active.delete(fault);
			return fault;
		}
		return undefined;
	}

	#add(
		kind: InjectedFault["kind"],
		match: string,
		{ executed = false, ...limits }: FaultLimits & { executed?: boolean | undefined },
		apply: ActiveFault["apply"],
		letGo: () => void = () => {},
	): InjectedFault {
		this.#count += 1;
		const fault: ActiveFault = {
			id: this.#count,
			kind,
			match,
			executed,
			limits,
			hits: 0,
			matches: matcher(match),
			apply,
			release: () => {
				this.#active.delete(fault);
				this.#holding.delete(fault);
				letGo();
			},
		};
		this.#active.add(fault);
		return fault;
	}
}

function throwing(error: Error): () => never {
	return () => {
		throw error;
	};
}

/** Whether the text has the form "METHOD /path". "*" can stand for the method or the path. */
export function isMatch(match: string): boolean {
	return /^([A-Z]+|\*) (\*|\/\S*)$/.test(match);
}

function matcher(match: string): ActiveFault["matches"] {
	if (!isMatch(match))
		throw new Error(
			`an injected fault of the simulator needs a method and a route such as "POST /channels/*/messages", received ${JSON.stringify(match)}`,
		);
	const [wantedMethod = "*", wanted = "*"] = match.split(" ");
	const parts = wanted.split("/");
	return (method, route, path) => {
		if (wantedMethod !== "*" && wantedMethod !== method) return false;
		if (wanted === "*") return true;
		const pattern = route.split("/");
		const actual = path.split("/");
		if (parts.at(-1) !== "*" && parts.length !== actual.length) return false;
		if (parts.length > actual.length) return false;
		return parts.every((part, index) => part === "*" || part === pattern[index] || part === actual[index]);
	};
}
