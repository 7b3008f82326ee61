// The steps of a chargeback. Each can be repeated after an unknown outcome: it checks Discord, does what is missing, then
// records success in the store.

import {
	type APIGuildMember,
	type APIMessage,
	DiscordAPIError,
	type Guild,
	type REST,
	RESTJSONErrorCodes,
	Routes,
} from "discord.js";
import type { KeyedMutex } from "../../lib/keyed-mutex.ts";
import { NotNow } from "../../lib/reconciler.ts";
import type { Connection } from "../discord/connection/connection.ts";
import { absentIf } from "../discord/find.ts";
import { describePlatformError } from "../discord/rest/errors.ts";
import { StoreUnavailable } from "../store/database/db-error.ts";
import type { Store } from "../store/store.ts";
import {
	type Chargeback,
	hasBanBeside,
	saveRoles,
	selectChargeback,
	selectOpenChargebacksOf,
	updateChargebacks,
} from "../store/tables/chargebacks.ts";
import { createAlert } from "./chargeback-alert.ts";
import { type GameClient, GameServerError } from "./client.ts";

export type StepName = "restrict" | "alert" | "ban on Discord" | "ban in the game" | "restore";

export interface ChargebackSettings {
	restrictedRole: string;
	staffChannel: string;
	staffRoles: readonly string[];
}

export interface StepsOptions {
	connection: Connection;
	store: Pick<Store, "sql">;
	game: Pick<GameClient, "ban">;
	/** Id of the guild in which chargebacks restrict or ban members; undefined selects the guild of the staff channel. */
	guildId: string | undefined;
	settings: ChargebackSettings;
	/** Lock per user id: only one change to a user's roles or bans runs at a time. */
	mutex: KeyedMutex;
}

/**
 * Thrown if Discord does not allow the bot to restrict a member, for example because the member is the guild's owner.
 * The message is for staff.
 */
export class Refusal extends Error {
	override name = "Refusal";
}

/**
 * Whether a person's roles must not be given back yet, because staff have not decided on one of the person's
 * chargebacks in `open`.
 */
export function isHeld(row: Chargeback, open: readonly Chargeback[]): boolean {
	return open.some(({ chat_id, decision }) => chat_id !== null && chat_id === row.chat_id && decision === null);
}

/**
 * Whether the bot has done everything that a chargeback requires, such as a ban, except possibly updating the alert
 * message.
 */
export function isDone({ decision, discord_ban, game_ban, restoration }: Chargeback): boolean {
	if (decision === "ban") return discord_ban !== "pending" && game_ban !== "pending";
	return decision === "dismiss" && restoration !== "pending" && restoration !== "absent";
}

const clockToleranceMs = 3_600_000;
const messagesPerPage = 100;

/**
 * Returns the functions with which the bot reacts to a chargeback, such as restricting a member. A function that
 * rejected can be called again safely.
 */
export function createSteps({
	connection,
	store: { sql },
	game,
	guildId,
	settings,
	mutex,
}: StepsOptions): Record<StepName, (row: Chargeback, isHeld: boolean) => Promise<void>> {
	const { restrictedRole, staffChannel } = settings;

	function discord(): { rest: REST; guild: Guild; selfId: string } {
		if (!connection.ready) throw new NotNow("the bot is not connected to Discord");
		const client = connection.discord;
		const guild = client.guilds.cache.find(
			({ id, channels }) => id === guildId || (!guildId && channels.cache.has(staffChannel)),
		);
		if (!guild?.available) throw new NotNow("the guild is unavailable on Discord");
		return { rest: client.rest, guild, selfId: client.user.id };
	}

	const update = ({ id }: Pick<Chargeback, "id">, changes: Parameters<typeof updateChargebacks>[2]) =>
		updateChargebacks(sql, [id], changes);

	/** Fetches a member from Discord, because the cache may be outdated; undefined if the user is not in the guild. */
	function fetchMember(chatId: string): Promise<APIGuildMember | undefined> {
		const { rest, guild } = discord();
		return absentIf(
			[RESTJSONErrorCodes.UnknownMember, RESTJSONErrorCodes.UnknownUser],
			() => rest.get(Routes.guildMember(guild.id, chatId)) as Promise<APIGuildMember>,
		);
	}

	async function writeRoles(
		{ roles, user: { id } }: APIGuildMember,
		wanted: readonly string[],
		reason: string,
	): Promise<void> {
		if (new Set(roles).symmetricDifference(new Set(wanted)).size === 0) return;
		const { rest, guild } = discord();
		const body = { roles: wanted };
		await rest.patch(Routes.guildMember(guild.id, id), { body, reason });
	}

	async function restrict({ id }: Chargeback): Promise<void> {
		const row = await selectChargeback(sql, id);
		if (!row || row.decision !== null || row.chat_id === null) return;
		const member = await fetchMember(row.chat_id);
		if (!member) return update(row, { restriction: "absent", restriction_error: null });
		const { guild } = discord();
		const open = await selectOpenChargebacksOf(sql, row.chat_id);
		// If no chargeback restricts the member yet, someone else gave them the restricted role: save it like any other.
		const isFirst = open.every(({ restricted_role }) => restricted_role === null);
		const ours = isFirst ? new Set<string>() : restrictedRoles(open);
		const isManaged = (role: string) => guild.roles.cache.get(role)?.managed ?? false;
		const removed = member.roles.filter((role) => !ours.has(role) && !isManaged(role));
		const roles = [...member.roles.filter(isManaged), restrictedRole];
		requireRestrictable(guild, member, roles);
		const saved = [...new Set([...row.saved_roles, ...removed])];
		// Stored before Discord changes anything.
		await saveRoles(sql, id, saved, restrictedRole);
		await writeRoles(member, roles, `Chargeback (${shortId(id)})`);
		await update(row, {
			restriction: "restricted",
			restriction_error: null,
			// Replaces the role of an earlier configuration, which the member no longer has.
			restricted_role: restrictedRole,
		});
	}

	async function restore({ id }: Chargeback): Promise<void> {
		const row = await selectChargeback(sql, id);
		if (row?.decision !== "dismiss" || row.chat_id === null || isDone(row)) return;
		const open = await selectOpenChargebacksOf(sql, row.chat_id);
		// A new chargeback may have arrived since the step started.
		if (isHeld(row, open))
			throw new NotNow("the player has another chargeback, on which no staff member has decided yet");
		if (await hasBanBeside(sql, row)) return update(row, { restoration: "void", restoration_error: null });
		const member = await fetchMember(row.chat_id);
		if (!member) return update(row, { restoration: "absent", restoration_error: null });
		const { guild } = discord();
		const rows = open.filter((other) => !isDone(other));
		const ours = restrictedRoles(open);
		const saved = [...new Set(rows.flatMap(({ saved_roles }) => saved_roles))];
		const roles = new Set([
			...member.roles.filter((role) => !ours.has(role)),
			...saved.filter((role) => canGive(guild, role)),
		]);
		await writeRoles(member, [...roles], `Chargeback dismissed (${shortId(id)}), decided by ${row.decided_by}`);
		const lost = saved.filter((role) => !roles.has(role));
		const ids = rows.map((other) => other.id);
		await updateChargebacks(sql, ids, {
			restoration: "restored",
			restoration_error: null,
			lost_roles: lost,
		});
	}

	function restrictedRoles(rows: readonly Chargeback[]): Set<string> {
		const earlier = rows.flatMap(({ restricted_role }) => (restricted_role === null ? [] : [restricted_role]));
		return new Set([restrictedRole, ...earlier]);
	}

	async function banOnDiscord(row: Chargeback): Promise<void> {
		const { chat_id } = row;
		if (chat_id === null) return;
		const { rest, guild } = discord();
		const route = Routes.guildBan(guild.id, chat_id);
		const { UnknownBan, UnknownUser } = RESTJSONErrorCodes;
		const banned = await absentIf([UnknownBan], () => rest.get(route));
		const reason = banReason(row);
		try {
			if (banned === undefined) await rest.put(route, { body: {}, reason });
		} catch (error) {
			if (!(error instanceof DiscordAPIError && error.code === UnknownUser)) throw error;
			return update(row, {
				discord_ban: "impossible",
				discord_ban_error: "the Discord account no longer exists",
			});
		}
		await update(row, { discord_ban: "done", discord_ban_error: null });
	}

	async function banInGame(row: Chargeback): Promise<void> {
		const { uuid, tier, happened_at } = row;
		await game.ban(uuid, `Chargeback of ${tier}, ${happened_at}`);
		await update(row, { game_ban: "done", game_ban_error: null });
	}

	async function alert(row: Chargeback, isHeld: boolean): Promise<void> {
		const { body, digest } = createAlert(row, isHeld);
		if (row.channel_id === null || row.message_id === null) {
			const found = await findAlert(row);
			const message = found ?? (await sendAlert(row, body));
			await update(row, {
				channel_id: message.channel_id,
				message_id: message.id,
				shown: found ? null : digest,
			});
			// The content of an earlier alert is unknown: the next step updates it.
			if (found) return;
		} else if (row.shown !== digest) {
			const route = Routes.channelMessage(row.channel_id, row.message_id);
			const { UnknownMessage, UnknownChannel } = RESTJSONErrorCodes;
			const edited = await absentIf([UnknownMessage, UnknownChannel], () => discord().rest.patch(route, { body }));
			// The alert was deleted while it is still needed: the next step sends a new one.
			if (edited === undefined && !isDone(row))
				return update(row, {
					channel_id: null,
					message_id: null,
					shown: null,
					alerts_lost: row.alerts_lost + 1,
				});
			await update(row, { shown: digest });
		}
		if (isDone(row)) await update(row, { closed: 1 });
	}

	async function sendAlert({ id, alerts_lost }: Chargeback, body: object): Promise<APIMessage> {
		const { rest } = discord();
		// At most 25 characters. Discord returns the existing message for a nonce used in the last few minutes:
		// https://discord.com/developers/docs/resources/message#create-message
		const nonce = `${id.slice(0, 20)}-${alerts_lost}`.slice(0, 25);
		return (await rest.post(Routes.channelMessages(staffChannel), {
			body: { ...body, nonce, enforce_nonce: true },
		})) as APIMessage;
	}

	async function findAlert({ id, received_at }: Chargeback): Promise<APIMessage | undefined> {
		const { rest, selfId } = discord();
		for (let before: string | undefined; ; ) {
			const query = new URLSearchParams({ limit: String(messagesPerPage) });
			if (before !== undefined) query.set("before", before);
			const page = (await rest.get(Routes.channelMessages(staffChannel), {
				query,
			})) as APIMessage[];
			const found = page.find(
				({ author, components }) => author.id === selfId && JSON.stringify(components).includes(id),
			);
			const oldest = page.at(-1);
			if (found || !oldest || page.length < messagesPerPage) return found;
			if (Date.parse(oldest.timestamp) < received_at - clockToleranceMs) return;
			before = oldest.id;
		}
	}

	const withUserLock = (step: (row: Chargeback) => Promise<void>) => (row: Chargeback) =>
		mutex.withLock(row.chat_id ?? "", () => step(row));
	return {
		restrict: withUserLock(restrict),
		restore: withUserLock(restore),
		"ban on Discord": withUserLock(banOnDiscord),
		"ban in the game": banInGame,
		alert,
	};
}

/** Returns the first 8 digits of a chargeback's event id, for logs and audit log reasons. */
export function shortId(id: string): string {
	return id.slice(0, 8);
}

/** How the audit log reason of every ban for a chargeback starts. */
export const banReasonStart = "Chargeback (";

/** Returns the audit log reason of the ban for a chargeback. */
export function banReason({ id, decided_by }: Pick<Chargeback, "id" | "decided_by">): string {
	return `${banReasonStart}${shortId(id)}), decided by ${decided_by}`;
}

function requireRestrictable(guild: Guild, { user, roles }: APIGuildMember, kept: readonly string[]): void {
	const { members, ownerId } = guild;
	if (user.id === ownerId) throw new Refusal("the bot cannot remove roles from the owner of the Discord guild");
	const { me } = members;
	if (!me) throw new NotNow("the bot's own roles are not loaded yet");
	if (user.id === me.id)
		throw new Refusal("the bot cannot remove its own roles: the player is linked to the bot's own Discord account");
	const isAbove = roles.some((role) => !kept.includes(role) && !isBelowBot(guild, role));
	if (isAbove)
		throw new Refusal(
			"the bot cannot remove roles from a member who has a role that is not below the bot's highest role: move the bot's role up",
		);
}

function isBelowBot(guild: Guild, roleId: string): boolean {
	const role = guild.roles.cache.get(roleId);
	const highest = guild.members.me?.roles.highest;
	// An unknown role is new, and new roles are at the bottom.
	return !role || (highest?.comparePositionTo(role) ?? 0) > 0;
}

function canGive(guild: Guild, roleId: string): boolean {
	const role = guild.roles.cache.get(roleId);
	return role !== undefined && !role.managed && isBelowBot(guild, roleId);
}

export const internalError = "internal error";

/**
 * Describes for staff why something that the bot does after a chargeback, such as a ban, failed. Undefined if the
 * reason does not concern staff, such as a database outage.
 */
export function failureReason(error: unknown): string | undefined {
	if (error instanceof NotNow || error instanceof StoreUnavailable) return undefined;
	if (error instanceof Refusal || error instanceof GameServerError) return error.message;
	// A refused token is handled by the connection.
	if (error instanceof DiscordAPIError && error.status === 401) return undefined;
	return describePlatformError(error) ?? internalError;
}
