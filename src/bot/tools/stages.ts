// Live stages.

import {
	type APIStageInstance,
	ChannelType,
	type Guild,
	Routes,
	type StageChannel,
} from "discord.js";
import * as v from "valibot";
import { ToolError } from "../../mcp/tool.ts";
import { channelName } from "../discord/describe.ts";
import { voiceChannel } from "../discord/find.ts";
import { oneField } from "../discord/text.ts";
import { flag, found, guild_id, reason, text } from "../tool/arguments.ts";
import { destructiveTool, editTool } from "../tool/define.ts";
import { changesOf } from "../tool/diff.ts";

async function stageChannel(guild: Guild, id: string): Promise<StageChannel> {
	const channel = await voiceChannel(guild, id);
	if (channel.type === ChannelType.GuildStageVoice) return channel;
	throw new ToolError(
		`${channelName(channel)} is not a stage channel. list_channels shows which ones are. Nothing was done.`,
	);
}

/** Fetches the live stage of a stage channel. Rejects with Discord's error if no stage is live. */
async function currentStage(channel: StageChannel): Promise<APIStageInstance> {
	const route = Routes.stageInstance(channel.id);
	return (await channel.client.rest.get(route)) as APIStageInstance;
}

/** The permissions that make a member a moderator of a stage channel. */
const moderatorPermissions = [
	"MuteMembers",
	"MoveMembers",
	"ManageChannels",
] as const;
const stage = found(stageChannel, "stage channel");
const topic = text(1, 120, "The topic.");

export const startStage = editTool({
	name: "start_stage",
	toolset: "voice",
	extra: true,
	title: "Start a stage",
	description:
		"Start a stage, for members of the guild. Discord ends it when nobody speaks for some minutes.",
	lock: "channel_id",
	permissions: [
		...moderatorPermissions,
		{ permission: "MentionEveryone", with: "send_start_notification" },
	],
	input: v.strictObject({
		guild_id,
		channel_id: stage,
		topic,
		send_start_notification: v.optional(flag("Notify @everyone."), false),
		reason,
	}),
	async run(args, { discord, channel }) {
		const { topic, send_start_notification } = args;
		await discord.rest.post(Routes.stageInstances(), {
			body: { channel_id: channel.id, topic, send_start_notification },
		});
		return `${channelName(channel)} is live: ${oneField(topic)}`;
	},
});

export const editStage = editTool({
	name: "edit_stage",
	toolset: "voice",
	extra: true,
	title: "Edit a stage",
	description: "Change the topic of a stage channel that is live.",
	lock: "channel_id",
	permissions: moderatorPermissions,
	input: v.strictObject({ guild_id, channel_id: stage, topic, reason }),
	async run({ topic }, { discord, channel }) {
		const before = await currentStage(channel);
		const name = channelName(channel);
		const body = changesOf({ topic: before.topic }, { topic }, name);
		await discord.rest.patch(Routes.stageInstance(channel.id), { body });
		return [
			`Changed the topic of ${name}.`,
			`Before: ${oneField(before.topic)}`,
			`Now: ${oneField(topic)}`,
		];
	},
});

export const endStage = destructiveTool({
	name: "end_stage",
	toolset: "voice",
	extra: true,
	title: "End a stage",
	description:
		"End the stage in a stage channel. Members stay connected; start_stage starts a new one.",
	lock: "channel_id",
	permissions: moderatorPermissions,
	input: v.strictObject({ guild_id, channel_id: stage, reason }),
	async plan(_, { discord, channel }) {
		const { topic } = await currentStage(channel);
		const target = `the stage in ${channelName(channel)}, with ${channel.members.size} member(s) in it`;
		const about = `Topic: ${oneField(topic)}`;
		return {
			preview: [`Would end ${target}.`, about],
			write: () => discord.rest.delete(Routes.stageInstance(channel.id)),
			result: [`Ended ${target}.`, about],
		};
	},
});
