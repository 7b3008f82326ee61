// The rows of src/bot/tools/deletions.ts.

import { AuditLogEvent } from "discord.js";
import * as person from "./person.ts";
import { anyId, channelId, inChannel, newChannel, type Row, refusedByDiscord, written } from "./scene.ts";

/** Without the channel and the messages of the row's call. */
const anywhere = { channel_id: undefined, message_ids: undefined };

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
		refuses: [
			...[{}, { has: ["-poll"] }, { has: [], count: 5 }].map(
				(args) => [{ ...anywhere, ...args }, "message_ids, user_ids, text, has: expected at least one"] as const,
			),
			[{ ...anywhere, after: "1h", count: 5 }, "or channel_ids together with after, before or count"],
			...[" ", "\u0301"].map((text) => [{ ...anywhere, text }, "text: expected visible characters"] as const),
			[{ message_ids: undefined }, "message_ids, user_ids, text, has, after, before, count: expected"],
			[{ count: 1 }, "count: cannot be combined with message_ids"],
			[{ text: "x" }, "text: cannot be combined with message_ids"],
			[{ user_ids: ["1".repeat(18)] }, "user_ids: cannot be combined with message_ids"],
		],
	},
};
