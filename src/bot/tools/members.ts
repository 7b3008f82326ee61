// Members: people in a guild.

import type { GuildMember } from "discord.js";
import * as v from "valibot";
import { guild_id, limit, text } from "../arguments.ts";
import { tool } from "../context.ts";
import { fold, oneLine } from "../text.ts";

export const lookupUserByName = tool({
	name: "lookup_user_by_name",
	title: "Look up a user by name",
	description:
		"Find members of a guild whose nickname, display name or username contains the query, ignoring case and accents. Exact matches come first, then names that begin with it. One line per member: display name, username, id.",
	effect: "read",
	input: v.strictObject({
		guild_id,
		query: text(
			1,
			100,
			"Part of a nickname, display name or username; a leading @ is ignored.",
		),
		limit: limit(50, 10),
	}),
	run({ query, limit }, { guild, connection }) {
		const wanted = fold(query.replace(/^@(?=.)/, ""));
		const matches: { member: GuildMember; rank: number }[] = [];
		for (const member of guild.members.cache.values()) {
			const rank = rankOf(member, wanted);
			if (rank !== undefined) matches.push({ member, rank });
		}
		matches.sort(
			(a, b) =>
				a.rank - b.rank ||
				a.member.displayName.localeCompare(b.member.displayName) ||
				// Ids grow with time and in length.
				a.member.id.length - b.member.id.length ||
				(a.member.id < b.member.id ? -1 : 1),
		);
		const shown = matches.slice(0, limit);
		const lines =
			matches.length === 0
				? [`No member's name contains "${oneLine(query)}".`]
				: [
						shown.length < matches.length
							? `${matches.length} match(es), the first ${shown.length}:`
							: `${matches.length} match(es):`,
						...shown.map(({ member }) => describe(member)),
					];
		if (!connection.knowsMembers(guild))
			lines.push(
				`The members are still being loaded (${guild.members.cache.size} of ${guild.memberCount}): others may match. Call again in a moment.`,
			);
		return lines;
	},
});

function describe({ displayName, user, id }: GuildMember): string {
	return `${oneLine(displayName)} (@${oneLine(user.username)}) | ID: ${id}`;
}

/** 0 for a name that is `wanted`, 1 for one that begins with it, 2 for one that contains it. */
function rankOf(member: GuildMember, wanted: string): number | undefined {
	const { nickname, user } = member;
	let best: number | undefined;
	for (const name of [nickname, user.globalName, user.username]) {
		if (!name) continue;
		const folded = fold(name);
		const at = folded.indexOf(wanted);
		if (at < 0) continue;
		const rank = folded === wanted ? 0 : at === 0 ? 1 : 2;
		best = Math.min(best ?? rank, rank);
	}
	return best;
}
