// The steps of a chargeback. Each can be repeated after an unknown outcome: it checks Discord, does what is missing, then
// records success in the store.

import {
	type APIGuildMember,
	type APIMessage,
	DiscordAPIError,
	type Guild,
	RESTJSONErrorCodes,
	Routes,
} from "discord.js";
import { absentIf } from "../../discord/find.ts";
import { saidProblem } from "../../discord/rest/errors.ts";
import { isBelowBot, roleProblem } from "../../discord/role-hierarchy.ts";
import { SaidError } from "../../texts/said-error.ts";
import { type Language, languageOf, type Said, said } from "../../texts/texts.ts";
import type { FeatureOptions } from "../commands/feature.ts";
import { findSent } from "../commands/find-sent.ts";
import type { chargebackSettings } from "../settings/keys.ts";
import { NotNow, requireGuild } from "../store/durable.ts";
import type { Store } from "../store/store.ts";
import {
	type Chargeback,
	hasBanBeside,
	saveRoles,
	selectChargeback,
	selectOpenChargebacksOf,
	updateChargebacks,
} from "../store/tables/chargebacks.ts";
import { StoreUnavailable } from "../store/unavailable.ts";
import { createAlert } from "./chargeback-alert.ts";
import type { GameClient } from "./client.ts";

export type StepName = "restrict" | "alert" | "ban on Discord" | "ban in the game" | "restore";

export interface StepsOptions extends Pick<FeatureOptions, "connection" | "mutex"> {
	store: Pick<Store, "sql">;
	game: Pick<GameClient, "ban">;
	guildId: string;
	settings: NonNullable<ReturnType<typeof chargebackSettings>>;
}

/** Whether roles must not be given back yet, because staff have not decided on one of the person's in `open`. */
export function isHeld(row: Chargeback, open: readonly Chargeback[]): boolean {
	return open.some(({ chat_id, decision }) => chat_id !== null && chat_id === row.chat_id && decision === null);
}

/** Whether all that a chargeback requires, such as a ban, is done, except possibly updating the alert. */
export function isDone({ decision, discord_ban, game_ban, restoration }: Chargeback): boolean {
	if (decision === "ban") return discord_ban !== "pending" && game_ban !== "pending";
	return decision === "dismiss" && restoration !== "pending" && restoration !== "absent";
}

export class ChargebackSteps {
	constructor(private readonly options: StepsOptions) {}

	run(step: StepName, row: Chargeback, isHeld: boolean): Promise<void> {
		if (step === "alert") return this.#alert(row, isHeld);
		if (step === "ban in the game") return this.#banInGame(row);
		return this.options.mutex.withLock(row.chat_id ?? "", () => {
			if (step === "ban on Discord") return this.#banOnDiscord(row);
			return step === "restrict" ? this.#restrict(row) : this.#restore(row);
		});
	}

	get language(): Language {
		return languageOf(this.options.connection.guild(this.options.guildId)?.preferredLocale);
	}

	#guild(): Guild {
		return requireGuild(this.options.connection, this.options.guildId);
	}

	#update({ id }: Pick<Chargeback, "id">, changes: Parameters<typeof updateChargebacks>[2]): Promise<void> {
		return updateChargebacks(this.options.store.sql, [id], changes);
	}

	/** Fetches a member from Discord, because the cache may be outdated; undefined if the user is not in the guild. */
	#fetchMember(chatId: string): Promise<APIGuildMember | undefined> {
		const guild = this.#guild();
		const { rest } = guild.client;
		return absentIf(
			[RESTJSONErrorCodes.UnknownMember, RESTJSONErrorCodes.UnknownUser],
			() => rest.get(Routes.guildMember(guild.id, chatId)) as Promise<APIGuildMember>,
		);
	}

	async #writeRoles({ roles, user: { id } }: APIGuildMember, wanted: readonly string[], reason: string): Promise<void> {
		if (new Set(roles).symmetricDifference(new Set(wanted)).size === 0) return;
		const guild = this.#guild();
		const { rest } = guild.client;
		const body = { roles: wanted };
		await rest.patch(Routes.guildMember(guild.id, id), { body, reason });
	}

	async #restrict({ id }: Chargeback): Promise<void> {
		const row = await selectChargeback(this.options.store.sql, id);
		if (!row || row.decision !== null || row.chat_id === null) return;
		const member = await this.#fetchMember(row.chat_id);
		if (!member) return this.#update(row, { restriction: "absent", restriction_error: null });
		const guild = this.#guild();
		const open = await selectOpenChargebacksOf(this.options.store.sql, row.guild_id, row.chat_id);
		// If no chargeback restricts the member yet, someone else gave them the restricted role: save it like any other.
		const isFirst = open.every(({ restricted_role }) => restricted_role === null);
		const ours = isFirst ? new Set<string>() : this.#restrictedRoles(open);
		const isManaged = (role: string) => guild.roles.cache.get(role)?.managed ?? false;
		const removed = member.roles.filter((role) => !ours.has(role) && !isManaged(role));
		const roles = [...member.roles.filter(isManaged), this.options.settings.restrictedRole];
		requireRestrictable(guild, member, roles);
		const saved = [...new Set([...row.saved_roles, ...removed])];
		// Stored before Discord changes anything.
		await saveRoles(this.options.store.sql, id, saved, this.options.settings.restrictedRole);
		await this.#writeRoles(member, roles, `Chargeback (${shortId(id)})`);
		await this.#update(row, {
			restriction: "restricted",
			restriction_error: null,
			// Replaces the role of an earlier configuration, which the member no longer has.
			restricted_role: this.options.settings.restrictedRole,
		});
	}

	async #restore({ id }: Chargeback): Promise<void> {
		const row = await selectChargeback(this.options.store.sql, id);
		if (row?.decision !== "dismiss" || row.chat_id === null || isDone(row)) return;
		const open = await selectOpenChargebacksOf(this.options.store.sql, row.guild_id, row.chat_id);
		// A new chargeback may have arrived since the step started.
		if (isHeld(row, open))
			throw new NotNow("the player has another chargeback, on which no staff member has decided yet");
		if (await hasBanBeside(this.options.store.sql, row))
			return this.#update(row, { restoration: "void", restoration_error: null });
		const member = await this.#fetchMember(row.chat_id);
		if (!member) return this.#update(row, { restoration: "absent", restoration_error: null });
		const guild = this.#guild();
		const rows = open.filter((other) => !isDone(other));
		const ours = this.#restrictedRoles(open);
		const saved = [...new Set(rows.flatMap(({ saved_roles }) => saved_roles))];
		const roles = new Set([
			...member.roles.filter((role) => !ours.has(role)),
			...saved.filter((role) => {
				const found = guild.roles.cache.get(role);
				return found && roleProblem(guild, found) === undefined;
			}),
		]);
		await this.#writeRoles(member, [...roles], `Chargeback dismissed (${shortId(id)}), decided by ${row.decided_by}`);
		const lost = saved.filter((role) => !roles.has(role));
		await updateChargebacks(
			this.options.store.sql,
			rows.map((other) => other.id),
			{ restoration: "restored", restoration_error: null, lost_roles: lost },
		);
	}

	#restrictedRoles(rows: readonly Chargeback[]): Set<string> {
		const earlier = rows.flatMap(({ restricted_role }) => (restricted_role === null ? [] : [restricted_role]));
		return new Set([this.options.settings.restrictedRole, ...earlier]);
	}

	async #banOnDiscord(row: Chargeback): Promise<void> {
		const { chat_id } = row;
		if (chat_id === null) return;
		const guild = this.#guild();
		const { rest } = guild.client;
		const route = Routes.guildBan(guild.id, chat_id);
		const { UnknownBan, UnknownUser } = RESTJSONErrorCodes;
		const banned = await absentIf([UnknownBan], () => rest.get(route));
		const reason = banReason(row);
		try {
			if (banned === undefined) await rest.put(route, { body: {}, reason });
		} catch (error) {
			if (!(error instanceof DiscordAPIError && error.code === UnknownUser)) throw error;
			return this.#update(row, {
				discord_ban: "impossible",
				discord_ban_error: JSON.stringify(said("chargeback.refused.no-account")),
			});
		}
		await this.#update(row, { discord_ban: "done", discord_ban_error: null });
	}

	async #banInGame(row: Chargeback): Promise<void> {
		const { uuid, tier, happened_at } = row;
		await this.options.game.ban(uuid, `Chargeback of ${tier}, ${happened_at}`);
		await this.#update(row, { game_ban: "done", game_ban_error: null });
	}

	async #alert(row: Chargeback, isHeld: boolean): Promise<void> {
		const { body, digest } = createAlert(row, isHeld, this.language);
		if (row.channel_id === null || row.message_id === null) {
			const { client } = this.#guild();
			const isThis = ({ components }: APIMessage) => JSON.stringify(components).includes(row.id);
			const found = await findSent(client, this.options.settings.staffChannel, row.received_at, isThis);
			const message = found ?? (await this.#sendAlert(row, body));
			await this.#update(row, { channel_id: message.channel_id, message_id: message.id, shown: found ? null : digest });
			// The content of an earlier alert is unknown: the next step updates it.
			if (found) return;
		} else if (row.shown !== digest) {
			const route = Routes.channelMessage(row.channel_id, row.message_id);
			const { UnknownMessage, UnknownChannel } = RESTJSONErrorCodes;
			const edited = await absentIf([UnknownMessage, UnknownChannel], () =>
				this.#guild().client.rest.patch(route, { body }),
			);
			// The alert was deleted while it is still needed: the next step sends a new one.
			if (edited === undefined && !isDone(row))
				return this.#update(row, { channel_id: null, message_id: null, shown: null, alerts_lost: row.alerts_lost + 1 });
			await this.#update(row, { shown: digest });
		}
		if (isDone(row)) await this.#update(row, { closed: 1 });
	}

	async #sendAlert({ id, alerts_lost }: Chargeback, body: object): Promise<APIMessage> {
		const { rest } = this.#guild().client;
		// At most 25 characters. Discord returns the existing message for a nonce used in the last few minutes:
		// https://discord.com/developers/docs/resources/message#create-message
		const nonce = `${id.slice(0, 20)}-${alerts_lost}`.slice(0, 25);
		return (await rest.post(Routes.channelMessages(this.options.settings.staffChannel), {
			body: { ...body, nonce, enforce_nonce: true },
		})) as APIMessage;
	}
}

export function shortId(id: string): string {
	return id.slice(0, 8);
}

export const banReasonStart = "Chargeback (";

export function banReason({ id, decided_by }: Pick<Chargeback, "id" | "decided_by">): string {
	return `${banReasonStart}${shortId(id)}), decided by ${decided_by}`;
}

function requireRestrictable(guild: Guild, { user, roles }: APIGuildMember, kept: readonly string[]): void {
	const { members, ownerId } = guild;
	if (user.id === ownerId) throw new SaidError(said("chargeback.refused.owner"));
	const { me } = members;
	if (!me) throw new NotNow("the bot's own roles are not loaded yet");
	if (user.id === me.id) throw new SaidError(said("chargeback.refused.bot"));
	// An unknown role is new, and new roles are at the bottom.
	const removed = guild.roles.cache.filter(({ id }) => roles.includes(id) && !kept.includes(id));
	if (removed.some((role) => !isBelowBot(guild, role))) throw new SaidError(said("chargeback.refused.rank"));
}

/** For staff. Undefined if the reason does not concern them, such as a database outage. */
export function failureReason(error: unknown): Said | undefined {
	if (error instanceof NotNow || error instanceof StoreUnavailable) return undefined;
	// A refused token is handled by the connection.
	if (error instanceof DiscordAPIError && error.status === 401) return undefined;
	return saidProblem(error) ?? said("why.internal");
}
