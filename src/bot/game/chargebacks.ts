// Chargebacks, in each guild that handles them. The next step of each follows from its row in the store alone, also after a
// restart. Failed steps are retried until they succeed.

import { createHash } from "node:crypto";
import {
	type Client,
	Events,
	GatewayDispatchEvents,
	type GatewayMessageDeleteBulkDispatchData,
	type GatewayMessageDeleteDispatchData,
	type GuildMember,
	type PartialGuildMember,
} from "discord.js";
import { onSessionOrGuild } from "../../discord/connection/session-events.ts";
import type { Sql } from "../../lib/store/statement.ts";
import type { Feature } from "../commands/feature.ts";
import type { GuildSettings } from "../settings/guild-settings.ts";
import { chargebackSettings } from "../settings/keys.ts";
import { PerGuild } from "../settings/per-guild.ts";
import { Durable, type DurableOptions, DurablePart, type Step } from "../store/durable.ts";
import {
	type Chargeback,
	type FailableStep,
	insertChargeback,
	selectOpenChargebacks,
	setError,
	updateChargebacks,
} from "../store/tables/chargebacks.ts";
import { ignoreUnavailable } from "../store/unavailable.ts";
import { createAlert } from "./chargeback-alert.ts";
import { createChargebackButtons } from "./chargeback-buttons.ts";
import {
	ChargebackSteps,
	failureReason,
	isDone,
	isHeld,
	type StepName,
	type StepsOptions,
	shortId,
} from "./chargeback-steps.ts";
import { createChargebackWebhook, type ReportedChargeback, webhookPath } from "./chargeback-webhook.ts";

type WorkerOptions = StepsOptions & Pick<DurableOptions, "log" | "backOffMs">;

interface ChargebacksOptions extends Omit<WorkerOptions, "guildId" | "settings"> {
	settings: GuildSettings;
	secret: string;
	/** Whether the game server is also this guild's. */
	hasGame(guildId: string): boolean;
}

const errorColumns: Partial<Record<StepName, FailableStep>> = {
	restrict: "restriction",
	"ban on Discord": "discord_ban",
	"ban in the game": "game_ban",
	restore: "restoration",
};

export function createChargebacks(options: ChargebacksOptions) {
	const { settings, secret, hasGame, ...shared } = options;
	const { store, log } = shared;
	const guilds = new PerGuild({
		settings,
		given: (values, guildId) => (hasGame(guildId) ? chargebackSettings(values) : undefined),
		create: (guildId, given) => new GuildChargebacks({ ...shared, guildId, settings: given }),
	});
	const respond = createChargebackWebhook({
		secret,
		async accept(event) {
			await settings.ready();
			const all = guilds.all().filter(({ isGone }) => !isGone);
			for (const one of all) await one.accept(event);
			return all.length > 0;
		},
	});
	const onMemberMove = ({ id, guild }: GuildMember | PartialGuildMember) => guilds.of(guild.id)?.moved(id);
	const buttons = createChargebackButtons({
		store,
		log,
		staffRoles: (guildId) => (guilds.of(guildId) ? settings.of(guildId)["game.staff_roles"] : []),
		onDecision: (guildId) => guilds.of(guildId)?.start(),
	});
	return {
		components: [buttons],
		respond: (request, path) => (path === webhookPath ? respond(request) : undefined),
		attach(client) {
			client.on(Events.GuildMemberAdd, onMemberMove);
			client.on(Events.GuildMemberRemove, onMemberMove);
			listenToDeletions(client, (guildId, ...deleted) => guilds.of(guildId)?.deleted(...deleted));
			onSessionOrGuild(client, () => {
				for (const one of guilds.all()) one.reset();
			});
		},
		start: () => guilds.start(),
		close: () => guilds.close(),
	} satisfies Feature;
}

/** Of messages, or of a channel, which has no `channel_id`. */
type Deletion = Partial<GatewayMessageDeleteDispatchData & GatewayMessageDeleteBulkDispatchData>;

/** To raw Gateway events: discord.js emits them only for messages in its cache. */
function listenToDeletions(
	{ ws }: Client,
	deleted: (guildId: string, channelId: string, ids: readonly string[]) => void,
) {
	const { MessageDelete, MessageDeleteBulk, ChannelDelete } = GatewayDispatchEvents;
	const listener = ({ guild_id = "", id = "", channel_id = id, ids = [id] }: Deletion) =>
		deleted(guild_id, channel_id, ids);
	for (const event of [MessageDelete, MessageDeleteBulk, ChannelDelete] as const) ws.on(event, listener);
}

/** In one guild. */
export class GuildChargebacks extends DurablePart {
	readonly #sql: Sql;
	readonly #steps: ChargebackSteps;
	protected readonly work: Durable;
	// Events may have been missed.
	#moved: Set<string> | "anyone" = "anyone";
	#deleted: Set<string> | "anything" = "anything";
	#alertChannels: ReadonlySet<string>;
	/** Ids of chargebacks of users who joined or left the guild. The bot must check the roles of these users again. */
	readonly #unchecked = new Set<string>();

	constructor(private readonly options: WorkerOptions) {
		super();
		this.#sql = options.store.sql;
		this.#steps = new ChargebackSteps(options);
		this.#alertChannels = new Set([options.settings.staffChannel]);
		this.work = new Durable({
			backOffMs: [500, 300_000],
			...options,
			name: "chargebacks",
			scan: (running) => this.#scan(running),
		});
	}

	/** The bot has left the guild. */
	get isGone(): boolean {
		const { connection, guildId } = this.options;
		return connection.state.connected && !connection.guild(guildId);
	}

	async accept(event: ReportedChargeback): Promise<void> {
		const guild_id = this.options.guildId;
		const id = createHash("sha256").update(`${guild_id} ${event.id}`).digest("hex");
		if (await insertChargeback(this.#sql, { ...event, id, guild_id }, new Date()))
			this.options.log.info("received a chargeback from the game server", { chargeback: shortId(id), guild: guild_id });
		// Also for a known event: an earlier insert may have succeeded without a response.
		this.work.wake();
	}

	async #scan(running: ReadonlySet<string>): Promise<Step[]> {
		const open = await selectOpenChargebacks(this.#sql, this.options.guildId);
		// A running alert step would overwrite the mark. Its end starts another scan.
		if (![...running].some((key) => key.endsWith(" alert"))) await this.#markDeletedAlerts(open);
		const ids = new Set(open.map(({ id }) => id));
		for (const id of this.#unchecked) if (!ids.has(id)) this.#unchecked.delete(id);
		for (const { id, chat_id } of open)
			if (this.#moved === "anyone" || this.#moved.has(chat_id ?? "")) this.#unchecked.add(id);
		this.#moved = new Set();
		return open.flatMap((row) => this.#dueSteps(row, isHeld(row, open)));
	}

	/** Alerts whose message may have been deleted on Discord are sent again if necessary. */
	async #markDeletedAlerts(open: readonly Chargeback[]): Promise<void> {
		this.#alertChannels = new Set([
			this.options.settings.staffChannel,
			...open.flatMap(({ channel_id }) => channel_id ?? []),
		]);
		const mayBeDeleted = ({ shown, channel_id, message_id }: Chargeback) =>
			shown !== null &&
			(this.#deleted === "anything" || this.#deleted.has(channel_id ?? "") || this.#deleted.has(message_id ?? ""));
		const rows = open.filter(mayBeDeleted);
		const handled = this.#deleted;
		if (rows.length > 0)
			await updateChargebacks(
				this.#sql,
				rows.map(({ id }) => id),
				{ shown: null },
			);
		for (const row of rows) row.shown = null;
		if (this.#deleted === handled) this.#deleted = new Set();
	}

	#dueSteps(row: Chargeback, isHeld: boolean): Step[] {
		const { id, chat_id, decision, restriction, restoration } = row;
		const isUnchecked = this.#unchecked.has(id);
		const due: StepName[] = [];
		if (decision === null && chat_id !== null) if (restriction === "pending" || isUnchecked) due.push("restrict");
		if (decision === "ban") {
			if (row.discord_ban === "pending") due.push("ban on Discord");
			if (row.game_ban === "pending") due.push("ban in the game");
		}
		if (decision === "dismiss" && !isHeld)
			if (restoration === "pending" || (restoration === "absent" && isUnchecked)) due.push("restore");
		// The first alert waits for the result or first error of the restriction.
		const isTried = restriction !== "pending" || row.restriction_error !== null;
		if (isTried || decision !== null)
			if (row.shown !== createAlert(row, isHeld, this.#steps.language).digest || isDone(row)) due.push("alert");
		return due.map((step) => ({
			key: `${id} ${step}`,
			// The game server must not delay Discord.
			lane: step === "ban in the game" ? "game" : "Discord",
			failure: "step of handling a chargeback failed",
			fields: { chargeback: shortId(id), step },
			run: () => this.#run(row, isHeld, step),
		}));
	}

	async #run(row: Chargeback, isHeld: boolean, step: StepName): Promise<void> {
		const { id } = row;
		const checksMember = step === "restrict" || step === "restore";
		const wasUnchecked = checksMember && this.#unchecked.delete(id);
		try {
			await this.#steps.run(step, row, isHeld);
			this.options.log.debug("step of handling a chargeback finished", { chargeback: shortId(id), step });
		} catch (error) {
			if (wasUnchecked) this.#unchecked.add(id);
			const column = errorColumns[step];
			const reason = failureReason(error);
			// During a database outage the reason is not stored; the next attempt stores its own.
			if (column && reason) await setError(this.#sql, id, column, JSON.stringify(reason)).catch(ignoreUnavailable);
			throw error;
		}
	}

	moved(userId: string): void {
		if (this.#moved !== "anyone") this.#moved.add(userId);
		this.work.wake();
	}

	deleted(channelId: string, ids: readonly string[]): void {
		if (!this.#alertChannels.has(channelId)) return;
		// A new set: a scan in progress compares it by identity.
		if (this.#deleted !== "anything") this.#deleted = new Set([...this.#deleted, ...ids]);
		this.work.wake();
	}

	/** Call after a new Gateway session, because events may have been missed. Retries failed actions such as bans. */
	reset(): void {
		this.#moved = "anyone";
		this.#deleted = "anything";
		this.work.retryAll();
	}
}
