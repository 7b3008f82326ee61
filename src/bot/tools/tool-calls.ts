// The bot's own log of tool calls.

import * as v from "valibot";
import { ToolError } from "../../mcp/tool.ts";
import { time } from "../discord/describe.ts";
import { oneField } from "../discord/text.ts";
import { limit } from "../tool/arguments.ts";
import { readTool } from "../tool/define.ts";

export const listRecentToolCalls = readTool({
	name: "list_recent_tool_calls",
	toolset: "audit",
	title: "List recent tool calls",
	description:
		"List the latest calls of this bot's tools, newest first: outcome, duration, client, arguments with texts replaced by their length.",
	input: v.strictObject({
		limit: limit(100, 20),
		tool: v.optional(
			v.pipe(v.string(), v.description("Only calls of this tool.")),
		),
		outcome: v.optional(
			v.pipe(
				v.picklist(["done", "failed", "refused", "error"]),
				v.description("Only calls with this outcome."),
			),
		),
		before: v.optional(
			v.pipe(
				v.string(),
				v.regex(
					/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z(,[\w-]{1,64})?$/,
					"expected a time such as 2026-01-31T12:00:00.000Z, or as in next_before",
				),
				v.description(
					"Only calls before this time (ISO 8601, UTC) or `next_before`.",
				),
			),
		),
	}),
	async run({ limit, tool, outcome, before }, { audit }) {
		const found = await audit.recent({
			limit: limit + 1,
			tool,
			outcome,
			before: before === undefined ? undefined : readCursor(before),
		});
		const calls = found.slice(0, limit);
		const last = calls.at(-1);
		if (!last) return "No recorded tool call matches.";
		const lines = calls.map((call) =>
			[
				time(new Date(call.at)),
				call.tool,
				call.outcome,
				`${call.milliseconds} ms`,
				`guild: ${call.guild_id ?? "none"}`,
				`client: ${call.client || "unknown"}`,
				`request: ${call.request_id ?? "none"}`,
				call.arguments,
			]
				.map(oneField)
				.join(" | "),
		);
		return [
			`${calls.length} call(s), newest first:`,
			...lines,
			...(found.length > limit
				? [`next_before=${new Date(last.at).toISOString()},${last.id}`]
				: []),
		];
	},
});

/**
 * Parses the cursor of a page of tool calls: a time, and optionally the id of the last tool call of the previous page.
 */
function readCursor(text: string): { at: Date; id: string | undefined } {
	const [time = "", id] = text.split(",");
	const at = new Date(time);
	// Date would read 30 February as a day in March.
	if (
		Number.isNaN(at.getTime()) ||
		!at.toISOString().startsWith(time.slice(0, 19))
	)
		throw new ToolError(`Invalid time ${time}: there is no such date.`);
	return { at, id };
}
