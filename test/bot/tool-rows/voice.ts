// The rows of src/bot/tools/voice.ts.

import { AuditLogEvent, ChannelType } from "discord.js";
import {
	inChannel,
	memberId,
	newChannel,
	newSpeaker,
	type Row,
	voiceChannelId,
} from "./scene.ts";

const moves = inChannel("MoveMembers");

export const voiceRows: Record<string, Row> = {
	list_voice_members: {
		ids: { channel_id: voiceChannelId },
		args: (scene) => ({
			channel_id: newSpeaker(scene, scene.guild).channel.id,
		}),
		answer: () => ["1 member(s) in voice, by channel:", "| in: #thing-"],
	},
	move_voice_member: {
		ids: { user_id: memberId, channel_id: voiceChannelId },
		act(scene) {
			const { guild } = scene;
			const { id } = newSpeaker(scene, guild);
			const to = newChannel(scene, ChannelType.GuildVoice).id;
			return {
				args: { user_id: id, channel_id: to },
				request: `PATCH /guilds/${guild.id}/members/${id}`,
				done: () => guild.voiceStates.get(id)?.channel_id === to,
			};
		},
		reason: AuditLogEvent.MemberMove,
		needs: moves,
	},
	disconnect_voice_member: {
		ids: { user_id: memberId },
		act(scene) {
			const { guild } = scene;
			const { id, channel } = newSpeaker(scene, guild);
			return {
				args: { user_id: id },
				request: `PATCH /guilds/${guild.id}/members/${id}`,
				done: () => !guild.voiceStates.has(id),
				channel: channel.id,
			};
		},
		reason: AuditLogEvent.MemberDisconnect,
		needs: moves,
		dryRun:
			/^Would disconnect thing-\d+ \(@thing-\d+, ID: \d+\) from #thing-\d+ \(ID: \d+\)\.$/m,
	},
	modify_voice_state: {
		ids: { user_id: memberId },
		act(scene) {
			const { id, channel, member } = newSpeaker(scene, scene.guild);
			return {
				args: { user_id: id, mute: true },
				request: `PATCH /guilds/${scene.guild.id}/members/${id}`,
				done: () => member.mute,
				channel: channel.id,
			};
		},
		reason: AuditLogEvent.MemberUpdate,
		needs: inChannel("MuteMembers"),
	},
};
