// The tool moderation_log: shows, sets or turns off the guild's moderation log channel.

import { ChannelType, type Guild, type GuildBasedChannel } from "discord.js";
import * as v from "valibot";
import { actingPerson } from "../../discord/acting-person.ts";
import { channelName } from "../../discord/describe.ts";
import * as find from "../../discord/find.ts";
import { bitsIn, requirePermissions } from "../../discord/permissions.ts";
import { permitStoring } from "../../discord/rest/rest.ts";
import { resultLines } from "../../discord/text.ts";
import { isPublic, visibleChannel } from "../../discord/visible-channels.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import { type Result, result } from "../results/result.ts";
import { openLogWarning } from "../settings/references.ts";
import { flag, found, guild_id } from "../tool/arguments/arguments.ts";
import type { BotTool } from "../tool/context.ts";
import { editTool } from "../tool/define.ts";
import { logPermissions, type ModerationLog } from "./moderation-log.ts";

export function moderationLogTool(moderationLog: Pick<ModerationLog, "channelOf" | "setChannel" | "add">): BotTool {
	return editTool({
		name: "moderation_log",
		toolset: "moderation",
		offered: "extra",
		title: "Set the moderation log channel",
		description: "Show the channel of the moderation log; with arguments, set it or turn the log off.",
		lock: ({ guild_id }, { guildId }) => [`log ${guild_id || guildId}`],
		person: { permissions: [{ permission: "ManageGuild", inGuild: true }] },
		input: {
			guild_id,
			channel_id: v.optional(found(find.channel, "text channel")),
			off: v.optional(flag("Turn it off."), false),
		},
		async run({ off }, { guild, channel }) {
			if (off && channel) throw invalidParameters(["channel_id, off: expected at most one of the two"]);
			const before = await moderationLog.channelOf(guild.id);
			if (!off && !channel) return describeLog(guild, before);
			if (channel) {
				requireText(channel);
				requirePermissions(guild, channel, bitsIn(channel, logPermissions));
			}
			permitStoring();
			await moderationLog.setChannel(guild.id, channel?.id ?? null);
			const person = actingPerson(guild);
			const entry = {
				title: said("log.set.title"),
				moderatorId: person?.id ?? guild.client.user.id,
				description: channel ? said("log.set", { channel: `<#${channel.id}>` }) : said("log.off"),
			};
			// Also posted in the old log channel, so that its readers see the change.
			for (const id of new Set([before, channel?.id])) if (id !== undefined) moderationLog.add(guild.id, entry, id);
			return channel
				? result(
						resultLines(`Moderation is now logged in ${channelName(channel)}.`, warningOf(channel)),
						said("result.log_set", { where: `<#${channel.id}>` }),
						isPublic(channel) && said("result.log_public"),
					)
				: result("Moderation logging is now off.", said("result.log_off"));
		},
	});
}

function describeLog(guild: Guild, id: string | undefined): Result {
	if (id === undefined) return result("Moderation logging is off.", said("result.log_off"));
	const channel = visibleChannel(guild, id);
	return result(
		resultLines(
			`Moderation is logged in ${channel ? channelName(channel) : `the channel ${id}`}.`,
			channel && warningOf(channel),
		),
		said("result.log", { where: `<#${id}>` }),
		channel && isPublic(channel) && said("result.log_public"),
	);
}

function warningOf(channel: GuildBasedChannel): string | false {
	return isPublic(channel) && `Warning for ${channelName(channel)}: ${openLogWarning}.`;
}

function requireText(channel: find.Channel): void {
	const { GuildText, GuildAnnouncement } = ChannelType;
	if (channel.type !== GuildText && channel.type !== GuildAnnouncement)
		throw new SaidError(said("refusal.log_not_text", { where: `<#${channel.id}>` }), {
			models: `The moderation log needs a text channel, and ${channelName(channel)} is none. Nothing was done.`,
		});
}
