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
import { backOffMs } from "../../lib/back-off.ts";
import type { Log } from "../../lib/log.ts";
import { within } from "../../lib/wait.ts";
import {
	type Chargeback,
	doubtAlerts,
	type Failing,
	hasRestriction,
	insertChargeback,
	selectOpenChargebacks,
	selectRestricted,
	setError,
} from "../store/chargebacks.ts";
import { StoreUnavailable } from "../store/database/db-error.ts";
import { createAlert } from "./chargeback-alert.ts";
import { createButtonHandler } from "./chargeback-buttons.ts";
import {
	createSteps,
	failureReason,
	isDone,
	isHeld,
	type Step,
	type StepsOptions,
	shortId,
} from "./chargeback-steps.ts";
import { createChargebackWebhook, webhookPath } from "./chargeback-webhook.ts";

/** Low enough for every request to leave discord.js's queue before its deadline. */
const maxConcurrent = 5;
/** How long steps in progress may take on shutdown. The next start repeats them. */
const shutdownGraceMs = 3_000;

export interface ChargebacksOptions extends StepsOptions {
	/** Bearer token of the game server: GAME_VERIFY_SECRET. */
	secret: string;
	log: Log;
	/** First and longest wait between attempts. */
	backOffMs?: readonly [number, number];
}

export interface Chargebacks {
	/** Answers the webhook; undefined for other paths. */
	respond(request: Request, path: string): Promise<Response> | undefined;
	/** Listens to the events of a new client. */
	attach(client: Client): void;
	/** Whether a chargeback restricts the user: nothing else should change their roles. Rejects with StoreUnavailable. */
	isRestricted(userId: string): Promise<boolean>;
	/** Ids of all restricted users. Rejects with StoreUnavailable. */
	allRestricted(): Promise<ReadonlySet<string>>;
	start(): void;
	close(): Promise<void>;
}

/** A step that runs, or waits for its retry. */
interface Attempt {
	failures: number;
	running: Promise<void> | undefined;
	timer: Timer | undefined;
}

/** Where the error of a step is stored. */
const errorColumns: Partial<Record<Step, Failing>> = {
	restrict: "restriction",
	"ban on Discord": "discord_ban",
	"ban in the game": "game_ban",
	restore: "restoration",
};

export function createChargebacks(options: ChargebacksOptions): Chargebacks {
	const { store, settings, log } = options;
	const { sql } = store;
	const retryRangeMs = options.backOffMs ?? ([500, 300_000] as const);
	const steps = createSteps(options);
	/** By event id and step. */
	const attempts = new Map<string, Attempt>();
	/** Users who joined or left since the last scan. */
	let moved: Set<string> | "anyone" = new Set();
	/** Messages and channels deleted since the last scan, in channels with alerts. */
	let deleted: Set<string> | "anything" = new Set();
	let alertChannels: ReadonlySet<string> = new Set([settings.staffChannel]);
	/** Ids of chargebacks whose member must be checked again: they joined or left. */
	const unchecked = new Set<string>();
	let closed = false;
	let scanning: Promise<void> | undefined;
	let mustScan = false;
	let failedScans = 0;
	let nextScan: Timer | undefined;

	const respond = createChargebackWebhook({
		secret: options.secret,
		async accept(event) {
			if (await insertChargeback(sql, event, new Date()))
				log.info("chargeback received", { event: shortId(event.id) });
			// Also for a known event: an earlier insert may have succeeded without a response.
			wake();
		},
	});
	const handleButton = createButtonHandler({
		store,
		staffRoles: settings.staffRoles,
		log,
		onDecision: wake,
	});

	/** Starts the steps that are due. */
	function wake(): void {
		mustScan = true;
		scanning ??= scan().finally(() => {
			scanning = undefined;
			// `wake` was called after the last scan.
			if (mustScan && !closed) wake();
		});
	}

	async function scan(): Promise<void> {
		while (mustScan && !closed) {
			mustScan = false;
			try {
				const isWritingAlert = [...attempts].some(
					([key, { running }]) => running && isAlert(key),
				);
				const open = await selectOpenChargebacks(sql);
				// A running alert step would overwrite the mark. Its end starts another scan.
				if (!isWritingAlert) await markDeletedAlerts(open);
				failedScans = 0;
				const due = new Set<string>();
				for (const { id, chat_id } of open)
					if (moved === "anyone" || moved.has(chat_id ?? "")) unchecked.add(id);
				moved = new Set();
				for (const row of open)
					for (const key of startSteps(row, isHeld(row, open))) due.add(key);
				cleanUp(open, due);
			} catch (error) {
				if (!(error instanceof StoreUnavailable))
					log.error("chargeback scan failed", { error });
				if (closed) return;
				clearTimeout(nextScan);
				nextScan = setTimeout(
					wake,
					backOffMs(failedScans++, [retryRangeMs[0], 30_000]),
				);
			}
		}
	}

	/** Marks alerts that may have been deleted, so that they are checked. */
	async function markDeletedAlerts(open: readonly Chargeback[]): Promise<void> {
		alertChannels = new Set([
			settings.staffChannel,
			...open.flatMap(({ channel_id }) => channel_id ?? []),
		]);
		const mayBeDeleted = ({ shown, channel_id, message_id }: Chargeback) =>
			shown !== null &&
			(deleted === "anything" ||
				deleted.has(channel_id ?? "") ||
				deleted.has(message_id ?? ""));
		const rows = open.filter(mayBeDeleted);
		const handled = deleted;
		if (rows.length > 0)
			await doubtAlerts(
				sql,
				rows.map(({ id }) => id),
			);
		for (const row of rows) row.shown = null;
		if (deleted === handled) deleted = new Set();
	}

	/** Starts the due steps that can run now. Returns the keys of all due steps. */
	function startSteps(row: Chargeback, isHeld: boolean): string[] {
		return dueSteps(row, isHeld).map((step) => {
			const key = `${row.id} ${step}`;
			start(row, isHeld, step, key);
			return key;
		});
	}

	function start(row: Chargeback, isHeld: boolean, step: Step, key: string) {
		const attempt = attempts.get(key) ?? newAttempt();
		if (closed || attempt.running || attempt.timer) return;
		// A step that ends starts the next scan.
		if (runningBeside(step) >= maxConcurrent) return;
		attempts.set(key, attempt);
		attempt.running = run(row, isHeld, step, attempt).finally(() => {
			attempt.running = undefined;
			if (!attempt.timer) attempts.delete(key);
			wake();
		});
	}

	/** Drops attempts that are no longer due. */
	function cleanUp(
		open: readonly Chargeback[],
		due: ReadonlySet<string>,
	): void {
		for (const [key, { running, timer }] of attempts)
			if (!running && !due.has(key)) {
				clearTimeout(timer);
				attempts.delete(key);
			}
		const ids = new Set(open.map(({ id }) => id));
		for (const id of unchecked) if (!ids.has(id)) unchecked.delete(id);
	}

	/** The steps that can run now, in any order. */
	function dueSteps(row: Chargeback, isHeld: boolean): Step[] {
		const { id, chat_id, decision, restriction, restoration } = row;
		const isUnchecked = unchecked.has(id);
		const due: Step[] = [];
		if (decision === null && chat_id !== null)
			if (restriction === "pending" || isUnchecked) due.push("restrict");
		if (decision === "ban") {
			if (row.discord_ban === "pending") due.push("ban on Discord");
			if (row.game_ban === "pending") due.push("ban in the game");
		}
		if (decision === "dismiss" && !isHeld)
			if (
				restoration === "pending" ||
				(restoration === "absent" && isUnchecked)
			)
				due.push("restore");
		// The first alert waits for the result or first error of the restriction.
		const isTried = restriction !== "pending" || row.restriction_error !== null;
		if (isTried || decision !== null)
			if (row.shown !== createAlert(row, isHeld).digest || isDone(row))
				due.push("alert");
		return due;
	}

	/** Running steps on the same side: the game server must not delay Discord. */
	function runningBeside(step: Step): number {
		const isGameStep = step === "ban in the game";
		return [...attempts].filter(
			([key, { running }]) =>
				running && key.endsWith("ban in the game") === isGameStep,
		).length;
	}

	/** Runs a step. On failure, records the reason and schedules a retry. Never rejects. */
	async function run(
		row: Chargeback,
		isHeld: boolean,
		step: Step,
		attempt: Attempt,
	): Promise<void> {
		const { id } = row;
		const checksMember = step === "restrict" || step === "restore";
		const wasUnchecked = checksMember && unchecked.delete(id);
		try {
			await steps[step](row, isHeld);
			attempt.failures = 0;
			log.debug("chargeback step done", { event: shortId(id), step });
		} catch (error) {
			if (wasUnchecked) unchecked.add(id);
			await recordFailure(id, step, error);
			if (closed) return;
			attempt.timer = setTimeout(
				() => {
					attempt.timer = undefined;
					wake();
				},
				backOffMs(attempt.failures++, retryRangeMs),
			);
		}
	}

	async function recordFailure(
		id: string,
		step: Step,
		error: unknown,
	): Promise<void> {
		const fields = { event: shortId(id), step };
		try {
			const reason = reasonFor(error, fields);
			if (reason === undefined) {
				const { message } = error as Error;
				log.info("chargeback step postponed", { ...fields, reason: message });
				return;
			}
			log.warn("chargeback step failed, will retry", { ...fields, reason });
			const column = errorColumns[step];
			if (column) await setError(sql, id, column, reason);
		} catch (failure) {
			// The next attempt records it.
			if (!(failure instanceof StoreUnavailable))
				log.error("chargeback step failed", { ...fields, error: failure });
		}
	}

	/** Like `failureReason`, but logs internal errors. */
	function reasonFor(error: unknown, fields: object): string | undefined {
		try {
			return failureReason(error);
		} catch (failure) {
			log.error("chargeback step failed", { ...fields, error: failure });
			return "internal error";
		}
	}

	function onMemberMove({ id }: { id: string }): void {
		if (moved !== "anyone") moved.add(id);
		wake();
	}

	function onDeletion(channelId: string, ids: readonly string[]): void {
		if (!alertChannels.has(channelId)) return;
		// A new set: a scan in progress compares it by identity.
		if (deleted !== "anything") deleted = new Set([...deleted, ...ids]);
		wake();
	}

	/** Raw events: discord.js emits deletions only for messages in its cache. */
	function listenToDeletions({ ws }: Client): void {
		const { MessageDelete, MessageDeleteBulk, ChannelDelete } =
			GatewayDispatchEvents;
		ws.on(
			MessageDelete,
			({ channel_id, id }: GatewayMessageDeleteDispatchData) =>
				onDeletion(channel_id, [id]),
		);
		ws.on(
			MessageDeleteBulk,
			({ channel_id, ids }: GatewayMessageDeleteBulkDispatchData) =>
				onDeletion(channel_id, ids),
		);
		ws.on(ChannelDelete, ({ id }: GatewayChannelDeleteDispatchData) =>
			onDeletion(id, [id]),
		);
	}

	/** After a new Gateway session: events may have been missed, and a retry may succeed now. */
	function reset(): void {
		moved = "anyone";
		deleted = "anything";
		for (const attempt of attempts.values()) {
			clearTimeout(attempt.timer);
			attempt.timer = undefined;
		}
		wake();
	}

	return {
		respond: (request, path) =>
			path === webhookPath ? respond(request) : undefined,
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
		start: wake,
		async close() {
			closed = true;
			clearTimeout(nextScan);
			for (const { timer } of attempts.values()) clearTimeout(timer);
			const running = [...attempts.values()].map(({ running }) => running);
			await within(shutdownGraceMs, Promise.all([scanning, ...running]));
		},
	};
}

function isAlert(key: string): boolean {
	return key.endsWith(" alert");
}

function newAttempt(): Attempt {
	return { failures: 0, running: undefined, timer: undefined };
}
