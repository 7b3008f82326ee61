// What is done about a chargeback, step by step. Each step can be repeated when nobody knows whether it was done: it looks
// first, does what is missing, and notes in the store that it is done.

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
import type { Connection } from "../discord/connection/connection.ts";
import { describePlatformError } from "../discord/rest/errors.ts";
import {
	type Chargeback,
	closeChargeback,
	hasBanBeside,
	loseAlert,
	saveRoles,
	selectChargeback,
	selectOpenChargebacksOf,
	setAbsent,
	setAlert,
	setDiscordBan,
	setGameBan,
	setRestoration,
	setRestricted,
} from "../store/chargebacks.ts";
import { StoreUnavailable } from "../store/db-error.ts";
import type { Store } from "../store/store.ts";
import { alertOf } from "./chargeback-alert.ts";
import { type GameClient, GameServerError } from "./client.ts";

export type Step =
	| "restrict"
	| "alert"
	| "ban on Discord"
	| "ban in the game"
	| "restore";

export interface ChargebackSettings {
	restrictedRole: string;
	staffChannel: string;
	staffRoles: readonly string[];
}

export interface StepsOptions {
	connection: Connection;
	store: Pick<Store, "sql">;
	game: Pick<GameClient, "ban">;
	/** The guild that is meant; without one, the staff channel's. */
	guildId: string | undefined;
	settings: ChargebackSettings;
	/** What changes somebody's roles, by their id. */
	mutex: KeyedMutex;
}

/** What stands in the way at the moment is not the chargeback's: nothing is said of it, and it is tried again. */
export class NotNow extends Error {
	override name = "NotNow";
}

/** It cannot be done as things are. The message is for the staff. */
export class Refusal extends Error {
	override name = "Refusal";
}

/** Whether the person's other chargebacks have to be decided before this one's roles are given back. */
export function isHeld(row: Chargeback, open: readonly Chargeback[]): boolean {
	return open.some(
		({ chat_id, decision }) =>
			chat_id !== null && chat_id === row.chat_id && decision === null,
	);
}

/** Whether nothing is left to do but to show it. */
export function isOver({
	decision,
	discord_ban,
	game_ban,
	restoration,
}: Chargeback): boolean {
	if (decision === "ban")
		return discord_ban !== "pending" && game_ban !== "pending";
	return (
		decision === "dismiss" &&
		restoration !== "pending" &&
		restoration !== "absent"
	);
}

/** How long before its event's arrival an alert may seem to be sent, where our clock and Discord's differ. */
const clockToleranceMs = 3_600_000;
const messagesPerPage = 100;

/** Each rejects with what `reasonOf` understands, and then has done nothing, or what can be done again. */
export function createSteps({
	connection,
	store: { sql },
	game,
	guildId,
	settings,
	mutex,
}: StepsOptions): Record<
	Step,
	(row: Chargeback, held: boolean) => Promise<void>
> {
	const { restrictedRole, staffChannel } = settings;

	function discord(): { rest: REST; guild: Guild; selfId: string } {
		if (!connection.ready) throw new NotNow("Discord is not connected");
		const client = connection.discord;
		const guild = client.guilds.cache.find(
			({ id, channels }) =>
				id === guildId || (!guildId && channels.cache.has(staffChannel)),
		);
		if (!guild?.available) throw new NotNow("the guild is not known");
		return { rest: client.rest, guild, selfId: client.user.id };
	}

	/** As Discord has them now: what is told by events may be older. Undefined where they are not in the guild. */
	function readMember(chatId: string): Promise<APIGuildMember | undefined> {
		const { rest, guild } = discord();
		return absentIf(
			[RESTJSONErrorCodes.UnknownMember, RESTJSONErrorCodes.UnknownUser],
			() =>
				rest.get(
					Routes.guildMember(guild.id, chatId),
				) as Promise<APIGuildMember>,
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

	/** Saves the roles, and puts the restricted one in their place. */
	async function restrict({ id }: Chargeback): Promise<void> {
		const row = await selectChargeback(sql, id);
		if (!row || row.decision !== null || row.chat_id === null) return;
		const member = await readMember(row.chat_id);
		if (!member) return setAbsent(sql, id);
		const { guild } = discord();
		const open = await selectOpenChargebacksOf(sql, row.chat_id);
		// Before the first of theirs, a restricted role is one that somebody else has given them.
		const isFirst = open.every((one) => one.restricted_role === null);
		const ours = isFirst ? new Set<string>() : restrictedRoles(open);
		const isManaged = (role: string) =>
			guild.roles.cache.get(role)?.managed ?? false;
		const taken = member.roles.filter(
			(role) => !ours.has(role) && !isManaged(role),
		);
		const wanted = [...member.roles.filter(isManaged), restrictedRole];
		requireReach(guild, member, wanted);
		const saved = [...new Set([...row.saved_roles, ...taken])];
		// Before anything is changed: from here on they are in the store, whatever happens.
		await saveRoles(sql, id, saved, restrictedRole);
		await writeRoles(member, wanted, `A payment was taken back (${short(id)})`);
		await setRestricted(sql, id, restrictedRole);
	}

	/** Gives back what all the dismissed chargebacks of the person have saved, unless another one speaks against it. */
	async function restore({ id }: Chargeback): Promise<void> {
		const row = await selectChargeback(sql, id);
		if (row?.decision !== "dismiss" || row.chat_id === null || isOver(row))
			return;
		const open = await selectOpenChargebacksOf(sql, row.chat_id);
		// One that has come since.
		if (isHeld(row, open)) throw new NotNow("another one is to be decided");
		if (await hasBanBeside(sql, row))
			return setRestoration(sql, [id], "void", []);
		const member = await readMember(row.chat_id);
		if (!member) return setRestoration(sql, [id], "absent");
		const { guild } = discord();
		const rows = open.filter((one) => !isOver(one));
		const ours = restrictedRoles(open);
		const saved = [...new Set(rows.flatMap(({ saved_roles }) => saved_roles))];
		const wanted = new Set([
			...member.roles.filter((role) => !ours.has(role)),
			...saved.filter((role) => canGive(guild, role)),
		]);
		await writeRoles(
			member,
			[...wanted],
			`A chargeback was dismissed (${short(id)}), decided by ${row.decided_by}`,
		);
		const lost = saved.filter((role) => !wanted.has(role));
		const ids = rows.map((one) => one.id);
		await setRestoration(sql, ids, "restored", lost);
	}

	function restrictedRoles(rows: readonly Chargeback[]): Set<string> {
		const earlier = rows.flatMap(({ restricted_role }) =>
			restricted_role === null ? [] : [restricted_role],
		);
		return new Set([restrictedRole, ...earlier]);
	}

	async function banOnDiscord(row: Chargeback): Promise<void> {
		const { id, chat_id, decided_by } = row;
		if (chat_id === null) return;
		const { rest, guild } = discord();
		const route = Routes.guildBan(guild.id, chat_id);
		const banned = await absentIf([RESTJSONErrorCodes.UnknownBan], () =>
			rest.get(route),
		);
		const reason = `Chargeback (${short(id)}), decided by ${decided_by}`;
		try {
			if (banned === undefined) await rest.put(route, { body: {}, reason });
		} catch (error) {
			if (!isCode(error, RESTJSONErrorCodes.UnknownUser)) throw error;
			const gone = "Discord has no such account any more";
			return setDiscordBan(sql, id, "impossible", gone);
		}
		await setDiscordBan(sql, id, "done");
	}

	async function banInGame(row: Chargeback): Promise<void> {
		const { id, uuid, tier, happened_at } = row;
		await game.ban(uuid, `Chargeback of ${tier}, ${happened_at}`);
		await setGameBan(sql, id, "done");
	}

	/** Sends the alert, or brings it up to date. */
	async function alert(row: Chargeback, held: boolean): Promise<void> {
		const { id } = row;
		const { body, digest } = alertOf(row, held);
		if (row.channel_id === null || row.message_id === null) {
			const found = await findAlert(row);
			// What it shows is not known: the next round writes it.
			if (found)
				return setAlert(sql, id, {
					channelId: found.channel_id,
					messageId: found.id,
					shown: null,
				});
			const sent = await sendAlert(row, body);
			await setAlert(sql, id, {
				channelId: sent.channel_id,
				messageId: sent.id,
				shown: digest,
			});
		} else if (row.shown !== digest) {
			const { channel_id, message_id } = row;
			const { rest } = discord();
			const edited = await absentIf(
				[RESTJSONErrorCodes.UnknownMessage, RESTJSONErrorCodes.UnknownChannel],
				() =>
					rest.patch(Routes.channelMessage(channel_id, message_id), { body }),
			);
			// Without it nobody could decide any more, nor see what comes of it.
			if (edited === undefined && !isOver(row)) return loseAlert(sql, id);
			const at = { channelId: channel_id, messageId: message_id };
			await setAlert(sql, id, { ...at, shown: digest });
		}
		if (isOver(row)) await closeChargeback(sql, id);
	}

	async function sendAlert(
		{ id, alerts_lost }: Chargeback,
		body: object,
	): Promise<APIMessage> {
		const { rest } = discord();
		// Discord takes 25 characters, and for some minutes sends nothing twice that has the same.
		const nonce = `${id.slice(0, 20)}-${alerts_lost}`.slice(0, 25);
		return (await rest.post(Routes.channelMessages(staffChannel), {
			body: { ...body, nonce, enforce_nonce: true },
		})) as APIMessage;
	}

	/** The alert, if it is in the channel already: it may have been sent without our hearing of it. */
	async function findAlert({
		id,
		received_at,
	}: Chargeback): Promise<APIMessage | undefined> {
		const { rest, selfId } = discord();
		for (let before: string | undefined; ; ) {
			const query = new URLSearchParams({ limit: String(messagesPerPage) });
			if (before !== undefined) query.set("before", before);
			const page = (await rest.get(Routes.channelMessages(staffChannel), {
				query,
			})) as APIMessage[];
			const found = page.find(
				({ author, components }) =>
					author.id === selfId && JSON.stringify(components).includes(id),
			);
			const oldest = page.at(-1);
			if (found || !oldest || page.length < messagesPerPage) return found;
			if (Date.parse(oldest.timestamp) < received_at - clockToleranceMs) return;
			before = oldest.id;
		}
	}

	const oneByOne =
		(work: (row: Chargeback) => Promise<void>) => (row: Chargeback) =>
			mutex.withLock(row.chat_id ?? "", () => work(row));
	return {
		restrict: oneByOne(restrict),
		restore: oneByOne(restore),
		"ban on Discord": banOnDiscord,
		"ban in the game": banInGame,
		alert,
	};
}

/** The event in log lines and reasons. */
export function short(id: string): string {
	return id.slice(0, 8);
}

/** Throws the Refusal to show unless the bot can take all roles from the member but the wanted ones. */
function requireReach(
	guild: Guild,
	{ user, roles }: APIGuildMember,
	wanted: readonly string[],
): void {
	const { members, ownerId } = guild;
	if (user.id === ownerId)
		throw new Refusal("they own the guild: nobody can restrict its owner");
	const { me } = members;
	if (!me) throw new NotNow("the bot's own roles are not known");
	if (user.id === me.id) throw new Refusal("the account is the bot's own");
	const above = roles.some(
		(role) => !wanted.includes(role) && !ranksBelow(guild, role),
	);
	if (above)
		throw new Refusal(
			"they do not rank below the bot: somebody who ranks above both can move the bot's role up",
		);
}

function ranksBelow(guild: Guild, roleId: string): boolean {
	const role = guild.roles.cache.get(roleId);
	const highest = guild.members.me?.roles.highest;
	// One that is not known is new, and new roles are at the bottom.
	return !role || (highest?.comparePositionTo(role) ?? 0) > 0;
}

/** Whether the bot can give this role to somebody. */
function canGive(guild: Guild, roleId: string): boolean {
	const role = guild.roles.cache.get(roleId);
	return role !== undefined && !role.managed && ranksBelow(guild, roleId);
}

function isCode(error: unknown, code: number): boolean {
	return error instanceof DiscordAPIError && error.code === code;
}

/** What `ask` gives; undefined where Discord refuses with one of these codes. */
async function absentIf<T>(
	codes: readonly number[],
	ask: () => Promise<T>,
): Promise<T | undefined> {
	try {
		return await ask();
	} catch (error) {
		if (codes.some((code) => isCode(error, code))) return undefined;
		throw error;
	}
}

/** What the staff are told of a step that failed; undefined for what is not the chargeback's. A fault of ours is thrown on. */
export function reasonOf(error: unknown): string | undefined {
	if (error instanceof NotNow || error instanceof StoreUnavailable)
		return undefined;
	if (error instanceof Refusal || error instanceof GameServerError)
		return error.message;
	// The token, which the connection sees to.
	if (error instanceof DiscordAPIError && error.status === 401)
		return undefined;
	const fault = describePlatformError(error);
	if (fault === undefined) throw error;
	return fault;
}
