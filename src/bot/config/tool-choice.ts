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

export const defaultChoice = "default";

const choices = [defaultChoice, ...toolsetNames] as const;

/** "all", or a list of toolsets. */
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

/** "all", or toolsets and tools. Does not check whether the names exist. */
export const listChoice = v.union([v.literal("all"), v.array(v.pipe(v.string(), v.maxLength(64)))], ({ input }) =>
	typeof input === "string"
		? `expected a list, received ${formatValue(input)}; put it in brackets: [${formatValue(input)}]`
		: 'expected "all" or a list of toolsets and tools',
);

export interface ToolChoice {
	/** Default: all. */
	toolsets?: "all" | readonly (Toolset | typeof defaultChoice)[] | undefined;
	/** For `tools/list`. Default: `toolsets` or, without them, the default tools. */
	list?: "all" | readonly string[] | undefined;
	/** Only tools that change nothing. */
	read_only: boolean;
	tools: { deny: readonly string[] };
}

/** As issues. `values`: not yet validated. */
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
			: [{ path, message: `there is no ${what} ${formatValue(name)}${didYouMean(name, names)}` }],
	);
}
