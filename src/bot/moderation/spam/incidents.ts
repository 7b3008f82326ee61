// The bot's response to spam: it stores the incident, times the person out, deletes the messages, stores one moderation
// case, and writes the moderation log. Each step can be repeated, so a restarted bot continues after a crash.

import { type GuildMember, SnowflakeUtil } from "discord.js";
import { resultLines } from "../../../discord/text.ts";
import { KeyedMutex } from "../../../lib/keyed-mutex.ts";
import { SlidingWindow } from "../../../lib/sliding-window.ts";
import type { Sql } from "../../../lib/store/statement.ts";
import { Pending, within } from "../../../lib/wait.ts";
import { render, said, sayIn } from "../../../texts/texts.ts";
import type { FeatureOptions } from "../../commands/feature.ts";
import type { GuildSettings } from "../../settings/guild-settings.ts";
import { caseRows } from "../../store/tables/cases.ts";
import { spamIncidentRows } from "../../store/tables/spam-incidents.ts";
import { ignoreUnavailable } from "../../store/unavailable.ts";
import { idsText } from "../cases/case.ts";
import type { Cases } from "../cases/cases.ts";
import { maxTold, tellPeople } from "../cases/tell.ts";
import type { Detection } from "./detector.ts";
import { caseOf, failuresOf, fromRow, type Incident, isSettled, maxMessages, newIncident, toRow } from "./incident.ts";
import type { createEntries } from "./log-entry.ts";
import { createDeletions, createTimeouts, type PersistentOptions, type RequestEnd } from "./persistent-request.ts";

const staleMs = 600_000;
const newMs = 30_000;
const maxResumed = 1_000;
const defaultMaxWatched = 5_000;

/** Discord's limit is 28 days, and clocks differ. */
const maxTimeoutMs = 28 * 86_400_000 - 60_000;

const toldWindowMs = 600_000;
const maxToldChannels = 10;

export interface IncidentsTiming {
	/** Wait for the database; then the bot acts without it. */
	storeMs: number;
	/** Of deletions, for the timeout. */
	timeoutMs: number;
	/** Without a new message, before case and log entry are written. */
	quietMs: number;
	/** In which the same content belongs to the incident. */
	watchMs: number;
	gatherMs?: number;
	backOffMs?: PersistentOptions["backOffMs"];
}

export const defaultTiming: IncidentsTiming = { storeMs: 500, timeoutMs: 1_000, quietMs: 2_000, watchMs: 120_000 };

export interface IncidentsOptions extends Pick<FeatureOptions, "connection" | "store" | "mutex" | "log"> {
	cases: Cases;
	entries: ReturnType<typeof createEntries>;
	settings: GuildSettings;
	timing: IncidentsTiming;
	/** Default: 5,000. */
	maxWatched?: number | undefined;
	closing: AbortSignal;
	now(): number;
}

export class Incidents {
	readonly #timeouts: ReturnType<typeof createTimeouts>;
	readonly #deletions: ReturnType<typeof createDeletions>;
	readonly #sql: Sql;
	readonly #watched = new Map<string, Incident>();
	readonly #tellings = new SlidingWindow({ max: maxTold, windowMs: toldWindowMs });
	#isFull = false;
	readonly #open = new Set<string>();
	readonly #timers = new Map<Incident, Timer>();
	readonly #work = new Pending();
	readonly #saves = new Map<Incident, Promise<void>>();
	readonly #saving = new KeyedMutex();

	constructor(private readonly options: IncidentsOptions) {
		const { connection, store, closing, timing, mutex } = options;
		const { gatherMs, backOffMs } = timing;
		const shared = { connection, closing, backOffMs };
		this.#sql = store.sql;
		this.#timeouts = createTimeouts({ ...shared, mutex });
		this.#deletions = createDeletions({ ...shared, gatherMs });
	}

	#background(running: Promise<unknown>): void {
		const failed = (error: unknown) => this.options.log.error("could not deal with spam: internal error", { error });
		void this.#work.add(running.catch(failed));
	}

	/** A save that has not begun has later changes, too. */
	#save(incident: Incident): Promise<void> {
		return this.#saves.getOrInsertComputed(incident, () =>
			this.#saving.withLock(incident.id, () => {
				this.#saves.delete(incident);
				return spamIncidentRows.save(this.#sql, [toRow(incident)]);
			}),
		);
	}

	/** If the database does not respond in time, the bot acts nevertheless: speed matters more. */
	async #storeIntention(incident: Incident): Promise<void> {
		incident.state = "asked";
		const stored = this.#save(incident).then(() => "stored", ignoreUnavailable);
		this.#background(stored);
		const outcome = await within(this.options.timing.storeMs, stored);
		if (outcome === "stored") return;
		const { guildId, userId } = incident;
		this.options.log.warn("acting on spam without the database", { guild: guildId, user: userId });
	}

	async #timeOut(incident: Incident, isResumed: boolean): Promise<boolean> {
		const { guildId, userId, until } = incident;
		let isSet = false;
		if (incident.timeout !== undefined) return isSet;
		const onSet = () => {
			isSet = true;
		};
		const request = { guildId, userId, until, reason: caseOf(incident, "spam").reason, onSet };
		const isStale = this.options.now() - incident.detectedAt > staleMs || until <= this.options.now();
		const end: RequestEnd = !isResumed
			? await this.#timeouts.timeOut(request)
			: isStale
				? { failure: said("spam.why.stopped") }
				: await this.#timeouts.timeOutUnlessDone(request);
		if (end === "stopped") return isSet;
		incident.timeout = end;
		if (end === "done") return isSet;
		this.options.log.warn("could not time out a person for spam", {
			guild: guildId,
			user: userId,
			reason: render(end.failure, "en"),
		});
		return isSet;
	}

	async #tell(incident: Incident): Promise<void> {
		const { guildId, userId, rule, until, messages } = incident;
		const { connection, log, settings } = this.options;
		const guild = connection.guild(guildId);
		const { "moderation.tell": toldOf, "moderation.appeal": appeal } = settings.of(guildId);
		if (!toldOf.includes("spam") || !guild || !this.#tellings.take()) return;
		const channels = [...new Set(messages.values())].slice(0, maxToldChannels);
		const say = sayIn(guild.preferredLocale);
		const told = await tellPeople({ connection, log, appeal }, guild, [userId], {
			action: "spam",
			reason: said("spam.reason", { rule }),
			endsAt: until,
			advice: resultLines(
				say("spam.tell", { channels: channels.map((id) => `<#${id}>`).join(", ") }),
				rule.key === "spam.rule.honeypot" && say("spam.tell.honeypot"),
				say("spam.tell.account"),
			).join("\n"),
		});
		incident.told = told.get(userId);
	}

	async #deleteNew(incident: Incident): Promise<void> {
		const { guildId, messages, begun, ends } = incident;
		const fresh = [...messages].filter(([id]) => !begun.has(id));
		if (fresh.length === 0) return;
		for (const [id] of fresh) begun.add(id);
		await Promise.all(
			fresh.map(async ([id, channelId]) => {
				const end = await this.#deletions.delete({ guildId, channelId }, id);
				if (end !== "stopped") ends.set(id, end);
			}),
		);
	}

	async #act(incident: Incident, isResumed = false): Promise<void> {
		this.#open.add(incident.id);
		if (!incident.isDry) {
			await this.#storeIntention(incident);
			const timedOut = this.#timeOut(incident, isResumed);
			const told = timedOut.then((isSet) => (isSet ? this.#tell(incident) : undefined));
			await within(this.options.timing.timeoutMs, timedOut);
			incident.mayDelete = true;
			await Promise.all([told, this.#deleteNew(incident)]);
		}
		this.#finishLater(incident);
	}

	#finishLater(incident: Incident): void {
		clearTimeout(this.#timers.get(incident));
		if (this.options.closing.aborted) return;
		const run = () => this.#background(this.#finish(incident));
		this.#timers.set(incident, setTimeout(run, this.options.timing.quietMs));
	}

	async #finish(incident: Incident): Promise<void> {
		this.#timers.delete(incident);
		if (!incident.isDry && !isSettled(incident)) return;
		const { messages, guildId, userId, rule } = incident;
		this.options.log.info(incident.isDry ? "found spam, dry run" : "dealt with spam", {
			guild: guildId,
			user: userId,
			rule: render(rule, "en"),
			messages: messages.size,
		});
		if (!incident.isDry) await this.#storeCase(incident).catch(ignoreUnavailable);
		if (!incident.isReleased) await this.options.entries.write(incident);
		// New messages may have arrived in the meantime. After a shutdown, the next start completes the incident.
		if (this.options.closing.aborted) return;
		if (this.#timers.has(incident) || (!incident.isDry && !isSettled(incident))) return;
		incident.state = "done";
		if (!incident.isDry) await this.#save(incident).catch(ignoreUnavailable);
		if (this.#timers.has(incident) || this.options.closing.aborted) return;
		const end = () => {
			this.#timers.delete(incident);
			this.#open.delete(incident.id);
			if (this.#watched.get(keyOf(incident)) === incident) this.#watched.delete(keyOf(incident));
		};
		this.#timers.set(incident, setTimeout(end, this.options.timing.watchMs).unref());
	}

	async #storeCase(incident: Incident): Promise<void> {
		const { guildId, timeout, messages, caseNumber: known } = incident;
		const why = typeof timeout === "object" ? render(timeout.failure, "en") : undefined;
		const failed = failuresOf(incident).length;
		const detail = [said("case.detail.deleted", { count: messages.size - failed, all: messages.size })];
		const one = caseOf(incident, "spam");
		const moderatorId = this.options.connection.user?.id ?? "";
		const { told, until: endsAt } = incident;
		const added = {
			...one,
			detail,
			why,
			told,
			moderatorId,
			endsAt,
			state: why === undefined ? "done" : "not done",
		} as const;
		// No separate log entry is needed for the case: the incident's own entry, with buttons, is written by `entries`.
		incident.caseNumber ??= await this.options.cases.add(guildId, added, true);
		if (known !== undefined)
			await caseRows.change(
				this.#sql,
				{ guild_id: guildId, number: known },
				{ message_ids: idsText(one.messageIds), channel_ids: idsText(one.channelIds), detail: JSON.stringify(detail) },
			);
	}

	#addMessages(incident: Incident, posts: Detection["posts"]): boolean {
		const { messages } = incident;
		const before = messages.size;
		for (const { messageId, channelId } of posts) if (messages.size < maxMessages) messages.set(messageId, channelId);
		return messages.size > before;
	}

	#extend(incident: Incident, { hashes, posts }: Detection): void {
		for (const hash of hashes) incident.hashes.add(hash);
		if (!this.#addMessages(incident, posts)) return;
		if (incident.isDry) this.#finishLater(incident);
		else if (!incident.mayDelete)
			// They are deleted after the timeout, also if the bot is killed before.
			this.#background(this.#save(incident).catch(ignoreUnavailable));
		else {
			clearTimeout(this.#timers.get(incident));
			this.#timers.delete(incident);
			const remove = async () => {
				await this.#storeIntention(incident);
				await this.#deleteNew(incident);
				this.#finishLater(incident);
			};
			this.#background(remove());
		}
	}

	#release(incident: Incident | undefined): void {
		if (!incident) return;
		incident.isReleased = true;
		this.#watched.delete(keyOf(incident));
	}

	#makeRoom(): boolean {
		if (this.#watched.size < (this.options.maxWatched ?? defaultMaxWatched)) {
			this.#isFull = false;
			return true;
		}
		for (const [key, { isDry, state }] of this.#watched)
			if (isDry || state === "done") return this.#watched.delete(key);
		if (!this.#isFull) this.options.log.warn("ignoring spam: too many people are being timed out");
		this.#isFull = true;
		return false;
	}

	#watchedOf({ guild, id }: GuildMember): Incident | undefined {
		return this.#watched.get(`${guild.id} ${id}`);
	}

	#current(member: GuildMember): Incident | undefined {
		const incident = this.#watchedOf(member);
		const isTimedOut = member.isCommunicationDisabled();
		if (incident?.state !== "done" || incident.isDry || isTimedOut) return incident;
		// Messages from before the timeout may arrive when its event has not arrived yet.
		if (incident.timeout === "done" && !incident.isTimeoutSeen) return incident;
		this.#release(incident);
		return undefined;
	}

	hashesOf(member: GuildMember): ReadonlySet<string> | undefined {
		return this.#current(member)?.hashes;
	}

	/** And acts on it. */
	isOpen(guildId: string, userId: string): boolean {
		return this.#watched.get(`${guildId} ${userId}`)?.isDry === false;
	}

	/** Further spam of the same person soon afterwards joins the incident. Never throws. */
	add(detection: Detection): void {
		const { "spam.dry": isDry, "spam.timeout": timeoutMs } = this.options.settings.of(detection.member.guild.id);
		const known = this.#current(detection.member);
		if (known && (isDry || !known.isDry)) {
			this.#extend(known, detection);
			return;
		}
		if (!this.#makeRoom()) return;
		const detectedAt = this.options.now();
		const sentAt = SnowflakeUtil.timestampFrom(detection.messageId);
		const isNew = Math.abs(detectedAt - sentAt) < newMs;
		// Two bots that detect the same message set the same end: Discord changes and records that once.
		const until = (isNew ? sentAt : detectedAt) + Math.min(timeoutMs, maxTimeoutMs);
		const { member, messageId: id, rule, hashes } = detection;
		const found = { guildId: member.guild.id, id, userId: member.id, rule, detectedAt, until, isDry };
		const incident = newIncident({ ...found, hashes: new Set(hashes) });
		this.#addMessages(incident, detection.posts);
		this.#watched.set(keyOf(incident), incident);
		this.#background(this.#act(incident));
	}

	see(member: GuildMember): void {
		const incident = this.#watchedOf(member);
		if (incident && member.isCommunicationDisabled()) incident.isTimeoutSeen = true;
	}

	release(guildId: string, userId: string): void {
		this.#release(this.#watched.get(`${guildId} ${userId}`));
	}

	async resume(isAvailable: (guildId: string) => boolean): Promise<void> {
		for (const row of await spamIncidentRows.all(this.#sql, { state: "asked" }, "detected_at", maxResumed)) {
			if (!isAvailable(row.guild_id) || this.#open.has(row.id)) continue;
			const { "spam.on": isOn, "spam.dry": isDry } = this.options.settings.of(row.guild_id);
			// The incident is from before.
			if (!isOn || isDry) continue;
			const incident = fromRow(row);
			if (!this.#watched.has(keyOf(incident))) this.#watched.set(keyOf(incident), incident);
			this.options.log.info("continuing with spam that was found before a restart", {
				guild: row.guild_id,
				user: row.user_id,
			});
			this.#background(this.#act(incident, true));
		}
	}

	/** After `closing` has aborted. */
	async close(): Promise<void> {
		for (const timer of this.#timers.values()) clearTimeout(timer);
		this.#timers.clear();
		await this.#work.settled();
	}
}

function keyOf({ guildId, userId }: Incident): string {
	return `${guildId} ${userId}`;
}
