// Supporter roles: fetches the game server at every interval and makes members' roles match it. An implausible
// list removes no roles. The next run repeats changes that failed.

import { DiscordAPIError, type Guild, type GuildMember } from "discord.js";
import type { Connection } from "../../discord/connection/connection.ts";
import { roleName } from "../../discord/describe.ts";
import { toToolError } from "../../discord/rest/errors.ts";
import type { Counter } from "../../lib/metrics.ts";
import { ToolError } from "../../lib/tool-error.ts";
import type { FeatureOptions } from "../commands/feature.ts";
import { Durable, DurablePart, NotNow } from "../store/durable.ts";
import type { Store } from "../store/store.ts";
import {
	type DonatorLists,
	forgetDoubted,
	type ListEntry,
	saveAccepted,
	saveDoubted,
	selectDonatorLists,
} from "../store/tables/donators.ts";
import { ignoreUnavailable } from "../store/unavailable.ts";
import type { Donator, GameClient } from "./client.ts";
import { type Change, keyOf, listEntries, planRoles, type RolePlan } from "./donator-plan.ts";

const maxBackOffMs = 60 * 60_000;
const pollMs = 250;
const membersTimeoutMs = 120_000;
const maxUnanswered = 3;
const key = "sync";

export interface DonatorSyncOptions extends Pick<FeatureOptions, "connection" | "mutex" | "log"> {
	game: Pick<GameClient, "donators">;
	store: Pick<Store, "sql" | "transaction">;
	/** In which supporters (paying players) get roles. */
	guildId: string;
	tiers: Readonly<Record<string, string>>;
	intervalMs: number;
	/** Marks members whose supporter roles must not be changed; undefined if none is configured. */
	restrictedRole: string | undefined;
	/** Ids of users whose roles must not be changed, for example because of a chargeback. A rejection counts as all. */
	restricted?(): Promise<ReadonlySet<string>>;
	/** Of all guilds. */
	counters?: Partial<Record<"runs" | "changes", Counter | undefined>>;
}

export interface SyncPlan extends RolePlan {
	guild: Guild;
	donators: readonly Donator[];
	/** Why no roles may be removed from members at present; undefined if roles may be removed. */
	removalsHeld: string | undefined;
	/** For comparison with the next list. Call this before making the role changes. */
	saveList(): Promise<void>;
}

interface SyncResult {
	given: number;
	taken: number;
	failed: number;
	/** Number of role changes that were not tried, for example because time ran out. */
	left: number;
	reasons: readonly string[];
	removalsHeld: string | undefined;
}

export class DonatorSync extends DurablePart {
	readonly #tiers: ReadonlyMap<string, string>;
	protected readonly work: Durable;
	#isClosed = false;
	#isBusy = false;
	#nextRunAt = 0;
	/** When the bot started to wait for members to be loaded, in milliseconds of performance.now(). */
	#connectedSince: number | undefined;
	#lastProblems = new Set<string>();

	constructor(private readonly options: DonatorSyncOptions) {
		super();
		const { log, intervalMs } = options;
		this.#tiers = new Map(Object.entries(options.tiers));
		this.work = new Durable({
			name: "supporter roles",
			log,
			backOffMs: [intervalMs, Math.max(intervalMs, maxBackOffMs)],
			scan: async () => {
				const waitMs = this.#nextRunAt - performance.now();
				return [
					{
						key,
						inMs: waitMs > 0 || this.#isReady() ? waitMs : pollMs,
						failure: "could not sync supporter roles with the game server",
						run: () => this.#run(),
					},
				];
			},
		});
	}

	/** Fetches the list, but makes no changes. Rejects with a ToolError. */
	async plan(): Promise<SyncPlan> {
		// Checked first: without a guild, the list is not needed.
		requireGuild(this.options.connection, this.options.guildId);
		const donators = await this.options.game.donators();
		const entries = listEntries(donators, this.#tiers);
		const lists = await selectDonatorLists(this.options.store.sql, this.options.guildId).catch(ignoreUnavailable);
		const guild = requireGuild(this.options.connection, this.options.guildId);
		const isRestricted = await this.#restriction();
		const rolePlan = planRoles({ guild, donators, tiers: this.#tiers, isRestricted });
		const { removalsHeld, saveList } = checkList(entries, lists, this.options);
		return {
			...rolePlan,
			guild,
			donators,
			saveList,
			removalsHeld:
				removalsHeld ??
				(this.options.connection.hasAllMembers(guild) ? undefined : "not all members of the guild are loaded yet"),
		};
	}

	/** Whether a member's roles must not be changed: of nobody's while the database is unavailable. */
	async #restriction(): Promise<(member: GuildMember) => boolean> {
		const { restrictedRole = "", restricted = async () => new Set<string>() } = this.options;
		const ids = await restricted().catch(ignoreUnavailable);
		return ({ id, roles }) => !ids || ids.has(id) || roles.cache.has(restrictedRole);
	}

	/** Starts none after `untilMs` (milliseconds of performance.now()). A ToolError while another plan is applied. */
	async apply(plan: SyncPlan, untilMs = Number.POSITIVE_INFINITY): Promise<SyncResult> {
		if (this.#isBusy)
			throw new ToolError("The bot is already changing supporter roles. Nothing was done; try again later.");
		this.#isBusy = true;
		try {
			return await this.work.hold(key, () => this.#applyChanges(plan, untilMs));
		} finally {
			this.#isBusy = false;
		}
	}

	async #applyChanges(plan: SyncPlan, untilMs: number): Promise<SyncResult> {
		let { removalsHeld } = plan;
		try {
			await plan.saveList();
		} catch (error) {
			ignoreUnavailable(error);
			removalsHeld ??= storeUnavailable;
		}
		const changes = plan.changes.filter(({ kind }) => kind === "give" || removalsHeld === undefined);
		const reasons = new Map<string, string>();
		const count = { given: 0, taken: 0, failed: 0, left: 0 };
		let unanswered = 0;
		for (const change of changes) {
			if (this.#isClosed || performance.now() > untilMs || unanswered >= maxUnanswered) {
				count.left += 1;
				continue;
			}
			const { role, kind } = change;
			try {
				if (!(await this.#applyChange(plan.guild, change))) continue;
				const outcome = kind === "give" ? "given" : "taken";
				count[outcome] += 1;
				this.options.counters?.changes?.add([outcome]);
				unanswered = 0;
			} catch (error) {
				const refusal = toToolError(error);
				if (!refusal) throw error;
				unanswered = error instanceof DiscordAPIError ? 0 : unanswered + 1;
				count.failed += 1;
				this.options.counters?.changes?.add(["failed"]);
				reasons.set(role.id, `${roleName(role)}: ${refusal.message}`);
			}
		}
		return { ...count, removalsHeld, reasons: [...reasons.values()] };
	}

	/** False if the member has left since, or the member's roles must no longer be changed. */
	#applyChange(guild: Guild, { kind, member, role, reason }: Change): Promise<boolean> {
		// The lock covers check and change: a restriction cannot come in between.
		return this.options.mutex.withLock(member.id, async () => {
			if (!guild.members.cache.has(member.id)) return false;
			if ((await this.#restriction())(member)) return false;
			if (kind === "give") await member.roles.add(role, reason);
			else await member.roles.remove(role, reason);
			return true;
		});
	}

	async #run(): Promise<void> {
		this.#connectedSince = undefined;
		const startedAt = performance.now();
		if (!this.options.connection.guild(this.options.guildId)) throw new NotNow("the bot has left the guild");
		try {
			const syncPlan = await this.plan();
			const { reasons, removalsHeld, given, taken, failed, left } = await this.apply(syncPlan);
			this.#warnOnce([...syncPlan.problems, ...reasons]);
			this.options.log.info("synced supporter roles with the game server", {
				guild: syncPlan.guild.id,
				supporters: syncPlan.donators.length,
				given,
				taken,
				failed,
				not_tried: left,
				restricted: syncPlan.restricted.size,
				not_members: syncPlan.absent.size,
				...(removalsHeld !== undefined && { no_removals_because: removalsHeld }),
			});
			this.options.counters?.runs?.add([left > 0 ? "interrupted" : "done"]);
			if (left > 0) throw new NotNow();
			this.#nextRunAt = startedAt + this.options.intervalMs;
		} catch (error) {
			// Interrupted by closing.
			if (this.#isClosed) throw new NotNow();
			if (!(error instanceof NotNow)) this.options.counters?.runs?.add(["failed"]);
			throw error;
		}
	}

	#warnOnce(problems: readonly string[]): void {
		for (const problem of problems)
			if (!this.#lastProblems.has(problem))
				this.options.log.warn("problem while syncing supporter roles with the game server", { reason: problem });
		this.#lastProblems = new Set(problems);
	}

	#isReady(): boolean {
		const guild = this.options.connection.guild(this.options.guildId);
		const isLost = !guild || !this.options.connection.isConnected(guild);
		if (!this.options.connection.state.connected && isLost) return false;
		this.#connectedSince ??= performance.now();
		return (
			!guild ||
			this.options.connection.hasAllMembers(guild) ||
			performance.now() - this.#connectedSince > membersTimeoutMs
		);
	}

	override close(): Promise<void> {
		this.#isClosed = true;
		return this.work.close();
	}
}

const storeUnavailable = "the bot's database is unavailable, and with it the previous list";

function checkList(
	entries: readonly ListEntry[],
	lists: DonatorLists | undefined,
	{ store, guildId }: Pick<DonatorSyncOptions, "store" | "guildId">,
): Pick<SyncPlan, "removalsHeld" | "saveList"> {
	if (!lists) return { removalsHeld: storeUnavailable, async saveList() {} };
	const { accepted, doubted } = lists;
	const accept = () => saveAccepted(store, guildId, entries);
	if (entries.length === 0)
		return {
			removalsHeld: "nobody on the list has a tier with a role",
			saveList: () => forgetDoubted(store.sql, guildId),
		};
	if (!accepted) return { removalsHeld: "this is the first list; the next one is compared with it", saveList: accept };
	const current = new Set(entries.map(keyOf));
	const isListed = (entry: ListEntry) => current.has(keyOf(entry));
	const lost = accepted.filter((entry) => !isListed(entry)).length;
	const isConfirmed = doubted?.length === current.size && doubted.every(isListed);
	if (lost * 2 <= accepted.length || isConfirmed) return { removalsHeld: undefined, saveList: accept };
	return {
		removalsHeld: `the list lost ${lost} of ${accepted.length} entries; the next one must confirm it`,
		saveList: () => saveDoubted(store.sql, guildId, entries),
	};
}

function requireGuild(connection: Connection, guildId: string): Guild {
	const guild = connection.guild(guildId);
	if (!guild) throw new ToolError(`The bot is not in the guild ${guildId}. Nothing was done.`);
	if (!guild.available)
		throw new ToolError(
			`The guild ${guild.id} is unavailable on Discord at the moment. Nothing was done; try again later.`,
		);
	return guild;
}
