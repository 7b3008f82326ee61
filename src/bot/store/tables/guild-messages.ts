// Table "guild_messages": messages and forum posts that guild documents have posted, by channel (or forum) and key, and what
// the document said of them: JSON, with ids.

import type { RowOf } from "../../../lib/store/row.ts";
import { type Sql, upsert } from "../../../lib/store/statement.ts";

export type GuildMessageRow = RowOf<typeof guildMessagesTable, "guild_messages">;

export const guildMessagesTable = `
	CREATE TABLE guild_messages (
		guild_id TEXT NOT NULL,
		channel_id TEXT NOT NULL,
		key TEXT NOT NULL,
		message_id TEXT NOT NULL,
		content TEXT NOT NULL,
		PRIMARY KEY (guild_id, channel_id, key)
	)`;

export function selectGuildMessages(sql: Sql, guildId: string): Promise<GuildMessageRow[]> {
	return sql<GuildMessageRow>`SELECT * FROM guild_messages WHERE guild_id = ${guildId}`;
}

export function saveGuildMessage(sql: Sql, row: GuildMessageRow): Promise<void> {
	return upsert(sql, "guild_messages", ["guild_id", "channel_id", "key"], [row]);
}
