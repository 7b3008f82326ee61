// Stored channel locks, on both databases.

import { expect, test } from "bun:test";
import { type ChannelLockRow, channelLockRows } from "../../../../src/bot/store/tables/channel-locks.ts";
import { migrations } from "../../../../src/bot/store/tables.ts";
import { onBoth, openStore } from "../../../support/stores.ts";

const channel_id = "12345678901234567890";
const ofBot: ChannelLockRow = {
	guild_id: "9",
	channel_id,
	target_id: "223456789012345678",
	target_type: 1,
	locked_at: 1_790_000_000_123,
	allows: String(2n ** 63n + 1n),
	denies: "0",
	allowed: "0",
	existed: 0,
};
const ofEveryone: ChannelLockRow = {
	...ofBot,
	target_id: "323456789012345678",
	target_type: 0,
	existed: 1,
	allows: "0",
	denies: String(2n ** 64n - 1n),
	allowed: "2048",
};
const other = { ...ofEveryone, channel_id: "123456789012345678" };

onBoth((databases) => {
	test("a lock is read back unchanged, roles first, and deleted alone", async () => {
		await using opened = await openStore(await databases.place(), { migrations });
		const { sql } = opened.store;
		expect(await channelLockRows.all(sql, { channel_id }, "target_type, target_id")).toEqual([]);
		await channelLockRows.insert(sql, [ofBot, ofEveryone]);
		await channelLockRows.insert(sql, [other]);
		expect(await channelLockRows.all(sql, { channel_id }, "target_type, target_id")).toEqual([ofEveryone, ofBot]);
		await channelLockRows.deleteAll(sql, { channel_id });
		await channelLockRows.deleteAll(sql, { channel_id });
		expect(await channelLockRows.all(sql, { channel_id }, "target_type, target_id")).toEqual([]);
		expect(await channelLockRows.all(sql, { channel_id: other.channel_id })).toEqual([other]);
	});

	test("a second lock of the same channel inserts nothing", async () => {
		await using opened = await openStore(await databases.place(), { migrations });
		const { sql } = opened.store;
		await channelLockRows.insert(sql, [ofEveryone]);
		const again = { ...ofEveryone, denies: "1" };
		await expect(channelLockRows.insert(sql, [ofBot, again])).rejects.toThrow();
		expect(await channelLockRows.all(sql, { channel_id }, "target_type, target_id")).toEqual([ofEveryone]);
	});
});
