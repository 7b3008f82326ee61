// Channels that the bot may not view. Discord's Gateway invents all but id, type, position and category; HTTP leaves
// them out. https://docs.discord.com/developers/resources/channel#channel-object-obfuscated-channels

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
import { isObject } from "../lib/json.ts";

interface Flagged {
	flags?: Readonly<ChannelFlagsBitField> | number | null | undefined;
}

/** The name does not tell: a channel can really be called "___hidden___". False for threads. */
export function isObfuscated({ flags }: Flagged): boolean {
	return (ChannelFlagsBitField.resolve(flags ?? 0) & ChannelFlags.ChannelObfuscated) !== 0;
}

/** With those that the bot cannot see, as Discord's Gateway sends them. */
export async function fetchGuildChannels(guild: Guild): Promise<APIGuildChannel[]> {
	const listed = (await guild.client.rest.get(Routes.guildChannels(guild.id))) as APIGuildChannel[];
	const ids = new Set(listed.map(({ id }) => id));
	const others = guild.channels.cache.filter((channel) => !channel.isThread() && !ids.has(channel.id));
	const unseen = await Promise.all(
		others.map(async (channel) =>
			isObfuscated(channel) || (await isForbidden(channel)) ? [unseenChannel(channel)] : [],
		),
	);
	return [...listed, ...unseen.flat()];
}

/** False for a deleted channel. */
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
		id,
		type,
		parent_id,
		permission_overwrites: [{ id: guildId, type: 0, allow: "0", deny }],
		name: `unseen (ID ${id})`,
		position: "rawPosition" in channel ? channel.rawPosition : 0,
		flags: ChannelFlags.ChannelObfuscated,
	} as unknown as APIGuildChannel;
}

/** Interactions have the real flags but no overwrites: the invented ones in the cache would pass for real. */
export function keepObfuscated({ channels }: Client, d: unknown): void {
	const data = isObject(d) && isObject(d.data) ? d.data : {};
	const resolved = isObject(data.resolved) ? data.resolved.channels : {};
	for (const [id, channel] of Object.entries(resolved ?? {})) {
		const cached = channels.cache.get(id);
		if (cached && isObfuscated(cached) && isObject(channel)) delete channel.flags;
	}
}
