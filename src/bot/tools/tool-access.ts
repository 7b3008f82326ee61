// The tools that reach tools which are not in tools/list. `OfferedTools` replaces a call of use_tool or use_reading_tool with
// the call inside it, so that these two never run.

import * as v from "valibot";
import { briefSchema } from "../../mcp/json-schema.ts";
import { privilegedHint, ToolError } from "../../mcp/tool.ts";
import { resultLines } from "../discord/text.ts";
import { guild_id, limit, text } from "../tool/arguments.ts";
import { readTool, tool } from "../tool/define.ts";
import { accessors } from "../tool/offered-tools.ts";
import { searchTools } from "../tool/tool-search.ts";
import { type BotTool, isReadOnly } from "../tool/toolsets.ts";

export const findTools = readTool({
	name: accessors.find,
	toolset: "core",
	title: "Find tools",
	description:
		"Search all tools, also those not listed, by what they do. Gives the best with their arguments.",
	input: v.strictObject({
		query: text(1, 200, "What to do, in a few words."),
		limit: limit(10, 3),
	}),
	run({ query, limit }, { self }) {
		const { best, others } = searchTools(query, self.tools, limit);
		if (best.length === 0)
			throw new ToolError(
				`No tool matches ${JSON.stringify(query)}. Use other words, such as a noun of Discord (channel, role, message, webhook) and what to do with it.`,
			);
		return resultLines(
			`${best.length} tool(s), best first:`,
			best.flatMap((tool) => linesOf(tool, self.listed)),
			others.length > 0 &&
				`Others: ${others.map(({ name }) => name).join(", ")}`,
		);
	},
});

/**
 * Describes a tool and how to call it. Leaves out the parameters of tools in `tools/list`, because clients know them.
 */
function linesOf(tool: BotTool, listed: readonly BotTool[]): string[] {
	const { name, listing } = tool;
	const description = String(listing.description).replace(
		`${privilegedHint} `,
		"",
	);
	if (listed.includes(tool))
		return [`${name} (listed: call it directly): ${description}`];
	const accessor = isReadOnly(tool) ? accessors.read : accessors.use;
	return [
		`${name} (call it with ${accessor}): ${description}`,
		parametersOf(listing.inputSchema),
	];
}

/**
 * Returns a tool's input schema as JSON, without the argument `guild_id`, which is an argument of `use_tool` itself.
 */
function parametersOf({ properties, required }: Record<string, unknown>) {
	const { guild_id: _, ...own } = properties as Record<string, unknown>;
	return JSON.stringify(briefSchema({ properties: own, required }));
}

const input = v.strictObject({
	name: v.pipe(v.string(), v.description("The tool.")),
	arguments: v.optional(
		v.pipe(
			v.record(v.string(), v.unknown()),
			v.description("Its arguments, without instance and guild_id."),
		),
	),
	guild_id,
});

const neverRuns = () => {
	throw new Error("a call inside another must be resolved before it runs");
};

export const useReadingTool = tool({
	name: accessors.read,
	toolset: "core",
	title: "Use a tool that reads",
	description:
		"Call a tool that is not listed and only reads. find_tools shows its arguments.",
	effect: "read",
	input,
	run: neverRuns,
});

export const useTool = tool({
	name: accessors.use,
	toolset: "core",
	title: "Use a tool",
	description:
		"Call any tool that is not listed. find_tools shows its arguments.",
	effect: "destructive",
	input,
	run: neverRuns,
});
