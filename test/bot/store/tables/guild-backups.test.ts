// Stored backups and pictures of guilds, on both databases.

import { expect } from "bun:test";
import { eraseOld } from "../../../../src/bot/store/personal-data.ts";
import {
	keepGuildBackup,
	type NewGuildBackup,
	pictureRows,
	pictureSourceRows,
	proveGuildBackup,
	saveGuildBackup,
	saveGuildPicture,
	selectBackupChecks,
	selectGuildBackup,
	selectGuildBackups,
	selectKnownPictures,
	selectPictureHashes,
	touchGuildPictures,
} from "../../../../src/bot/store/tables/guild-backups.ts";
import { migrations } from "../../../../src/bot/store/tables.ts";
import { onBoth, openStore } from "../../../support/stores.ts";
import { testWith } from "../../../support/test-with.ts";

const guild_id = "1200000000000000001";
const at = 1_790_000_000_000;
const hourMs = 3_600_000;
const soup = "5".repeat(32);
const salad = "6".repeat(32);

/** A backup whose document is `text`. */
const backup = (text: string, changes: Partial<NewGuildBackup> = {}) => ({
	guild_id,
	made_at: at,
	guild_name: "The Cooks 🍲",
	length: text.length,
	sha256: Bun.SHA256.hash(text, "hex"),
	channels: 10,
	roles: 5,
	omitted: "",
	document: text,
	pictures: [],
	...changes,
});
const options = { keep: 3, keepReason: () => undefined };
const picture = (hash: string, used_at = at) => ({ hash, media_type: "image/png", data: "AAAA", used_at });

onBoth((databases) => {
	const openedTest = testWith(async () => openStore(await databases.place(), { migrations }));

	openedTest("a backup is read back, by its number or as the latest one", async ({ store }) => {
		expect(await selectGuildBackups(store.sql, guild_id)).toEqual([]);
		await saveGuildBackup(store, backup("one"), options);
		const second = backup("two", { made_at: at - 5, omitted: "no webhooks" });
		expect(await saveGuildBackup(store, second, options)).toEqual({ outcome: "made", number: 2 });
		const { pictures: _, document, ...rest } = second;
		const row = { ...rest, number: 2, kept_at: null, kept_reason: null, proven_at: null };
		expect(await selectGuildBackup(store.sql, guild_id, undefined)).toEqual({ ...row, document } as never);
		const [latest, first] = await selectGuildBackups(store.sql, guild_id);
		expect(latest).toEqual(row as never);
		await proveGuildBackup(store.sql, { guild_id, number: 2 }, at + 7);
		const proven = await selectGuildBackups(store.sql, guild_id);
		expect(proven.map(({ proven_at }) => proven_at)).toEqual([at + 7, null]);
		expect(first).toMatchObject({ number: 1, made_at: at });
		expect(await selectGuildBackup(store.sql, guild_id, 1)).toMatchObject({ document: "one" });
		expect(await selectGuildBackup(store.sql, guild_id, 3)).toBeUndefined();
		expect(await selectGuildBackup(store.sql, "1", undefined)).toBeUndefined();
	});

	openedTest("a document that is that of the latest backup is not stored again", async ({ store }) => {
		await saveGuildBackup(store, backup("one"), options);
		const later = backup("one", { made_at: at + 7 });
		expect(await saveGuildBackup(store, later, options)).toEqual({ outcome: "unchanged" });
		expect(await selectGuildBackups(store.sql, guild_id)).toHaveLength(1);
		expect(await selectBackupChecks(store.sql)).toEqual(new Map([[guild_id, at + 7]]));
		await saveGuildBackup(store, backup("two"), options);
		await saveGuildBackup(store, backup("one"), options);
		expect(await selectGuildBackups(store.sql, guild_id)).toHaveLength(3);
	});

	openedTest("the oldest backups are deleted, whatever the clock said, with what refers to them", async ({ store }) => {
		for (const number of [1, 2, 3, 4, 5])
			await saveGuildBackup(store, backup(`document ${number}`, { made_at: at - number, pictures: [soup] }), options);
		const rows = await selectGuildBackups(store.sql, guild_id);
		expect(rows.map(({ number }) => number)).toEqual([5, 4, 3]);
		expect(await store.sql`SELECT number FROM guild_backup_pictures ORDER BY number`).toEqual([
			{ number: 3 },
			{ number: 4 },
			{ number: 5 },
		]);
	});

	openedTest("a kept backup is not rotated; too many kept ones are rotated", async ({ store }) => {
		for (let number = 1; number <= 12; number += 1) {
			await saveGuildBackup(store, backup(`document ${number}`), options);
			if (number > 5) continue;
			await keepGuildBackup(store.sql, { guild_id, number }, { at: at + number, reason: `reason ${number}` });
		}
		const rows = await selectGuildBackups(store.sql, guild_id);
		expect(rows.map(({ number }) => number)).toEqual([12, 11, 10, 5, 4, 3]);
		expect(rows[3]).toMatchObject({ number: 5, kept_at: at + 5, kept_reason: "reason 5" });
	});

	openedTest("the previous backup is kept if there is a reason", async ({ store }) => {
		const keepReason = ({ channels }: { channels: number }) => (channels === 10 ? "wiped" : undefined);
		await saveGuildBackup(store, backup("one"), { keep: 2, keepReason });
		const wiped = backup("two", { channels: 1, made_at: at + 1 });
		expect(await saveGuildBackup(store, wiped, { keep: 2, keepReason })).toEqual({
			outcome: "made",
			number: 2,
			kept: "wiped",
		});
		expect(await selectGuildBackups(store.sql, guild_id)).toMatchObject([
			{ number: 2, kept_at: null },
			{ number: 1, kept_at: at + 1, kept_reason: "wiped" },
		]);
	});

	openedTest("a picture is stored once, and found by what has it", async ({ store }) => {
		await saveGuildPicture(store, picture(soup), "1");
		await saveGuildPicture(store, picture(soup, at + 1), "2");
		await pictureSourceRows.save(store.sql, [{ source: "3", hash: salad }]);
		expect(await selectPictureHashes(store.sql, ["1", "2", "3", "4"])).toEqual(
			new Map([
				["1", soup],
				["2", soup],
			]),
		);
		expect(await pictureRows.first(store.sql, { hash: soup })).toEqual(picture(soup, at + 1));
		expect(await pictureRows.first(store.sql, { hash: salad })).toBeUndefined();
		expect(await selectKnownPictures(store.sql, [soup, salad])).toEqual(new Set([soup]));
		const many = Array.from({ length: 1_200 }, (_, index) => String(index));
		expect((await selectPictureHashes(store.sql, many)).size).toBe(2);
	});

	openedTest("a use within the hour is not written", async ({ store }) => {
		await saveGuildPicture(store, picture(soup), "1");
		const used = async (now: number) => {
			await touchGuildPictures(store.sql, [soup], now);
			return (await pictureRows.first(store.sql, { hash: soup }))?.used_at;
		};
		expect(await used(at + hourMs)).toBe(at);
		expect(await used(at + hourMs + 1)).toBe(at + hourMs + 1);
		// The clock was set back.
		expect(await used(at - hourMs)).toBe(at - hourMs);
	});

	openedTest("only old pictures without a backup are deleted", async ({ store }) => {
		await saveGuildBackup(store, backup("1", { pictures: [soup] }), options);
		await saveGuildPicture(store, picture(soup), "1");
		await saveGuildPicture(store, picture(salad), "2");
		await saveGuildPicture(store, picture("7".repeat(32), at + 1), "3");
		await eraseOld(store.sql, at + 1 + 7 * 86_400_000, {});
		expect(await selectPictureHashes(store.sql, ["1", "2", "3"])).toEqual(
			new Map([
				["1", soup],
				["3", "7".repeat(32)],
			]),
		);
		expect(await store.sql`SELECT source FROM guild_picture_sources ORDER BY source`).toEqual([
			{ source: "1" },
			{ source: "3" },
		]);
	});
});
