// Moderation: keeping people out.

import { DiscordAPIError, RESTJSONErrorCodes } from "discord.js";
import * as v from "valibot";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import { found, guild_id, integer, reason } from "../arguments.ts";
import { destructiveTool } from "../context.ts";
import { memberName, userName } from "../describe.ts";
import { person } from "../find.ts";

const daySeconds = 86_400;

export const ban = destructiveTool({
	name: "ban",
	toolset: "moderation",
	aliases: ["ban_member"],
	title: "Ban a user",
	description:
		"Ban a user from a guild, whether or not they are a member of it, and optionally delete what they wrote lately. Someone who is banned already is left as they are, and the answer says so.",
	permissions: ["BanMembers"],
	ranked: true,
	// Of two at once, the second is told that they are banned already.
	turns: "user_id",
	idempotent: true,
	input: v.strictObject({
		guild_id,
		user_id: found(person, "user"),
		delete_message_seconds: v.optional(
			integer(
				0,
				7 * daySeconds,
				"Delete their messages of so many seconds, up to 7 days.",
			),
		),
		delete_message_days: v.optional(
			integer(0, 7, "The same in days; give one of the two."),
		),
		reason,
	}),
	async plan(
		{ delete_message_seconds, delete_message_days, reason },
		{ guild, user: { user, member } },
	) {
		if (
			delete_message_seconds !== undefined &&
			delete_message_days !== undefined
		)
			throw invalidParameters([
				"delete_message_seconds, delete_message_days: expected at most one of the two",
			]);
		const name = member ? memberName(member) : userName(user);
		if (await isBanned())
			throw new ToolError(
				`${name} is banned from the guild already. Nothing was done.`,
			);
		const deleteMessageSeconds =
			delete_message_seconds ?? (delete_message_days ?? 0) * daySeconds;
		const deleted =
			deleteMessageSeconds > 0
				? `, and delete what they wrote in the last ${deleteMessageSeconds} seconds`
				: "";
		const who = member ? "" : ", who is not a member";
		return {
			preview: `Would ban ${name}${who}${deleted}.`,
			async act() {
				await guild.bans.create(user.id, { deleteMessageSeconds, reason });
				return `Banned ${name}.`;
			},
		};

		async function isBanned(): Promise<boolean> {
			try {
				await guild.bans.fetch({ user: user.id, force: true });
				return true;
			} catch (error) {
				if (
					error instanceof DiscordAPIError &&
					error.code === RESTJSONErrorCodes.UnknownBan
				)
					return false;
				throw error;
			}
		}
	},
});
