// Discord's audit log of a guild. `target_id` is in Discord's OpenAPI document (GET /guilds/{guild_id}/audit-logs), not yet
// on its page: https://github.com/discord/discord-api-spec

import {
	makeURLSearchParams,
	type RESTGetAPIAuditLogResult,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { didYouMean } from "../../lib/config.ts";
import { oneLine } from "../discord/text.ts";
import { auditActions, entryLine, namesIn } from "../guild/audit-log-lines.ts";
import { guild_id, limit, moment, snowflake } from "../tool/arguments.ts";
import { readTool } from "../tool/define.ts";

const actionType = v.pipe(
	v.string(),
	v.check(
		(name) => auditActions.has(name),
		({ input }) =>
			`unknown action ${oneLine(JSON.stringify(input))}${didYouMean(input, [...auditActions.keys()])}`,
	),
	v.description("Discord's name: MEMBER_BAN_ADD."),
);

export const getAuditLog = readTool({
	name: "get_audit_log",
	toolset: "audit",
	title: "Get the audit log",
	description:
		"Read a guild's audit log of the last 45 days, newest first: action, user, target, changes (old → new), reason.",
	permissions: ["ViewAuditLog"],
	input: v.strictObject({
		guild_id,
		user_id: v.optional(snowflake("user who acted")),
		target_id: v.optional(snowflake("target")),
		action_type: v.optional(actionType),
		before: v.optional(moment("Only entries before this")),
		limit: limit(100, 50),
	}),
	async run(args, { discord, guild }) {
		const { user_id, target_id, action_type, before, limit } = args;
		const query = makeURLSearchParams({
			limit,
			user_id,
			target_id,
			action_type: auditActions.get(action_type ?? ""),
			before: before?.first,
		});
		const log = (await discord.rest.get(Routes.guildAuditLog(guild.id), {
			query,
		})) as RESTGetAPIAuditLogResult;
		const entries = log.audit_log_entries;
		const last = entries.at(-1);
		if (!last)
			return "No audit log entry matches; Discord keeps entries for 45 days.";
		const nameOf = namesIn(log, guild);
		return [
			`${entries.length} audit log entries, newest first, times in UTC:`,
			...entries.map((entry) => entryLine(entry, nameOf)),
			...(entries.length === limit ? [`next_before=${last.id}`] : []),
		];
	},
});
