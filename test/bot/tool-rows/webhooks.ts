// The rows of src/bot/tools/webhooks.ts.

import { AuditLogEvent } from "discord.js";
import { authorOf } from "../../../src/simulator/world/guilds/webhooks.ts";
import * as person from "./person.ts";
import {
	botUser,
	channelId,
	foreignChannel,
	freshName,
	type Hidden,
	inChannel,
	newChannel,
	type Row,
	refusedAfterFetch,
	refusedByDiscord,
	type Scene,
} from "./scene.ts";

const webhookId = refusedAfterFetch("There is no webhook", (scene) => newWebhook(scene, foreignChannel(scene)).hook.id);
const messageId = refusedByDiscord("Unknown Message (code 10008)");

function newWebhook(scene: Scene, channel = newChannel(scene)) {
	const { world } = scene.world.simulator;
	const user = botUser(scene.world);
	const hook = world.webhooks.add(channel, { name: "Crier", user });
	const path = `/webhooks/${hook.id}/${hook.token}`;
	const messages = () => world.messages.in(channel.id);
	return { world, channel, hook, path, messages };
}

/** A webhook with a message. */
function newWritten(scene: Scene) {
	const made = newWebhook(scene);
	const message = made.world.messages.add(made.channel, authorOf(made.hook), {
		content: "hear",
		webhook_id: made.hook.id,
	});
	const args = { webhook_id: made.hook.id, message_id: message.id };
	const path = `${made.path}/messages/${message.id}`;
	return { ...made, message, path, args };
}

const needs = inChannel("ManageWebhooks");

const hiddenWebhook: Hidden = { refusal: "There is no webhook" };

export const webhooksRows: Record<string, Row> = {
	list_webhooks: {
		ids: { channel_ids: channelId },
		person: person.inChannel(["ManageWebhooks"], {
			leavesOut({ world }, hidden) {
				const user = botUser(world);
				const name = freshName();
				const { webhooks } = world.simulator.world;
				const { id } = webhooks.add(hidden, { name, user });
				return { args: {}, secrets: [id, name, hidden.id, hidden.name] };
			},
		}),
		ask(scene) {
			const { channel, hook } = newWebhook(scene);
			return {
				args: { channel_ids: [channel.id] },
				request: `GET /channels/${channel.id}/webhooks`,
				answer: [
					"1 webhook(s) in #",
					`Crier | ID: ${hook.id} | channel: #${channel.name} (ID: ${channel.id}) | kind: incoming | made: `,
					`Z by @alpha (ID: ${hook.user?.id}) | can send messages`,
				],
			};
		},
		needs,
	},
	create_webhook: {
		ids: { channel_id: channelId },
		adds: true,
		person: person.inChannel(["ManageWebhooks"]),
		act(scene) {
			const channel = newChannel(scene);
			const { webhooks } = scene.world.simulator.world;
			return {
				args: { channel_id: channel.id, name: "Crier" },
				request: `POST /channels/${channel.id}/webhooks`,
				done: () => webhooks.list({ channel_id: channel.id })[0]?.name === "Crier",
			};
		},
		reason: AuditLogEvent.WebhookCreate,
		needs,
	},
	edit_webhook: {
		ids: { webhook_id: webhookId, channel_id: channelId },
		person: person.inChannel(["ManageWebhooks"], hiddenWebhook),
		act(scene) {
			const { hook, channel } = newWebhook(scene);
			return {
				args: { webhook_id: hook.id, name: "Herald" },
				request: `PATCH /webhooks/${hook.id}`,
				done: () => hook.name === "Herald",
				channel: channel.id,
			};
		},
		reason: AuditLogEvent.WebhookUpdate,
		needs,
		refuses: [[{ name: undefined }]],
	},
	delete_webhook: {
		ids: { webhook_ids: webhookId },
		person: person.inChannel(["ManageWebhooks"], hiddenWebhook),
		act(scene) {
			const { world, hook, channel } = newWebhook(scene);
			return {
				args: { webhook_ids: [hook.id] },
				request: `DELETE /webhooks/${hook.id}`,
				done: () => !world.webhooks.has(hook.id),
				channel: channel.id,
			};
		},
		reason: AuditLogEvent.WebhookDelete,
		needs,
		dryRun:
			/Would delete 1 webhook\(s\)\. .*\nCrier \| ID: \d+ \| channel: #thing-\d+ \(ID: \d+\) \| made by @alpha \(ID: \d+\)$/m,
		refuses: [[{ webhook_id: "123456789012345678" }]],
	},
	send_webhook_message: {
		ids: { webhook_id: webhookId, thread_id: channelId },
		adds: true,
		person: person.inChannel(["ManageWebhooks"], hiddenWebhook),
		act(scene) {
			const { hook, path, messages, channel } = newWebhook(scene);
			return {
				args: { webhook_id: hook.id, content: "hear" },
				request: `POST ${path}`,
				done: () => messages()[0]?.content === "hear",
				channel: channel.id,
			};
		},
		needs,
	},
	edit_webhook_message: {
		ids: { webhook_id: webhookId, message_id: messageId, thread_id: channelId },
		person: person.inChannel(["ManageWebhooks"], hiddenWebhook),
		act(scene) {
			const { args, path, message, channel } = newWritten(scene);
			return {
				args: { ...args, content: "hush" },
				request: `PATCH ${path}`,
				done: () => message.content === "hush",
				channel: channel.id,
			};
		},
		needs,
		dryRun: /^Would replace content of the message \d+ in #thing-\d+ /m,
		refuses: [[{ content: undefined }]],
	},
	delete_webhook_message: {
		ids: { webhook_id: webhookId, message_id: messageId, thread_id: channelId },
		person: person.inChannel(["ManageWebhooks"], hiddenWebhook),
		act(scene) {
			const { args, path, messages, channel } = newWritten(scene);
			return { args, request: `DELETE ${path}`, done: () => messages().length === 0, channel: channel.id };
		},
		needs,
		dryRun: /Would delete the message of .* by @Crier \(ID: \d+\) \[webhook\]/,
	},
};
