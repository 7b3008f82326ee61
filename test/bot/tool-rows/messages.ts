// The rows of src/bot/tools/messages.ts.

import * as person from "./person.ts";
import { channelId, inChannel, messageId, newChannel, type Row, refusedByDiscord, writtenByBot } from "./scene.ts";

export const messagesRows: Record<string, Row> = {
	send_message: {
		ids: { channel_id: channelId, reply_to: refusedByDiscord("Unknown message (code 50035)") },
		adds: true,
		person: person.inChannel(["SendMessages"]),
		act(scene) {
			const { id } = newChannel(scene);
			return {
				args: { channel_id: id, content: "hello" },
				request: `POST /channels/${id}/messages`,
				done: () => scene.world.simulator.world.messages.in(id).length === 1,
			};
		},
		needs: inChannel("SendMessages"),
	},
	edit_message: {
		ids: { channel_id: channelId, message_id: messageId },
		person: person.inChannel(["ReadMessageHistory", "ManageMessages"], undefined, { also: ["ManageGuild"] }),
		act(scene) {
			const channel = newChannel(scene);
			const message = writtenByBot(scene, channel);
			return {
				args: { channel_id: channel.id, message_id: message.id, content: "changed" },
				request: `PATCH /channels/${channel.id}/messages/${message.id}`,
				done: () => message.content === "changed",
			};
		},
		needs: inChannel("ReadMessageHistory"),
		dryRun: /^Would replace content of the message \d+ in #thing-\d+ /m,
	},
};
