// Names of Discord's permissions and their bits.
// https://discord.com/developers/docs/topics/permissions

import { PermissionFlagsBits } from "discord.js";

const namesByBit = new Map(Object.entries(PermissionFlagsBits).map(([name, bit]) => [bit, name]));

/** By Discord's name, such as VIEW_CHANNEL. */
export const bitsByName: ReadonlyMap<string, bigint> = new Map(
	[...namesByBit].map(([bit, name]) => [officialName(name), bit]),
);

export const allBits = namesByBit.keys().reduce((all, bit) => all | bit, 0n);

/** "SendTTSMessages" → "SEND_TTS_MESSAGES". */
export function officialName(name: string): string {
	return name
		.replace(/([a-z])([A-Z])/g, "$1_$2")
		.replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
		.toUpperCase();
}

const otherNames: Readonly<Record<string, string>> = {
	CREATE_EXPRESSIONS: "CREATE_GUILD_EXPRESSIONS",
	CREATE_INVITE: "CREATE_INSTANT_INVITE",
	MANAGE_EMOJIS_AND_STICKERS: "MANAGE_GUILD_EXPRESSIONS",
	MANAGE_EXPRESSIONS: "MANAGE_GUILD_EXPRESSIONS",
	MANAGE_PERMISSIONS: "MANAGE_ROLES",
	MANAGE_SERVER: "MANAGE_GUILD",
	READ_MESSAGES: "VIEW_CHANNEL",
	TIMEOUT_MEMBERS: "MODERATE_MEMBERS",
	TIME_OUT_MEMBERS: "MODERATE_MEMBERS",
	USE_SLASH_COMMANDS: "USE_APPLICATION_COMMANDS",
	USE_VOICE_ACTIVITY: "USE_VAD",
	VIDEO: "STREAM",
	VIEW_CHANNELS: "VIEW_CHANNEL",
	VIEW_SERVER_INSIGHTS: "VIEW_GUILD_INSIGHTS",
};

/** Accepts "VIEW_CHANNEL", "View Channel" and "ViewChannel". */
export function bitOf(name: string): bigint | undefined {
	const official = officialName(name.trim()).replace(/[\s-]+/g, "_");
	return bitsByName.get(otherNames[official] ?? official);
}

/** Of a bot with all tools: what these declare, and what Discord requires in addition. */
export const toolPermissions: readonly (keyof typeof PermissionFlagsBits)[] = [
	"ViewChannel",
	"SendMessages",
	// Replaces SendMessages in threads.
	"SendMessagesInThreads",
	"CreatePublicThreads",
	"CreatePrivateThreads",
	"ManageThreads",
	"ReadMessageHistory",
	"AddReactions",
	// The bot can only deny permissions that it has: this one and the thread permissions above.
	"Speak",
	"EmbedLinks",
	"AttachFiles",
	"SendPolls",
	"CreateGuildExpressions",
	"ManageGuildExpressions",
	"MentionEveryone",
	"ManageMessages",
	"PinMessages",
	"ManageChannels",
	"ManageRoles",
	"ManageNicknames",
	"ChangeNickname",
	"ModerateMembers",
	"KickMembers",
	"BanMembers",
	"ViewAuditLog",
	"MoveMembers",
	"MuteMembers",
	"DeafenMembers",
	"SetVoiceChannelStatus",
	"ManageGuild",
	"CreateEvents",
	"ManageEvents",
	"ManageWebhooks",
	"CreateInstantInvite",
	// Without it, no other permission in a voice channel has an effect.
	"Connect",
];
