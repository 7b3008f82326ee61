// Settings of guilds, for tests.

import type { BotConfig } from "../../src/bot/config/config.ts";
import { GuildSettings, type Stored } from "../../src/bot/settings/guild-settings.ts";
import { allKeys, isKey } from "../../src/bot/settings/keys.ts";
import { type Store, startStore } from "../../src/bot/store/store.ts";
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

/** Into the store of a bot that does not run. */
export async function storeSettings(config: StoreConfig, all: SettingsOfGuilds, version = 1): Promise<void> {
	const store = startStore({
		databaseUrl: config.databaseUrl,
		schema: config.dbSchema,
		directory: config.dataDirectory,
		instance: "test",
		log: recordLog().log,
	});
	await store.opened;
	for (const row of versionsOf(all, version)) await insertSettingVersion(store.sql, row);
	await store.close();
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
