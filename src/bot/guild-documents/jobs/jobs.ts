// Carries out plans. A job is stored before anything is sent, and each step is found from the difference between the
// document and the guild, so that a job continues after a kill, a restart or an outage. A request that creates something
// is stored first; if its response is lost, what it made is looked for before it is sent again (made-things.ts).

import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, DiscordAPIError, Events, type Guild, type RouteLike } from "discord.js";
import { InvalidDocument } from "../../../guild-document/format/document.ts";
import type { ApiRequest, Difference, GuildState, Step } from "../../../guild-document/steps.ts";
import type { KeyedMutex } from "../../../lib/keyed-mutex.ts";
import type { Log } from "../../../lib/log.ts";
import { createReconciler, NotNow } from "../../../lib/reconciler.ts";
import { ToolError } from "../../../mcp/tool.ts";
import type { Connection } from "../../discord/connection/connection.ts";
import { onSessionOrGuild } from "../../discord/connection/session-events.ts";
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
import type { Store } from "../../store/store.ts";
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
} from "../../store/tables/guild-jobs.ts";
import { fixedRoles, isEmptyOrder, type Plan, partsOf, type Rules } from "../plans/plans.ts";
import type { Pictures } from "../read/pictures.ts";
import { createdIds, type Job, leftoversOf, newStepRow, runnable, toJob } from "./job-rules.ts";
import { candidatesIn, isSameName, markedReason, newestId, readCreations } from "./made-things.ts";

const maxConcurrent = 3;
const keptMs = 7 * 86_400_000;
const cleanIntervalMs = 3_600_000;
const maxSleepMs = 300_000;
/**
 * Maximum milliseconds that an apply_guild job waits for a rate limit to reset before its next request. If the wait
 * would be longer, the job is paused and resumed later.
 */
const maxPaceMs = 10_000;
/**
 * Number of requests in each rate limit window that an apply_guild job leaves unused, so that other code of the bot can
 * use them.
 */
const spared = 1;
const noLimit = { remaining: Infinity, resetAt: 0 };
const maxUnanswered = 5;
const maxFailures = 5;
const maxNotes = 20;
const shutdownGraceMs = 3_000;

export interface JobsOptions {
	connection: Connection;
	store: Pick<Store, "sql">;
	/**
	 * Keyed mutex of guild, role and channel ids, so that tools and apply_guild jobs do not edit the same one at the same
	 * time.
	 */
	mutex: KeyedMutex;
	log: Log;
	rules: Rules;
	pictures: Pick<Pictures, "dataUri" | "remember">;
	/** Returns the wall-clock time in epoch milliseconds. The clock may jump. */
	now?: () => number;
	/** Returns the milliseconds of a clock that never jumps, from any start. Default: `performance.now()`. */
	monotonicNow?: () => number;
	/** Wait before a failed apply_guild job is retried, in milliseconds: the first wait and the maximum. */
	backOffMs?: readonly [number, number];
	/** Milliseconds after which a request that got no response has either taken effect on Discord or never will. */
	arrivedAfterMs?: number;
	/** Milliseconds after which Discord's audit log certainly has an entry for a request that took effect. */
	loggedAfterMs?: number;
	/**
	 * Returns for how many milliseconds an apply_guild job uses the state of the guild that it has read. Then it reads
	 * the guild again, because other people may have changed it. `readMs`: how long the last read took.
	 */
	maxStateAgeMs?: (readMs: number) => number;
	/** Whether the bot's configuration allows tools to access a guild. */
	mayTouch(guildId: string): boolean;
}

/** Why a running apply_guild job is paused, and until when. */
export interface Wait {
	why: string;
	/** End of the pause in milliseconds of `monotonicNow`; 0 if unknown. */
	until: number;
}

export interface JobView {
	job: Job;
	wait: Wait | undefined;
}

export interface Jobs {
	/**
	 * Stores a new job that applies the plan, and starts it. Returns undefined if the guild already has a running job.
	 */
	begin(plan: Plan, hash: string, reason: string): Promise<GuildJobRow | undefined>;
	/** Returns the job that is applying a plan to the guild; undefined if there is none. */
	runningIn(guildId: string): Promise<RunningGuildJob | undefined>;
	/** Returns the job with this id, which applies or applied a plan; undefined if there is none. */
	find(id: string): Promise<JobView | undefined>;
	/** Returns the ids of a guild's running and ended apply_guild jobs, the latest first. */
	idsOf(guildId: string, limit: number): Promise<string[]>;
	/**
	 * Resolves when the apply_guild job has ended; immediately if it is not running. Rejects if the database is
	 * unavailable.
	 */
	ended(id: string): Promise<void>;
	/** Stops a running apply_guild job after its current step. Returns false if the job is not running. */
	cancel(id: string): Promise<boolean>;
	/** Subscribes to the Gateway events of a new discord.js client. */
	attach(client: Client): void;
	start(): void;
	close(): Promise<void>;
}

export function createJobs(options: JobsOptions): Jobs {
	const { connection, store, mutex, log, rules, pictures } = options;
	const { now = Date.now, monotonicNow = () => performance.now() } = options;
	const { arrivedAfterMs = 15_000, loggedAfterMs = 60_000 } = options;
	const { mayTouch } = options;
	const { maxStateAgeMs = (readMs: number) => Math.max(30_000, 5 * readMs) } = options;
	const { sql } = store;
	const closing = new AbortController();
	const waits = new Map<string, Wait>();
	const cancelled = new Set<string>();
	const failures = new Map<string, number>();
	const unanswered = new Map<string, number>();
	const askedAt = new Map<string, number>();
	const assignedAt = new Map<string, number>();
	const buckets = new Map<string, typeof noLimit>();
	const endings = new Map<string, PromiseWithResolvers<void>>();
	let cleanAt = 0;
	// A job outlives the tool call that starts it: it must not get the call's deadline and permissions.
	const outsideOfCalls = AsyncLocalStorage.snapshot();

	const reconciler = createReconciler({
		maxConcurrent,
		backOffMs: options.backOffMs ?? [1_000, 60_000],
		onScanFailure(error) {
			if (!(error instanceof StoreUnavailable))
				log.error("could not load the running apply_guild jobs from the database", {
					error,
				});
		},
		async scan() {
			await clean();
			const jobs = await selectRunningGuildJobs(sql);
			const at = monotonicNow();
			const due = jobs.filter((job) => isDue(job, at));
			const untils = jobs.map(({ id }) => waits.get(id)?.until ?? 0);
			return {
				due: due.map((job) => ({ key: job.guild_id, run: () => run(job) })),
				nextMs: Math.min(maxSleepMs, ...untils.filter((until) => until > at).map((until) => until - at)),
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
		if (monotonicNow() < cleanAt) return;
		await deleteGuildJobsBefore(sql, now() - keptMs);
		cleanAt = monotonicNow() + cleanIntervalMs;
	}

	/** Continues a stored apply_guild job until it ends or is paused. Rejects if the job must be retried. */
	async function run({ id, guild_id: guild }: RunningGuildJob): Promise<void> {
		waits.delete(id);
		try {
			await work(id);
			failures.delete(id);
		} catch (error) {
			if (error instanceof PlatformBusy) return wait(id, error.retryAfterMs, describePlatformError(error));
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
		waits.set(id, { why, until: monotonicNow() + ms });
	}

	async function work(id: string): Promise<void> {
		const row = await selectGuildJob(sql, id);
		if (!row || row.ended_at !== null) return;
		if (row.cancel_asked === 1) return end(id, "cancelled");
		if (now() - row.started_at > keptMs) return end(id, "failed", "it was started too long ago");
		// The operator may have changed the configuration since the job was started.
		if (!mayTouch(row.guild_id))
			return end(id, "failed", "the operator of this bot has not enabled tools for the guild");
		if (!connection.ready) throw new NotNow("the bot is not connected to Discord");
		const guild = guildOf(row.guild_id);
		if (!guild) return end(id, "failed", "the bot is not in the guild");
		if (!guild.available) throw new NotNow("the guild is unavailable on Discord");
		const job = toJob(row, await selectGuildJobSteps(sql, id));
		const { document } = job.plan;
		for (;;) {
			const readAt = monotonicNow();
			const read = await rules.read(guild, partsOf(document));
			const { state } = read;
			const hasReadAt = monotonicNow();
			const staleAt = hasReadAt + maxStateAgeMs(hasReadAt - readAt);
			const settled = await settleCreations(job, guild, state, readAt);
			if (settled === "wait") return;
			if (settled === "read again") continue;
			const ids = createdIds(job);
			const found = await differenceOf(job, guild, state, ids);
			if (found instanceof InvalidDocument)
				return end(id, "failed", `the guild changed so that the document is ambiguous: ${found.issues[0]}`);
			const { steps } = found;
			await noteSettled(job, steps);
			const possible = runnable(steps, job, ids);
			if (possible.length === 0) return finish(job, found, read.unreadable);
			const todo = possible.filter(
				(step) => monotonicNow() >= (assignedAt.get(`${id} ${step.id}`) ?? -Infinity) + arrivedAfterMs,
			);
			if (todo.length === 0)
				return wait(
					id,
					Math.min(1_000, arrivedAfterMs),
					"Discord's events about the roles of members have not arrived yet",
				);
			for (const [index, step] of todo.entries()) {
				if (cancelled.has(id)) return end(id, "cancelled");
				if (index > 0 && monotonicNow() > staleAt) break;
				await runStep(job, guild, state, step, ids);
			}
		}
	}

	async function differenceOf(
		{ plan: { document, prune }, following }: Job,
		guild: Guild,
		state: GuildState,
		ids: ReadonlyMap<string, string>,
	): Promise<Difference | InvalidDocument> {
		try {
			return await rules.difference(document, state, {
				...{ prune, ids, following, fixedRoles: fixedRoles(guild, state) },
			});
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
	 * Finds out what was created by requests that got no response. Returns "wait" if that is not known yet. Returns "read
	 * again" if the picture hashes in `state` are outdated, because an emoji was found. `readAt`: when `state` was read,
	 * in milliseconds of `monotonicNow`.
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

	/**
	 * Records the picture hash of an emoji whose creation request got no response. The hash is taken from the document,
	 * because Discord converts pictures, so that its copy has a different hash.
	 */
	async function rememberEmoji(
		job: Job,
		guild: Guild,
		state: GuildState,
		{ step_id }: GuildJobStepRow,
		id: string,
	): Promise<void> {
		const emojis = state.guild.emojis.filter((emoji) => emoji.id !== id);
		const before = { ...state, guild: { ...state.guild, emojis } };
		const ids = createdIds(job);
		const found = await differenceOf(job, guild, before, ids);
		if (found instanceof InvalidDocument) return;
		const step = found.steps.find((one) => one.id === step_id);
		const hash = step?.request(ids).picture?.hash;
		if (hash !== undefined) await pictures.remember({ kind: "emoji", id, animated: false }, hash);
	}

	/**
	 * Finds out whether a creation request that got no response has created its object. Returns the new values of the
	 * step's row; undefined if this is not known yet, so that the apply_guild job has to wait.
	 */
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
		if (madeId !== undefined) return { state: "done", target_id: madeId, done_count: done_count + 1 };
		const since = askedAt.get(keyOf(row)) ?? monotonicNow();
		askedAt.set(keyOf(row), since);
		// What arrives later is not in the state.
		const passedMs = readAt - since;
		const why = `it is not known yet whether Discord has created ${row.kind} ${oneField(name)}`;
		if (passedMs < arrivedAfterMs) {
			wait(id, arrivedAfterMs - passedMs, why);
			return undefined;
		}
		const known = new Set([...steps.values()].flatMap(({ target_id }) => target_id ?? []));
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

	/**
	 * Carries out one step of an apply_guild job. Adds the id of a created object to `ids`. Rejects if the job must be
	 * retried or paused.
	 */
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
			resetAt: monotonicNow() + resetAfterMs,
		});
	}

	/**
	 * Sends the request of a plan step to Discord, unless the bot must not carry it out now. Returns whether Discord
	 * confirmed the request.
	 */
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
			return fail("Discord did not respond, several times; the outcome is unknown");
		const refusal = await rules.requireStep(step, ids, guild);
		if (refusal !== undefined) return fail(refusal);
		const { method, path, body, picture, reason } = step.request(ids);
		const filled = await withPicture(body, picture);
		if (picture && filled === undefined) return fail(`the bot does not have the picture ${picture.hash}`);
		const [ordinal] = row.mark.split(".");
		const asked: GuildJobStepRow = {
			...row,
			state: "asked",
			mark: `${ordinal}.${row.done_count + 1}`,
			after_id: newestId(state),
			target_id: step.targetId ?? row.target_id,
		};
		await save(job, asked);
		askedAt.set(key, monotonicNow());
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
		if (step.action === "assign") assignedAt.set(key, monotonicNow());
		return true;
	}

	/** Records the outcome of a step after its request failed. Rejects if the apply_guild job must be retried. */
	async function noteFailure(job: Job, row: GuildJobStepRow, error: unknown): Promise<void> {
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
		else if (error instanceof PlatformTimeout || error instanceof PlatformFailure)
			unanswered.set(keyOf(row), (unanswered.get(keyOf(row)) ?? 0) + 1);
		throw error;
	}

	async function withPicture(body: unknown, picture: { field: string; hash: string } | undefined): Promise<unknown> {
		if (!picture) return undefined;
		const uri = await pictures.dataUri(picture.hash);
		if (uri === undefined) return undefined;
		return { ...(body as object), [picture.field]: uri };
	}

	/**
	 * Waits until a rate limit resets if few of its requests are left, so that an apply_guild job does not use them all
	 * up. Throws PlatformBusy if the wait would be too long.
	 */
	async function pace(bucket: string): Promise<void> {
		const { remaining, resetAt } = buckets.get(bucket) ?? noLimit;
		const ms = resetAt - monotonicNow();
		if (remaining > spared || ms <= 0) return;
		if (ms > maxPaceMs) throw new PlatformBusy("rate limit", ms);
		await sleep(ms, undefined, { signal: closing.signal }).catch(() => {});
	}

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
			failed.length > 0 || notes.length > 0 || [...job.steps.values()].some(({ state }) => state === "failed");
		await end(job.row.id, hasFailed ? "failed" : "done", notes.join("; "));
	}

	async function end(id: string, state: GuildJobState, note = ""): Promise<void> {
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
			onSessionOrGuild(client, reconciler.retryAll);
			client.on(Events.GuildDelete, reconciler.retryAll);
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

function isTemporary(error: unknown): boolean {
	return [NotNow, ToolError, PlatformTimeout, PlatformFailure].some((type) => error instanceof type);
}

function locksOf({ action, targetId = "" }: Step, guild: Guild): string[] {
	// Of a role assignment the first id is the member's.
	const [id = ""] = targetId.split("/");
	const isThing = /^\d+$/.test(id) && action !== "create";
	// Tools that place roles and channels, or edit the settings, lock the guild.
	return [isThing ? id : guild.id];
}

function bucketOf({ row: { id } }: Job, { method, path }: ApiRequest): string {
	// A guess (rate-limits): limits are per route, and per guild or channel.
	const [, thing = "", rest = ""] = /^(\/\w+\/\d+)?(.*)$/.exec(path) ?? [];
	return `${id} ${method} ${thing}${rest.replaceAll(/\d+/g, "*")}`;
}
