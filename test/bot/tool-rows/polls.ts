// The rows of src/bot/tools/polls.ts.

import * as person from "./person.ts";
import { adaIn, anyId, botUser, channelId, inChannel, messageId, newChannel, type Row, type Scene } from "./scene.ts";

const lunch = {
	question: { text: "Lunch?" },
	answers: ["Soup", "Bread"].map((text, index) => ({ answer_id: index + 1, poll_media: { text } })),
};

/** A poll of the bot, in which ada has voted for soup. */
function asked(scene: Scene) {
	const { polls } = scene.world.simulator.world;
	const channel = newChannel(scene);
	const expiry = new Date(Date.now() + 3_600_000).toISOString();
	const author = botUser(scene.world);
	const message = polls.add(channel, author, { ...lunch, expiry });
	const ada = adaIn(scene.world);
	polls.vote(channel, message, ada, [1]);
	return {
		message,
		ada,
		args: { channel_id: channel.id, message_id: message.id },
		path: `/channels/${channel.id}/polls/${message.id}`,
	};
}

export const pollsRows: Record<string, Row> = {
	create_poll: {
		ids: { channel_id: channelId },
		adds: true,
		person: person.inChannel(["SendMessages", "SendPolls"]),
		act(scene) {
			const { id } = newChannel(scene);
			const { messages } = scene.world.simulator.world;
			return {
				args: { channel_id: id, question: "Lunch?", answers: [{ text: "Soup", emoji: "🍲" }, { text: "Bread" }] },
				request: `POST /channels/${id}/messages`,
				done: () => messages.in(id)[0]?.poll?.question.text === "Lunch?",
			};
		},
		needs: inChannel("SendPolls", "SendMessages"),
		refuses: [
			[{ answers: ["Soup"] }, "answers: expected "],
			[{ answers: Array(11).fill("Soup") }, "answers: expected "],
			[{ answers: [{ text: "x".repeat(56) }, "Bread"] }, "answers.0.text: expected "],
			[{ answers: [{ text: "x", emoji: "soup" }, "Bread"] }, "answers.0.emoji: expected "],
			...["33d", "90m"].map((duration) => [{ duration }, "duration: expected "] as const),
		],
	},
	end_poll: {
		ids: { channel_id: channelId, message_id: messageId },
		person: person.inChannel(["ReadMessageHistory", "ManageMessages"]),
		act(scene) {
			const { message, args, path } = asked(scene);
			return { args, request: `POST ${path}/expire`, done: () => message.poll.ended };
		},
		needs: inChannel("ReadMessageHistory"),
		dryRun:
			/^Would end the poll \d+ in #thing-\d+ \(ID: \d+\), now \| poll: Lunch\? \| answer 1, 1 vote\(s\): Soup \| answer 2, 0 vote\(s\): Bread \| poll open until: \S+Z$/m,
	},
	get_poll_voters: {
		ids: { channel_id: channelId, message_id: messageId, after: anyId("it is a cursor") },
		person: person.inChannel(["ReadMessageHistory"]),
		ask(scene) {
			const { ada, args, path } = asked(scene);
			return {
				args: { ...args, answer_id: 1 },
				request: `GET ${path}/answers/1`,
				answer: ["1 voter(s) for answer 1 (Soup) of the poll", `| ID: ${ada.id}`],
			};
		},
		needs: inChannel("ReadMessageHistory"),
	},
};
