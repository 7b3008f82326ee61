// The rows of src/bot/tools/direct-messages.ts.

import * as person from "./person.ts";
import { anyId, memberId, messageId, newTalk, type Row, writtenByBot } from "./scene.ts";

const place = anyId("it is a cursor");

export const directMessagesRows: Record<string, Row> = {
	send_private_message: {
		ids: { user_ids: memberId },
		adds: true,
		dryRun: /^Would send @thing-\d+ \(ID: \d+\) a direct message\.$/m,
		person: person.botManager,
		act(scene) {
			const { user, channel } = newTalk(scene);
			return {
				args: { user_ids: [user.id], content: "hello" },
				request: `POST /channels/${channel.id}/messages`,
				done: () => scene.world.simulator.world.messages.in(channel.id).length === 1,
			};
		},
		needs: "no permission",
	},
	read_private_messages: {
		ids: { user_id: memberId, before: place, after: place, around: place },
		person: person.botManager,
		ask(scene) {
			const { user, channel } = newTalk(scene);
			const { id } = writtenByBot(scene, channel);
			scene.world.simulator.world.messages.add(channel, user, { content: "said by them" });
			return {
				args: { user_id: user.id },
				request: `GET /channels/${channel.id}/messages`,
				answer: [
					`2 message(s) in the direct messages with @${user.username} `,
					`[bot] | ID: ${id} | text: said by the bot`,
					"| text: said by them",
				],
			};
		},
		needs: "no permission",
	},
	edit_private_message: {
		ids: { user_id: memberId, message_id: messageId },
		person: person.botManager,
		act(scene) {
			const { user, channel } = newTalk(scene);
			const message = writtenByBot(scene, channel);
			return {
				args: { user_id: user.id, message_id: message.id, content: "changed" },
				request: `PATCH /channels/${channel.id}/messages/${message.id}`,
				done: () => message.content === "changed",
			};
		},
		needs: "no permission",
		dryRun: /^Would replace content of the direct message \d+ to @thing-\d+ /m,
	},
	delete_private_message: {
		ids: { user_id: memberId, message_id: messageId },
		person: person.botManager,
		act(scene) {
			const { user, channel } = newTalk(scene);
			const { id } = writtenByBot(scene, channel);
			return {
				args: { user_id: user.id, message_id: id },
				request: `DELETE /channels/${channel.id}/messages/${id}`,
				done: () => scene.world.simulator.world.messages.in(channel.id).length === 0,
			};
		},
		needs: "no permission",
		dryRun: /^Would delete the direct message of .* \| ID: \d+ to @thing-\d+ /m,
	},
};
