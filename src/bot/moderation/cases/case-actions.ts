// The commands about cases: warn, note, case, cases, edit-case, delete-case. Each calls a tool.

import { joinLines, maxReasonLength, truncate } from "../../../discord/text.ts";
import { languageOf, render, said, sayIn } from "../../../texts/texts.ts";
import type { Action, ActionOption, Suggestion, SuggestQuery } from "../../commands/action.ts";
import { caseActions } from "../../tool/case-record.ts";
import { saidReason } from "./case-text.ts";
import type { Cases } from "./cases.ts";

const people: ActionOption = { name: "user", kind: "user", argument: "user_ids", required: true, several: true };

const number: ActionOption = { name: "case", kind: "case", argument: "number", required: true, min: 1 };

const reason: ActionOption = {
	name: "reason",
	kind: "reason",
	argument: "reason",
	required: true,
	max: maxReasonLength,
};

export const caseCommands: readonly Action[] = [
	{
		name: "warn",
		tool: "warn_member",
		options: [people, reason, { name: "tell", kind: "flag", argument: "tell" }],
		may: "warn",
		chat: ["user", "reason"],
		menus: [
			{ type: "user", name: "Warn", args: ({ userId }) => ({ user_ids: [userId] }), asks: ["reason"] },
			{
				type: "message",
				name: "Warn",
				args: ({ userId, messageId }) => ({
					user_ids: [userId],
					...(messageId !== undefined && { message_ids: [messageId] }),
				}),
				asks: ["reason"],
			},
		],
	},
	{
		name: "note",
		tool: "note_member",
		options: [people, { name: "note", kind: "text", argument: "note", required: true, max: maxReasonLength }],
		may: "warn",
	},
	{ name: "case", tool: "list_cases", isPrivate: true, options: [number], may: "cases" },
	{
		name: "cases",
		tool: "list_cases",
		isPrivate: true,
		options: [
			{ name: "user", kind: "user", argument: "user_ids" },
			{ name: "moderator", kind: "user", argument: "moderator_ids" },
			{ name: "action", kind: "choice", argument: "action", choices: caseActions.slice(0, 25) },
			{ name: "before", kind: "case", argument: "before", min: 1 },
		],
		pages: "before",
		may: "cases",
		chat: ["user"],
	},
	{ name: "edit-case", tool: "edit_case", options: [number, reason], may: "cases" },
	{
		name: "delete-case",
		tool: "edit_case",
		options: [number, { name: "restore", kind: "flag", argument: "deleted", convert: (value) => value !== true }],
		fixed: { deleted: true },
		may: "cases",
		chat: ["case"],
	},
];

const automatic = /^(?:Undo of |Report #\d)/;

const maxSuggestions = 25;
const maxLength = 100;

/** Recent reasons of this moderator and of the guild, or numbers of the latest cases. `nameOf`: of people who are known. */
export async function suggestCases(
	cases: Pick<Cases, "recentReasons" | "list" | "find">,
	{ kind, guildId, userId, text, locale }: SuggestQuery,
	nameOf: (userId: string) => string | undefined,
): Promise<Suggestion[]> {
	const typed = text.trim().toLowerCase();
	if (kind === "reason") {
		const reasons = await cases.recentReasons(guildId, userId);
		return (
			reasons
				.filter((reason) => !automatic.test(reason))
				.filter((reason) => reason.toLowerCase().includes(typed))
				// Discord refuses longer values.
				.filter((reason) => [...reason].length <= maxLength)
				.map((reason) => ({ name: truncate(joinLines(reason), maxLength), value: reason }))
		);
	}
	const exact = /^\d{1,9}$/.test(typed) ? await cases.find(guildId, Number(typed)) : undefined;
	const latest = await cases.list(guildId, {}, { limit: maxSuggestions });
	const all = [
		...(exact ? [exact] : []),
		...latest.filter(({ number }) => number !== exact?.number && String(number).startsWith(typed)),
	];
	const say = sayIn(locale);
	return all.slice(0, maxSuggestions).map(({ number, action, userId, ...one }) => {
		const reason = saidReason(one);
		const person = userId && nameOf(userId);
		const shown = { number: String(number), action: said(`case.action.${action}`) };
		const title = person ? say("answer.case_of", { ...shown, person }) : say("answer.case", shown);
		const name = reason ? `${title}, ${render(reason, languageOf(locale))}` : title;
		return { name: truncate(joinLines(name), maxLength), value: String(number) };
	});
}
