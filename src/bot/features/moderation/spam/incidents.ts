// The bot's response to spam: it stores the incident, times the person out, deletes the messages, stores one moderation
// case, and writes the moderation log. Each step can be repeated, so a restarted bot continues after a crash.

import { type GuildMember, SnowflakeUtil } from "discord.js";
import type { KeyedMutex } from "../../../../lib/keyed-mutex.ts";
import type { Log } from "../../../../lib/log.ts";
import { SlidingWindow } from "../../../../lib/sliding-window.ts";
import { within } from "../../../../lib/wait.ts";
import type { Connection } from "../../../discord/connection/connection.ts";
import { ignoreUnavailable } from "../../../store/database/db-error.ts";
import type { Store } from "../../../store/store.ts";
import { setCaseMessages } from "../../../store/tables/cases.ts";
import { saveSpamIncident, selectOpenSpamIncidents } from "../../../store/tables/spam-incidents.ts";
import { idsText } from "../cases/case.ts";
import type { Cases } from "../cases/cases.ts";
import { maxTold, type TellOptions, tellPeople } from "../cases/tell.ts";
import { createDeletions } from "./deletions.ts";
import type { Detection } from "./detector.ts";
import { failuresOf, fromRow, type Incident, isSettled, maxMessages, newIncident, toRow } from "./incident.ts";
import type { createEntries } from "./log-entry.ts";
import type { PersistentOptions, RequestEnd } from "./persistent-request.ts";
import { createTimeouts } from "./timeouts.ts";

const staleMs = 600_000;
const newMs = 30_000;
const maxResumed = 1_000;
const defaultMaxWatched = 5_000;

const toldWindowMs = 600_000;
const maxToldChannels = 10;

export interface IncidentsTiming {
	/** How long the bot waits for its database before it acts without it, in milliseconds. */
	storeMs: number;
	/** How long deletions wait for the timeout of the messages' author, in milliseconds. */
	timeoutMs: number;
	/** How long no new message must arrive before the case and the log entry are written, in milliseconds. */
	quietMs: number;
	/** How long further messages of the person with the same content belong to the incident, in milliseconds. */
	watchMs: number;
	/** How long the first message of a channel waits for others before it is deleted, in milliseconds. Default: 300. */
	gatherMs?: number;
	backOffMs?: PersistentOptions["backOffMs"];
}

export const defaultTiming: IncidentsTiming = {
	storeMs: 500,
	timeoutMs: 1_000,
	quietMs: 2_000,
	watchMs: 120_000,
};

export interface IncidentsOptions {
	connection: Connection;
	store: Store;
	mutex: KeyedMutex;
	log: Log;
	cases: Pick<Cases, "add">;
	entries: ReturnType<typeof createEntries>;
	/** With what people are told of their timeout; undefined if they are not. */
	telling: TellOptions | undefined;
	/** Length of the timeout for spam, in milliseconds. */
	timeoutMs: number;
	isDry: boolean;
	timing: IncidentsTiming;
	/** Maximum number of people with a current incident. Default: 5,000. */
	maxWatched?: number | undefined;
	closing: AbortSignal;
	/** Returns the wall-clock time in epoch milliseconds. */
	now(): number;
}

export type Incidents = ReturnType<typeof createIncidents>;

export function createIncidents(options: IncidentsOptions) {
	const { connection, store, log, cases, entries, isDry, timing } = options;
	const { closing, now, maxWatched = defaultMaxWatched } = options;
	const { sql } = store;
	const { gatherMs, backOffMs } = timing;
	const shared = { connection, closing, backOffMs };
	const timeouts = createTimeouts({ ...shared, mutex: options.mutex });
	const deletions = createDeletions({ ...shared, gatherMs });
	const watched = new Map<string, Incident>();
	const tellings = new SlidingWindow({ max: maxTold, windowMs: toldWindowMs });
	let isFull = false;
	const open = new Set<string>();
	const timers = new Map<Incident, Timer>();
	const work = new Set<Promise<unknown>>();
	const saving = new Map<Incident, { again: boolean; saved: Promise<void> }>();

	function background(running: Promise<unknown>): void {
		const guarded = running
			.catch((error) => log.error("could not deal with spam: internal error", { error }))
			.finally(() => work.delete(guarded));
		work.add(guarded);
	}

	function save(incident: Incident): Promise<void> {
		const running = saving.get(incident);
		if (running) {
			running.again = true;
			return running.saved;
		}
		const entry = { again: true, saved: Promise.resolve() };
		const write = async () => {
			try {
				while (entry.again) {
					entry.again = false;
					await saveSpamIncident(sql, toRow(incident));
				}
			} finally {
				saving.delete(incident);
			}
		};
		saving.set(incident, entry);
		entry.saved = write();
		return entry.saved;
	}

	/**
	 * Stores an incident before the bot acts. If the database does not respond in time, the bot logs that and acts
	 * nevertheless, because speed matters more.
	 */
	async function storeIntention(incident: Incident): Promise<void> {
		incident.state = "asked";
		const stored = save(incident).then(() => "stored", ignoreUnavailable);
		background(stored);
		const outcome = await within(timing.storeMs, stored);
		if (outcome === "stored") return;
		const { guildId, userId } = incident;
		log.warn("acting on spam without the database", {
			guild: guildId,
			user: userId,
		});
	}

	async function timeOut(incident: Incident, isResumed: boolean): Promise<boolean> {
		const { guildId, userId, until, rule } = incident;
		let isSet = false;
		if (incident.timeout !== undefined) return isSet;
		const onSet = () => {
			isSet = true;
		};
		const request = { guildId, userId, until, reason: `Spam: ${rule}`, onSet };
		const isStale = now() - incident.detectedAt > staleMs || until <= now();
		const end: RequestEnd = !isResumed
			? await timeouts.timeOut(request)
			: isStale
				? { failure: "the bot was stopped before it knew the outcome" }
				: await timeouts.timeOutUnlessDone(request);
		if (end === "stopped") return isSet;
		incident.timeout = end;
		if (end === "done") return isSet;
		log.warn("could not time out a person for spam", {
			guild: guildId,
			user: userId,
			reason: end.failure,
		});
		return isSet;
	}

	async function tell(incident: Incident): Promise<void> {
		const { guildId, userId, rule, until, messages } = incident;
		const guild = connection.guilds.find(({ id }) => id === guildId);
		if (!options.telling || !guild || !tellings.take()) return;
		const channels = [...new Set(messages.values())].slice(0, maxToldChannels);
		const told = await tellPeople(options.telling, guild, [userId], {
			action: "spam",
			reason: `Spam: ${rule}`,
			endsAt: until,
			advice: `This is about what your account wrote in ${channels.map((id) => `<#${id}>`).join(", ")}. If it was not you, somebody else uses your account: change your Discord password, turn on two-factor authentication, and remove apps that you do not know (User Settings → Authorized Apps).`,
		});
		incident.told = told.get(userId);
	}

	async function deleteNew(incident: Incident): Promise<void> {
		const { guildId, messages, begun, ends } = incident;
		const fresh = [...messages].filter(([id]) => !begun.has(id));
		if (fresh.length === 0) return;
		for (const [id] of fresh) begun.add(id);
		await Promise.all(
			fresh.map(async ([id, channelId]) => {
				const end = await deletions.delete({ guildId, channelId }, id);
				if (end !== "stopped") ends.set(id, end);
			}),
		);
	}

	async function act(incident: Incident, isResumed = false): Promise<void> {
		open.add(incident.id);
		if (!isDry) {
			await storeIntention(incident);
			const timedOut = timeOut(incident, isResumed);
			const told = timedOut.then((isSet) => (isSet ? tell(incident) : undefined));
			await within(timing.timeoutMs, timedOut);
			incident.mayDelete = true;
			await Promise.all([told, deleteNew(incident)]);
		}
		finishLater(incident);
	}

	function finishLater(incident: Incident): void {
		clearTimeout(timers.get(incident));
		if (closing.aborted) return;
		const run = () => background(finish(incident));
		timers.set(incident, setTimeout(run, timing.quietMs));
	}

	async function finish(incident: Incident): Promise<void> {
		timers.delete(incident);
		if (!isDry && !isSettled(incident)) return;
		const { messages, guildId, userId, rule } = incident;
		log.info(isDry ? "found spam, dry run" : "dealt with spam", {
			guild: guildId,
			user: userId,
			rule,
			messages: messages.size,
		});
		if (!isDry) await storeCase(incident).catch(ignoreUnavailable);
		if (!incident.isReleased) await entries.write(incident);
		// New messages may have arrived in the meantime. After a shutdown, the next start completes the incident.
		if (closing.aborted) return;
		if (timers.has(incident) || (!isDry && !isSettled(incident))) return;
		incident.state = "done";
		if (!isDry) await save(incident).catch(ignoreUnavailable);
		if (timers.has(incident) || closing.aborted) return;
		const end = () => {
			timers.delete(incident);
			open.delete(incident.id);
			if (watched.get(keyOf(incident)) === incident) watched.delete(keyOf(incident));
		};
		timers.set(incident, setTimeout(end, timing.watchMs).unref());
	}

	async function storeCase(incident: Incident): Promise<void> {
		const { guildId, userId, rule, timeout } = incident;
		const why = typeof timeout === "object" ? timeout.failure : undefined;
		const { messageIds, channelIds } = idsOf(incident);
		const detail = detailOf(incident);
		const known = incident.caseNumber;
		incident.caseNumber ??= await cases.add(
			guildId,
			{
				action: "spam",
				userId,
				messageIds,
				channelIds,
				detail,
				why,
				told: incident.told,
				moderatorId: connection.user?.id ?? "",
				reason: `Spam: ${rule}`,
				createdAt: incident.detectedAt,
				endsAt: incident.until,
				state: why === undefined ? "done" : "not done",
				source: `spam ${incident.id}`,
			},
			// No separate log entry is needed for the case: the incident's own entry, with buttons, is written by `entries`.
			true,
		);
		if (known !== undefined)
			await setCaseMessages(sql, guildId, known, {
				message_ids: idsText(messageIds),
				channel_ids: idsText(channelIds),
				detail,
			});
	}

	function addMessages(incident: Incident, posts: Detection["posts"]): boolean {
		const { messages } = incident;
		const before = messages.size;
		for (const { messageId, channelId } of posts) if (messages.size < maxMessages) messages.set(messageId, channelId);
		return messages.size > before;
	}

	function extend(incident: Incident, { hashes, posts }: Detection): void {
		for (const hash of hashes) incident.hashes.add(hash);
		if (!addMessages(incident, posts)) return;
		if (isDry) finishLater(incident);
		else if (!incident.mayDelete)
			// They are deleted after the timeout, also if the bot is killed before.
			background(save(incident).catch(ignoreUnavailable));
		else {
			clearTimeout(timers.get(incident));
			timers.delete(incident);
			const remove = async () => {
				await storeIntention(incident);
				await deleteNew(incident);
				finishLater(incident);
			};
			background(remove());
		}
	}

	function release(incident: Incident | undefined): void {
		if (!incident) return;
		incident.isReleased = true;
		watched.delete(keyOf(incident));
	}

	function makeRoom(): boolean {
		if (watched.size < maxWatched) {
			isFull = false;
			return true;
		}
		for (const [key, { state }] of watched) if (isDry || state === "done") return watched.delete(key);
		if (!isFull) log.warn("ignoring spam: too many people are being timed out");
		isFull = true;
		return false;
	}

	const watchedOf = ({ guild, id }: GuildMember) => watched.get(`${guild.id} ${id}`);

	function current(member: GuildMember): Incident | undefined {
		const incident = watchedOf(member);
		const isTimedOut = member.isCommunicationDisabled();
		if (isDry || incident?.state !== "done" || isTimedOut) return incident;
		// Messages from before the timeout may arrive when its event has not arrived yet.
		if (incident.timeout === "done" && !incident.isTimeoutSeen) return incident;
		release(incident);
		return undefined;
	}

	return {
		get size() {
			return watched.size;
		},
		hashesOf: (member: GuildMember) => current(member)?.hashes,
		/**
		 * Acts on detected spam. Further spam of the same person soon afterwards is added to the same incident. Never
		 * throws.
		 */
		add(detection: Detection): void {
			const known = current(detection.member);
			if (known) {
				extend(known, detection);
				return;
			}
			if (!makeRoom()) return;
			const detectedAt = now();
			const sentAt = SnowflakeUtil.timestampFrom(detection.messageId);
			const isNew = Math.abs(detectedAt - sentAt) < newMs;
			// Two bots that detect the same message set the same end: Discord changes and records that once.
			const until = (isNew ? sentAt : detectedAt) + options.timeoutMs;
			const incident = newIncident(detection, { detectedAt, until });
			addMessages(incident, detection.posts);
			watched.set(keyOf(incident), incident);
			background(act(incident));
		},
		see(member: GuildMember): void {
			const incident = watchedOf(member);
			if (incident && member.isCommunicationDisabled()) incident.isTimeoutSeen = true;
		},
		release: (guildId: string, userId: string) => release(watched.get(`${guildId} ${userId}`)),
		async resume(isAvailable: (guildId: string) => boolean): Promise<void> {
			// The stored incidents are from before dry runs were turned on.
			if (isDry) return;
			const rows = await selectOpenSpamIncidents(sql, maxResumed);
			for (const row of rows) {
				if (!isAvailable(row.guild_id) || open.has(row.id)) continue;
				const incident = fromRow(row);
				if (!watched.has(keyOf(incident))) watched.set(keyOf(incident), incident);
				log.info("continuing with spam that was found before a restart", {
					guild: row.guild_id,
					user: row.user_id,
				});
				background(act(incident, true));
			}
		},
		/** Resolves when all running requests and writes have ended. Must be called after `closing` has aborted. */
		async close(): Promise<void> {
			for (const timer of timers.values()) clearTimeout(timer);
			timers.clear();
			while (work.size > 0) await Promise.all(work);
		},
	};
}

function keyOf({ guildId, userId }: Incident): string {
	return `${guildId} ${userId}`;
}

function idsOf({ messages }: Incident) {
	return {
		messageIds: [...messages.keys()],
		channelIds: [...new Set(messages.values())],
	};
}

function detailOf(incident: Incident): string {
	const failed = failuresOf(incident).length;
	return `${incident.messages.size - failed} message(s) deleted, ${failed} not`;
}
