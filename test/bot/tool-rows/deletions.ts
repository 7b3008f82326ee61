// The rows of src/bot/tools/deletions.ts.

import { AuditLogEvent } from "discord.js";
import {
	anyId,
	channelId,
	foundByDiscord,
	messageId,
	newChannel,
	type Row,
	written,
} from "./scene.ts";

export const deletionsRows: Record<string, Row> = {
	delete_message: {
		effect: "writes",
		ids: { channel_id: channelId, message_id: messageId },
		act(scene) {
			const channel = newChannel(scene);
			const { id } = written(scene, channel);
			return {
				args: { channel_id: channel.id, message_id: id },
				request: `DELETE /channels/${channel.id}/messages/${id}`,
				done: () =>
					scene.world.simulator.world.messages.in(channel.id).length === 0,
			};
		},
		reason: AuditLogEvent.MessageDelete,
		needs: {
			permission: "ManageMessages",
			name: "MANAGE_MESSAGES",
			in: "the channel",
			also: ["ReadMessageHistory"],
		},
		dryRun:
			/^Would delete the message of \S+Z by @ada \(ID: \d+\) \| ID: \d+ from #thing-\d+ \(ID: \d+\)\.$/m,
	},
	delete_messages: {
		effect: "writes",
		ids: {
			channel_id: channelId,
			message_ids: foundByDiscord("Unknown Message (code 10008)"),
			author_id: anyId("what nobody wrote is nothing to delete"),
		},
		act(scene) {
			const channel = newChannel(scene);
			const messages = [written(scene, channel), written(scene, channel)];
			const { simulator } = scene.world;
			return {
				args: {
					channel_id: channel.id,
					message_ids: messages.map(({ id }) => id),
				},
				request: `POST /channels/${channel.id}/messages/bulk-delete`,
				done: () => simulator.world.messages.in(channel.id).length === 0,
			};
		},
		reason: AuditLogEvent.MessageBulkDelete,
		needs: {
			permission: "ManageMessages",
			name: "MANAGE_MESSAGES",
			in: "the channel",
			also: [{ permission: "ReadMessageHistory", with: { count: 2 } }],
		},
		dryRun: /^Would delete 2 message\(s\) from #thing-\d+ \(ID: \d+\)\.$/m,
	},
};
