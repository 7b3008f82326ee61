// Table "guild_settings": settings of a guild that were made by commands.

import type { Sql } from "../../../lib/store/statement.ts";

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

export async function saveLogChannel(sql: Sql, guildId: string, channelId: string | null): Promise<void> {
	await sql`
		INSERT INTO guild_settings (guild_id, log_channel_id)
		VALUES (${guildId}, ${channelId})
		ON CONFLICT (guild_id) DO UPDATE SET log_channel_id = excluded.log_channel_id`;
}
