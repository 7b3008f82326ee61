// Stage instances: starting, editing and ending them, for stage moderators.

import {
	ChannelType,
	RESTJSONErrorCodes as Code,
	PermissionFlagsBits as Permission,
	StageInstancePrivacyLevel,
} from "discord.js";
import type {
	GuildChannel,
	StageInstance,
} from "../../world/state/entities.ts";
import { isGuildChannel } from "../../world/state/entities.ts";
import { channelPermissions, has } from "../../world/state/permissions.ts";
import { apiError, notSimulated } from "../errors.ts";
import * as f from "../fields.ts";
import { type Call, guildChannelOf, route } from "../route.ts";

/** The permissions of a stage moderator. */
const moderator =
	Permission.ManageChannels | Permission.MuteMembers | Permission.MoveMembers;

const one = "/stage-instances/:channel_id";
const fields = {
	topic: f.text(1, 120),
	// GUILD_ONLY. Discord has ended public stages.
	privacy_level: f.choice(StageInstancePrivacyLevel.GuildOnly),
};

/** The stage channel of a body, if the actor can view it. */
function namedChannel(call: Call, id: string): GuildChannel {
	const channel = call.world.channels.get(id);
	if (!channel || !isGuildChannel(channel)) throw apiError(Code.UnknownChannel);
	const permissions = permissionsOf(call, channel);
	if (!has(permissions, Permission.ViewChannel))
		throw apiError(Code.MissingAccess);
	if (channel.type !== ChannelType.GuildStageVoice)
		throw apiError(Code.CannotExecuteActionOnThisChannelType);
	if (!has(permissions, moderator)) throw apiError(Code.MissingPermissions);
	return channel;
}

function permissionsOf(call: Call, channel: GuildChannel): bigint {
	const guild = call.world.guilds.of(channel);
	return channelPermissions(guild, channel, call.actor.user.id);
}

/** The live stage of the path's channel. */
function stageOf(call: Call): StageInstance {
	const stage = call.world.stages.of(guildChannelOf(call));
	if (!stage) throw apiError(Code.UnknownStageInstance);
	return stage;
}

export const stageRoutes = [
	route({
		method: "POST",
		path: "/stage-instances",
		body: {
			...fields,
			topic: f.required(fields.topic),
			channel_id: f.required(f.snowflake),
			send_start_notification: f.boolean,
			guild_scheduled_event_id: f.nullable(f.snowflake),
		},
		run: (call) => {
			const { channel_id, topic, privacy_level } = call.body;
			if (call.body.guild_scheduled_event_id)
				throw notSimulated("stages of scheduled events");
			const channel = namedChannel(call, channel_id);
			if (call.world.stages.of(channel))
				throw apiError(Code.TheStageIsAlreadyOpen);
			const { stages } = call.world;
			return stages.start(channel, { topic, privacy_level }, call.by);
		},
	}),
	route({ method: "GET", path: one, run: (call) => stageOf(call) }),
	route({
		method: "PATCH",
		path: one,
		needs: moderator,
		body: fields,
		run: (call) => {
			const stage = stageOf(call);
			call.world.stages.edit(stage, call.body, call.by);
			return stage;
		},
	}),
	route({
		method: "DELETE",
		path: one,
		needs: moderator,
		run: (call) => call.world.stages.end(stageOf(call), call.by),
	}),
];
