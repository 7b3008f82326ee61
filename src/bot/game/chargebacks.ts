// The worker for chargebacks. The next step of each follows from its row in the store alone, also after a restart. Failed
// steps are retried until they succeed.

import {
	type Client,
	Events,
	type GatewayChannelDeleteDispatchData,
	GatewayDispatchEvents,
	type GatewayMessageDeleteBulkDispatchData,
	type GatewayMessageDeleteDispatchData,
	type Interaction,
} from "discord.js";
import type { Log } from "../../lib/log.ts";
import { createReconciler, type Step } from "../../lib/reconciler.ts";
import { StoreUnavailable } from "../store/database/db-error.ts";
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
import { createAlert } from "./chargeback-alert.ts";
import { createButtonHandler } from "./chargeback-buttons.ts";
import {
	createSteps,
	failureReason,
	internalError,
	isDone,
	isHeld,
	type StepName,
	type StepsOptions,
	shortId,
} from "./chargeback-steps.ts";
import { createChargebackWebhook, webhookPath } from "./chargeback-webhook.ts";

/**
 * Maximum number of actions after chargebacks, such as bans, at the same time: few enough that no request times out in
 * discord.js's queue.
 */
const maxConcurrent = 5;
const shutdownGraceMs = 3_000;

export interface ChargebacksOptions extends StepsOptions {
	/** Bearer token that the game server must send, from the environment variable GAME_VERIFY_SECRET. */
	secret: string;
	log: Log;
	/**
	 * Wait before a failed action, such as a ban for a chargeback, is retried, in milliseconds: the first wait and the
	 * maximum.
	 */
	backOffMs?: readonly [number, number];
}

export interface Chargebacks {
	/** Answers an HTTP request to the webhook that receives chargebacks; undefined for other paths. */
	respond(request: Request, path: string): Promise<Response> | undefined;
	/** Subscribes to the Gateway events of a new discord.js client. */
	attach(client: Client): void;
	/**
	 * Whether a chargeback restricts the user, so that nothing else may change the user's roles. Rejects with
	 * StoreUnavailable if the database is unavailable.
	 */
	isRestricted(userId: string): Promise<boolean>;
	/**
	 * Resolves with the ids of all users that a chargeback restricts. Rejects with StoreUnavailable if the database is
	 * unavailable.
	 */
	allRestricted(): Promise<ReadonlySet<string>>;
	start(): void;
	close(): Promise<void>;
}

const errorColumns: Partial<Record<StepName, FailableStep>> = {
	restrict: "restriction",
	"ban on Discord": "discord_ban",
	"ban in the game": "game_ban",
	restore: "restoration",
};

export function createChargebacks(options: ChargebacksOptions): Chargebacks {
	const { store, settings, log } = options;
	const { sql } = store;
	const steps = createSteps(options);
	let moved: Set<string> | "anyone" = new Set();
	let deleted: Set<string> | "anything" = new Set();
	let alertChannels: ReadonlySet<string> = new Set([settings.staffChannel]);
	/** Ids of chargebacks of users who joined or left the guild. The bot must check the roles of these users again. */
	const unchecked = new Set<string>();

	const reconciler = createReconciler({
		scan,
		maxConcurrent,
		backOffMs: options.backOffMs ?? [500, 300_000],
		onScanFailure(error) {
			if (!(error instanceof StoreUnavailable))
				log.error("could not load open chargebacks from the database", {
					error,
				});
		},
	});
	const respond = createChargebackWebhook({
		secret: options.secret,
		async accept(event) {
			if (await insertChargeback(sql, event, new Date()))
				log.info("received a chargeback from the game server", {
					chargeback: shortId(event.id),
				});
			// Also for a known event: an earlier insert may have succeeded without a response.
			reconciler.wake();
		},
	});
	const handleButton = createButtonHandler({
		store,
		staffRoles: settings.staffRoles,
		log,
		onDecision: reconciler.wake,
	});

	async function scan(running: ReadonlySet<string>) {
		const open = await selectOpenChargebacks(sql);
		// A running alert step would overwrite the mark. Its end starts another scan.
		if (![...running].some((key) => key.endsWith(" alert"))) await markDeletedAlerts(open);
		const ids = new Set(open.map(({ id }) => id));
		for (const id of unchecked) if (!ids.has(id)) unchecked.delete(id);
		for (const { id, chat_id } of open) if (moved === "anyone" || moved.has(chat_id ?? "")) unchecked.add(id);
		moved = new Set();
		return { due: open.flatMap((row) => dueSteps(row, isHeld(row, open))) };
	}

	/**
	 * Resets the stored state of chargeback alerts whose message may have been deleted on Discord, so that the message is
	 * sent again if necessary.
	 */
	async function markDeletedAlerts(open: readonly Chargeback[]): Promise<void> {
		alertChannels = new Set([settings.staffChannel, ...open.flatMap(({ channel_id }) => channel_id ?? [])]);
		const mayBeDeleted = ({ shown, channel_id, message_id }: Chargeback) =>
			shown !== null && (deleted === "anything" || deleted.has(channel_id ?? "") || deleted.has(message_id ?? ""));
		const rows = open.filter(mayBeDeleted);
		const handled = deleted;
		if (rows.length > 0)
			await updateChargebacks(
				sql,
				rows.map(({ id }) => id),
				{ shown: null },
			);
		for (const row of rows) row.shown = null;
		if (deleted === handled) deleted = new Set();
	}

	/**
	 * Returns the actions, such as a ban, that the bot has to take now because of a chargeback. Their order does not
	 * matter.
	 */
	function dueSteps(row: Chargeback, isHeld: boolean): Step[] {
		const { id, chat_id, decision, restriction, restoration } = row;
		const isUnchecked = unchecked.has(id);
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
			if (row.shown !== createAlert(row, isHeld).digest || isDone(row)) due.push("alert");
		return due.map((step) => ({
			key: `${id} ${step}`,
			// The game server must not delay Discord.
			lane: step === "ban in the game" ? "game" : "Discord",
			run: () => run(row, isHeld, step),
		}));
	}

	async function run(row: Chargeback, isHeld: boolean, step: StepName) {
		const { id } = row;
		const checksMember = step === "restrict" || step === "restore";
		const wasUnchecked = checksMember && unchecked.delete(id);
		try {
			await steps[step](row, isHeld);
			log.debug("step of handling a chargeback finished", {
				chargeback: shortId(id),
				step,
			});
		} catch (error) {
			if (wasUnchecked) unchecked.add(id);
			await recordFailure(id, step, error);
			throw error;
		}
	}

	async function recordFailure(id: string, step: StepName, error: unknown): Promise<void> {
		const chargeback = shortId(id);
		try {
			const reason = failureReason(error);
			if (reason === undefined) {
				const { message } = error as Error;
				log.info("step of handling a chargeback not possible yet, will retry", {
					chargeback,
					step,
					reason: message,
				});
				return;
			}
			if (reason === internalError)
				log.error("step of handling a chargeback failed: internal error", {
					chargeback,
					step,
					error,
				});
			log.warn("step of handling a chargeback failed, will retry", {
				chargeback,
				step,
				reason,
			});
			const column = errorColumns[step];
			if (column) await setError(sql, id, column, reason);
		} catch (failure) {
			// During a database outage the reason is not stored; the next attempt stores its own.
			if (!(failure instanceof StoreUnavailable))
				log.error("could not store why a step of handling a chargeback failed", {
					chargeback,
					step,
					step_error: error,
					store_error: failure,
				});
		}
	}

	function onMemberMove({ id }: { id: string }): void {
		if (moved !== "anyone") moved.add(id);
		reconciler.wake();
	}

	function onDeletion(channelId: string, ids: readonly string[]): void {
		if (!alertChannels.has(channelId)) return;
		// A new set: a scan in progress compares it by identity.
		if (deleted !== "anything") deleted = new Set([...deleted, ...ids]);
		reconciler.wake();
	}

	/** Subscribes to raw Gateway events about deletions: discord.js emits them only for messages in its cache. */
	function listenToDeletions({ ws }: Client): void {
		const { MessageDelete, MessageDeleteBulk, ChannelDelete } = GatewayDispatchEvents;
		ws.on(MessageDelete, ({ channel_id, id }: GatewayMessageDeleteDispatchData) => onDeletion(channel_id, [id]));
		ws.on(MessageDeleteBulk, ({ channel_id, ids }: GatewayMessageDeleteBulkDispatchData) =>
			onDeletion(channel_id, ids),
		);
		ws.on(ChannelDelete, ({ id }: GatewayChannelDeleteDispatchData) => onDeletion(id, [id]));
	}

	/**
	 * Checks all open chargebacks again, and retries failed actions such as bans. Call after a new Gateway session,
	 * because events may have been missed.
	 */
	function reset(): void {
		moved = "anyone";
		deleted = "anything";
		reconciler.retryAll();
	}

	return {
		respond: (request, path) => (path === webhookPath ? respond(request) : undefined),
		attach(client) {
			client.on(Events.InteractionCreate, (interaction: Interaction) => {
				if (interaction.isButton()) void handleButton(interaction);
			});
			client.on(Events.GuildMemberAdd, onMemberMove);
			client.on(Events.GuildMemberRemove, onMemberMove);
			listenToDeletions(client);
			client.on(Events.ClientReady, reset);
			client.on(Events.ShardReady, reset);
		},
		isRestricted: (userId) => hasRestriction(sql, userId),
		allRestricted: () => selectRestricted(sql),
		start: reconciler.wake,
		close: () => reconciler.close(shutdownGraceMs),
	};
}
