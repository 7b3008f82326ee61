// The feature `join_role`: gives a role to everyone who joins, at once or after membership screening. The store holds
// when the last handled member joined and who still waits for the role, so that nobody is missed after a restart.

import { Events, type GuildMember, Routes } from "discord.js";
import { createReconciler, NotNow, type Step } from "../../lib/reconciler.ts";
import { within } from "../../lib/wait.ts";
import type { Feature, FeatureOptions } from "../commands/feature.ts";
import { StoreUnavailable } from "../store/database/db-error.ts";
import { saveJoinRoleNotes, selectJoinRoleNotes } from "../store/tables/join-roles.ts";
import { createIsRestricted, failureReason, guildForRoles, guildWithRole, RoleWriter } from "./role-writer.ts";

const toleranceMs = 5_000;
const shutdownGraceMs = 1_500;
const logInterval = 100;

export interface JoinRoleTiming {
	/** Interval at which the bot looks for members who joined and still have to get the newcomer role. */
	scanIntervalMs: number;
	/**
	 * Interval at which the bot stores which members still have to get the newcomer role, and tries again to give them
	 * the role.
	 */
	saveIntervalMs: number;
	/**
	 * Wait before the next role change after one failed, in milliseconds: the first wait and the maximum. The wait
	 * doubles with each consecutive failure.
	 */
	backOffMs?: readonly [number, number];
}

type Owed = Map<string, number>;

/** Creates the feature join_role, which gives a role to everyone who joins; undefined when the feature is off. */
export function createJoinRole(
	options: FeatureOptions,
	timing: JoinRoleTiming = { scanIntervalMs: 1_000, saveIntervalMs: 10_000 },
): Feature | undefined {
	const { features, join_role } = options.config.toml;
	if (!features.join_role || !join_role) return undefined;
	const { connection, store, mutex, log, registry } = options;
	const roleId = join_role.role;
	const isRestricted = createIsRestricted(options);
	const closing = new AbortController();
	const writer = new RoleWriter(closing.signal, timing.backOffMs);
	const queue: Owed = new Map();
	const waiting: Owed = new Map();
	let saved: Owed | undefined;
	let joinedUntil: number | undefined;
	let savedUntil: number | undefined;
	let mayHaveMissed = true;
	let given = 0;
	let lastWarning: string | undefined;
	let nextSave = 0;
	const counter = registry?.counter("guildhall_bot_join_roles_total", "Roles given to those who joined, by outcome.", [
		"outcome",
	]);
	registry?.gauge("guildhall_bot_join_roles_owed", "Members who joined and have yet to be given the role.", [], () => [
		[[], queue.size + waiting.size],
	]);
	const reconciler = createReconciler({
		scan: async () => ({ due: dueSteps(), nextMs: timing.scanIntervalMs }),
		onScanFailure: (error) => log.error("join_role feature: could not list members waiting for the role", { error }),
		maxConcurrent: 1,
		backOffMs: [timing.scanIntervalMs, timing.scanIntervalMs],
	});

	function isEligible({ guild, user }: GuildMember): boolean {
		return !user.bot && guild.roles.cache.has(roleId);
	}

	function owe(member: GuildMember, since = joinedAt(member)): void {
		remove(member.id);
		(member.pending ? waiting : queue).set(member.id, since);
	}

	function remove(id: string): void {
		queue.delete(id);
		waiting.delete(id);
	}

	function dueSteps(): Step[] {
		const due: Step[] = [];
		if (queue.size > 0) due.push(step("give", processQueue));
		if (mayHaveMissed || performance.now() >= nextSave) due.push(step("save", catchUpAndSave));
		return due;
	}

	function step(key: string, work: () => Promise<void>): Step {
		const run = async () => {
			try {
				await work();
			} catch (error) {
				if (!(error instanceof StoreUnavailable || error instanceof NotNow))
					log.error("join_role feature: could not give new members the role: internal error", {
						error,
					});
				throw error;
			}
		};
		return { key, lane: key, run };
	}

	async function catchUpAndSave(): Promise<void> {
		if (mayHaveMissed) await catchUp();
		if (performance.now() >= nextSave) {
			nextSave = performance.now() + timing.saveIntervalMs;
			retryWaiting();
			await save();
		}
		if (mayHaveMissed) throw new NotNow("the bot has not loaded all members of the guild yet");
	}

	function retryWaiting(): void {
		const guild = guildWithRole(connection, roleId, warn);
		for (const [id, since] of waiting) {
			const member = guild?.members.cache.get(id);
			if (member && !member.pending) owe(member, since);
		}
	}

	/**
	 * Queues members whose join event was missed, so that they get the newcomer role. Does nothing until all members of
	 * the guild are loaded. Rejects with StoreUnavailable when the database is unavailable.
	 */
	async function catchUp(): Promise<void> {
		const guild = guildWithRole(connection, roleId, warn);
		if (!guild || !connection.hasAllMembers(guild)) return;
		if (saved === undefined) {
			const notes = await selectJoinRoleNotes(store.sql, guild.id);
			saved = new Map(notes.owed.map((row) => [row.user_id, row.joined_at]));
			savedUntil = notes.joinedUntil;
			joinedUntil = notes.joinedUntil;
		}
		// The connection may have been lost during the query.
		if (!connection.hasAllMembers(guild)) return;
		mayHaveMissed = false;
		const people = [...guild.members.cache.values()].filter(({ user }) => !user.bot);
		const missed = people.filter(wasMissed).sort((a, b) => joinedAt(a) - joinedAt(b));
		// Missed members go first: they joined earlier.
		const queued = [...queue];
		queue.clear();
		for (const member of missed) owe(member);
		for (const [id, since] of queued) queue.set(id, since);
		// The bot's own join time is the start value for a guild without people.
		const latest = people.reduce(
			(time, member) => Math.max(time, joinedAt(member)),
			joinedUntil ?? guild.joinedTimestamp,
		);
		// On the first start, existing members must not count as new: the tolerance is added, and the time saved at once.
		if (joinedUntil === undefined) nextSave = 0;
		joinedUntil ??= latest + toleranceMs;
		joinedUntil = Math.max(joinedUntil, latest);
		if (missed.length > 0)
			log.info("join_role feature: members joined while the bot was offline", {
				guild: guild.id,
				members: missed.length,
			});
	}

	function wasMissed(member: GuildMember): boolean {
		const { id, roles } = member;
		if (queue.has(id) || waiting.has(id)) return false;
		if (saved?.get(id) === joinedAt(member)) return !roles.cache.has(roleId);
		if (joinedUntil === undefined) return false;
		if (joinedAt(member) <= joinedUntil - toleranceMs) return false;
		// A member with another role was handled by someone else. The cache includes @everyone.
		return roles.cache.every((role) => role.managed || role.id === member.guild.id);
	}

	async function save(): Promise<void> {
		// Also while the guild is unavailable.
		const guild = connection.guilds.find(({ roles }) => roles.cache.has(roleId));
		const until = joinedUntil;
		if (!saved || until === undefined || !guild || mayHaveMissed) return;
		const before = saved;
		const current = new Map([...queue, ...waiting]);
		const owed = [...current]
			.filter(([id, since]) => before.get(id) !== since)
			.map(([user_id, joined_at]) => ({ user_id, joined_at }));
		const settled = [...before.keys()].filter((id) => !current.has(id));
		if (until === savedUntil && owed.length + settled.length === 0) return;
		const changes = { joinedUntil: until, owed, settled };
		await saveJoinRoleNotes(store, guild.id, changes);
		saved = current;
		savedUntil = until;
	}

	async function processQueue(): Promise<void> {
		while (queue.size > 0 && (await writer.ready())) {
			const [first] = queue;
			// The member may have left.
			if (!first) return;
			const [id, since] = first;
			const outcome = await give(id);
			if (outcome === "later")
				throw new NotNow(`the bot cannot give new members the role of join_role: ${lastWarning}`);
			// The member may have left and rejoined.
			if (queue.get(id) !== since) continue;
			queue.delete(id);
			if (outcome === "wait") waiting.set(id, since);
			if (outcome === "retry") queue.set(id, since);
			if (outcome !== "given") continue;
			given += 1;
			if (given % logInterval === 0)
				log.info("join_role feature: gave its role to new members", {
					given,
					still_queued: queue.size,
				});
		}
	}

	async function give(id: string): Promise<"given" | "settled" | "wait" | "retry" | "later"> {
		const guild = guildForRoles(connection, [roleId], warn);
		if (!guild) return "later";
		return mutex.withLock(id, async () => {
			const member = guild.members.cache.get(id);
			if (!member) return "settled";
			if (member.roles.cache.has(roleId)) return "settled";
			if (member.pending) return "wait";
			try {
				if (await isRestricted(id, [...member.roles.cache.keys()])) return "wait";
			} catch (error) {
				// The member may be restricted: only the store knows.
				if (error instanceof StoreUnavailable) return "wait";
				throw error;
			}
			const written = await writer.write(() =>
				connection.discord.rest.put(Routes.guildMemberRole(guild.id, id, roleId), { reason: "for everyone who joins" }),
			);
			if (written === "gone") return "settled";
			if (written === "done") {
				lastWarning = undefined;
				counter?.add(["given"]);
				return "given";
			}
			counter?.add(["failed"]);
			warn(failureReason(written));
			// Also when the outcome is unknown: the request is idempotent.
			return "retry";
		});
	}

	function warn(reason: string): void {
		if (reason !== lastWarning)
			log.warn("join_role feature: could not give new members the role", {
				reason,
				still_queued: queue.size,
			});
		lastWarning = reason;
	}

	return {
		attach(client) {
			const markGap = () => {
				mayHaveMissed = true;
			};
			client.on(Events.ClientReady, markGap);
			client.on(Events.ShardReconnecting, markGap);
			client.on(Events.ShardReady, markGap);
			client.on(Events.GuildMemberAdd, (member) => {
				if (!isEligible(member)) return;
				owe(member);
				// After a gap, earlier members may still be unhandled.
				if (!mayHaveMissed && joinedUntil !== undefined) joinedUntil = Math.max(joinedUntil, joinedAt(member));
				reconciler.wake();
			});
			client.on(Events.GuildMemberUpdate, (_, member) => {
				const since = waiting.get(member.id);
				if (since === undefined || member.pending) return;
				owe(member, since);
				reconciler.wake();
			});
			client.on(Events.GuildMemberRemove, ({ id, guild }) => {
				if (guild.roles.cache.has(roleId)) remove(id);
			});
		},
		start: reconciler.wake,
		async close() {
			closing.abort();
			await reconciler.close(shutdownGraceMs);
			// When this fails, the next start checks more members with the same result.
			await within(
				shutdownGraceMs,
				save().catch(() => {}),
			);
		},
	};
}

function joinedAt({ joinedTimestamp }: GuildMember): number {
	return joinedTimestamp ?? 0;
}
