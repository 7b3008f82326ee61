// The rows of src/bot/tools/messages.ts.

import { AuditLogEvent } from "discord.js";
import {
	anyId,
	channelId,
	foundByDiscord,
	newChannel,
	type Row,
	written,
} from "./scene.ts";

export const messagesRows: Record<string, Row> = {
	send_message: {
		effect: "writes",
		ids: {
			channel_id: channelId,
			reply_to: foundByDiscord("Unknown message (code 50035)"),
		},
		act(scene) {
			const { id } = newChannel(scene);
			return {
				args: { channel_id: id, content: "hello" },
				request: `POST /channels/${id}/messages`,
				done: () => scene.world.simulator.world.messages.in(id).length === 1,
			};
		},
		reason: "Discord takes none",
		needs: {
			permission: "SendMessages",
			name: "SEND_MESSAGES",
			in: "the channel",
		},
		dryRun: "not destructive",
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
		},
		dryRun: /^Would delete 2 message\(s\) from #thing-\d+ \(ID: \d+\)\.$/m,
	},
};
