// The moderation log: embeds in the guild's log channel (`setlog`), or else in the operator's (`moderation.log_channel`),
// which also replaces the guild's channel while the bot cannot write there.

import { EmbedBuilder, type Guild } from "discord.js";
import type { Connection } from "../../discord/connection/connection.ts";
import { bitsIn, missingPermissions } from "../../discord/permissions.ts";
import { inlineText } from "../../discord/text.ts";
import { isPublic } from "../../discord/visible-channels.ts";
import type { Log } from "../../lib/log.ts";
import { listFirst } from "../../lib/text.ts";
import { createEmbedQueue } from "../messages/embed-queue.ts";
import type { Store } from "../store/store.ts";
import { saveLogChannel, selectLogChannel } from "../store/tables/guild-settings.ts";
import { StoreUnavailable } from "../store/unavailable.ts";

const maxFieldLength = 1_024;
const maxPending = 1_000;
const maxChannels = 20;
/** Permissions that the bot needs in a channel to write the moderation log there. */
export const logPermissions = ["ViewChannel", "SendMessages", "EmbedLinks"] as const;

export interface LogEntry {
	title: string;
	isFailure?: boolean;
	moderatorId?: string;
	userId?: string;
	description?: string;
	/** Reason as the moderator wrote it; null if none was given. */
	reason?: string | null;
	/** When the ban ends, in epoch milliseconds; null for a permanent ban. */
	until?: number | null;
	/** The action and its outcome. */
	action?: string;
	/** What was changed, such as "role 123456789012345678". */
	detail?: string;
	/** Name of the MCP client through which the moderator acted. */
	client?: string;
	/** Text that says whether the person was told about the action by direct message. */
	told?: string;
	/** Ids of the channels that the action concerns. */
	channelIds?: readonly string[];
	caseNumber?: number;
	/** What only staff may read: the whole entry, or its reason. Left out of a channel that @everyone sees. */
	confidential?: "entry" | "reason" | undefined;
}

export type ModerationLog = ReturnType<typeof createModerationLog>;

export interface ModerationLogOptions {
	/** For guilds whose own log channel is missing or not writable; undefined if the operator configured none. */
	defaultChannel: string | undefined;
	connection: Connection;
	store: Pick<Store, "sql">;
	log: Log;
}

export function createModerationLog({ defaultChannel, connection, store: { sql }, log }: ModerationLogOptions) {
	const queue = createEmbedQueue({ connection, log, noun: "action(s)", setting: "moderation.log_channel" });
	const configured = new Map<string, string | null | undefined>();
	const replaced = new Map<string, string>();
	const pending = new Set<Promise<void>>();

	function guildOf(guildId: string): Guild | undefined {
		return connection.guilds.find(({ id }) => id === guildId);
	}

	function defaultIn(guildId: string): string | undefined {
		return guildOf(guildId)?.channels.cache.get(defaultChannel ?? "")?.id;
	}

	function writableChannel(channelId: string, guildId: string): string {
		const guild = guildOf(guildId);
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
			const queued = (async () => {
				const id = channelId ?? (await channelOrDefault(guildId));
				if (id === undefined) return;
				const channel = guildOf(guildId)?.channels.cache.get(id);
				const isOpen = channel !== undefined && isPublic(channel);
				if (isOpen && entry.confidential === "entry") return;
				queue.push(id, () => createEmbed(entry, at, isOpen));
			})().finally(() => pending.delete(queued));
			pending.add(queued);
		},
		async settled() {
			await Promise.all(pending);
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

function createEmbed(entry: LogEntry, at: Date, isOpen: boolean): EmbedBuilder {
	const { moderatorId, userId, description, reason, until } = entry;
	const { action, detail, client, told, channelIds = [], caseNumber } = entry;
	const embed = new EmbedBuilder()
		.setTitle(entry.title)
		.setColor(entry.isFailure ? 0xc62828 : 0x2e7d32)
		.setTimestamp(at);
	const add = (name: string, value: string | undefined) => {
		if (value) embed.addFields({ name, value, inline: value.length < 60 });
	};
	add("Moderator", moderatorId && formatUser(moderatorId));
	add("User", userId && formatUser(userId));
	add("Action", action && inlineText(action, maxFieldLength));
	add("Detail", detail && formatDetail(detail));
	add("Channels", formatChannels(channelIds));
	if (until === null) add("Duration", "Permanent");
	else if (until !== undefined) add("Until", formatEnd(until));
	if (isOpen && entry.confidential !== undefined)
		add("Reason", reason ? "left out, because everyone sees this" : undefined);
	else add("Reason", reason ? inlineText(reason, maxFieldLength) : undefined);
	add("Client", client && inlineText(client, maxFieldLength));
	add("Direct message", told);
	add("Case", caseNumber === undefined ? undefined : String(caseNumber));
	if (description) embed.setDescription(description);
	return embed;
}

function formatDetail(detail: string): string {
	return inlineText(detail, maxFieldLength).replace(/^role (\d{17,20})\b/, "<@&$1> (ID: $1)");
}

function formatChannels(ids: readonly string[]): string {
	return listFirst(
		ids.map((id) => `<#${id}>`),
		maxChannels,
		", and ",
	);
}

/** Formats a user as a mention and an id. The id is necessary because Discord may show a mention without a name. */
export function formatUser(id: string): string {
	return `<@${id}> (ID: ${id})`;
}

/** From epoch milliseconds to a Discord timestamp; null becomes "permanently". */
export function formatEnd(until: number | null): string {
	if (until === null) return "permanently";
	const seconds = Math.floor(until / 1000);
	return `<t:${seconds}:f> (<t:${seconds}:R>)`;
}
