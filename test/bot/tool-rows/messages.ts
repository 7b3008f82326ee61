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
		refuses: [
			[
				{ channel_id: 17, content: ["x"], mentions: "all" },
				"channel_id: expected string, received 17",
				"content: expected string, received Array",
				"mentions: expected",
			],
			[{ channel_id: "general" }, 'channel_id: expected an id of 17 to 20 digits or #name, received "general"'],
			[{ content: "😀".repeat(2001) }, "content: expected 1 to 2000 characters, received 2001"],
			[
				{
					embeds: [
						{ footer: "until nine", image_url: "https://example.org/soup.png" },
						{ footer: { text: "" }, image: {}, author: { name: "a", avatar: "b" }, fields: [{ name: "Soup" }] },
					],
				},
				"embeds.0.footer: expected Object",
				"embeds.0.image_url: this tool has no such parameter",
				"embeds.1.footer.text: expected 1 to 2048 characters, received 0",
				"embeds.1.image.url: is required",
				"embeds.1.author.avatar: this tool has no such parameter, but name, url, icon_url",
				"embeds.1.fields.0.value: is required",
			],
		],
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
		refuses: [[{ content: undefined }, "content, embeds: expected at least one"]],
	},
};
