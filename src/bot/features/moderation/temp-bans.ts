// Temporary bans. Each is stored before Discord is asked, so that a crash loses nothing: an unconfirmed ban is checked
// and completed, and an expired one is lifted once, after any outage.

import {
	type APIBan,
	type Client,
	DiscordAPIError,
	type Guild,
	PermissionFlagsBits,
	RESTJSONErrorCodes,
	Routes,
} from "discord.js";
import type { KeyedMutex } from "../../../lib/keyed-mutex.ts";
import { NotNow } from "../../../lib/reconciler.ts";
import { within } from "../../../lib/wait.ts";
import { ToolError } from "../../../mcp/tool.ts";
import type { Connection } from "../../discord/connection/connection.ts";
import { time } from "../../discord/describe.ts";
import { absentIf } from "../../discord/find.ts";
import { describeBits, missingPermissions } from "../../discord/permissions.ts";
import { describePlatformError } from "../../discord/rest/errors.ts";
import { wasNotDone } from "../../discord/rest/rest.ts";
import { auditReason } from "../../discord/text.ts";
import { fetchBan } from "../../guild/bans.ts";
import { ignoreUnavailable, StoreUnavailable } from "../../store/database/db-error.ts";
import { hasBanSince } from "../../store/tables/chargebacks.ts";
import {
	deleteTempBan,
	saveTempBan,
	selectTempBan,
	setBanned,
	type TempBan,
	type TempBanKey,
} from "../../store/tables/temp-bans.ts";
import type { StoredBans } from "../../tool/context.ts";
import type { LogEntry, ModerationLog } from "./moderation-log.ts";
import { createTempBanWorker, keyOf, type WorkerOptions } from "./temp-ban-worker.ts";

/** Milliseconds after which a stored temporary ban that Discord has not confirmed is deleted from the database. */
const staleMs = 600_000;
const shutdownGraceMs = 3_000;

const notBanned = {
	title: "Ban failed",
	message: "could not ban a user for a time",
};
const notLifted = {
	title: "Expired ban not lifted",
	message: "could not lift an expired temporary ban",
};

export interface BanRequest {
	userId: string;
	moderator: { id: string; name: string };
	/** Reason for the ban as one line of text; null if none was given. */
	reason: string | null;
	/** When the ban ends, in epoch milliseconds; null for a permanent ban. */
	endsAt: number | null;
	/** For how many seconds back Discord deletes the user's messages. Not repeated if the ban is completed later. */
	deleteSeconds?: number | undefined;
}

/** Result of banning a user. "changed": the user was already banned, and only the end of the ban was changed. */
export type BanOutcome = "banned" | "changed";

export interface TempBans extends StoredBans {
	/**
	 * Bans a user. Rejects with an error written for the moderator. If Discord does not confirm the ban, the bot
	 * completes it later.
	 */
	ban(guild: Guild, request: BanRequest): Promise<BanOutcome>;
	/** Subscribes to the Gateway events of a new discord.js client. */
	attach(client: Client): void;
	start(): void;
	close(): Promise<void>;
}

export interface TempBansOptions extends Omit<WorkerOptions, "settle"> {
	/** Lock per user id: only one change to a user's bans or roles runs at a time. */
	mutex: KeyedMutex;
	moderationLog: Pick<ModerationLog, "add">;
	/** Called when it is known what became of a ban that the bot was still going to make. */
	decided?(): void;
}

export function createTempBans(options: TempBansOptions): TempBans {
	const { connection, store, log, mutex, moderationLog } = options;
	const { now = Date.now } = options;
	const { sql } = store;
	const inFlight = new Set<Promise<unknown>>();
	const unbanSent = new Set<string>();
	const made = new Set<string>();
	/**
	 * Keys (guild and user id) of expired bans for which a failed unban has been logged, so that it is logged only once.
	 */
	const refused = new Set<string>();
	const worker = createTempBanWorker({
		...options,
		settle: (key) => withUserLock(key.user_id, () => settle(key)),
	});

	function withUserLock<T>(userId: string, work: () => Promise<T>): Promise<T> {
		const locked = mutex.withLock(userId, work);
		inFlight.add(locked);
		const end = () => inFlight.delete(locked);
		locked.then(end, end);
		return locked;
	}

	async function ban(guild: Guild, request: BanRequest): Promise<BanOutcome> {
		const { userId, moderator, reason, endsAt, deleteSeconds } = request;
		const key = { guild_id: guild.id, user_id: userId };
		const existing = await fetchBan(guild, userId);
		const own = existing && (await selectTempBan(sql, key));
		const isReplaced = existing !== undefined && hasEnd(existing) && !(own && isOurs(own, existing));
		const outcome = existing ? "changed" : "banned";
		if (endsAt === null) {
			// Delete the row of a temporary ban first: its end must no longer apply.
			await deleteTempBan(sql, key);
			made.delete(keyOf(key));
			if (isReplaced) await liftReplaced(guild, userId);
			if (isReplaced || !existing)
				await putBan(guild, userId, {
					reason: auditText(`By ${moderator.name}`, reason),
					deleteSeconds,
				});
			return outcome;
		}
		const row: TempBan = {
			...key,
			reason,
			moderator_id: moderator.id,
			asked_at: now(),
			ends_at: endsAt,
			state: existing && !isReplaced ? "banned" : "asked",
			mark:
				existing && !isReplaced
					? existing.reason
					: // Formatted as it is sent to Discord, because the bot recognises its ban by this text.
						auditReason(`By ${moderator.name} until ${time(endsAt)}`),
		};
		made.delete(keyOf(row));
		await saveTempBan(sql, row);
		if (existing && !isReplaced) return "changed";
		await banStored(guild, row, deleteSeconds, isReplaced);
		made.add(keyOf(row));
		// If this fails, the worker repeats it.
		await setBanned(sql, row).catch(ignoreUnavailable);
		return outcome;
	}

	async function banStored(
		guild: Guild,
		row: TempBan,
		deleteSeconds: number | undefined,
		isReplaced: boolean,
	): Promise<void> {
		let isLifted = false;
		try {
			const reason = auditText(row.mark, row.reason);
			if (isReplaced) await liftReplaced(guild, row.user_id);
			isLifted = isReplaced;
			await putBan(guild, row.user_id, { reason, deleteSeconds });
		} catch (error) {
			// Without the former ban, the worker must make this one.
			const isDeleted =
				!isLifted && wasNotDone(error) ? await deleteTempBan(sql, row).catch(ignoreUnavailable) : undefined;
			if (isDeleted) throw error;
			throw new ToolError(
				"Discord did not confirm the ban. The bot will check whether the user is banned, and try again if not.",
				{ cause: error },
			);
		}
	}

	async function beforeUnban(guildId: string, userId: string) {
		const key = { guild_id: guildId, user_id: userId };
		let row: TempBan | undefined;
		try {
			row = await selectTempBan(sql, key);
		} catch (error) {
			if (!(error instanceof StoreUnavailable)) throw error;
			// The worker deletes a row when the database is back, as after an unban by hand.
			return async () => {
				made.add(keyOf(key));
			};
		}
		return row && (() => forget(row));
	}

	async function forget(row: TempBan): Promise<void> {
		// While the row remains, the worker must not make the ban again.
		made.add(keyOf(row));
		const isDeleted = await deleteTempBan(sql, row).catch(ignoreUnavailable);
		if (isDeleted !== undefined) made.delete(keyOf(row));
	}

	/**
	 * Does what is due for a stored temporary ban: bans the user on Discord, records that the ban was made, lifts an
	 * expired ban, or deletes the stored ban when it is over. Safe to repeat. Rejects when this must be retried.
	 */
	async function settle({ guild_id, user_id }: TempBanKey): Promise<void> {
		const row = await selectTempBan(sql, { guild_id, user_id });
		if (!row) {
			made.delete(keyOf({ guild_id, user_id }));
			return;
		}
		const guild = requireGuild(connection, guild_id);
		requireBanPermission(guild, row);
		const existing = await fetchBan(guild, user_id);
		const isMade = row.state === "banned" || made.has(keyOf(row));
		if (!existing && !isMade) return completeBan(guild, row);
		if (!existing) {
			// The unban succeeded without a response, or its row was not deleted.
			if (unbanSent.delete(keyOf(row))) addEntry(row, "Ban expired");
			return deleteRow(row, "lifted");
		}
		unbanSent.delete(keyOf(row));
		if (!isOurs(row, existing)) {
			if (row.state === "banned" || !hasEnd(existing)) return deleteRow(row, "replaced by another ban");
			// The bot was interrupted before it replaced the ban.
			await liftReplaced(guild, user_id);
			return completeBan(guild, row);
		}
		if (row.state === "asked") await confirmBanned(row);
		if (row.ends_at > now()) return;
		if (await hasBanSince(sql, user_id, row.asked_at)) return deleteRow(row, "banned for a chargeback");
		await endBan(guild, row);
		await deleteRow(row, "expired");
	}

	async function deleteRow(row: TempBan, reason: string): Promise<void> {
		await deleteTempBan(sql, row);
		made.delete(keyOf(row));
		if (row.state === "asked") options.decided?.();
		const { guild_id: guild, user_id: user } = row;
		log.info("removed a temporary ban from the bot's database", {
			guild,
			user,
			reason,
		});
	}

	function requireBanPermission(guild: Guild, row: TempBan): void {
		const { BanMembers } = PermissionFlagsBits;
		const missing = missingPermissions(guild, undefined, BanMembers);
		if (missing === 0n) return;
		const reason = `The bot lacks ${describeBits(missing)}`;
		if (row.ends_at <= now()) logNotLifted(row, reason);
		throw new NotNow(reason);
	}

	async function endBan(guild: Guild, row: TempBan): Promise<void> {
		const key = keyOf(row);
		unbanSent.add(key);
		try {
			await deleteBan(guild, row.user_id, `Ban until ${time(row.ends_at)} expired`);
		} catch (error) {
			if (wasNotDone(error)) unbanSent.delete(key);
			if (error instanceof DiscordAPIError) logNotLifted(row, describePlatformError(error));
			throw error;
		}
		unbanSent.delete(key);
		refused.delete(key);
		addEntry(row, "Ban expired");
	}

	function addEntry(row: TempBan, title: string, more?: Partial<LogEntry>) {
		const { guild_id, moderator_id, user_id, reason } = row;
		const people = { moderatorId: moderator_id, userId: user_id };
		moderationLog.add(guild_id, { title, ...people, reason, ...more });
	}

	/** Logs that an expired ban could not be lifted, once per ban. */
	function logNotLifted(row: TempBan, failure: string | undefined): void {
		if (refused.has(keyOf(row))) return;
		refused.add(keyOf(row));
		logFailure(row, notLifted, failure);
	}

	function logFailure(
		row: TempBan,
		{ title, message }: typeof notBanned,
		failure = "The ban was requested too long ago",
	): void {
		log.warn(message, {
			guild: row.guild_id,
			user: row.user_id,
			reason: failure,
		});
		addEntry(row, title, {
			isFailure: true,
			description: `${failure}.`,
			until: row.ends_at,
		});
	}

	async function completeBan(guild: Guild, row: TempBan): Promise<void> {
		const at = now();
		if (row.ends_at <= at || at - row.asked_at > staleMs) {
			await deleteRow(row, "requested too long ago");
			return logFailure(row, notBanned);
		}
		try {
			const reason = auditText(row.mark, row.reason);
			await putBan(guild, row.user_id, { reason });
		} catch (error) {
			if (!(error instanceof DiscordAPIError) || error.status === 401) throw error;
			await deleteRow(row, "refused by Discord");
			return logFailure(row, notBanned, describePlatformError(error));
		}
		await confirmBanned(row);
	}

	async function confirmBanned(row: TempBan): Promise<void> {
		await setBanned(sql, row);
		// The case of the ban may say that its outcome is unknown.
		addEntry(row, "Ban confirmed", { until: row.ends_at });
		options.decided?.();
	}

	return {
		// Also after a failure: the row may have been stored anyway.
		ban: (guild, request) => withUserLock(request.userId, () => ban(guild, request)).finally(worker.wake),
		beforeUnban,
		async has(guildId, userId) {
			const key = { guild_id: guildId, user_id: userId };
			return (await selectTempBan(sql, key)) !== undefined;
		},
		async makePermanent(guildId, userId) {
			const key = { guild_id: guildId, user_id: userId };
			await deleteTempBan(sql, key);
			made.delete(keyOf(key));
		},
		attach: worker.attach,
		start: worker.wake,
		async close() {
			await Promise.all([worker.close(shutdownGraceMs), within(shutdownGraceMs, Promise.allSettled(inFlight))]);
		},
	};
}

function requireGuild({ guilds }: Connection, guildId: string): Guild {
	const guild = guilds.find(({ id }) => id === guildId);
	if (!guild?.available) throw new NotNow();
	return guild;
}

async function putBan(
	guild: Guild,
	userId: string,
	{ reason, deleteSeconds }: { reason: string } & Pick<BanRequest, "deleteSeconds">,
) {
	await guild.client.rest.put(Routes.guildBan(guild.id, userId), {
		body: deleteSeconds ? { delete_message_seconds: deleteSeconds } : {},
		reason: auditReason(reason),
	});
}

/**
 * Lifts a ban that another bot was going to lift, so that the ban that follows has its own reason: the other bot then
 * leaves that one alone. Discord does not change the reason of a ban.
 */
async function liftReplaced(guild: Guild, userId: string) {
	await deleteBan(guild, userId, "Replaced by another ban");
}

async function deleteBan(guild: Guild, userId: string, reason: string) {
	await absentIf([RESTJSONErrorCodes.UnknownBan], () =>
		guild.client.rest.delete(Routes.guildBan(guild.id, userId), {
			reason: auditReason(reason),
		}),
	);
}

function auditText(mark: string | null, reason: string | null): string {
	return `${mark}${reason ? `: ${reason}` : ""}`;
}

function hasEnd({ reason }: APIBan): boolean {
	return /^By .* until \d{4}-\d\d-\d\dT[\d:]+Z/s.test(reason ?? "");
}

/** Whether a ban found on Discord is the stored temporary ban: its reason must start with the stored `mark`. */
function isOurs({ mark }: TempBan, { reason }: APIBan): boolean {
	return mark === null ? !reason : (reason?.startsWith(mark) ?? false);
}
