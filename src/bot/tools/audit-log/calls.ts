// Which entries of Discord's audit log, all by the bot's account, belong to calls of one key, or in one person's name: those
// of about the time of such a call whose reason ends with who made it.

import { type APIAuditLogEntry, type Guild, SnowflakeUtil } from "discord.js";
import { jobReasonStart } from "../../../discord/text.ts";
import type { ToolCallRow } from "../../store/tables/tool-calls.ts";

/** Clocks differ, and requests wait for rate limits. */
const slackMs = 15_000;

/** Of the bot's account. Undoing what undid something would do it again. */
export const isOfUndo = ({ reason = "" }: APIAuditLogEntry) => undoReason.test(reason);
const undoReason = new RegExp(`^${jobReasonStart}\\w+ [\\d.]+: undo_actions`);

export function callOf(
	{ id, target_id, reason = "" }: APIAuditLogEntry,
	calls: readonly ToolCallRow[],
	guild: Guild,
): ToolCallRow | undefined {
	const at = SnowflakeUtil.timestampFrom(id);
	// A job goes on after the call that started it.
	const isLater = reason.startsWith(jobReasonStart);
	const possible = calls.filter(
		(call) =>
			// Messages are in no audit log.
			call.message_id === null &&
			Number(call.at) - slackMs <= at &&
			(isLater || at <= Number(call.at) + call.milliseconds + slackMs) &&
			isCaller(reason, call, guild),
	);
	const gap = (call: ToolCallRow) =>
		Math.max(Number(call.at) - at, at - Number(call.at) - call.milliseconds, 0) +
		(target_id && call.arguments.includes(target_id) ? 0 : slackMs);
	return possible.toSorted((a, b) => gap(a) - gap(b))[0];
}

/** As `withCaller` writes it. */
function isCaller(reason: string, { key, person }: ToolCallRow, guild: Guild): boolean {
	const user = guild.client.users.cache.get(person ?? "");
	if (person !== null)
		return [person, user?.username, user?.displayName].some((name) => name && reason.includes(`(for ${name}, by `));
	const [kind, name] = key?.split(":") ?? [];
	const ends = [`by ${name}`, `, key ${name}`].map((end) => [`${end})`, `${end}, approved by `] as const);
	return kind === "key" && ends.some(([end, more]) => reason.endsWith(end) || reason.includes(more));
}
