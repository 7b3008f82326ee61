// Table "guild_settings": settings of a guild that were made by commands.

import { type Sql, upsert } from "../../../lib/store/statement.ts";

export const guildSettingsTable = `
	CREATE TABLE guild_settings (
		guild_id TEXT NOT NULL PRIMARY KEY,
		log_channel_id TEXT
	)`;

/** Null if the log is switched off, undefined if it was never set. */
export async function selectLogChannel(sql: Sql, guildId: string): Promise<string | null | undefined> {
	const [row] = await sql<{ log_channel_id: string | null }>`
		SELECT log_channel_id FROM guild_settings WHERE guild_id = ${guildId}`;
	return row?.log_channel_id;
}

export function saveLogChannel(sql: Sql, guild_id: string, log_channel_id: string | null): Promise<void> {
	return upsert(sql, "guild_settings", ["guild_id"], [{ guild_id, log_channel_id }]);
}
