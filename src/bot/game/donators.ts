// Supporter roles: fetches the game server at every interval and makes members' roles match it. An implausible
// list removes no roles. The next run repeats changes that failed.

import { DiscordAPIError, type Guild, type GuildMember } from "discord.js";
import { doubledMs } from "../../lib/back-off.ts";
import type { KeyedMutex } from "../../lib/keyed-mutex.ts";
import type { Log } from "../../lib/log.ts";
import type { Registry } from "../../lib/metrics.ts";
import { createReconciler } from "../../lib/reconciler.ts";
import { within } from "../../lib/wait.ts";
import { ToolError } from "../../mcp/tool.ts";
import type { Connection } from "../discord/connection/connection.ts";
import { roleName } from "../discord/describe.ts";
import { toToolError } from "../discord/rest/errors.ts";
import { ignoreUnavailable } from "../store/database/db-error.ts";
import type { Store } from "../store/store.ts";
import {
	type DonatorLists,
	forgetDoubted,
	type ListEntry,
	saveAccepted,
	saveDoubted,
	selectDonatorLists,
} from "../store/tables/donators.ts";
import { type Donator, type GameClient, GameServerError } from "./client.ts";
import { type Change, keyOf, listEntries, planRoles, type RolePlan } from "./donator-plan.ts";

const maxBackOffMs = 60 * 60_000;
const pollMs = 250;
const membersTimeoutMs = 120_000;
const maxUnanswered = 3;
const shutdownGraceMs = 2_000;

export interface DonatorSyncOptions {
	game: Pick<GameClient, "donators">;
	connection: Connection;
	store: Pick<Store, "sql" | "transaction">;
	/** Id of the guild in which supporters (paying players) get roles; undefined selects the bot's only guild. */
	guildId: string | undefined;
	/** Discord role id for each tier of supporters (paying players), by tier name. */
	tiers: Readonly<Record<string, string>>;
	intervalMs: number;
	/**
	 * Id of a role that marks members whose supporter roles (roles for paying players) must not be changed; undefined if
	 * none is configured.
	 */
	restrictedRole: string | undefined;
	/** Whether the user's roles must not be changed, for example because of a chargeback. A rejection counts as true. */
	isRestricted?(userId: string): boolean | Promise<boolean>;
	/** Resolves with the ids of all users whose roles must not be changed. */
	allRestricted?(): Promise<ReadonlySet<string>>;
	/** Lock per user id: only one change to a user's roles or bans runs at a time. */
	mutex: KeyedMutex;
	log: Log;
	registry?: Registry | undefined;
}

export interface SyncPlan extends RolePlan {
	guild: Guild;
	donators: readonly Donator[];
	/** Why no roles may be removed from members at present; undefined if roles may be removed. */
	removalsHeld: string | undefined;
	/**
	 * Stores the list of supporters (paying players) for comparison with the next list. Call this before making the role
	 * changes.
	 */
	saveList(): Promise<void>;
}

export interface SyncResult {
	given: number;
	taken: number;
	/** Number of role changes that Discord refused or did not answer. */
	failed: number;
	/** Number of role changes that were not tried, for example because time ran out. */
	left: number;
	/** Error messages of the failed role changes, at most one per role. */
	reasons: readonly string[];
	removalsHeld: string | undefined;
}

export interface DonatorSync {
	/**
	 * Changes the Discord roles of supporters (paying players) to match the game server: at once, and then at
	 * every interval.
	 */
	start(): void;
	/**
	 * Fetches the list of supporters (paying players) and computes the necessary role changes, but does not make them.
	 * Rejects with a GameServerError or ToolError.
	 */
	plan(): Promise<SyncPlan>;
	/**
	 * Makes the role changes of a plan, but starts none after `untilMs` (in milliseconds of performance.now()). Rejects
	 * with a ToolError while another plan is being applied.
	 */
	apply(plan: SyncPlan, untilMs?: number): Promise<SyncResult>;
	/** Stops updating the Discord roles of supporters (paying players). */
	close(): Promise<void>;
}

export function createDonatorSync(options: DonatorSyncOptions): DonatorSync {
	const { game, connection, store, log, intervalMs } = options;
	const tiers = new Map(Object.entries(options.tiers));
	const counters = {
		runs: options.registry?.counter("guildhall_bot_donator_runs_total", "Supporter role runs by outcome.", ["outcome"]),
		changes: options.registry?.counter("guildhall_bot_donator_changes_total", "Supporter role changes by outcome.", [
			"outcome",
		]),
	};
	let isClosed = false;
	let busy: { done: number; of: number; over: Promise<unknown> } | undefined;
	let failedRuns = 0;
	let nextRunAt = 0;
	let connectedSince: number | undefined;
	let lastProblems = new Set<string>();

	async function plan(): Promise<SyncPlan> {
		// Checked first: without a guild, the list is not needed.
		requireGuild(connection, options.guildId);
		const donators = await game.donators();
		const entries = listEntries(donators, tiers);
		const lists = await selectDonatorLists(store.sql).catch(ignoreUnavailable);
		const guild = requireGuild(connection, options.guildId);
		const restricted = await allRestricted();
		const rolePlan = planRoles({
			guild,
			donators,
			tiers,
			isRestricted: (member) => restricted === undefined || hasRestrictedRole(member) || restricted.has(member.id),
		});
		const { removalsHeld, saveList } = checkList(entries, lists, store);
		return {
			...rolePlan,
			guild,
			donators,
			saveList,
			removalsHeld:
				removalsHeld ?? (connection.hasAllMembers(guild) ? undefined : "not all members of the guild are loaded yet"),
		};
	}

	/** Resolves with the ids of users whose roles must not be changed; undefined if the database is unavailable. */
	async function allRestricted(): Promise<ReadonlySet<string> | undefined> {
		if (!options.allRestricted) return new Set();
		return options.allRestricted().catch(ignoreUnavailable);
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
			// The member may be restricted.
			ignoreUnavailable(error);
			return true;
		}
	}

	async function apply(plan: SyncPlan, untilMs = Number.POSITIVE_INFINITY): Promise<SyncResult> {
		if (busy)
			throw new ToolError(
				`The bot is already changing supporter roles (${busy.done} of ${busy.of} done). Nothing was done; try again later.`,
			);
		const over = Promise.withResolvers<void>();
		const progress = { done: 0, of: plan.changes.length, over: over.promise };
		busy = progress;
		try {
			return await applyChanges(plan, untilMs, progress);
		} finally {
			busy = undefined;
			over.resolve();
		}
	}

	async function applyChanges(
		plan: SyncPlan,
		untilMs: number,
		progress: { done: number; of: number },
	): Promise<SyncResult> {
		let { removalsHeld } = plan;
		try {
			await plan.saveList();
		} catch (error) {
			ignoreUnavailable(error);
			removalsHeld ??= storeUnavailable;
		}
		const changes = plan.changes.filter(({ kind }) => kind === "give" || removalsHeld === undefined);
		progress.of = changes.length;
		const reasons = new Map<string, string>();
		const count = { given: 0, taken: 0, failed: 0, left: 0 };
		let unanswered = 0;
		for (const change of changes) {
			if (isClosed || performance.now() > untilMs || unanswered >= maxUnanswered) {
				count.left += 1;
				continue;
			}
			progress.done += 1;
			const { role, kind } = change;
			try {
				if (!(await applyChange(plan.guild, change))) continue;
				const outcome = kind === "give" ? "given" : "taken";
				count[outcome] += 1;
				counters.changes?.add([outcome]);
				unanswered = 0;
			} catch (error) {
				const refusal = toToolError(error);
				if (!refusal) throw error;
				unanswered = error instanceof DiscordAPIError ? 0 : unanswered + 1;
				count.failed += 1;
				counters.changes?.add(["failed"]);
				reasons.set(role.id, `${roleName(role)}: ${refusal.message}`);
			}
		}
		return { ...count, removalsHeld, reasons: [...reasons.values()] };
	}

	/**
	 * Makes one role change. Resolves with false if, since the plan was made, the member has left or the roles of the
	 * member must no longer be changed.
	 */
	function applyChange(guild: Guild, { kind, member, role, reason }: Change): Promise<boolean> {
		// The lock covers check and change: a restriction cannot come in between.
		return options.mutex.withLock(member.id, async () => {
			if (!guild.members.cache.has(member.id)) return false;
			if (await isRestricted(member)) return false;
			if (kind === "give") await member.roles.add(role, reason);
			else await member.roles.remove(role, reason);
			return true;
		});
	}

	async function run(): Promise<boolean> {
		try {
			await busy?.over;
			const syncPlan = await plan();
			const result = await apply(syncPlan);
			const { reasons, removalsHeld, given, taken, failed, left } = result;
			warnOnce([...syncPlan.problems, ...reasons]);
			log.info("synced supporter roles with the game server", {
				guild: syncPlan.guild.id,
				supporters: syncPlan.donators.length,
				given,
				taken,
				failed,
				not_tried: left,
				restricted: syncPlan.restricted.size,
				not_members: syncPlan.absent.size,
				...(removalsHeld !== undefined && {
					no_removals_because: removalsHeld,
				}),
			});
			counters.runs?.add([left > 0 ? "interrupted" : "done"]);
			return left === 0;
		} catch (error) {
			// Interrupted by closing.
			if (isClosed) return false;
			counters.runs?.add(["failed"]);
			if (isExpected(error))
				log.warn("could not sync supporter roles with the game server", {
					reason: (error as Error).message,
				});
			else log.error("could not sync supporter roles: internal error", { error });
			return false;
		}
	}

	function warnOnce(problems: readonly string[]): void {
		for (const problem of problems)
			if (!lastProblems.has(problem))
				log.warn("problem while syncing supporter roles with the game server", {
					reason: problem,
				});
		lastProblems = new Set(problems);
	}

	function isReady(): boolean {
		const guild = findGuild(connection, options.guildId);
		const isLost = !guild || !connection.isConnected(guild);
		if (!connection.state.connected && isLost) return false;
		connectedSince ??= performance.now();
		return !guild || connection.hasAllMembers(guild) || performance.now() - connectedSince > membersTimeoutMs;
	}

	const reconciler = createReconciler({
		maxConcurrent: 1,
		// Required, but not used: a run never rejects. `waitAfter` delays the next one after a failure.
		backOffMs: [intervalMs, maxBackOffMs],
		onScanFailure: (error) => log.error("could not sync supporter roles: internal error", { error }),
		async scan() {
			const waitMs = nextRunAt - performance.now();
			if (waitMs > 0) return { due: [], nextMs: waitMs };
			if (!isReady()) return { due: [], nextMs: pollMs };
			return { due: [{ key: "run", run: runAndSchedule }] };
		},
	});

	async function runAndSchedule(): Promise<void> {
		connectedSince = undefined;
		const startedAt = performance.now();
		failedRuns = (await run()) ? 0 : failedRuns + 1;
		nextRunAt = startedAt + waitAfter(failedRuns, intervalMs);
	}

	return {
		start: reconciler.wake,
		plan,
		apply,
		async close() {
			isClosed = true;
			await Promise.all([reconciler.close(shutdownGraceMs), within(shutdownGraceMs, busy?.over)]);
		},
	};
}

/**
 * Returns the milliseconds between the starts of two syncs of supporter roles (roles for paying players), by number of
 * consecutive failures.
 */
export function waitAfter(failures: number, intervalMs: number): number {
	const maxMs = Math.max(intervalMs, maxBackOffMs);
	return doubledMs(Math.max(failures - 1, 0), [intervalMs, maxMs]);
}

const storeUnavailable = "the bot's database is unavailable, and with it the previous list";

function checkList(
	entries: readonly ListEntry[],
	lists: DonatorLists | undefined,
	store: Pick<Store, "sql" | "transaction">,
): Pick<SyncPlan, "removalsHeld" | "saveList"> {
	if (!lists) return { removalsHeld: storeUnavailable, async saveList() {} };
	const { accepted, doubted } = lists;
	const accept = () => saveAccepted(store, entries);
	if (entries.length === 0)
		return {
			removalsHeld: "nobody on the list has a tier with a role",
			saveList: () => forgetDoubted(store.sql),
		};
	if (!accepted)
		return {
			removalsHeld: "this is the first list; the next one is compared with it",
			saveList: accept,
		};
	const current = new Set(entries.map(keyOf));
	const isListed = (entry: ListEntry) => current.has(keyOf(entry));
	const lost = accepted.filter((entry) => !isListed(entry)).length;
	const isConfirmed = doubted?.length === current.size && doubted.every(isListed);
	if (lost * 2 <= accepted.length || isConfirmed) return { removalsHeld: undefined, saveList: accept };
	return {
		removalsHeld: `the list lost ${lost} of ${accepted.length} entries; the next one must confirm it`,
		saveList: () => saveDoubted(store.sql, entries),
	};
}

function requireGuild(connection: Connection, guildId: string | undefined): Guild {
	const { cache } = connection.discord.guilds;
	const guild = findGuild(connection, guildId);
	if (!guild)
		throw new ToolError(
			guildId === undefined
				? `GUILD_ID is not set, and the bot is in ${cache.size} guilds: it does not know in which one supporters get roles. Nothing was done; set GUILD_ID in .env.`
				: `The bot is not in the guild ${guildId} (GUILD_ID). Nothing was done.`,
		);
	if (!guild.available)
		throw new ToolError(
			`The guild ${guild.id} is unavailable on Discord at the moment. Nothing was done; try again later.`,
		);
	return guild;
}

function findGuild({ guilds }: Connection, guildId: string | undefined): Guild | undefined {
	if (guildId !== undefined) return guilds.find(({ id }) => id === guildId);
	return guilds.length === 1 ? guilds[0] : undefined;
}

function isExpected(error: unknown): boolean {
	return error instanceof GameServerError || error instanceof ToolError || toToolError(error) !== undefined;
}
