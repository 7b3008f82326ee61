// Finds what a request created whose response was lost: by the mark in its reason in Discord's audit log, or by its name.

import {
	type APIAuditLogEntry,
	AuditLogEvent,
	DiscordAPIError,
	type Guild,
	makeURLSearchParams,
	type RESTGetAPIAuditLogResult,
	Routes,
} from "discord.js";
import type { GuildState, StepKind } from "../../../guild-document/steps.ts";
import { compareIds } from "../../discord/ids.ts";
import { jobReasonStart } from "../../discord/text.ts";

/** The audit log's action for each kind of thing that a step can create. */
const createActions: Partial<Record<StepKind, AuditLogEvent>> = {
	role: AuditLogEvent.RoleCreate,
	category: AuditLogEvent.ChannelCreate,
	channel: AuditLogEvent.ChannelCreate,
	emoji: AuditLogEvent.EmojiCreate,
	webhook: AuditLogEvent.WebhookCreate,
	automod: AuditLogEvent.AutoModerationRuleCreate,
	event: AuditLogEvent.GuildScheduledEventCreate,
};

const pageSize = 100;
const maxPages = 5;
/** Ids created by different machines of Discord are ordered to about this many milliseconds. */
const skewMs = 1_000;

/** Whether an entry of Discord's audit log with this reason, made by the bot, is that of a job. */
export function isJobReason(reason: string): boolean {
	return reason.startsWith(jobReasonStart);
}

/** Returns the reason for Discord's audit log of a request of a job. It begins with the request's mark. */
export function markedReason(
	jobId: string,
	mark: string,
	reason: string,
): string {
	return `${jobReasonStart}${jobId} ${mark}: ${reason}`;
}

/** Entries of a guild's audit log, by ids of what was created. */
export interface Creations {
	/** Returns the id of the thing that the request with this mark created; undefined if the log has no entry. */
	madeBy(jobId: string, mark: string): string | undefined;
	/** Whether someone else, or another request of this bot, created the thing with this id. */
	isOther(id: string): boolean;
}

/**
 * Reads who created things of a kind after the id `afterId`. A bot that may not read the audit log finds no entries.
 */
export async function readCreations(
	guild: Guild,
	kind: StepKind,
	afterId: string,
): Promise<Creations> {
	const entries = await readEntries(guild, createActions[kind], afterId);
	const self = guild.client.user.id;
	return {
		madeBy: (jobId, mark) =>
			entries.find(
				({ user_id, reason }) =>
					user_id === self && reason?.startsWith(markedReason(jobId, mark, "")),
			)?.target_id ?? undefined,
		isOther: (id) => entries.some(({ target_id }) => target_id === id),
	};
}

/**
 * Reads entries of a guild's audit log about an action, the newest first: those after the id `afterId`, at most 500, and
 * possibly some before. A bot that may not read the audit log finds no entries.
 */
export async function readEntries(
	{ client, id }: Guild,
	action: AuditLogEvent | undefined,
	afterId: string,
): Promise<APIAuditLogEntry[]> {
	const entries: APIAuditLogEntry[] = [];
	if (action === undefined) return entries;
	try {
		for (let page = 0; page < maxPages; page += 1) {
			const query = makeURLSearchParams({
				action_type: action,
				limit: pageSize,
				before: entries.at(-1)?.id,
			});
			const { audit_log_entries: found } = (await client.rest.get(
				Routes.guildAuditLog(id),
				{ query },
			)) as RESTGetAPIAuditLogResult;
			entries.push(...found);
			const last = found.at(-1);
			if (!last || found.length < pageSize) break;
			if (!isAfter(last.id, afterId)) break;
		}
	} catch (error) {
		// The permission may have been taken away meanwhile.
		if (!(error instanceof DiscordAPIError) || error.status !== 403)
			throw error;
	}
	return entries;
}

/** Whether an id may have been created after another one. */
function isAfter(id: string, afterId: string): boolean {
	const skew = BigInt(skewMs) << 22n;
	return BigInt(id) > BigInt(afterId) - skew;
}

interface Thing {
	id: string;
	name: string;
}

/** Returns the things of a kind in a guild, with their names. */
function thingsOf(
	{ guild, channels, webhooks, automod, events }: GuildState,
	kind: StepKind,
): Thing[] {
	const all: readonly { id: string | null; name?: string | null }[] =
		kind === "role"
			? guild.roles
			: kind === "channel" || kind === "category"
				? channels
				: kind === "emoji"
					? guild.emojis
					: kind === "webhook"
						? (webhooks ?? [])
						: kind === "automod"
							? (automod ?? [])
							: kind === "event"
								? (events ?? [])
								: [];
	return all.flatMap(({ id, name }) =>
		id === null ? [] : [{ id, name: name ?? "" }],
	);
}

const createdKinds = Object.keys(createActions) as StepKind[];

/** Returns the newest id of a guild's state. */
export function newestId(state: GuildState): string {
	return createdKinds
		.flatMap((kind) => thingsOf(state, kind))
		.reduce(
			(newest, { id }) => (compareIds(id, newest) > 0 ? id : newest),
			state.guild.id,
		);
}

/** A guess (channel-names): Discord changes case and spaces in the names of text channels. */
const comparable = (name: string) =>
	name.toLowerCase().replaceAll(/[\s_-]+/g, "-");

/**
 * Returns the things of this kind that were created after the id `afterId` and are not in `known`. Discord may have
 * changed their names.
 */
export function candidatesIn(
	state: GuildState,
	{ kind, afterId }: { kind: StepKind; afterId: string },
	known: ReadonlySet<string>,
): Thing[] {
	return thingsOf(state, kind).filter(
		({ id }) => !known.has(id) && isAfter(id, afterId),
	);
}

export function isSameName(one: string, other: string): boolean {
	return comparable(one) === comparable(other);
}
