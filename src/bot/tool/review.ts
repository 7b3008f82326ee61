// The review of a tool call: what the call would do, shown to code outside the tool before the tool changes anything.
// Approval uses it.

import type { ToolOutput } from "../../mcp/tool.ts";

/** What a tool call would do. */
export interface Preview {
	/** What the tool's dry run shows; undefined if the tool has none: then its name and arguments say what it does. */
	lines: readonly string[] | undefined;
	/**
	 * What is the same for two previews that would do the same. It is `lines` without the current time, unless the tool
	 * says otherwise.
	 */
	basis: readonly string[];
}

/** Looks at what a tool call would do. If it throws or rejects, the call ends with its error and changes nothing. */
export type Review = (preview: Preview) => void | Promise<void>;

/** The current time as results show it: "now is 2026-01-31T12:00:00Z". */
const currentTime = /\bnow is \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

/** Creates the preview of a call from what its dry run shows. Default of `basis`: the same without the current time. */
export function previewOf(shown: ToolOutput, basis?: ToolOutput): Preview {
	const lines = [shown].flat();
	return {
		lines,
		basis:
			basis === undefined
				? lines.map((line) => line.replace(currentTime, "now"))
				: [basis].flat(),
	};
}

/** The preview of a call of a tool without a dry run. */
export const noPreview: Preview = { lines: undefined, basis: [] };
