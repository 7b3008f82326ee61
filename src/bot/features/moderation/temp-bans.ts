// Bans with an end. The store knows of one before Discord does, so that whatever is killed in between ends well: what was
// asked for and not heard of is looked at, and seen through; what has ended is lifted, once, however long that takes.

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
import type { Log } from "../../../lib/log.ts";
import { ToolError } from "../../../mcp/tool.ts";
import type { Connection } from "../../discord/connection/connection.ts";
import { time } from "../../discord/describe.ts";
import { absentIf } from "../../discord/find.ts";
import { describeBits, missingPermissions } from "../../discord/permissions.ts";
import { platformFault } from "../../discord/rest/errors.ts";
import { wasNotDone } from "../../discord/rest/rest.ts";
import { auditReason } from "../../discord/text.ts";
import { hasBanSince } from "../../store/chargebacks.ts";
import { StoreUnavailable } from "../../store/db-error.ts";
import type { Store } from "../../store/store.ts";
import {
	deleteTempBan,
	saveTempBan,
	selectTempBan,
	setBanned,
	type TempBan,
} from "../../store/temp-bans.ts";
import type { Note } from "./moderation-log.ts";
import {
	createTempBanWorker,
	NotNow,
	type WorkerOptions,
} from "./temp-ban-worker.ts";

/** A ban that was asked for longer ago than this is not made any more: somebody may have thought better of it. */
const staleMs = 600_000;
/** How long what is under way is waited for at the end; the next start goes on with it. */
const farewellMs = 3_000;

export interface BanOrder {
	userId: string;
	moderator: { id: string; name: string };
	/** On one line; null for none. */
	reason: string | null;
	/** Epoch milliseconds; null for no end. */
	endsAt: number | null;
}

/** "kept": they were banned already, and now have this end, or none. */
export type BanOutcome = "banned" | "kept";

export interface TempBans {
	/** Bans somebody. Rejects with what people can be told; what may have been begun is then seen through. */
	ban(guild: Guild, order: BanOrder): Promise<BanOutcome>;
	/** Lifts a ban; false where there is none. */
	unban(guild: Guild, order: Omit<BanOrder, "endsAt">): Promise<boolean>;
	/** Listens to what happens on Discord, on a client that is new. */
	attach(client: Client): void;
	start(): void;
	close(): Promise<void>;
}

export interface TempBansOptions
	extends Pick<WorkerOptions, "now" | "backOffMs" | "maxSleepMs"> {
	connection: Connection;
	store: Pick<Store, "sql">;
	log: Log;
	/** What changes something of somebody's, by their id. */
	mutex: KeyedMutex;
	/** Is told of what was done. */
	tell(guildId: string, note: Note): void;
}

export function createTempBans(options: TempBansOptions): TempBans {
	const { connection, store, log, mutex, tell, now = Date.now } = options;
	const { sql } = store;
	const underWay = new Set<Promise<unknown>>();
	/** Bans whose end Discord was told of, without our having heard that it has done it. */
	const lifted = new Set<string>();
	/** Bans that Discord has made, and the store could not be told of: who is not banned any more was let in by somebody. */
	const made = new Set<string>();
	/** Bans whose end Discord has refused: that is told once. */
	const refused = new Set<string>();
	const worker = createTempBanWorker({
		...options,
		settle: (key) => alone(key.user_id, () => settle(key)),
	});

	/** One thing at a time for each person, waited for at the end. */
	function alone<T>(userId: string, work: () => Promise<T>): Promise<T> {
		const turn = mutex.withLock(userId, work);
		underWay.add(turn);
		const end = () => underWay.delete(turn);
		turn.then(end, end);
		return turn;
	}

	async function ban(guild: Guild, order: BanOrder): Promise<BanOutcome> {
		const { userId, moderator, reason, endsAt } = order;
		const key = { guild_id: guild.id, user_id: userId };
		const known = await banOf(guild, userId);
		const told = { whom: userId, by: moderator.id, reason, until: endsAt };
		if (endsAt === null) {
			// First of all, so that nothing ends it.
			await deleteTempBan(sql, key);
			made.delete(nameOf(key));
			if (!known)
				await putBan(guild, userId, text(`By ${moderator.name}`, reason));
			tell(guild.id, {
				title: known ? "A ban has no end now" : "Ban",
				...told,
			});
			return known ? "kept" : "banned";
		}
		const row: TempBan = {
			...{ ...key, reason, moderator_id: moderator.id },
			...{ asked_at: now(), ends_at: endsAt },
			state: known ? "banned" : "asked",
			mark: known ? known.reason : `By ${moderator.name} until ${time(endsAt)}`,
		};
		made.delete(nameOf(row));
		await saveTempBan(sql, row);
		if (known) {
			tell(guild.id, { title: "A ban has another end now", ...told });
			return "kept";
		}
		await banAsNoted(guild, row);
		made.add(nameOf(row));
		// Where that fails, the worker finds the ban, and notes it.
		await noteBanned(row).catch(unlessUnavailable);
		return "banned";
	}

	async function banAsNoted(guild: Guild, row: TempBan): Promise<void> {
		try {
			await putBan(guild, row.user_id, text(row.mark, row.reason));
		} catch (error) {
			const forgotten = wasNotDone(error)
				? await deleteTempBan(sql, row).catch(unlessUnavailable)
				: undefined;
			if (forgotten) throw error;
			throw new ToolError(
				"Discord did not say whether it banned them. It is noted: the bot looks, and sees it through.",
				{ cause: error },
			);
		}
	}

	async function unban(
		guild: Guild,
		{ userId, moderator, reason }: Omit<BanOrder, "endsAt">,
	): Promise<boolean> {
		const key = { guild_id: guild.id, user_id: userId };
		// Without the store it would be tried to end what was lifted.
		const row = await selectTempBan(sql, key);
		const known = await banOf(guild, userId);
		if (known)
			await liftBan(guild, userId, text(`By ${moderator.name}`, reason));
		if (row) {
			// As long as the store has it, it is none that was never made.
			made.add(nameOf(row));
			const forgotten = await deleteTempBan(sql, key).catch(unlessUnavailable);
			if (forgotten !== undefined) made.delete(nameOf(row));
		}
		const by = moderator.id;
		if (known) tell(guild.id, { title: "Unban", whom: userId, by, reason });
		return known !== undefined;
	}

	/** Does what is to be done about a row, if anything, and can be repeated. Rejects where it has to be tried again. */
	async function settle({
		guild_id,
		user_id,
	}: Pick<TempBan, "guild_id" | "user_id">): Promise<void> {
		const row = await selectTempBan(sql, { guild_id, user_id });
		if (!row) return;
		const guild = guildOf(connection, guild_id);
		requireBanning(guild, row);
		const known = await banOf(guild, user_id);
		const forget = async (why: string) => {
			await deleteTempBan(sql, row);
			made.delete(nameOf(row));
			log.info("a ban with an end is not kept any more", {
				...{ guild: guild_id, user: user_id, why },
			});
		};
		const isMade = row.state === "banned" || made.has(nameOf(row));
		if (!known && !isMade) return seeThrough(guild, row, forget);
		if (!known) {
			// Its answer did not reach us, or we did not note it.
			if (lifted.delete(nameOf(row))) tellEnd(row);
			return forget("it was lifted");
		}
		lifted.delete(nameOf(row));
		if (!isOurs(row, known)) return forget("somebody has banned them anew");
		if (row.state === "asked") await noteBanned(row);
		if (row.ends_at > now()) return;
		if (await hasBanSince(sql, user_id, row.asked_at))
			return forget("they are banned for a chargeback");
		await end(guild, row);
		await forget("it is over");
	}

	/** Throws a NotNow where the bot may not ban: many bans that Discord refuses to look at would hold up all else. */
	function requireBanning(guild: Guild, row: TempBan): void {
		const { BanMembers } = PermissionFlagsBits;
		const missing = missingPermissions(guild, undefined, BanMembers);
		if (missing === 0n) return;
		const lacking = `The bot lacks ${describeBits(missing)}`;
		if (row.ends_at <= now()) tellNotLifted(row, lacking);
		throw new NotNow(lacking);
	}

	async function end(guild: Guild, row: TempBan): Promise<void> {
		const name = nameOf(row);
		lifted.add(name);
		try {
			await liftBan(
				guild,
				row.user_id,
				`The ban until ${time(row.ends_at)} is over`,
			);
		} catch (error) {
			if (wasNotDone(error)) lifted.delete(name);
			if (error instanceof DiscordAPIError)
				tellNotLifted(row, platformFault(error));
			throw error;
		}
		lifted.delete(name);
		refused.delete(name);
		tellEnd(row);
	}

	function tellEnd({ guild_id, moderator_id, user_id, reason }: TempBan): void {
		const told = { by: moderator_id, whom: user_id, reason };
		tell(guild_id, { title: "A ban has ended", ...told });
	}

	/** Once. */
	function tellNotLifted(row: TempBan, fault: string | undefined): void {
		if (refused.has(nameOf(row))) return;
		refused.add(nameOf(row));
		tellTrouble(row, "A ban that is over was not lifted", fault);
	}

	function tellTrouble(
		row: TempBan,
		title: string,
		fault = "It was asked for too long ago",
	): void {
		const { guild_id, moderator_id, user_id, reason, ends_at } = row;
		log.warn("moderators are told of trouble with a ban", {
			...{ guild: guild_id, user: user_id, title, reason: fault },
		});
		tell(guild_id, {
			...{ title, isTrouble: true, what: `${fault}.` },
			...{ by: moderator_id, whom: user_id, reason, until: ends_at },
		});
	}

	/** Bans whom Discord has not banned, if that is still wanted. */
	async function seeThrough(
		guild: Guild,
		row: TempBan,
		forget: (why: string) => Promise<void>,
	): Promise<void> {
		const at = now();
		const title = "A ban was not made";
		if (row.ends_at <= at || at - row.asked_at > staleMs) {
			await forget("it was asked for too long ago");
			return tellTrouble(row, title);
		}
		try {
			await putBan(guild, row.user_id, text(row.mark, row.reason));
		} catch (error) {
			if (!(error instanceof DiscordAPIError) || error.status === 401)
				throw error;
			await forget("Discord refuses it");
			return tellTrouble(row, title, platformFault(error));
		}
		await noteBanned(row);
	}

	async function noteBanned(row: TempBan): Promise<void> {
		await setBanned(sql, row);
		const { guild_id, user_id, moderator_id, reason, ends_at } = row;
		tell(guild_id, {
			title: "Ban",
			...{ by: moderator_id, whom: user_id, reason, until: ends_at },
		});
	}

	return {
		// The worker looks also where it failed: what was stored may have been, all the same.
		ban: (guild, order) =>
			alone(order.userId, () => ban(guild, order)).finally(worker.tend),
		unban: (guild, order) => alone(order.userId, () => unban(guild, order)),
		attach: worker.attach,
		start: worker.tend,
		async close() {
			worker.close();
			await Promise.race([Promise.allSettled(underWay), Bun.sleep(farewellMs)]);
		},
	};
}

function guildOf(connection: Connection, id: string): Guild {
	const guild = connection.guilds.find((one) => one.id === id);
	if (!guild?.available) throw new NotNow();
	return guild;
}

/** As it is now, asked for; undefined for someone who is not banned. */
function banOf(guild: Guild, userId: string): Promise<APIBan | undefined> {
	return absentIf(
		RESTJSONErrorCodes.UnknownBan,
		() =>
			guild.client.rest.get(
				Routes.guildBan(guild.id, userId),
			) as Promise<APIBan>,
	);
}

async function putBan(guild: Guild, userId: string, reason: string) {
	await guild.client.rest.put(Routes.guildBan(guild.id, userId), {
		body: {},
		reason: auditReason(reason),
	});
}

/** Also where somebody else was faster. */
async function liftBan(guild: Guild, userId: string, reason: string) {
	await absentIf(RESTJSONErrorCodes.UnknownBan, () =>
		guild.client.rest.delete(Routes.guildBan(guild.id, userId), {
			reason: auditReason(reason),
		}),
	);
}

function text(who: string | null, reason: string | null): string {
	return `${who}${reason ? `: ${reason}` : ""}`;
}

/** Whether a ban on Discord is the one that was noted. */
function isOurs({ mark }: TempBan, { reason }: APIBan): boolean {
	return mark === null ? !reason : (reason?.startsWith(mark) ?? false);
}

function nameOf({
	guild_id,
	user_id,
}: Pick<TempBan, "guild_id" | "user_id">): string {
	return `${guild_id} ${user_id}`;
}

function unlessUnavailable(error: unknown): undefined {
	if (!(error instanceof StoreUnavailable)) throw error;
}
