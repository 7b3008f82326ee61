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

/** Queues an embed for each call passed to `announce`, which never waits and never throws. */
export function createAuditChannel(
	channelId: string,
	connection: Connection,
	log: Log,
) {
	const queue = createEmbedQueue({
		connection,
		log,
		noun: "call(s)",
		setting: "mcp.audit_channel",
	});
	return {
		announce: (call: AuditedCall) =>
			queue.push(channelId, () => describe(call)),
		/** Resolves when the queue is empty. */
		settled: queue.settled,
	};
}

function describe(call: AuditedCall): EmbedBuilder {
	const text = oneLine(call.arguments).slice(0, maxArgumentsLength);
	const inline = true;
	return new EmbedBuilder()
		.setTitle(call.tool)
		.setColor(colours[call.outcome])
		.setDescription(`\`\`\`json\n${text.replaceAll("`", "ˋ")}\n\`\`\``)
		.addFields(
			{ name: "Outcome", value: call.outcome, inline },
			{ name: "Client", value: clientName(call.client), inline },
			{ name: "Request", value: call.requestId ?? "none", inline },
		)
		.setTimestamp(call.at);
}

/** The name that a client sends, without links and mentions; "unknown" if it has no letters or digits. */
function clientName(name: string): string {
	const text = inlineText(name.slice(0, 100), 1_000);
	return /[\p{L}\p{N}]/u.test(text) ? text : "unknown";
}
