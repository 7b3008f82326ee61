// Names of toolsets, and validation of `mcp.toolsets` and `mcp.tools.deny`.

import * as v from "valibot";
import { type ConfigIssue, didYouMean, formatValue } from "../../lib/config.ts";
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
	"guild_document",
	"webhooks",
	"game",
	"audit",
	"diagnostics",
] as const;

export type Toolset = (typeof toolsetNames)[number];

/** Entry of the settings `mcp.toolsets` and `mcp.list` that selects the default MCP tools. */
export const defaultChoice = "default";

/** Valid entries of the setting `mcp.toolsets`: "default" and the names of toolsets (groups of MCP tools). */
const choices = [defaultChoice, ...toolsetNames] as const;

/** Schema of the setting `mcp.toolsets`: "all", or a list of toolsets (groups of MCP tools). */
export const toolsetChoice = v.union([v.literal("all"), v.array(v.picklist(choices))], ({ input }) =>
	toolsetIssue(input),
);

function toolsetIssue(input: unknown): string {
	if (typeof input === "string" && isChoice(input))
		return `expected a list, received ${formatValue(input)}; put it in brackets: [${formatValue(input)}]`;
	const entries: unknown[] = Array.isArray(input) ? input : [input];
	if (entries.includes("all")) return 'expected "all" alone, without brackets: toolsets = "all"';
	const wrong = entries.find((name) => !isChoice(name));
	const meant = typeof wrong === "string" ? didYouMean(wrong, choices) : "";
	const next = meant || `; expected "all" or a list of ${choices.join(", ")}`;
	return `there is no toolset ${formatValue(wrong)}${next}`;
}

function isChoice(name: unknown): boolean {
	return choices.some((choice) => choice === name);
}

/**
 * Schema of the setting `mcp.list`: "all", or a list of names of toolsets and tools. It does not check whether these
 * names exist.
 */
export const listChoice = v.union([v.literal("all"), v.array(v.pipe(v.string(), v.maxLength(64)))], ({ input }) =>
	typeof input === "string"
		? `expected a list, received ${formatValue(input)}; put it in brackets: [${formatValue(input)}]`
		: 'expected "all" or a list of toolsets and tools',
);

/** Which MCP tools a bot allows and lists: the section `[mcp]` of config.toml. */
export interface ToolChoice {
	/** Toolsets (groups of MCP tools) whose tools may be called. Default: all toolsets. */
	toolsets?: "all" | readonly (Toolset | typeof defaultChoice)[] | undefined;
	/**
	 * The toolsets and tools that the bot lists in `tools/list`. Default: the toolsets whose tools may be called or, if
	 * none are set, the default tools.
	 */
	list?: "all" | readonly string[] | undefined;
	/** Whether only MCP tools that change nothing may be called. */
	read_only: boolean;
	/** `deny` lists the MCP tools that must not be called. */
	tools: { deny: readonly string[] };
}

/** Returns the unknown names in `mcp.tools.deny` and `mcp.list` as issues. `values` is config.toml, not yet validated. */
export function toolNameIssues(values: TomlValues, tools: readonly { name: string }[]): ConfigIssue[] {
	const names = tools.map(({ name }) => name);
	const { list, tools: { deny } = {} } = Object(values.mcp);
	return [
		...nameIssues(deny, ["mcp", "tools", "deny"], "tool", names),
		...nameIssues(list, ["mcp", "list"], "toolset or tool", [...choices, ...names]),
	];
}

function nameIssues(list: unknown, path: string[], what: string, names: readonly string[]): ConfigIssue[] {
	if (!Array.isArray(list)) return [];
	return list.flatMap((name: unknown) =>
		typeof name !== "string" || names.includes(name)
			? []
			: [
					{
						path,
						message: `there is no ${what} ${formatValue(name)}${didYouMean(name, names)}`,
					},
				],
	);
}
