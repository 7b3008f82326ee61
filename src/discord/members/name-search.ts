import type { Guild, GuildMember } from "discord.js";
import { fold } from "../text.ts";
import { comparerFor, firstOf } from "./member-filter.ts";

const ranks = { username: 0, equal: 1, beginning: 2, inside: 3, none: 4 };

const compare = comparerFor("name");

/**
 * Whether a name contains any of `queries`, results of `fold`; begins with one such as "A*", ends with one such as "*A".
 * Each name is folded once, which takes most of the time.
 */
export function nameMatcher(...queries: readonly string[]): (...names: readonly (string | null)[]) => boolean {
	const tests = queries.filter((query) => query.isWellFormed()).flatMap(matcherOf);
	const isMatch = (name: string | null) => {
		const folded = fold(name ?? "");
		return tests.some((test) => test(folded));
	};
	return (...names) => names.some(isMatch);
}

function matcherOf(query: string): ((name: string) => boolean)[] {
	const part = query.replace(/^\*|\*$/g, "");
	if (part === "") return [];
	if (query.startsWith("*") === query.endsWith("*")) return [(name) => name.includes(part)];
	return [query.endsWith("*") ? (name) => name.startsWith(part) : (name) => name.endsWith(part)];
}

/** `query` must be a result of `fold`. The best matches: equal usernames, other equal names, beginnings, all others. */
export function findByName(guild: Guild, query: string, limit: number) {
	const rankOf = ranker(query);
	const found: GuildMember[][] = [[], [], [], []];
	for (const member of guild.members.cache.values()) found[rankOf(member)]?.push(member);
	const members: GuildMember[] = [];
	for (const group of found)
		if (members.length < limit) members.push(...firstOf(group, limit - members.length, compare));
	return { total: found.reduce((sum, { length }) => sum + length, 0), members };
}

function ranker(query: string): (member: GuildMember) => number {
	if (query === "" || !query.isWellFormed()) return () => ranks.none;
	// Folding takes most of the time, and a name of ASCII characters without the query need not be folded.
	const mayContain = new RegExp(`${RegExp.escape(query)}|[^\\0-\\x7f]`, "i");
	const rankOf = (name: string | null, equal: number) => {
		if (!name || !mayContain.test(name)) return ranks.none;
		const folded = fold(name);
		if (folded === query) return equal;
		const at = folded.indexOf(query);
		return at < 0 ? ranks.none : at === 0 ? ranks.beginning : ranks.inside;
	};
	return ({ nickname, user: { globalName, username } }) =>
		Math.min(rankOf(username, ranks.username), rankOf(globalName, ranks.equal), rankOf(nickname, ranks.equal));
}
