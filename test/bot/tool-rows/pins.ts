// The rows of src/bot/tools/pins.ts.

import { AuditLogEvent } from "discord.js";
import * as person from "./person.ts";
import { channelId, inChannel, messageId, newChannel, type Row, type Scene, written } from "./scene.ts";

function oneWritten(scene: Scene) {
	const channel = newChannel(scene);
	const message = written(scene, channel);
	const path = `/channels/${channel.id}/messages/pins`;
	return { message, path, args: { channel_id: channel.id, message_id: message.id } };
}

export const pinsRows: Record<string, Row> = {
	pin_message: {
		ids: { channel_id: channelId, message_id: messageId },
		person: person.inChannel(["PinMessages", "ReadMessageHistory"]),
		act(scene) {
			const { message, path, args } = oneWritten(scene);
			return { args, request: `PUT ${path}/${message.id}`, done: () => message.pinned_at !== null };
		},
		reason: AuditLogEvent.MessagePin,
		needs: inChannel("PinMessages", "ReadMessageHistory"),
	},
	list_pins: {
		ids: { channel_id: channelId },
		person: person.inChannel(["ReadMessageHistory"]),
		ask(scene) {
			const { message, path, args } = oneWritten(scene);
			message.pinned_at = "2026-01-31T12:00:00.500Z";
			return {
				args: { channel_id: args.channel_id },
				request: `GET ${path}`,
				answer: [
					"1 pin(s) in #",
					"pinned: 2026-01-31T12:00:00Z | ",
					`| ID: ${message.id} | text: a secret text | pinned`,
				],
			};
		},
		needs: inChannel("ReadMessageHistory"),
	},
};
