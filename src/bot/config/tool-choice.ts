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
	"webhooks",
	"game",
	"audit",
	"diagnostics",
] as const;

export type Toolset = (typeof toolsetNames)[number];

/** Entry of the setting `mcp.toolsets` that selects the default toolsets (groups of MCP tools). */
export const defaultChoice = "default";

/** Valid entries of the setting `mcp.toolsets`: "default" and the names of toolsets (groups of MCP tools). */
const choices = [defaultChoice, ...toolsetNames] as const;

/** Schema of the setting `mcp.toolsets`: "all", or a list of toolsets (groups of MCP tools). */
export const toolsetChoice = v.union(
	[v.literal("all"), v.array(v.picklist(choices))],
	({ input }) => {
		if (typeof input === "string" && isChoice(input))
			return `expected a list, received ${formatValue(input)}; put it in brackets: [${formatValue(input)}]`;
		const entries: unknown[] = Array.isArray(input) ? input : [input];
		if (entries.includes("all"))
			return 'expected "all" alone, without brackets: toolsets = "all"';
		const wrong = entries.find((name) => !isChoice(name));
		const meant = typeof wrong === "string" ? didYouMean(wrong, choices) : "";
		const next = meant || `; expected "all" or a list of ${choices.join(", ")}`;
		return `there is no toolset ${formatValue(wrong)}${next}`;
	},
);

function isChoice(name: unknown): boolean {
	return choices.some((choice) => choice === name);
}

export interface ToolChoice {
	toolsets: "all" | readonly (Toolset | typeof defaultChoice)[];
	/** Whether the bot offers only MCP tools that change nothing. */
	read_only: boolean;
	tools: { deny: readonly string[] };
}

export interface NamedTool {
	name: string;
	aliases?: readonly string[] | undefined;
}

/**
 * Returns errors for entries of `mcp.tools.deny` that are not names of MCP tools. `values` is the parsed config.toml,
 * not yet validated.
 */
export function denyIssues(
	values: TomlValues,
	tools: readonly NamedTool[],
): ConfigIssue[] {
	const names = tools.map(({ name }) => name);
	const { deny } = Object(Object(values.mcp).tools) as { deny?: unknown };
	if (!Array.isArray(deny)) return [];
	return deny.flatMap((name: unknown) => {
		// Reported by the schema.
		if (typeof name !== "string" || names.includes(name)) return [];
		const meant = tools.find(({ aliases }) => aliases?.includes(name));
		const next = meant
			? `; it is another name of ${meant.name}`
			: didYouMean(name, names);
		const message = `there is no tool ${formatValue(name)}${next}`;
		return [{ path: ["mcp", "tools", "deny"], message }];
	});
}
