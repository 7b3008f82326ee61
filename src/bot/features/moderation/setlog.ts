// `setlog`: shows, sets or turns off the guild's moderation log channel.

import {
	ChannelType,
	type GuildBasedChannel,
	PermissionFlagsBits,
} from "discord.js";
import { ToolError } from "../../../mcp/tool.ts";
import type { Command, CommandContext } from "../../commands/commands.ts";
import { bitsIn, requirePermissions } from "../../discord/permissions.ts";
import { logPermissions } from "./moderation-log.ts";
import type { ModerationOptions } from "./target.ts";

const usage = "#channel | off";

export function setlogCommand(options: ModerationOptions): Command {
	const { prefix, limiter, moderationLog } = options;
	return {
		name: "setlog",
		usage,
		description: "shows or sets the moderation log channel",
		permission: { name: "ManageGuild", in: "guild" },
		limiter,
		async run(invocation, rest) {
			const { guild, member } = invocation;
			const before = await moderationLog.channelOf(guild.id);
			if (rest === "")
				return `${before ? `Moderation is logged in <#${before}>.` : "Moderation logging is off."} \`${prefix} setlog ${usage}\` changes that.`;
			const isOff = rest.toLowerCase() === "off";
			const channel = isOff ? undefined : readChannel(invocation, rest);
			if (!isOff && !channel)
				throw new ToolError(
					`The moderation log channel must be a text channel of this server that you can see. Write \`${prefix} setlog #channel\` to set it, or \`${prefix} setlog off\` to turn the log off.`,
				);
			if (channel)
				requirePermissions(guild, channel, bitsIn(channel, logPermissions));
			await moderationLog.setChannel(guild.id, channel?.id ?? null);
			const description = channel
				? `Moderation is now logged in <#${channel.id}>.`
				: "Moderation logging is now off.";
			const title = "Moderation log";
			const entry = { title, moderatorId: member.id, description };
			// Also in the old channel, for its readers.
			for (const id of new Set([before, channel?.id]))
				if (id !== undefined) moderationLog.add(guild.id, entry, id);
			return description;
		},
	};
}

/**
 * Parses a channel mention or id. Returns undefined if the guild has no such text channel or the moderator cannot see
 * it.
 */
function readChannel(
	{ guild, member }: CommandContext,
	text: string,
): GuildBasedChannel | undefined {
	const [, mentioned, bare] =
		/^(?:<#(\d{17,20})>|(\d{17,20}))$/.exec(text) ?? [];
	const channel = guild.channels.cache.get(mentioned ?? bare ?? "");
	const { GuildText, GuildAnnouncement } = ChannelType;
	if (channel?.type !== GuildText && channel?.type !== GuildAnnouncement)
		return undefined;
	const mayRead = channel
		.permissionsFor(member)
		.has(PermissionFlagsBits.ViewChannel);
	return mayRead ? channel : undefined;
}
