// Discord's audit log of a guild. `target_id` is in Discord's OpenAPI document (GET /guilds/{guild_id}/audit-logs), not yet
// on its page: https://github.com/discord/discord-api-spec

import {
	type APIAuditLogEntry,
	type AuditLogEvent,
	type Guild,
	makeURLSearchParams,
	type RESTGetAPIAuditLogResult,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { nowIs } from "../../discord/describe.ts";
import { officialName } from "../../discord/permissions.ts";
import { oneLine, resultLines } from "../../discord/text.ts";
import { compareIds } from "../../guild-document/names/ids.ts";
import { didYouMean } from "../../lib/config.ts";
import { publishedAs } from "../../mcp/json-schema.ts";
import { guild_id, limit, moment, oneOrMore, snowflake } from "../tool/arguments/arguments.ts";
import { readTool } from "../tool/define.ts";
import { auditActions, auditLogLines, namesIn, visibleEntries } from "./audit-log/lines.ts";

const maxActions = 10;
const maxIds = 10;

function actionName(name: string): string {
	const upper = name.trim().toUpperCase();
	return auditActions.has(upper) ? upper : officialName(name.trim());
}

const actionTypes = v.pipe(
	v.union([v.string(), v.array(v.string())], "expected a list of names such as MEMBER_BAN_ADD"),
	v.transform((names) => [...new Set([names].flat())]),
	v.minLength(1, "expected at least 1"),
	v.maxLength(maxActions, `expected at most ${maxActions}`),
	v.checkItems(
		(name) => auditActions.has(actionName(name)),
		({ input }) =>
			`unknown action ${oneLine(JSON.stringify(input))}${didYouMean(actionName(input), [...auditActions.keys()])}`,
	),
	v.transform((names) => names.map(actionName)),
	publishedAs({
		type: "array",
		items: { type: "string" },
		minItems: 1,
		maxItems: maxActions,
		description: "Discord's names: MEMBER_BAN_ADD.",
	}),
);

const pageSize = 100;

export const getAuditLog = readTool({
	name: "get_audit_log",
	toolset: "audit",
	offered: "listed",
	title: "Get the audit log",
	description:
		"Read the audit log of the last 45 days: who did what, old and new values, reasons. undo_actions undoes what an account did.",
	permissions: ["ViewAuditLog"],
	input: {
		guild_id,
		user_ids: v.optional(oneOrMore(snowflake("user"), maxIds, "Users who acted.")),
		target_ids: v.optional(oneOrMore(snowflake("target"), maxIds, "Targets.")),
		action_type: v.optional(actionTypes),
		after: v.optional(moment("After", true)),
		before: v.optional(v.pipe(moment("Before"), v.description("Before."))),
		limit: limit(500, 100),
	},
	async run(args, { guild, guildDocuments }) {
		const { limit, action_type, user_ids = [undefined], target_ids = [undefined] } = args;
		const pages: RESTGetAPIAuditLogResult[] = [];
		for (const name of action_type ?? [undefined])
			for (const user_id of user_ids)
				for (const target_id of target_ids)
					pages.push(...(await readPages(guild, { ...args, user_id, target_id }, auditActions.get(name ?? ""))));
		const found = pages.flatMap((page) => page.audit_log_entries).toSorted((a, b) => compareIds(b.id, a.id));
		const entries = found.slice(0, limit);
		const last = entries.at(-1);
		if (!last) return `No audit log entry matches; Discord keeps entries for 45 days (${nowIs()}).`;
		const undone = await guildDocuments.undone(entries.map(({ id }) => id));
		const { actors, lines } = auditLogLines(entries, namesIn(pages, guild), undone);
		return resultLines(
			`${entries.length} audit log entries in ${lines.length} line(s), newest first, times in UTC, ${nowIs()}. By: ${actors}`,
			lines,
			found.length >= limit && `next_before=${last.id}`,
		);
	},
});

interface Filters {
	user_id?: string | undefined;
	target_id?: string | undefined;
	after?: { lastBefore: string } | undefined;
	before?: { first: string } | undefined;
	limit: number;
}

/** The newest entries first, without those that the person in whose name the call acts may not see. */
export async function readPages(
	guild: Guild,
	{ user_id, target_id, after, before, limit }: Filters,
	action_type?: AuditLogEvent,
): Promise<RESTGetAPIAuditLogResult[]> {
	const pages: RESTGetAPIAuditLogResult[] = [];
	const isInRange = ({ id }: APIAuditLogEntry) => after === undefined || compareIds(id, after.lastBefore) > 0;
	let next = before?.first;
	for (let left = limit; left > 0; ) {
		const size = Math.min(left, pageSize);
		const query = makeURLSearchParams({ limit: size, user_id, target_id, action_type, before: next });
		const page = (await guild.client.rest.get(Routes.guildAuditLog(guild.id), { query })) as RESTGetAPIAuditLogResult;
		const all = page.audit_log_entries.filter(isInRange);
		const entries = await visibleEntries(all, page, guild);
		pages.push({ ...page, audit_log_entries: entries });
		if (all.length < size) break;
		left -= entries.length;
		next = all.at(-1)?.id;
	}
	return pages;
}
