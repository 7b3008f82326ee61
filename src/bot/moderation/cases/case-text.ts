// Texts that describe moderation cases: names of actions, outcomes, and direct messages.

import { time } from "../../../discord/describe.ts";
import type { CaseRow } from "../../store/tables/cases.ts";
import type { CaseAction } from "../../tool/case-record.ts";
import type { Case } from "./case.ts";

/** Titles of the actions of cases, for lists and the moderation log. */
export const actionTitles: Readonly<Record<CaseAction, string>> = {
	ban: "Ban",
	temp_ban: "Temporary ban",
	unban: "Unban",
	kick: "Kick",
	timeout: "Timeout",
	remove_timeout: "Timeout removed",
	warn: "Warning",
	note: "Note",
	purge: "Purge",
	lock: "Channel locked",
	unlock: "Channel unlocked",
	slow_mode: "Slow mode",
	add_role: "Role added",
	remove_role: "Role removed",
	nickname: "Nickname changed",
	move: "Moved to another voice channel",
	disconnect: "Disconnected from voice",
	raid_on: "Raid mode on",
	raid_off: "Raid mode off",
	spam: "Spam",
	prune: "Prune",
};

/** Start of the direct message that tells a person about an action. The name of the guild follows. */
export const toldSentences: Partial<Readonly<Record<CaseAction, string>>> = {
	ban: "You are banned from",
	temp_ban: "You are banned for a time from",
	kick: "You are kicked from",
	timeout: "You are timed out in",
	remove_timeout: "Your timeout was removed in",
	warn: "You were warned in",
	spam: "You are timed out in",
};

/** Describes the outcome of a case in a few words; undefined if the action was done. */
export function describeState({ state, why }: Pick<Case, "state" | "why">): string | undefined {
	if (state === "done") return undefined;
	if (state === "not done") return `not done${why ? `: ${why}` : ""}`;
	return state === "asked" ? "not confirmed yet" : "outcome unknown";
}

/** Describes whether the person was told by direct message; undefined if the bot was not asked to tell them. */
export function describeTold(told: Case["told"]): string | undefined {
	if (told === undefined) return undefined;
	if (told === "yes") return "told by direct message";
	return told === "failed"
		? "the direct message was not delivered"
		: "unknown whether the direct message was delivered";
}

/** For the result of the tool call that made the rule apply. */
export function describeEscalation({
	number,
	action,
	ends_at,
	reason,
}: Pick<CaseRow, "number" | "action" | "ends_at" | "reason">): string {
	const end = ends_at === null ? "" : ` until ${time(ends_at)}`;
	return `Case ${number} follows: ${actionTitles[action as CaseAction]}${end}. ${reason}.`;
}

/** Returns the numbers of a call's cases as text: "Case 7." or "Cases 7 to 9." They are consecutive. */
export function describeNumbers(numbers: readonly number[]): string {
	const [first, last] = [numbers[0], numbers.at(-1)];
	return numbers.length === 1 ? `Case ${first}.` : `Cases ${first} to ${last}.`;
}
