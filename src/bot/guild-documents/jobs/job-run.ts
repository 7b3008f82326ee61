// One job that carries out a plan. Each step is found from the difference between the document and the guild, so that a job
// continues after a kill, a restart or an outage. A request that creates something is stored first; if its response is
// lost, what it made is looked for before it is sent again (made-things.ts).

import { setTimeout as sleep } from "node:timers/promises";
import { DiscordAPIError, type Guild, type RouteLike } from "discord.js";
import type { Connection } from "../../../discord/connection/connection.ts";
import { describePlatformError } from "../../../discord/rest/errors.ts";
import {
	observeRateLimit,
	PlatformBusy,
	PlatformFailure,
	PlatformTimeout,
	type RateLimitState,
	wasNotDone,
} from "../../../discord/rest/rest.ts";
import { auditReason, oneField } from "../../../discord/text.ts";
import { InvalidDocument } from "../../../guild-document/format/document.ts";
import type { ApiRequest, Difference, GuildState, Step } from "../../../guild-document/steps.ts";
import type { KeyedMutex } from "../../../lib/keyed-mutex.ts";
import type { Log } from "../../../lib/log.ts";
import type { Sql } from "../../../lib/store/statement.ts";
import { NotNow } from "../../store/durable.ts";
import type { Store } from "../../store/store.ts";
import {
	endGuildJob,
	type GuildJobState,
	type GuildJobStepRow,
	saveGuildJobSteps,
	selectGuildJob,
	selectGuildJobSteps,
} from "../../store/tables/guild-jobs.ts";
import { fixedRoles, isEmptyOrder, partsOf, type Rules } from "../plans/plans.ts";
import type { Pictures } from "../read/pictures.ts";
import { createdIds, type Job, leftoversOf, newStepRow, runnable, toJob } from "./job-rules.ts";
import { candidatesIn, isSameName, markedReason, newestId, readCreations } from "./made-things.ts";

/** How long a job is kept after its end, in milliseconds. One that still runs this long after its start ends as failed. */
export const keptMs = 7 * 86_400_000;
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
const maxNotes = 20;

const defaultStateAgeMs = (readMs: number) => Math.max(30_000, 5 * readMs);

/** Why a running apply_guild job is paused, and until when. */
export interface Wait {
	why: string;
	/** End of the pause in milliseconds of `monotonicNow`; 0 if unknown. */
	until: number;
}

export interface JobRunOptions {
	log: Log;
	connection: Connection;
	store: Pick<Store, "sql">;
	/**
	 * Keyed mutex of guild, role and channel ids, so that tools and apply_guild jobs do not edit the same one at the same
	 * time.
	 */
	mutex: KeyedMutex;
	rules: Rules;
	pictures: Pick<Pictures, "dataUri" | "remember">;
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
	/** Aborts when the bot stops. */
	closing: AbortSignal;
	/** Returns the wall-clock time in epoch milliseconds. The clock may jump. */
	now(): number;
	/** Returns the milliseconds of a clock that never jumps, from any start. */
	monotonicNow(): number;
}

/** What a process knows of a job that its rows do not say. */
export class JobRun {
	wait: Wait | undefined;
	/** Whether someone has cancelled the job since the bot started. */
	isCancelled = false;
	isEnded = false;
	/** Failures in a row, without those that go away by themselves, such as an outage. */
	failures = 0;
	readonly ending = Promise.withResolvers<void>();
	/** Number of requests that got no response from Discord, by step id. */
	readonly #unanswered = new Map<string, number>();
	/** When a request with an unknown outcome was sent, or found in the database after a restart, by step id. */
	readonly #askedAt = new Map<string, number>();
	/** When a step assigned a role to a member, by step id. The bot's cache of members is updated by a later event. */
	readonly #assignedAt = new Map<string, number>();
	/** Discord's rate limits, by route. Times are from `monotonicNow`. */
	readonly #buckets = new Map<string, typeof noLimit>();
	readonly #sql: Sql;
	readonly #now: () => number;
	readonly #arrivedAfterMs: number;

	constructor(
		private readonly id: string,
		private readonly options: JobRunOptions,
	) {
		this.#sql = options.store.sql;
		this.#now = options.monotonicNow;
		this.#arrivedAfterMs = options.arrivedAfterMs ?? 15_000;
	}

	pause(ms: number, why = "waiting"): void {
		this.wait = { why, until: this.#now() + ms };
	}

	/** Carries out the steps until none is left or the job is paused. Rejects if the job must be retried. */
	async work(): Promise<void> {
		const { connection, mayTouch, now, rules, maxStateAgeMs = defaultStateAgeMs } = this.options;
		const row = await selectGuildJob(this.#sql, this.id);
		if (!row || row.ended_at !== null) {
			this.isEnded = true;
			return;
		}
		if (row.cancel_asked === 1) return this.end("cancelled");
		if (now() - row.started_at > keptMs) return this.end("failed", "it was started too long ago");
		// The operator may have changed the configuration since the job was started.
		if (!mayTouch(row.guild_id))
			return this.end("failed", "the operator of this bot has not enabled tools for the guild");
		if (!connection.ready) throw new NotNow("the bot is not connected to Discord");
		const guild = connection.guilds.find(({ id }) => id === row.guild_id);
		if (!guild) return this.end("failed", "the bot is not in the guild");
		if (!guild.available) throw new NotNow("the guild is unavailable on Discord");
		const job = toJob(row, await selectGuildJobSteps(this.#sql, this.id));
		const { document } = job.plan;
		for (;;) {
			const readAt = this.#now();
			const read = await rules.read(guild, partsOf(document));
			const { state } = read;
			const hasReadAt = this.#now();
			const staleAt = hasReadAt + maxStateAgeMs(hasReadAt - readAt);
			const settled = await this.#settleCreations(job, guild, state, readAt);
			if (settled === "wait") return;
			if (settled === "read again") continue;
			const ids = createdIds(job);
			const found = await this.#differenceOf(job, guild, state, ids);
			if (found instanceof InvalidDocument)
				return this.end("failed", `the guild changed so that the document is ambiguous: ${found.issues[0]}`);
			const { steps } = found;
			await this.#noteSettled(job, steps);
			const possible = runnable(steps, job, ids);
			if (possible.length === 0) return this.#finish(job, found, read.unreadable);
			const todo = possible.filter(
				({ id }) => this.#now() >= (this.#assignedAt.get(id) ?? -Infinity) + this.#arrivedAfterMs,
			);
			if (todo.length === 0)
				return this.pause(
					Math.min(1_000, this.#arrivedAfterMs),
					"Discord's events about the roles of members have not arrived yet",
				);
			for (const [index, step] of todo.entries()) {
				if (this.isCancelled) return this.end("cancelled");
				if (index > 0 && this.#now() > staleAt) break;
				await this.#runStep(job, guild, state, step, ids);
			}
		}
	}

	async #differenceOf(
		{ plan: { document, prune }, following }: Job,
		guild: Guild,
		state: GuildState,
		ids: ReadonlyMap<string, string>,
	): Promise<Difference | InvalidDocument> {
		try {
			return await this.options.rules.difference(document, state, {
				...{ prune, ids, following, fixedRoles: fixedRoles(guild, state) },
			});
		} catch (error) {
			if (error instanceof InvalidDocument) return error;
			throw error;
		}
	}

	async #save(job: Job, row: GuildJobStepRow): Promise<void> {
		await saveGuildJobSteps(this.#sql, [row]);
		job.steps.set(row.step_id, row);
	}

	/**
	 * Finds out what was created by requests that got no response. Returns "wait" if that is not known yet. Returns "read
	 * again" if the picture hashes in `state` are outdated, because an emoji was found. `readAt`: when `state` was read,
	 * in milliseconds of `monotonicNow`.
	 */
	async #settleCreations(
		job: Job,
		guild: Guild,
		state: GuildState,
		readAt: number,
	): Promise<"done" | "wait" | "read again"> {
		let hasEmoji = false;
		for (const row of job.steps.values()) {
			if (row.state !== "asked" || row.action !== "create") continue;
			const settled = await this.#settleCreation(job, guild, state, readAt, row);
			if (!settled) return "wait";
			if (settled.target_id && row.kind === "emoji") {
				await this.#rememberEmoji(job, guild, state, row, settled.target_id);
				hasEmoji = true;
			}
			await this.#save(job, { ...row, ...settled });
			this.#askedAt.delete(row.step_id);
		}
		return hasEmoji ? "read again" : "done";
	}

	/**
	 * Records the picture hash of an emoji whose creation request got no response. The hash is taken from the document,
	 * because Discord converts pictures, so that its copy has a different hash.
	 */
	async #rememberEmoji(
		job: Job,
		guild: Guild,
		state: GuildState,
		{ step_id }: GuildJobStepRow,
		id: string,
	): Promise<void> {
		const emojis = state.guild.emojis.filter((emoji) => emoji.id !== id);
		const before = { ...state, guild: { ...state.guild, emojis } };
		const ids = createdIds(job);
		const found = await this.#differenceOf(job, guild, before, ids);
		if (found instanceof InvalidDocument) return;
		const step = found.steps.find((one) => one.id === step_id);
		const hash = step?.request(ids).picture?.hash;
		if (hash !== undefined) await this.options.pictures.remember({ kind: "emoji", id, animated: false }, hash);
	}

	/**
	 * Finds out whether a creation request that got no response has created its object. Returns the new values of the
	 * step's row; undefined if this is not known yet, so that the apply_guild job has to wait.
	 */
	async #settleCreation(
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
		const since = this.#askedAt.get(row.step_id) ?? this.#now();
		this.#askedAt.set(row.step_id, since);
		// What arrives later is not in the state.
		const passedMs = readAt - since;
		const why = `it is not known yet whether Discord has created ${row.kind} ${oneField(name)}`;
		if (passedMs < this.#arrivedAfterMs) {
			this.pause(this.#arrivedAfterMs - passedMs, why);
			return undefined;
		}
		const known = new Set([...steps.values()].flatMap(({ target_id }) => target_id ?? []));
		const candidates = candidatesIn(state, { kind, afterId }, known)
			// Someone else has created it.
			.filter((thing) => !creations.isOther(thing.id));
		if (candidates.length === 0) return { state: "open" };
		if (passedMs < (this.options.loggedAfterMs ?? 60_000)) {
			this.pause(Math.min((this.options.loggedAfterMs ?? 60_000) - passedMs, this.#arrivedAfterMs), why);
			return undefined;
		}
		const candidate = candidates.find((thing) => isSameName(thing.name, name));
		if (!candidate) return { state: "open" };
		return {
			state: "failed",
			error: `the outcome is unknown: Discord did not respond. ${oneField(candidate.name)} (ID: ${candidate.id}) may be what was created`,
		};
	}

	async #noteSettled(job: Job, steps: readonly Step[]): Promise<void> {
		const due = new Set(steps.map(({ id }) => id));
		for (const row of job.steps.values())
			if (row.state === "asked" && !due.has(row.step_id))
				await this.#save(job, {
					...row,
					state: "done",
					done_count: row.done_count + 1,
				});
	}

	/**
	 * Carries out one step of an apply_guild job. Adds the id of a created object to `ids`. Rejects if the job must be
	 * retried or paused.
	 */
	async #runStep(job: Job, guild: Guild, state: GuildState, step: Step, ids: Map<string, string>): Promise<void> {
		// A step before this one may have failed.
		if (!step.needs.every((placeholder) => ids.has(placeholder))) return;
		if (isEmptyOrder(step, ids)) return;
		const bucket = bucketOf(step.request(ids));
		await this.#pace(bucket);
		let limit: RateLimitState | undefined;
		const wasSent = await this.options.mutex.withLock(locksOf(step, guild), () =>
			observeRateLimit(
				(state) => {
					limit = state;
				},
				() => this.#send(job, guild, state, step, ids),
			),
		);
		if (!limit || !wasSent) return;
		const { remaining, resetAfterMs } = limit;
		this.#buckets.set(bucket, {
			remaining,
			resetAt: this.#now() + resetAfterMs,
		});
	}

	/**
	 * Sends the request of a plan step to Discord, unless the bot must not carry it out now. Returns whether Discord
	 * confirmed the request.
	 */
	async #send(job: Job, guild: Guild, state: GuildState, step: Step, ids: Map<string, string>): Promise<boolean> {
		if (this.options.closing.aborted) throw new NotNow("the bot is stopping");
		const row = job.steps.get(step.id) ?? newStepRow(step, job);
		const fail = async (error: string) => {
			await this.#save(job, { ...row, state: "failed", error });
			return false;
		};
		const key = row.step_id;
		if ((this.#unanswered.get(key) ?? 0) >= maxUnanswered)
			return fail("Discord did not respond, several times; the outcome is unknown");
		const refusal = await this.options.rules.requireStep(step, ids, guild);
		if (refusal !== undefined) return fail(refusal);
		const { method, path, body, picture, reason } = step.request(ids);
		const filled = await this.#withPicture(body, picture);
		if (picture && filled === undefined) return fail(`the bot does not have the picture ${picture.hash}`);
		const [ordinal] = row.mark.split(".");
		const asked: GuildJobStepRow = {
			...row,
			state: "asked",
			mark: `${ordinal}.${row.done_count + 1}`,
			after_id: newestId(state),
			target_id: step.targetId ?? row.target_id,
		};
		await this.#save(job, asked);
		this.#askedAt.set(key, this.#now());
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
			await this.#noteFailure(job, asked, error);
			return false;
		}
		const { id, icon } = Object(response) as { id?: string; icon?: string };
		// Before the step is recorded as done: afterwards nothing would do this.
		if (picture && id !== undefined)
			await this.options.pictures.remember(
				picture.field === "image"
					? { kind: "emoji", id, animated: false }
					: step.kind === "role"
						? { kind: "role_icon", roleId: id, icon: icon ?? "" }
						: { kind: "icon", guildId: id, icon: icon ?? "" },
				picture.hash,
			);
		const isCreated = step.placeholder !== undefined && id !== undefined;
		if (isCreated) ids.set(step.placeholder as string, id);
		await this.#save(job, {
			...asked,
			state: "done",
			target_id: isCreated ? id : asked.target_id,
			done_count: asked.done_count + 1,
			error: null,
		});
		this.#unanswered.delete(key);
		if (step.action === "assign") this.#assignedAt.set(key, this.#now());
		return true;
	}

	/** Records the outcome of a step after its request failed. Rejects if the apply_guild job must be retried. */
	async #noteFailure(job: Job, row: GuildJobStepRow, error: unknown): Promise<void> {
		if (error instanceof DiscordAPIError && error.status !== 401) {
			const isGone = error.status === 404 && row.action === "delete";
			await this.#save(job, {
				...row,
				state: isGone ? "done" : "failed",
				// Counted: Discord may list for a while what it no longer finds.
				done_count: row.done_count + (isGone ? 1 : 0),
				error: isGone ? null : (describePlatformError(error) ?? error.message),
			});
			return;
		}
		if (wasNotDone(error)) await this.#save(job, { ...row, state: "open" });
		else if (error instanceof PlatformTimeout || error instanceof PlatformFailure)
			this.#unanswered.set(row.step_id, (this.#unanswered.get(row.step_id) ?? 0) + 1);
		throw error;
	}

	async #withPicture(body: unknown, picture: { field: string; hash: string } | undefined): Promise<unknown> {
		if (!picture) return undefined;
		const uri = await this.options.pictures.dataUri(picture.hash);
		if (uri === undefined) return undefined;
		return { ...(body as object), [picture.field]: uri };
	}

	/**
	 * Waits until a rate limit resets if few of its requests are left, so that an apply_guild job does not use them all
	 * up. Throws PlatformBusy if the wait would be too long.
	 */
	async #pace(bucket: string): Promise<void> {
		const { remaining, resetAt } = this.#buckets.get(bucket) ?? noLimit;
		const ms = resetAt - this.#now();
		if (remaining > spared || ms <= 0) return;
		if (ms > maxPaceMs) throw new PlatformBusy("rate limit", ms);
		await sleep(ms, undefined, { signal: this.options.closing }).catch(() => {});
	}

	async #finish(
		job: Job,
		{ steps, refusals }: Difference,
		unreadable: readonly { part: string; why: string }[],
	): Promise<void> {
		const { failed, others } = leftoversOf(steps, job);
		await saveGuildJobSteps(this.#sql, failed);
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
		await this.end(hasFailed ? "failed" : "done", notes.join("; "));
	}

	async end(state: GuildJobState, note = ""): Promise<void> {
		const { id, options } = this;
		await endGuildJob(this.#sql, { id, state, note: note || null, ended_at: options.now() });
		this.isEnded = true;
		options.log.info("apply_guild job ended", { job: id, state });
		this.ending.resolve();
	}
}

function locksOf({ action, targetId = "" }: Step, guild: Guild): string[] {
	// Of a role assignment the first id is the member's.
	const [id = ""] = targetId.split("/");
	const isThing = /^\d+$/.test(id) && action !== "create";
	// Tools that place roles and channels, or edit the settings, lock the guild.
	return [isThing ? id : guild.id];
}

/** Returns a key that is equal for requests that share a rate limit of Discord. */
function bucketOf({ method, path }: ApiRequest): string {
	// A guess (rate-limits): limits are per route, and per guild or channel.
	const [, thing = "", rest = ""] = /^(\/\w+\/\d+)?(.*)$/.exec(path) ?? [];
	return `${method} ${thing}${rest.replaceAll(/\d+/g, "*")}`;
}
