// `ban`: bans someone, for a duration or permanently. `unban`: lifts any ban.

import { PermissionFlagsBits } from "discord.js";
import { ToolError } from "../../../mcp/tool.ts";
import type { Command } from "../../commands/commands.ts";
import { userName } from "../../discord/describe.ts";
import { requirePermissions } from "../../discord/permissions.ts";
import { durationUsage, readDuration } from "./duration.ts";
import { formatEnd, formatUser } from "./moderation-log.ts";
import {
	type ModerationOptions,
	readReason,
	readUserId,
	requireBannable,
	takeWords,
} from "./target.ts";

const banUsage = "@user <duration> [reason]";
const unbanUsage = "<user id or mention> [reason]";

export function banCommand(options: ModerationOptions): Command {
	const { prefix, bans, limiter } = options;
	return {
		name: "ban",
		usage: banUsage,
		description: `bans someone for ${durationUsage}`,
		permission: { name: "BanMembers", in: "guild" },
		limiter,
		async run(invocation, rest) {
			const [target = "", duration = "", reason = ""] = takeWords(rest, 2);
			const userId = readUserId(target);
			const ms = readDuration(duration);
			if (userId === undefined || ms === undefined)
				throw new ToolError(
					`Write \`${prefix} ban ${banUsage}\`: a mention or user ID, and ${durationUsage}.`,
				);
			const { guild, member } = invocation;
			requirePermissions(guild, undefined, PermissionFlagsBits.BanMembers);
			await requireBannable(invocation, userId);
			const endsAt = ms === null ? null : Date.now() + ms;
			const outcome = await bans.ban(guild, {
				userId,
				endsAt,
				reason: readReason(reason),
				moderator: { id: member.id, name: userName(member.user) },
			});
			const length = `${endsAt === null ? "" : "until "}${formatEnd(endsAt)}`;
			return outcome === "banned"
				? `Banned ${formatUser(userId)} ${length}.`
				: `${formatUser(userId)} was already banned, and is now banned ${length}.`;
		},
	};
}

export function unbanCommand(options: ModerationOptions): Command {
	const { prefix, bans, limiter } = options;
	return {
		name: "unban",
		usage: unbanUsage,
		description: "lifts someone's ban",
		permission: { name: "BanMembers", in: "guild" },
		limiter,
		async run({ guild, member }, rest) {
			const [target = "", reason = ""] = takeWords(rest, 1);
			const userId = readUserId(target);
			if (userId === undefined)
				throw new ToolError(
					`Write \`${prefix} unban ${unbanUsage}\`, with the ID or mention of a banned user.`,
				);
			requirePermissions(guild, undefined, PermissionFlagsBits.BanMembers);
			const wasBanned = await bans.unban(guild, {
				userId,
				reason: readReason(reason),
				moderator: { id: member.id, name: userName(member.user) },
			});
			if (!wasBanned)
				throw new ToolError(`${formatUser(userId)} is not banned.`);
			return `Unbanned ${formatUser(userId)}.`;
		},
	};
}
