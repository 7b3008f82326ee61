// The rows of src/bot/tools/deletions.ts.

import { AuditLogEvent } from "discord.js";
import * as person from "./person.ts";
import { anyId, channelId, inChannel, newChannel, type Row, refusedByDiscord, written } from "./scene.ts";

export const deletionsRows: Record<string, Row> = {
	delete_messages: {
		ids: {
			channel_id: channelId,
			message_ids: refusedByDiscord("Unknown Message (code 10008)"),
			user_ids: anyId("what nobody wrote is nothing to delete"),
			channel_ids: channelId,
		},
		person: person.inChannel(["ManageMessages"]),
		act(scene) {
			const channel = newChannel(scene);
			const messages = [written(scene, channel), written(scene, channel)];
			const { simulator } = scene.world;
			return {
				args: { channel_id: channel.id, message_ids: messages.map(({ id }) => id) },
				request: `POST /channels/${channel.id}/messages/bulk-delete`,
				done: () => simulator.world.messages.in(channel.id).length === 0,
			};
		},
		reason: AuditLogEvent.MessageBulkDelete,
		needs: inChannel("ManageMessages", { permission: "ReadMessageHistory", with: { message_ids: null, count: 2 } }),
		dryRun: /^Would delete 2 message\(s\) from #thing-\d+ \(ID: \d+\)\.$/m,
	},
};
