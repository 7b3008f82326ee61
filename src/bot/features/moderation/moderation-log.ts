// Where people can see what moderators do with the bot's commands, and what comes of it by itself: an embed in a channel
// that the guild has chosen, or else the operator; in the operator's, too, while it cannot be told in the guild's.

import { EmbedBuilder, type Guild } from "discord.js";
import type { Log } from "../../../lib/log.ts";
import type { Connection } from "../../discord/connection/connection.ts";
import { bitsIn, missingPermissions } from "../../discord/permissions.ts";
import { shown } from "../../discord/text.ts";
import { createEmbedQueue } from "../../messages/embed-queue.ts";
import { StoreUnavailable } from "../../store/db-error.ts";
import {
	saveLogChannel,
	selectLogChannel,
} from "../../store/guild-settings.ts";
import type { Store } from "../../store/store.ts";

/** Discord's limit for the value of a field. */
const maxField = 1_024;
/** How many may wait for the store to say where they belong. */
const maxWaiting = 1_000;
/** What the bot needs in a channel to tell of moderation there. */
export const neededToLog = [
	"ViewChannel",
	"SendMessages",
	"EmbedLinks",
] as const;

export interface Note {
	title: string;
	/** Whether something went otherwise than it was meant. */
	isTrouble?: boolean;
	/** Ids: who asked, and who it is about. */
	by?: string;
	whom?: string;
	/** What else is to be said, in words of ours. */
	what?: string;
	/** As a moderator wrote it; null for nothing. */
	reason?: string | null;
	/** Epoch milliseconds; null for no end. */
	until?: number | null;
}

export interface ModerationLog {
	/**
	 * The id of the channel where a guild is told now, the operator's while it cannot be told in its own; undefined where
	 * nothing is logged. Rejects with StoreUnavailable.
	 */
	channelOf(guildId: string): Promise<string | undefined>;
	/** From now on it is this one, or null for none. Rejects with StoreUnavailable. */
	choose(guildId: string, channelId: string | null): Promise<void>;
	/** Never waits, never throws. Where it goes is the guild's to say, unless this says it. */
	tell(guildId: string, note: Note, channelId?: string): void;
	/** Resolves when what waits has been sent, or has failed. */
	settled(): Promise<void>;
}

export interface ModerationLogOptions {
	/** The operator's choice: the id of a channel. */
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
}: ModerationLogOptions): ModerationLog {
	const queue = createEmbedQueue({
		...{ connection, log },
		noun: "action(s)",
		setting: "moderation.log_channel",
	});
	/** What guilds have chosen, as far as it was looked up. */
	const chosen = new Map<string, string | null | undefined>();
	/** The choices that the operator's channel stands in for, by guild. */
	const replaced = new Map<string, string>();
	const finding = new Set<Promise<void>>();

	function guildOf(guildId: string): Guild | undefined {
		return connection.guilds.find(({ id }) => id === guildId);
	}

	function byDefault(guildId: string): string | undefined {
		return guildOf(guildId)?.channels.cache.get(defaultChannel ?? "")?.id;
	}

	/** The guild's choice, or the operator's channel while the bot cannot tell in the one and can in the other. */
	function inPlaceOf(choice: string, guildId: string): string {
		const guild = guildOf(guildId);
		if (canTell(guild, choice) || !canTell(guild, defaultChannel)) {
			replaced.delete(guildId);
			return choice;
		}
		// It is so for every entry, and said once.
		if (replaced.get(guildId) !== choice)
			log.warn(
				"moderation is logged in moderation.log_channel: the channel that the guild chose is gone, or the bot may not write there",
				{ guild: guildId, channel: choice },
			);
		replaced.set(guildId, choice);
		return defaultChannel;
	}

	async function channelOf(guildId: string): Promise<string | undefined> {
		if (!chosen.has(guildId))
			chosen.set(guildId, await selectLogChannel(sql, guildId));
		const choice = chosen.get(guildId);
		if (choice === undefined) return byDefault(guildId);
		return choice === null ? undefined : inPlaceOf(choice, guildId);
	}

	async function find(guildId: string): Promise<string | undefined> {
		try {
			return await channelOf(guildId);
		} catch (error) {
			if (!(error instanceof StoreUnavailable))
				log.error("could not look up where moderation is logged", { error });
			// Better where the operator wants it than nowhere.
			return byDefault(guildId);
		}
	}

	return {
		channelOf,
		async choose(guildId, channelId) {
			// Whatever comes of it, it is looked up again.
			chosen.delete(guildId);
			await saveLogChannel(sql, guildId, channelId);
			chosen.delete(guildId);
		},
		tell(guildId, note, channelId) {
			if (finding.size >= maxWaiting) {
				log.warn("could not tell of moderation: too much waits");
				return;
			}
			const at = new Date();
			const found = (async () => {
				const id = channelId ?? (await find(guildId));
				if (id !== undefined) queue.push(id, () => embedOf(note, at));
			})().finally(() => finding.delete(found));
			finding.add(found);
		},
		async settled() {
			await Promise.all(finding);
			await queue.settled();
		},
	};
}

/** Whether the bot may write embeds in a channel of a guild. */
function canTell(
	guild: Guild | undefined,
	channelId: string | undefined,
): channelId is string {
	const channel = guild?.channels.cache.get(channelId ?? "");
	// Discord tells of the bot as a member a moment after it tells of the guild: until then nothing is known.
	if (!guild?.members.me || !channel) return false;
	const needed = bitsIn(channel, neededToLog);
	return missingPermissions(guild, channel, needed) === 0n;
}

function embedOf(note: Note, at: Date): EmbedBuilder {
	const { title, isTrouble, by, whom, what, reason, until } = note;
	const embed = new EmbedBuilder()
		.setTitle(title)
		.setColor(isTrouble ? 0xc62828 : 0x2e7d32)
		.setTimestamp(at);
	const add = (name: string, value: string | undefined) => {
		if (value) embed.addFields({ name, value, inline: value.length < 60 });
	};
	add("Who", by && named(by));
	add("Whom", whom && named(whom));
	add("Until", until === undefined ? undefined : untilText(until));
	add("Why", reason ? shown(reason, maxField) : undefined);
	if (what) embed.setDescription(what);
	return embed;
}

/** A person, as Discord's clients show one: by name, and by id where they know none. */
export function named(id: string): string {
	return `<@${id}> (ID: ${id})`;
}

/** An end, as Discord's clients show it in their own time zone. */
export function untilText(until: number | null): string {
	if (until === null) return "without an end";
	const seconds = Math.floor(until / 1000);
	return `<t:${seconds}:f> (<t:${seconds}:R>)`;
}
