// Which call of the bot's tools made an entry of Discord's audit log, all by the bot's account: by time, target and the names
// in the reason.

import { type APIAuditLogEntry, AuditLogEvent, type Guild, SnowflakeUtil } from "discord.js";
import { jobReasonStart } from "../../../discord/text.ts";
import type { ToolCallRow } from "../../store/tables/tool-calls.ts";

/** Clocks differ, and requests wait for rate limits. */
const slackMs = 15_000;
const dayMs = 86_400_000;

/** Of an entry of the bot's account. Undoing what undid something would do it again. */
export const undoReason = new RegExp(`^${jobReasonStart}\\w+ [\\d.]+: undo_actions`);

/** `calls`: all that anyone made. A reason has names, which can change and which others can have: they decide last. */
export function callOf(
	{ id, action_type, target_id, reason = "" }: APIAuditLogEntry,
	calls: readonly ToolCallRow[],
	guild: Guild,
): ToolCallRow | undefined {
	const at = SnowflakeUtil.timestampFrom(id);
	// A job goes on after the call that started it.
	const isLater = reason.startsWith(jobReasonStart);
	const isTempBan = action_type === AuditLogEvent.MemberBanAdd && reason.startsWith("By ");
	const isCalled = /\(.*by .+\)$/.test(reason);
	const possible = calls.filter(
		(call) =>
			// Messages are in no audit log.
			call.message_id === null &&
			Number(call.at) - slackMs <= at &&
			(isLater || at <= Number(call.at) + call.milliseconds + slackMs) &&
			(isCalled ? !isLater || call.tool === "apply_guild" : isTempBan && call.tool === "temp_ban"),
	);
	const gap = (call: ToolCallRow) =>
		Math.max(Number(call.at) - at, at - Number(call.at) - call.milliseconds, 0) +
		(target_id && call.arguments.includes(target_id) ? 0 : 2 * dayMs) +
		(isCaller(reason, call, guild) ? 0 : dayMs);
	return possible.toSorted((a, b) => gap(a) - gap(b))[0];
}

/** As `withCaller` and temporary bans write it. */
function isCaller(reason: string, { key, person }: ToolCallRow, guild: Guild): boolean {
	const user = guild.client.users.cache.get(person ?? "");
	const named = (name?: string | null) => name && reason.includes(`(for ${name}, by `);
	const banner = /^By \S+ \(ID: (\d+)\)/.exec(reason)?.[1];
	if (person !== null) return person === banner || [person, user?.username, user?.displayName].some(named);
	const [kind, name] = key?.split(":") ?? [];
	const ends = [`by ${name}`, `, key ${name}`].map((end) => [`${end})`, `${end}, approved by `] as const);
	return kind === "key" && ends.some(([end, more]) => reason.endsWith(end) || reason.includes(more));
}
