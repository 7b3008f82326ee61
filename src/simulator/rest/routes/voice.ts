// Voice states of members: reading, muting, deafening, moving and disconnecting.

import { ChannelType } from "discord.js";
import { type GuildChannel, isVoice } from "../../world/state/entities.ts";
import * as serialize from "../../world/state/serialize.ts";
import { requirePermissions } from "../access.ts";
import { apiError, found } from "../errors.ts";
import { text } from "../fields/fields.ts";
import { type Call, guildChannelOf, route } from "../route.ts";

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
			const { status } = call.body;
			call.world.voiceStatuses.set(channel, status || null, call.by);
		},
	}),
];

interface VoiceBody {
	mute?: boolean | undefined;
	deaf?: boolean | undefined;
	channel_id?: string | null | undefined;
}

/** The changes to make. Throws if the member is in no voice channel or the sender lacks a permission. */
export function checkVoice(call: Call<":guild_id/members/:user_id", VoiceBody>): {
	mute: boolean | undefined;
	deaf: boolean | undefined;
	target: GuildChannel | null | undefined;
} {
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
