// Whom a command is about, and whether the one who asks, and the bot, may do something to them.

import { type Guild, type GuildMember, RESTJSONErrorCodes } from "discord.js";
import { ToolError } from "../../../mcp/tool.ts";
import type { Asked } from "../../commands/commands.ts";
import { roleName } from "../../discord/describe.ts";
import { absentIf } from "../../discord/find.ts";
import { isAbove, requireMembersBelow } from "../../discord/role-hierarchy.ts";
import { oneLine } from "../../discord/text.ts";

/** The id in a mention of somebody, or an id as it is; undefined for anything else. */
export function readUserId(text: string): string | undefined {
	const [, mentioned, bare] =
		/^(?:<@!?(\d{17,20})>|(\d{17,20}))$/.exec(text) ?? [];
	return mentioned ?? bare;
}

/** The words before the rest: `count` of them, as far as there are so many, and what follows as it is. */
export function takeWords(text: string, count: number): string[] {
	const words: string[] = [];
	let rest = text.trim();
	for (let taken = 0; taken < count && rest !== ""; taken++) {
		const [word = ""] = /^\S+/.exec(rest) ?? [];
		words.push(word);
		rest = rest.slice(word.length).trimStart();
	}
	return [...words, rest];
}

/** A reason as it is kept: on one line; null for none. */
export function readReason(text: string): string | null {
	return oneLine(text.toWellFormed()) || null;
}

/**
 * Throws the ToolError to show unless whoever asks may keep this person out, and the bot can. Who is no member has no rank.
 */
export async function requireReach(
	{ guild, member: moderator }: Asked,
	userId: string,
): Promise<void> {
	if (userId === moderator.id) throw new ToolError("That is you yourself.");
	if (userId === guild.client.user.id) throw new ToolError("That is me.");
	if (userId === guild.ownerId)
		throw new ToolError("They own this server: nobody can ban its owner.");
	const target = await currentMember(guild, userId);
	if (!target) return;
	const { highest } = target.roles;
	if (!isAbove(moderator, highest))
		throw new ToolError(
			`They do not rank below you: ${roleName(highest)} is not below ${roleName(moderator.roles.highest)}. Nothing was done.`,
		);
	requireMembersBelow(guild, [target]);
}

/** As Discord has them now: a role that was just given counts. */
function currentMember(
	guild: Guild,
	userId: string,
): Promise<GuildMember | undefined> {
	return absentIf(RESTJSONErrorCodes.UnknownMember, () =>
		absentIf(RESTJSONErrorCodes.UnknownUser, () =>
			guild.members.fetch({ user: userId, force: true }),
		),
	);
}
