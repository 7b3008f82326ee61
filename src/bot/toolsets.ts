// Which of the tools a bot offers: the operator chooses by toolset, effect and name. What is not chosen is neither listed
// nor callable.

import * as v from "valibot";
import { didYouMean, type Fault, shown } from "../lib/config.ts";
import { isObject } from "../mcp/json-rpc.ts";
import type { Tool } from "../mcp/tool.ts";
import type { BotContext } from "./context.ts";
import type { Needed, Permission } from "./discord/permissions.ts";
import type { TomlValues } from "./toml.ts";

export const toolsetNames = [
	"core",
	"messages",
	"threads",
	"direct_messages",
	"moderation",
	"roles",
	"channels",
	"voice",
	"events",
	"automod",
	"expressions",
	"guild",
	"webhooks",
	"game",
	"audit",
	"diagnostics",
] as const;

export type Toolset = (typeof toolsetNames)[number];

/** The sets that an assistant is offered unless the operator says otherwise, without what is `extra` in them. */
const defaultToolsets: readonly Toolset[] = [
	"core",
	"messages",
	"direct_messages",
	"moderation",
	"roles",
	"channels",
	"voice",
	"webhooks",
	"game",
];

/** Stands for what is offered by default, in a list of toolsets. */
export const defaultChoice = "default";

/** All that a list of toolsets may name. */
const choices = [defaultChoice, ...toolsetNames] as const;

/** The groups of tools that an operator chooses: "all", or a list. */
export const toolsetChoice = v.union(
	[v.literal("all"), v.array(v.picklist(choices))],
	({ input }) => {
		if (typeof input === "string" && isChoice(input))
			return `expected a list, received ${shown(input)}; put it in brackets: [${shown(input)}]`;
		const given: unknown[] = Array.isArray(input) ? input : [input];
		if (given.includes("all"))
			return 'expected "all" alone, without brackets: toolsets = "all"';
		const wrong = given.find((name) => !isChoice(name));
		const meant = typeof wrong === "string" ? didYouMean(wrong, choices) : "";
		const next = meant || `; expected "all" or a list of ${choices.join(", ")}`;
		return `there is no toolset ${shown(wrong)}${next}`;
	},
);

function isChoice(name: unknown): boolean {
	return choices.some((choice) => choice === name);
}

/** What an operator has to switch on for a bot in the developer portal. */
export type PrivilegedIntent = "GuildMembers" | "MessageContent";

/** A tool of the bot, the set it belongs to, and what the bot needs for it. */
export interface BotTool extends Tool<BotContext> {
	toolset: Toolset;
	/** Whether it is offered only where its toolset is named: every tool in a list costs the model attention. */
	extra: boolean;
	needs: {
		/** In the channel that is named, or else in the guild. */
		permissions: readonly Needed<never>[];
		/** In the guild as a whole. */
		guildPermissions: readonly Permission[];
		intents: readonly PrivilegedIntent[];
	};
}

export interface ToolChoice {
	toolsets: "all" | readonly (Toolset | typeof defaultChoice)[];
	/** Only tools that change nothing. */
	read_only: boolean;
	tools: { deny: readonly string[] };
}

/** What is wrong with the names of tools in `mcp.tools.deny`, whatever stands there. */
export function denyFaults(
	values: TomlValues,
	tools: readonly { name: string; aliases?: readonly string[] | undefined }[],
): Fault[] {
	const names = tools.map(({ name }) => name);
	const { deny } = Object(Object(values.mcp).tools) as { deny?: unknown };
	if (!Array.isArray(deny)) return [];
	return deny.flatMap((name: unknown) => {
		// The schema says so.
		if (typeof name !== "string" || names.includes(name)) return [];
		const meant = tools.find(({ aliases }) => aliases?.includes(name));
		const next = meant
			? `; it is another name of ${meant.name}`
			: didYouMean(name, names);
		const message = `there is no tool ${shown(name)}${next}`;
		return [{ path: ["mcp", "tools", "deny"], message }];
	});
}

/** The tools that are chosen, in their order. */
export function chooseTools(
	tools: readonly BotTool[],
	{ toolsets, read_only, tools: { deny } }: ToolChoice,
): BotTool[] {
	return tools.filter(
		(tool) =>
			(toolsets === "all" ||
				toolsets.includes(tool.toolset) ||
				(toolsets.includes(defaultChoice) && isDefault(tool))) &&
			(!read_only || readsOnly(tool)) &&
			!deny.includes(tool.name),
	);
}

/** Whether it is offered unless the operator says otherwise. */
export function isDefault({ toolset, extra }: BotTool): boolean {
	return defaultToolsets.includes(toolset) && !extra;
}

function readsOnly({ listing: { annotations } }: BotTool): boolean {
	return isObject(annotations) && annotations.readOnlyHint === true;
}
