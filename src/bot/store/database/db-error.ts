// Errors of the store: for its callers, for the operator, and for the store's own state.

import { ToolError } from "../../../mcp/tool.ts";

/**
 * The database is unavailable, or did not respond in time. The message is for people and models, `reason` for the
 * operator. `mayHaveRun`: the outcome is unknown, but the statement or transaction took effect completely or not at all.
 */
export class StoreUnavailable extends ToolError {
	override name = "StoreUnavailable";
	constructor(
		readonly reason: string,
		readonly mayHaveRun = false,
		options?: ErrorOptions,
	) {
		super(
			mayHaveRun
				? "The bot's database did not confirm this, so it is not known whether it was stored. Check before you repeat it."
				: "The bot's database is unavailable at the moment. Nothing was stored. Try again in a minute.",
			options,
		);
	}
}

/** Why a store cannot continue, for the operator. Another attempt would not help. */
export class StoreFailure extends Error {
	override name = "StoreFailure";
}

/**
 * What an error of the database means for the store:
 * "lost": the connection is unusable, and the claim is lost with it;
 * "missing": tables or their schema were dropped;
 * "refused": the database accepts no writes at the moment;
 * "transient": this statement had no effect, the next one may succeed.
 */
export interface DbError {
	kind: "lost" | "missing" | "refused" | "transient";
	/** For the operator. Starts with the variable to check, if there is one. */
	reason: string;
}

/** A pattern of error codes, and what they mean. */
export type Meaning = readonly [RegExp, DbError["kind"], reason: string];

/** Returns the first meaning whose pattern matches; undefined if none does. */
export function meaningOf(
	code: string,
	meanings: readonly Meaning[],
): DbError | undefined {
	const found = meanings.find(([codes]) => codes.test(code));
	return found && { kind: found[1], reason: found[2] };
}

/** Returns the error for a claim on `target`, a schema or a file, that another instance holds. */
export function claimHeld(
	variable: "DB_SCHEMA" | "DATA_DIR",
	target: string,
	holder: string,
	self: string,
): StoreFailure {
	return new StoreFailure(
		`${variable}: ${target} is in use by ${holder}, and this is ${self}. Stop one of the two, or give each a ${variable} of its own.`,
	);
}

/** For `catch`: ignores a StoreUnavailable, rethrows any other error. */
export function ignoreUnavailable(error: unknown): undefined {
	if (!(error instanceof StoreUnavailable)) throw error;
}
