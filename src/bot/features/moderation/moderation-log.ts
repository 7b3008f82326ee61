// The moderation log: embeds in the guild's log channel (`setlog`), or else in the operator's (`moderation.log_channel`),
// which also replaces the guild's channel while the bot cannot write there.

import { EmbedBuilder, type Guild } from "discord.js";
import type { Log } from "../../../lib/log.ts";
import type { Connection } from "../../discord/connection/connection.ts";
import { bitsIn, missingPermissions } from "../../discord/permissions.ts";
import { inlineText } from "../../discord/text.ts";
import { createEmbedQueue } from "../../messages/embed-queue.ts";
import { StoreUnavailable } from "../../store/database/db-error.ts";
import {
	saveLogChannel,
	selectLogChannel,
} from "../../store/guild-settings.ts";
import type { Store } from "../../store/store.ts";

/** Discord's limit for the value of a field. */
const maxFieldLength = 1_024;
/** Entries that may wait for their channel to be looked up. */
const maxPending = 1_000;
/** Permissions that the bot needs in a log channel. */
export const logPermissions = [
	"ViewChannel",
	"SendMessages",
	"EmbedLinks",
] as const;

export interface LogEntry {
	title: string;
	isFailure?: boolean;
	/** User ids of the moderator and of the person concerned. */
	moderatorId?: string;
	userId?: string;
	description?: string;
	/** As the moderator wrote it; null for none. */
	reason?: string | null;
	/** Epoch milliseconds; null for a permanent ban. */
	until?: number | null;
}

export type ModerationLog = ReturnType<typeof createModerationLog>;

export interface ModerationLogOptions {
	/** Id of the operator's channel. */
	defaultChannel: string | undefined;
	connection: Connection;
	store: Pick<Store, "sql">;
	log: Log;
}

export function createModerationLog({
	defaultChannel,
	connection,
	store: { sql },
	log,
}: ModerationLogOptions) {
	const queue = createEmbedQueue({
		connection,
		log,
		noun: "action(s)",
		setting: "moderation.log_channel",
	});
	/** Cache of the guilds' log channels; null for off, undefined for the default. */
	const configured = new Map<string, string | null | undefined>();
	/** By guild id: the guild's log channel, while the operator's replaces it. */
	const replaced = new Map<string, string>();
	const pending = new Set<Promise<void>>();

	function guildOf(guildId: string): Guild | undefined {
		return connection.guilds.find(({ id }) => id === guildId);
	}

	function defaultIn(guildId: string): string | undefined {
		return guildOf(guildId)?.channels.cache.get(defaultChannel ?? "")?.id;
	}

	/** The guild's channel, or the operator's while the bot can write only there. */
	function writableChannel(channelId: string, guildId: string): string {
		const guild = guildOf(guildId);
		if (canWrite(guild, channelId) || !canWrite(guild, defaultChannel)) {
			replaced.delete(guildId);
			return channelId;
		}
		// Logged once, not for every entry.
		if (replaced.get(guildId) !== channelId)
			log.warn(
				"moderation log falls back to moderation.log_channel: the bot cannot write to the guild's channel",
				{ guild: guildId, channel: channelId },
			);
		replaced.set(guildId, channelId);
		return defaultChannel;
	}

	/** The id of the channel in use; undefined when logging is off. Rejects with StoreUnavailable. */
	async function channelOf(guildId: string): Promise<string | undefined> {
		if (!configured.has(guildId))
			configured.set(guildId, await selectLogChannel(sql, guildId));
		const channelId = configured.get(guildId);
		if (channelId === undefined) return defaultIn(guildId);
		return channelId === null ? undefined : writableChannel(channelId, guildId);
	}

	async function channelOrDefault(guildId: string) {
		try {
			return await channelOf(guildId);
		} catch (error) {
			if (!(error instanceof StoreUnavailable))
				log.error("moderation log channel lookup failed", { error });
			return defaultIn(guildId);
		}
	}

	return {
		channelOf,
		/** Sets the guild's channel; null turns logging off. Rejects with StoreUnavailable. */
		async setChannel(guildId: string, channelId: string | null) {
			// Also before the write: its outcome can be unknown.
			configured.delete(guildId);
			await saveLogChannel(sql, guildId, channelId);
			configured.delete(guildId);
		},
		/** Queues an entry for the guild's channel, or for `channelId`. Never throws. */
		add(guildId: string, entry: LogEntry, channelId?: string) {
			if (pending.size >= maxPending) {
				log.warn("moderation log entry dropped: queue full");
				return;
			}
			const at = new Date();
			const queued = (async () => {
				const id = channelId ?? (await channelOrDefault(guildId));
				if (id !== undefined) queue.push(id, () => createEmbed(entry, at));
			})().finally(() => pending.delete(queued));
			pending.add(queued);
		},
		/** Resolves when every queued entry is sent or has failed. */
		async settled() {
			await Promise.all(pending);
			await queue.settled();
		},
	};
}

/** Whether the bot may send embeds to a channel of the guild. */
function canWrite(
	guild: Guild | undefined,
	channelId: string | undefined,
): channelId is string {
	const channel = guild?.channels.cache.get(channelId ?? "");
	// The bot's own member can arrive after its guild. Until then its permissions are unknown.
	if (!guild?.members.me || !channel) return false;
	const needed = bitsIn(channel, logPermissions);
	return missingPermissions(guild, channel, needed) === 0n;
}

function createEmbed(entry: LogEntry, at: Date): EmbedBuilder {
	const { moderatorId, userId, description, reason, until } = entry;
	const embed = new EmbedBuilder()
		.setTitle(entry.title)
		.setColor(entry.isFailure ? 0xc62828 : 0x2e7d32)
		.setTimestamp(at);
	const add = (name: string, value: string | undefined) => {
		if (value) embed.addFields({ name, value, inline: value.length < 60 });
	};
	add("Moderator", moderatorId && formatUser(moderatorId));
	add("User", userId && formatUser(userId));
	if (until === null) add("Duration", "Permanent");
	else if (until !== undefined) add("Until", formatEnd(until));
	add("Reason", reason ? inlineText(reason, maxFieldLength) : undefined);
	if (description) embed.setDescription(description);
	return embed;
}

/** A user as a mention and an id: clients show the id's mention by name only when they know the user. */
export function formatUser(id: string): string {
	return `<@${id}> (ID: ${id})`;
}

/** The end of a ban as a Discord timestamp, which clients show in their own time zone, or "permanently". */
export function formatEnd(until: number | null): string {
	if (until === null) return "permanently";
	const seconds = Math.floor(until / 1000);
	return `<t:${seconds}:f> (<t:${seconds}:R>)`;
}
