// Channels that the bot may not view. Discord's Gateway obfuscates them: besides id, type, position and category, everything
// is invented, such as the name "___hidden___" and an overwrite that denies @everyone VIEW_CHANNEL. HTTP leaves them out.
// https://docs.discord.com/developers/resources/channel#channel-object-obfuscated-channels

import {
	type APIGuildChannel,
	ChannelFlags,
	ChannelFlagsBitField,
	type Client,
	DiscordAPIError,
	type Guild,
	type GuildBasedChannel,
	PermissionFlagsBits,
	Routes,
} from "discord.js";
import { isObject } from "../../lib/json.ts";

/** A channel of discord.js or of Discord's API. */
interface Flagged {
	flags?: Readonly<ChannelFlagsBitField> | number | null | undefined;
}

/**
 * Whether the bot may not view a channel, so that nothing but its id, type, position and category is known. False for
 * threads. The name does not tell: a channel can really be called "___hidden___".
 */
export function isObfuscated({ flags }: Flagged): boolean {
	const { ChannelObfuscated } = ChannelFlags;
	return (ChannelFlagsBitField.resolve(flags ?? 0) & ChannelObfuscated) !== 0;
}

/**
 * Fetches the channels of a guild from Discord. Adds those that the bot cannot see, which Discord leaves out: as its
 * Gateway sends them.
 */
export async function fetchGuildChannels(guild: Guild): Promise<APIGuildChannel[]> {
	const { rest } = guild.client;
	const route = Routes.guildChannels(guild.id);
	const listed = (await rest.get(route)) as APIGuildChannel[];
	const ids = new Set(listed.map(({ id }) => id));
	const others = guild.channels.cache.filter((channel) => !channel.isThread() && !ids.has(channel.id));
	const unseen = await Promise.all(
		others.map(async (channel) =>
			isObfuscated(channel) || (await isForbidden(channel)) ? [unseenChannel(channel)] : [],
		),
	);
	return [...listed, ...unseen.flat()];
}

/** Whether Discord refuses to show a channel: the bot has just lost sight of it. False for a deleted channel. */
async function isForbidden({ client, id }: GuildBasedChannel) {
	try {
		await client.rest.get(Routes.channel(id));
		return false;
	} catch (error) {
		if (error instanceof DiscordAPIError && error.status < 500) return error.status === 403;
		throw error;
	}
}

function unseenChannel(channel: GuildBasedChannel): APIGuildChannel {
	const { guildId, id, type, parentId: parent_id } = channel;
	const deny = String(PermissionFlagsBits.ViewChannel);
	return {
		...{ id, type, parent_id },
		permission_overwrites: [{ id: guildId, type: 0, allow: "0", deny }],
		name: `unseen (ID ${id})`,
		position: "rawPosition" in channel ? channel.rawPosition : 0,
		flags: ChannelFlags.ChannelObfuscated,
	} as unknown as APIGuildChannel;
}

/**
 * Removes from an interaction the flags of channels that are obfuscated in discord.js's cache. Interactions have their real
 * names and flags, but not their overwrites: with these flags, the invented overwrites in the cache would pass for real.
 */
export function keepObfuscated({ channels }: Client, d: unknown): void {
	const data = isObject(d) && isObject(d.data) ? d.data : {};
	const resolved = isObject(data.resolved) ? data.resolved.channels : {};
	for (const [id, channel] of Object.entries(resolved ?? {})) {
		const cached = channels.cache.get(id);
		if (cached && isObfuscated(cached) && isObject(channel)) delete channel.flags;
	}
}
