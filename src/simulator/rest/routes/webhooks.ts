// Webhooks: managing them as a bot or by token, and their messages. Interactions use the same paths: interactions.ts.
// https://discord.com/developers/docs/resources/webhook

import { ChannelType } from "discord.js";
import { authorOf, serializeWebhook } from "../../world/guilds/webhooks.ts";
import { type GuildChannel, holdsPosts, isGuildChannel, isThread, type Webhook } from "../../world/state/entities.ts";
import type { World } from "../../world/world.ts";
import { requirePermissions } from "../access.ts";
import { apiError, formError, found } from "../errors.ts";
import { boolean, notSimulatedField, refine, required, snowflake, text } from "../fields/fields.ts";
import { contentFields, editedContent, newContent, requireContent, serializeMessage } from "../message-body.ts";
import { type Call, guildChannelOf, route } from "../route.ts";

const webhookLimit = 15;
const byId = "/webhooks/:webhook_id";
const byToken = `${byId}/:webhook_token` as const;
const oneMessage = `${byToken}/messages/:message_id` as const;
const threadId = { thread_id: snowflake };
const avatar = notSimulatedField("avatars of webhooks");

/** The field with the name of a webhook. Discord allows no name that contains "discord" or "clyde". */
const name = refine(text(1, 80), (given) => {
	const [word] = /discord|clyde/i.exec(given) ?? [];
	if (word === undefined) return given.trim();
	throw formError("USERNAME_INVALID_CONTAINS", `Username cannot contain "${word.toLowerCase()}"`);
});

function webhookOf({ world, params }: Call<typeof byId>): Webhook {
	return found(world.webhooks.get(params.webhook_id), "UnknownWebhook");
}

function managedWebhook(call: Call<typeof byId>): Webhook {
	const webhook = webhookOf(call);
	requirePermissions(call, call.world.state.channelOf(webhook), "ManageWebhooks");
	return webhook;
}

function checkWebhookLimit({ world }: Call, channel: GuildChannel): void {
	if (channel.type === ChannelType.GuildCategory) throw apiError("CannotExecuteActionOnThisChannelType");
	if (world.webhooks.list({ channel_id: channel.id }).length >= webhookLimit)
		throw apiError("MaximumNumberOfWebhooksReached");
}

type TokenCall = Call<typeof byToken, unknown, { thread_id?: string }>;

/** The thread named in the query, otherwise the webhook's channel. Throws if the thread is in another channel. */
function placeOf({ world, query, webhook }: TokenCall) {
	const own = world.state.channelOf(webhook);
	if (query.thread_id === undefined) return own;
	const thread = world.channels.get(query.thread_id);
	if (!thread || !isThread(thread) || thread.parent_id !== own.id) throw apiError("UnknownChannel");
	return thread;
}

function ownMessage(call: TokenCall & Call<typeof oneMessage>) {
	const place = placeOf(call);
	const message = call.world.messages.get(place.id, call.params.message_id);
	if (message?.webhook_id !== call.webhook.id) throw apiError("UnknownMessage");
	return { place, message };
}

function listed({ world, actor }: Call, where: Parameters<World["webhooks"]["list"]>[0]) {
	return world.webhooks.list(where).map((one) => serializeWebhook(one, actor));
}

const managing = [
	route("GET /guilds/:guild_id/webhooks", {
		needs: "ManageWebhooks",
		run: (call) => listed(call, { guild_id: call.guild.id }),
	}),
	route("GET /channels/:channel_id/webhooks", {
		needs: "ManageWebhooks",
		run: (call) => listed(call, { channel_id: guildChannelOf(call).id }),
	}),
	route("POST /channels/:channel_id/webhooks", {
		needs: "ManageWebhooks",
		body: { name: required(name), avatar },
		run: (call) => {
			const channel = guildChannelOf(call);
			const { world, body, actor, by } = call;
			checkWebhookLimit(call, channel);
			return serializeWebhook(world.webhooks.add(channel, { name: body.name, user: actor.user }, by), actor);
		},
	}),
	route(`GET ${byId}`, (call) => {
		// Creating one does not require managing the others.
		const made = webhookOf(call).application_id === call.actor.user.id;
		return serializeWebhook(made ? webhookOf(call) : managedWebhook(call), call.actor);
	}),
	route(`PATCH ${byId}`, {
		body: { name, avatar, channel_id: snowflake },
		run: (call) => {
			const webhook = managedWebhook(call);
			const { name, channel_id } = call.body;
			if (channel_id && channel_id !== webhook.channel_id) {
				const channel = call.world.channels.get(channel_id);
				const isHere = channel && isGuildChannel(channel) && channel.guild_id === webhook.guild_id;
				if (!isHere) throw apiError("UnknownChannel");
				requirePermissions(call, channel, "ManageWebhooks");
				checkWebhookLimit(call, channel);
			}
			call.world.webhooks.edit(webhook, { name, channel_id }, call.by);
			return serializeWebhook(webhook, call.actor);
		},
	}),
	route(`DELETE ${byId}`, (call) => call.world.webhooks.remove(managedWebhook(call), call.by)),
];

const writing = [
	route(`POST ${byToken}`, {
		query: { ...threadId, wait: boolean, with_components: boolean },
		body: {
			...contentFields,
			tts: boolean,
			username: name,
			avatar_url: text(0, 2048),
			thread_name: notSimulatedField("forum posts by webhooks"),
			applied_tags: notSimulatedField("forum posts by webhooks"),
		},
		run: (call) => {
			const { body, world, webhook } = call;
			const { application_id } = webhook;
			const place = placeOf(call);
			if (holdsPosts(place)) throw apiError("WebhooksPostedToForumChannelsMustHaveAThreadNameOrThreadId");
			requireContent(call, body);
			const message = world.messages.add(place, authorOf(webhook, body), {
				...newContent(call, place, body),
				webhook_id: webhook.id,
				...(application_id !== null && { application_id }),
			});
			return call.query.wait ? serializeMessage(call, message) : undefined;
		},
	}),
	route(`GET ${oneMessage}`, { query: threadId, run: (call) => serializeMessage(call, ownMessage(call).message) }),
	route(`PATCH ${oneMessage}`, {
		query: { ...threadId, with_components: boolean },
		body: contentFields,
		run: (call) => {
			const { place, message } = ownMessage(call);
			call.world.messages.edit(place, message, editedContent(call, place, message, call.body));
			return serializeMessage(call, message);
		},
	}),
	route(`DELETE ${oneMessage}`, {
		query: threadId,
		run: (call) => {
			const { place, message } = ownMessage(call);
			call.world.messages.remove(place, message, call.by);
		},
	}),
];

export const webhookRoutes = [...managing, ...writing];
