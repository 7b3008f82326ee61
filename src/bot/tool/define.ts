// Defining a tool: one export, from which the pipeline knows what to look up, check, lock and bind.

import * as v from "valibot";
import type { ToolCall, ToolDefinition, ToolOutput } from "../../mcp/tool.ts";
import type { Toolset } from "../config/tool-choice.ts";
import type { Needed, Permission } from "../discord/permissions.ts";
import { permitWrites } from "../discord/rest/rest.ts";
import type { ContextFor } from "./context.ts";
import { createPipeline } from "./pipeline.ts";
import type { BotTool, PrivilegedIntent } from "./toolsets.ts";

/** What a tool needs before it can run. */
export interface Needs<Args> {
	/**
	 * The permissions that the bot needs: in the channel that `channel_id` names, the voice channel of the user, and the
	 * channel of the webhook or the invite; without any of these, in the guild.
	 */
	permissions?: readonly Needed<Args>[];
	/** The argument that names the channels for `permissions`, if it is not `channel_id`. */
	permissionsIn?: keyof Args & string;
	/** The permissions that the bot needs in the guild as a whole, whatever channel the arguments name. */
	guildPermissions?: readonly Permission[];
	/**
	 * The arguments that name what an edit builds on or overwrites: calls that name the same thing run one after another.
	 * Of two at the same time, one would undo what the other did. An empty one stands for the instance's own guild.
	 */
	lock?: (keyof Args & string) | readonly (keyof Args & string)[];
	/**
	 * Whether the roles, or else the members, that `role_id`, `role_ids`, `user_id` and `user_ids` name must be below the
	 * bot in the role hierarchy; with "others" the bot itself is let through.
	 */
	ranked?: boolean | "others";
	/** The privileged intents without which the tool sees less. */
	intents?: readonly PrivilegedIntent[];
}

/** The arguments of a tool once they are parsed. */
type Args<Entries extends v.ObjectEntries> = v.InferOutput<
	v.StrictObjectSchema<Entries, undefined>
>;

export interface BotToolDefinition<Entries extends v.ObjectEntries>
	extends ToolDefinition<Entries, ContextFor<Entries>>,
		Needs<Args<Entries>> {
	toolset: Toolset;
	/** Whether it is offered only where its toolset is named. */
	extra?: boolean;
	/** Arguments of other servers' tools of this name that mean nothing here: neither listed nor read. */
	ignored?: readonly string[];
	/** Other servers' names for this tool: callable, not listed. */
	aliases?: readonly string[];
}

/** A tool of the bot. */
export function tool<const Entries extends v.ObjectEntries>(
	definition: BotToolDefinition<Entries>,
): BotTool {
	const { toolset, extra = false, aliases = [] } = definition;
	const { permissions = [], guildPermissions = [], intents = [] } = definition;
	return {
		...createPipeline(definition),
		toolset,
		extra,
		aliases,
		needs: { permissions, guildPermissions, intents },
	};
}

/** What a destructive tool would do, and how to do it. */
export interface Plan {
	/** What would happen, with counts and ids; a function if that takes requests. */
	preview: ToolOutput | (() => Promise<ToolOutput>);
	act(call: ToolCall): Promise<ToolOutput>;
}

function dryRun(byDefault: boolean) {
	const description = byDefault
		? "Only say what would happen; false to have it done."
		: "Only say what would happen.";
	return {
		dry_run: v.optional(
			v.pipe(v.boolean(), v.description(description)),
			byDefault,
		),
	};
}

/** A destructive tool: it makes its plan without writing anything, and acts on it unless it is told `dry_run`. */
export function destructiveTool<const Entries extends v.ObjectEntries>(
	definition: Omit<BotToolDefinition<Entries>, "effect" | "run"> & {
		plan(
			args: Args<Entries>,
			context: ContextFor<Entries>,
		): Plan | Promise<Plan>;
		/** The default of `dry_run`: false unless given. */
		dryRunByDefault?: boolean;
	},
): BotTool {
	const { plan, input, dryRunByDefault = false, ...rest } = definition;
	return tool<v.ObjectEntries>({
		// Its arguments are these, and `dry_run`.
		...(rest as Omit<BotToolDefinition<v.ObjectEntries>, "effect" | "run">),
		effect: "destructive",
		input: v.strictObject({ ...input.entries, ...dryRun(dryRunByDefault) }),
		async run({ dry_run, ...args }, context, call) {
			const { preview, act } = await plan(
				args as Args<Entries>,
				context as ContextFor<Entries>,
			);
			if (dry_run) {
				const lines = typeof preview === "function" ? await preview() : preview;
				return ["Dry run: nothing was done.", ...[lines].flat()];
			}
			permitWrites();
			return act(call);
		},
	});
}
