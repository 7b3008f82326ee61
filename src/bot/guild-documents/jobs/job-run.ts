// One job that carries out a plan. Steps come from the difference of document and guild, so a job continues after a
// kill, restart or outage. A request that creates something is stored first; if its response is lost, what it made is
// looked for before it is sent again (made-things.ts).

import { DiscordAPIError, type Guild, type RouteLike } from "discord.js";
import { actAsMember } from "../../../discord/acting-person.ts";
import type { Connection } from "../../../discord/connection/connection.ts";
import { fetchMember } from "../../../discord/find.ts";
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
import { mayBeAfter } from "../../../guild-document/names/ids.ts";
import { thingsOf } from "../../../guild-document/read/from-api.ts";
import type { ApiRequest, Difference, GuildState, Step } from "../../../guild-document/steps.ts";
import type { JsonObject } from "../../../lib/json.ts";
import type { KeyedMutex } from "../../../lib/keyed-mutex.ts";
import type { Log } from "../../../lib/log.ts";
import { inBatches, type Sql } from "../../../lib/store/statement.ts";
import { sleep } from "../../../lib/wait.ts";
import { NotNow } from "../../store/durable.ts";
import type { Store } from "../../store/store.ts";
import {
	type GuildJobState,
	type GuildJobStepRow,
	guildJobRows,
	guildJobStepRows,
	guildMessageRows,
	undoneEntryRows,
} from "../../store/tables/guild-jobs.ts";
import { attempt, fixedRoles, isEmptyOrder, partsOf } from "../plans/plans.ts";
import type { Rules } from "../plans/rules.ts";
import type { Pictures } from "../read/pictures.ts";
import type { OwnSettings } from "../read/read-guild.ts";
import { createdIds, type Job, leftoversOf, newStepRow, runnable, toJob, undoneBy } from "./job-rules.ts";
import { comparable, findMessage, markedReason, messageBody, newestId, readCreations } from "./made-things.ts";

/** Milliseconds after the end. A job that still runs so long after its start ends as failed. */
const keptMs = 7 * 86_400_000;
/** A job waits so long for a rate limit; for longer it is paused and resumed later. */
const maxPaceMs = 10_000;
/** Requests of each rate limit window that a job leaves to other code of the bot. */
const spared = 1;
const noLimit = { remaining: Infinity, resetAt: 0 };
const maxUnanswered = 5;
const maxNotes = 20;
const outcomeUnknown = "the outcome is unknown: Discord did not respond";

const defaultStateAgeMs = (readMs: number) => Math.max(30_000, 5 * readMs);

export interface Wait {
	why: string;
	/** Milliseconds of `monotonicNow`; 0 if unknown. */
	until: number;
}

export interface JobRunOptions {
	log: Log;
	connection: Connection;
	store: Pick<Store, "sql">;
	/** Of guilds, roles and channels, so that tools and jobs do not edit the same one at the same time. */
	mutex: KeyedMutex;
	rules: Rules;
	pictures: Pick<Pictures, "dataUri" | "remember">;
	ownSettings?: OwnSettings;
	/** After so long without a response, a request has taken effect or never will. */
	arrivedAfterMs?: number;
	/** After so long the audit log certainly has what took effect. */
	loggedAfterMs?: number;
	/** How long a state is used before a new read, as others may have changed the guild. `readMs`: of the last read. */
	maxStateAgeMs?: ((readMs: number) => number) | undefined;
	/** By the bot's configuration. */
	mayTouch(guildId: string): boolean;
	closing: AbortSignal;
	/** Wall clock in epoch milliseconds, which may jump. */
	now(): number;
	/** Milliseconds of a clock that never jumps, from any start. */
	monotonicNow(): number;
}

export async function loadJob(sql: Sql, id: string): Promise<Job | undefined> {
	const row = await guildJobRows.first(sql, { id });
	return row && toJob(row, await guildJobStepRows.all(sql, { job_id: id }));
}

/** What a job has read, and when, by `monotonicNow`. */
interface Pass {
	job: Job;
	guild: Guild;
	state: GuildState;
	readAt: number;
}

/** What a process knows of a job that its rows do not say. */
export class JobRun {
	wait: Wait | undefined;
	/** Since the bot started. */
	isCancelled = false;
	isEnded = false;
	/** In a row, without those that go away by themselves, such as an outage. */
	failures = 0;
	readonly ending = Promise.withResolvers<void>();
	#job: Job | undefined;
	/** Number of requests without a response, by step id. */
	readonly #unanswered = new Map<string, number>();
	/** When a request with unknown outcome was sent, or found after a restart, by step id. */
	readonly #askedAt = new Map<string, number>();
	/** When a role was assigned, by step id. The cache of members is updated by a later event. */
	readonly #assignedAt = new Map<string, number>();
	/** By route; times of `monotonicNow`. */
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

	/** Until no step is left or the job is paused. Rejects if it must be retried. */
	async work(): Promise<void> {
		const { connection, mayTouch, now } = this.options;
		const job = await loadJob(this.#sql, this.id);
		if (!job || job.row.ended_at !== null) {
			this.isEnded = true;
			return;
		}
		const { row } = job;
		this.#job = job;
		if (row.cancel_asked === 1) return this.end("cancelled");
		if (now() - row.started_at > keptMs) return this.end("failed", "it was started too long ago");
		// The operator may have changed the configuration since the job was started.
		if (!mayTouch(row.guild_id))
			return this.end("failed", "the operator of this bot has not enabled tools for the guild");
		if (!connection.ready) throw new NotNow("the bot is not connected to Discord");
		const guild = connection.guilds.find(({ id }) => id === row.guild_id);
		if (!guild) return this.end("failed", "the bot is not in the guild");
		if (!guild.available) throw new NotNow("the guild is unavailable on Discord");
		while (!this.isEnded && !this.wait) await this.#pass(job, guild);
	}

	/** Reads the guild, and runs what is left. */
	async #pass(job: Job, guild: Guild): Promise<void> {
		const { rules, maxStateAgeMs = defaultStateAgeMs } = this.options;
		const { document, restore, by } = job.plan;
		const readAt = this.#now();
		const work = () => rules.read(guild, partsOf(document, restore), document, restore);
		// The settings of the bot are checked for who began the job.
		const member = document.bot && by !== undefined ? await fetchMember(guild, by) : undefined;
		const { state, unreadable } = await (member ? actAsMember(member, work) : work());
		const pass = { job, guild, state, readAt };
		const hasReadAt = this.#now();
		const staleAt = hasReadAt + maxStateAgeMs(hasReadAt - readAt);
		if (!(await this.#settleCreations(pass))) return;
		const ids = createdIds(job);
		const found = await this.#differenceOf(pass, ids);
		if (found instanceof InvalidDocument)
			return this.end("failed", `the guild changed so that the document is ambiguous: ${found.issues[0]}`);
		const { steps } = found;
		await this.#noteSettled(job, steps);
		const possible = runnable(steps, job, ids);
		if (possible.length === 0) return this.#finish(job, found, unreadable);
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
			await this.#runStep(pass, step, ids);
		}
	}

	async #differenceOf({ job, guild, state }: Pass, ids: ReadonlyMap<string, string>) {
		const { plan, following } = job;
		const { document, restore, prune } = plan;
		const given = { prune, restore, ids, following, fixedRoles: fixedRoles(guild, state) };
		return attempt(() => this.options.rules.difference(document, state, given));
	}

	async #save(job: Job, row: GuildJobStepRow): Promise<void> {
		await guildJobStepRows.save(this.#sql, [row]);
		job.steps.set(row.step_id, row);
	}

	/**
	 * For requests without a response. False: the job was paused, as it is not known yet, or the state lacks a message or the hash
	 * of an emoji that was found.
	 */
	async #settleCreations(pass: Pass): Promise<boolean> {
		const { job } = pass;
		let isOutdated = false;
		for (const row of job.steps.values()) {
			if (row.state !== "asked" || row.action !== "create") continue;
			const settled = await this.#settleCreation(pass, row);
			if (!settled) return false;
			if (settled.target_id && row.kind === "emoji") await this.#rememberEmoji(pass, row, settled.target_id);
			isOutdated ||= ["emoji", "message", "post"].includes(row.kind);
			await this.#save(job, { ...row, ...settled });
			this.#askedAt.delete(row.step_id);
		}
		return !isOutdated;
	}

	/** The hash of the document, because Discord converts pictures, so that its copy has a different one. */
	async #rememberEmoji(pass: Pass, { step_id }: GuildJobStepRow, id: string): Promise<void> {
		const { guild } = pass.state;
		const emojis = guild.emojis.filter((emoji) => emoji.id !== id);
		const without = { ...pass, state: { ...pass.state, guild: { ...guild, emojis } } };
		const hash = (await this.#requestOf(without, step_id))?.picture?.hash;
		if (hash !== undefined) await this.options.pictures.remember(id, hash);
	}

	/** Undefined if the step does not differ any more. */
	async #requestOf(pass: Pass, stepId: string): Promise<ApiRequest | undefined> {
		const ids = createdIds(pass.job);
		const found = await this.#differenceOf(pass, ids);
		const steps = found instanceof InvalidDocument ? [] : found.steps;
		return steps.find(({ id }) => id === stepId)?.request(ids);
	}

	/** New values of the row; undefined if not known yet. */
	async #settleCreation(pass: Pass, row: GuildJobStepRow): Promise<Partial<GuildJobStepRow> | undefined> {
		const { job, guild, state, readAt } = pass;
		const { loggedAfterMs = 60_000 } = this.options;
		const { name, mark, after_id: afterId, done_count } = row;
		const kind = row.kind as Step["kind"];
		const creations = await readCreations(guild, kind, afterId);
		const madeId = creations.madeBy(job.row.id, mark);
		if (madeId !== undefined) return { state: "done", target_id: madeId, done_count: done_count + 1 };
		const since = this.#askedAt.getOrInsertComputed(row.step_id, () => this.#now());
		// What arrives later is not in the state.
		const passedMs = readAt - since;
		const why = `it is not known yet whether Discord has created ${row.kind} ${oneField(name)}`;
		if (passedMs < this.#arrivedAfterMs) {
			this.pause(this.#arrivedAfterMs - passedMs, why);
			return undefined;
		}
		const known = new Set([...job.steps.values()].flatMap(({ target_id }) => target_id ?? []));
		if (kind === "message" || kind === "post") return this.#settleMessage(pass, row, known);
		// Names are not compared at first: Discord may change them.
		const candidates = (thingsOf(state, kind) ?? [])
			.map(({ id, name }) => ({ id, name: name ?? "" }))
			.filter(({ id }) => !known.has(id) && mayBeAfter(id, afterId))
			// Someone else has created it.
			.filter(({ id }) => !creations.isOther(id));
		if (candidates.length === 0) return { state: "open" };
		if (passedMs < loggedAfterMs) {
			this.pause(Math.min(loggedAfterMs - passedMs, this.#arrivedAfterMs), why);
			return undefined;
		}
		const candidate = candidates.find((thing) => comparable(thing.name) === comparable(name));
		if (!candidate) return { state: "open" };
		return {
			state: "failed",
			error: `${outcomeUnknown}. ${oneField(candidate.name)} (ID: ${candidate.id}) may be what was created`,
		};
	}

	async #settleMessage(
		pass: Pass,
		{ step_id, after_id, done_count }: GuildJobStepRow,
		known: ReadonlySet<string>,
	): Promise<Partial<GuildJobStepRow>> {
		const { guild, state } = pass;
		const request = await this.#requestOf(pass, step_id);
		// Without a step it was recorded already.
		if (!request?.record) return { state: "done", done_count: done_count + 1 };
		const others = new Set([...known, ...(state.messages ?? []).map((one) => one.id)]);
		const id = await findMessage(guild, request, after_id, others);
		if (id === undefined) return { state: "open" };
		if (id === "unknown") return { state: "failed", error: `${outcomeUnknown}. Look whether it was posted` };
		await guildMessageRows.save(this.#sql, [{ ...request.record, guild_id: guild.id, message_id: id }]);
		return { state: "done", target_id: id, done_count: done_count + 1 };
	}

	async #noteSettled(job: Job, steps: readonly Step[]): Promise<void> {
		const due = new Set(steps.map(({ id }) => id));
		for (const row of job.steps.values())
			if (row.state === "asked" && !due.has(row.step_id))
				await this.#save(job, { ...row, state: "done", done_count: row.done_count + 1 });
	}

	/** Adds the id of a created thing to `ids`. Rejects if the job must be retried or paused. */
	async #runStep(pass: Pass, step: Step, ids: Map<string, string>): Promise<void> {
		// A step before this one may have failed.
		if (!step.needs.every((placeholder) => ids.has(placeholder))) return;
		if (isEmptyOrder(step, ids)) return;
		const bucket = bucketOf(step.request(ids));
		await this.#pace(bucket);
		let limit: RateLimitState | undefined;
		const wasSent = await this.options.mutex.withLock(lockOf(step, pass.guild), () =>
			observeRateLimit(
				(observed) => (limit = observed),
				() => this.#send(pass, step, ids),
			),
		);
		if (!limit || !wasSent) return;
		this.#buckets.set(bucket, { remaining: limit.remaining, resetAt: this.#now() + limit.resetAfterMs });
	}

	/** Returns whether Discord confirmed the request. */
	async #send({ job, guild, state }: Pass, step: Step, ids: Map<string, string>): Promise<boolean> {
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
		const request = step.request(ids);
		const { method, path, body, picture, reason, record } = request;
		const uri = picture && (await this.options.pictures.dataUri(picture.hash));
		if (picture && uri === undefined) return fail(`the bot does not have the picture ${picture.hash}`);
		const asked: GuildJobStepRow = {
			...row,
			state: "asked",
			mark: `${row.mark.split(".")[0]}.${row.done_count + 1}`,
			after_id: newestId(state),
			target_id: step.targetId ?? row.target_id,
		};
		await this.#save(job, asked);
		this.#askedAt.set(key, this.#now());
		const marked = markedReason(job.row.id, asked.mark, job.row.reason);
		let response: unknown;
		try {
			if (step.kind === "bot") {
				const why = await this.options.ownSettings?.change(guild, body as JsonObject, job.plan.by);
				if (why !== undefined) return fail(why);
			} else
				response = await guild.client.rest.request({
					method: method as never,
					fullRoute: path as RouteLike,
					body: picture
						? { ...(body as object), [picture.field]: uri }
						: messageBody(request, guild, `${job.row.id}${asked.mark}`),
					reason: auditReason(reason ?? marked),
				});
		} catch (error) {
			await this.#noteFailure(job, asked, error);
			return false;
		}
		const { id, icon } = Object(response) as { id?: string; icon?: string };
		// Before the step is recorded as done: afterwards nothing would do this.
		if (record && id) await guildMessageRows.save(this.#sql, [{ ...record, guild_id: guild.id, message_id: id }]);
		if (picture && id !== undefined)
			await this.options.pictures.remember(picture.field === "image" ? id : (icon ?? ""), picture.hash);
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

	/** Rejects if the job must be retried. */
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

	/** Waits if few requests of a rate limit are left. Throws PlatformBusy if the wait would be too long. */
	async #pace(bucket: string): Promise<void> {
		const { remaining, resetAt } = this.#buckets.get(bucket) ?? noLimit;
		const ms = resetAt - this.#now();
		if (remaining > spared || ms <= 0) return;
		if (ms > maxPaceMs) throw new PlatformBusy("rate limit", ms);
		await sleep(ms, this.options.closing).catch(() => {});
	}

	async #finish(
		job: Job,
		{ steps, refusals }: Difference,
		unreadable: readonly { part: string; why: string }[],
	): Promise<void> {
		const { failed, others } = leftoversOf(steps, job);
		await guildJobStepRows.save(this.#sql, failed);
		for (const row of failed) job.steps.set(row.step_id, row);
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
		const undone = this.#job ? undoneBy(this.#job) : [];
		const at = options.now();
		for (const ids of inBatches(undone, 100))
			await undoneEntryRows.add(
				this.#sql,
				ids.map((entry_id) => ({ entry_id, at })),
			);
		await guildJobRows.change(this.#sql, { id }, { state, note: note || null, ended_at: at }, { ended_at: null });
		this.isEnded = true;
		options.log.info("apply_guild job ended", { job: id, state });
		this.ending.resolve();
	}
}

function lockOf({ action, targetId = "" }: Step, guild: Guild): string {
	// Of a role assignment the first id is the member's.
	const [id = ""] = targetId.split("/");
	const isThing = /^\d+$/.test(id) && action !== "create";
	// Tools that place roles and channels, or edit the settings, lock the guild.
	return isThing ? id : guild.id;
}

/** Equal for requests that share a rate limit. */
function bucketOf({ method, path }: ApiRequest): string {
	// A guess (rate-limits): limits are per route, and per guild or channel.
	const [, thing = "", rest = ""] = /^(\/\w+\/\d+)?(.*)$/.exec(path) ?? [];
	return `${method} ${thing}${rest.replaceAll(/\d+/g, "*")}`;
}
