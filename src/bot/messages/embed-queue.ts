// A queue of embeds for log channels. Embeds are sent in the background, within Discord's rate limits, up to ten in a
// message, each guild's in order. When too many wait, the newest of the guild with the most are dropped and counted.

import { AsyncLocalStorage } from "node:async_hooks";
import { type AttachmentBuilder, ButtonStyle, DiscordAPIError, EmbedBuilder, embedLength } from "discord.js";
import type { Connection } from "../../discord/connection/connection.ts";
import { inBackground } from "../../discord/rest/rest.ts";
import type { Log } from "../../lib/log.ts";
import { inBatches } from "../../lib/store/statement.ts";
import { Pending } from "../../lib/wait.ts";
import { type Say, sayIn } from "../../texts/texts.ts";
import { buttonRow } from "./buttons.ts";
import { noMentions } from "./split-message.ts";

const maxEmbeds = 10;
const buttonsPerRow = 5;
const maxEmbedsLength = 6_000;
/** Of all guilds. */
const maxQueued = 1_000;

interface EmbedQueueOptions {
	connection: Connection;
	log: Log;
	/** Name of the setting of the log channel, for the bot's log if it cannot be written to. */
	setting: string;
	/** Nothing is sent before. */
	ready?(): Promise<void>;
}

interface Entry {
	/** Undefined: nothing is sent any more. Called when it is sent, as the others are. */
	channelId(): string | undefined;
	embed(): EmbedBuilder | undefined;
	/** The custom_id of its button. */
	details?: string | undefined;
	/** An entry with files is a message of its own. */
	files?: () => readonly AttachmentBuilder[];
	/** Sent in place of an entry that Discord refuses, for example because of a link in it or the lack of Attach Files. */
	plain?: (() => EmbedBuilder) | undefined;
	sent?: ((channelId: string, messageId: string) => void) | undefined;
}

/** Of a guild. */
interface Lane {
	entries: Entry[];
	dropped: number;
	isSending?: boolean;
}

export function createEmbedQueue({ connection, log, setting, ready }: EmbedQueueOptions) {
	const lanes = new Map<string, Lane>();
	const sending = new Pending();
	// Not in the context of the tool call that pushes an embed, whose deadline and rights do not apply to the queue.
	const inOwnContext = AsyncLocalStorage.snapshot();

	async function drain(lane: Lane): Promise<void> {
		await ready?.();
		for (let next = lane.entries[0]; next; next = lane.entries[0]) {
			const channelId = next.channelId();
			const taken = takeEntries(lane.entries, channelId);
			if (channelId === undefined || taken.length === 0) continue;
			try {
				await send(lane, channelId, taken);
			} catch (error) {
				const isRefused = error instanceof DiscordAPIError && error.status < 500;
				if (isRefused && taken.length > 1) {
					for (const one of taken)
						await send(lane, channelId, [one]).catch((error) => sendPlain(lane, channelId, one, error));
				} else if (isRefused && taken[0]) await sendPlain(lane, channelId, taken[0], error);
				else warn(channelId, taken.length, error);
			}
		}
	}

	function warn(channel: string, entries: number, error: unknown): void {
		const reason = String((error as Error).message);
		log.warn("could not send log entries to a Discord channel", { channel, setting, entries, reason });
	}

	async function sendPlain(lane: Lane, channelId: string, { plain, ...one }: Taken, error: unknown): Promise<void> {
		try {
			if (!plain) throw error;
			await send(lane, channelId, [{ ...one, embed: plain(), files: [] }]);
		} catch (error) {
			warn(channelId, 1, error);
		}
	}

	async function send(lane: Lane, channelId: string, given: readonly Taken[]): Promise<void> {
		const channel = connection.discord.channels.cache.get(channelId);
		if (!channel?.isSendable()) throw new Error(`the channel ${channelId} does not exist, or cannot hold messages`);
		const say = sayIn("guild" in channel ? channel.guild.preferredLocale : undefined);
		const omitted = lane.dropped;
		const content = say("log.left", { count: omitted });
		// Numbered only in this message.
		const taken = given.map((one) => ({ ...one, embed: EmbedBuilder.from(one.embed) }));
		const components = detailButtons(taken, say);
		const [embeds, files] = [taken.map(({ embed }) => embed), taken.flatMap((one) => one.files)];
		const message = { embeds, components, files, ...(omitted > 0 && { content }), allowedMentions: noMentions };
		const posted = await inBackground(async () => channel.send(message));
		lane.dropped -= omitted;
		for (const { sent } of taken) sent?.(channelId, posted.id);
	}

	function start(guildId: string, lane: Lane): void {
		if (lane.isSending) return;
		lane.isSending = true;
		const sent = inOwnContext(drain, lane).finally(() => {
			lane.isSending = false;
			// An embed may have been pushed after the last look at the queue.
			if (lane.entries.length > 0) start(guildId, lane);
			else if (lane.dropped === 0) lanes.delete(guildId);
		});
		void sending.add(sent);
	}

	return {
		/** Returns at once and never throws. */
		push(guildId: string, entry: Entry) {
			const lane: Lane = lanes.get(guildId) ?? { entries: [], dropped: 0 };
			lanes.set(guildId, lane);
			lane.entries.push(entry);
			const all = [...lanes.values()];
			if (all.reduce((sum, { entries }) => sum + entries.length, 0) > maxQueued) {
				const longest = all.reduce((most, one) => (one.entries.length > most.entries.length ? one : most));
				longest.entries.pop();
				longest.dropped += 1;
			}
			start(guildId, lane);
		},
		/** Also when embeds could not be sent. */
		settled: () => sending.settled(),
	};
}

type Taken = Pick<Entry, "details" | "sent" | "plain"> & { embed: EmbedBuilder; files: readonly AttachmentBuilder[] };

function takeEntries(queue: Entry[], channelId: string | undefined): Taken[] {
	const taken: Taken[] = [];
	let length = 0;
	let count = 0;
	for (const next of queue) {
		if (next.channelId() !== channelId || taken.length === maxEmbeds) break;
		const embed = channelId === undefined ? undefined : next.embed();
		const files = (embed && next.files?.()) ?? [];
		length += embed ? embedLength(embed.data) : 0;
		if (taken.length > 0 && (files.length > 0 || length > maxEmbedsLength)) break;
		if (embed) taken.push({ embed, files, details: next.details, sent: next.sent, plain: next.plain });
		count += 1;
		if (files.length > 0) break;
	}
	queue.splice(0, count);
	return taken;
}

/** Also numbers the embeds with a button, if there are several. */
function detailButtons(taken: readonly Taken[], say: Say) {
	const buttons = taken.flatMap(({ embed, details }, index) => {
		if (details === undefined) return [];
		const number = taken.length > 1 ? `${index + 1}` : "";
		if (number) embed.setDescription(`${number}. ${embed.data.description ?? ""}`);
		const label = `${say("approval.details.button")} ${number}`.trimEnd();
		return { id: details, label, style: ButtonStyle.Secondary as const };
	});
	return Array.from(inBatches(buttons, buttonsPerRow), buttonRow);
}
