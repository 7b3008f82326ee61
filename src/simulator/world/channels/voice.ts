// Who is in which voice channel: joining, being moved, leaving. Nobody says anything there.

import { AuditLogEvent, ChannelType } from "discord.js";
import type {
	Guild,
	GuildChannel,
	Member,
	VoiceState,
} from "../state/entities.ts";
import { isVoice } from "../state/entities.ts";
import * as present from "../state/serialize.ts";
import { apply, type Changes, type Doing, Telling } from "../state/state.ts";

/** What people set for themselves. */
export type OwnVoice = Changes<
	Pick<VoiceState, "self_deaf" | "self_mute" | "self_video">
>;

/** The voice channels of all guilds, as far as people are in them. */
export class Voice extends Telling {
	/** The member is in this voice channel from now on, and in no other one of any guild. */
	joinVoice(
		channel: GuildChannel,
		member: Member,
		given: OwnVoice = {},
		doing?: Doing,
	): void {
		if (!isVoice(channel)) throw new Error(`${channel.name} is not for voice`);
		const guild = this.guildOf(channel);
		const { id } = member.user;
		for (const other of this.guilds.values()) {
			const left = other.members.get(id);
			if (other !== guild && left) this.leaveVoice(other, left);
		}
		const known = guild.voiceStates.get(id);
		const state: VoiceState = {
			user_id: id,
			session_id: known?.session_id ?? this.newId(),
			self_deaf: false,
			self_mute: false,
			self_video: false,
			...known,
			channel_id: channel.id,
			// Whoever comes to a stage listens at first.
			suppress: channel.type === ChannelType.GuildStageVoice,
			request_to_speak_timestamp: null,
		};
		apply(state, given);
		guild.voiceStates.set(id, state);
		this.tellVoice(guild, member);
		this.log(guild, doing, AuditLogEvent.MemberMove, null, {
			options: { channel_id: channel.id, count: "1" },
		});
	}

	/** The member is in no voice channel of the guild any more. */
	leaveVoice(guild: Guild, member: Member, doing?: Doing): void {
		if (!guild.voiceStates.delete(member.user.id)) return;
		this.tellVoice(guild, member);
		this.log(guild, doing, AuditLogEvent.MemberDisconnect, null, {
			options: { count: "1" },
		});
	}

	/** Tells where the member is in voice, and how. */
	protected tellVoice(guild: Guild, member: Member): void {
		this.tell("VOICE_STATE_UPDATE", guild, () => ({
			...present.voiceState(guild, member),
			guild_id: guild.id,
			member: present.member(member),
		}));
	}
}
