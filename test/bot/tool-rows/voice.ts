// The rows of src/bot/tools/voice.ts.

import { AuditLogEvent, ChannelType } from "discord.js";
import {
	categoryId,
	channelId,
	freshName,
	inChannel,
	inGuild,
	memberId,
	newChannel,
	newSpeaker,
	type Row,
	type Scene,
	voiceChannelId,
} from "./scene.ts";

const moves = inChannel("MoveMembers");

const creation = (type: ChannelType): Row => ({
	ids: { category_id: categoryId },
	act({ guild, world }: Scene) {
		const name = freshName();
		// Stage channels need it.
		const { guilds } = world.simulator.world;
		guilds.edit(guild, { features: ["COMMUNITY"] });
		return {
			args: { name },
			request: `POST /guilds/${guild.id}/channels`,
			done: () =>
				[...guild.channels.values()].some(
					(one) => one.name === name && one.type === type,
				),
		};
	},
	reason: AuditLogEvent.ChannelCreate,
	needs: inGuild("ManageChannels"),
});

export const voiceRows: Record<string, Row> = {
	create_voice_channel: creation(ChannelType.GuildVoice),
	create_stage_channel: creation(ChannelType.GuildStageVoice),
	edit_voice_channel: {
		ids: { channel_id: channelId, category_id: categoryId },
		act(scene) {
			const channel = newChannel(scene, ChannelType.GuildVoice);
			return {
				args: { channel_id: channel.id, user_limit: 7 },
				request: `PATCH /channels/${channel.id}`,
				done: () => channel.user_limit === 7,
			};
		},
		reason: AuditLogEvent.ChannelUpdate,
		needs: inChannel("ManageChannels"),
	},
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
