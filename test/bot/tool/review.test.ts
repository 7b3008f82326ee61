// What a call shows for review before it changes anything.

import { expect, test } from "bun:test";
import { destructiveTool } from "../../../src/bot/tool/define.ts";
import type { Preview } from "../../../src/bot/tool/review.ts";
import { about, banRequest, peopleInput, startRecording } from "./recording.ts";

test("a plan that is made for the review is shown in it, and may end the call", async () => {
	const shown: Preview[] = [];
	const ban = destructiveTool({
		...about,
		name: "ban_first",
		input: peopleInput,
		plan: async ({ user_ids: [id = ""] }, { guild }) => ({
			preview: async () => `Would ban ${id}.`,
			write: () => banRequest(guild, id),
			result: "Banned.",
		}),
	});
	await using bot = await startRecording({
		tools: [ban],
		changes: {
			review(preview: Preview) {
				shown.push(preview);
				throw new Error("not now");
			},
		} as object,
	});
	const id = bot.id("zoe");
	await bot.call("ban_first", { user_ids: [id] }).catch(() => {});
	expect(shown).toMatchObject([{ lines: [`Would ban ${id}.`] }]);
	expect(bot.guild.bans.has(id)).toBe(false);
});
