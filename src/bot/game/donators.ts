// Supporters get the role of their tier, and lose it with their tier: the game server's list is fetched again and again,
// and the roles of members are made to follow it. A list that may be wrong takes no role from anyone. Whatever was not
// done, for whichever reason, is still a difference the next time.

import { DiscordAPIError, type Guild, type GuildMember } from "discord.js";
import { doubledMs } from "../../lib/back-off.ts";
import type { KeyedMutex } from "../../lib/keyed-mutex.ts";
import type { Log } from "../../lib/log.ts";
import type { Registry } from "../../lib/metrics.ts";
import { ToolError } from "../../mcp/tool.ts";
import type { Connection } from "../discord/connection/connection.ts";
import { roleName } from "../discord/describe.ts";
import { toToolError } from "../discord/rest/errors.ts";
import { StoreUnavailable } from "../store/db-error.ts";
import {
	type DonatorLists,
	forgetDoubted,
	type Standing,
	saveAccepted,
	saveDoubted,
	selectDonatorLists,
} from "../store/donators.ts";
import type { Store } from "../store/store.ts";
import { type Donator, type GameClient, GameServerError } from "./client.ts";
import {
	type Change,
	keyOf,
	planRoles,
	type RolePlan,
	standingsOf,
} from "./donator-plan.ts";

/** The longest wait after failures, unless the interval itself is longer. */
const maxBackOffMs = 60 * 60_000;
/** How often Discord is looked for while it is not there. */
const lookEveryMs = 250;
/** How long the members are waited for before a run without them, which takes no role from anyone. */
const membersWaitMs = 120_000;
/** So many changes in a row without an answer, and the rest is left to the next run. */
const maxUnanswered = 3;
/** How long the change under way is waited for at the end. */
const closeMs = 2_000;

export interface DonatorSyncOptions {
	game: Pick<GameClient, "donators">;
	connection: Connection;
	store: Pick<Store, "sql" | "transaction">;
	/** Undefined: the only guild that the bot is in. */
	guildId: string | undefined;
	/** The id of its role by tier. */
	tiers: Readonly<Record<string, string>>;
	intervalMs: number;
	/** Whoever holds it is left alone. */
	restrictedRole: string | undefined;
	/** Who else is left alone, whatever roles they have: whoever it rejects for is. */
	isRestricted?(userId: string): boolean | Promise<boolean>;
	/** The ids of all of them, for a look; nobody is changed without `isRestricted`. */
	allRestricted?(): Promise<ReadonlySet<string>>;
	/** What changes somebody's roles, by their id. */
	mutex: KeyedMutex;
	log: Log;
	registry?: Registry | undefined;
}

/** A list that was fetched, and what would have to be done. */
export interface DonatorLook extends RolePlan {
	guild: Guild;
	donators: readonly Donator[];
	/** Why nobody loses a role for now; undefined where nothing speaks against it. */
	held: string | undefined;
	/** What is to be remembered of the list before anything is done. */
	remember(): Promise<void>;
}

/** What came of a run. */
export interface DonatorOutcome {
	given: number;
	taken: number;
	/** What Discord refused, did not answer, or was not there for. */
	failed: number;
	/** What is left to the next run, and was not tried. */
	left: number;
	/** Why, for what failed. */
	reasons: readonly string[];
	held: string | undefined;
}

export interface DonatorSync extends AsyncDisposable {
	/** Begins to look, at once and then at every interval. */
	start(): void;
	/** Fetches the list and compares; changes nothing. Rejects with a GameServerError or a ToolError. */
	look(): Promise<DonatorLook>;
	/** Does what was found, until it is done or `untilMs` (of the monotonic clock) has come. Rejects with a ToolError while another run is at it. */
	carryOut(look: DonatorLook, untilMs?: number): Promise<DonatorOutcome>;
	/** Ends it; what is not done by then is done by the next run, of this process or the next. */
	close(): Promise<void>;
}

export function createDonatorSync(options: DonatorSyncOptions): DonatorSync {
	const { game, connection, store, log, intervalMs } = options;
	const tiers = new Map(Object.entries(options.tiers));
	const closing = new AbortController();
	const counted = {
		runs: options.registry?.counter(
			"guildhall_bot_donator_runs_total",
			"Runs of the supporters' roles by outcome.",
			["outcome"],
		),
		changes: options.registry?.counter(
			"guildhall_bot_donator_changes_total",
			"Changes of supporters' roles by outcome.",
			["outcome"],
		),
	};
	let running: Promise<void> | undefined;
	/** What is being done, if anything is. */
	let busy: { done: number; of: number; over: Promise<unknown> } | undefined;
	/** What was said in the last run: it is said again only when it has been away. */
	let said = new Set<string>();

	async function look(): Promise<DonatorLook> {
		// Before the game server is asked: without a guild there is nothing to compare with.
		guildOf(connection, options.guildId);
		const donators = await game.donators();
		const standings = standingsOf(donators, tiers);
		const lists = await selectDonatorLists(store.sql).catch(unlessAway);
		const guild = guildOf(connection, options.guildId);
		const restricted = await allRestricted();
		const plan = planRoles({
			...{ guild, donators, tiers },
			isRestricted: (member) =>
				restricted === undefined ||
				hasRestrictedRole(member) ||
				restricted.has(member.id),
		});
		const { held, remember } = judge(standings, lists, store);
		return {
			...{ guild, donators, ...plan, remember },
			held:
				held ??
				(connection.knowsMembers(guild)
					? undefined
					: "the members of the guild are not all known yet"),
		};
	}

	/** Undefined where they cannot be known. */
	async function allRestricted(): Promise<ReadonlySet<string> | undefined> {
		if (!options.allRestricted) return new Set();
		return options.allRestricted().catch(unlessAway);
	}

	function hasRestrictedRole({ roles }: GuildMember): boolean {
		const { restrictedRole } = options;
		return restrictedRole !== undefined && roles.cache.has(restrictedRole);
	}

	async function isRestricted(member: GuildMember): Promise<boolean> {
		if (hasRestrictedRole(member)) return true;
		try {
			return (await options.isRestricted?.(member.id)) ?? false;
		} catch (error) {
			// Who cannot be known to be free is left alone.
			unlessAway(error);
			return true;
		}
	}

	async function carryOut(
		found: DonatorLook,
		untilMs = Number.POSITIVE_INFINITY,
	): Promise<DonatorOutcome> {
		if (busy)
			throw new ToolError(
				`The supporters' roles are being changed at the moment (${busy.done} of ${busy.of} done). Nothing was done; try again later.`,
			);
		const work = apply(found, untilMs);
		try {
			return await work;
		} finally {
			busy = undefined;
		}
	}

	async function apply(
		found: DonatorLook,
		untilMs: number,
	): Promise<DonatorOutcome> {
		const over = Promise.withResolvers<void>();
		const progress = { done: 0, of: found.changes.length, over: over.promise };
		busy = progress;
		try {
			let { held } = found;
			try {
				await found.remember();
			} catch (error) {
				unlessAway(error);
				held ??= storeAway;
			}
			const changes = found.changes.filter(
				({ kind }) => kind === "give" || held === undefined,
			);
			progress.of = changes.length;
			const reasons = new Map<string, string>();
			const count = { given: 0, taken: 0, failed: 0, left: 0 };
			let unanswered = 0;
			for (const change of changes) {
				if (
					closing.signal.aborted ||
					performance.now() > untilMs ||
					unanswered >= maxUnanswered
				) {
					count.left += 1;
					continue;
				}
				progress.done += 1;
				const { member, role, kind } = change;
				try {
					// Nobody is restricted between the question and the change.
					const isDone = await options.mutex.withLock(member.id, async () => {
						// Much may have happened since the plan was made.
						if (!found.guild.members.cache.has(member.id)) return false;
						if (await isRestricted(member)) return false;
						await carryOutOne(change);
						return true;
					});
					if (!isDone) continue;
					count[kind === "give" ? "given" : "taken"] += 1;
					counted.changes?.add([kind === "give" ? "given" : "taken"]);
					unanswered = 0;
				} catch (error) {
					const told = toToolError(error);
					if (!told) throw error;
					unanswered = error instanceof DiscordAPIError ? 0 : unanswered + 1;
					count.failed += 1;
					counted.changes?.add(["failed"]);
					reasons.set(role.id, `${roleName(role)}: ${told.message}`);
				}
			}
			return { ...count, held, reasons: [...reasons.values()] };
		} finally {
			over.resolve();
		}
	}

	/** One look and what follows from it. Whether it could be done. */
	async function run(): Promise<boolean> {
		try {
			await busy?.over;
			const found = await look();
			const outcome = await carryOut(found);
			const { reasons, held, ...counts } = outcome;
			sayOnce([...found.faults, ...reasons]);
			log.info("supporters' roles compared", {
				guild: found.guild.id,
				supporters: found.donators.length,
				...counts,
				restricted: found.restricted.size,
				no_members: found.absent.size,
				...(held !== undefined && { nobody_loses_a_role: held }),
			});
			counted.runs?.add([counts.left > 0 ? "interrupted" : "done"]);
			return counts.left === 0;
		} catch (error) {
			// What was under way when we closed does not count.
			if (closing.signal.aborted) return false;
			counted.runs?.add(["failed"]);
			const told = error instanceof GameServerError || toldTo(error);
			if (told)
				log.warn("could not compare the supporters' roles", {
					reason: (error as Error).message,
				});
			else log.error("could not compare the supporters' roles", { error });
			return false;
		}
	}

	function sayOnce(faults: readonly string[]): void {
		for (const fault of faults)
			if (!said.has(fault)) log.warn(`supporters: ${fault}`);
		said = new Set(faults);
	}

	async function keepRunning(): Promise<void> {
		for (let failures = 0; !closing.signal.aborted; ) {
			await untilKnown();
			if (closing.signal.aborted) return;
			const from = performance.now();
			failures = (await run()) ? 0 : failures + 1;
			await pause(from + waitAfter(failures, intervalMs) - performance.now());
		}
	}

	/** Until Discord is there, and its members; or at least Discord, for long enough. */
	async function untilKnown(): Promise<void> {
		let readySince: number | undefined;
		while (!closing.signal.aborted) {
			if (connection.state.connected) {
				readySince ??= performance.now();
				const guild = guildOrNone(connection, options.guildId);
				if (!guild || connection.knowsMembers(guild)) return;
				if (performance.now() - readySince > membersWaitMs) return;
			}
			await pause(lookEveryMs);
		}
	}

	async function pause(ms: number): Promise<void> {
		const { promise, resolve } = Promise.withResolvers<void>();
		const timer = setTimeout(resolve, Math.max(ms, 0));
		const stop = () => resolve();
		closing.signal.addEventListener("abort", stop, { once: true });
		if (closing.signal.aborted) resolve();
		await promise;
		clearTimeout(timer);
		closing.signal.removeEventListener("abort", stop);
	}

	const sync: DonatorSync = {
		start() {
			running ??= keepRunning();
		},
		look,
		carryOut,
		async close() {
			closing.abort();
			await Promise.race([
				Promise.all([running, busy?.over]),
				Bun.sleep(closeMs),
			]);
		},
		[Symbol.asyncDispose]: () => sync.close(),
	};
	return sync;
}

/** How long after the beginning of a run the next one begins, after so many failed ones in a row. */
export function waitAfter(failures: number, intervalMs: number): number {
	const maxMs = Math.max(intervalMs, maxBackOffMs);
	return doubledMs(Math.max(failures - 1, 0), [intervalMs, maxMs]);
}

async function carryOutOne({ kind, member, role, reason }: Change) {
	if (kind === "give") await member.roles.add(role, reason);
	else await member.roles.remove(role, reason);
}

const storeAway =
	"the bot's database is away, and the list of last time with it";

/** Whether a list may take roles, and what is to be remembered of it. */
function judge(
	standings: readonly Standing[],
	lists: DonatorLists | undefined,
	store: Pick<Store, "sql" | "transaction">,
): Pick<DonatorLook, "held" | "remember"> {
	if (!lists) return { held: storeAway, async remember() {} };
	const { accepted, doubted } = lists;
	const believe = () => saveAccepted(store, standings);
	if (standings.length === 0)
		return {
			held: "the list has nobody who would have a role",
			remember: () => forgetDoubted(store.sql),
		};
	if (!accepted)
		return {
			held: "this is the first list, and the next one is compared with it",
			remember: believe,
		};
	const now = new Set(standings.map(keyOf));
	const lost = accepted.filter((one) => !now.has(keyOf(one))).length;
	const agreed =
		doubted?.length === now.size && doubted.every((one) => now.has(keyOf(one)));
	if (lost * 2 <= accepted.length || agreed)
		return { held: undefined, remember: believe };
	return {
		held: `the list lost ${lost} of ${accepted.length}, and the next one has to agree`,
		remember: () => saveDoubted(store.sql, standings),
	};
}

/** The guild whose members are meant. Throws the ToolError to show. */
function guildOf(connection: Connection, guildId: string | undefined): Guild {
	const { cache } = connection.discord.guilds;
	const guild = guildOrNone(connection, guildId);
	if (!guild)
		throw new ToolError(
			guildId === undefined
				? `GUILD_ID is not set, and the bot is in ${cache.size} guilds: whose members are supporters is not known. Nothing was done; set GUILD_ID in .env.`
				: `The bot is not in the guild ${guildId} that GUILD_ID names. Nothing was done.`,
		);
	if (!guild.available)
		throw new ToolError(
			`Discord says that the guild ${guild.id} is unavailable at the moment. Nothing was done; try again later.`,
		);
	return guild;
}

function guildOrNone(
	{ guilds }: Connection,
	guildId: string | undefined,
): Guild | undefined {
	if (guildId !== undefined) return guilds.find(({ id }) => id === guildId);
	return guilds.length === 1 ? guilds[0] : undefined;
}

/** Rethrows what is not the store's being away. */
function unlessAway(error: unknown): undefined {
	if (error instanceof StoreUnavailable) return undefined;
	throw error;
}

function toldTo(error: unknown): boolean {
	return error instanceof ToolError || toToolError(error) !== undefined;
}
