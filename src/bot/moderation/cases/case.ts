// The type of a moderation case, its conversion from and to a row of the database, and what the parts that handle cases share.

import { joinLines, maxReasonLength } from "../../../discord/text.ts";
import type { Said, Text } from "../../../texts/texts.ts";
import type { FeatureOptions } from "../../commands/feature.ts";
import type { GuildSettings } from "../../settings/guild-settings.ts";
import type { CaseRow, CaseState, Told } from "../../store/tables/cases.ts";
import type { CaseAction } from "../../tool/case-record.ts";
import type { ModerationLog, Posted } from "../moderation-log.ts";
import type { TempBans } from "../temp-bans.ts";

const maxCaseIds = 1_000;

export interface Case {
	guildId: string;
	/** Consecutive in each guild, starting at 1. */
	number: number;
	action: CaseAction;
	/** Undefined if it concerns a channel or the guild. */
	userId: string | undefined;
	moderatorId: string;
	/** Name of the MCP client through which the action was taken; undefined if a person acted on Discord. */
	client: string | undefined;
	reason: string | undefined;
	createdAt: number;
	endsAt: number | undefined;
	state: CaseState;
	why: string | undefined;
	/** The same for people; undefined if there is no message of it. */
	whySaid: Said | undefined;
	messageIds: readonly string[];
	channelIds: readonly string[];
	/** In Discord's Markdown. */
	detail: readonly Text[];
	told: Told | undefined;
	/** Such as "rule:7" for an escalation rule that case 7 made apply. Unique in a guild. */
	source: string | undefined;
	deletedAt: number | undefined;
	/** Its entry in the moderation log, which has the evidence. */
	entry: Posted | undefined;
}

export type Cause = Pick<Case, "why" | "whySaid">;

export type NewCase = Pick<Case, "action" | "moderatorId"> &
	Partial<Omit<Case, "guildId" | "number" | "deletedAt" | "entry">>;

export function toCase(row: CaseRow): Case {
	return {
		guildId: row.guild_id,
		number: row.number,
		// Only this program writes to the table, so the value is a CaseAction.
		action: row.action as CaseAction,
		userId: row.user_id ?? undefined,
		moderatorId: row.moderator_id,
		client: row.client ?? undefined,
		reason: row.reason ?? undefined,
		createdAt: row.created_at,
		endsAt: row.ends_at ?? undefined,
		state: row.state,
		why: row.why ?? undefined,
		whySaid: row.why_said === null ? undefined : (JSON.parse(row.why_said) as Said),
		messageIds: JSON.parse(row.message_ids) as string[],
		channelIds: JSON.parse(row.channel_ids) as string[],
		detail: JSON.parse(row.detail) as Text[],
		told: row.told ?? undefined,
		source: row.source ?? undefined,
		deletedAt: row.deleted_at ?? undefined,
		entry:
			row.entry_channel_id === null || row.entry_id === null
				? undefined
				: { channelId: row.entry_channel_id, messageId: row.entry_id },
	};
}

/** The creation time defaults to `now`, the state to "done". */
export function toRow(one: NewCase, now: number): Omit<CaseRow, "guild_id" | "number"> {
	return {
		user_id: one.userId ?? null,
		moderator_id: one.moderatorId,
		client: one.client ?? null,
		action: one.action,
		reason: one.reason ? storedText(one.reason) : null,
		created_at: one.createdAt ?? now,
		ends_at: one.endsAt ?? null,
		state: one.state ?? "done",
		...whyColumns(one),
		message_ids: idsText(one.messageIds),
		channel_ids: idsText(one.channelIds),
		detail: JSON.stringify(one.detail ?? []),
		told: one.told ?? null,
		source: one.source ?? null,
		deleted_at: null,
		entry_channel_id: null,
		entry_id: null,
	};
}

export function idsText(ids: readonly string[] = []): string {
	return JSON.stringify(ids.slice(0, maxCaseIds));
}

export function whyColumns({ why, whySaid }: Partial<Cause>): Pick<CaseRow, "why" | "why_said"> {
	return { why: why ? storedText(why) : null, why_said: whySaid ? JSON.stringify(whySaid) : null };
}

/** Replaces line breaks, NUL and unpaired surrogates (PostgreSQL stores neither); cuts to a reason's length. */
export function storedText(text: string): string {
	return [...joinLines(text.toWellFormed()).replaceAll("\0", "\u{fffd}")].slice(0, maxReasonLength).join("");
}

export interface CasesOptions extends Pick<FeatureOptions, "connection" | "store" | "log"> {
	moderationLog: Pick<ModerationLog, "add">;
	bans: Pick<TempBans, "ban">;
	settings: Pick<GuildSettings, "of" | "ready">;
	now?: () => number;
	/** In milliseconds. An older case without an outcome belongs to a killed process; the worker asks Discord. */
	decideAfterMs?: number;
	backOffMs?: readonly [number, number];
}

/** Outcome of a case that was added with the state "asked". Fields that are left out keep their stored values. */
export interface CaseResult extends Partial<Cause & Pick<Case, "messageIds" | "channelIds" | "detail">> {
	state: Exclude<Case["state"], "asked">;
}
