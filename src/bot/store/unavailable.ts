// The error of a bot's database that cannot be used now.

import { ToolError } from "../../lib/tool-error.ts";

/** `message` is for people and models, `reason` for the operator. `mayHaveRun`: unknown whether it took effect. */
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

/** For `catch`: rethrows any other error. */
export function ignoreUnavailable(error: unknown): undefined {
	if (!(error instanceof StoreUnavailable)) throw error;
}
