// `ban`: bans someone, for a duration or permanently.

import { PermissionFlagsBits } from "discord.js";
import { ToolError } from "../../../mcp/tool.ts";
import type { Command } from "../../commands/commands.ts";
import type { Limiter } from "../../commands/cooldown.ts";
import { userName } from "../../discord/describe.ts";
import { requirePermissions } from "../../discord/permissions.ts";
import { durationUsage, readDuration } from "./duration.ts";
import { formatEnd, formatUser } from "./moderation-log.ts";
import {
	readReason,
	readUserId,
	requireBannable,
	takeWords,
} from "./target.ts";
import type { TempBans } from "./temp-bans.ts";

export interface BanCommandOptions {
	/** Prefix of chat commands, for the usage. */
	prefix: string;
	bans: TempBans;
	limiter: Limiter;
	/** The wall clock. */
	now: () => number;
}

const usage = "@user <duration> [reason]";

export function banCommand({
	prefix,
	bans,
	limiter,
	now,
}: BanCommandOptions): Command {
	return {
		name: "ban",
		usage,
		description: `bans someone for ${durationUsage}`,
		permission: { name: "BanMembers", in: "guild" },
		limiter,
		async run(invocation, rest) {
			const [target = "", duration = "", reason = ""] = takeWords(rest, 2);
			const userId = readUserId(target);
			const ms = readDuration(duration);
			if (userId === undefined || ms === undefined)
				throw new ToolError(
					`Write \`${prefix} ban ${usage}\`: a mention or user ID, and ${durationUsage}.`,
				);
			const { guild, member } = invocation;
			requirePermissions(guild, undefined, PermissionFlagsBits.BanMembers);
			await requireBannable(invocation, userId);
			const endsAt = ms === null ? null : now() + ms;
			const outcome = await bans.ban(guild, {
				userId,
				endsAt,
				reason: readReason(reason),
				moderator: { id: member.id, name: userName(member.user) },
			});
			const length =
				endsAt === null ? formatEnd(null) : `until ${formatEnd(endsAt)}`;
			return outcome === "banned"
				? `Banned ${formatUser(userId)} ${length}.`
				: `${formatUser(userId)} was already banned, and is now banned ${length}.`;
		},
	};
}
