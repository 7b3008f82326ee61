import { ToolError } from "../lib/tool-error.ts";
import { render, type Said } from "./texts.ts";

/** An error that a person reads in their language; in results for models and in logs it is English. */
export class SaidError extends ToolError {
	constructor(
		readonly said: Said,
		options?: ErrorOptions,
	) {
		super(render(said, "en"), options);
	}
}
