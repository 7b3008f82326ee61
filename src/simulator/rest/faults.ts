// Injected faults: matching requests are refused, held, dropped, rate limited or failed.

import { RESTJSONErrorCodes } from "discord.js";
import { ApiError, apiError, httpError, rateLimited } from "./errors.ts";

interface FaultLimits {
	/** How many requests an injected fault affects. Default: all requests that match it. */
	times?: number | undefined;
	/** The id of the only user whose requests the injected fault affects. Default: all users. */
	actor?: string | undefined;
}

/** What an injected fault does to a request. If the fault has `executed: true`, the request also takes effect. */
export type Effect =
	| { kind: "refuse" | "fail" | "rateLimit"; executed: boolean; error: ApiError }
	/** An injected fault that holds requests until the test releases them. Then they continue. */
	| { kind: "stall"; executed: boolean; released: Promise<void> }
	| { kind: "drop"; executed: boolean }
	| { kind: "answer"; executed: boolean; rewrite: (right: ResponseData | undefined) => ResponseData };

/** An HTTP response. Its body is JSON unless a content-type header says otherwise. */
export interface ResponseData {
	status: number;
	body?: string | undefined;
	/** The HTTP headers, with names in lower case. */
	headers?: Readonly<Record<string, string>> | undefined;
}

export interface InjectedFault {
	id: number;
	limits: FaultLimits;
	match: string;
	effect: Effect;
	hits: number;
	release(): void;
}

interface ActiveFault extends InjectedFault {
	matches: (method: string, route: string, path: string) => boolean;
}

/** If several faults match a request, the one that was added first applies. */
export class Faults {
	readonly #active = new Set<ActiveFault>();
	#count = 0;

	refuse(
		match: string,
		code: number,
		given: { status?: number | undefined; message?: string | undefined } & FaultLimits = {},
	): InjectedFault {
		return this.#add(match, { kind: "refuse", executed: false, error: apiError(code, given) }, given);
	}

	/** Holds requests until the test releases them. With `after` they take effect and only their responses are held. */
	stall(match: string, given: { after?: boolean | undefined } & FaultLimits = {}): InjectedFault {
		const gate = Promise.withResolvers<void>();
		const effect = { kind: "stall", executed: given.after ?? false, released: gate.promise } as const;
		return this.#add(match, effect, given, gate.resolve);
	}

	drop(match: string, given: { when: "before" | "after" } & FaultLimits): InjectedFault {
		return this.#add(match, { kind: "drop", executed: given.when === "after" } as const, given);
	}

	rateLimit(
		match: string,
		given: {
			retryAfterMs: number;
			global?: boolean | undefined;
			scope?: "user" | "global" | "shared" | undefined;
		} & FaultLimits,
	): InjectedFault {
		const error = rateLimited(given.retryAfterMs, {
			global: given.global ?? false,
			scope: given.scope ?? (given.global ? "global" : "user"),
		});
		return this.#add(match, { kind: "rateLimit", executed: false, error }, given);
	}

	/** Injects a fault: matching message searches get status 202 (the search index is not available yet). */
	indexing(match: string, given: { retryAfterSeconds: number } & FaultLimits): InjectedFault {
		const error = new ApiError(202, {
			message: "Index not yet available. Try again later",
			code: RESTJSONErrorCodes.IndexNotYetAvailable,
			documents_indexed: 0,
			retry_after: given.retryAfterSeconds,
		});
		return this.#add(match, { kind: "refuse", executed: false, error }, given);
	}

	/** Injects a fault: matching requests get an HTTP error status. With the option `executed`, they also take effect. */
	fail(match: string, status: number, given: { executed?: boolean | undefined } & FaultLimits = {}): InjectedFault {
		const error = httpError(status, "Simulated Failure");
		return this.#add(match, { kind: "fail", executed: given.executed ?? false, error }, given);
	}

	/** With the option `executed`, the requests also take effect. */
	answer(match: string, given: ResponseData & { executed?: boolean | undefined } & FaultLimits): InjectedFault {
		const { executed = false, status, body, headers } = given;
		const rewrite = () => ({ status, body, headers });
		return this.#add(match, { kind: "answer", executed, rewrite }, given);
	}

	/** Requests take effect, but each successful response is replaced by the result of `rewrite`. */
	rewrite(match: string, rewrite: (right: ResponseData) => ResponseData, limits: FaultLimits = {}): InjectedFault {
		const effect: Effect = { kind: "answer", executed: true, rewrite: (right = { status: 204 }) => rewrite(right) };
		return this.#add(match, effect, limits);
	}

	list(): readonly InjectedFault[] {
		return [...this.#active];
	}

	clear(): void {
		for (const fault of [...this.#active, ...this.#holding]) fault.release();
	}

	/** The first fault that matches. Counts the request, and removes a fault that has affected its maximum number. */
	hit(request: { method: string; route: string; path: string; actor: string }): Effect | undefined {
		for (const fault of this.#active) {
			const { times = Number.POSITIVE_INFINITY, actor } = fault.limits;
			if (actor !== undefined && actor !== request.actor) continue;
			if (!fault.matches(request.method, request.route, request.path)) continue;
			fault.hits += 1;
			if (fault.hits >= times) this.#active.delete(fault);
			return fault.effect;
		}
		return undefined;
	}

	// Faults that hold requests, possibly after their last match.
	readonly #holding = new Set<InjectedFault>();

	#add(match: string, effect: Effect, limits: FaultLimits, letGo: () => void = () => {}): InjectedFault {
		this.#count += 1;
		const fault: ActiveFault = {
			id: this.#count,
			match,
			effect,
			limits,
			hits: 0,
			matches: matcher(match),
			release: () => {
				this.#active.delete(fault);
				this.#holding.delete(fault);
				letGo();
			},
		};
		this.#active.add(fault);
		if (effect.kind === "stall") this.#holding.add(fault);
		return fault;
	}
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
