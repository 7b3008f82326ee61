// Stage instances: starting, editing and ending them, for stage moderators.
//
// A gap: A stage without speakers stays live, and `send_start_notification` has no effect.

import { ChannelType, PermissionFlagsBits as Permission, StageInstancePrivacyLevel } from "discord.js";
import { type GuildChannel, isGuildChannel, type StageInstance } from "../../world/state/entities.ts";
import { has } from "../../world/state/permissions.ts";
import { permissionsIn, requirePermissions } from "../access.ts";
import { apiError, found, notSimulated } from "../errors.ts";
import { boolean, choice, required, snowflake, text } from "../fields/fields.ts";
import { type Call, guildChannelOf, route } from "../route.ts";

const moderator = Permission.ManageChannels | Permission.MuteMembers | Permission.MoveMembers;

const one = "/stage-instances/:channel_id";
const fields = {
	topic: text(1, 120),
	// GUILD_ONLY. Discord has ended public stages.
	privacy_level: choice(StageInstancePrivacyLevel.GuildOnly),
};

function namedChannel(call: Call, id: string): GuildChannel {
	const channel = call.world.channels.get(id);
	if (!channel || !isGuildChannel(channel)) throw apiError("UnknownChannel");
	if (!has(permissionsIn(call, channel), "ViewChannel")) throw apiError("MissingAccess");
	if (channel.type !== ChannelType.GuildStageVoice) throw apiError("CannotExecuteActionOnThisChannelType");
	requirePermissions(call, channel, moderator);
	return channel;
}

function stageOf(call: Call<typeof one>): StageInstance {
	const stage = call.world.stages.of(guildChannelOf(call));
	return found(stage, "UnknownStageInstance");
}

export const stageRoutes = [
	route("POST /stage-instances", {
		body: {
			...fields,
			topic: required(fields.topic),
			channel_id: required(snowflake),
			send_start_notification: boolean,
			guild_scheduled_event_id: snowflake,
		},
		run: (call) => {
			const { stages } = call.world;
			const { channel_id, topic, privacy_level } = call.body;
			if (call.body.guild_scheduled_event_id) throw notSimulated("stages of scheduled events");
			const channel = namedChannel(call, channel_id);
			if (stages.of(channel)) throw apiError("TheStageIsAlreadyOpen");
			return stages.start(channel, { topic, privacy_level }, call.by);
		},
	}),
	route(`GET ${one}`, { run: stageOf }),
	route(`PATCH ${one}`, {
		needs: moderator,
		body: fields,
		run: (call) => {
			const stage = stageOf(call);
			call.world.stages.edit(stage, call.body, call.by);
			return stage;
		},
	}),
	route(`DELETE ${one}`, { needs: moderator, run: (call) => call.world.stages.end(stageOf(call), call.by) }),
];
