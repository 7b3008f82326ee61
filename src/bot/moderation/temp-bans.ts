// Temporary bans. Each is stored before Discord is asked, so that a crash loses nothing: an unconfirmed ban is checked
// and completed, and an expired one is lifted once, after any outage.

import {
	type APIBan,
	type Client,
	DiscordAPIError,
	Events,
	type Guild,
	PermissionFlagsBits,
	RESTJSONErrorCodes,
	Routes,
} from "discord.js";
import type { Connection } from "../../discord/connection/connection.ts";
import { onSessionOrGuild } from "../../discord/connection/session-events.ts";
import { time } from "../../discord/describe.ts";
import { absentIf } from "../../discord/find.ts";
import { describeBits, missingPermissions, withTitles } from "../../discord/permissions.ts";
import { describePlatformError, saidPlatformError } from "../../discord/rest/errors.ts";
import { wasNotDone } from "../../discord/rest/rest.ts";
import { auditReason } from "../../discord/text.ts";
import type { KeyedMutex } from "../../lib/keyed-mutex.ts";
import type { Sql } from "../../lib/store/statement.ts";
import { SaidError } from "../../texts/said-error.ts";
import { render, said, type Text } from "../../texts/texts.ts";
import { Durable, type DurableOptions, DurablePart, NotNow, requireGuild, type Step } from "../store/durable.ts";
import type { Store } from "../store/store.ts";
import { selectBanCase } from "../store/tables/cases.ts";
import { selectBansFor } from "../store/tables/chargebacks.ts";
import { selectDue, type TempBan, type TempBanKey, tempBanRows } from "../store/tables/temp-bans.ts";
import { ignoreUnavailable, StoreUnavailable } from "../store/unavailable.ts";
import type { StoredBans } from "../tool/context.ts";
import { fetchBan } from "../tools/members/bans.ts";
import type { LogEntry, ModerationLog } from "./moderation-log.ts";

/** After which a ban that Discord has not confirmed is forgotten. */
const staleMs = 600_000;
/** If Discord has reported more unbans, all are checked. */
const maxUnchecked = 10_000;

const expired: LogEntry = { title: said("log.ban_expired.title"), gravity: "lifted" };
const notBanned = { title: said("log.ban_failed.title"), message: "could not ban a user for a time" };
const notLifted = { title: said("log.not_lifted.title"), message: "could not lift an expired temporary ban" };

export interface BanRequest {
	userId: string;
	moderator: { id: string; name: string };
	reason: string | null;
	/** Epoch milliseconds; null for a permanent ban. */
	endsAt: number | null;
	/** Not repeated if the ban is completed later. */
	deleteSeconds?: number | undefined;
}

/** "changed": was banned already, and only the end is another. */
type BanOutcome = "banned" | "changed";

export interface TempBansOptions extends Pick<DurableOptions, "log" | "backOffMs" | "maxSleepMs"> {
	connection: Connection;
	store: Pick<Store, "sql">;
	/** By user id. */
	mutex: KeyedMutex;
	moderationLog: Pick<ModerationLog, "add">;
	/** The outcome of an open ban is known. */
	decided?(): void;
	now?: () => number;
}

export class TempBans extends DurablePart implements StoredBans {
	readonly #connection: Connection;
	readonly #sql: Sql;
	readonly #now: () => number;
	/** Not confirmed by Discord. */
	readonly #unbanSent = new Set<string>();
	/** Perhaps not recorded as made in the database. */
	readonly #made = new Set<string>();
	/** A failed unban is logged only once. */
	readonly #refused = new Set<string>();
	/** Any stored ban may have been lifted unnoticed, before the start or during a disconnect. */
	#isAnyUnchecked = true;
	protected readonly work: Durable;

	constructor(private readonly options: TempBansOptions) {
		super();
		this.#connection = options.connection;
		this.#sql = options.store.sql;
		this.#now = options.now ?? Date.now;
		this.work = new Durable({
			name: "temporary bans",
			backOffMs: [500, 600_000],
			...options,
			scan: async () => {
				if (this.#isAnyUnchecked) {
					const all = await tempBanRows.all(this.#sql, {}, "ends_at");
					this.#isAnyUnchecked = false;
					for (const ban of all) this.#check(ban);
				}
				const at = this.#now();
				const rows = await selectDue(this.#sql, at);
				return rows.map((row) => ({ ...this.#step(row), inMs: row.state === "asked" ? 0 : row.ends_at - at }));
			},
		});
	}

	#step(ban: TempBanKey): Step {
		return {
			key: keyOf(ban),
			failure: "could not lift a temporary ban",
			fields: { guild: ban.guild_id, user: ban.user_id },
			run: () => this.options.mutex.withLock(ban.user_id, () => this.#settle(ban)),
		};
	}

	/** Looks at a ban that someone may have lifted. Bans that are due have a lane of their own. */
	#check(ban: TempBanKey): void {
		void this.work.add({ ...this.#step(ban), lane: "check" });
	}

	/** Rejects with an error for the moderator. A ban that Discord does not confirm is completed later. */
	ban(guild: Guild, request: BanRequest): Promise<BanOutcome> {
		const { userId } = request;
		return this.work.hold(keyOf({ guild_id: guild.id, user_id: userId }), () =>
			this.options.mutex.withLock(userId, () => this.#ban(guild, request)),
		);
	}

	async #ban(guild: Guild, request: BanRequest): Promise<BanOutcome> {
		const { userId, moderator, reason, endsAt, deleteSeconds } = request;
		const key = { guild_id: guild.id, user_id: userId };
		const existing = await fetchBan(guild, userId);
		const own = existing && (await tempBanRows.first(this.#sql, key));
		const isReplaced = existing !== undefined && hasEnd(existing) && !(own && isOurs(own, existing));
		const outcome = existing ? "changed" : "banned";
		if (endsAt === null) {
			// Delete the row of a temporary ban first: its end must no longer apply.
			await tempBanRows.delete(this.#sql, key);
			this.#made.delete(keyOf(key));
			if (isReplaced) await liftReplaced(guild, userId);
			if (isReplaced || !existing)
				await putBan(guild, userId, { reason: auditText(`By ${moderator.name}`, reason), deleteSeconds });
			return outcome;
		}
		const row: TempBan = {
			...key,
			reason,
			moderator_id: moderator.id,
			asked_at: this.#now(),
			ends_at: endsAt,
			state: existing && !isReplaced ? "banned" : "asked",
			mark:
				existing && !isReplaced
					? existing.reason
					: // Formatted as it is sent to Discord, because the bot recognises its ban by this text.
						auditReason(`By ${moderator.name} until ${time(endsAt)}`),
		};
		this.#made.delete(keyOf(row));
		await tempBanRows.save(this.#sql, [row]);
		if (existing && !isReplaced) return "changed";
		await this.#banStored(guild, row, deleteSeconds, isReplaced);
		this.#made.add(keyOf(row));
		// If this fails, the worker repeats it.
		await tempBanRows.change(this.#sql, row, { state: "banned" }).catch(ignoreUnavailable);
		return outcome;
	}

	async #banStored(guild: Guild, row: TempBan, deleteSeconds: number | undefined, isReplaced: boolean): Promise<void> {
		let isLifted = false;
		try {
			const reason = auditText(row.mark, row.reason);
			if (isReplaced) await liftReplaced(guild, row.user_id);
			isLifted = isReplaced;
			await putBan(guild, row.user_id, { reason, deleteSeconds });
		} catch (error) {
			// Without the former ban, the worker must make this one.
			const isDeleted =
				!isLifted && wasNotDone(error) ? await tempBanRows.delete(this.#sql, row).catch(ignoreUnavailable) : undefined;
			if (isDeleted) throw error;
			throw new SaidError(said("case.ban_unconfirmed"), { cause: error });
		}
	}

	async beforeUnban(guildId: string, userId: string) {
		const key = { guild_id: guildId, user_id: userId };
		let row: TempBan | undefined;
		try {
			row = await tempBanRows.first(this.#sql, key);
		} catch (error) {
			if (!(error instanceof StoreUnavailable)) throw error;
			// The worker deletes a row when the database is back, as after an unban by hand.
			return async () => {
				this.#made.add(keyOf(key));
			};
		}
		return row && (() => this.#forget(row));
	}

	async #forget(row: TempBan): Promise<void> {
		// While the row remains, the worker must not make the ban again.
		this.#made.add(keyOf(row));
		const isDeleted = await tempBanRows.delete(this.#sql, row).catch(ignoreUnavailable);
		if (isDeleted !== undefined) this.#made.delete(keyOf(row));
	}

	/** Safe to repeat. Rejects when this must be retried. */
	async #settle({ guild_id, user_id }: TempBanKey): Promise<void> {
		const row = await tempBanRows.first(this.#sql, { guild_id, user_id });
		if (!row) {
			this.#made.delete(keyOf({ guild_id, user_id }));
			return;
		}
		const guild = requireGuild(this.#connection, guild_id);
		await this.#requireBanPermission(guild, row);
		const existing = await fetchBan(guild, user_id);
		const isMade = row.state === "banned" || this.#made.has(keyOf(row));
		if (!existing && !isMade) return this.#completeBan(guild, row);
		if (!existing) {
			// The unban succeeded without a response, or its row was not deleted.
			if (this.#unbanSent.delete(keyOf(row))) await this.#addEntry(row, expired);
			return this.#deleteRow(row, "lifted");
		}
		this.#unbanSent.delete(keyOf(row));
		if (!isOurs(row, existing)) {
			if (row.state === "banned" || !hasEnd(existing)) return this.#deleteRow(row, "replaced by another ban");
			// The bot was interrupted before it replaced the ban.
			await liftReplaced(guild, user_id);
			return this.#completeBan(guild, row);
		}
		if (row.state === "asked") await this.#confirmBanned(row);
		if (row.ends_at > this.#now()) return;
		const bans = await selectBansFor(this.#sql, row.guild_id, user_id);
		if (bans.some(({ decided_at }) => Number(decided_at) >= row.asked_at))
			return this.#deleteRow(row, "banned for a chargeback");
		await this.#endBan(guild, row);
		await this.#deleteRow(row, "expired");
	}

	async #deleteRow(row: TempBan, reason: string): Promise<void> {
		await tempBanRows.delete(this.#sql, row);
		this.#made.delete(keyOf(row));
		if (row.state === "asked") this.options.decided?.();
		const { guild_id: guild, user_id: user } = row;
		this.options.log.info("removed a temporary ban from the bot's database", { guild, user, reason });
	}

	async #requireBanPermission(guild: Guild, row: TempBan): Promise<void> {
		const missing = missingPermissions(guild, undefined, PermissionFlagsBits.BanMembers);
		if (missing === 0n) return;
		const reason = said("log.lacks", { permissions: describeBits(missing) });
		if (row.ends_at <= this.#now()) await this.#logNotLifted(row, reason);
		throw new NotNow(render(reason, "en"));
	}

	async #endBan(guild: Guild, row: TempBan): Promise<void> {
		const key = keyOf(row);
		this.#unbanSent.add(key);
		try {
			await deleteBan(guild, row.user_id, `Ban until ${time(row.ends_at)} expired`);
		} catch (error) {
			if (wasNotDone(error)) this.#unbanSent.delete(key);
			if (error instanceof DiscordAPIError)
				await this.#logNotLifted(row, describePlatformError(error), saidPlatformError(error));
			throw error;
		}
		this.#unbanSent.delete(key);
		this.#refused.delete(key);
		await this.#addEntry(row, expired);
	}

	async #addEntry(row: TempBan, entry: LogEntry): Promise<void> {
		const { guild_id, moderator_id, user_id, reason } = row;
		// The entry matters more than the number of its case.
		const caseNumber = await selectBanCase(this.#sql, row).catch(ignoreUnavailable);
		const people = { moderatorId: moderator_id, userId: user_id };
		this.options.moderationLog.add(guild_id, { ...people, reason, caseNumber, ...entry });
	}

	/** Once per ban. */
	async #logNotLifted(row: TempBan, ...failure: [cause: Text | undefined, people?: Text]): Promise<void> {
		if (this.#refused.has(keyOf(row))) return;
		this.#refused.add(keyOf(row));
		await this.#logFailure(row, notLifted, ...failure);
	}

	async #logFailure(
		row: TempBan,
		{ title, message }: typeof notBanned,
		cause: Text = said("log.too_late"),
		people = withTitles(cause),
	): Promise<void> {
		const { guild_id: guild, user_id: user, ends_at: until } = row;
		this.options.log.warn(message, { guild, user, reason: render(cause, "en") });
		await this.#addEntry(row, { title, isFailure: true, cause: people, until });
	}

	async #completeBan(guild: Guild, row: TempBan): Promise<void> {
		const at = this.#now();
		if (row.ends_at <= at || at - row.asked_at > staleMs) {
			await this.#deleteRow(row, "requested too long ago");
			return this.#logFailure(row, notBanned);
		}
		try {
			const reason = auditText(row.mark, row.reason);
			await putBan(guild, row.user_id, { reason });
		} catch (error) {
			if (!(error instanceof DiscordAPIError) || error.status === 401) throw error;
			await this.#deleteRow(row, "refused by Discord");
			return this.#logFailure(row, notBanned, describePlatformError(error), saidPlatformError(error));
		}
		await this.#confirmBanned(row);
	}

	async #confirmBanned(row: TempBan): Promise<void> {
		await tempBanRows.change(this.#sql, row, { state: "banned" });
		// The case of the ban may say that its outcome is unknown.
		await this.#addEntry(row, { title: said("log.ban_confirmed.title"), gravity: "severe", until: row.ends_at });
		this.options.decided?.();
	}

	async has(guildId: string, userId: string): Promise<boolean> {
		return (await tempBanRows.first(this.#sql, { guild_id: guildId, user_id: userId })) !== undefined;
	}

	async makePermanent(guildId: string, userId: string): Promise<void> {
		const key = { guild_id: guildId, user_id: userId };
		await tempBanRows.delete(this.#sql, key);
		this.#made.delete(keyOf(key));
	}

	attach(client: Client): void {
		client.on(Events.GuildBanRemove, ({ guild, user }) => {
			if (this.work.added < maxUnchecked) this.#check({ guild_id: guild.id, user_id: user.id });
			else this.#isAnyUnchecked = true;
		});
		onSessionOrGuild(client, () => {
			this.#isAnyUnchecked = true;
			this.work.retryAll();
		});
	}
}

function keyOf({ guild_id, user_id }: TempBanKey): string {
	return `${guild_id} ${user_id}`;
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

/** Discord does not change the reason of a ban, by which the other bot would find it. */
async function liftReplaced(guild: Guild, userId: string) {
	await deleteBan(guild, userId, "Replaced by another ban");
}

async function deleteBan(guild: Guild, userId: string, reason: string) {
	await absentIf([RESTJSONErrorCodes.UnknownBan], () =>
		guild.client.rest.delete(Routes.guildBan(guild.id, userId), { reason: auditReason(reason) }),
	);
}

function auditText(mark: string | null, reason: string | null): string {
	return `${mark}${reason ? `: ${reason}` : ""}`;
}

function hasEnd({ reason }: APIBan): boolean {
	return /^By .* until \d{4}-\d\d-\d\dT[\d:]+Z/s.test(reason ?? "");
}

/** Its reason starts with the stored `mark`. */
function isOurs({ mark }: TempBan, { reason }: APIBan): boolean {
	return mark === null ? !reason : (reason?.startsWith(mark) ?? false);
}
