// Faults on demand: requests that match are refused, held, dropped, limited or failed instead of being answered.

import { RESTJSONErrorCodes } from "discord.js";
import { ApiError, plainError, rateLimited, refusal } from "./errors.ts";

/** Which requests: a method and a route, such as "POST /channels/:channel_id/messages", "POST /channels/123/*" or "* *". */
export type Match = string;

export interface FaultLimits {
	/** How many requests it hits before it is over; without it, until it is cleared. */
	readonly times?: number | undefined;
	/** Only requests of this user id. */
	readonly actor?: string | undefined;
}

/** What a fault does with a request. */
export type Effect =
	/** Answers with an error; when `executed`, only after the request was carried out. */
	| {
			readonly kind: "refuse" | "fail" | "rateLimit";
			readonly executed: boolean;
			readonly error: ApiError;
	  }
	/** Answers nothing until it is released; then goes on as if nothing had been. */
	| {
			readonly kind: "stall";
			readonly executed: boolean;
			readonly released: Promise<void>;
	  }
	/** Closes the connection without an answer. */
	| { readonly kind: "drop"; readonly executed: boolean }
	/** Answers something that Discord's API does not; in place of the right answer, if the request was carried out. */
	| {
			readonly kind: "answer";
			readonly executed: boolean;
			readonly rewrite: (right: Answer | undefined) => Answer;
	  };

/** An answer as it goes to the client: JSON unless a header says otherwise. */
export interface Answer {
	readonly status: number;
	readonly body?: string | undefined;
	/** Their names in lower case. */
	readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** An injected fault, as it stands. */
export interface Fault {
	readonly match: Match;
	readonly effect: Effect;
	/** How many requests it has hit. */
	readonly hits: number;
	/** Ends it, and lets go of the requests it holds. */
	release(): void;
}

interface ActiveFault extends Fault {
	hits: number;
	readonly limits: FaultLimits;
	readonly matches: (method: string, route: string, path: string) => boolean;
}

/** The faults that are injected now. The first that matches hits. */
export class Faults {
	readonly #active = new Set<ActiveFault>();

	/** Answers with Discord's refusal of this code, and executes nothing. */
	refuse(
		match: Match,
		code: number,
		given: {
			status?: number | undefined;
			message?: string | undefined;
		} & FaultLimits = {},
	): Fault {
		const error = refusal(code, given);
		return this.#add(match, { kind: "refuse", executed: false, error }, given);
	}

	/** Holds the answer until it is released; `after` has the request executed first. */
	stall(
		match: Match,
		given: { after?: boolean | undefined } & FaultLimits = {},
	): Fault {
		const gate = Promise.withResolvers<void>();
		const effect = {
			kind: "stall",
			executed: given.after ?? false,
			released: gate.promise,
		} as const;
		return this.#add(match, effect, given, gate.resolve);
	}

	/** Closes the connection, before or after the request was executed. */
	drop(match: Match, given: { when: "before" | "after" } & FaultLimits): Fault {
		const effect = { kind: "drop", executed: given.when === "after" } as const;
		return this.#add(match, effect, given);
	}

	/** Answers 429, and executes nothing. */
	rateLimit(
		match: Match,
		given: {
			retryAfterMs: number;
			global?: boolean | undefined;
			scope?: "user" | "global" | "shared" | undefined;
		} & FaultLimits,
	): Fault {
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

	/** Answers 202: what is searched is not indexed yet. */
	indexing(
		match: Match,
		given: { retryAfterSeconds: number } & FaultLimits,
	): Fault {
		const error = new ApiError(202, {
			message: "Index not yet available. Try again later",
			code: RESTJSONErrorCodes.IndexNotYetAvailable,
			documents_indexed: 0,
			retry_after: given.retryAfterSeconds,
		});
		return this.#add(match, { kind: "refuse", executed: false, error }, given);
	}

	/** Answers with a server error; `executed` has the request executed first. */
	fail(
		match: Match,
		status: number,
		given: { executed?: boolean | undefined } & FaultLimits = {},
	): Fault {
		const error = plainError(status, "Simulated Failure");
		const executed = given.executed ?? false;
		return this.#add(match, { kind: "fail", executed, error }, given);
	}

	/** Answers this whatever was asked; `executed` has the request executed first. */
	answer(
		match: Match,
		given: Answer & { executed?: boolean | undefined } & FaultLimits,
	): Fault {
		const { executed = false, status, body, headers } = given;
		const rewrite = () => ({ status, body, headers });
		return this.#add(match, { kind: "answer", executed, rewrite }, given);
	}

	/** Executes the request, and changes what is answered when it succeeds. */
	rewrite(
		match: Match,
		rewrite: (right: Answer) => Answer,
		limits: FaultLimits = {},
	): Fault {
		const effect: Effect = {
			kind: "answer",
			executed: true,
			rewrite: (right = { status: 204 }) => rewrite(right),
		};
		return this.#add(match, effect, limits);
	}

	/** The faults that are still to hit. */
	list(): readonly Fault[] {
		return [...this.#active];
	}

	/** Ends all faults, and lets go of every request that is held, also by faults that have hit as often as they should. */
	clear(): void {
		for (const fault of this.#holding) fault.release();
		for (const fault of this.#active) fault.release();
	}

	/** The effect on this request, if a fault hits it. */
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

	// Stalls may hold requests after their last hit.
	readonly #holding = new Set<Fault>();

	#add(
		match: Match,
		effect: Effect,
		limits: FaultLimits,
		letGo: () => void = () => {},
	): Fault {
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

/** Whether `match` has the form of one: a method or *, and a path or *. */
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
