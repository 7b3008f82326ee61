// What is said about cases, whose automatic reasons are stored in English.

import { expect, test } from "bun:test";
import { toCase, toRow } from "../../../../src/bot/moderation/cases/case.ts";
import {
	causeOf,
	describeState,
	saidAllDetails,
	saidReason,
	saidWhy,
} from "../../../../src/bot/moderation/cases/case-text.ts";
import { render, said, type Text } from "../../../../src/texts/texts.ts";

test.each([
	["done", undefined, undefined],
	["not done", undefined, "not done"],
	["not done", "Too late.", "not done: Too late."],
	["asked", undefined, "not confirmed yet"],
	["unknown", "The bot was stopped.", "outcome unknown"],
] as const)("the outcome %s, %p is shown as %p", (state, why, text) => {
	expect(describeState({ state, why })).toBe(text);
});

test.each<[readonly Text[], string[]]>([
	[[said("case.detail.slowmode", { seconds: "0 → 30" })], ["Slow-Modus: 0 → 30 s", "2 Nachrichten"]],
	[[said("case.detail.deleted", { count: 1_200, all: 2_000 })], ["1.200 von 2.000 Nachrichten gelöscht"]],
	[[said("count.messages", { count: 2 })], ["2 Nachrichten"]],
])("of the messages of a case with the detail %j, the number is said once", (detail, parts) => {
	expect(saidAllDetails({ detail, messageIds: ["1", "2"] }).map((part) => render(part, "de"))).toEqual(parts);
});

test.each([
	["rule:7", 'Rule "3 warnings in 30d: timeout 1d" (case 7)', "Automatisch nach 3 Verwarnungen (Fall 7)"],
	["rule:7", 'Rule "1 kick in 1d: ban" (case 7)', "Automatisch nach 1 Kick (Fall 7)"],
	["rule:7", "changed by a moderator", "changed by a moderator"],
	[undefined, 'Rule "mine" (case 7)', 'Rule "mine" (case 7)'],
] as const)("the reason of a case from %p: %p is said as %p", (source, reason, text) => {
	expect(render(saidReason({ source, reason }) ?? "", "de")).toBe(text);
});

test.each([
	[causeOf(said("case.why.late")), "Der Bot kam nicht rechtzeitig dazu."],
	[
		causeOf(said("case.why.rank", { number: "1234" })),
		"Das Mitglied hat keinen niedrigeren Rang als der Moderator von Fall 1234.",
	],
	[
		causeOf(said("log.lacks", { permissions: "BAN_MEMBERS, KICK_MEMBERS" })),
		"Dem Bot fehlt „Mitglieder bannen, Mitglieder kicken“.",
	],
	[{ why: "Written by nobody.", whySaid: undefined }, "Written by nobody."],
])("the cause %j is said as %p, also when it is stored", (cause, text) => {
	const row = toRow({ action: "kick", moderatorId: "1", state: "not done", ...cause }, 0);
	expect(render(saidWhy(toCase({ ...row, guild_id: "1", number: 1 })) ?? "", "de")).toBe(text);
});
