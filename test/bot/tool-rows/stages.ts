// The rows of stages in src/bot/tools/voice.ts.

import { AuditLogEvent, ChannelType } from "discord.js";
import * as person from "./person.ts";
import { inChannel, newChannel, type Row, type Scene, voiceChannelId } from "./scene.ts";

const moderates = inChannel("MuteMembers", "MoveMembers", "ManageChannels");

function oneStage(scene: Scene, topic: string) {
	const { stages } = scene.world.simulator.world;
	const channel = newChannel(scene, ChannelType.GuildStageVoice);
	stages.start(channel, { topic });
	return { channel, path: `/stage-instances/${channel.id}`, stages };
}

export const stagesRows: Record<string, Row> = {
	set_stage: {
		ids: { channel_id: voiceChannelId },
		person: person.inChannel(
			["MuteMembers", "MoveMembers", "ManageChannels"],
			{ argument: "channel_id" },
			person.speaks,
		),
		act(scene) {
			const { channel, path, stages } = oneStage(scene, "Soup");
			return {
				args: { channel_id: channel.id, end: true },
				request: `DELETE ${path}`,
				done: () => stages.of(channel) === undefined,
			};
		},
		reason: AuditLogEvent.StageInstanceDelete,
		needs: moderates,
		dryRun: /^Would end the stage in #thing-\d+ \(ID: \d+\), with 0 member\(s\) in it\.\nTopic: Soup$/m,
	},
};
