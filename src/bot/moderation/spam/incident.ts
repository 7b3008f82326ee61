// A spam incident: the spam messages of one person, with the outcome of the timeout and of each deletion.

import { render, type Said, said } from "../../../texts/texts.ts";
import type { Told } from "../../store/tables/cases.ts";
import type { SpamIncidentRow } from "../../store/tables/spam-incidents.ts";
import type { RecentMessage } from "../message-log/recent-messages.ts";
import type { RequestEnd } from "./persistent-request.ts";

/** Further messages are not deleted. */
export const maxMessages = 2_000;

export interface Incident {
	readonly guildId: string;
	readonly id: string;
	readonly userId: string;
	/** Why the messages are spam. Contains nothing that people wrote. */
	rule: Said;
	readonly detectedAt: number;
	until: number;
	/** Only the log says what would be done. */
	readonly isDry: boolean;
	/** Empty after a restart. */
	readonly hashes: Set<string>;
	/** Channel ids by message id. */
	readonly messages: Map<string, string>;
	readonly begun: Set<string>;
	/** By message id. */
	readonly ends: Map<string, RequestEnd>;
	timeout: RequestEnd | undefined;
	/** Discord's event for the timeout may arrive after the response. */
	isTimeoutSeen: boolean;
	/** The timeout is sent first. */
	mayDelete: boolean;
	/** The button of a moderator has updated the log entry, so it is not written again. */
	isReleased: boolean;
	state: SpamIncidentRow["state"];
	told: Told | undefined;
	caseNumber: number | undefined;
	/** In the moderation log. */
	entry: { channelId: string; messageId: string } | undefined;
	/** What Discord's AutoMod did instead of the bot; then `messages` are those that it left. */
	automod?: { ruleId: string; blocked: number; isBarred: boolean; copies: RecentMessage[]; timer: Timer | undefined };
}

type Found = Pick<Incident, "guildId" | "id" | "userId" | "rule" | "detectedAt" | "until" | "isDry">;

export function newIncident(found: Found & Partial<Incident>): Incident {
	return {
		hashes: new Set(),
		messages: new Map(),
		begun: new Set(),
		ends: new Map(),
		timeout: undefined,
		isTimeoutSeen: false,
		mayDelete: false,
		isReleased: false,
		state: "asked",
		told: undefined,
		caseNumber: undefined,
		entry: undefined,
		...found,
	};
}

export function isSettled(incident: Incident): boolean {
	const { timeout, messages, ends } = incident;
	return timeout !== undefined && messages.size === ends.size;
}

/** One for each message that was not deleted. */
export function failuresOf({ ends }: Incident): Said[] {
	return [...ends.values()].flatMap((end) => (typeof end === "object" ? end.failure : []));
}

export function caseOf({ userId, messages, rule, detectedAt, id }: Incident, action: "spam" | "automod") {
	return {
		action,
		userId,
		messageIds: [...messages.keys()],
		channelIds: [...new Set(messages.values())],
		reason: render(action === "spam" ? said("spam.reason", { rule }) : rule, "en"),
		createdAt: detectedAt,
		source: `${action} ${id}`,
	};
}

export function toRow(incident: Incident): SpamIncidentRow {
	const { timeout, messages, state } = incident;
	return {
		guild_id: incident.guildId,
		id: incident.id,
		user_id: incident.userId,
		rule: JSON.stringify(incident.rule),
		detected_at: incident.detectedAt,
		until: incident.until,
		state,
		timeout: typeof timeout === "object" ? JSON.stringify(timeout.failure) : timeout === "done" ? "done" : "asked",
		messages: JSON.stringify([...messages]),
		case_number: incident.caseNumber ?? null,
		log_channel_id: incident.entry?.channelId ?? null,
		log_message_id: incident.entry?.messageId ?? null,
	};
}

/** All its messages are deleted again, which is harmless. */
export function fromRow(row: SpamIncidentRow): Incident {
	const { timeout, log_channel_id, log_message_id } = row;
	return newIncident({
		guildId: row.guild_id,
		id: row.id,
		userId: row.user_id,
		rule: JSON.parse(row.rule),
		detectedAt: row.detected_at,
		until: row.until,
		isDry: false,
		messages: new Map(JSON.parse(row.messages)),
		timeout: timeout === "asked" ? undefined : timeout === "done" ? "done" : { failure: JSON.parse(timeout) },
		caseNumber: row.case_number ?? undefined,
		entry: log_channel_id && log_message_id ? { channelId: log_channel_id, messageId: log_message_id } : undefined,
	});
}
