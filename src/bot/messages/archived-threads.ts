// Archived threads in which messages of a range of time may be. Discord lists them by channel, not by guild, and its events
// do not announce them, so that the bot's caches lack them.
// https://docs.discord.com/developers/resources/channel#list-public-archived-threads

import {
	type APIThreadChannel,
	ChannelType,
	type Client,
	type Guild,
	makeURLSearchParams,
	PermissionFlagsBits,
	Routes,
} from "discord.js";
import type { ThreadedChannel } from "../../discord/find.ts";
import { missingPermissions, personHas } from "../../discord/permissions.ts";
import { toToolError } from "../../discord/rest/errors.ts";
import { timeLeftMs } from "../../discord/rest/rest.ts";
import { compareIds } from "../../guild-document/names/ids.ts";
import type { Moment } from "../tool/arguments/arguments.ts";

const { ManageThreads } = PermissionFlagsBits;

export interface ArchivedThread {
	id: string;
	name: string;
	parentId: string;
	lastMessageId: string | null;
	client: Client<true>;
}

const maxRequests = 200;
const parallelRequests = 6;
const pageSize = 100;

interface Task {
	parent: ThreadedChannel;
	kind: "public" | "private" | "joined";
	before?: string | undefined;
}

/** Without `known`. Private ones only with MANAGE_THREADS. At most 200 requests and half of the time left. */
export async function archivedThreadsOf(
	guild: Guild,
	parents: readonly ThreadedChannel[],
	{ after, before }: { after?: Moment | undefined; before?: Moment | undefined },
	known: ReadonlySet<string>,
) {
	const enoughMs = timeLeftMs() / 2;
	// Public threads first: most threads are public.
	const tasks: Task[] = [
		...parents.map((parent): Task => ({ parent, kind: "public" })),
		...parents
			.filter(({ type }) => type === ChannelType.GuildText)
			// Without it, a person sees only those private threads of which they are a member.
			.filter((parent) => personHas(guild, parent, ManageThreads))
			.map((parent): Task => {
				const isManager = missingPermissions(guild, parent, ManageThreads) === 0n;
				return { parent, kind: isManager ? "private" : "joined" };
			}),
	];
	const threads = new Map<string, ArchivedThread>();
	/** Not all of their archived threads could be listed. */
	const unlisted = new Set<ThreadedChannel>();
	/** Undefined if all were listed. */
	let why: string | undefined;
	let requests = 0;
	const isWanted = ({ id, last_message_id: last }: APIThreadChannel) =>
		!known.has(id) &&
		(before === undefined || compareIds(id, before.first) < 0) &&
		(after === undefined || !last || compareIds(last, after.lastBefore) > 0);
	const list = async (task: Task) => {
		const { parent, kind, before } = task;
		requests += 1;
		const query = makeURLSearchParams({ limit: pageSize, before });
		const path =
			kind === "joined" ? Routes.channelJoinedArchivedThreads(parent.id) : Routes.channelThreads(parent.id, kind);
		const page = (await guild.client.rest.get(path, { query })) as { threads: APIThreadChannel[]; has_more: boolean };
		for (const thread of page.threads.filter(isWanted))
			threads.set(thread.id, {
				id: thread.id,
				name: thread.name,
				parentId: parent.id,
				lastMessageId: thread.last_message_id ?? null,
				client: guild.client,
			});
		const last = page.threads.at(-1);
		if (!last || !page.has_more) return;
		const at = last.thread_metadata?.archive_timestamp;
		// Writing in a thread unarchives it, so no message is newer than the time at which its thread was archived.
		const isPast = after && at && Date.parse(at) < after.atMs;
		// Discord sorts joined threads by id, the others by the time at which they were archived.
		if (kind === "joined") tasks.push({ ...task, before: last.id });
		else if (!isPast) tasks.push({ ...task, before: at });
	};
	const work = async () => {
		for (;;) {
			const task = tasks.shift();
			if (!task) return;
			try {
				if (requests >= maxRequests || timeLeftMs() < enoughMs) {
					why ??= "there are too many for one call";
					unlisted.add(task.parent);
				} else await list(task);
			} catch (error) {
				const refusal = toToolError(error);
				if (!refusal) throw error;
				why ??= refusal.message;
				unlisted.add(task.parent);
			}
		}
	};
	await Promise.all(Array.from({ length: parallelRequests }, work));
	return { threads: [...threads.values()], unlisted: [...unlisted], why };
}

export function hasThreads(channel: { type: ChannelType }): channel is ThreadedChannel {
	const { GuildText, GuildAnnouncement, GuildForum, GuildMedia } = ChannelType;
	return [GuildText, GuildAnnouncement, GuildForum, GuildMedia].includes(channel.type as number);
}
