// Turns raid mode on and off in the background. A request is stored first, and each change of a setting is stored
// before it is sent to Discord. The next change follows from the stored state and Discord's current values. So the work
// continues after a crash or an outage, and stops when somebody requests the opposite.

import { type Client, DiscordAPIError, Events, type Guild } from "discord.js";
import type { KeyedMutex } from "../../../../lib/keyed-mutex.ts";
import type { Log } from "../../../../lib/log.ts";
import { createReconciler, NotNow } from "../../../../lib/reconciler.ts";
import type { Connection } from "../../../discord/connection/connection.ts";
import { onSessionOrGuild } from "../../../discord/connection/session-events.ts";
import { describePlatformError } from "../../../discord/rest/errors.ts";
import { PlatformFailure, PlatformTimeout, wasNotDone } from "../../../discord/rest/rest.ts";
import { auditReason } from "../../../discord/text.ts";
import { StoreUnavailable } from "../../../store/database/db-error.ts";
import type { Store } from "../../../store/store.ts";
import {
	deleteEndedRaidSteps,
	endRaidRun,
	type OpenRaidMode,
	type RaidMode,
	type RaidStep,
	saveRaidMode,
	saveRaidSteps,
	selectOpenRaidModes,
	selectRaidMode,
	selectRaidSteps,
} from "../../../store/tables/raid-modes.ts";
import { logFailedStep } from "../failed-step.ts";
import type { ModerationLog } from "../moderation-log.ts";
import { planRaidMode } from "./raid-plan.ts";
import {
	confirmed,
	isChannel,
	isRenewalDue,
	isUnrenewed,
	isUnsettled,
	keyOf,
	type Move,
	newsOf,
	refused,
	renewalInMs,
	unanswered,
	withoutRenewal,
} from "./raid-rules.ts";
import { type ReadSettings, readSettings, sendSetting } from "./raid-settings.ts";
import { endEntry, laterEntry, progressEntry } from "./raid-text.ts";

const maxConcurrent = 5;
const batchSize = 5;
const maxAgeMs = 15_000;
const progressMs = 60_000;
const maxUnanswered = 5;
const shutdownGraceMs = 3_000;

export interface RaidModesOptions {
	connection: Connection;
	store: Store;
	log: Log;
	/**
	 * Keyed mutex with guild and channel ids as keys, so that tools do not edit the same guild or channel at the same
	 * time.
	 */
	mutex: KeyedMutex;
	moderationLog: Pick<ModerationLog, "add">;
	/** Returns the wall-clock time in epoch milliseconds. The clock may jump. */
	now?: () => number;
	/** Wait before failed work is retried, in milliseconds: the first wait and the maximum. */
	backOffMs?: readonly [number, number];
	/** Maximum interval between two checks whether a pause of invites must be renewed, in milliseconds. */
	maxSleepMs?: number;
	/** Milliseconds after which a request without a response can no longer take effect on Discord. */
	arrivedAfterMs?: number;
}

/** A request to turn raid mode on or off. */
export interface RaidRequest extends Pick<RaidMode, "wanted" | "moderator_id" | "mark" | "slowmode"> {}

/** The state of a guild's raid mode and of the settings that it changed; undefined if raid mode was never turned on. */
export type RaidView = { mode: RaidMode; steps: RaidStep[] } | undefined;

export interface RaidModes {
	/**
	 * Stores a request to turn raid mode on or off, and starts to change the settings. `ended` resolves when all settings
	 * were processed. Rejects with StoreUnavailable.
	 */
	turn(guildId: string, request: RaidRequest): Promise<{ ended: Promise<void> }>;
	/** Returns the state of a guild's raid mode. Rejects with StoreUnavailable. */
	view(guildId: string): Promise<RaidView>;
	/** Subscribes to the Gateway events of a new discord.js client. */
	attach(client: Client): void;
	start(): void;
	close(): Promise<void>;
}

export function createRaidModes(options: RaidModesOptions): RaidModes {
	const { connection, store, log, mutex, moderationLog } = options;
	const { now = Date.now, maxSleepMs = 300_000 } = options;
	const { arrivedAfterMs = 15_000 } = options;
	const { sql } = store;
	let isClosing = false;
	/**
	 * Ids of guilds whose settings must be checked again although raid mode is completely on, for example after a channel
	 * was created.
	 */
	const unchecked = new Set<string>();
	let isAnyUnchecked = true;
	const failures = new Map<string, number>();
	const askedAt = new Map<string, number>();
	const endings = new Map<string, PromiseWithResolvers<void>>();
	const loggedAt = new Map<string, number>();

	const reconciler = createReconciler({
		maxConcurrent,
		backOffMs: options.backOffMs ?? [1_000, 60_000],
		onScanFailure(error) {
			if (!(error instanceof StoreUnavailable)) log.error("could not load raid modes from the database", { error });
		},
		async scan() {
			const modes = await selectOpenRaidModes(sql);
			const at = now();
			if (isAnyUnchecked) for (const mode of modes) unchecked.add(mode.guild_id);
			isAnyUnchecked = false;
			const known = new Set(modes.map(({ guild_id }) => guild_id));
			for (const id of unchecked) if (!known.has(id)) unchecked.delete(id);
			const renewals = modes.map(({ paused_until }) =>
				paused_until === null ? Infinity : renewalInMs(paused_until, at),
			);
			return {
				due: modes
					.filter((mode) => isDue(mode, at))
					.map(({ guild_id }) => ({ key: guild_id, run: () => run(guild_id) })),
				nextMs: Math.min(maxSleepMs, ...renewals.filter((ms) => ms > 0)),
			};
		},
	});

	function isDue(mode: OpenRaidMode, at: number): boolean {
		const { guild_id, ended_at, paused_until } = mode;
		// Discord sends an event when an unavailable guild is available again.
		if (!connection.ready || !guildOf(guild_id)?.available) return false;
		const mustRenew = paused_until !== null && isRenewalDue(paused_until, at);
		return ended_at === null || unchecked.has(guild_id) || mustRenew;
	}

	function guildOf(id: string): Guild | undefined {
		return connection.guilds.find((guild) => guild.id === id);
	}

	/** Changes a guild's settings for raid mode until nothing is left to do. Rejects if it must be retried later. */
	async function run(guildId: string): Promise<void> {
		unchecked.delete(guildId);
		try {
			await work(guildId);
		} catch (error) {
			unchecked.add(guildId);
			const fields = { guild: guildId };
			logFailedStep(log, "could not change the raid mode", fields, error);
			throw error;
		}
	}

	async function work(guildId: string): Promise<void> {
		const mode = await selectRaidMode(sql, guildId);
		const guild = guildOf(guildId);
		if (!mode) return;
		if (!guild?.available) throw new NotNow("the guild is unavailable");
		const changed: RaidStep[] = [];
		let mustRenew = false;
		for (;;) {
			const steps = await selectRaidSteps(sql, guildId);
			const read = await readSettings(guild);
			const readAt = performance.now();
			const found = await movesOf(guild, mode, steps, read);
			const moves = mustRenew ? withoutRenewal(found.moves) : found.moves;
			if (moves.length === 0) {
				if (found.mustWait) throw new NotNow("waiting for an earlier request");
				await end(mode, changed);
				if (mustRenew) throw new NotNow("the pause was not renewed");
				return;
			}
			for (let at = 0; at < moves.length; at += batchSize) {
				if (performance.now() - readAt > maxAgeMs) break;
				// A newer request may have been stored. The next run of the reconciler finds it.
				if (!(await isCurrent(mode))) return;
				const batch = moves.slice(at, at + batchSize);
				const steps = await carryOut(guild, mode, batch, read);
				if (mode.ended_at !== null) mustRenew ||= steps.some(isUnrenewed);
				changed.push(...newsOf(batch, steps));
				logProgress(mode, moves.length, at + batch.length);
			}
		}
	}

	async function isCurrent({ guild_id, run }: RaidMode): Promise<boolean> {
		if (isClosing) throw new NotNow("the bot is stopping");
		return (await selectRaidMode(sql, guild_id))?.run === run;
	}

	async function movesOf(
		guild: Guild,
		mode: RaidMode,
		steps: readonly RaidStep[],
		read: ReadSettings,
	): Promise<{ moves: Move[]; mustWait: boolean }> {
		const { moves } = await planRaidMode(guild, mode, steps, read, now());
		const early = new Set(
			steps.filter((step) => isUnsettled(mode, step) && mayArrive(keyOf(step))).map(({ thing }) => thing),
		);
		const possible = moves.filter(({ step }) => !early.has(step.thing));
		const tries = ({ step }: Move) => failures.get(keyOf(step)) ?? 0;
		return {
			moves: possible.sort((a, b) => tries(a) - tries(b)),
			mustWait: possible.length < moves.length,
		};
	}

	function mayArrive(key: string): boolean {
		const since = askedAt.get(key) ?? performance.now();
		askedAt.set(key, since);
		return performance.now() - since < arrivedAfterMs;
	}

	async function carryOut(
		guild: Guild,
		mode: RaidMode,
		moves: readonly Move[],
		read: ReadSettings,
	): Promise<RaidStep[]> {
		const requested = moves.map(({ step }) => step);
		await saveRaidSteps(sql, requested);
		const errors: unknown[] = [];
		const steps = await Promise.all(
			moves.map(async ({ step, send }) => {
				if (send === undefined) {
					askedAt.delete(keyOf(step));
					return step;
				}
				try {
					return await change(guild, mode, step, send, read);
				} catch (error) {
					errors.push(error);
					return step;
				}
			}),
		);
		await saveRaidSteps(sql, steps);
		if (errors.length > 0) throw errors[0];
		return steps;
	}

	async function change(
		guild: Guild,
		mode: RaidMode,
		step: RaidStep,
		value: number,
		read: ReadSettings,
	): Promise<RaidStep> {
		const { thing } = step;
		const key = keyOf(step);
		if ((failures.get(key) ?? 0) >= maxUnanswered) {
			failures.delete(key);
			return unanswered(step);
		}
		askedAt.set(key, performance.now());
		try {
			await mutex.withLock(isChannel(thing) ? thing : guild.id, () =>
				sendSetting(guild, { thing, value }, read, auditReason(mode.mark)),
			);
		} catch (error) {
			if (wasNotDone(error)) askedAt.delete(key);
			if (error instanceof DiscordAPIError && error.status !== 401) {
				failures.delete(key);
				if (error.status === 404 && isChannel(thing)) return { ...step, state: "gone" };
				return refused(step, describePlatformError(error) ?? error.message);
			}
			if (error instanceof PlatformTimeout || error instanceof PlatformFailure)
				failures.set(key, (failures.get(key) ?? 0) + 1);
			throw error;
		}
		failures.delete(key);
		askedAt.delete(key);
		return confirmed(step);
	}

	function logProgress(mode: RaidMode, all: number, done: number): void {
		const { guild_id } = mode;
		if (mode.ended_at !== null || done >= all) return;
		const at = performance.now();
		const last = loggedAt.get(guild_id) ?? at;
		loggedAt.set(guild_id, last);
		if (at - last < progressMs) return;
		loggedAt.set(guild_id, at);
		moderationLog.add(guild_id, progressEntry(mode, all, done));
	}

	async function end(mode: RaidMode, changed: readonly RaidStep[]): Promise<void> {
		const { guild_id, wanted } = mode;
		const later = laterEntry(mode, changed);
		if (mode.ended_at !== null) {
			if (later) moderationLog.add(guild_id, later);
			return;
		}
		const steps = await selectRaidSteps(sql, guild_id);
		loggedAt.delete(guild_id);
		if (!(await endRaidRun(sql, mode, now()))) return;
		endings.get(guild_id)?.resolve();
		endings.delete(guild_id);
		log.info("raid mode changed", { guild: guild_id, state: wanted });
		moderationLog.add(guild_id, endEntry(mode, steps));
	}

	function recheck(): void {
		isAnyUnchecked = true;
		reconciler.retryAll();
	}

	return {
		async turn(guildId, request) {
			const before = await selectRaidMode(sql, guildId);
			const hasEnded = before?.wanted === "off" && before.ended_at !== null;
			if (hasEnded && request.wanted === "on") await deleteEndedRaidSteps(sql, guildId);
			const ending = Promise.withResolvers<void>();
			endings.set(guildId, ending);
			try {
				await saveRaidMode(sql, {
					...request,
					guild_id: guildId,
					run: (before?.run ?? 0) + 1,
					asked_at: now(),
					ended_at: null,
				});
			} finally {
				// The reconciler must also run after a failure, because the row may have been stored anyway.
				reconciler.retryAll();
			}
			return { ended: ending.promise };
		},
		async view(guildId) {
			const mode = await selectRaidMode(sql, guildId);
			return mode && { mode, steps: await selectRaidSteps(sql, guildId) };
		},
		attach(client) {
			onSessionOrGuild(client, recheck);
			client.on(Events.ShardResume, recheck);
			client.on(Events.ChannelCreate, ({ guild }) => {
				unchecked.add(guild.id);
				reconciler.wake();
			});
		},
		start: reconciler.wake,
		async close() {
			isClosing = true;
			await reconciler.close(shutdownGraceMs);
		},
	};
}
