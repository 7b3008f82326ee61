// Table "guild_messages": messages and forum posts that guild documents have posted, by channel (or forum) and key, and what
// the document said of them: JSON, with ids.

import type { RowOf } from "../../../lib/store/row.ts";
import { rowsOf } from "../../../lib/store/statement.ts";

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

export const guildMessageRows = rowsOf<GuildMessageRow, "guild_id" | "channel_id" | "key">("guild_messages", [
	"guild_id",
	"channel_id",
	"key",
]);
