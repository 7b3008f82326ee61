// Live stages.

import {
	type APIStageInstance,
	ChannelType,
	type Guild,
	RESTJSONErrorCodes,
	Routes,
	type StageChannel,
} from "discord.js";
import * as v from "valibot";
import { channelName } from "../../discord/describe.ts";
import { absentIf, voiceChannel } from "../../discord/find.ts";
import { inlineText, oneField } from "../../discord/text.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { said } from "../../texts/texts.ts";
import { asking } from "../results/result.ts";
import { flag, found, guild_id, reason, text } from "../tool/arguments/arguments.ts";
import { changesOf } from "../tool/arguments/diff.ts";
import type { Plan } from "../tool/context.ts";
import { destructiveTool } from "../tool/define.ts";

async function stageChannel(guild: Guild, id: string): Promise<StageChannel> {
	const channel = await voiceChannel(guild, id);
	if (channel.type === ChannelType.GuildStageVoice) return channel;
	throw new ToolError(
		`${channelName(channel)} is not a stage channel. list_channels shows which ones are. Nothing was done.`,
	);
}

async function currentStage(channel: StageChannel): Promise<APIStageInstance> {
	const route = Routes.stageInstance(channel.id);
	return (await channel.client.rest.get(route)) as APIStageInstance;
}

const moderatorPermissions = ["MuteMembers", "MoveMembers", "ManageChannels"] as const;

export const setStage = destructiveTool({
	name: "set_stage",
	toolset: "voice",
	offered: "extra",
	title: "Start, edit or end a stage",
	description:
		"Start the stage of a stage channel or change its topic (topic), or end it (end). Discord ends it when nobody speaks for some minutes.",
	lock: "channel_id",
	permissions: [...moderatorPermissions, { permission: "MentionEveryone", with: "send_start_notification" }],
	input: {
		guild_id,
		channel_id: found(stageChannel, "stage channel"),
		topic: v.optional(text(1, 120, "The topic.")),
		send_start_notification: v.optional(flag("Notify @everyone of the start."), false),
		end: v.optional(flag("End it; members stay connected."), false),
		reason,
	},
	plan({ topic, send_start_notification, end }, { channel }) {
		if (end === (topic !== undefined)) throw invalidParameters(["topic, end: expected exactly one of the two"]);
		if (topic === undefined) return planEnd(channel);
		return planTopic(channel, topic, send_start_notification);
	},
});

async function planEnd(channel: StageChannel): Promise<Plan> {
	const { topic } = await currentStage(channel);
	const target = `the stage in ${channelName(channel)}, with ${channel.members.size} member(s) in it`;
	const about = `Topic: ${oneField(topic)}`;
	return {
		preview: asking([`Would end ${target}.`, about], said("preview.stage_end", { where: `<#${channel.id}>` })),
		write: () => channel.client.rest.delete(Routes.stageInstance(channel.id)),
		result: [`Ended ${target}.`, about],
	};
}

function planStart(channel: StageChannel, topic: string, send_start_notification: boolean): Plan {
	const name = channelName(channel);
	return {
		preview: asking(
			`Would start the stage in ${name}${send_start_notification ? " and notify @everyone" : ""}: ${oneField(topic)}`,
			said(send_start_notification ? "preview.stage_start_notify" : "preview.stage_start", {
				where: `<#${channel.id}>`,
				topic: inlineText(topic, 200),
			}),
		),
		write: () =>
			channel.client.rest.post(Routes.stageInstances(), {
				body: { channel_id: channel.id, topic, send_start_notification },
			}),
		result: `${name} is live: ${oneField(topic)}`,
	};
}

async function planTopic(channel: StageChannel, topic: string, notifies: boolean): Promise<Plan> {
	const before = await absentIf([RESTJSONErrorCodes.UnknownStageInstance], () => currentStage(channel));
	if (!before) return planStart(channel, topic, notifies);
	const name = channelName(channel);
	if (notifies)
		throw new ToolError(
			`The stage in ${name} is already live, so nobody can be notified of its start: leave out send_start_notification to change the topic. Nothing was done.`,
		);
	const body = changesOf({ topic: before.topic }, { topic }, name);
	const lines = [`Before: ${oneField(before.topic)}`, `Now: ${oneField(topic)}`];
	return {
		preview: asking(
			[`Would change the topic of ${name}.`, ...lines],
			said("preview.stage_topic", { where: `<#${channel.id}>`, topic: inlineText(topic, 200) }),
		),
		write: () => channel.client.rest.patch(Routes.stageInstance(channel.id), { body }),
		result: [`Changed the topic of ${name}.`, ...lines],
	};
}
