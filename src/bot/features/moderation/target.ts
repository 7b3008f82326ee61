// What the moderation commands share: options, arguments, and whether a user can be banned.

import { type Guild, type GuildMember, RESTJSONErrorCodes } from "discord.js";
import { ToolError } from "../../../mcp/tool.ts";
import type { CommandContext } from "../../commands/commands.ts";
import type { Limiter } from "../../commands/cooldown.ts";
import { roleName } from "../../discord/describe.ts";
import { absentIf } from "../../discord/find.ts";
import { isAbove, requireMembersBelow } from "../../discord/role-hierarchy.ts";
import { oneLine } from "../../discord/text.ts";
import type { ModerationLog } from "./moderation-log.ts";
import type { TempBans } from "./temp-bans.ts";

export interface ModerationOptions {
	/** Prefix of the bot's chat commands, shown in usage messages. */
	prefix: string;
	limiter: Limiter;
	bans: TempBans;
	moderationLog: ModerationLog;
}

/** Parses a user mention or a plain user id into the id; undefined for any other text. */
export function readUserId(text: string): string | undefined {
	const [, mentioned, bare] =
		/^(?:<@!?(\d{17,20})>|(\d{17,20}))$/.exec(text) ?? [];
	return mentioned ?? bare;
}

/** Splits text into its first `count` words and the unchanged rest. Missing words are empty strings. */
export function takeWords(text: string, count: number): string[] {
	const words = "(\\S*)\\s*".repeat(count);
	return new RegExp(`^${words}([^]*)$`).exec(text.trim())?.slice(1) ?? [];
}

/** Converts the reason that a moderator wrote to one line; null if it is empty. */
export function readReason(text: string): string | null {
	return oneLine(text.toWellFormed()) || null;
}

/**
 * Throws a ToolError if the moderator or the bot may not ban the user, for example because of the role hierarchy. Users
 * who are not members of the guild can be banned.
 */
export async function requireBannable(
	{ guild, member: moderator }: CommandContext,
	userId: string,
): Promise<void> {
	if (userId === moderator.id) throw new ToolError("You can't ban yourself.");
	if (userId === guild.client.user.id)
		throw new ToolError("I can't ban myself.");
	if (userId === guild.ownerId)
		throw new ToolError("You can't ban the server owner.");
	const target = await currentMember(guild, userId);
	if (!target) return;
	const { highest } = target.roles;
	if (!isAbove(moderator, highest))
		throw new ToolError(
			`You can only ban members ranked below you: ${roleName(highest)} is not below ${roleName(moderator.roles.highest)}. Nothing was done.`,
		);
	requireMembersBelow(guild, [target]);
}

/** Fetches a guild member from Discord, not from the cache; undefined if the user is not a member. */
function currentMember(
	guild: Guild,
	userId: string,
): Promise<GuildMember | undefined> {
	const { UnknownMember, UnknownUser } = RESTJSONErrorCodes;
	return absentIf([UnknownMember, UnknownUser], () =>
		guild.members.fetch({ user: userId, force: true }),
	);
}
