// The message log: an entry for each message that is deleted or edited, with its text and who deleted it, in the channel of the
// setting `log.messages`. Also remembers messages as evidence for entries of the moderation log, with `log.evidence`.

import { AuditLogEvent, type Channel, type Client, Events, type Message } from "discord.js";
import { canReadAuditLog } from "../../../discord/audit-log.ts";
import type { Log } from "../../../lib/log.ts";
import { LruMap } from "../../../lib/lru-map.ts";
import { bytesAtMost } from "../../../lib/program/listen.ts";
import { said } from "../../../texts/texts.ts";
import { Limiter } from "../../commands/cooldown.ts";
import type { Feature, FeatureOptions } from "../../commands/feature.ts";
import { createCdnReader, isAtCdn } from "../cdn-files.ts";
import { Delayed } from "../delayed.ts";
import { createGuildLog, type EvidenceOf, type GuildLog } from "../moderation-log.ts";
import { copyMessage } from "../reports/message-copy.ts";
import { authorOf, editedText } from "./copies.ts";
import type { RecentFile, RecentMessage, RecentMessages } from "./recent-messages.ts";

const expiryMs = 600_000;
/** An entry waits for Discord's audit log, which names who deleted a message. */
const auditMs = 1_000;
const maxDeleters = 1_000;
const maxOfBanned = 20;

interface MessageLogOptions extends Pick<FeatureOptions, "settings" | "connection" | "log"> {
	cdn: string;
	recent: RecentMessages;
}

/** In all guilds that have it on. */
export class MessageLog implements Feature {
	readonly #log: GuildLog;
	readonly #saveImages: ReturnType<typeof createSavedImages>;
	readonly #deleters = new LruMap<string, { executorId: string; at: number } | undefined>(maxDeleters);
	/** Entries that wait for the audit log. */
	readonly #waiting = new Delayed();
	/** Images that are being saved, by message. */
	readonly #saving = new Map<string, Promise<void>>();
	readonly #closing = new AbortController();
	#expiry: Timer | undefined;

	constructor(private readonly options: MessageLogOptions) {
		this.#log = createGuildLog(options, "log.messages");
		this.#saveImages = createSavedImages({ ...options, closing: this.#closing.signal });
	}

	#isKept(guildId: string, { author, channel }: Message): boolean {
		const values = this.options.settings.of(guildId);
		const { "log.messages": logged, "log.evidence": evidence, "log.ignored": ignored } = values;
		if ((!logged && !evidence) || (values["log.without_bots"] && author.bot)) return false;
		return !placesOf(channel).some((id) => id === logged || ignored.includes(id));
	}

	#keep(guildId: string, message: Message): void {
		if (!this.#isKept(guildId, message)) return;
		const { recent, settings } = this.options;
		const copy = messageOf(message);
		recent.set(guildId, copy);
		const { "log.images": chosen } = settings.of(guildId);
		if (!placesOf(message.channel).some((id) => chosen.includes(id))) return;
		const saving = this.#saveImages(guildId, copy.files).then((files) => {
			this.#saving.delete(message.id);
			// It may have been edited meanwhile.
			const latest = recent.get(guildId, message.id);
			if (latest && files.some(({ content }) => content)) recent.set(guildId, { ...latest, files });
		});
		this.#saving.set(message.id, saving);
	}

	#onEdited(guildId: string, message: Message): void {
		const { recent } = this.options;
		const before = recent.get(guildId, message.id);
		if (!before || !this.#isKept(guildId, message)) return;
		const after = messageOf(message);
		// Discord also sends this event when it adds a link preview.
		if (after.text === before.text) return;
		recent.set(guildId, { ...before, text: after.text });
		this.#log.add(guildId, {
			title: said("messages.edited.title"),
			author: authorOf(before),
			channelIds: [before.channelId],
			description: [message.url, ...editedText(before.text, after.text)],
			confidential: "entry",
		});
	}

	/** Once Discord's audit log has named who deleted it. Without an entry there, its author did, or a bot. */
	#onDeleted(guildId: string, channelId: string, ids: readonly string[]): void {
		const { settings, recent, connection } = this.options;
		const { "log.messages": logged, "log.ignored": ignored } = settings.of(guildId);
		const guild = connection.guild(guildId);
		const channel = guild?.channels.cache.get(channelId);
		const places = channel ? placesOf(channel) : [channelId];
		if (logged === undefined || places.some((id) => id === logged || ignored.includes(id))) return;
		const copies = ids.flatMap((id) => recent.get(guildId, id) ?? []);
		if (copies.length === 0 && ids.length === 1) return;
		this.#waiting.add(guild && canReadAuditLog(guild) ? auditMs : 0, async () => {
			const first = ids.length === 1 ? copies[0] : undefined;
			const key = keyOf(guildId, channelId, first?.authorId);
			const deleter = this.#deleters.get(key);
			const isRecent = deleter !== undefined && performance.now() - deleter.at < 3 * auditMs;
			// Each entry of the audit log is about one deletion: Discord only counts further ones in it.
			this.#deleters.set(key, undefined);
			await Promise.all(ids.map((id) => this.#saving.get(id)));
			const unknown = ids.length - copies.length;
			this.#log.add(guildId, {
				title: said("messages.deleted.title", { count: ids.length }),
				gravity: "warning",
				...(first && { author: authorOf(first) }),
				...(isRecent && { moderatorId: deleter.executorId }),
				channelIds: [channelId],
				...(unknown > 0 && { description: said("messages.unknown", { count: unknown }) }),
				// With the images that have arrived meanwhile.
				copies: copies.map((copy) => recent.get(guildId, copy.id) ?? copy),
				confidential: "entry",
			});
		});
	}

	attach(client: Client): void {
		client.on(Events.MessageCreate, (message) => {
			if (message.guildId !== null && !message.system) this.#keep(message.guildId, message);
		});
		client.on(Events.MessageUpdate, (_, message) => {
			if (message.guildId !== null && !message.partial) this.#onEdited(message.guildId, message);
		});
		client.on(Events.MessageDelete, ({ id, guildId, channelId }) => {
			if (guildId !== null) this.#onDeleted(guildId, channelId, [id]);
		});
		client.on(Events.MessageBulkDelete, (messages, { guild, id }) => {
			this.#onDeleted(guild.id, id, [...messages.keys()]);
		});
		client.on(Events.GuildAuditLogEntryCreate, ({ action, executorId, targetId, extra }, { id }) => {
			const isOne = action === AuditLogEvent.MessageDelete;
			if (executorId === null || targetId === null || !(isOne || action === AuditLogEvent.MessageBulkDelete)) return;
			const { channel } = extra as { channel: { id: string } };
			const key = isOne ? keyOf(id, channel.id, targetId) : keyOf(id, targetId, undefined);
			this.#deleters.set(key, { executorId, at: performance.now() });
		});
	}

	start(): void {
		const { settings, recent } = this.options;
		this.#expiry = setInterval(() => recent.expire(), expiryMs);
		settings.onChange((guildId) => {
			const { "log.messages": logged, "log.evidence": evidence } = settings.of(guildId);
			if (!logged && !evidence) recent.forget(guildId);
		});
	}

	async close(): Promise<void> {
		clearInterval(this.#expiry);
		this.#closing.abort();
		await this.#waiting.close();
		await this.#log.settled();
	}
}

/** Discord's entries name the channel and, of a single message, its author. */
function keyOf(guildId: string, channelId: string, authorId: string | undefined): string {
	return `${guildId} ${channelId} ${authorId ?? ""}`;
}

/** The channel, and what it is in: a thread's channel, a channel's category. */
function placesOf(channel: Channel): string[] {
	if (channel.isDMBased()) return [channel.id];
	return [channel.id, ...[channel.parent, channel.parent?.parent].flatMap((parent) => parent?.id ?? [])];
}

function messageOf(message: Message): RecentMessage {
	const { id, channelId, author, createdTimestamp, attachments, embeds, messageSnapshots, stickers, poll } = message;
	// Of a response to a command, it is the application's id.
	const isWebhooks = message.webhookId !== null && message.webhookId !== message.applicationId;
	// What people do not write themselves, such as link previews, is no text of theirs.
	const isPlain =
		(embeds.length === 0 || !(author.bot || message.webhookId)) &&
		messageSnapshots.size === 0 &&
		stickers.size === 0 &&
		!poll;
	return {
		id,
		channelId,
		authorId: author.id,
		...(isWebhooks && { webhook: author.username }),
		at: createdTimestamp,
		text: isPlain ? message.content : copyMessage(message).text,
		files: attachments.map(({ name, size, contentType, url }) => ({ name, size, type: contentType ?? "", url })),
	};
}

/** What a case's entry shows: its messages, or the latest of somebody who is banned, since those may be deleted with it. */
export function evidenceFor(
	{ recent, settings }: Pick<MessageLogOptions, "recent" | "settings">,
	{ guildId, action, userId, messageIds }: EvidenceOf,
): RecentMessage[] {
	if (!settings.of(guildId)["log.evidence"]) return [];
	if (messageIds.length > 0) return messageIds.flatMap((id) => recent.get(guildId, id) ?? []);
	return userId !== undefined && ["ban", "temp_ban"].includes(action) ? recent.by(guildId, userId, maxOfBanned) : [];
}

const maxImageBytes = 8_000_000;
const rate = { max: 60, windowMs: 60_000 };
const limits = { max: 3, maxWaiting: 60, timeoutMs: 10_000 };

/** Saves images on arrival, because Discord deletes a message's files with it. Files elsewhere than at `cdn` are not read. */
function createSavedImages(options: { cdn: string; log: Log; closing: AbortSignal }) {
	const recent = new Limiter(rate);
	const read = createCdnReader({ ...options, ...limits });

	/** The files, with the content of images, together of at most 8 MB. Those beyond 60 of a guild in a minute have none. */
	return (guildId: string, files: readonly RecentFile[]): Promise<RecentFile[]> => {
		let bytes = 0;
		return Promise.all(
			files.map(async (file) => {
				if (!file.type.startsWith("image/")) return file;
				bytes += file.size;
				if (bytes > maxImageBytes || !isAtCdn(options.cdn, file.url) || !recent.accepts(guildId)) return file;
				const content = await read(file.url, (body) => bytesAtMost(body, maxImageBytes));
				return content === undefined || content === "too long" ? file : { ...file, content };
			}),
		);
	};
}
