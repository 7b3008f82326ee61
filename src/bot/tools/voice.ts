// Voice and stage channels, and the members in them.

import {
	type APIStageInstance,
	ChannelType,
	type Guild,
	PermissionFlagsBits,
	RESTJSONErrorCodes,
	type RESTPatchAPIGuildMemberJSONBody,
	Routes,
	type StageChannel,
	type VoiceBasedChannel,
	type VoiceState,
} from "discord.js";
import * as v from "valibot";
import { channelsFromTop } from "../../discord/channel-order.ts";
import { channelName, memberFields, memberName } from "../../discord/describe.ts";
import * as find from "../../discord/find.ts";
import { absentIf, voiceChannel } from "../../discord/find.ts";
import { bitsIn, impliedIn, requirePermissions } from "../../discord/permissions.ts";
import { fieldLine, inlineText, oneField } from "../../discord/text.ts";
import { compareIds } from "../../guild-document/names/ids.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import { asking, mentions, result } from "../results/result.ts";
import {
	changesOf,
	flag,
	found,
	guild_id,
	list,
	oneOrMore,
	reason,
	requireOneOf,
	snowflakeOrEmpty,
	text,
} from "../tool/arguments/arguments.ts";
import { planEach, sample } from "../tool/bulk.ts";
import type { Plan } from "../tool/context.ts";
import { destructiveTool, readTool } from "../tool/define.ts";

export const listVoiceMembers = readTool({
	name: "list_voice_members",
	toolset: "voice",
	offered: "extra",
	title: "List voice members",
	description: "List the members in voice and stage channels, and whether they are muted or deafened.",
	input: { guild_id, channel_ids: v.optional(oneOrMore(found(find.voiceChannel, "channel"), 50, "Default: all.")) },
	run(_, { guild, channels }) {
		const lines = channelsFromTop(guild)
			.filter(({ id }) => !channels || channels.some((one) => one.id === id))
			.flatMap((channel) =>
				find.isVoice(channel)
					? [...guild.voiceStates.cache.values()]
							.filter(({ channelId }) => channelId === channel.id)
							.sort((a, b) => compareIds(a.id, b.id))
							.map((voice) => lineOf(voice, channel))
					: [],
			);
		if (lines.length === 0) return `Nobody is in ${channels?.map(channelName).join(", ") ?? "a voice channel"}.`;
		return [`${lines.length} member(s) in voice, by channel:`, ...lines];
	},
});

function lineOf(voice: VoiceState, channel: VoiceBasedChannel): string {
	const { member } = voice;
	return fieldLine(
		member ? memberFields(member) : `unknown | ID: ${voice.id}`,
		`in: ${channelName(channel)}`,
		voice.serverMute && "muted",
		voice.serverDeaf && "deafened",
		voice.selfMute && "self-muted",
		voice.selfDeaf && "self-deafened",
		voice.suppress && "audience",
		voice.requestToSpeakTimestamp ? "requests to speak" : "",
		voice.streaming && "streaming",
		voice.selfVideo && "camera on",
	);
}

export const editVoiceMembers = destructiveTool({
	name: "edit_voice_members",
	toolset: "voice",
	title: "Move, disconnect, mute or deafen members in voice",
	description:
		"Move members who are in voice to another channel, disconnect them, or mute or deafen them in all voice channels.",
	lock: "user_ids",
	permissions: [
		{ permission: "MoveMembers", with: "channel_id" },
		{ permission: "MuteMembers", with: "mute" },
		{ permission: "DeafenMembers", with: "deafen" },
	],
	permissionsIn: "run",
	input: {
		guild_id,
		user_ids: list(found(find.voiceMember, "member"), 1, 50, "Members in voice."),
		channel_id: v.optional({
			...snowflakeOrEmpty('Where to; "" disconnects.'),
			find: (guild: Guild, id: string) => (id === "" ? null : find.voiceChannel(guild, id)),
		}),
		mute: flag("Nobody hears them."),
		deafen: flag("They hear nobody."),
		reason,
	},
	plan({ channel_id, mute, deafen }, { guild, users, channel }) {
		requireOneOf({ channel_id, mute, deafen }, ["channel_id", "mute", "deafen"]);
		if (channel === null && (mute ?? deafen) !== undefined)
			throw invalidParameters(['channel_id: "" disconnects members, so it cannot be combined with mute or deafen']);
		const needed = bitsIn(undefined, [
			...(channel_id === undefined ? [] : (["MoveMembers"] as const)),
			...(mute === undefined ? [] : (["MuteMembers"] as const)),
			...(deafen === undefined ? [] : (["DeafenMembers"] as const)),
		]);
		for (const place of new Set(users.map(({ connectedTo }) => connectedTo)))
			requirePermissions(guild, place, needed | impliedIn(place));
		if (channel) requirePermissions(guild, channel, PermissionFlagsBits.MoveMembers | impliedIn(channel));
		const changes = users.map((user) => changeOf(user, { channel, mute, deafen }));
		const items = changes.filter(({ texts }) => texts.length > 0);
		if (items.length === 0)
			throw new SaidError(said("refusal.nothing_to_change"), {
				models: `Nothing would change: ${changes.map(({ member }) => memberName(member)).join(", ")} is already so. Nothing was done.`,
			});
		const done = (some: readonly Change[]) => {
			const who = mentions(some.map(({ member }) => member));
			if (channel) return said("result.move", { who, where: `<#${channel.id}>` });
			return said(channel === null ? "result.disconnect" : "result.voice", { who });
		};
		const same = changes.length - items.length;
		const who = mentions(items.map(({ member }) => member));
		const note = same > 0 && result(`${same} already so.`);
		return planEach({
			items,
			asks: asking(
				[`Would change ${items.length} member(s) in voice:`, ...sample(items, 50, describeChange)],
				channel === undefined
					? said("preview.voice", { who })
					: channel
						? said("preview.move", { who, where: `<#${channel.id}>` })
						: said("preview.disconnect", { who }),
				mute !== undefined && said(mute ? "preview.mute" : "preview.unmute"),
				deafen !== undefined && said(deafen ? "preview.deafen" : "preview.undeafen"),
			),
			rest: note,
			record:
				channel === undefined
					? undefined
					: {
							action: channel === null ? "disconnect" : "move",
							userIds: items.map(({ member }) => member.id),
							...(channel && { channelIds: [channel.id] }),
						},
			// A disconnected member is not in voice any more, which the same call would refuse.
			next: (left) => `To continue, call again with user_ids ${left.map(({ member }) => member.id).join(", ")}.`,
			idOf: ({ member }) => member.id,
			describe: describeChange,
			write: ({ member, body }) => guild.client.rest.patch(Routes.guildMember(guild.id, member.id), { body }),
			done: (count, of) => `Changed ${count} of ${of} member(s) in voice:`,
			people: done,
		});
	},
});

interface Wanted {
	channel: VoiceBasedChannel | null | undefined;
	mute: boolean | undefined;
	deafen: boolean | undefined;
}

type Change = ReturnType<typeof changeOf>;

/** `texts`: such as "muted". */
function changeOf({ member, connectedTo, voice }: find.VoiceMember, { channel, mute, deafen }: Wanted) {
	const body: RESTPatchAPIGuildMemberJSONBody = {};
	const texts: string[] = [];
	if (channel === null) {
		body.channel_id = null;
		texts.push(`disconnected from ${channelName(connectedTo)}`);
	} else if (channel && channel.id !== connectedTo.id) {
		body.channel_id = channel.id;
		texts.push(`from ${channelName(connectedTo)} to ${channelName(channel)}`);
	}
	if (mute !== undefined && mute !== voice.serverMute) {
		body.mute = mute;
		texts.push(mute ? "muted" : "no longer muted");
	}
	if (deafen !== undefined && deafen !== voice.serverDeaf) {
		body.deaf = deafen;
		texts.push(deafen ? "deafened" : "no longer deafened");
	}
	return { member, body, texts };
}

function describeChange({ member, texts }: Change): string {
	return `${memberName(member)}: ${texts.join(", ")}`;
}

async function stageChannel(guild: Guild, id: string): Promise<StageChannel> {
	const channel = await voiceChannel(guild, id);
	if (channel.type === ChannelType.GuildStageVoice) return channel;
	throw new ToolError(
		`${channelName(channel)} is not a stage channel. list_channels shows which ones are. Nothing was done.`,
	);
}

async function currentStage(channel: StageChannel): Promise<APIStageInstance> {
	return (await channel.client.rest.get(Routes.stageInstance(channel.id))) as APIStageInstance;
}

export const setStage = destructiveTool({
	name: "set_stage",
	toolset: "voice",
	offered: "extra",
	title: "Start, edit or end a stage",
	description:
		"Start the stage of a stage channel or change its topic (topic), or end it (end). Discord ends it when nobody speaks for some minutes.",
	lock: "channel_id",
	permissions: [
		"MuteMembers",
		"MoveMembers",
		"ManageChannels",
		{ permission: "MentionEveryone", with: "send_start_notification" },
	],
	input: {
		guild_id,
		channel_id: found(stageChannel, "stage channel"),
		topic: v.optional(text(1, 120, "The topic.")),
		send_start_notification: flag("Notify @everyone of the start.", false),
		end: flag("End it; members stay connected.", false),
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
