// Discord's search index, as far as the simulator does not show it.

import { expect, test } from "bun:test";
import type { Guild } from "discord.js";
import { searchIndex } from "../../../src/bot/messages/message-index.ts";

test("messages of channels that were not asked for are left out, such as of private threads", async () => {
	const found = ["1", "2", "1"].map((channel_id, index) => [{ id: String(index), channel_id }]);
	const page = { messages: found, threads: [], total_results: found.length, doing_deep_historical_index: false };
	const client = { rest: { get: async () => page } };
	const guild = { id: "3", client } as unknown as Guild;
	const idsFor = async (channel_id: string[] | undefined) => {
		const query = { channel_id };
		const { messages = [] } = (await searchIndex(guild, query, { limit: 25, reserveMs: 0 })) ?? {};
		return messages.map(({ id }) => id);
	};
	expect(await idsFor(["1"])).toEqual(["0", "2"]);
	expect(await idsFor(undefined)).toEqual(["0", "1", "2"]);
});
