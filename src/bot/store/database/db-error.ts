// Errors of the store: for its callers, for the operator, and for the store's own state.

import { StoreFailure } from "../../../lib/sql/errors.ts";
import { ToolError } from "../../../mcp/tool.ts";

/**
 * Thrown when the bot's database is unavailable or does not respond in time. `message` is for people and models,
 * `reason` for the operator. `mayHaveRun` is true if it is unknown whether the statement or transaction took effect.
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

/**
 * Returns the error for a database that another bot process is using. `target` is the schema or file, `variable` the
 * environment variable that sets it, `holder` the name of the other process, `self` the name of this process.
 */
export function claimHeld(
	variable: "DB_SCHEMA" | "DATA_DIR",
	target: string,
	holder: string,
	self: string,
): StoreFailure {
	return new StoreFailure(
		`${variable}: ${target} is in use by ${holder}, and this program is ${self}. Stop one of the two, or give each a ${variable} of its own.`,
	);
}

/** For `catch`: ignores the error if the bot's database is unavailable, and rethrows any other error. */
export function ignoreUnavailable(error: unknown): undefined {
	if (!(error instanceof StoreUnavailable)) throw error;
}
