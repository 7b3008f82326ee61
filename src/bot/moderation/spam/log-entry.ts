// Entries about spam incidents in the moderation log, with buttons.

import { ActionRowBuilder, type APIMessage, ButtonBuilder, ButtonStyle, EmbedBuilder, Routes } from "discord.js";
import type { Connection } from "../../../discord/connection/connection.ts";
import type { Log } from "../../../lib/log.ts";
import { describeTold } from "../cases/case-text.ts";
import { formatEnd, formatUser } from "../moderation-log.ts";
import { failuresOf, type Incident } from "./incident.ts";
import { type PersistentOptions, persistently, type RequestEnd } from "./persistent-request.ts";

/** Prefix of the custom_id of the buttons in these entries. */
export const prefix = "spam";

const maxWaiting = 1_000;

export interface EntriesOptions extends PersistentOptions {
	connection: Connection;
	log: Log;
	/** Resolves with the id of the guild's moderation log channel; undefined if it has none. */
	channelOf(guildId: string): Promise<string | undefined>;
	isDry: boolean;
}

/** Creates a writer that posts and edits the log entries of incidents one after another. */
export function createEntries({ connection, log, channelOf, isDry, ...options }: EntriesOptions) {
	let last: Promise<unknown> = Promise.resolve();
	let waiting = 0;

	async function write(incident: Incident): Promise<RequestEnd> {
		const { entry, guildId, id } = incident;
		const channelId = entry?.channelId ?? (await channelOf(guildId));
		if (channelId === undefined) return "done";
		return persistently(
			async () => {
				const { rest } = connection.discord;
				const body = messageOf(incident, connection.user?.id, isDry);
				if (entry) {
					const path = Routes.channelMessage(channelId, entry.messageId);
					await rest.patch(path, { body });
					return;
				}
				// The nonce is the same after a restart, so Discord does not create a second entry.
				const posted = (await rest.post(Routes.channelMessages(channelId), {
					body: { ...body, nonce: id },
				})) as APIMessage;
				incident.entry = { channelId, messageId: posted.id };
			},
			[],
			options,
		);
	}

	return {
		/** Posts or updates the log entry of an incident. Never rejects. */
		async write(incident: Incident): Promise<void> {
			const { guildId: guild, userId: user } = incident;
			if (waiting >= maxWaiting) {
				log.warn("no moderation log entry about spam: too many entries wait", { guild, user });
				return;
			}
			waiting += 1;
			const written = last.then(() => write(incident));
			last = written.catch(() => {});
			try {
				const end = await written;
				if (typeof end === "object")
					log.warn("could not post a moderation log entry about spam", { guild, user, reason: end.failure });
			} catch (error) {
				log.warn("could not post a moderation log entry about spam", {
					guild,
					user,
					reason: String((error as Error).message),
				});
			} finally {
				waiting -= 1;
			}
		},
	};
}

function messageOf(incident: Incident, botId: string | undefined, isDry: boolean) {
	return {
		embeds: [embedOf(incident, botId, isDry).toJSON()],
		components: isDry ? [] : [buttonsOf(incident).toJSON()],
		allowed_mentions: { parse: [] },
	};
}

function embedOf(incident: Incident, botId: string | undefined, isDry: boolean): EmbedBuilder {
	const { userId, rule, caseNumber, timeout } = incident;
	const isFailure = typeof timeout === "object";
	const embed = new EmbedBuilder()
		.setTitle(isDry ? "Spam found (dry run)" : "Spam")
		.setColor(isFailure ? 0xc62828 : 0xef6c00)
		.setTimestamp(incident.detectedAt)
		.setDescription(describe(incident, isDry));
	const add = (name: string, value: string) => embed.addFields({ name, value, inline: value.length < 60 });
	if (botId !== undefined) add("Moderator", formatUser(botId));
	add("User", formatUser(userId));
	add("Reason", `Spam: ${rule}`);
	const told = describeTold(incident.told);
	if (told) add("Direct message", told);
	if (!isDry) add("Case", caseNumber === undefined ? "none: the bot's database was unavailable" : String(caseNumber));
	return embed;
}

function describe(incident: Incident, isDry: boolean): string {
	const { messages, timeout, until } = incident;
	const channels = new Set(messages.values()).size;
	if (isDry)
		return `The bot would time out this person and delete ${messages.size} message(s) in ${channels} channel(s). Nothing was done.`;
	const failures = failuresOf(incident);
	const deleted = messages.size - failures.length;
	return [
		typeof timeout === "object" ? `Not timed out: ${timeout.failure}.` : `Timed out until ${formatEnd(until)}.`,
		`Deleted ${deleted} message(s); found in ${channels} channel(s).`,
		...(failures.length > 0
			? [`${failures.length} message(s) not deleted: ${[...new Set(failures)].slice(0, 3).join("; ")}.`]
			: []),
		"Undo ends the timeout; deleted messages cannot be restored. Ban also deletes the messages of the last hour. It's fine ends the timeout, and the bot ignores this person's posts for 24 hours.",
	].join("\n");
}

function buttonsOf({ userId, id }: Incident) {
	const button = (name: string, label: string, style: ButtonStyle) =>
		new ButtonBuilder().setCustomId(`${prefix}:${name}:${userId}:${id}`).setLabel(label).setStyle(style);
	return new ActionRowBuilder<ButtonBuilder>().addComponents(
		button("undo", "Undo", ButtonStyle.Secondary),
		button("ban", "Ban", ButtonStyle.Danger),
		button("fine", "It's fine", ButtonStyle.Success),
	);
}
