// Settings and backups of guilds, for tests.

import type { BotConfig } from "../../src/bot/config/config.ts";
import { GuildSettings, type Stored } from "../../src/bot/settings/guild-settings.ts";
import { allKeys, isKey } from "../../src/bot/settings/keys.ts";
import { type Store, startStore } from "../../src/bot/store/store.ts";
import { saveGuildBackup } from "../../src/bot/store/tables/guild-backups.ts";
import { insertSettingVersion, type SettingVersion } from "../../src/bot/store/tables/setting-versions.ts";
import { isObject, type JsonObject } from "../../src/lib/json.ts";
import { KeyedMutex } from "../../src/lib/keyed-mutex.ts";
import { recordLog } from "./log.ts";

/** By guild id. */
export type SettingsOfGuilds = Readonly<Record<string, Stored>>;

/** As the store holds them. */
export const versionsOf = (all: SettingsOfGuilds, version = 1) =>
	Object.entries(all).map(
		([guild_id, settings]): SettingVersion => ({
			guild_id,
			version,
			changed_at: 0,
			changed_by: null,
			door: "test",
			settings: JSON.stringify(settings),
		}),
	);

/** Loaded, and in memory only. */
export async function settingsOf(all: SettingsOfGuilds = {}): Promise<GuildSettings> {
	const store = { sql: async () => versionsOf(all), transaction: async () => {} } as unknown as Store;
	const settings = new GuildSettings({ store, mutex: new KeyedMutex(), log: recordLog().log });
	await settings.load();
	return settings;
}

type StoreConfig = Pick<BotConfig, "databaseUrl" | "dbSchema" | "dataDirectory">;

async function withStore(
	{ databaseUrl, dbSchema: schema, dataDirectory: directory }: StoreConfig,
	work: (store: Store) => Promise<unknown>,
) {
	const store = startStore({ databaseUrl, schema, directory, instance: "test", log: recordLog().log });
	await store.opened;
	await work(store);
	await store.close();
}

/** Into the store of a bot that does not run. */
export const storeSettings = (config: StoreConfig, all: SettingsOfGuilds, version = 1): Promise<void> =>
	withStore(config, async ({ sql }) => {
		for (const row of versionsOf(all, version)) await insertSettingVersion(sql, row);
	});

/** A backup named 1, just made, so that the bot makes no other one. `document`: JSON. */
export function storeBackup(config: StoreConfig, guild_id: string, document: string): Promise<void> {
	const row = { guild_id, guild_name: "", length: 0, sha256: "", channels: 0, roles: 0, omitted: "" };
	const backup = { ...row, made_at: Date.now(), document, pictures: [] };
	return withStore(config, (store) => saveGuildBackup(store, backup, { keep: 1, keepReason: () => undefined }));
}

/** Divides sections by where their keys belong: to config.toml, or to the settings of a guild. */
export function splitSettings(sections: JsonObject, path = ""): { toml: JsonObject; stored: Stored } {
	const toml: JsonObject = {};
	const stored: JsonObject = {};
	for (const [name, value] of Object.entries(sections)) {
		const key = path === "" ? name : `${path}.${name}`;
		if (isKey(key)) stored[key] = value;
		else if (isObject(value) && allKeys.some((one) => one.startsWith(`${key}.`))) {
			const inner = splitSettings(value, key);
			Object.assign(stored, inner.stored);
			if (Object.keys(inner.toml).length > 0) toml[name] = inner.toml;
		} else toml[name] = value;
	}
	return { toml, stored };
}
