// Voice states of members: reading, muting, deafening, moving and disconnecting.

import {
	ChannelType,
	RESTJSONErrorCodes as Code,
	PermissionFlagsBits as Permission,
} from "discord.js";
import type {
	Guild,
	GuildChannel,
	Member,
} from "../../world/state/entities.ts";
import { isVoice } from "../../world/state/entities.ts";
import { channelPermissions, has } from "../../world/state/permissions.ts";
import * as serialize from "../../world/state/serialize.ts";
import { apiError } from "../errors.ts";
import { nullable, text } from "../fields.ts";
import {
	type Call,
	guildChannelOf,
	guildOf,
	memberOf,
	route,
} from "../route.ts";

export const voiceRoutes = [
	route({
		method: "GET",
		path: "/guilds/:guild_id/voice-states/:user_id",
		run: (call) => {
			const guild = guildOf(call);
			const member = memberOf(call);
			if (!guild.voiceStates.has(member.user.id))
				throw apiError(Code.UnknownVoiceState);
			return {
				...serialize.voiceState(guild, member),
				guild_id: guild.id,
				member: serialize.member(member),
			};
		},
	}),
	route({
		method: "PUT",
		path: "/channels/:channel_id/voice-status",
		needs: Permission.SetVoiceChannelStatus,
		body: { status: nullable(text(0, 500)) },
		run: (call) => {
			const channel = guildChannelOf(call);
			if (channel.type !== ChannelType.GuildVoice)
				throw apiError(Code.CannotExecuteActionOnThisChannelType);
			const guild = call.world.guilds.of(channel);
			const { id } = call.actor.user;
			// Actors outside the channel need to manage it.
			if (
				guild.voiceStates.get(id)?.channel_id !== channel.id &&
				!has(channelPermissions(guild, channel, id), Permission.ManageChannels)
			)
				throw apiError(Code.MissingPermissions);
			const { status } = call.body;
			call.world.voiceStatuses.set(channel, status || null, call.by);
		},
	}),
];

interface VoiceBody {
	mute?: boolean | null | undefined;
	deaf?: boolean | null | undefined;
	channel_id?: string | null | undefined;
}

/** The changes to a member's voice state. `target` is null to disconnect, undefined to leave them where they are. */
export function checkVoice(
	call: Call,
	guild: Guild,
	member: Member,
	body: VoiceBody,
): {
	mute: boolean | undefined;
	deaf: boolean | undefined;
	target: GuildChannel | null | undefined;
} {
	const mute = body.mute ?? undefined;
	const deaf = body.deaf ?? undefined;
	const { channel_id } = body;
	if (mute === undefined && deaf === undefined && channel_id === undefined)
		return { mute, deaf, target: undefined };
	const { channel_id: here = "" } = guild.voiceStates.get(member.user.id) ?? {};
	const current = guild.channels.get(here);
	if (!current) throw apiError(Code.TargetUserIsNotConnectedToVoice);
	const requireIn = (channel: GuildChannel, bits: bigint) => {
		if (!has(channelPermissions(guild, channel, call.actor.user.id), bits))
			throw apiError(Code.MissingPermissions);
	};
	if (mute !== undefined) requireIn(current, Permission.MuteMembers);
	if (deaf !== undefined) requireIn(current, Permission.DeafenMembers);
	if (channel_id === undefined) return { mute, deaf, target: undefined };
	requireIn(current, Permission.MoveMembers);
	if (channel_id === null) return { mute, deaf, target: null };
	const target = guild.channels.get(channel_id);
	if (!target) throw apiError(Code.UnknownChannel);
	if (!isVoice(target))
		throw apiError(Code.CannotExecuteActionOnThisChannelType);
	requireIn(target, Permission.Connect | Permission.MoveMembers);
	return { mute, deaf, target };
}
