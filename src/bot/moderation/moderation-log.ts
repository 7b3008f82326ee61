// The moderation log: embeds in the channel of the guild's setting `moderation.log_channel`.

import { EmbedBuilder } from "discord.js";
import type { Connection } from "../../discord/connection/connection.ts";
import { inlineText, truncate } from "../../discord/text.ts";
import { isPublic } from "../../discord/visible-channels.ts";
import type { Log } from "../../lib/log.ts";
import { type Language, languageOf, render, type Said, said, sayIn, type Text } from "../../texts/texts.ts";
import { createEmbedQueue } from "../messages/embed-queue.ts";
import { at } from "../results/result.ts";
import type { GuildSettings } from "../settings/guild-settings.ts";
import type { ServerLog, SettingKey } from "../settings/keys.ts";
import { copiesOf } from "./message-log/copies.ts";
import type { RecentMessage } from "./message-log/recent-messages.ts";

const maxFieldLength = 1_024;
const maxDescriptionLength = 4_000;
const maxChannels = 20;
const key = "moderation.log_channel";

export type Gravity = "severe" | "warning" | "note" | "lifted";

const colours: Readonly<Record<Gravity, number>> = {
	severe: 0xc62828,
	warning: 0xef6c00,
	note: 0x546e7a,
	lifted: 0x2e7d32,
};

/** Rendered in the guild's language when it is sent. */
export interface LogEntry {
	title: Text;
	/** The colour; "note" by default. A failure has that of "severe". */
	gravity?: Gravity;
	isFailure?: boolean;
	moderatorId?: string | undefined;
	userId?: string;
	/** In Discord's Markdown, in place of `userId`. */
	author?: string;
	/** In lines, if several. */
	description?: Text | readonly Text[];
	/** Text as the moderator wrote it; null if none was given. */
	reason?: Text | null;
	until?: number;
	cause?: Text | undefined;
	/** In Discord's Markdown. */
	detail?: readonly Text[];
	client?: Text | undefined;
	told?: Said;
	channelIds?: readonly string[];
	caseNumber?: number | undefined;
	/** What only staff may read: the whole entry, or its reason. Left out of a channel that @everyone sees. */
	confidential?: "entry" | "reason" | undefined;
	/** Shown in full. Left out of a channel that @everyone sees. */
	copies?: readonly RecentMessage[];
	/** The case whose messages are shown as copies. */
	evidence?: EvidenceOf;
}

/** Of a case. */
export interface EvidenceOf {
	guildId: string;
	action: string;
	userId?: string | undefined;
	messageIds: readonly string[];
}

export interface Posted {
	channelId: string;
	messageId: string;
}

interface LogOptions {
	settings: GuildSettings;
	connection: Connection;
	log: Log;
	/** For an entry about a case. */
	onPosted?(guildId: string, caseNumber: number, posted: Posted): void;
}

/** A log of each guild, in the channel that its setting `key` names. */
export function createGuildLog({ settings, connection, log, onPosted }: LogOptions, key: ChannelKey) {
	const queue = createEmbedQueue({ connection, log, setting: key, ready: () => settings.loaded });
	const channelOf = (guildId: string) => settings.of(guildId)[key];

	/** Queues an entry for the guild's log, or for the channel `given` if any. Never throws. */
	function add(guildId: string, entry: LogEntry, given?: string): void {
		const at = new Date();
		const channelId = once(() => given ?? channelOf(guildId));
		const guild = () => connection.guild(guildId);
		// Decided when it is sent: the channel may have become public meanwhile.
		const isOpen = () => {
			const channel = guild()?.channels.cache.get(channelId() ?? "");
			return channel !== undefined && isPublic(channel);
		};
		const say = () => sayIn(guild()?.preferredLocale);
		// Entries about one deleted message name its author and channel themselves.
		const copies = once(() => copiesOf(guild(), entry.copies ?? [], say(), entry.evidence !== undefined));
		const { caseNumber, confidential } = entry;
		const look = (text: string) =>
			createEmbed(entry, { at, isOpen: isOpen(), language: languageOf(guild()?.preferredLocale), copies: text });
		queue.push(guildId, {
			channelId,
			embed() {
				if (isOpen()) return confidential === "entry" ? undefined : look("");
				return look(copies().text);
			},
			files: () => (isOpen() ? [] : copies().files),
			...(entry.copies && { plain: () => look(entry.copies?.length ? say()("report.copy.refused") : "") }),
			sent: (channelId, messageId) => {
				if (caseNumber !== undefined) onPosted?.(guildId, caseNumber, { channelId, messageId });
			},
		});
	}

	return { channelOf, add, settled: queue.settled };
}

function once<T>(make: () => T): () => T {
	let made: { value: T } | undefined;
	return () => {
		made ??= { value: make() };
		return made.value;
	};
}

type ChannelKey = Extract<SettingKey, "moderation.log_channel" | "log.messages" | `log.${ServerLog}`>;

export type GuildLog = ReturnType<typeof createGuildLog>;

export type ModerationLog = ReturnType<typeof createModerationLog>;

interface ModerationLogOptions extends LogOptions {
	settings: GuildSettings;
	/** Default: none. */
	evidenceFor?: (wanted: EvidenceOf) => readonly RecentMessage[];
}

export function createModerationLog(options: ModerationLogOptions) {
	const { settings, connection, evidenceFor = () => [] } = options;
	const guildLog = createGuildLog(options, key);
	const add = (guildId: string, entry: LogEntry, channelId?: string) => {
		const { evidence } = entry;
		guildLog.add(guildId, evidence ? { ...entry, copies: evidenceFor(evidence) } : entry, channelId);
	};
	return {
		...guildLog,
		evidenceFor,
		add,
		start() {
			settings.onChange((guildId, changed) => {
				const change = changed?.changes.find((one) => one.key === key);
				if (!changed || !change) return;
				const { before, after } = change;
				const entry: LogEntry = {
					title: said("log.set.title"),
					moderatorId: changed.author.userId ?? connection.user?.id,
					description: after === undefined ? said("log.off") : said("log.set", { channel: `<#${after}>` }),
				};
				// Also posted in the old log channel, so that its readers see the change.
				for (const id of [before, after]) if (typeof id === "string") add(guildId, entry, id);
			});
		},
	};
}

interface Look {
	at: Date;
	isOpen: boolean;
	language: Language;
	copies: string;
}

export function createEmbed(entry: LogEntry, { at, isOpen, language, copies }: Look): EmbedBuilder {
	const { moderatorId, userId, description = [], reason, until, cause } = entry;
	const { detail = [], client, told, channelIds = [], caseNumber } = entry;
	const inLanguage = (text: Text) => render(text, language);
	/** Text is by people or by Discord. */
	const escaped = (text: Text) => (typeof text === "string" ? inlineText(text, maxFieldLength) : inLanguage(text));
	const embed = new EmbedBuilder()
		.setTitle(inLanguage(entry.title))
		.setColor(colours[entry.isFailure ? "severe" : (entry.gravity ?? "note")])
		.setTimestamp(at);
	const add = (name: Said, value: string | undefined) => {
		if (value) embed.addFields({ name: inLanguage(name), value, inline: value.length < 60 });
	};
	add(said("log.moderator.field"), moderatorId && `<@${moderatorId}>`);
	add(said("log.user.field"), entry.author ?? (userId && `<@${userId}>`));
	add(said("log.cause.field"), cause && escaped(cause));
	add(said("log.detail.field"), truncate(detail.map(inLanguage).join(", "), maxFieldLength));
	add(said("log.channels.field"), inLanguage(formatChannels(channelIds)));
	add(said("log.until.field"), until === undefined ? undefined : formatEnd(until));
	const isHidden = isOpen && entry.confidential !== undefined;
	add(said("log.reason.field"), reason ? (isHidden ? inLanguage(said("log.hidden")) : escaped(reason)) : undefined);
	add(said("log.client.field"), client && escaped(client));
	add(said("log.told.field"), told && inLanguage(told));
	add(said("log.case.field"), caseNumber === undefined ? undefined : String(caseNumber));
	const lines = [...[description].flat().map(inLanguage), copies].filter(Boolean).join("\n");
	if (lines !== "") embed.setDescription(truncate(lines, maxDescriptionLength));
	return embed;
}

function formatChannels(ids: readonly string[]): Text {
	const channels = ids.slice(0, maxChannels).map((id) => `<#${id}>`);
	const count = ids.length - channels.length;
	return count > 0 ? said("log.channels", { channels: channels.join(", "), count }) : channels.join(", ");
}

export function formatEnd(until: number): string {
	return `${at(until)} (${at(until, "R")})`;
}
