// Voice and stage channels, and the members in them.

import {
	type GuildMember,
	type RESTPatchAPIGuildMemberJSONBody,
	Routes,
	type VoiceBasedChannel,
	type VoiceState,
} from "discord.js";
import * as v from "valibot";
import { ToolError } from "../../mcp/tool.ts";
import { channelsFromTop } from "../channels/channel-order.ts";
import { channelName, memberFields, memberName } from "../discord/describe.ts";
import * as find from "../discord/find.ts";
import { compareIds } from "../discord/ids.ts";
import { fieldLine } from "../discord/text.ts";
import { flag, found, guild_id, reason } from "../tool/arguments.ts";
import { destructiveTool, editTool, readTool } from "../tool/define.ts";
import { changesOf } from "../tool/diff.ts";

export const listVoiceMembers = readTool({
	name: "list_voice_members",
	toolset: "voice",
	extra: true,
	title: "List voice members",
	description:
		"List the members in voice and stage channels, and whether they are muted or deafened.",
	input: v.strictObject({
		guild_id,
		channel_id: v.optional(
			found(find.voiceChannel, "voice or stage channel; default: all"),
		),
	}),
	run(_, { guild, channel }) {
		const lines = channelsFromTop(guild)
			.filter(({ id }) => !channel || id === channel.id)
			.flatMap((channel) =>
				find.isVoice(channel)
					? voiceStatesIn(channel).map((voice) => lineOf(voice, channel))
					: [],
			);
		if (lines.length === 0)
			return `Nobody is in ${channel ? channelName(channel) : "a voice channel"}.`;
		return [`${lines.length} member(s) in voice, by channel:`, ...lines];
	},
});

/** Returns the voice states of the members in a voice channel, sorted by user id. */
function voiceStatesIn({ guild, id }: VoiceBasedChannel): VoiceState[] {
	return [...guild.voiceStates.cache.values()]
		.filter(({ channelId }) => channelId === id)
		.sort((a, b) => compareIds(a.id, b.id));
}

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

const voiceMember = found(find.voiceMember, "member, who must be in voice");

export const moveVoiceMember = editTool({
	name: "move_voice_member",
	toolset: "voice",
	title: "Move a member in voice",
	description: "Move a member from one voice channel to another.",
	lock: "user_id",
	permissions: ["MoveMembers"],
	input: v.strictObject({
		guild_id,
		user_id: voiceMember,
		channel_id: found(find.voiceChannel, "voice or stage channel to move to"),
		reason,
	}),
	async run(_, { user: { member, connectedTo }, channel }) {
		if (channel.id === connectedTo.id)
			throw new ToolError(
				`Nothing would change: ${memberName(member)} is already in ${channelName(channel)}. Nothing was done.`,
			);
		await patch(member, { channel_id: channel.id });
		return `Moved ${memberName(member)} from ${channelName(connectedTo)} to ${channelName(channel)}.`;
	},
});

export const disconnectVoiceMember = destructiveTool({
	name: "disconnect_voice_member",
	toolset: "voice",
	title: "Disconnect a member from voice",
	description: "Disconnect a member from voice. They can rejoin.",
	lock: "user_id",
	permissions: ["MoveMembers"],
	input: v.strictObject({ guild_id, user_id: voiceMember, reason }),
	plan(_, { user: { member, connectedTo } }) {
		const target = `${memberName(member)} from ${channelName(connectedTo)}`;
		return {
			preview: `Would disconnect ${target}.`,
			write: () => patch(member, { channel_id: null }),
			result: `Disconnected ${target}.`,
		};
	},
});

export const modifyVoiceState = editTool({
	name: "modify_voice_state",
	toolset: "voice",
	title: "Mute or deafen a member",
	description:
		"Mute or deafen a member who is in voice, in all voice channels, or undo that.",
	lock: "user_id",
	permissions: [
		{
			permission: "MuteMembers",
			with: "mute",
			when: ({ mute }) => mute !== undefined,
		},
		{
			permission: "DeafenMembers",
			with: "deafen",
			when: ({ deafen }) => deafen !== undefined,
		},
	],
	input: v.strictObject({
		guild_id,
		user_id: voiceMember,
		mute: v.optional(flag("Nobody hears them.")),
		deafen: v.optional(flag("They hear nobody.")),
		reason,
	}),
	async run(args, { user: { member, voice } }) {
		const before = { mute: voice.serverMute, deafen: voice.serverDeaf };
		const changes = changesOf(before, args, memberName(member));
		await patch(member, { mute: changes.mute, deaf: changes.deafen });
		const words = { mute: "muted", deafen: "deafened" };
		const done = Object.entries(changes).map(
			([key, on]) => `${on ? "" : "no longer "}${words[key as "mute"]}`,
		);
		return `${memberName(member)} is now ${done.join(" and ")}.`;
	},
});

async function patch(
	{ id, guild }: GuildMember,
	body: RESTPatchAPIGuildMemberJSONBody,
): Promise<void> {
	await guild.client.rest.patch(Routes.guildMember(guild.id, id), { body });
}
