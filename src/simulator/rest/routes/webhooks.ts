// Webhooks: managing them as a bot or by token, and their messages. Interactions use the same paths:
// interaction-messages.ts.
// https://discord.com/developers/docs/resources/webhook

import {
	ChannelType,
	RESTJSONErrorCodes as Code,
	PermissionFlagsBits as Permission,
} from "discord.js";
import { authorOf, serializeWebhook } from "../../world/guilds/webhooks.ts";
import {
	type GuildChannel,
	type GuildPlace,
	holdsPosts,
	isGuildChannel,
	isThread,
	type Message,
	type Webhook,
} from "../../world/state/entities.ts";
import { readerOf } from "../../world/state/serialize.ts";
import { apiError, formError } from "../errors.ts";
import * as f from "../fields.ts";
import {
	contentFields,
	editedContent,
	newContent,
	notSimulatedField,
	requireContent,
	requirePermissions,
} from "../message-body.ts";
import {
	actingWebhookOf,
	type Call,
	guildChannelOf,
	guildOf,
	param,
	route,
} from "../route.ts";

const webhookLimit = 15;
const byId = "/webhooks/:webhook_id";
const byToken = `${byId}/:webhook_token`;
const threadId = { thread_id: f.snowflake };

/** A valid webhook name. */
const name: f.Field<string | undefined> = {
	read: (value) => {
		const given = f.text(1, 80).read(value)?.trim();
		const word = /discord|clyde/i.exec(given ?? "")?.[0].toLowerCase();
		if (word)
			throw formError(
				"USERNAME_INVALID_CONTAINS",
				`Username cannot contain "${word}"`,
			);
		return given;
	},
};

/** Image data, of which only a hash is stored. */
const avatar: f.Field<string | undefined> = {
	read: (value) => {
		const data = f.text(0, 10_000_000).read(value);
		if (data !== undefined && !data.startsWith("data:image/"))
			throw formError("IMAGE_INVALID", "Invalid image");
		return data && hash(data);
	},
};

function hash(text: string): string {
	return Bun.hash(text).toString(16).padStart(32, "0");
}

function webhookOf(call: Call): Webhook {
	const webhook = call.world.webhooks.get(param(call, "webhook_id"));
	if (!webhook) throw apiError(Code.UnknownWebhook);
	return webhook;
}

/** The path's webhook. Throws unless the actor may manage it. */
function managedWebhook(call: Call): Webhook {
	const webhook = webhookOf(call);
	const channel = call.world.webhooks.channelOf(webhook);
	requirePermissions(call, channel, Permission.ManageWebhooks);
	return webhook;
}

function checkWebhookLimit({ world }: Call, channel: GuildChannel): void {
	if (channel.type === ChannelType.GuildCategory)
		throw apiError(Code.CannotExecuteActionOnThisChannelType);
	if (world.webhooks.list({ channel_id: channel.id }).length >= webhookLimit)
		throw apiError(Code.MaximumNumberOfWebhooksReached);
}

/** The channel that a webhook moves to. */
function targetOf(
	call: Call,
	webhook: Webhook,
	id: string | undefined,
): string | undefined {
	if (id === undefined || id === webhook.channel_id) return undefined;
	const channel = call.world.channels.get(id);
	const isHere =
		channel && isGuildChannel(channel) && channel.guild_id === webhook.guild_id;
	if (!isHere) throw apiError(Code.UnknownChannel);
	requirePermissions(call, channel, Permission.ManageWebhooks);
	checkWebhookLimit(call, channel);
	return id;
}

/** The webhook's channel, or a thread of it. */
function placeOf(call: Call<unknown, { thread_id: string | undefined }>) {
	const { world, query } = call;
	const own = world.webhooks.channelOf(actingWebhookOf(call));
	if (query.thread_id === undefined) return own;
	const thread = world.channels.get(query.thread_id);
	if (!thread || !isThread(thread) || thread.parent_id !== own.id)
		throw apiError(Code.UnknownChannel);
	return thread;
}

/** The path's message. Throws if the webhook did not send it. */
function ownMessage(call: Call, place: GuildPlace): Message {
	const id = param(call, "message_id");
	const message = call.world.messages.get(place.id, id);
	if (message?.webhook_id !== actingWebhookOf(call).id)
		throw apiError(Code.UnknownMessage);
	return message;
}

function serializeMessage({ world, actor }: Call, message: Message) {
	return world.messages.serialize(message, readerOf(actor));
}

const managing = [
	route({
		method: "GET",
		path: "/guilds/:guild_id/webhooks",
		needs: Permission.ManageWebhooks,
		run: (call) =>
			call.world.webhooks
				.list({ guild_id: guildOf(call).id })
				.map((one) => serializeWebhook(one, call.actor)),
	}),
	route({
		method: "GET",
		path: "/channels/:channel_id/webhooks",
		needs: Permission.ManageWebhooks,
		run: (call) =>
			call.world.webhooks
				.list({ channel_id: guildChannelOf(call).id })
				.map((one) => serializeWebhook(one, call.actor)),
	}),
	route({
		method: "POST",
		path: "/channels/:channel_id/webhooks",
		needs: Permission.ManageWebhooks,
		body: { name: f.required(name), avatar: f.nullable(avatar) },
		run: (call) => {
			const channel = guildChannelOf(call);
			const { world, body, actor, by } = call;
			checkWebhookLimit(call, channel);
			const given = {
				name: body.name,
				avatar: body.avatar ?? null,
				user: actor.user,
			};
			return serializeWebhook(world.webhooks.add(channel, given, by), actor);
		},
	}),
	route({
		method: "GET",
		path: byId,
		run: (call) => {
			// Creating one does not require managing the others.
			const made = webhookOf(call).application_id === call.actor.user.id;
			const webhook = made ? webhookOf(call) : managedWebhook(call);
			return serializeWebhook(webhook, call.actor);
		},
	}),
	route({
		method: "PATCH",
		path: byId,
		body: {
			name,
			avatar: f.nullable(avatar),
			channel_id: f.nullable(f.snowflake),
		},
		run: (call) => {
			const webhook = managedWebhook(call);
			const { name, avatar } = call.body;
			const channel_id = targetOf(
				call,
				webhook,
				call.body.channel_id ?? undefined,
			);
			const changes = { name, avatar, channel_id };
			call.world.webhooks.edit(webhook, changes, call.by);
			return serializeWebhook(webhook, call.actor);
		},
	}),
	route({
		method: "DELETE",
		path: byId,
		run: (call) => call.world.webhooks.remove(managedWebhook(call), call.by),
	}),
];

const actingByToken = [
	route({
		method: "GET",
		path: byToken,
		byToken: true,
		run: (call) => {
			const { user: _, ...rest } = actingWebhookOf(call);
			return rest;
		},
	}),
	route({
		method: "PATCH",
		path: byToken,
		byToken: true,
		body: { name, avatar: f.nullable(avatar) },
		run: (call) => {
			const webhook = actingWebhookOf(call);
			call.world.webhooks.edit(webhook, call.body);
			const { user: _, ...rest } = webhook;
			return rest;
		},
	}),
	route({
		method: "DELETE",
		path: byToken,
		byToken: true,
		run: (call) => call.world.webhooks.remove(actingWebhookOf(call)),
	}),
];

const writing = [
	route({
		method: "POST",
		path: byToken,
		byToken: true,
		query: { ...threadId, wait: f.boolean, with_components: f.boolean },
		body: {
			...contentFields,
			tts: f.boolean,
			username: f.nullable(name),
			avatar_url: f.nullable(f.text(0, 2048)),
			thread_name: notSimulatedField("forum posts by webhooks"),
			applied_tags: notSimulatedField("forum posts by webhooks"),
		},
		run: (call) => {
			const { body, world } = call;
			const webhook = actingWebhookOf(call);
			const place = placeOf(call);
			if (holdsPosts(place))
				throw apiError(
					Code.WebhooksPostedToForumChannelsMustHaveAThreadNameOrThreadId,
				);
			requireContent(call, body);
			const author = authorOf(webhook, {
				...(body.username ? { name: body.username } : {}),
				...(body.avatar_url ? { avatar: hash(body.avatar_url) } : {}),
			});
			const message = world.messages.add(place, author, {
				...newContent(call, place, body, {
					allowed: body.allowed_mentions ?? null,
				}),
				tts: body.tts ?? false,
				webhook_id: webhook.id,
				...(webhook.application_id === null
					? {}
					: { application_id: webhook.application_id }),
			});
			return call.query.wait ? serializeMessage(call, message) : undefined;
		},
	}),
	route({
		method: "GET",
		path: `${byToken}/messages/:message_id`,
		byToken: true,
		query: threadId,
		run: (call) => serializeMessage(call, ownMessage(call, placeOf(call))),
	}),
	route({
		method: "PATCH",
		path: `${byToken}/messages/:message_id`,
		byToken: true,
		query: { ...threadId, with_components: f.boolean },
		body: contentFields,
		run: (call) => {
			const place = placeOf(call);
			const message = ownMessage(call, place);
			const changes = editedContent(call, place, message, call.body, {
				allowed: call.body.allowed_mentions ?? null,
			});
			call.world.messages.edit(place, message, changes);
			return serializeMessage(call, message);
		},
	}),
	route({
		method: "DELETE",
		path: `${byToken}/messages/:message_id`,
		byToken: true,
		query: threadId,
		run: (call) => {
			const place = placeOf(call);
			call.world.messages.remove(place, ownMessage(call, place), call.by);
		},
	}),
];

export const webhookRoutes = [...managing, ...actingByToken, ...writing];
