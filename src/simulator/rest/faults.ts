// Injected faults: matching requests are refused, held, dropped, rate limited or failed.

import { RESTJSONErrorCodes } from "discord.js";
import { ApiError, apiError, httpError, rateLimited } from "./errors.ts";

/** A method and a route or path: "POST /channels/:channel_id/messages", "POST /channels/123/*" or "* *". */
type Match = string;

interface FaultLimits {
	/** How many requests the fault affects. Unlimited by default. */
	readonly times?: number | undefined;
	/** Affects only requests of the user with this id. */
	readonly actor?: string | undefined;
}

/** What happens to a request. `executed`: only after it was executed. */
export type Effect =
	/** Responds with an error. */
	| {
			readonly kind: "refuse" | "fail" | "rateLimit";
			readonly executed: boolean;
			readonly error: ApiError;
	  }
	/** Holds the request until it is released, then continues. */
	| {
			readonly kind: "stall";
			readonly executed: boolean;
			readonly released: Promise<void>;
	  }
	/** Closes the connection without a response. */
	| { readonly kind: "drop"; readonly executed: boolean }
	/** Sends another response than the route's. */
	| {
			readonly kind: "answer";
			readonly executed: boolean;
			readonly rewrite: (right: ResponseData | undefined) => ResponseData;
	  };

/** A response. Its body is JSON unless a header says otherwise. */
export interface ResponseData {
	readonly status: number;
	readonly body?: string | undefined;
	/** Header names are in lower case. */
	readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface InjectedFault {
	readonly match: Match;
	readonly effect: Effect;
	/** How many requests the fault has affected. */
	readonly hits: number;
	/** Removes the fault and releases the requests it holds. */
	release(): void;
}

interface ActiveFault extends InjectedFault {
	hits: number;
	readonly limits: FaultLimits;
	readonly matches: (method: string, route: string, path: string) => boolean;
}

/** The injected faults. The first that matches a request applies. */
export class Faults {
	readonly #active = new Set<ActiveFault>();

	/** Responds with Discord's error of this code. Nothing is executed. */
	refuse(
		match: Match,
		code: number,
		given: {
			status?: number | undefined;
			message?: string | undefined;
		} & FaultLimits = {},
	): InjectedFault {
		const error = apiError(code, given);
		return this.#add(match, { kind: "refuse", executed: false, error }, given);
	}

	/** Holds the response until it is released. With `after` the request is executed first. */
	stall(
		match: Match,
		given: { after?: boolean | undefined } & FaultLimits = {},
	): InjectedFault {
		const gate = Promise.withResolvers<void>();
		const effect = {
			kind: "stall",
			executed: given.after ?? false,
			released: gate.promise,
		} as const;
		return this.#add(match, effect, given, gate.resolve);
	}

	/** Closes the connection before or after the request is executed. */
	drop(
		match: Match,
		given: { when: "before" | "after" } & FaultLimits,
	): InjectedFault {
		const effect = { kind: "drop", executed: given.when === "after" } as const;
		return this.#add(match, effect, given);
	}

	/** Responds with 429. Nothing is executed. */
	rateLimit(
		match: Match,
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
		return this.#add(
			match,
			{ kind: "rateLimit", executed: false, error },
			given,
		);
	}

	/** Responds to a search with 202: the index is not available yet. */
	indexing(
		match: Match,
		given: { retryAfterSeconds: number } & FaultLimits,
	): InjectedFault {
		const error = new ApiError(202, {
			message: "Index not yet available. Try again later",
			code: RESTJSONErrorCodes.IndexNotYetAvailable,
			documents_indexed: 0,
			retry_after: given.retryAfterSeconds,
		});
		return this.#add(match, { kind: "refuse", executed: false, error }, given);
	}

	/** Responds with a server error. With `executed` the request is executed first. */
	fail(
		match: Match,
		status: number,
		given: { executed?: boolean | undefined } & FaultLimits = {},
	): InjectedFault {
		const error = httpError(status, "Simulated Failure");
		const executed = given.executed ?? false;
		return this.#add(match, { kind: "fail", executed, error }, given);
	}

	/** Responds with the given status, body and headers. With `executed` the request is executed first. */
	answer(
		match: Match,
		given: ResponseData & { executed?: boolean | undefined } & FaultLimits,
	): InjectedFault {
		const { executed = false, status, body, headers } = given;
		const rewrite = () => ({ status, body, headers });
		return this.#add(match, { kind: "answer", executed, rewrite }, given);
	}

	/** Executes the request and changes the response if it succeeded. */
	rewrite(
		match: Match,
		rewrite: (right: ResponseData) => ResponseData,
		limits: FaultLimits = {},
	): InjectedFault {
		const effect: Effect = {
			kind: "answer",
			executed: true,
			rewrite: (right = { status: 204 }) => rewrite(right),
		};
		return this.#add(match, effect, limits);
	}

	/** The active faults. */
	list(): readonly InjectedFault[] {
		return [...this.#active];
	}

	/** Removes all faults and releases all held requests, also those of faults that are used up. */
	clear(): void {
		for (const fault of this.#holding) fault.release();
		for (const fault of this.#active) fault.release();
	}

	/** The effect on a request, if a fault matches. */
	hit(request: {
		method: string;
		route: string;
		path: string;
		actor: string;
	}): Effect | undefined {
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

	#add(
		match: Match,
		effect: Effect,
		limits: FaultLimits,
		letGo: () => void = () => {},
	): InjectedFault {
		const fault: ActiveFault = {
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

/** Whether a text is a method or *, and a path or *. */
export function isMatch(match: string): boolean {
	return /^([A-Z]+|\*) (\*|\/\S*)$/.test(match);
}

function matcher(match: Match): ActiveFault["matches"] {
	if (!isMatch(match))
		throw new Error(
			`expected a method and a route such as "POST /channels/*/messages", received ${JSON.stringify(match)}`,
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
		return parts.every(
			(part, index) =>
				part === "*" || part === pattern[index] || part === actual[index],
		);
	};
}
