// Defines a tool. From the definition the pipeline derives what to resolve, authorize and lock.

import * as v from "valibot";
import type { ToolCall, ToolDefinition, ToolOutput } from "../../mcp/tool.ts";
import type { Toolset } from "../config/tool-choice.ts";
import type { Needed, Permission } from "../discord/permissions.ts";
import { permitWrites } from "../discord/rest/rest.ts";
import { flag } from "./arguments.ts";
import type { ContextFor } from "./context.ts";
import { createPipeline } from "./pipeline.ts";
import type { BotTool, PrivilegedIntent } from "./toolsets.ts";

/** Requirements of a tool. */
export interface Needs<Args> {
	/**
	 * Permissions that the bot needs: in the channel of `channel_id`, the voice channel of the member `user_id`, and the
	 * channel of the webhook or invite; guild-wide if the tool has none of these arguments.
	 */
	permissions?: readonly Needed<Args>[];
	/** The argument with the channels for `permissions`. Default: `channel_id`. "run": `run` checks them, in other places too. */
	permissionsIn?: (keyof Args & string) | "run";
	/** Permissions that the bot needs guild-wide, regardless of channels. */
	guildPermissions?: readonly Permission[];
	/**
	 * Arguments with the ids of the objects that are edited. Calls with the same id run one after another; concurrent edits
	 * would overwrite each other. An empty argument means the guild of GUILD_ID.
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
	/** Former arguments, and arguments of other MCP servers' tool of this name: accepted, not listed, and ignored. */
	ignored?: readonly string[];
	/** Names of this tool in other MCP servers: callable, not listed. */
	aliases?: readonly string[];
}

function tool<const Entries extends v.ObjectEntries>(
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

type WithoutEffect<Entries extends v.ObjectEntries> = Omit<
	BotToolDefinition<Entries>,
	"effect" | "idempotent"
>;

/** Defines a tool that only reads. */
export function readTool<const Entries extends v.ObjectEntries>(
	definition: WithoutEffect<Entries>,
): BotTool {
	return tool({ ...definition, effect: "read" });
}

/** Defines a tool that adds something with each call, such as a message. */
export function writeTool<const Entries extends v.ObjectEntries>(
	definition: WithoutEffect<Entries>,
): BotTool {
	return tool({ ...definition, effect: "write" });
}

/** Defines a tool that changes something under its lock. A second equal call changes nothing more. */
export function editTool<const Entries extends v.ObjectEntries>(
	definition: WithoutEffect<Entries> & Required<Pick<Needs<never>, "lock">>,
): BotTool {
	return tool({ ...definition, effect: "write", idempotent: true });
}

/** The plan of a destructive tool. */
export type Plan = {
	/** What would happen, with counts and ids; a function if it needs requests. */
	preview: ToolOutput | (() => Promise<ToolOutput>);
} & (
	| { act(call: ToolCall): Promise<ToolOutput> }
	/** One request, and the tool's result once it succeeded. */
	| { write(): Promise<unknown>; result: ToolOutput }
);

function dryRun(byDefault: boolean) {
	const next = byDefault ? "; false to have it done" : "";
	return v.optional(flag(`Only say what would happen${next}.`), byDefault);
}

/**
 * Defines a destructive tool. `plan` must not write; with `dry_run` only its preview is returned. `idempotent` is true by
 * default.
 */
export function destructiveTool<const Entries extends v.ObjectEntries>(
	definition: Omit<BotToolDefinition<Entries>, "effect" | "run"> & {
		plan(
			args: Args<Entries>,
			context: ContextFor<Entries>,
		): Plan | Promise<Plan>;
		/** What `dry_run` is if a call omits it: false unless set here. */
		dryRunByDefault?: boolean;
	},
): BotTool {
	const { plan, input, dryRunByDefault = false, ...rest } = definition;
	const dry_run = dryRun(dryRunByDefault);
	return tool<v.ObjectEntries>({
		idempotent: true,
		// TypeScript cannot infer the entries plus `dry_run`.
		...(rest as Omit<BotToolDefinition<v.ObjectEntries>, "effect" | "run">),
		effect: "destructive",
		input: v.strictObject({ ...input.entries, dry_run }),
		async run({ dry_run, ...args }, context, call) {
			const planned = await plan(
				args as Args<Entries>,
				context as ContextFor<Entries>,
			);
			if (dry_run) {
				const { preview } = planned;
				const lines = typeof preview === "function" ? await preview() : preview;
				return ["Dry run: nothing was done.", ...[lines].flat()];
			}
			permitWrites();
			if ("act" in planned) return planned.act(call);
			await planned.write();
			return planned.result;
		},
	});
}
