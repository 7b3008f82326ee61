// The channel for staff in which reports are posted. Reports are refused unless the bot can use it and it is hidden from
// @everyone, because its entries name those who report.

import { ChannelType, type Guild, type NewsChannel, type TextChannel } from "discord.js";
import { channelName } from "../../../discord/describe.ts";
import { bitsIn, describeBits, missingForBot } from "../../../discord/permissions.ts";
import { isPublic } from "../../../discord/visible-channels.ts";

const reportsPermissions = ["ViewChannel", "SendMessages", "EmbedLinks", "ReadMessageHistory"] as const;

export type StaffChannel = TextChannel | NewsChannel;

/** Or the reason for the operator. `isPublic`: the only problem is that everyone can see it. */
type ReportsChannel =
	| { channel: StaffChannel; problem?: never; isPublic?: false }
	| { channel?: never; problem: string; isPublic?: boolean };

/** Undefined: the guild takes no reports. */
export function findReportsChannel(guild: Guild, channelId: string | undefined): ReportsChannel | undefined {
	if (channelId === undefined) return undefined;
	const channel = guild.channels.cache.get(channelId);
	if (!channel) return { problem: "it does not exist" };
	const name = channelName(channel);
	const { GuildText, GuildAnnouncement } = ChannelType;
	if (channel.type !== GuildText && channel.type !== GuildAnnouncement)
		return { problem: `${name} is not a text channel` };
	const needed = bitsIn(channel, reportsPermissions);
	const missing = missingForBot(guild, channel, needed);
	if (missing !== 0n) return { problem: `the bot lacks ${describeBits(missing)} in ${name}` };
	return isPublic(channel) ? { problem: `@everyone can see ${name}`, isPublic: true } : { channel };
}
