// The review of a tool call: what the call would do, shown to code outside the tool before the tool changes anything.
// Approval uses it.

import type { ToolOutput } from "../../mcp/tool.ts";

/** A description of what a tool call would do, for a person who has to approve the call. */
export interface Preview {
	/**
	 * Lines of the tool's dry run; undefined if the tool has none, so that only its name and arguments say what the call
	 * does.
	 */
	lines: readonly string[] | undefined;
	/** If the tool has no dry run: lines that say what the ids in the call's arguments stand for. */
	names?: readonly string[];
	/**
	 * Text that is equal for two previews of calls which would do the same. By default these are the `lines` without the
	 * current time.
	 */
	basis: readonly string[];
}

/**
 * A function that is shown what a tool call would do before the call changes anything. If it throws or rejects, the
 * call ends with its error.
 */
export type Review = (preview: Preview) => void | Promise<void>;

const currentTime = /\bnow is \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

/**
 * Creates the preview of a tool call from `shown`, the output of the tool's dry run. Default of `basis`: this output
 * without the current time.
 */
export function previewOf(shown: ToolOutput, basis?: ToolOutput): Preview {
	const lines = [shown].flat();
	return {
		lines,
		basis: basis === undefined ? lines.map((line) => line.replace(currentTime, "now")) : [basis].flat(),
	};
}

/** Creates the preview of a call of a tool that has no dry run. `names`: what the ids in its arguments stand for. */
export function previewOfNames(names: readonly string[]): Preview {
	return { lines: undefined, names, basis: names };
}

/** The preview of a call of a tool that has no dry run. */
export const noPreview: Preview = { lines: undefined, basis: [] };
