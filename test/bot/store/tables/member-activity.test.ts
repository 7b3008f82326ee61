// What members do is counted from when they joined, and a promotion is claimed once, on both databases.

import { expect, test } from "bun:test";
import {
	activityRows,
	addMessages,
	claimPromotion,
	releasePromotion,
	saveLeft,
	savePromoted,
} from "../../../../src/bot/store/tables/member-activity.ts";
import { migrations } from "../../../../src/bot/store/tables.ts";
import { onBoth, openStore } from "../../../support/stores.ts";

const guild = "111111111111111111";
const ada = { user_id: "211111111111111111", joined_at: 1_000 };
const bob = { user_id: "311111111111111111", joined_at: 2_000 };
const role = "411111111111111111";
const otherRole = "511111111111111111";

onBoth((databases) => {
	const open = async () => openStore(await databases.place(), { migrations });

	test("messages add up, each guild's for itself; who joins anew begins anew", async () => {
		await using opened = await open();
		const { sql } = opened.store;
		await addMessages(sql, guild, [
			{ ...ada, messages: 2 },
			{ ...bob, messages: 1 },
		]);
		await addMessages(sql, guild, [{ ...ada, messages: 3 }]);
		await addMessages(sql, otherRole, [{ ...ada, messages: 50 }]);
		await addMessages(sql, guild, [{ ...bob, joined_at: 9_000, messages: 7 }]);
		const rows = await activityRows.all(sql, { guild_id: guild, user_id: [ada.user_id, bob.user_id] });
		expect(rows.map(({ joined_at, messages, promoted }) => ({ joined_at, messages, promoted }))).toEqual([
			{ joined_at: 1_000, messages: 5, promoted: 0 },
			{ joined_at: 9_000, messages: 7, promoted: 0 },
		]);
	});

	test("of many who claim a promotion at once, one gets it; it can be released, and is over when it is settled", async () => {
		await using opened = await open();
		const { sql } = opened.store;
		await addMessages(sql, guild, [{ ...ada, messages: 2 }]);
		const claim = (who = ada) => claimPromotion(sql, guild, who, role);
		for (const who of [ada, bob]) {
			const claims = await Promise.all([1, 2, 3, 4].map(() => claim(who)));
			expect(claims.filter(Boolean)).toHaveLength(1);
		}
		expect(await activityRows.all(sql, { guild_id: guild, claimed: 1 }, "user_id", 10)).toMatchObject([
			{ ...ada, messages: 2, promoted: 1, claimed: 1, role_id: role },
			{ ...bob, messages: 0, promoted: 1, claimed: 1, role_id: role },
		]);
		await releasePromotion(sql, guild, ada.user_id);
		expect(await claim()).toBe(true);
		await activityRows.change(sql, { guild_id: guild, user_id: ada.user_id }, { claimed: 0 });
		await releasePromotion(sql, guild, ada.user_id);
		expect(await claim()).toBe(false);
		expect(await activityRows.all(sql, { guild_id: guild, claimed: 1 }, "user_id", 10)).toMatchObject([bob]);
		// Another role is another promotion.
		expect(await claimPromotion(sql, guild, ada, otherRole)).toBe(true);
	});

	test("who leaves with the role may have it again, who leaves without it may not, and who never had it is forgotten", async () => {
		await using opened = await open();
		const { sql } = opened.store;
		const eve = { user_id: "611111111111111111", joined_at: 3_000 };
		await addMessages(sql, guild, [{ ...eve, messages: 1 }]);
		const amy = { user_id: "711111111111111111", joined_at: 4_000 };
		await savePromoted(sql, guild, [ada, amy, bob], role);
		const ids = [ada, bob, eve].map(({ user_id }) => user_id);
		await saveLeft(sql, guild, { ids, without: [bob.user_id, eve.user_id] });
		// Alone, as most who leave.
		const left = [amy.user_id];
		await saveLeft(sql, guild, { ids: left, without: left });
		expect(await activityRows.all(sql, { guild_id: guild, user_id: [...ids, ...left] })).toMatchObject([
			{ ...bob, withheld: 1 },
			{ ...amy, withheld: 1 },
		]);
		const back = { joined_at: 50_000 };
		await addMessages(sql, guild, [{ ...bob, ...back, messages: 1 }]);
		expect(await claimPromotion(sql, guild, { ...bob, ...back }, role)).toBe(false);
		expect(await claimPromotion(sql, guild, { ...ada, ...back }, role)).toBe(true);
	});

	test("a member who rejoined unnoticed can be promoted again", async () => {
		await using opened = await open();
		const { sql } = opened.store;
		expect(await claimPromotion(sql, guild, ada, role)).toBe(true);
		await activityRows.change(sql, { guild_id: guild, user_id: ada.user_id }, { claimed: 0 });
		const again = { ...ada, joined_at: 60_000 };
		expect(await claimPromotion(sql, guild, again, role)).toBe(true);
		expect(await claimPromotion(sql, guild, again, role)).toBe(false);
	});
});
