// Look-ups that succeed or throw the ToolError to show. What they find belongs to the guild.

import {
	DiscordAPIError,
	type Guild,
	type GuildTextBasedChannel,
	RESTJSONErrorCodes,
} from "discord.js";
import { ToolError } from "../mcp/tool.ts";

/** A channel or thread of `guild` that holds messages. */
export async function textChannel(
	guild: Guild,
	id: string,
): Promise<GuildTextBasedChannel> {
	const channel =
		guild.channels.cache.get(id) ?? (await fetchChannel(guild, id));
	if (!channel)
		throw new ToolError(
			`There is no channel ${id} in the guild ${guild.id} that the bot can see. Check channel_id and guild_id.`,
		);
	if (!channel.isTextBased())
		throw new ToolError(`The channel ${id} holds no messages.`);
	return channel;
}

/** Archived threads are not in the cache. A channel of another guild is as good as none. */
async function fetchChannel(guild: Guild, id: string) {
	try {
		const channel = await guild.client.channels.fetch(id);
		return channel && "guild" in channel && channel.guild.id === guild.id
			? channel
			: undefined;
	} catch (error) {
		const code = error instanceof DiscordAPIError ? error.code : undefined;
		if (
			code === RESTJSONErrorCodes.UnknownChannel ||
			code === RESTJSONErrorCodes.MissingAccess
		)
			return undefined;
		throw error;
	}
}
