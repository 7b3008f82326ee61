// Embeds on their way to channels where people can see what was done. They follow at their own pace, within Discord's rate
// limits, and never hold up what they tell of.

import { type EmbedBuilder, embedLength } from "discord.js";
import type { Log } from "../../lib/log.ts";
import type { Connection } from "../discord/connection/connection.ts";
import { nobody } from "./reply.ts";

/** Discord's limits for one message: embeds, and characters in all of them. */
const maxEmbeds = 10;
const maxEmbedsLength = 6_000;
/** How many may wait. */
const maxWaiting = 1_000;

export interface EmbedQueueOptions {
	connection: Connection;
	log: Log;
	/** What they tell of: where many were not told, and in the log. */
	what: { many: string; failed: string };
}

export interface EmbedQueue {
	/** Never waits, never throws; the embed is made when its turn has come. */
	push(channelId: string, embed: () => EmbedBuilder): void;
	/** Resolves when what waits has been sent, or has failed. */
	settled(): Promise<void>;
}

interface Waiting {
	channelId: string;
	embed(): EmbedBuilder;
}

export function createEmbedQueue({
	connection,
	log,
	what,
}: EmbedQueueOptions): EmbedQueue {
	const waiting: Waiting[] = [];
	let dropped = 0;
	let sending: Promise<void> | undefined;

	/** Until nothing waits. Never rejects. */
	async function send(): Promise<void> {
		for (let next = waiting[0]; next; next = waiting[0]) {
			const { channelId } = next;
			const embeds = takeEmbeds(waiting, channelId);
			const missed = dropped;
			dropped = 0;
			try {
				const channel = connection.discord.channels.cache.get(channelId);
				if (!channel?.isSendable())
					throw new Error("the bot knows no channel of that id to send to");
				await channel.send({
					embeds,
					...(missed > 0 && {
						content: `${missed} more ${what.many} were not told.`,
					}),
					allowedMentions: nobody,
				});
			} catch (error) {
				log.warn(`could not tell of ${what.failed}`, {
					calls: embeds.length + missed,
					reason: String((error as Error).message),
				});
			}
		}
	}

	function begin(): void {
		sending ??= send().finally(() => {
			sending = undefined;
			// One that came in the moment in between.
			if (waiting.length > 0) begin();
		});
	}

	return {
		push(channelId, embed) {
			if (waiting.length >= maxWaiting) {
				dropped++;
				return;
			}
			waiting.push({ channelId, embed });
			begin();
		},
		async settled() {
			while (sending) await sending;
		},
	};
}

/** Takes as many for this channel, from the first on, as fit into one message. */
function takeEmbeds(waiting: Waiting[], channelId: string): EmbedBuilder[] {
	const embeds: EmbedBuilder[] = [];
	let length = 0;
	for (const next of waiting) {
		if (next.channelId !== channelId || embeds.length === maxEmbeds) break;
		const embed = next.embed();
		length += embedLength(embed.data);
		if (embeds.length > 0 && length > maxEmbedsLength) break;
		embeds.push(embed);
	}
	waiting.splice(0, embeds.length);
	return embeds;
}
