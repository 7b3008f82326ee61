// Defines a tool. From the definition the pipeline derives what to resolve, authorize and lock.

import * as v from "valibot";
import { isForPeople } from "../../discord/acting-person.ts";
import type { PrivilegedIntent } from "../../discord/intents.ts";
import type { Needed, Permission } from "../../discord/permissions.ts";
import { permitWrites } from "../../discord/rest/rest.ts";
import type { ToolCall, ToolDefinition, ToolOutput } from "../../mcp/tool.ts";
import type { Toolset } from "../config/tool-choice.ts";
import { flag } from "./arguments/arguments.ts";
import { type CaseDraft, recorded } from "./case-record.ts";
import type { BotContext, ContextFor, ToolContext } from "./context.ts";
import { createPipeline } from "./pipeline.ts";
import { previewOf } from "./review.ts";
import type { BotTool } from "./toolsets.ts";

/**
 * What a person needs so that a tool can act in the person's name, in addition to what the bot needs. For tools with
 * which the bot can do more than a person with the same permissions could do by hand, such as editing the bot's own
 * messages.
 */
export interface PersonNeeds<Args> {
	/**
	 * Discord permissions that the person needs in the channel that the call's arguments select or, if they select no
	 * channel, guild-wide.
	 */
	permissions?: readonly Needed<Args>[];
	/**
	 * Name of the argument with the channels in which the person needs `permissions`. Default: the tool's
	 * `permissionsIn`, or `channel_id` if that is "run".
	 */
	permissionsIn?: keyof Args & string;
	/** Discord permissions that the person needs in the guild through their roles. */
	guildPermissions?: readonly Permission[];
	/**
	 * Whether a person who lacks MANAGE_THREADS may use the tool in a locked thread that is not archived. Default: true
	 * for destructive tools, false for all others.
	 */
	inLockedThreads?: boolean;
	/**
	 * Whether the tool is about the bot itself or its direct messages, so that the person needs MANAGE_GUILD: in the guild
	 * in the setting GUILD_ID or, if that is not set, in all guilds. Default: true for tools without the argument
	 * `guild_id`.
	 */
	managesBot?: boolean;
}

/**
 * What a tool needs before it runs: permissions and rank in Discord's role hierarchy, locks and intents. If a call acts
 * in a person's name, the person needs the same permissions and rank as the bot, and in addition what `person` says.
 */
export interface Needs<Args> {
	/** What the person in whose name a call acts needs, in addition to what the bot needs. */
	person?: PersonNeeds<Args>;
	/**
	 * Discord permissions that the bot needs for this tool, in the channel that the call's arguments select (by
	 * `channel_id`, `user_id` in voice, webhook or invite) or, if they select no channel, guild-wide.
	 */
	permissions?: readonly Needed<Args>[];
	/**
	 * Name of the argument with the channels in which the bot needs the tool's `permissions`. Default: `channel_id`.
	 * "run": the tool's own `run` function checks the permissions.
	 */
	permissionsIn?: (keyof Args & string) | "run";
	/**
	 * Discord permissions that the bot needs in the guild through its roles. Permission overwrites of channels are
	 * ignored.
	 */
	guildPermissions?: readonly Permission[];
	/**
	 * Names of the arguments with the ids of the objects that the tool edits, or a function that returns these ids. Calls
	 * that edit the same object run one after another. If the argument is empty, the id of the guild in the setting
	 * GUILD_ID is used.
	 */
	lock?:
		| (keyof Args & string)
		| readonly (keyof Args & string)[]
		| ((args: Args, bot: BotContext) => readonly string[]);
	/**
	 * Whether the bot's highest role must be above the roles in the arguments `role_id` and `role_ids` or, if the tool
	 * has neither, above the members in `user_id` and `user_ids`. With "others", the member may also be the bot itself
	 * and, for the person in whose name the call acts, that person.
	 */
	ranked?: boolean | "others";
	/** Privileged Discord intents without which this tool's result is incomplete. */
	intents?: readonly PrivilegedIntent[];
}

type Args<Entries extends v.ObjectEntries> = v.InferOutput<v.StrictObjectSchema<Entries, undefined>>;

export interface BotToolDefinition<Entries extends v.ObjectEntries>
	extends ToolDefinition<Entries, ContextFor<Entries>>,
		Needs<Args<Entries>> {
	toolset: Toolset;
	/** Whether the value "default" of the setting `mcp.toolsets` does not include this tool. */
	extra?: boolean;
	/** Whether the settings `toolsets` and `list` always include this tool. */
	essential?: boolean;
	/**
	 * Says why a call of a "write" tool counts as destructive, as words that follow "it": it grants power, silences many,
	 * or replaces what cannot be restored. Undefined if it does not. What cannot be known counts as destructive. Called
	 * after all checks of a call and before its first write. Must not change anything.
	 */
	destructive?(args: Args<Entries>, context: ContextFor<Entries>): string | undefined | Promise<string | undefined>;
	/**
	 * Returns what a call would do (`shown`), for a person who has to approve the call. For tools without a dry run whose
	 * name and arguments do not tell enough. Must not change anything. `basis` is like that of `Plan`.
	 */
	preview?(args: Args<Entries>, context: ContextFor<Entries>): Promise<{ shown: ToolOutput; basis?: ToolOutput }>;
	/**
	 * Returns what a call is about to do to people or channels, for the guild's moderation record; undefined if that is not
	 * recorded. Called after all checks of a call and before its first write. A plan can say it instead (`Plan.record`).
	 */
	records?(args: Args<Entries>, context: ContextFor<Entries>): CaseDraft | undefined;
	/**
	 * Whether the tool's own `run` function calls `review` with the plan of the call. If not, `review` is called before
	 * `run`.
	 */
	reviewsPlan?: boolean;
}

/** Defines an MCP tool of the bot with the given `effect`. */
export function tool<const Entries extends v.ObjectEntries>(definition: BotToolDefinition<Entries>): BotTool {
	const { toolset, extra = false, essential = false } = definition;
	const { permissions = [], guildPermissions = [], intents = [] } = definition;
	const { person } = definition;
	return {
		...createPipeline(definition),
		toolset,
		extra,
		essential,
		effectVaries: definition.destructive !== undefined,
		needs: {
			permissions,
			guildPermissions,
			intents,
			person,
			checkedInRun: definition.permissionsIn === "run",
			isPlanned: definition.reviewsPlan === true || definition.preview !== undefined,
		},
	};
}

type WithoutEffect<Entries extends v.ObjectEntries> = Omit<BotToolDefinition<Entries>, "effect" | "idempotent">;

/** Defines an MCP tool that only reads and changes nothing. */
export function readTool<const Entries extends v.ObjectEntries>(definition: WithoutEffect<Entries>): BotTool {
	return tool({ ...definition, effect: "read" });
}

/**
 * Defines an MCP tool that adds something to Discord with each call, such as a message. It is listed as additive unless
 * it says that some calls are destructive.
 */
export function writeTool<const Entries extends v.ObjectEntries>(definition: WithoutEffect<Entries>): BotTool {
	const additive = !definition.destructive;
	return tool({ additive, ...definition, effect: "write" });
}

/**
 * Defines an MCP tool that edits an object while it holds the object's lock. Repeating a call has no further effect.
 */
export function editTool<const Entries extends v.ObjectEntries>(
	definition: WithoutEffect<Entries> & Required<Pick<Needs<Args<Entries>>, "lock">>,
): BotTool {
	return tool({ ...definition, effect: "write", idempotent: true });
}

/** What a destructive tool is about to do: a preview for dry runs, and the function that does it. */
export type Plan = {
	/**
	 * The result of a dry run: what the tool would do, with counts and ids. It is a function if requests to Discord are
	 * needed to create it.
	 */
	preview: ToolOutput | (() => Promise<ToolOutput>);
	/**
	 * Text that is equal for two plans which do the same; needed if the preview depends on the time of the call. Default:
	 * the preview without the current time.
	 */
	basis?: ToolOutput;
	/** What the call is about to do, for the moderation record. Default: what the tool's `records` returns. */
	record?: CaseDraft | undefined;
} & (
	| { act(call: ToolCall): Promise<ToolOutput> }
	/**
	 * Sends the only request of the tool that changes something on Discord. `result` is the tool's result if the request
	 * succeeds.
	 */
	| { write(): Promise<unknown>; result: ToolOutput }
);

const dry_run = v.optional(flag("Preview."), false);

/**
 * Defines an MCP tool that deletes or overwrites something. `plan` must not change anything on Discord: a call with the
 * argument `dry_run` returns the plan's preview. By default the tool is listed as idempotent.
 */
export function destructiveTool<const Entries extends v.ObjectEntries>(
	definition: Omit<BotToolDefinition<Entries>, "effect" | "run"> & {
		plan(args: Args<Entries>, context: ContextFor<Entries>): Plan | Promise<Plan>;
	},
): BotTool {
	const { plan, input, ...rest } = definition;
	return tool<v.ObjectEntries>({
		idempotent: true,
		// TypeScript cannot infer the entries plus `dry_run`.
		...(rest as Omit<BotToolDefinition<v.ObjectEntries>, "effect" | "run">),
		effect: "destructive",
		reviewsPlan: true,
		input: v.strictObject({ ...input.entries, dry_run }),
		async run({ dry_run, ...args }, context, call) {
			const planned = await plan(args as Args<Entries>, context as ContextFor<Entries>);
			const { preview, basis } = planned;
			const show = async () => (typeof preview === "function" ? await preview() : preview);
			const { review, onDryRun }: ToolContext = context;
			if (dry_run) {
				const shown = await show();
				onDryRun?.(previewOf(shown, basis).basis);
				// The command asks a person whether to do it.
				if (isForPeople()) return shown;
				return ["Dry run: nothing was done.", shown].flat();
			}
			if (review) await review(previewOf(await show(), basis));
			permitWrites();
			const act = async () => {
				if ("act" in planned) return planned.act(call);
				await planned.write();
				return planned.result;
			};
			const draft = planned.record ?? rest.records?.(args as Args<Entries>, context as ContextFor<Entries>);
			return recorded(draft, args, context, act);
		},
	});
}
