// `setlog`: where people can see what moderators do.

import {
	ChannelType,
	type GuildBasedChannel,
	PermissionFlagsBits,
} from "discord.js";
import { ToolError } from "../../../mcp/tool.ts";
import type { Asked, Command } from "../../commands/commands.ts";
import type { Limiter } from "../../commands/cooldown.ts";
import { bitsIn, requirePermissions } from "../../discord/permissions.ts";
import { type ModerationLog, neededToLog } from "./moderation-log.ts";

const usage = "#channel | off";

export function setlogCommand({
	prefix,
	limiter,
	moderationLog,
}: {
	prefix: string;
	limiter: Limiter;
	moderationLog: ModerationLog;
}): Command {
	return {
		name: "setlog",
		usage,
		description: "says where moderation is logged",
		permission: { name: "ManageGuild", in: "guild" },
		limiter,
		async run(asked, rest) {
			const { guild, member } = asked;
			const before = await moderationLog.channelOf(guild.id);
			if (rest === "")
				return `Moderation is logged ${before ? `in <#${before}>` : "nowhere"}. \`${prefix} setlog ${usage}\` changes that.`;
			const isOff = rest.toLowerCase() === "off";
			const channel = isOff ? undefined : readChannel(asked, rest);
			if (!isOff && !channel)
				throw new ToolError(
					`Write \`${prefix} setlog ${usage}\`: a text channel of this server that you can see.`,
				);
			if (channel)
				requirePermissions(guild, channel, bitsIn(channel, neededToLog));
			await moderationLog.choose(guild.id, channel?.id ?? null);
			const where = channel ? `in <#${channel.id}>` : "nowhere";
			// Who reads the old one sees where it went on.
			for (const id of new Set([before, channel?.id]))
				if (id !== undefined)
					moderationLog.tell(
						guild.id,
						{
							...{ title: "Moderation log", by: member.id },
							what: `From now on, moderation is logged ${where}.`,
						},
						id,
					);
			return `From now on, moderation is logged ${where}.`;
		},
	};
}

/** A text channel of the guild that whoever asks can see. */
function readChannel(
	{ guild, member }: Asked,
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
