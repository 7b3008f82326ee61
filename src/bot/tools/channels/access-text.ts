// Access to channels in tool results: how permission overwrites change.

import type { Guild } from "discord.js";
import { memberName, roleName } from "../../../discord/describe.ts";
import { botMember } from "../../../discord/permissions.ts";
import { oneField } from "../../../discord/text.ts";
import type { Entries } from "./channel-access.ts";
import { describeChange } from "./overwrites.ts";

/** A line for each changed role or member. */
export function changedEntries(guild: Guild, before: Entries, after: Entries): string[] {
	const none = { allow: 0n, deny: 0n };
	const ids = [...new Set([...after.keys(), ...before.keys()])];
	return ids.flatMap((id) => {
		const [old, now] = [before.get(id) ?? none, after.get(id) ?? none];
		const change = describeChange(old, now);
		return change === "" ? [] : `${subjectName(guild, id)}: ${change}`;
	});
}

/** "the bot", "@everyone", or name and id. */
export function subjectName(guild: Guild, id: string): string {
	if (id === botMember(guild).id) return "the bot";
	const role = guild.roles.cache.get(id);
	if (role) return id === guild.id ? "@everyone" : roleName(role);
	const member = guild.members.cache.get(id);
	return member ? memberName(member) : oneField(id);
}
