// Finds what a request created whose response was lost: by the mark in its reason in Discord's audit log, or by its name.

import { AuditLogEvent, type Guild } from "discord.js";
import { readAuditLog } from "../../../discord/audit-log.ts";
import { jobReasonStart } from "../../../discord/text.ts";
import { compareIds } from "../../../guild-document/names/ids.ts";
import type { GuildState, StepKind } from "../../../guild-document/steps.ts";

const createActions: Partial<Record<StepKind, AuditLogEvent>> = {
	role: AuditLogEvent.RoleCreate,
	category: AuditLogEvent.ChannelCreate,
	channel: AuditLogEvent.ChannelCreate,
	emoji: AuditLogEvent.EmojiCreate,
	webhook: AuditLogEvent.WebhookCreate,
	automod: AuditLogEvent.AutoModerationRuleCreate,
	event: AuditLogEvent.GuildScheduledEventCreate,
};

/** `mark` identifies the request within the job. */
export function markedReason(jobId: string, mark: string, reason: string): string {
	return `${jobReasonStart}${jobId} ${mark}: ${reason}`;
}

/** In the audit log since the snowflake `afterId`. Finds nothing if the bot may not read it. */
export async function readCreations(guild: Guild, kind: StepKind, afterId: string) {
	const action = createActions[kind];
	const entries = action === undefined ? [] : await readAuditLog(guild, action, afterId);
	const self = guild.client.user.id;
	return {
		/** The id of what the request with this `mark` created; undefined without an entry. */
		madeBy: (jobId: string, mark: string) =>
			entries.find(({ user_id, reason }) => user_id === self && reason?.startsWith(markedReason(jobId, mark, "")))
				?.target_id ?? undefined,
		/** If `madeBy` found nothing before, someone else or another request of this bot created it. */
		isOther: (id: string) => entries.some(({ target_id }) => target_id === id),
	};
}

export function thingsOf({ guild, channels, webhooks, automod, events }: GuildState, kind: StepKind) {
	type Things = readonly { id: string | null; name?: string | null }[] | undefined;
	const { roles: role, emojis: emoji } = guild;
	const lists: Partial<Record<StepKind, Things>> = { role, emoji, automod, channel: channels, category: channels };
	const all = { ...lists, webhook: webhooks, event: events }[kind] ?? [];
	return all.flatMap(({ id, name }) => (id === null ? [] : [{ id, name: name ?? "" }]));
}

const createdKinds = Object.keys(createActions) as StepKind[];

/** The highest snowflake of a guild and its things. */
export function newestId(state: GuildState): string {
	const last = state.channels.map((channel) => String(Object(channel).last_message_id ?? "0"));
	return createdKinds
		.flatMap((kind) => thingsOf(state, kind).map(({ id }) => id))
		.concat(last)
		.reduce((newest, id) => (compareIds(id, newest) > 0 ? id : newest), state.guild.id);
}

/** A guess (channel-names): Discord changes case and spaces in the names of text channels. */
export const comparable = (name: string) => name.toLowerCase().replaceAll(/[\s_-]+/g, "-");
