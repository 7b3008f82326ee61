// `unban`: lifts any ban, temporary or permanent.

import { PermissionFlagsBits } from "discord.js";
import { ToolError } from "../../../mcp/tool.ts";
import type { Command } from "../../commands/commands.ts";
import type { Limiter } from "../../commands/cooldown.ts";
import { userName } from "../../discord/describe.ts";
import { requirePermissions } from "../../discord/permissions.ts";
import { formatUser } from "./moderation-log.ts";
import { readReason, readUserId, takeWords } from "./target.ts";
import type { TempBans } from "./temp-bans.ts";

const usage = "<user id or mention> [reason]";

export function unbanCommand({
	prefix,
	bans,
	limiter,
}: {
	prefix: string;
	bans: TempBans;
	limiter: Limiter;
}): Command {
	return {
		name: "unban",
		usage,
		description: "lifts someone's ban",
		permission: { name: "BanMembers", in: "guild" },
		limiter,
		async run({ guild, member }, rest) {
			const [target = "", reason = ""] = takeWords(rest, 1);
			const userId = readUserId(target);
			if (userId === undefined)
				throw new ToolError(`Write \`${prefix} unban ${usage}\`.`);
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
