import { ToolError } from "../lib/tool-error.ts";
import { render, type Said } from "./texts.ts";

/** An error that a person reads in their language; results for models and logs have `models`, by default in English. */
export class SaidError extends ToolError {
	constructor(
		readonly said: Said,
		{ models, isFailure = false, ...options }: ErrorOptions & { models?: string; isFailure?: boolean } = {},
	) {
		super(models ?? render(said, "en"), options);
		this.isFailure = isFailure;
	}

	/** Without "Nothing was done", for a message that says itself what was done. */
	get why(): Said {
		const { key, values } = this.said;
		return key === "refusal.nothing_done" && typeof values.why === "object" ? values.why : this.said;
	}
}
