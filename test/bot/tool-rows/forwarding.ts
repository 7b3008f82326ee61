// The rows of src/bot/tools/messages.ts and src/bot/tools/files.ts.

import { ChannelType } from "discord.js";
import * as person from "./person.ts";
import { channelId, inChannel, messageId, newChannel, type Row, written } from "./scene.ts";

export const forwardingRows: Record<string, Row> = {
	forward_message: {
		ids: { channel_id: channelId, message_id: messageId, to_channel_id: channelId },
		adds: true,
		person: person.inChannel(["SendMessages"], { argument: "to_channel_id" }, { also: ["ReadMessageHistory"] }),
		act(scene) {
			const from = newChannel(scene);
			const to = newChannel(scene);
			const message = written(scene, from);
			const { messages } = scene.world.simulator.world;
			return {
				args: { channel_id: from.id, message_id: message.id, to_channel_id: to.id },
				request: `POST /channels/${to.id}/messages`,
				done: () => messages.in(to.id)[0]?.message_snapshots?.[0]?.message.content === "a secret text",
				channel: to.id,
			};
		},
		needs: inChannel("SendMessages"),
	},
	crosspost_message: {
		ids: { channel_id: channelId, message_id: messageId },
		person: person.inChannel([...(["SendMessages", "ReadMessageHistory"] as const), "ManageMessages"]),
		act(scene) {
			const channel = newChannel(scene, ChannelType.GuildAnnouncement);
			const message = written(scene, channel);
			return {
				args: { channel_id: channel.id, message_id: message.id },
				request: `POST /channels/${channel.id}/messages/${message.id}/crosspost`,
				done: () => (message.flags & 1) !== 0,
			};
		},
		needs: inChannel("ManageMessages", "SendMessages", "ReadMessageHistory"),
		dryRun:
			/^Would publish the message of \S+Z by .* \| ID: \d+ in #thing-\d+ \(ID: \d+\), to all channels that follow it\.$/m,
	},
	send_file: {
		ids: { channel_id: channelId },
		adds: true,
		person: person.inChannel(["SendMessages", "AttachFiles"]),
		act(scene) {
			const { id } = newChannel(scene);
			const { messages } = scene.world.simulator.world;
			return {
				args: { channel_id: id, filename: "soup.txt", text: "soup" },
				request: `POST /channels/${id}/messages`,
				done: () => messages.in(id)[0]?.attachments[0]?.filename === "soup.txt",
			};
		},
		needs: inChannel("AttachFiles", "SendMessages"),
		refuses: [
			...[
				...["../../x", "a/b.txt", "a\\b.txt", "a.txt:b", ".", "..", ".bashrc", ""],
				...["a\nb.txt", 'a.txt"\r\nX-Evil: 1', "a\u0000.txt", "a\u202etxt.exe", 'a".txt', "a.txt ", "a\ud800b.txt"],
				...[`${"a".repeat(296)}.txt`, `${"a".repeat(97)}.txt`],
			].map((filename) => [{ filename }, "filename: expected a plain file name"] as const),
			[{ text: undefined }, "text, data_base64: expected one of the two"],
			[{ data_base64: "AAAA" }, "text, data_base64: expected one of the two"],
			[{ text: "" }, "text: expected at least 1 character"],
			...["", "AAA", "A*==", "AA AA", "https://x/y"].map(
				(data_base64) => [{ text: undefined, data_base64 }, "data_base64: expected base64"] as const,
			),
		],
	},
};
