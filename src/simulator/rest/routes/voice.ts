// Voice states of members (reading, muting, deafening, moving, disconnecting), and stage instances, for stage moderators.
//
// A gap: A stage without speakers stays live, and `send_start_notification` has no effect.

import { ChannelType, PermissionFlagsBits as Permission, StageInstancePrivacyLevel } from "discord.js";
import { type GuildChannel, isGuildChannel, isVoice, type StageInstance } from "../../world/state/entities.ts";
import { has } from "../../world/state/permissions.ts";
import * as serialize from "../../world/state/serialize.ts";
import { permissionsIn, requirePermissions } from "../access.ts";
import { apiError, found, notSimulated } from "../errors.ts";
import { boolean, choice, nullable, required, snowflake, text } from "../fields/fields.ts";
import { type Call, guildChannelOf, type ReadForm, route } from "../route.ts";

export const voiceFields = { mute: boolean, deaf: boolean, channel_id: nullable(snowflake) };

/** The changes to make. Throws if the member is in no voice channel or the sender lacks a permission. */
export function checkVoice(call: Call<":guild_id/members/:user_id", ReadForm<typeof voiceFields>>) {
	const { guild, member, body } = call;
	const { channel_id, mute, deaf } = body;
	if (mute === undefined && deaf === undefined && channel_id === undefined) return { mute, deaf, target: undefined };
	const { channel_id: here = "" } = guild.voiceStates.get(member.user.id) ?? {};
	const current = found(guild.channels.get(here), "TargetUserIsNotConnectedToVoice");
	if (mute !== undefined) requirePermissions(call, current, "MuteMembers");
	if (deaf !== undefined) requirePermissions(call, current, "DeafenMembers");
	if (channel_id === undefined) return { mute, deaf, target: undefined };
	requirePermissions(call, current, "MoveMembers");
	if (channel_id === null) return { mute, deaf, target: null };
	const target = found(guild.channels.get(channel_id), "UnknownChannel");
	if (!isVoice(target)) throw apiError("CannotExecuteActionOnThisChannelType");
	requirePermissions(call, target, ["Connect", "MoveMembers"]);
	return { mute, deaf, target };
}

const moderator = Permission.ManageChannels | Permission.MuteMembers | Permission.MoveMembers;

const oneStage = "/stage-instances/:channel_id";
const stageFields = {
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

function stageOf(call: Call<typeof oneStage>): StageInstance {
	return found(call.world.stages.of(guildChannelOf(call)), "UnknownStageInstance");
}

export const voiceRoutes = [
	route("GET /guilds/:guild_id/voice-states/:user_id", (call) => {
		const { guild, member } = call;
		if (!guild.voiceStates.has(member.user.id)) throw apiError("UnknownVoiceState");
		return serialize.memberVoiceState(guild, member);
	}),
	route("PUT /channels/:channel_id/voice-status", {
		needs: "SetVoiceChannelStatus",
		body: { status: text(0, 500) },
		run: (call) => {
			const channel = guildChannelOf(call);
			if (channel.type !== ChannelType.GuildVoice) throw apiError("CannotExecuteActionOnThisChannelType");
			const guild = call.world.guilds.of(channel);
			const { id } = call.actor.user;
			// Actors outside the channel need to manage it.
			if (guild.voiceStates.get(id)?.channel_id !== channel.id) requirePermissions(call, channel, "ManageChannels");
			call.world.voiceStatuses.set(channel, call.body.status || null, call.by);
		},
	}),
	route("POST /stage-instances", {
		body: {
			...stageFields,
			topic: required(stageFields.topic),
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
	route(`GET ${oneStage}`, { run: stageOf }),
	route(`PATCH ${oneStage}`, {
		needs: moderator,
		body: stageFields,
		run: (call) => {
			const stage = stageOf(call);
			call.world.stages.edit(stage, call.body, call.by);
			return stage;
		},
	}),
	route(`DELETE ${oneStage}`, { needs: moderator, run: (call) => call.world.stages.remove(stageOf(call), call.by) }),
];
