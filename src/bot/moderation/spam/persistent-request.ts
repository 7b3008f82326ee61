// Requests about spam that can be repeated without harm: timeouts and deletions, each until Discord accepts or refuses it.

import { type APIGuildMember, DiscordAPIError, PermissionFlagsBits, RESTJSONErrorCodes, Routes } from "discord.js";
import type { Connection } from "../../../discord/connection/connection.ts";
import { absentIf } from "../../../discord/find.ts";
import { describeBits, missingForBot, withTitles } from "../../../discord/permissions.ts";
import { saidProblem } from "../../../discord/rest/errors.ts";
import { PlatformBusy } from "../../../discord/rest/rest.ts";
import { auditReason } from "../../../discord/text.ts";
import { backOffMs } from "../../../lib/back-off.ts";
import { Semaphore } from "../../../lib/semaphore.ts";
import { sleep } from "../../../lib/wait.ts";
import { SaidError } from "../../../texts/said-error.ts";
import { type Said, said } from "../../../texts/texts.ts";
import type { FeatureOptions } from "../../commands/feature.ts";
import { bulkDelete, isTooOldForBulk } from "../../messages/bulk-delete.ts";
import { NotNow, requireGuild } from "../../store/durable.ts";
import { isSameEnd } from "../cases/decide.ts";

const maxAttempts = 8;
const defaultBackOffMs = [250, 15_000] as const;

export interface PersistentOptions {
	/** A running request is not cancelled. */
	closing: AbortSignal;
	backOffMs?: readonly [number, number] | undefined;
}

/** "done": also if there was nothing to do. "stopped": the bot is shutting down, and the outcome is unknown. */
export type RequestEnd = "done" | "stopped" | { failure: Said };

/** `gone`: Discord's error codes which mean that there is nothing to do. A SaidError is no use repeating. Never rejects. */
export async function persistently(
	send: () => Promise<unknown>,
	gone: readonly number[],
	{ closing, backOffMs: range = defaultBackOffMs }: PersistentOptions,
): Promise<RequestEnd> {
	let failures = 0;
	for (;;) {
		if (closing.aborted) return "stopped";
		try {
			await send();
			return "done";
		} catch (error) {
			if (error instanceof DiscordAPIError && gone.includes(Number(error.code))) return "done";
			const isRefused = error instanceof DiscordAPIError && error.status < 500;
			if (isRefused || error instanceof SaidError) return { failure: reasonOf(error) };
			if (!(error instanceof PlatformBusy)) failures += 1;
			if (failures >= maxAttempts) return { failure: reasonOf(error) };
			const waitMs = error instanceof PlatformBusy ? error.retryAfterMs : backOffMs(failures - 1, range);
			await sleep(waitMs, closing).catch(() => {});
		}
	}
}

function reasonOf(error: unknown): Said {
	if (error instanceof NotNow) return said("why.unavailable");
	return error instanceof SaidError ? withTitles(error.said) : (saidProblem(error) ?? said("why.internal"));
}

const maxConcurrent = 5;
const sameSpamMs = 10_000;

const { UnknownMember } = RESTJSONErrorCodes;

interface TimeoutRequest {
	guildId: string;
	userId: string;
	until: number;
	reason: string;
	/** Not if somebody had set it before, or the person has left. */
	onSet?(): void;
}

/** In the order of detection and a few at a time, because Discord limits changes of members per guild. */
export function createTimeouts({
	connection,
	mutex,
	...options
}: PersistentOptions & Pick<FeatureOptions, "connection" | "mutex">) {
	const semaphore = new Semaphore({ max: maxConcurrent });

	function change(userId: string, work: () => Promise<unknown>): Promise<RequestEnd> {
		// The lock is held per attempt only, so that a ban does not wait while timeouts are rate-limited.
		const run = () => mutex.withLock(userId, work);
		return semaphore
			.run(options.closing, () => persistently(run, [UnknownMember], options))
			.catch((): RequestEnd => "stopped");
	}

	async function send(request: TimeoutRequest): Promise<void> {
		const { guildId, userId, until, reason } = request;
		const guild = requireGuild(connection, guildId);
		const known = guild.members.cache.get(userId)?.communicationDisabledUntilTimestamp ?? 0;
		// Keeps a longer timeout that a moderator has set, and the one that another bot has just set.
		if (known > until - sameSpamMs) return;
		const missing = missingForBot(guild, undefined, PermissionFlagsBits.ModerateMembers);
		if (missing !== 0n) throw new SaidError(said("why.lacks", { permissions: describeBits(missing) }));
		await guild.client.rest.patch(Routes.guildMember(guildId, userId), {
			body: { communication_disabled_until: new Date(until).toISOString() },
			reason: auditReason(reason),
		});
		request.onSet?.();
	}

	return {
		/** "done" also if the person has left. Never rejects. */
		timeOut: (request: TimeoutRequest) => change(request.userId, () => send(request)),
		timeOutUnlessDone: (request: TimeoutRequest) =>
			change(request.userId, async () => {
				const { guildId, userId, until } = request;
				const { client } = requireGuild(connection, guildId);
				const member = await absentIf(
					[UnknownMember],
					() => client.rest.get(Routes.guildMember(guildId, userId)) as Promise<APIGuildMember>,
				);
				const end = Date.parse(member?.communication_disabled_until ?? "");
				if (!member || isSameEnd(end, until)) return;
				await send(request);
			}),
	};
}

const maxBatch = 100;
/** How long a message waits for others, so that one request deletes them together. */
const defaultGatherMs = 300;
const maxWaiting = 20_000;

const { UnknownMessage, UnknownChannel } = RESTJSONErrorCodes;
const { ViewChannel, ManageMessages } = PermissionFlagsBits;

interface Place {
	guildId: string;
	channelId: string;
}

interface Waiting {
	messageId: string;
	end: (end: RequestEnd) => void;
}

/**
 * One queue of messages per channel. Messages of several people are deleted in one request, because Discord limits
 * requests per channel and allows up to 100 messages in one request.
 */
export function createDeletions({
	gatherMs = defaultGatherMs,
	connection,
	...options
}: PersistentOptions & { connection: Connection; gatherMs?: number | undefined }) {
	const channels = new Map<string, Waiting[]>();
	let waiting = 0;

	async function work(place: Place, queue: Waiting[]): Promise<void> {
		await sleep(gatherMs, options.closing).catch(() => {});
		while (queue.length > 0) {
			// The queue is in order of arrival, so the oldest messages are deleted first.
			const batch = queue.splice(0, batchSize(queue));
			const ids = batch.map(({ messageId }) => messageId);
			const end = await deleteIn(place, ids);
			waiting -= batch.length;
			for (const one of batch) one.end(end);
		}
		channels.delete(place.channelId);
	}

	function deleteIn({ guildId, channelId }: Place, ids: readonly string[]): Promise<RequestEnd> {
		const send = async () => {
			const guild = requireGuild(connection, guildId);
			// Archived threads are not in the cache.
			const channel = guild.channels.cache.get(channelId);
			const missing = channel ? missingForBot(guild, channel, ViewChannel | ManageMessages) : 0n;
			const lacking = { permissions: describeBits(missing), channel: `<#${channelId}>` };
			if (missing !== 0n) throw new SaidError(said("spam.why.lacks.channel", lacking));
			await bulkDelete({ id: channelId, client: guild.client }, ids, "spam");
		};
		return persistently(send, [UnknownMessage, UnknownChannel], options);
	}

	return {
		/** "done" also if it was deleted already. Never rejects. */
		delete(place: Place, messageId: string): Promise<RequestEnd> {
			if (waiting >= maxWaiting) return Promise.resolve({ failure: said("spam.why.full") });
			waiting += 1;
			const { promise, resolve } = Promise.withResolvers<RequestEnd>();
			const known = channels.get(place.channelId);
			const queue = known ?? [];
			queue.push({ messageId, end: resolve });
			if (known) return promise;
			channels.set(place.channelId, queue);
			void work(place, queue);
			return promise;
		},
	};
}

/** A message that is too old for bulk deletion (edited to spam later) is deleted alone. */
function batchSize(queue: readonly Waiting[]): number {
	const first = queue.slice(0, maxBatch).findIndex(({ messageId }) => isTooOldForBulk(messageId));
	return first === -1 ? maxBatch : Math.max(first, 1);
}
