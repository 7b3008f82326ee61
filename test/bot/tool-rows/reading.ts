// The rows of src/bot/tools/messages.ts and search.ts.

import * as person from "./person.ts";
import { anyId, channelId, inChannel, messageId, newChannel, type Row, type Scene, written } from "./scene.ts";

function twoWritten(scene: Scene) {
	const channel = newChannel(scene);
	// Of one day: results may leave out the date of the second.
	const noon = Date.UTC(2026, 0, 31, 12);
	const messages = [written(scene, channel, noon), written(scene, channel, noon)];
	return {
		args: { channel_id: channel.id },
		request: `GET /channels/${channel.id}/messages`,
		answer: messages.map(({ id }) => `| ID: ${id} | text: a secret text`),
	};
}

const border = anyId("it is a cursor");

export const readingRows: Record<string, Row> = {
	get_recent_messages: {
		ids: { channel_id: channelId, before: border, after: border, around: border },
		person: person.inChannel(["ReadMessageHistory"]),
		ask: twoWritten,
		needs: inChannel("ReadMessageHistory"),
		refuses: [[{ before: "1".repeat(18), after: "1".repeat(18) }, "before, after, around: expected at most one"]],
	},
	get_message: {
		ids: { channel_id: channelId, message_id: messageId },
		person: person.inChannel(["ReadMessageHistory"]),
		ask(scene) {
			const channel = newChannel(scene);
			const { id } = written(scene, channel);
			return {
				args: { channel_id: channel.id, message_id: id },
				request: `GET /channels/${channel.id}/messages/${id}`,
				answer: [`| ID: ${id} | text: a secret text`],
			};
		},
		needs: inChannel("ReadMessageHistory"),
	},
	search_messages: {
		ids: {
			user_ids: anyId("it is a filter"),
			channel_ids: channelId,
			not_user_ids: anyId("it is a filter"),
			mentions: anyId("it is a filter"),
		},
		person: person.inChannel(["ReadMessageHistory"], {
			leavesOut(scene, hidden) {
				const { id } = written(scene, hidden);
				return { args: { text: "secret" }, secrets: [id, hidden.id, hidden.name] };
			},
		}),
		ask(scene) {
			const { args, request, answer } = twoWritten(scene);
			return { args: { text: "SECRET", channel_ids: [args.channel_id] }, request, answer, channel: args.channel_id };
		},
		needs: inChannel("ReadMessageHistory"),
		refuses: [
			...[{ after: "2026-02-30" }, { after: "2026-01-31T25:00:00Z" }].map(
				(args) => [args, "after: expected a duration such as 6h"] as const,
			),
			...["2014-12-31", "yesterday"].map((before) => [{ before }, "before: expected a duration such as 6h"] as const),
			[{ count_by: ["role"] }],
		],
	},
};
