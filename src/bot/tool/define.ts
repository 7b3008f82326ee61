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

/** Beyond what the bot needs: for what the person could not do by hand, such as editing the bot's own messages. */
export interface PersonNeeds<Args> {
	/** In the channel that the arguments select, or else guild-wide. */
	permissions?: readonly Needed<Args>[];
	/** Argument with the channels. Default: the tool's `permissionsIn`, or `channel_id` if that is "run". */
	permissionsIn?: keyof Args & string;
	/** Through the person's roles. */
	guildPermissions?: readonly Permission[];
	/** Without MANAGE_THREADS in a locked thread that is not archived. Default: true for destructive tools. */
	inLockedThreads?: boolean;
	/** The person needs MANAGE_GUILD in GUILD_ID or, without it, all guilds. Default: true without `guild_id`. */
	managesBot?: boolean;
}

/** A person in whose name the call acts needs the same permissions and rank, and what `person` says. */
export interface Needs<Args> {
	person?: PersonNeeds<Args>;
	/** In the channel of the arguments (`channel_id`, `user_id` in voice, webhook, invite), or else guild-wide. */
	permissions?: readonly Needed<Args>[];
	/** Argument with the channels. Default: `channel_id`. "run": `run` checks the permissions. */
	permissionsIn?: (keyof Args & string) | "run";
	/** Through the bot's roles, without overwrites of channels. */
	guildPermissions?: readonly Permission[];
	/** Arguments with ids, or the ids: calls that edit the same object run one after another. Empty: GUILD_ID. */
	lock?:
		| (keyof Args & string)
		| readonly (keyof Args & string)[]
		| ((args: Args, bot: BotContext) => readonly string[]);
	/** The bot must be above `role_id(s)`, or else `user_id(s)`. "others": not above itself or the person who calls. */
	ranked?: boolean | "others";
	/** Without them, the result is incomplete. */
	intents?: readonly PrivilegedIntent[];
}

type Args<Entries extends v.ObjectEntries> = v.InferOutput<v.StrictObjectSchema<Entries, undefined>>;

export interface BotToolDefinition<Entries extends v.ObjectEntries>
	extends ToolDefinition<Entries, ContextFor<Entries>>,
		Needs<Args<Entries>> {
	toolset: Toolset;
	/** Not in the value "default" of `mcp.toolsets`. */
	extra?: boolean;
	/** Always in the settings `toolsets` and `list`. */
	essential?: boolean;
	/** Why a "write" call is destructive, after "it"; the unknown is, too. Before the first write; changes nothing. */
	destructive?(args: Args<Entries>, context: ContextFor<Entries>): string | undefined | Promise<string | undefined>;
	/** For approval, without a dry run, if the arguments do not tell enough. Changes nothing. `basis`: see `Plan`. */
	preview?(args: Args<Entries>, context: ContextFor<Entries>): Promise<{ shown: ToolOutput; basis?: ToolOutput }>;
	/** For the moderation record. After all checks, before the first write. Or the plan says it (`Plan.record`). */
	records?(args: Args<Entries>, context: ContextFor<Entries>): CaseDraft | undefined;
	/** `run` itself calls `review`; otherwise it is called before `run`. */
	reviewsPlan?: boolean;
}

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

export function readTool<const Entries extends v.ObjectEntries>(definition: WithoutEffect<Entries>): BotTool {
	return tool({ ...definition, effect: "read" });
}

/** Each call adds something, such as a message. Listed as additive unless some calls are destructive. */
export function writeTool<const Entries extends v.ObjectEntries>(definition: WithoutEffect<Entries>): BotTool {
	const additive = !definition.destructive;
	return tool({ additive, ...definition, effect: "write" });
}

/** Holds the lock of what it edits. Repeating a call has no further effect. */
export function editTool<const Entries extends v.ObjectEntries>(
	definition: WithoutEffect<Entries> & Required<Pick<Needs<Args<Entries>>, "lock">>,
): BotTool {
	return tool({ ...definition, effect: "write", idempotent: true });
}

export type Plan = {
	/** The dry run: what the tool would do, with counts and ids. A function if it needs requests. */
	preview: ToolOutput | (() => Promise<ToolOutput>);
	/** Equal for plans that do the same. Default: the preview without the current time. */
	basis?: ToolOutput;
	/** For the moderation record. Default: the tool's `records`. */
	record?: CaseDraft | undefined;
} & (
	| { act(call: ToolCall): Promise<ToolOutput> }
	/** Sends the only request that changes something. `result`: if it succeeds. */
	| { write(): Promise<unknown>; result: ToolOutput }
);

const dry_run = v.optional(flag("Preview."), false);

/** `plan` must not change anything; `dry_run` returns its preview. Listed as idempotent by default. */
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
