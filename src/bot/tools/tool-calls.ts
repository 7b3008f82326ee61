// The bot's own log of tool calls.

import { PermissionFlagsBits } from "discord.js";
import * as v from "valibot";
import { time } from "../../discord/describe.ts";
import { personHas } from "../../discord/permissions.ts";
import { oneField } from "../../discord/text.ts";
import { isHidden } from "../../discord/visible-channels.ts";
import { readAnyTime } from "../../lib/times.ts";
import { published } from "../../mcp/json-schema.ts";
import type { ToolCallFilter, ToolCallRow } from "../store/tables/tool-calls.ts";
import { expected, limit, timeExamples, timeStart } from "../tool/arguments/arguments.ts";
import type { ToolContext } from "../tool/context.ts";
import { readTool } from "../tool/define.ts";

export const listRecentToolCalls = readTool({
	name: "list_recent_tool_calls",
	toolset: "audit",
	title: "List recent tool calls",
	description:
		"List the latest calls of this bot's tools, newest first: outcome, duration, client, arguments (of texts only names and reasons).",
	input: {
		limit: limit(100, 20),
		tool: v.optional(v.pipe(v.string(), v.description("Only calls of this tool."))),
		outcome: v.optional(
			v.pipe(v.picklist(["done", "failed", "refused", "error"]), v.description("Only calls with this outcome.")),
		),
		before: v.optional(
			v.pipe(
				v.string(),
				v.check(
					(input) => readCursor(input) !== undefined,
					expected(`${timeExamples.replace(/, or an id$/, "")}, or next_before`),
				),
				published({ pattern: `^(${timeStart.replace("\\d{17,20}$|", "")})` }),
				v.description("Only before this: 6h (ago), date, time or `next_before`."),
			),
		),
	},
	async run({ limit, tool, outcome, before }, context) {
		const found = await readCalls(context, {
			limit: limit + 1,
			tool,
			outcomes: outcome && [outcome],
			before: before === undefined ? undefined : readCursor(before),
		});
		const calls = found.slice(0, limit);
		const last = calls.at(-1);
		if (!last) return "No recorded tool call matches.";
		const undone = await context.guildDocuments.undone(calls.map(({ id }) => id));
		const personName = (id: string) => {
			const user = context.discord.users.cache.get(id);
			return user ? `@${user.username} (${id})` : id;
		};
		const lines = calls.map((call) =>
			[
				time(new Date(call.at)),
				call.tool,
				call.outcome,
				`${call.milliseconds} ms`,
				`guild: ${call.guild_id ?? "none"}`,
				`client: ${call.client || "unknown"}`,
				`request: ${call.request_id ?? "none"}`,
				...(call.person === null ? [] : [`for: ${personName(call.person)}`]),
				...(call.key === null ? [] : [`key: ${call.key}`]),
				...(call.effect === "destructive" ? ["destructive"] : []),
				...(undone.has(call.id) ? ["undone"] : []),
				call.arguments,
			]
				.map(oneField)
				.join(" | "),
		);
		return [
			`${calls.length} call(s), newest first:`,
			...lines,
			...(found.length > limit ? [`next_before=${new Date(last.at).toISOString()},${last.id}`] : []),
		];
	},
});

/** For one result, if some of them must not be shown to the caller. */
const maxRead = 5_000;

async function readCalls({ audit, discord, mayTouch, principal }: ToolContext, filter: ToolCallFilter) {
	if (!principal) return audit.recent(filter);
	const isShown = ({ guild_id, arguments: args }: ToolCallRow) => {
		if (guild_id === null) return true;
		const guild = discord.guilds.cache.get(guild_id);
		const { ViewAuditLog } = PermissionFlagsBits;
		if (!guild || !mayTouch(guild_id)) return false;
		if (!personHas(guild, undefined, ViewAuditLog)) return false;
		const ids = args.match(/\d{17,20}/g) ?? [];
		return !ids.some((id) => isHidden(guild, id));
	};
	const found: ToolCallRow[] = [];
	let { before } = filter;
	for (let read = 0; read < maxRead && found.length < filter.limit; ) {
		const page = await audit.recent({ ...filter, before, limit: pageSize });
		found.push(...page.filter(isShown));
		read += page.length;
		const last = page.at(-1);
		if (!last || page.length < pageSize) break;
		before = { at: new Date(last.at), id: last.id };
	}
	return found.slice(0, filter.limit);
}

const pageSize = 250;

function readCursor(text: string): { at: Date; id: string | undefined } | undefined {
	const [, time = "", id] = /^([^,]*)(?:,([\w-]{1,64}))?$/.exec(text) ?? [];
	const atMs = readAnyTime(time, -1);
	return atMs === undefined ? undefined : { at: new Date(atMs), id };
}
