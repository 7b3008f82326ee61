// Defines a tool. From the definition the pipeline derives what to resolve, authorize and lock.

import * as v from "valibot";
import { flag } from "./arguments/arguments.ts";
import type { BotTool, BotToolDefinition, Hints } from "./context.ts";
import { createPipeline } from "./pipeline.ts";

const dry_run = v.optional(flag("Preview."), false);

/** Defines an MCP tool of the bot. A call of a tool with a plan returns the plan's preview if `dry_run` is true. */
export function tool<const Entries extends v.ObjectEntries>(
	hints: Hints,
	definition: BotToolDefinition<Entries>,
): BotTool {
	const { toolset, offered, permissions = [], intents = [], person } = definition;
	const input = definition.plan ? { ...definition.input, dry_run } : definition.input;
	return {
		// TypeScript cannot infer the entries plus `dry_run`.
		...createPipeline(hints, { ...definition, input } as BotToolDefinition<v.ObjectEntries>),
		toolset,
		offered,
		effectVaries: definition.destructive !== undefined,
		needs: {
			permissions,
			intents,
			person,
			checkedInRun: definition.permissionsIn === "run",
			isPlanned: definition.plan !== undefined,
		},
	};
}

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
