// The feature `auto_role`: gives members a role for their time in the guild, their messages, or both.

import { Events, type Guild, type GuildMember, type Message } from "discord.js";
import { within } from "../../lib/wait.ts";
import type { Feature, FeatureOptions } from "../commands/feature.ts";
import type { TomlSettings } from "../config/settings.ts";
import { StoreUnavailable } from "../store/database/db-error.ts";
import { inBatches } from "../store/database/statement.ts";
import { type Activity, selectActivity } from "../store/tables/member-activity.ts";
import { ActivityBuffer, joinedAtMs } from "./activity.ts";
import { createPromotions } from "./promotions.ts";
import { guildForRoles, RoleWriter } from "./role-writer.ts";

const batchSize = 500;
const checksPerSweep = 5_000;
const promotionsPerSweep = 50;
const maxActive = 10_000;
const shutdownGraceMs = 1_500;

export interface AutoRoleTiming {
	sweepIntervalMs: number;
	flushIntervalMs: number;
	/**
	 * Wait before the next role change after one failed, in milliseconds: the first wait and the maximum. The wait
	 * doubles with each consecutive failure.
	 */
	backOffMs?: readonly [number, number];
	/** Returns the wall-clock time in epoch milliseconds. */
	now(): number;
}

const defaultTiming: AutoRoleTiming = {
	sweepIntervalMs: 60_000,
	flushIntervalMs: 5_000,
	now: Date.now,
};

type Settings = NonNullable<TomlSettings["auto_role"]>;

interface Progress {
	ageMs: number;
	messages: number;
}

/**
 * Whether a member's time in the guild and number of messages suffice for the role that auto_role gives. A requirement
 * of 0 is ignored.
 */
export function isEarned({ min_age, min_messages, require_all }: Settings, { ageMs, messages }: Progress): boolean {
	const requirements = [...(min_age ? [ageMs >= min_age] : []), ...(min_messages ? [messages >= min_messages] : [])];
	return require_all ? requirements.every(Boolean) : requirements.some(Boolean);
}

/** Creates the feature auto_role, which gives members a role for their activity; undefined when the feature is off. */
export function createAutoRole(
	options: FeatureOptions,
	changes: Partial<AutoRoleTiming> = {},
): (Feature & { sweep(): Promise<void> }) | undefined {
	const { connection, store, log, config } = options;
	const { features, auto_role, game } = config.toml;
	if (!features.auto_role || !auto_role) return undefined;
	const settings = auto_role;
	const timing = { ...defaultTiming, ...changes };
	const { to_role, from_role } = settings;
	const closing = new AbortController();
	const writer = new RoleWriter(closing.signal, timing.backOffMs);
	const promotions = createPromotions(options, settings, writer);
	const activity = new ActivityBuffer(store, log, to_role);
	let activeIds = new Set<string>();
	let cursor = 0;
	let sweeping: Promise<void> | undefined;
	const timers: Timer[] = [];

	/** Promotes (gives a role to) members who meet the requirements. Concurrent calls share one check. Never rejects. */
	function sweep(): Promise<void> {
		sweeping ??= checkAll()
			.catch((error) => {
				// The store logs its own outages.
				if (!(error instanceof StoreUnavailable))
					log.error("auto_role feature: could not check which members are to get its role: internal error", {
						error,
					});
			})
			.finally(() => {
				sweeping = undefined;
			});
		return sweeping;
	}

	async function flush(): Promise<void> {
		await activity.flush().catch((error) => {
			// The store logs its own outages.
			if (!(error instanceof StoreUnavailable))
				log.error("auto_role feature: could not save message counts: internal error", {
					error,
				});
		});
	}

	function isEligible({ guild, user }: GuildMember): boolean {
		return !user.bot && guild.roles.cache.has(to_role);
	}

	function hasRole({ roles }: GuildMember): boolean {
		return roles.cache.has(to_role);
	}

	function addMessage({ author, webhookId, system, member }: Message): void {
		if (author.bot || webhookId || system || !member) return;
		if (!isEligible(member)) return;
		activity.addMessage(member);
		markActive(member);
	}

	function markActive({ id }: GuildMember): void {
		if (activeIds.size < maxActive) activeIds.add(id);
	}

	async function checkAll(): Promise<void> {
		const guild = guildForRoles(connection, from_role ? [to_role, from_role] : [to_role], promotions.warn);
		if (!guild) return;
		await activity.flush();
		await promotions.resumeClaimed(guild, promotionsPerSweep);
		const active = [...activeIds].flatMap((id) => guild.members.cache.get(id) ?? []);
		activeIds = new Set();
		let left = promotionsPerSweep;
		for (const members of inBatches(active, batchSize)) {
			left = await check(guild, members, left);
			if (left > 0) continue;
			// Not all were checked: keep them for the next sweep.
			for (const member of active) markActive(member);
			return;
		}
		const { cache } = guild.members;
		if (cursor >= cache.size) cursor = 0;
		const end = Math.min(cursor + checksPerSweep, cache.size);
		while (cursor < end) {
			const next = cache.values().drop(cursor).take(batchSize);
			left = await check(guild, [...next], left);
			// The next sweep checks this batch again.
			if (left <= 0) return;
			cursor += batchSize;
		}
	}

	async function check(guild: Guild, members: readonly GuildMember[], left: number): Promise<number> {
		const people = members.filter(({ user }) => !user.bot);
		if (people.length === 0) return left;
		const rows = await selectActivity(
			store.sql,
			guild.id,
			people.map(({ id }) => id),
		);
		const known = new Map(rows.map((row) => [row.user_id, row]));
		const due: GuildMember[] = [];
		for (const member of people) {
			const row = known.get(member.id);
			if (row && isPromoted(row, member)) continue;
			if (hasRole(member)) activity.addHolder(member);
			else if (isDue(member, row)) due.push(member);
		}
		due.sort((a, b) => joinedAtMs(a) - joinedAtMs(b));
		for (const member of due) {
			if (left <= 0) break;
			const membership = { user_id: member.id, joined_at: joinedAtMs(member) };
			if (!(await promotions.promote(guild, membership))) return 0;
			left -= 1;
		}
		return left;
	}

	/**
	 * Whether the feature auto_role must not give a member its role: it did so already since the member joined, or someone
	 * removed the role before the member last left the guild.
	 */
	function isPromoted(row: Activity, member: GuildMember): boolean {
		if (row.promoted === 0 || row.role_id !== to_role) return false;
		return row.withheld === 1 || row.joined_at === joinedAtMs(member);
	}

	function isDue(member: GuildMember, row: Activity | undefined): boolean {
		if (member.pending || promotions.isPostponed(member.id)) return false;
		if (from_role !== undefined && !member.roles.cache.has(from_role)) return false;
		const joinedAt = joinedAtMs(member);
		return isEarned(settings, {
			ageMs: timing.now() - joinedAt,
			// Rejoining resets the count.
			messages: row?.joined_at === joinedAt ? row.messages : 0,
		});
	}

	return {
		attach(client) {
			client.on(Events.MessageCreate, addMessage);
			client.on(Events.GuildMemberUpdate, (_, member) => {
				if (!isEligible(member)) return;
				// Recorded now: the role may be removed by hand before the next sweep.
				if (hasRole(member)) activity.addHolder(member);
				else markActive(member);
			});
			client.on(Events.GuildMemberRemove, (member) => {
				if (!member.guild.roles.cache.has(to_role)) return;
				activeIds.delete(member.id);
				const { cache } = member.roles;
				const restrictedRole = game?.restricted_role;
				const keepsPromotion = cache.has(to_role) || (restrictedRole !== undefined && cache.has(restrictedRole));
				activity.addLeft(member, keepsPromotion);
			});
		},
		start() {
			timers.push(setInterval(sweep, timing.sweepIntervalMs), setInterval(flush, timing.flushIntervalMs));
		},
		async close() {
			for (const timer of timers) clearInterval(timer);
			closing.abort();
			await within(shutdownGraceMs, sweeping);
			await within(shutdownGraceMs, flush());
		},
		sweep,
	};
}
