// Finding out why something does not work: who may do what, who the bot is, and what of its setup is amiss.

import { GuildMember, type Role } from "discord.js";
import * as v from "valibot";
import { invalidParameters } from "../../mcp/tool.ts";
import { found, guild_id, list } from "../arguments.ts";
import { tool } from "../context.ts";
import { channelName, memberName, roleName } from "../describe.ts";
import {
	type Decision,
	type Effective,
	effectivePermissions,
} from "../effective-permissions.ts";
import { anyChannel, member, role } from "../find.ts";
import { permissionNames, readBits } from "../permissions.ts";

export const checkPermissions = tool({
	name: "check_permissions",
	toolset: "diagnostics",
	title: "Check permissions",
	description:
		"What a member, or whoever has one role only, may do in a channel or the guild, and for each permission what decides it: role, channel permissions, time-out. Takes user_id or role_id.",
	effect: "read",
	input: v.strictObject({
		guild_id,
		user_id: v.optional(found(member, "member")),
		role_id: v.optional(found(role, "role")),
		channel_id: v.optional(found(anyChannel, "channel or thread")),
		permissions: v.optional(
			list(v.string(), 1, 64, "Only these, by name: VIEW_CHANNEL."),
		),
	}),
	run({ permissions }, { guild, user: member, role, channel }) {
		const subject = member ?? role;
		if (!subject || (member && role))
			throw invalidParameters([
				"user_id, role_id: expected exactly one of these",
			]);
		const asked = readBits(
			["permissions", "permissions"],
			undefined,
			permissions,
		);
		const effective = effectivePermissions(guild, subject, channel);
		const shown = shownOf(effective, asked);
		const allowed = shown.filter((one) => one.allowed).length;
		const where = channel
			? channelName(channel)
			: "the guild, channels left aside";
		return [
			`${allowed} permission(s) allowed, ${shown.length - allowed} not, for ${nameOf(subject)} in ${where}; all that is allowed as bits: ${effective.bits}`,
			...(effective.all ? [`everything is allowed ${effective.all}`] : []),
			...(effective.all && asked === undefined ? [] : shown.map(lineOf)),
			...(channel?.isThread()
				? [
						"A thread has the permissions of its channel; SEND_MESSAGES_IN_THREADS counts there in place of SEND_MESSAGES.",
					]
				: []),
		];
	},
});

function nameOf(subject: GuildMember | Role): string {
	if (subject instanceof GuildMember) return memberName(subject);
	return `whoever has ${roleName(subject)} and no other role`;
}

/** Those that are asked for; else all that is allowed, or denied by something. */
function shownOf(
	{ decisions }: Effective,
	asked: bigint | undefined,
): Decision[] {
	if (asked === undefined)
		return decisions.filter(({ why }) => why !== undefined);
	const names = permissionNames(asked);
	return decisions.filter(({ name }) => names.includes(name));
}

function lineOf({ name, allowed, why }: Decision): string {
	return `${name} | ${allowed ? "allowed" : "denied"} ${why ?? "because no role grants it"}`;
}
