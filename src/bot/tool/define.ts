// Defines a tool. From the definition the pipeline derives what to resolve, authorize and lock.

import * as v from "valibot";
import type { ToolCall, ToolDefinition, ToolOutput } from "../../mcp/tool.ts";
import type { Toolset } from "../config/tool-choice.ts";
import type { Needed, Permission } from "../discord/permissions.ts";
import { permitWrites } from "../discord/rest/rest.ts";
import type { ContextFor } from "./context.ts";
import { createPipeline } from "./pipeline.ts";
import type { BotTool, PrivilegedIntent } from "./toolsets.ts";

/** Requirements of a tool. */
export interface Needs<Args> {
	/**
	 * Permissions that the bot needs: in the channel of `channel_id`, the voice channel of the user, and the channel of the
	 * webhook or the invite; without any of these, guild-wide.
	 */
	permissions?: readonly Needed<Args>[];
	/** The argument with the channels for `permissions`. Default: `channel_id`. */
	permissionsIn?: keyof Args & string;
	/** Permissions that the bot needs guild-wide, regardless of channels. */
	guildPermissions?: readonly Permission[];
	/**
	 * Arguments with the ids of the objects that are edited. Calls with the same id run one after another; concurrent edits
	 * would overwrite each other. An empty argument stands for the instance's own guild.
	 */
	lock?: (keyof Args & string) | readonly (keyof Args & string)[];
	/**
	 * Whether the roles of `role_id` and `role_ids`, or else the members of `user_id` and `user_ids`, must rank below the
	 * bot. "others" exempts the bot itself.
	 */
	ranked?: boolean | "others";
	/** Privileged intents without which the tool's result is incomplete. */
	intents?: readonly PrivilegedIntent[];
}

/** The parsed arguments of a tool. */
type Args<Entries extends v.ObjectEntries> = v.InferOutput<
	v.StrictObjectSchema<Entries, undefined>
>;

export interface BotToolDefinition<Entries extends v.ObjectEntries>
	extends ToolDefinition<Entries, ContextFor<Entries>>,
		Needs<Args<Entries>> {
	toolset: Toolset;
	/** Offered only if its toolset is named explicitly. */
	extra?: boolean;
	/** Arguments of other servers' tool of this name: accepted, not listed, and ignored. */
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

/** The plan of a destructive tool. */
export interface Plan {
	/** What would happen, with counts and ids; a function if it needs requests. */
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

/** Defines a destructive tool. `plan` must not write; with `dry_run` only its preview is returned. */
export function destructiveTool<const Entries extends v.ObjectEntries>(
	definition: Omit<BotToolDefinition<Entries>, "effect" | "run"> & {
		plan(
			args: Args<Entries>,
			context: ContextFor<Entries>,
		): Plan | Promise<Plan>;
		/** Default of `dry_run`. Default: false. */
		dryRunByDefault?: boolean;
	},
): BotTool {
	const { plan, input, dryRunByDefault = false, ...rest } = definition;
	return tool<v.ObjectEntries>({
		// TypeScript cannot infer the entries plus `dry_run`.
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
