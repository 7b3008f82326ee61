// The error of a bot's database that cannot be used now.

import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";

/** `message` is for people and models, `reason` for the operator. `mayHaveRun`: unknown whether it took effect. */
export class StoreUnavailable extends SaidError {
	override name = "StoreUnavailable";
	constructor(
		readonly reason: string,
		readonly mayHaveRun = false,
	) {
		super(said(mayHaveRun ? "error.database.unconfirmed" : "error.database"), { isFailure: true });
	}
}

/** For `catch`: rethrows any other error. */
export function ignoreUnavailable(error: unknown): undefined {
	if (!(error instanceof StoreUnavailable)) throw error;
}
