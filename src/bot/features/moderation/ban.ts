// `ban`: keeps somebody out, for a while or for good.

import { PermissionFlagsBits } from "discord.js";
import { ToolError } from "../../../mcp/tool.ts";
import type { Command } from "../../commands/commands.ts";
import type { Limiter } from "../../commands/cooldown.ts";
import { userName } from "../../discord/describe.ts";
import { requirePermissions } from "../../discord/permissions.ts";
import { durationUsage, readDuration } from "./duration.ts";
import { named, untilText } from "./moderation-log.ts";
import { readReason, readUserId, requireReach, takeWords } from "./target.ts";
import type { TempBans } from "./temp-bans.ts";

export interface BanCommandOptions {
	/** What chat commands begin with, for the usage. */
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
		async run(asked, rest) {
			const [whom = "", duration = "", reason = ""] = takeWords(rest, 2);
			const userId = readUserId(whom);
			const ms = readDuration(duration);
			if (userId === undefined || ms === undefined)
				throw new ToolError(
					`Write \`${prefix} ban ${usage}\`: a mention or an id, and ${durationUsage}.`,
				);
			const { guild, member } = asked;
			requirePermissions(guild, undefined, PermissionFlagsBits.BanMembers);
			await requireReach(asked, userId);
			const endsAt = ms === null ? null : now() + ms;
			const outcome = await bans.ban(guild, {
				...{ userId, endsAt, reason: readReason(reason) },
				moderator: { id: member.id, name: userName(member.user) },
			});
			const until =
				endsAt === null ? untilText(null) : `until ${untilText(endsAt)}`;
			return outcome === "banned"
				? `Banned ${named(userId)} ${until}.`
				: `${named(userId)} is banned already; from now on ${until}.`;
		},
	};
}
