// The moderation log: embeds in the guild's log channel (`setlog`), or else in the operator's (`moderation.log_channel`),
// which also replaces the guild's channel while the bot cannot write there.

import { EmbedBuilder, type Guild } from "discord.js";
import type { Connection } from "../../discord/connection/connection.ts";
import { bitsIn, missingPermissions } from "../../discord/permissions.ts";
import { inlineText, truncate } from "../../discord/text.ts";
import { isPublic } from "../../discord/visible-channels.ts";
import type { Log } from "../../lib/log.ts";
import { type Language, languageOf, render, type Said, said, type Text } from "../../texts/texts.ts";
import { Pending } from "../commands/feature.ts";
import { createEmbedQueue } from "../messages/embed-queue.ts";
import type { Store } from "../store/store.ts";
import { saveLogChannel, selectLogChannel } from "../store/tables/guild-settings.ts";
import { StoreUnavailable } from "../store/unavailable.ts";

const maxFieldLength = 1_024;
const maxDescriptionLength = 4_000;
const maxPending = 1_000;
const maxChannels = 20;
export const logPermissions = ["ViewChannel", "SendMessages", "EmbedLinks"] as const;

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
	moderatorId?: string;
	userId?: string;
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
}

export type ModerationLog = ReturnType<typeof createModerationLog>;

interface ModerationLogOptions {
	/** For guilds whose own log channel is missing or not writable; undefined if the operator configured none. */
	defaultChannel: string | undefined;
	connection: Connection;
	store: Pick<Store, "sql">;
	log: Log;
}

export function createModerationLog({ defaultChannel, connection, store: { sql }, log }: ModerationLogOptions) {
	const queue = createEmbedQueue({ connection, log, setting: "moderation.log_channel" });
	const configured = new Map<string, string | null | undefined>();
	const replaced = new Map<string, string>();
	const pending = new Pending();

	function defaultIn(guildId: string): string | undefined {
		return connection.guild(guildId)?.channels.cache.get(defaultChannel ?? "")?.id;
	}

	function writableChannel(channelId: string, guildId: string): string {
		const guild = connection.guild(guildId);
		if (canWrite(guild, channelId) || !canWrite(guild, defaultChannel)) {
			replaced.delete(guildId);
			return channelId;
		}
		// Logged once, not for every entry.
		if (replaced.get(guildId) !== channelId)
			log.warn(
				"cannot write to the guild's moderation log channel, using the channel of the setting moderation.log_channel instead",
				{ guild: guildId, channel: channelId },
			);
		replaced.set(guildId, channelId);
		return defaultChannel;
	}

	async function channelOf(guildId: string): Promise<string | undefined> {
		if (!configured.has(guildId)) configured.set(guildId, await selectLogChannel(sql, guildId));
		const channelId = configured.get(guildId);
		if (channelId === undefined) return defaultIn(guildId);
		return channelId === null ? undefined : writableChannel(channelId, guildId);
	}

	/** Never rejects: without the database, the operator's log channel if it is in the guild. */
	async function channelOrDefault(guildId: string): Promise<string | undefined> {
		try {
			return await channelOf(guildId);
		} catch (error) {
			if (!(error instanceof StoreUnavailable))
				log.error("could not read the guild's moderation log channel from the database", { guild: guildId, error });
			return defaultIn(guildId);
		}
	}

	return {
		channelOf,
		channelOrDefault,
		async channelsOf(guildId: string): Promise<string[]> {
			await channelOrDefault(guildId);
			return [configured.get(guildId), defaultIn(guildId)].filter((id) => typeof id === "string");
		},
		async setChannel(guildId: string, channelId: string | null) {
			// Also before the write: its outcome can be unknown.
			configured.delete(guildId);
			await saveLogChannel(sql, guildId, channelId);
			configured.delete(guildId);
		},
		/** Queues an entry for the guild's moderation log, or for the channel `channelId` if given. Never throws. */
		add(guildId: string, entry: LogEntry, channelId?: string) {
			if (pending.size >= maxPending) {
				log.warn("moderation log entry dropped: send queue full", { guild: guildId });
				return;
			}
			const at = new Date();
			const post = async () => {
				const id = channelId ?? (await channelOrDefault(guildId));
				if (id === undefined) return;
				const channel = connection.guild(guildId)?.channels.cache.get(id);
				const isOpen = channel !== undefined && isPublic(channel);
				if (isOpen && entry.confidential === "entry") return;
				queue.push(id, () =>
					createEmbed(entry, { at, isOpen, language: languageOf(connection.guild(guildId)?.preferredLocale) }),
				);
			};
			void pending.add(post());
		},
		async settled() {
			await pending.settled();
			await queue.settled();
		},
	};
}

function canWrite(guild: Guild | undefined, channelId: string | undefined): channelId is string {
	const channel = guild?.channels.cache.get(channelId ?? "");
	// The bot's own member can arrive after its guild. Until then its permissions are unknown.
	if (!guild?.members.me || !channel) return false;
	const needed = bitsIn(channel, logPermissions);
	return missingPermissions(guild, channel, needed) === 0n;
}

interface Look {
	at: Date;
	isOpen: boolean;
	language: Language;
}

function createEmbed(entry: LogEntry, { at, isOpen, language }: Look): EmbedBuilder {
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
	add(said("log.user.field"), userId && `<@${userId}>`);
	add(said("log.cause.field"), cause && escaped(cause));
	add(said("log.detail.field"), truncate(detail.map(inLanguage).join(", "), maxFieldLength));
	add(said("log.channels.field"), inLanguage(formatChannels(channelIds)));
	add(said("log.until.field"), until === undefined ? undefined : formatEnd(until));
	const isHidden = isOpen && entry.confidential !== undefined;
	add(said("log.reason.field"), reason ? (isHidden ? inLanguage(said("log.hidden")) : escaped(reason)) : undefined);
	add(said("log.client.field"), client && escaped(client));
	add(said("log.told.field"), told && inLanguage(told));
	add(said("log.case.field"), caseNumber === undefined ? undefined : String(caseNumber));
	const lines = [description].flat().map(inLanguage).join("\n");
	if (lines !== "") embed.setDescription(truncate(lines, maxDescriptionLength));
	return embed;
}

function formatChannels(ids: readonly string[]): Text {
	const channels = ids.slice(0, maxChannels).map((id) => `<#${id}>`);
	const count = ids.length - channels.length;
	return count > 0 ? said("log.channels", { channels: channels.join(", "), count }) : channels.join(", ");
}

export function formatEnd(until: number): string {
	const seconds = Math.floor(until / 1000);
	return `<t:${seconds}:f> (<t:${seconds}:R>)`;
}
