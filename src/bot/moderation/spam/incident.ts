// A spam incident: the spam messages of one person, with the outcome of the timeout and of each deletion.

import type { Said } from "../../../texts/texts.ts";
import type { Told } from "../../store/tables/cases.ts";
import type { SpamIncidentRow } from "../../store/tables/spam-incidents.ts";
import type { Detection } from "./detector.ts";
import type { RequestEnd } from "./persistent-request.ts";

/** Maximum number of messages of one incident. Further messages are not deleted. */
export const maxMessages = 2_000;

export interface Incident {
	readonly guildId: string;
	readonly id: string;
	readonly userId: string;
	/** Why the messages are spam. Contains nothing that people wrote. */
	readonly rule: Said;
	/** When the spam was detected, in epoch milliseconds. */
	readonly detectedAt: number;
	/** End of the timeout, in epoch milliseconds. */
	readonly until: number;
	/** Hashes by which further spam messages of the person are recognized. Empty after a restart. */
	readonly hashes: Set<string>;
	/** Channel id of each message, by message id. */
	readonly messages: Map<string, string>;
	/** Ids of the messages whose deletion has begun. */
	readonly begun: Set<string>;
	/** Outcome of each deletion, by message id. */
	readonly ends: Map<string, RequestEnd>;
	/** Outcome of the timeout; undefined while it is not known. */
	timeout: RequestEnd | undefined;
	/** Whether the bot has seen the member timed out. Discord's event for that may arrive after the response. */
	isTimeoutSeen: boolean;
	/** Whether messages may be deleted now. The timeout is sent first. */
	mayDelete: boolean;
	/**
	 * Whether a moderator has ended the timeout. The button has then updated the log entry, so it is not written again.
	 */
	isReleased: boolean;
	/** "done" if the bot has nothing left to do about the incident. */
	state: SpamIncidentRow["state"];
	/** Whether the person was told of the timeout by direct message; undefined if they were not to be told. */
	told: Told | undefined;
	/** Number of the moderation case; undefined if no case is stored. */
	caseNumber: number | undefined;
	/** Channel and message ids of the entry in the moderation log; undefined if there is none. */
	entry: { channelId: string; messageId: string } | undefined;
}

export function newIncident(
	{ member, messageId, rule, hashes }: Detection,
	{ detectedAt, until }: Pick<Incident, "detectedAt" | "until">,
): Incident {
	return {
		guildId: member.guild.id,
		id: messageId,
		userId: member.id,
		rule,
		detectedAt,
		until,
		...untouched(),
		hashes: new Set(hashes),
	};
}

/** The state of an incident about which nothing was done. */
function untouched() {
	return {
		hashes: new Set<string>(),
		messages: new Map<string, string>(),
		begun: new Set<string>(),
		ends: new Map<string, RequestEnd>(),
		timeout: undefined,
		isTimeoutSeen: false,
		mayDelete: false,
		isReleased: false,
		state: "asked" as const,
		told: undefined,
		caseNumber: undefined,
		entry: undefined,
	};
}

/** Whether the outcomes of the timeout and of all deletions are known. */
export function isSettled(incident: Incident): boolean {
	const { timeout, messages, ends } = incident;
	return timeout !== undefined && messages.size === ends.size;
}

/** Returns the reasons why messages could not be deleted, one for each message. */
export function failuresOf({ ends }: Incident): Said[] {
	return [...ends.values()].flatMap((end) => (typeof end === "object" ? end.failure : []));
}

export function toRow(incident: Incident): SpamIncidentRow {
	const { timeout, messages, state } = incident;
	const byChannel = Map.groupBy(messages, ([, channelId]) => channelId);
	const ids = [...byChannel].map(([channelId, entries]) => [channelId, entries.map(([id]) => id)]);
	return {
		guild_id: incident.guildId,
		id: incident.id,
		user_id: incident.userId,
		rule: JSON.stringify(incident.rule),
		detected_at: incident.detectedAt,
		until: incident.until,
		state,
		timeout: typeof timeout === "object" ? JSON.stringify(timeout.failure) : timeout === "done" ? "done" : "asked",
		messages: JSON.stringify(Object.fromEntries(ids)),
		case_number: incident.caseNumber ?? null,
		log_channel_id: incident.entry?.channelId ?? null,
		log_message_id: incident.entry?.messageId ?? null,
	};
}

/** Returns the incident of a database row. All its messages are deleted again, which is harmless. */
export function fromRow(row: SpamIncidentRow): Incident {
	const { timeout, log_channel_id, log_message_id } = row;
	const byChannel = JSON.parse(row.messages) as Record<string, string[]>;
	return {
		guildId: row.guild_id,
		id: row.id,
		userId: row.user_id,
		rule: JSON.parse(row.rule),
		detectedAt: row.detected_at,
		until: row.until,
		...untouched(),
		messages: new Map(
			Object.entries(byChannel).flatMap(([channelId, ids]) => ids.map((id) => [id, channelId] as const)),
		),
		timeout: timeout === "asked" ? undefined : timeout === "done" ? "done" : { failure: JSON.parse(timeout) },
		caseNumber: row.case_number ?? undefined,
		entry: log_channel_id && log_message_id ? { channelId: log_channel_id, messageId: log_message_id } : undefined,
	};
}
