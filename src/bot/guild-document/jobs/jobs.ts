// Carries out plans. A job is stored before anything is sent, and each step is found from the difference between the
// document and the guild, so that a job continues after a kill, a restart or an outage. A request that creates something
// is stored first; if its response is lost, what it made is looked for before it is sent again (made-things.ts).

import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import {
	type Client,
	DiscordAPIError,
	Events,
	type Guild,
	type RouteLike,
} from "discord.js";
import {
	type GuildDocument,
	InvalidDocument,
} from "../../../guild-document/format/document.ts";
import type { DifferenceOptions } from "../../../guild-document/steps/difference.ts";
import type {
	ApiRequest,
	Difference,
	GuildState,
	Step,
} from "../../../guild-document/steps.ts";
import type { KeyedMutex } from "../../../lib/keyed-mutex.ts";
import type { Log } from "../../../lib/log.ts";
import { createReconciler, NotNow } from "../../../lib/reconciler.ts";
import { ToolError } from "../../../mcp/tool.ts";
import type { Connection } from "../../discord/connection/connection.ts";
import { describePlatformError } from "../../discord/rest/errors.ts";
import {
	observeRateLimit,
	PlatformBusy,
	PlatformFailure,
	PlatformTimeout,
	type RateLimitState,
	wasNotDone,
} from "../../discord/rest/rest.ts";
import { auditReason, oneField } from "../../discord/text.ts";
import { StoreUnavailable } from "../../store/database/db-error.ts";
import {
	askToCancel,
	deleteGuildJobsBefore,
	endGuildJob,
	type GuildJobRow,
	type GuildJobState,
	type GuildJobStepRow,
	insertGuildJob,
	type RunningGuildJob,
	saveGuildJobSteps,
	selectGuildJob,
	selectGuildJobIds,
	selectGuildJobSteps,
	selectRunningGuildJobs,
} from "../../store/guild-jobs.ts";
import type { Store } from "../../store/store.ts";
import {
	fixedRoles,
	isEmptyOrder,
	type Plan,
	partsOf,
	type Rules,
} from "../plans/plans.ts";
import type { Pictures } from "../read/pictures.ts";
import {
	createdIds,
	type Job,
	leftoversOf,
	newStepRow,
	runnable,
	toJob,
} from "./job-rules.ts";
import {
	candidatesIn,
	isSameName,
	markedReason,
	newestId,
	readCreations,
} from "./made-things.ts";

/** Maximum number of jobs that run at the same time, each in another guild. */
const maxConcurrent = 3;
/** How long an ended job is kept, in milliseconds. A running job older than this ends. */
const keptMs = 7 * 86_400_000;
/** Milliseconds between two deletions of old jobs. */
const cleanIntervalMs = 3_600_000;
/** Maximum milliseconds between two searches for jobs. */
const maxSleepMs = 300_000;
/** Maximum milliseconds for which a running job waits for a rate limit. For longer, it is searched for again. */
const maxPaceMs = 10_000;
/** Number of requests of a rate limit that are left to others. */
const spared = 1;
const noLimit = { remaining: Infinity, resetAt: 0 };
/** How often a request of the same step may get no response. */
const maxUnanswered = 5;
/** How often a job may fail for a reason that waiting does not change. */
const maxFailures = 5;
/** Maximum number of things in a job's note that cannot be done any more. */
const maxNotes = 20;
const shutdownGraceMs = 3_000;

export interface JobsOptions {
	connection: Connection;
	store: Pick<Store, "sql">;
	/** Tools and jobs lock the ids of what they edit. */
	mutex: KeyedMutex;
	log: Log;
	rules: Rules;
	pictures: Pick<Pictures, "dataUri" | "remember">;
	/** Returns the wall-clock time in epoch milliseconds. The clock may jump. */
	now?: () => number;
	/** Wait before failed work is retried, in milliseconds: the first wait and the maximum. */
	backOffMs?: readonly [number, number];
	/** Milliseconds after which a request without a response has arrived at Discord, or never will. */
	arrivedAfterMs?: number;
	/** Milliseconds after which Discord's audit log has an entry for each request that was carried out. */
	loggedAfterMs?: number;
	/**
	 * Returns the milliseconds after which a job reads the guild again, because other people change it meanwhile. `readMs`:
	 * how long reading took.
	 */
	maxStateAgeMs?: (readMs: number) => number;
	/** Whether the bot's configuration allows tools to access a guild. */
	mayTouch(guildId: string): boolean;
}

/** Why a running job does nothing at the moment. */
export interface Wait {
	why: string;
	/** Until when, in milliseconds of `performance.now()`; 0 if that is not known. */
	until: number;
}

export interface JobView {
	job: Job;
	wait: Wait | undefined;
}

export interface Jobs {
	/** Stores a job and starts it. Returns undefined if the guild has a running job. */
	begin(
		plan: Plan,
		hash: string,
		reason: string,
	): Promise<GuildJobRow | undefined>;
	/** Returns the running job of a guild. */
	runningIn(guildId: string): Promise<RunningGuildJob | undefined>;
	/** Returns a job; undefined if there is none. */
	find(id: string): Promise<JobView | undefined>;
	/** Returns the ids of the guild's jobs, the latest first. */
	idsOf(guildId: string, limit: number): Promise<string[]>;
	/** Resolves when a job has ended. Rejects if the database is unavailable. */
	ended(id: string): Promise<void>;
	/** Ends a job after its running step. Returns false if it does not run. */
	cancel(id: string): Promise<boolean>;
	/** Subscribes to the Gateway events of a new discord.js client. */
	attach(client: Client): void;
	start(): void;
	close(): Promise<void>;
}

export function createJobs(options: JobsOptions): Jobs {
	const { connection, store, mutex, log, rules, pictures } = options;
	const { now = Date.now } = options;
	const { arrivedAfterMs = 15_000, loggedAfterMs = 60_000 } = options;
	const { mayTouch } = options;
	const { maxStateAgeMs = (readMs: number) => Math.max(30_000, 5 * readMs) } =
		options;
	const { sql } = store;
	const closing = new AbortController();
	/** Why jobs wait, by their ids. */
	const waits = new Map<string, Wait>();
	/** Ids of jobs that someone has cancelled in this run of the bot. */
	const cancelled = new Set<string>();
	/** How often jobs have failed in a row, by their ids. */
	const failures = new Map<string, number>();
	/** How often requests got no response, by job and step. */
	const unanswered = new Map<string, number>();
	/** When a request without a known outcome was last sent or first seen, by job and step. */
	const askedAt = new Map<string, number>();
	/** When roles were given to members, by job and step. The cache, which has the members' roles, hears of it later. */
	const assignedAt = new Map<string, number>();
	/** What is left of rate limits, by job and route, and until when in milliseconds of `performance.now()`. */
	const buckets = new Map<string, typeof noLimit>();
	/** Resolved when jobs end, by their ids. */
	const endings = new Map<string, PromiseWithResolvers<void>>();
	let cleanAt = 0;
	// A job outlives the tool call that starts it: it must not get the call's deadline and permissions.
	const outsideOfCalls = AsyncLocalStorage.snapshot();

	const reconciler = createReconciler({
		maxConcurrent,
		backOffMs: options.backOffMs ?? [1_000, 60_000],
		onScanFailure(error) {
			if (!(error instanceof StoreUnavailable))
				log.error(
					"could not load the running apply_guild jobs from the database",
					{
						error,
					},
				);
		},
		async scan() {
			await clean();
			const jobs = await selectRunningGuildJobs(sql);
			const at = performance.now();
			const due = jobs.filter((job) => isDue(job, at));
			const untils = jobs.map(({ id }) => waits.get(id)?.until ?? 0);
			return {
				due: due.map((job) => ({ key: job.guild_id, run: () => run(job) })),
				nextMs: Math.min(
					maxSleepMs,
					...untils.filter((until) => until > at).map((until) => until - at),
				),
			};
		},
	});
	const wake = () => outsideOfCalls(reconciler.wake);

	function isDue(job: RunningGuildJob, at: number): boolean {
		if (job.cancel_asked === 1) return true;
		if ((waits.get(job.id)?.until ?? 0) > at) return false;
		// An unavailable guild announces its return with an event.
		return connection.ready && guildOf(job.guild_id)?.available !== false;
	}

	function guildOf(id: string): Guild | undefined {
		return connection.guilds.find((guild) => guild.id === id);
	}

	async function clean(): Promise<void> {
		if (performance.now() < cleanAt) return;
		await deleteGuildJobsBefore(sql, now() - keptMs);
		cleanAt = performance.now() + cleanIntervalMs;
	}

	/** Continues a job until it ends or has to wait. Rejects if it must be retried. */
	async function run({ id, guild_id: guild }: RunningGuildJob): Promise<void> {
		waits.delete(id);
		try {
			await work(id);
			failures.delete(id);
		} catch (error) {
			if (error instanceof PlatformBusy)
				return wait(id, error.retryAfterMs, describePlatformError(error));
			const reason =
				error instanceof StoreUnavailable
					? "the bot's database is unavailable"
					: error instanceof NotNow || error instanceof ToolError
						? error.message
						: describePlatformError(error);
			waits.set(id, { why: reason ?? "an internal error", until: 0 });
			if (isTemporary(error)) throw error;
			log.warn("apply_guild job failed, will retry", {
				job: id,
				guild,
				...(reason === undefined ? { error } : { reason }),
			});
			const count = (failures.get(id) ?? 0) + 1;
			failures.set(id, count);
			if (count < maxFailures) throw error;
			await end(id, "failed", `it cannot continue: ${waits.get(id)?.why}`);
		}
	}

	function wait(id: string, ms: number, why = "waiting"): void {
		waits.set(id, { why, until: performance.now() + ms });
	}

	/** Carries out a job until nothing is left, or until it has to wait. */
	async function work(id: string): Promise<void> {
		const row = await selectGuildJob(sql, id);
		if (!row || row.ended_at !== null) return;
		if (row.cancel_asked === 1) return end(id, "cancelled");
		if (now() - row.started_at > keptMs)
			return end(id, "failed", "it was started too long ago");
		// The operator may have changed the configuration since the job was started.
		if (!mayTouch(row.guild_id))
			return end(
				id,
				"failed",
				"the operator of this bot has not enabled tools for the guild",
			);
		if (!connection.ready)
			throw new NotNow("the bot is not connected to Discord");
		const guild = guildOf(row.guild_id);
		if (!guild) return end(id, "failed", "the bot is not in the guild");
		if (!guild.available)
			throw new NotNow("the guild is unavailable on Discord");
		const job = toJob(row, await selectGuildJobSteps(sql, id));
		const { document, prune } = job.plan;
		for (;;) {
			const readAt = performance.now();
			const read = await rules.read(guild, partsOf(document));
			const { state } = read;
			const hasReadAt = performance.now();
			const staleAt = hasReadAt + maxStateAgeMs(hasReadAt - readAt);
			const settled = await settleCreations(job, guild, state, readAt);
			if (settled === "wait") return;
			if (settled === "read again") continue;
			const ids = createdIds(job);
			const found = differenceOf(document, state, {
				...{ prune, ids },
				fixedRoles: fixedRoles(guild, state),
			});
			if (found instanceof InvalidDocument)
				return end(
					id,
					"failed",
					`the guild changed so that the document is ambiguous: ${found.issues[0]}`,
				);
			const { steps } = found;
			await noteSettled(job, steps);
			const possible = runnable(steps, job, ids);
			if (possible.length === 0) return finish(job, found, read.unreadable);
			const todo = possible.filter(
				(step) =>
					performance.now() >=
					(assignedAt.get(`${id} ${step.id}`) ?? -Infinity) + arrivedAfterMs,
			);
			if (todo.length === 0)
				return wait(
					id,
					Math.min(1_000, arrivedAfterMs),
					"Discord's events about the roles of members have not arrived yet",
				);
			for (const [index, step] of todo.entries()) {
				if (cancelled.has(id)) return end(id, "cancelled");
				if (index > 0 && performance.now() > staleAt) break;
				await runStep(job, guild, state, step, ids);
			}
		}
	}

	function differenceOf(
		document: GuildDocument,
		state: GuildState,
		given: DifferenceOptions,
	): Difference | InvalidDocument {
		try {
			return rules.difference(document, state, given);
		} catch (error) {
			if (error instanceof InvalidDocument) return error;
			throw error;
		}
	}

	async function save(job: Job, row: GuildJobStepRow): Promise<void> {
		await saveGuildJobSteps(sql, [row]);
		job.steps.set(row.step_id, row);
	}

	/**
	 * Finds what the requests have created whose outcome is unknown. Returns "wait" if the job has to wait for it, and "read
	 * again" if the pictures in the state are outdated. `readAt`: when the state was read, in milliseconds of
	 * `performance.now()`.
	 */
	async function settleCreations(
		job: Job,
		guild: Guild,
		state: GuildState,
		readAt: number,
	): Promise<"done" | "wait" | "read again"> {
		let hasEmoji = false;
		for (const row of job.steps.values()) {
			if (row.state !== "asked" || row.action !== "create") continue;
			const settled = await settleCreation(job, guild, state, readAt, row);
			if (!settled) return "wait";
			if (settled.target_id && row.kind === "emoji") {
				await rememberEmoji(job, guild, state, row, settled.target_id);
				hasEmoji = true;
			}
			await save(job, { ...row, ...settled });
			askedAt.delete(keyOf(row));
		}
		return hasEmoji ? "read again" : "done";
	}

	/** Records the picture of an emoji that a request without a response has created: Discord's copy has another hash. */
	async function rememberEmoji(
		job: Job,
		guild: Guild,
		state: GuildState,
		{ step_id }: GuildJobStepRow,
		id: string,
	): Promise<void> {
		const { document, prune } = job.plan;
		const emojis = state.guild.emojis.filter((emoji) => emoji.id !== id);
		const before = { ...state, guild: { ...state.guild, emojis } };
		const ids = createdIds(job);
		const found = differenceOf(document, before, {
			...{ prune, ids },
			fixedRoles: fixedRoles(guild, state),
		});
		if (found instanceof InvalidDocument) return;
		const step = found.steps.find((one) => one.id === step_id);
		const hash = step?.request(ids).picture?.hash;
		if (hash !== undefined)
			await pictures.remember({ kind: "emoji", id, animated: false }, hash);
	}

	/** Returns what became of a request that creates something; undefined if that has to wait. */
	async function settleCreation(
		{ row: { id }, steps }: Job,
		guild: Guild,
		state: GuildState,
		readAt: number,
		row: GuildJobStepRow,
	): Promise<Partial<GuildJobStepRow> | undefined> {
		const { name, mark, after_id: afterId, done_count } = row;
		const kind = row.kind as Step["kind"];
		const creations = await readCreations(guild, kind, afterId);
		const madeId = creations.madeBy(id, mark);
		if (madeId !== undefined)
			return { state: "done", target_id: madeId, done_count: done_count + 1 };
		const since = askedAt.get(keyOf(row)) ?? performance.now();
		askedAt.set(keyOf(row), since);
		// What arrives later is not in the state.
		const passedMs = readAt - since;
		const why = `it is not known yet whether Discord has created ${row.kind} ${oneField(name)}`;
		if (passedMs < arrivedAfterMs) {
			wait(id, arrivedAfterMs - passedMs, why);
			return undefined;
		}
		const known = new Set(
			[...steps.values()].flatMap(({ target_id }) => target_id ?? []),
		);
		const candidates = candidatesIn(state, { kind, afterId }, known)
			// Someone else has created it.
			.filter((thing) => !creations.isOther(thing.id));
		if (candidates.length === 0) return { state: "open" };
		if (passedMs < loggedAfterMs) {
			wait(id, Math.min(loggedAfterMs - passedMs, arrivedAfterMs), why);
			return undefined;
		}
		const candidate = candidates.find((thing) => isSameName(thing.name, name));
		if (!candidate) return { state: "open" };
		return {
			state: "failed",
			error: `the outcome is unknown: Discord did not respond. ${oneField(candidate.name)} (ID: ${candidate.id}) may be what was created`,
		};
	}

	/** Records other requests without a known outcome as done if their steps are no longer due. */
	async function noteSettled(job: Job, steps: readonly Step[]): Promise<void> {
		const due = new Set(steps.map(({ id }) => id));
		for (const row of job.steps.values())
			if (row.state === "asked" && !due.has(row.step_id))
				await save(job, {
					...row,
					state: "done",
					done_count: row.done_count + 1,
				});
	}

	/** Carries out one step. `ids` gets the id of what is created. Rejects if the job must be retried or has to wait. */
	async function runStep(
		job: Job,
		guild: Guild,
		state: GuildState,
		step: Step,
		ids: Map<string, string>,
	): Promise<void> {
		// A step before this one may have failed.
		if (!step.needs.every((placeholder) => ids.has(placeholder))) return;
		if (isEmptyOrder(step, ids)) return;
		const bucket = bucketOf(job, step.request(ids));
		await pace(bucket);
		let limit: RateLimitState | undefined;
		const wasSent = await mutex.withLock(locksOf(step, guild), () =>
			observeRateLimit(
				(state) => {
					limit = state;
				},
				() => send(job, guild, state, step, ids),
			),
		);
		if (!limit || !wasSent) return;
		const { remaining, resetAfterMs } = limit;
		buckets.set(bucket, {
			remaining,
			resetAt: performance.now() + resetAfterMs,
		});
	}

	/** Sends the request of a step if it is allowed now. Returns whether Discord has confirmed it. */
	async function send(
		job: Job,
		guild: Guild,
		state: GuildState,
		step: Step,
		ids: Map<string, string>,
	): Promise<boolean> {
		if (closing.signal.aborted) throw new NotNow("the bot is stopping");
		const row = job.steps.get(step.id) ?? newStepRow(step, job);
		const fail = async (error: string) => {
			await save(job, { ...row, state: "failed", error });
			return false;
		};
		const key = keyOf(row);
		if ((unanswered.get(key) ?? 0) >= maxUnanswered)
			return fail(
				"Discord did not respond, several times; the outcome is unknown",
			);
		const refusal = await rules.requireStep(step, ids, guild);
		if (refusal !== undefined) return fail(refusal);
		const { method, path, body, picture, reason } = step.request(ids);
		const filled = await withPicture(body, picture);
		if (picture && filled === undefined)
			return fail(`the bot does not have the picture ${picture.hash}`);
		const [ordinal] = row.mark.split(".");
		const asked: GuildJobStepRow = {
			...row,
			state: "asked",
			mark: `${ordinal}.${row.done_count + 1}`,
			after_id: newestId(state),
			target_id: step.targetId ?? row.target_id,
		};
		await save(job, asked);
		askedAt.set(key, performance.now());
		const marked = markedReason(job.row.id, asked.mark, job.row.reason);
		let response: unknown;
		try {
			response = await guild.client.rest.request({
				method: method as never,
				fullRoute: path as RouteLike,
				body: filled ?? body,
				reason: auditReason(reason ?? marked),
			});
		} catch (error) {
			await noteFailure(job, asked, error);
			return false;
		}
		const { id, icon } = Object(response) as { id?: string; icon?: string };
		// Before the step is recorded as done: afterwards nothing would do this.
		if (picture && id !== undefined)
			await pictures.remember(
				picture.field === "image"
					? { kind: "emoji", id, animated: false }
					: step.kind === "role"
						? { kind: "role_icon", roleId: id, icon: icon ?? "" }
						: { kind: "icon", guildId: id, icon: icon ?? "" },
				picture.hash,
			);
		const isCreated = step.placeholder !== undefined && id !== undefined;
		if (isCreated) ids.set(step.placeholder as string, id);
		await save(job, {
			...asked,
			state: "done",
			target_id: isCreated ? id : asked.target_id,
			done_count: asked.done_count + 1,
			error: null,
		});
		unanswered.delete(key);
		if (step.action === "assign") assignedAt.set(key, performance.now());
		return true;
	}

	/** Records what is known after a failed request. Rejects if the job must be retried. */
	async function noteFailure(
		job: Job,
		row: GuildJobStepRow,
		error: unknown,
	): Promise<void> {
		if (error instanceof DiscordAPIError && error.status !== 401) {
			const isGone = error.status === 404 && row.action === "delete";
			await save(job, {
				...row,
				state: isGone ? "done" : "failed",
				// Counted: Discord may list for a while what it no longer finds.
				done_count: row.done_count + (isGone ? 1 : 0),
				error: isGone ? null : (describePlatformError(error) ?? error.message),
			});
			return;
		}
		if (wasNotDone(error)) await save(job, { ...row, state: "open" });
		else if (
			error instanceof PlatformTimeout ||
			error instanceof PlatformFailure
		)
			unanswered.set(keyOf(row), (unanswered.get(keyOf(row)) ?? 0) + 1);
		throw error;
	}

	/** Puts a picture into the body of a request; undefined if there is none. */
	async function withPicture(
		body: unknown,
		picture: { field: string; hash: string } | undefined,
	): Promise<unknown> {
		if (!picture) return undefined;
		const uri = await pictures.dataUri(picture.hash);
		if (uri === undefined) return undefined;
		return { ...(body as object), [picture.field]: uri };
	}

	/** Waits for the end of a rate limit of which only few requests are left: they are for others. */
	async function pace(bucket: string): Promise<void> {
		const { remaining, resetAt } = buckets.get(bucket) ?? noLimit;
		const ms = resetAt - performance.now();
		if (remaining > spared || ms <= 0) return;
		if (ms > maxPaceMs) throw new PlatformBusy("rate limit", ms);
		await sleep(ms, undefined, { signal: closing.signal }).catch(() => {});
	}

	/** Ends a job of which no step can be carried out. */
	async function finish(
		job: Job,
		{ steps, refusals }: Difference,
		unreadable: readonly { part: string; why: string }[],
	): Promise<void> {
		const { failed, others } = leftoversOf(steps, job);
		await saveGuildJobSteps(sql, failed);
		const shown = job.plan.refusals;
		const refused = new Set(shown.map(({ subject }) => subject));
		const notes = [
			...refusals
				.filter((one) => !shown.some(({ reason }) => reason === one.reason))
				.map(({ subject, reason }) => `${oneField(subject)}: ${reason}`)
				.slice(0, maxNotes),
			...unreadable
				.filter(({ part }) => !refused.has(part))
				.map(({ part, why }) => `${part} could not be read: ${why}`),
			...(others > 0
				? [
						`${others} difference(s) are not in the plan, because the guild changed meanwhile: use plan_guild to see them`,
					]
				: []),
		];
		const hasFailed =
			failed.length > 0 ||
			notes.length > 0 ||
			[...job.steps.values()].some(({ state }) => state === "failed");
		await end(job.row.id, hasFailed ? "failed" : "done", notes.join("; "));
	}

	async function end(
		id: string,
		state: GuildJobState,
		note = "",
	): Promise<void> {
		await endGuildJob(sql, { id, state, note: note || null, ended_at: now() });
		waits.delete(id);
		failures.delete(id);
		cancelled.delete(id);
		for (const map of [unanswered, askedAt, assignedAt, buckets])
			for (const key of map.keys()) if (key.startsWith(id)) map.delete(key);
		log.info("apply_guild job ended", {
			job: id,
			state,
		});
		endings.get(id)?.resolve();
		endings.delete(id);
	}

	return {
		async begin(plan, hash, reason) {
			const row: GuildJobRow = {
				id: crypto.randomUUID().replaceAll("-", "").slice(0, 12),
				guild_id: plan.guildId,
				plan_hash: hash,
				content: JSON.stringify(plan),
				reason,
				state: "running",
				cancel_asked: 0,
				note: null,
				started_at: now(),
				ended_at: null,
			};
			try {
				if (!(await insertGuildJob(sql, row))) return undefined;
			} finally {
				// Also after a failure: the row may have been stored anyway.
				wake();
			}
			log.info("apply_guild job started", {
				job: row.id,
				guild: row.guild_id,
				steps: plan.steps.length,
			});
			return row;
		},
		async runningIn(guildId) {
			const jobs = await selectRunningGuildJobs(sql);
			return jobs.find(({ guild_id }) => guild_id === guildId);
		},
		async find(id) {
			const row = await selectGuildJob(sql, id);
			if (!row) return undefined;
			const job = toJob(row, await selectGuildJobSteps(sql, id));
			return { job, wait: waits.get(id) };
		},
		idsOf: (guildId, limit) => selectGuildJobIds(sql, guildId, limit),
		async ended(id) {
			const ending = endings.get(id) ?? Promise.withResolvers<void>();
			endings.set(id, ending);
			const row = await selectGuildJob(sql, id);
			// It may have ended before.
			if (row?.ended_at === null) return ending.promise;
			endings.delete(id);
		},
		async cancel(id) {
			const isRunning = await askToCancel(sql, id);
			if (isRunning) cancelled.add(id);
			outsideOfCalls(reconciler.retryAll);
			return isRunning;
		},
		attach(client) {
			for (const event of [
				Events.ClientReady,
				Events.ShardReady,
				Events.GuildCreate,
				Events.GuildAvailable,
				Events.GuildDelete,
			] as const)
				client.on(event as Events.ClientReady, () => reconciler.retryAll());
		},
		start: wake,
		async close() {
			closing.abort();
			await reconciler.close(shutdownGraceMs);
		},
	};
}

function keyOf({ job_id, step_id }: GuildJobStepRow): string {
	return `${job_id} ${step_id}`;
}

/** Whether a failed job continues by itself once something outside has changed. */
function isTemporary(error: unknown): boolean {
	return [NotNow, ToolError, PlatformTimeout, PlatformFailure].some(
		(type) => error instanceof type,
	);
}

/** Returns the keys that tools lock, too, while they change the same. */
function locksOf({ action, targetId = "" }: Step, guild: Guild): string[] {
	// Of a role assignment the first id is the member's.
	const [id = ""] = targetId.split("/");
	const isThing = /^\d+$/.test(id) && action !== "create";
	// Tools that place roles and channels, or edit the settings, lock the guild.
	return [isThing ? id : guild.id];
}

/** Returns a key that requests with the same rate limit share. */
function bucketOf({ row: { id } }: Job, { method, path }: ApiRequest): string {
	// A guess (rate-limits): limits are per route, and per guild or channel.
	const [, thing = "", rest = ""] = /^(\/\w+\/\d+)?(.*)$/.exec(path) ?? [];
	return `${id} ${method} ${thing}${rest.replaceAll(/\d+/g, "*")}`;
}
