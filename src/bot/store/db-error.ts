// What goes wrong with a database: for who asked, for the operator, and for the store itself.

import { ToolError } from "../../mcp/tool.ts";

/**
 * The database is away, or did not do it in time. The message is for people and models; `reason` is for the operator.
 * `mayHaveRun` says that the work was under way when the database was lost: it was done wholly or not at all.
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
				? "The bot's database went away in the middle: whether this was stored is not known. Look before repeating it."
				: "The bot's database is away at the moment, and this needs it. Nothing was stored; try again in a minute.",
		);
		if (options?.cause) this.cause = options.cause;
	}
}

/** Why a store cannot go on, in words for the operator; trying again does not help. */
export class StoreFailure extends Error {
	override name = "StoreFailure";
}

/**
 * What an error of a database means for the store:
 * "lost", the connection is of no more use, and the claim is gone with it;
 * "gone", its tables are not there any more;
 * "refused", it does not take what is written at the moment;
 * "passing", this piece of work was not done, and the next one may be.
 */
export interface DbError {
	kind: "lost" | "gone" | "refused" | "passing";
	/** For the operator, beginning with the variable to look at where there is one. */
	reason: string;
}

/** Another instance holds the claim. Both are named as they name themselves. */
export function claimHeld(
	variable: "DB_SCHEMA" | "DATA_DIR",
	place: string,
	holder: string,
	self: string,
): StoreFailure {
	return new StoreFailure(
		`${variable}: ${place} is in use by ${holder}, and this is ${self}. Stop one of the two, or give each a ${variable} of its own.`,
	);
}
