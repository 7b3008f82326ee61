// The guild of stored work.

import type { Guild } from "discord.js";
import type { Connection } from "../../discord/connection/connection.ts";
import { NotNow } from "../store/durable.ts";

/** NotNow while the bot cannot act there. */
export function requireGuild(connection: Pick<Connection, "ready" | "guild">, id: string): Guild {
	const guild = connection.guild(id);
	if (!connection.ready || !guild?.available) throw new NotNow("the bot is not connected to the guild");
	return guild;
}
