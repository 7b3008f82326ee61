// The rows of src/bot/tools/voice.ts.

import { AuditLogEvent, ChannelType } from "discord.js";
import * as person from "./person.ts";
import { inChannel, memberId, newSpeaker, type Row, voiceChannelId } from "./scene.ts";

export const voiceRows: Record<string, Row> = {
	list_voice_members: {
		ids: { channel_ids: voiceChannelId },
		person: person.anyMember({
			type: ChannelType.GuildVoice,
			leavesOut(scene, hidden) {
				const { id, member } = newSpeaker(scene, scene.guild);
				scene.world.simulator.world.voice.join(hidden, member);
				return { args: {}, secrets: [id, hidden.id, hidden.name] };
			},
		}),
		args: (scene) => ({ channel_ids: [newSpeaker(scene, scene.guild).channel.id] }),
		answer: () => ["1 member(s) in voice, by channel:", "| in: #thing-"],
	},
	edit_voice_members: {
		ids: { user_ids: memberId, channel_id: voiceChannelId },
		person: person.inChannel(["MuteMembers"], { refusal: "is not in a voice channel" }, person.speaks),
		act(scene) {
			const { id, channel, member } = newSpeaker(scene, scene.guild);
			return {
				args: { user_ids: [id], mute: true },
				request: `PATCH /guilds/${scene.guild.id}/members/${id}`,
				done: () => member.mute,
				channel: channel.id,
			};
		},
		reason: AuditLogEvent.MemberUpdate,
		needs: inChannel("MuteMembers"),
		dryRun: /^@thing-\d+ \(ID: \d+\): muted$/m,
		refuses: [[{ mute: undefined }], [{ channel_id: "" }]],
	},
};
