// Keys in the database: created, listed, used and revoked.

import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createFindKey, createKey, listKeys, revokeKey } from "../../../src/gateway/keys/keys.ts";
import { createToken, hashToken } from "../../../src/gateway/keys/token.ts";
import { openGatewayStore, storeSettingsOf } from "../../support/gateway-store.ts";
import { onBoth } from "../../support/stores.ts";
import { until } from "../../support/until.ts";

const now = Date.UTC(2030, 0, 1);
const guilds = ["100000000000000001", "200000000000000002"];
const person = "300000000000000003";

async function created(...args: Parameters<typeof createKey>): Promise<string> {
	const secret = await createKey(...args);
	if (secret === undefined) throw new Error("the key exists");
	return secret;
}

onBoth((databases, kind) => {
	test("a key is listed with its scope, and found by its secret", async () => {
		await using opened = openGatewayStore(await databases.place());
		const { store } = opened;
		const all = await created(store, "ops", { access: "all" }, now);
		const scope = { access: "write", instances: ["alpha", "be.ta"], guilds, person, expiresAt: now + 5 } as const;
		const bound = await created(store, "mods", scope, now + 1);
		const idOf = (secret: string) => `key:${secret === all ? "ops" : "mods"}:${hashToken(secret).slice(0, 12)}`;
		expect(await listKeys(store)).toEqual([
			{ id: idOf(bound), name: "mods", ...scope, createdAt: now + 1, lastUsedAt: undefined },
			{
				id: idOf(all),
				name: "ops",
				access: "all",
				instances: undefined,
				guilds: undefined,
				person: undefined,
				expiresAt: undefined,
				createdAt: now,
				lastUsedAt: undefined,
			},
		]);
		expect(idOf(all)).toMatch(/^key:ops:[0-9a-f]{12}$/);
		const find = createFindKey(store, () => now);
		expect(await find(hashToken(all))).toEqual({
			principal: { id: idOf(all), name: "ops", access: "all" },
			expiresAt: undefined,
		});
		expect(await find(hashToken(bound))).toEqual({
			principal: {
				id: idOf(bound),
				name: "mods",
				access: "write",
				instances: ["alpha", "be.ta"],
				guilds,
				person: { id: person, name: "", signedIn: false },
			},
			expiresAt: now + 5,
		});
		expect(await find(hashToken(createToken("key")))).toBeUndefined();
	});

	test("of keys with one name that are created at once, one exists", async () => {
		const place = await databases.place();
		await using a = openGatewayStore(place);
		await using b = openGatewayStore(place);
		const secrets = await Promise.all([a, b, a, b].map(({ store }) => createKey(store, "one", { access: "read" })));
		const given = secrets.filter((secret) => secret !== undefined);
		expect(given).toHaveLength(1);
		expect(await listKeys(a.store)).toHaveLength(1);
		const find = createFindKey(b.store);
		expect(await find(hashToken(given[0] ?? ""))).toBeDefined();
	});

	test("a revoked key is gone for good, even when its name is used again", async () => {
		await using opened = openGatewayStore(await databases.place());
		const { store } = opened;
		const find = createFindKey(store);
		const before = await created(store, "mods", { access: "all" });
		expect(await revokeKey(store, "mods")).toBe(true);
		expect(await revokeKey(store, "mods")).toBe(false);
		expect(await revokeKey(store, "Mods")).toBe(false);
		const after = await created(store, "mods", { access: "read" });
		expect(await find(hashToken(before))).toBeUndefined();
		expect(await find(hashToken(after))).toMatchObject({ principal: { access: "read" } });
	});

	test("the last use is recorded once a minute, and only of a key that works", async () => {
		const place = await databases.place();
		await using opened = openGatewayStore(place);
		const { store } = opened;
		const secret = await created(store, "mods", { access: "read", expiresAt: now + 100_000 });
		let at = now;
		const find = createFindKey(store, () => at);
		const lastUsed = async () => (await listKeys(store))[0]?.lastUsedAt;
		const use = async () => {
			await find(hashToken(secret));
			// On one connection its write is before this read; with several it may come later.
			return lastUsed();
		};
		await until("its use is recorded", async () => (await use()) === now);
		at = now + 59_999;
		for (let count = 0; count < 5; count++) expect(await use()).toBe(now);
		at = now + 60_000;
		await until("its use is recorded", async () => (await use()) === at);
		const recorded = at;
		at = now + 200_000;
		for (let count = 0; count < 5; count++) expect(await use()).toBe(recorded);
	});

	test("the secret is nowhere in the database", async () => {
		const place = await databases.place();
		await using opened = openGatewayStore(place);
		const secret = await created(opened.store, "mods", { access: "read" });
		const rows = await place.look("SELECT * FROM keys");
		expect(rows).toMatchObject([{ hash: hashToken(secret) }]);
		// Neither the secret nor its random part.
		const random = secret.slice("guildhall_".length, -6);
		expect(Object.values(rows[0] ?? {}).join()).not.toContain(random);
		expect(opened.logged.lines.join()).not.toContain(random);
		if (kind === "PostgreSQL") return;
		const directory = dirname(storeSettingsOf(place).database);
		for (const file of await readdir(directory)) {
			const bytes = Buffer.from(await Bun.file(join(directory, file)).arrayBuffer());
			expect(bytes.includes(random)).toBe(false);
		}
	});

	test("a key whose access was changed to something unknown does not work", async () => {
		const place = await databases.place();
		await using opened = openGatewayStore(place);
		const secret = await created(opened.store, "mods", { access: "read" });
		await place.look("UPDATE keys SET access = 'everything'");
		await expect(createFindKey(opened.store)(hashToken(secret))).rejects.toThrow(/unknown access/);
	});
});
