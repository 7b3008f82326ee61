// The worker for chargebacks. The next step of each follows from its row in the store alone, also after a restart. Failed
// steps are retried until they succeed.

import {
	type Client,
	Events,
	type GatewayChannelDeleteDispatchData,
	GatewayDispatchEvents,
	type GatewayMessageDeleteBulkDispatchData,
	type GatewayMessageDeleteDispatchData,
} from "discord.js";
import { onSessionOrGuild } from "../../discord/connection/session-events.ts";
import type { Sql } from "../../lib/store/statement.ts";
import type { ComponentHandler } from "../commands/components.ts";
import { Durable, type DurableOptions, type Step } from "../store/durable.ts";
import {
	type Chargeback,
	type FailableStep,
	hasRestriction,
	insertChargeback,
	selectOpenChargebacks,
	selectRestricted,
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
import { createChargebackWebhook, webhookPath } from "./chargeback-webhook.ts";

interface ChargebacksOptions extends StepsOptions, Pick<DurableOptions, "log" | "backOffMs"> {
	secret: string;
}

const errorColumns: Partial<Record<StepName, FailableStep>> = {
	restrict: "restriction",
	"ban on Discord": "discord_ban",
	"ban in the game": "game_ban",
	restore: "restoration",
};

export class Chargebacks {
	readonly #sql: Sql;
	readonly #steps: ChargebackSteps;
	readonly #respond: (request: Request) => Promise<Response>;
	readonly components: readonly ComponentHandler[];
	readonly #work: Durable;
	#moved: Set<string> | "anyone" = new Set();
	#deleted: Set<string> | "anything" = new Set();
	#alertChannels: ReadonlySet<string>;
	/** Ids of chargebacks of users who joined or left the guild. The bot must check the roles of these users again. */
	readonly #unchecked = new Set<string>();

	constructor(private readonly options: ChargebacksOptions) {
		const { store, settings, log, secret } = options;
		this.#sql = store.sql;
		this.#steps = new ChargebackSteps(options);
		this.#alertChannels = new Set([settings.staffChannel]);
		this.#work = new Durable({
			backOffMs: [500, 300_000],
			...options,
			name: "chargebacks",
			scan: (running) => this.#scan(running),
		});
		this.#respond = createChargebackWebhook({
			secret,
			accept: async (event) => {
				if (await insertChargeback(this.#sql, event, new Date()))
					log.info("received a chargeback from the game server", { chargeback: shortId(event.id) });
				// Also for a known event: an earlier insert may have succeeded without a response.
				this.#work.wake();
			},
		});
		const { staffRoles } = settings;
		this.components = [createChargebackButtons({ store, staffRoles, log, onDecision: this.#work.wake })];
	}

	async #scan(running: ReadonlySet<string>): Promise<Step[]> {
		const open = await selectOpenChargebacks(this.#sql);
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

	readonly #onMemberMove = ({ id }: { id: string }): void => {
		if (this.#moved !== "anyone") this.#moved.add(id);
		this.#work.wake();
	};

	#onDeletion(channelId: string, ids: readonly string[]): void {
		if (!this.#alertChannels.has(channelId)) return;
		// A new set: a scan in progress compares it by identity.
		if (this.#deleted !== "anything") this.#deleted = new Set([...this.#deleted, ...ids]);
		this.#work.wake();
	}

	/** Subscribes to raw Gateway events about deletions: discord.js emits them only for messages in its cache. */
	#listenToDeletions({ ws }: Client): void {
		const { MessageDelete, MessageDeleteBulk, ChannelDelete } = GatewayDispatchEvents;
		ws.on(MessageDelete, ({ channel_id, id }: GatewayMessageDeleteDispatchData) => this.#onDeletion(channel_id, [id]));
		ws.on(MessageDeleteBulk, ({ channel_id, ids }: GatewayMessageDeleteBulkDispatchData) =>
			this.#onDeletion(channel_id, ids),
		);
		ws.on(ChannelDelete, ({ id }: GatewayChannelDeleteDispatchData) => this.#onDeletion(id, [id]));
	}

	/** Call after a new Gateway session, because events may have been missed. Retries failed actions such as bans. */
	readonly #reset = (): void => {
		this.#moved = "anyone";
		this.#deleted = "anything";
		this.#work.retryAll();
	};

	respond(request: Request, path: string): Promise<Response> | undefined {
		return path === webhookPath ? this.#respond(request) : undefined;
	}

	attach(client: Client): void {
		client.on(Events.GuildMemberAdd, this.#onMemberMove);
		client.on(Events.GuildMemberRemove, this.#onMemberMove);
		this.#listenToDeletions(client);
		onSessionOrGuild(client, this.#reset);
	}

	/** If so, nothing else may change the user's roles. Rejects with StoreUnavailable if the database is unavailable. */
	isRestricted(userId: string): Promise<boolean> {
		return hasRestriction(this.#sql, userId);
	}

	allRestricted(): Promise<ReadonlySet<string>> {
		return selectRestricted(this.#sql);
	}

	start(): void {
		this.#work.wake();
	}

	close(): Promise<void> {
		return this.#work.close();
	}
}
