// Finds the backend of a call by its arguments, and asks all backends for a guild that none is known to serve.

import type { Principal } from "../../lib/principal.ts";
import type { Signal } from "../../lib/signal.ts";
import { raceSignal } from "../../lib/wait.ts";
import type { JsonObject } from "../../mcp/json-rpc.ts";
import type { Backend } from "../backends/backend.ts";
import type { Views } from "../callers/views.ts";
import type { GuildIndex } from "./guild-index.ts";
import { GuildSearch } from "./guild-search.ts";
import { findGuild, RouteError, route, routeLimited } from "./routing.ts";

/**
 * Finds the bot that a tool call or a request for a prompt selects by its arguments. Throws a RouteError, or rejects
 * with one, if no bot can be selected. A principal (caller) can select only the bots and guilds that it may see, and
 * the error names no others.
 */
export type FindTarget = (
	args: JsonObject,
	signal: Signal,
	principal: Principal | undefined,
) => Backend | Promise<Backend>;

/**
 * Returns a function that selects a bot by the arguments `instance` and `guild_id` of a tool call or a prompt. `firstList`
 * returns undefined once the bots have been asked for the first time, and until then a promise that resolves at that time.
 * `firstAnswersMs` is how long a call waits, after the gateway's start, for bots that may serve its guild.
 */
export function createFindTarget(
	backends: readonly Backend[],
	views: Views,
	defaultInstance: string | undefined,
	firstList: () => Promise<unknown> | undefined,
	index: GuildIndex<Backend>,
	firstAnswersMs: number,
): FindTarget {
	const guildSearch = new GuildSearch(backends);
	const unlisted = new Set(backends);
	for (const backend of backends) void backend.firstGuilds.then(() => unlisted.delete(backend));

	/**
	 * Finds the bot after the first answers of those that stand before the one that serves the guild, since one of them may
	 * serve it, too. A principal waits for all bots: otherwise the time would tell whether a hidden bot serves the guild.
	 */
	async function findLater(...[args, signal, principal]: Parameters<FindTarget>): Promise<Backend> {
		const id = String(args.guild_id);
		const isLate = Bun.sleep(firstAnswersMs).then(() => true);
		for (let isOver = false; ; ) {
			const claimer = principal ? undefined : index.now.serving(id);
			const end = claimer ? backends.indexOf(claimer) : backends.length;
			const awaited = backends.slice(0, end).filter((one) => unlisted.has(one));
			if (isOver || awaited.length === 0 || claimer?.pins.pinned.has(id)) return find(args, signal, principal);
			const answers = awaited.map(({ firstGuilds }) => firstGuilds);
			const answer = Promise.race([...answers, isLate]);
			// If the signal aborts, the call fails as it does elsewhere.
			isOver = (await raceSignal(answer, signal).catch(() => true)) === true;
		}
	}

	async function search(args: JsonObject, signal: Signal): Promise<Backend> {
		const id = String(args.guild_id);
		await guildSearch.search(id, signal, () => index.now.serving(id) !== undefined);
		return route(args, backends, defaultInstance, index.now);
	}

	function isCandidate({ name, guilds, pins }: Backend, { instance, guild_id: id }: JsonObject): boolean {
		if (instance) return name === instance;
		if (!id) return name === defaultInstance;
		return guilds.has(String(id)) || pins.pinned.has(String(id));
	}

	async function findLimited(args: JsonObject, signal: Signal, principal: Principal): Promise<Backend> {
		const { guilds, person } = principal;
		const select = () => routeLimited(args, views.routes(principal), defaultInstance).backend;
		// Unless the last answers lead to a bot, all are asked at once: if a hidden bot were asked before the others, the time
		// would tell that it exists.
		const loading = person && !succeeds(select) ? views.ask(principal, signal) : undefined;
		try {
			// Without waiting for other bots.
			await views.ask(principal, signal, (one) => isCandidate(one, args));
			return select();
		} catch (error) {
			if (!(error instanceof RouteError)) throw error;
			const starting = firstList();
			if (starting && !signal.aborted) {
				// Which bots accept limits is not known yet.
				await raceSignal(starting, signal).catch(() => {});
				return findLimited(args, signal, principal);
			}
			if (person) {
				// The error names all that the person sees.
				await (loading ?? views.ask(principal, signal));
				return select();
			}
			const guildId = String(args.guild_id);
			const isHidden = guilds?.includes(guildId) === false;
			if (error.kind !== "GuildNotFound" || isHidden) throw error;
			// Ends at once only for a guild that the principal sees, so that the time tells nothing about others.
			await guildSearch.search(guildId, signal, () => findGuild(views.routes(principal), guildId) !== undefined);
			return select();
		}
	}

	const find: FindTarget = (args, signal, principal) => {
		if (principal) return findLimited(args, signal, principal);
		try {
			return route(args, backends, defaultInstance, index.now);
		} catch (error) {
			if (error instanceof RouteError && error.kind === "GuildNotFound") return search(args, signal);
			throw error;
		}
	};
	return (args, signal, principal) =>
		unlisted.size > 0 && args.guild_id && !args.instance
			? findLater(args, signal, principal)
			: find(args, signal, principal);
}

function succeeds(select: () => unknown): boolean {
	try {
		select();
		return true;
	} catch (error) {
		if (error instanceof RouteError) return false;
		throw error;
	}
}
