// Where people can see what is done through the tools: an embed in a channel for each call that changes something.
// It follows the calls at its own pace, within Discord's rate limits, and never holds one up.

import { EmbedBuilder, embedLength, escapeMarkdown } from "discord.js";
import type { Log } from "../lib/log.ts";
import type { Connection } from "./connection.ts";
import type { AuditedCall } from "./store/audit.ts";
import { oneLine } from "./text.ts";

/** Discord's limits for one message: embeds, and characters in all of them. */
const maxEmbeds = 10;
const maxEmbedsLength = 6_000;
/** How many calls may wait to be told of. */
const maxWaiting = 1_000;
/** How much of the arguments is shown. */
const maxArgumentsLength = 1_000;

const colours: Record<AuditedCall["outcome"], number> = {
	done: 0x2e7d32,
	failed: 0xc62828,
	refused: 0xc62828,
	error: 0xc62828,
};

export interface AuditChannelOptions {
	channelId: string;
	connection: Connection;
	log: Log;
}

export interface AuditChannel {
	/** Tells of a call. Never waits, never throws. */
	announce(call: AuditedCall): void;
	/** Resolves when what waits has been told, or has failed. */
	settled(): Promise<void>;
}

export function createAuditChannel({
	channelId,
	connection,
	log,
}: AuditChannelOptions): AuditChannel {
	const waiting: AuditedCall[] = [];
	let dropped = 0;
	let sending: Promise<void> | undefined;

	/** Until nothing waits. Never rejects. */
	async function send(): Promise<void> {
		while (waiting.length > 0) {
			const embeds = takeEmbeds(waiting);
			const missed = dropped;
			dropped = 0;
			try {
				const channel = connection.discord.channels.cache.get(channelId);
				if (!channel?.isSendable())
					throw new Error("the bot knows no channel of that id to send to");
				await channel.send({
					embeds,
					...(missed > 0 && {
						content: `${missed} more call(s) were not told.`,
					}),
					allowedMentions: { parse: [] },
				});
			} catch (error) {
				log.warn("could not tell of tool calls in mcp.audit_channel", {
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
		announce(call) {
			if (waiting.length >= maxWaiting) {
				dropped++;
				return;
			}
			waiting.push(call);
			begin();
		},
		async settled() {
			while (sending) await sending;
		},
	};
}

/** Takes as many calls as fit into one message. */
function takeEmbeds(waiting: AuditedCall[]): EmbedBuilder[] {
	const embeds: EmbedBuilder[] = [];
	let length = 0;
	for (const call of waiting) {
		const embed = describe(call);
		length += embedLength(embed.data);
		if (embeds.length === maxEmbeds || length > maxEmbedsLength) break;
		embeds.push(embed);
	}
	waiting.splice(0, embeds.length);
	return embeds;
}

function describe(call: AuditedCall): EmbedBuilder {
	const shown = oneLine(call.arguments).slice(0, maxArgumentsLength);
	const field = (name: string, value: string) => ({
		name,
		value,
		inline: true,
	});
	return new EmbedBuilder()
		.setTitle(call.tool)
		.setColor(colours[call.outcome])
		.setDescription(`\`\`\`json\n${shown.replaceAll("`", "ˋ")}\n\`\`\``)
		.addFields(
			field("Outcome", call.outcome),
			field("Client", clientName(call.client)),
			field("Request", call.requestId ?? "none"),
		)
		.setTimestamp(call.at);
}

/** What a client calls itself, which is not ours to believe: neither a link nor a mention, and never nothing. */
function clientName(name: string): string {
	const shown = escapeMarkdown(oneLine(name.slice(0, 100).toWellFormed()));
	return /[\p{L}\p{N}]/u.test(shown) ? shown.replaceAll("<", "\\<") : "unknown";
}
