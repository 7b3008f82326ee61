// Chargebacks: payments that were taken back. The store says how far the bot has got with each; from that alone follows
// what is to be done next, now as after a restart. What fails is tried again for as long as it takes.

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
import { StoreUnavailable } from "../store/db-error.ts";
import { alertOf } from "./chargeback-alert.ts";
import { createPresses } from "./chargeback-presses.ts";
import {
	createSteps,
	isHeld,
	isOver,
	reasonOf,
	type Step,
	type StepsOptions,
	short,
} from "./chargeback-steps.ts";
import { createChargebackWebhook, webhookPath } from "./chargeback-webhook.ts";

/** How many steps are taken at once, so that what waits for Discord gets its turn within its time. */
const maxAtOnce = 5;
/** How long a step under way is waited for at the end; the next start takes it again. */
const farewellMs = 3_000;

export interface ChargebacksOptions extends StepsOptions {
	/** What the game server shows. */
	secret: string;
	log: Log;
	/** Waits between attempts: doubled each time, up to the second number. */
	backOffMs?: readonly [number, number];
}

export interface Chargebacks {
	/** Answers the game server; undefined: `path` is none of ours. */
	respond(request: Request, path: string): Promise<Response> | undefined;
	/** Listens to what happens on Discord, on a client that is new. */
	attach(client: Client): void;
	/** Whether roles of theirs are kept back: nobody else should give them any. Rejects with StoreUnavailable. */
	isRestricted(userId: string): Promise<boolean>;
	/** The ids of all of whom that holds. Rejects with StoreUnavailable. */
	allRestricted(): Promise<ReadonlySet<string>>;
	start(): void;
	close(): Promise<void>;
}

/** A step of one chargeback that is under way, or failed and waits. */
interface Attempt {
	failures: number;
	running: Promise<void> | undefined;
	timer: Timer | undefined;
}

const errorOf: Partial<Record<Step, Failing>> = {
	restrict: "restriction",
	"ban on Discord": "discord_ban",
	"ban in the game": "game_ban",
	restore: "restoration",
};

export function createChargebacks(options: ChargebacksOptions): Chargebacks {
	const { store, settings, log } = options;
	const { sql } = store;
	const [firstMs, mostMs] = options.backOffMs ?? [500, 300_000];
	const steps = createSteps(options);
	/** By event and step. */
	const attempts = new Map<string, Attempt>();
	/** People who have come or gone since the last look. */
	let moved: Set<string> | "anyone" = new Set();
	/** Messages and channels that were deleted since the last look, of those in which alerts are. */
	let gone: Set<string> | "anything" = new Set();
	/** Where alerts are. */
	let alertChannels: ReadonlySet<string> = new Set([settings.staffChannel]);
	/** Chargebacks of people who may have come or gone since theirs was worked on. */
	const unsure = new Set<string>();
	let closed = false;
	let tending: Promise<void> | undefined;
	let again = false;
	let looksFailed = 0;
	let nextLook: Timer | undefined;

	const respond = createChargebackWebhook({
		secret: options.secret,
		async accept(event) {
			if (await insertChargeback(sql, event, new Date()))
				log.info("a chargeback came in", { event: short(event.id) });
			// One that is there already may be there without our having heard of it.
			tend();
		},
	});
	const press = createPresses({
		...{ store, staffRoles: settings.staffRoles, log },
		onDecision: tend,
	});

	/** Looks what is to be done, and begins it. */
	function tend(): void {
		again = true;
		tending ??= look().finally(() => {
			tending = undefined;
			// Somebody may have asked after its last look.
			if (again && !closed) tend();
		});
	}

	async function look(): Promise<void> {
		while (again && !closed) {
			again = false;
			try {
				const isWriting = [...attempts].some(
					([key, { running }]) => running && isAlert(key),
				);
				const open = await selectOpenChargebacks(sql);
				// An alert that is being written would be noted as there; the end of that is looked at, too.
				if (!isWriting) await doubt(open);
				looksFailed = 0;
				const due = new Set<string>();
				for (const { id, chat_id } of open)
					if (moved === "anyone" || moved.has(chat_id ?? "")) unsure.add(id);
				moved = new Set();
				for (const row of open)
					for (const key of takeUp(row, isHeld(row, open))) due.add(key);
				forget(open, due);
			} catch (error) {
				if (!(error instanceof StoreUnavailable))
					log.error("could not look after the chargebacks", { error });
				if (closed) return;
				clearTimeout(nextLook);
				nextLook = setTimeout(
					tend,
					backOffMs(looksFailed++, [firstMs, 30_000]),
				);
			}
		}
	}

	/** Notes of which alerts it is not known any more whether they are there. */
	async function doubt(open: readonly Chargeback[]): Promise<void> {
		alertChannels = new Set([
			settings.staffChannel,
			...open.flatMap(({ channel_id }) => channel_id ?? []),
		]);
		const isDoubtful = ({ shown, channel_id, message_id }: Chargeback) =>
			shown !== null &&
			(gone === "anything" ||
				gone.has(channel_id ?? "") ||
				gone.has(message_id ?? ""));
		const doubtful = open.filter(isDoubtful);
		const doubted = gone;
		if (doubtful.length > 0)
			await doubtAlerts(
				sql,
				doubtful.map(({ id }) => id),
			);
		for (const row of doubtful) row.shown = null;
		if (gone === doubted) gone = new Set();
	}

	/** Begins what can be begun; gives the keys of all that is due. */
	function takeUp(row: Chargeback, held: boolean): string[] {
		return stepsFor(row, held).map((step) => {
			const key = `${row.id} ${step}`;
			begin(row, held, step, key);
			return key;
		});
	}

	function begin(row: Chargeback, held: boolean, step: Step, key: string) {
		const attempt = attempts.get(key) ?? newAttempt();
		if (closed || attempt.running || attempt.timer) return;
		// Those that are under way look again when they end.
		if (busy(step) >= maxAtOnce) return;
		attempts.set(key, attempt);
		attempt.running = take(row, held, step, attempt).finally(() => {
			attempt.running = undefined;
			if (!attempt.timer) attempts.delete(key);
			tend();
		});
	}

	/** What is not due any more needs no other attempt. */
	function forget(open: readonly Chargeback[], due: ReadonlySet<string>): void {
		for (const [key, { running, timer }] of attempts)
			if (!running && !due.has(key)) {
				clearTimeout(timer);
				attempts.delete(key);
			}
		const ids = new Set(open.map(({ id }) => id));
		for (const id of unsure) if (!ids.has(id)) unsure.delete(id);
	}

	/** What can be done now, in any order. */
	function stepsFor(row: Chargeback, held: boolean): Step[] {
		const { id, chat_id, decision, restriction, restoration } = row;
		const isUnsure = unsure.has(id);
		const due: Step[] = [];
		if (decision === null && chat_id !== null)
			if (restriction === "pending" || isUnsure) due.push("restrict");
		if (decision === "ban") {
			if (row.discord_ban === "pending") due.push("ban on Discord");
			if (row.game_ban === "pending") due.push("ban in the game");
		}
		if (decision === "dismiss" && !held)
			if (restoration === "pending" || (restoration === "absent" && isUnsure))
				due.push("restore");
		// The first alert says what has come of the restriction, or why it has not come about yet.
		const tried = restriction !== "pending" || row.restriction_error !== null;
		if (tried || decision !== null)
			if (row.shown !== alertOf(row, held).digest || isOver(row))
				due.push("alert");
		return due;
	}

	/** Steps that wait for the same side; the game server must not hold up Discord. */
	function busy(step: Step): number {
		const inGame = step === "ban in the game";
		return [...attempts].filter(
			([key, { running }]) =>
				running && key.endsWith("ban in the game") === inGame,
		).length;
	}

	/** Takes a step; where it fails, notes why, and when it is taken again. Never rejects. */
	async function take(
		row: Chargeback,
		held: boolean,
		step: Step,
		attempt: Attempt,
	): Promise<void> {
		const { id } = row;
		const looksAtMember = step === "restrict" || step === "restore";
		const wasUnsure = looksAtMember && unsure.delete(id);
		try {
			await steps[step](row, held);
			attempt.failures = 0;
			log.debug("a step of a chargeback is done", { event: short(id), step });
		} catch (error) {
			if (wasUnsure) unsure.add(id);
			await noteFailure(id, step, error);
			if (closed) return;
			attempt.timer = setTimeout(
				() => {
					attempt.timer = undefined;
					tend();
				},
				backOffMs(attempt.failures++, [firstMs, mostMs]),
			);
		}
	}

	async function noteFailure(
		id: string,
		step: Step,
		error: unknown,
	): Promise<void> {
		const fields = { event: short(id), step };
		try {
			const reason = reasonFor(error, fields);
			if (reason === undefined) {
				const { message } = error as Error;
				log.info("a chargeback waits", { ...fields, reason: message });
				return;
			}
			log.warn("a step of a chargeback failed, and is tried again", {
				...fields,
				reason,
			});
			const what = errorOf[step];
			if (what) await setError(sql, id, what, reason);
		} catch (fault) {
			// The next attempt says it again.
			if (!(fault instanceof StoreUnavailable))
				log.error("a step of a chargeback failed", { ...fields, error: fault });
		}
	}

	/** As `reasonOf`; a fault of ours is logged, and the staff are told that it is one. */
	function reasonFor(error: unknown, fields: object): string | undefined {
		try {
			return reasonOf(error);
		} catch (fault) {
			log.error("a step of a chargeback failed", { ...fields, error: fault });
			return "a fault of the bot's";
		}
	}

	/** Someone has come or gone. */
	function noteMove({ id }: { id: string }): void {
		if (moved !== "anyone") moved.add(id);
		tend();
	}

	function noteDeletion(channelId: string, ids: readonly string[]): void {
		if (!alertChannels.has(channelId)) return;
		// As a new set, so that what comes during a look is not taken for what it has seen.
		if (gone !== "anything") gone = new Set([...gone, ...ids]);
		tend();
	}

	/** Listens to Discord itself: discord.js tells only of the messages that it has in its cache. */
	function listenToDeletions({ ws }: Client): void {
		const { MessageDelete, MessageDeleteBulk, ChannelDelete } =
			GatewayDispatchEvents;
		ws.on(MessageDelete, (one: GatewayMessageDeleteDispatchData) =>
			noteDeletion(one.channel_id, [one.id]),
		);
		ws.on(MessageDeleteBulk, (some: GatewayMessageDeleteBulkDispatchData) =>
			noteDeletion(some.channel_id, some.ids),
		);
		ws.on(ChannelDelete, (one: GatewayChannelDeleteDispatchData) =>
			noteDeletion(one.id, [one.id]),
		);
	}

	/** A new session of Discord's Gateway: what happened before it is not known, and what waited need not any more. */
	function startAnew(): void {
		moved = "anyone";
		gone = "anything";
		for (const attempt of attempts.values()) {
			clearTimeout(attempt.timer);
			attempt.timer = undefined;
		}
		tend();
	}

	return {
		respond: (request, path) =>
			path === webhookPath ? respond(request) : undefined,
		attach(client) {
			client.on(Events.InteractionCreate, (interaction: Interaction) => {
				if (interaction.isButton()) void press(interaction);
			});
			client.on(Events.GuildMemberAdd, noteMove);
			client.on(Events.GuildMemberRemove, noteMove);
			listenToDeletions(client);
			client.on(Events.ClientReady, startAnew);
			client.on(Events.ShardReady, startAnew);
		},
		isRestricted: (userId) => hasRestriction(sql, userId),
		allRestricted: () => selectRestricted(sql),
		start: tend,
		async close() {
			closed = true;
			clearTimeout(nextLook);
			for (const { timer } of attempts.values()) clearTimeout(timer);
			const running = [...attempts.values()].map(({ running }) => running);
			await Promise.race([
				Promise.all([tending, ...running]),
				Bun.sleep(farewellMs),
			]);
		},
	};
}

function isAlert(key: string): boolean {
	return key.endsWith(" alert");
}

function newAttempt(): Attempt {
	return { failures: 0, running: undefined, timer: undefined };
}
