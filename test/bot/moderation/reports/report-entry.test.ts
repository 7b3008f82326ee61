// What the entry of a report says of the people who reported.

import { expect, test } from "bun:test";
import type { EmbedBuilder } from "discord.js";
import { newEntry, type ShownReport, shownReporters } from "../../../../src/bot/moderation/reports/report-entry.ts";

const at = 1_790_000_000_000;
const row: ShownReport["row"] = {
	guild_id: "1",
	number: 3,
	target: "user 2",
	author_id: "2",
	author_kind: "person",
	channel_id: null,
	message_id: null,
	created_at: at,
	state: "open",
	acts: "[]",
	closes_at: null,
	ended_at: null,
	ended_by: null,
	case_number: null,
	entry_channel_id: null,
	entry_id: null,
	post_at: at,
	version: 1,
	shown: 0,
};

/** The text of an entry that `total` people made. */
function textOf(total: number): string {
	const people = Array.from({ length: total }, (_, index) => ({ user_id: String(10 + index), at, reason: null }));
	const reporters = people.slice(0, shownReporters);
	const { embeds = [] } = newEntry({ row, reporters, total, records: [], earlier: undefined }, undefined, {
		language: "en",
	});
	return JSON.stringify((embeds as EmbedBuilder[]).map((one) => one.toJSON()));
}

test.each([
	[1, "Reported by:", undefined],
	[shownReporters, `Reported by ${shownReporters} people:`, undefined],
	[shownReporters + 2, `${shownReporters + 2} people:`, "and 2 more"],
])("an entry of %d reporters names them, and counts only those that it leaves out", (total, heading, more) => {
	const text = textOf(total);
	expect(text).toContain(heading);
	for (let index = 0; index < Math.min(total, shownReporters); index += 1) expect(text).toContain(`<@${10 + index}>`);
	expect(/and \d+ more/.exec(text)?.[0]).toBe(more);
});
