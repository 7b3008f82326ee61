// Where people can see what is done through the tools: an embed in a channel for each call that changes something.
// It follows the calls at its own pace, within Discord's rate limits, and never holds one up.

import { EmbedBuilder } from "discord.js";
import type { Log } from "../../lib/log.ts";
import type { Connection } from "../discord/connection/connection.ts";
import { inlineText, oneLine } from "../discord/text.ts";
import { createEmbedQueue } from "../messages/embed-queue.ts";
import type { AuditedCall } from "../tool/audit.ts";

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
	const queue = createEmbedQueue({
		connection,
		log,
		noun: "call(s)",
		setting: "mcp.audit_channel",
	});
	return {
		announce: (call) => queue.push(channelId, () => describe(call)),
		settled: queue.settled,
	};
}

function describe(call: AuditedCall): EmbedBuilder {
	const given = oneLine(call.arguments).slice(0, maxArgumentsLength);
	const field = (name: string, value: string) => ({
		name,
		value,
		inline: true,
	});
	return new EmbedBuilder()
		.setTitle(call.tool)
		.setColor(colours[call.outcome])
		.setDescription(`\`\`\`json\n${given.replaceAll("`", "ˋ")}\n\`\`\``)
		.addFields(
			field("Outcome", call.outcome),
			field("Client", clientName(call.client)),
			field("Request", call.requestId ?? "none"),
		)
		.setTimestamp(call.at);
}

/** What a client calls itself, which is not ours to believe: neither a link nor a mention, and never nothing. */
function clientName(name: string): string {
	const given = inlineText(name.slice(0, 100), 1_000);
	return /[\p{L}\p{N}]/u.test(given) ? given : "unknown";
}
