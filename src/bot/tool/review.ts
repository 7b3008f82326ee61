// The review of a tool call: what the call would do, shown to code outside the tool before the tool changes anything.
// Approval uses it.

import type { Output } from "../results/result.ts";

/** For a person who has to approve the call. */
export interface Preview {
	/** The dry run; undefined if the tool has none. */
	lines: readonly string[] | undefined;
	/** The dry run, also for people. */
	shown?: Output;
	/** Without a dry run: what the ids in the arguments stand for. */
	names?: readonly string[];
	/** Equal for calls which would do the same. Default: `lines` without the current time. */
	basis: readonly string[];
	/** See `Plan`. */
	leavesOut?: boolean | undefined;
}

/** Called before anything changes. If it throws or rejects, the call ends with its error. */
export type Review = (preview: Preview) => void | Promise<void>;

export const noPreview: Preview = { lines: undefined, basis: [] };
