// The kinds of tools, by what their calls do.

import type * as v from "valibot";
import type { BotTool, BotToolDefinition } from "./context.ts";
import { tool } from "./pipeline.ts";

/** A definition with certain keys that other tools leave out. */
type With<Entries extends v.ObjectEntries, Key extends keyof BotToolDefinition<Entries>> = BotToolDefinition<Entries> &
	Required<Pick<BotToolDefinition<Entries>, Key>>;

export function readTool<const Entries extends v.ObjectEntries>(definition: With<Entries, "run">): BotTool {
	return tool({ effect: "read" }, definition);
}

/** Each call adds something, such as a message. Additive unless some calls are destructive. */
export function writeTool<const Entries extends v.ObjectEntries>(definition: BotToolDefinition<Entries>): BotTool {
	return tool({ effect: "write", additive: !definition.destructive }, definition);
}

/** Repeating a call has no further effect. `additive`: a call can do nothing but add. */
export function editTool<const Entries extends v.ObjectEntries>(
	definition: With<Entries, "lock">,
	{ additive = false } = {},
): BotTool {
	return tool({ effect: "write", additive, idempotent: true }, definition);
}

/** Deletes or overwrites something. `idempotent`: repeating a call has no further effect. */
export function destructiveTool<const Entries extends v.ObjectEntries>(
	definition: With<Entries, "plan">,
	{ idempotent = true } = {},
): BotTool {
	return tool({ effect: "destructive", idempotent }, definition);
}
