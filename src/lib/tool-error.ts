/** An error that the AI model or the person should see: what is wrong, with the wrong value, and the next step. */
export class ToolError extends Error {
	override name = "ToolError";
	/** Something is broken, such as Discord. Otherwise the call was refused. */
	isFailure = false;
}
