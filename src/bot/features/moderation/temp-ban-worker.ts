// Finds the temporary bans that have a step to do: those that ended or are unconfirmed, and those that someone may have lifted.

import { type Client, Events } from "discord.js";
import type { Log } from "../../../lib/log.ts";
import { createReconciler } from "../../../lib/reconciler.ts";
import type { Connection } from "../../discord/connection/connection.ts";
import { onSessionOrGuild } from "../../discord/connection/session-events.ts";
import { StoreUnavailable } from "../../store/database/db-error.ts";
import type { Store } from "../../store/store.ts";
import { selectAllTempBans, selectDue, selectNextEnd, type TempBanKey } from "../../store/tables/temp-bans.ts";
import { logFailedStep } from "./failed-step.ts";

const maxConcurrent = 5;
/**
 * Maximum number of bans to check individually after Discord has reported unbans. If there are more, the bot checks all
 * stored bans.
 */
const maxUnchecked = 10_000;

export interface WorkerOptions {
	connection: Connection;
	store: Pick<Store, "sql">;
	log: Log;
	/**
	 * Does what is due for a stored temporary ban: bans the user on Discord, records that the ban was made, or lifts an
	 * expired ban. Rejects when this must be retried.
	 */
	settle(key: TempBanKey): Promise<void>;
	/** Returns the wall-clock time in epoch milliseconds. The clock may jump. */
	now?: () => number;
	/** Wait before a failed ban or unban is retried, in milliseconds: the first wait and the maximum. */
	backOffMs?: readonly [number, number];
	/** Maximum milliseconds between two searches for ended bans. */
	maxSleepMs?: number;
}

export function createTempBanWorker(options: WorkerOptions) {
	const { connection, store, log, settle, now = Date.now } = options;
	const { maxSleepMs = 300_000 } = options;
	const { sql } = store;
	/** Temporary bans that the bot checks next, because someone may have lifted them on Discord; by guild and user id. */
	const unchecked = new Map<string, TempBanKey>();
	/**
	 * Whether all stored bans must be checked, because someone may have lifted one unnoticed before the start or during a
	 * disconnect.
	 */
	let isAnyUnchecked = true;

	const reconciler = createReconciler({
		maxConcurrent,
		backOffMs: options.backOffMs ?? [500, 600_000],
		onScanFailure(error) {
			if (!(error instanceof StoreUnavailable)) log.error("could not load temporary bans from the database", { error });
		},
		async scan() {
			const at = now();
			const due = await selectDue(sql, at);
			const nextEnd = await selectNextEnd(sql, at);
			if (isAnyUnchecked) await loadUnchecked();
			// Due bans come first.
			const bans = new Map(due.map((ban) => [keyOf(ban), ban]));
			for (const [key, ban] of unchecked) bans.set(key, ban);
			return {
				// An unavailable guild announces its return with an event.
				due: [...bans].filter(([, ban]) => isAvailable(ban)).map(([key, ban]) => ({ key, run: () => run(key, ban) })),
				nextMs: Math.min((nextEnd ?? Infinity) - at, maxSleepMs),
			};
		},
	});

	async function loadUnchecked(): Promise<void> {
		isAnyUnchecked = false;
		try {
			for (const ban of await selectAllTempBans(sql)) unchecked.set(keyOf(ban), ban);
		} catch (error) {
			isAnyUnchecked = true;
			throw error;
		}
	}

	function isAvailable({ guild_id }: TempBanKey): boolean {
		const guild = connection.guilds.find(({ id }) => id === guild_id);
		return connection.ready && guild?.available === true;
	}

	async function run(key: string, ban: TempBanKey): Promise<void> {
		const wasUnchecked = unchecked.delete(key);
		try {
			await settle(ban);
		} catch (error) {
			if (wasUnchecked) addUnchecked(ban);
			const fields = { guild: ban.guild_id, user: ban.user_id };
			logFailedStep(log, "could not lift a temporary ban", fields, error);
			throw error;
		}
	}

	function addUnchecked(ban: TempBanKey): void {
		if (unchecked.size < maxUnchecked) unchecked.set(keyOf(ban), ban);
		else isAnyUnchecked = true;
	}

	/**
	 * Checks all stored bans again and retries failed ones. Call after a new Gateway session, because events may have
	 * been missed.
	 */
	function reset(): void {
		isAnyUnchecked = true;
		reconciler.retryAll();
	}

	return {
		wake: reconciler.wake,
		close: reconciler.close,
		attach(client: Client): void {
			client.on(Events.GuildBanRemove, ({ guild, user }) => {
				addUnchecked({ guild_id: guild.id, user_id: user.id });
				reconciler.wake();
			});
			onSessionOrGuild(client, reset);
		},
	};
}

export function keyOf({ guild_id, user_id }: TempBanKey): string {
	return `${guild_id} ${user_id}`;
}
