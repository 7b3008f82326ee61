// Posts an embed in a channel for each tool call that changes something, and for what operators should know. Posts are queued and never delay a call.

import { EmbedBuilder } from "discord.js";
import type { Connection } from "../../discord/connection/connection.ts";
import { inlineText, oneLine } from "../../discord/text.ts";
import type { Log } from "../../lib/log.ts";
import { createEmbedQueue } from "../messages/embed-queue.ts";
import type { AuditedCall } from "../tool/audit.ts";

const maxArgumentsLength = 1_000;

const colours: Record<AuditedCall["outcome"], number> = {
	done: 0x2e7d32,
	failed: 0xc62828,
	refused: 0xc62828,
	error: 0xc62828,
};

/** `announce` queues an embed for one tool call, returns at once and never throws. */
export function createAuditChannel(channelId: string, connection: Connection, log: Log) {
	const queue = createEmbedQueue({ connection, log, setting: "mcp.audit_channel" });
	return {
		announce: (call: AuditedCall) => queue.push(channelId, () => describe(call)),
		/** Resolves when it was sent or has failed. */
		notify(embed: EmbedBuilder): Promise<void> {
			queue.push(channelId, () => embed);
			return queue.settled();
		},
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
			{ name: "Effect", value: call.effect, inline },
			{ name: "Client", value: clientName(call.client), inline },
			{ name: "Request", value: call.requestId ?? "none", inline },
			...callerFields(call, inline),
		)
		.setTimestamp(call.at);
}

function callerFields({ principal }: AuditedCall, inline: boolean) {
	if (!principal) return [];
	const { id, person } = principal;
	return [
		...(person ? [{ name: "For", value: `<@${person.id}>`, inline }] : []),
		{ name: "Key", value: inlineText(id, 1_000), inline },
	];
}

// No links and mentions; "unknown" without letters or digits.
function clientName(name: string): string {
	const text = inlineText(name.slice(0, 100), 1_000);
	return /[\p{L}\p{N}]/u.test(text) ? text : "unknown";
}
