// What one role or member may do in one place, with the reasons, as lines of a tool result.

import { type Guild, GuildMember, type Role } from "discord.js";
import { channelName, memberName, nowIs, roleName } from "../describe.ts";
import { computePermissions, describeCause, holderOf, type Place } from "../effective-permissions.ts";
import { bitsByName } from "../permissions.ts";
import { resultLines } from "../text.ts";
import { appliesTo, checkedIn, kindOf } from "./places.ts";

/** Default of `asked`: all permissions that a role or an overwrite decides. */
export function detailLines(
	guild: Guild,
	subject: GuildMember | Role,
	place: Place,
	asked: readonly string[] | undefined,
): string[] {
	const { channel } = place;
	const holder = holderOf(guild, subject);
	const { bits, causeOf, everything } = computePermissions(holder, place);
	const names = asked && checkedIn(kindOf(channel), asked);
	const decisions = [...bitsByName].flatMap(([name, bit]) => {
		const cause = causeOf(bit);
		const isShown = names ? names.includes(name) : cause && appliesTo(kindOf(channel), name);
		const isAllowed = (bits & bit) !== 0n;
		const why = cause ? describeCause(cause) : "because no role grants it";
		return isShown ? [{ name, isAllowed, reason: `${isAllowed ? "allowed" : "denied"} ${why}` }] : [];
	});
	const allowed = decisions.filter(({ isAllowed }) => isAllowed).length;
	const where = channel ? channelName(channel) : "the guild, without channel permissions";
	const byReason = Map.groupBy(decisions, ({ reason }) => reason);
	return resultLines(
		`${allowed} permission(s) allowed, ${decisions.length - allowed} not, for ${nameOf(subject)} in ${where}${asked ? "" : `; all allowed permissions as bits: ${bits}`}`,
		everything && `everything is allowed ${describeCause(everything)}`,
		asked
			? decisions.map(({ name, reason }) => `${name} | ${reason}`)
			: !everything && [...byReason].map(([reason, all]) => `${reason}: ${all.map(({ name }) => name).join(", ")}`),
		holder.timedOutUntil !== undefined && nowIs(),
		channel?.isThread() &&
			"A thread has the permissions of its channel, with SEND_MESSAGES_IN_THREADS in place of SEND_MESSAGES. A private thread is visible only to its members and with MANAGE_THREADS.",
	);
}

function nameOf(subject: GuildMember | Role): string {
	if (subject instanceof GuildMember) return memberName(subject);
	return `a member with ${roleName(subject)} as the only role`;
}
