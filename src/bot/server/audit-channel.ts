// Posts an embed in a channel for each tool call that changes something. Posts are queued and never delay a call.

import { EmbedBuilder } from "discord.js";
import type { Log } from "../../lib/log.ts";
import type { Connection } from "../discord/connection/connection.ts";
import { inlineText, oneLine } from "../discord/text.ts";
import { createEmbedQueue } from "../messages/embed-queue.ts";
import type { AuditedCall } from "../tool/audit.ts";

/** Maximum length of the arguments in an embed. */
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
	/** Queues a call's embed. Never waits, never throws. */
	announce(call: AuditedCall): void;
	/** Resolves when the queue is empty. */
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
	const text = oneLine(call.arguments).slice(0, maxArgumentsLength);
	const field = (name: string, value: string) => ({
		name,
		value,
		inline: true,
	});
	return new EmbedBuilder()
		.setTitle(call.tool)
		.setColor(colours[call.outcome])
		.setDescription(`\`\`\`json\n${text.replaceAll("`", "ˋ")}\n\`\`\``)
		.addFields(
			field("Outcome", call.outcome),
			field("Client", clientName(call.client)),
			field("Request", call.requestId ?? "none"),
		)
		.setTimestamp(call.at);
}

/** The name that a client sends, without links and mentions; "unknown" if it has no letters or digits. */
function clientName(name: string): string {
	const text = inlineText(name.slice(0, 100), 1_000);
	return /[\p{L}\p{N}]/u.test(text) ? text : "unknown";
}
