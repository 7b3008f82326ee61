// The rows of src/bot/tools/stages.ts.

import { AuditLogEvent, ChannelType } from "discord.js";
import {
	inChannel,
	newChannel,
	type Row,
	type Scene,
	voiceChannelId,
} from "./scene.ts";

const moderates = inChannel("MuteMembers", "MoveMembers", "ManageChannels");

function oneStage(scene: Scene, topic?: string) {
	const { stages } = scene.world.simulator.world;
	const channel = newChannel(scene, ChannelType.GuildStageVoice);
	if (topic !== undefined) stages.start(channel, { topic });
	return { channel, path: `/stage-instances/${channel.id}`, stages };
}

export const stagesRows: Record<string, Row> = {
	start_stage: {
		ids: { channel_id: voiceChannelId },
		act(scene) {
			const { channel, stages } = oneStage(scene);
			return {
				args: { channel_id: channel.id, topic: "Soup" },
				request: "POST /stage-instances",
				done: () => stages.of(channel)?.topic === "Soup",
			};
		},
		reason: AuditLogEvent.StageInstanceCreate,
		needs: moderates,
	},
	edit_stage: {
		ids: { channel_id: voiceChannelId },
		act(scene) {
			const { channel, path, stages } = oneStage(scene, "Soup");
			return {
				args: { channel_id: channel.id, topic: "Bread" },
				request: `PATCH ${path}`,
				done: () => stages.of(channel)?.topic === "Bread",
			};
		},
		reason: AuditLogEvent.StageInstanceUpdate,
		needs: moderates,
	},
	end_stage: {
		ids: { channel_id: voiceChannelId },
		act(scene) {
			const { channel, path, stages } = oneStage(scene, "Soup");
			return {
				args: { channel_id: channel.id },
				request: `DELETE ${path}`,
				done: () => stages.of(channel) === undefined,
			};
		},
		reason: AuditLogEvent.StageInstanceDelete,
		needs: moderates,
		dryRun:
			/^Would end the stage in #thing-\d+ \(ID: \d+\), with 0 member\(s\) in it\.\nTopic: Soup$/m,
	},
};
