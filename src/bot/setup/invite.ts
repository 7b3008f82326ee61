// The link that invites a bot to a guild, with the permissions that what it does needs.
// https://discord.com/developers/docs/topics/oauth2#bot-authorization-flow

import type { TomlSettings } from "../config/settings.ts";
import { bitsIn, type Permission } from "../discord/permissions.ts";

/** What the tools need, each for some of what it does: all that is named in tools/, and what Discord asks for beside it. */
export const toolPermissions: readonly Permission[] = [
	"ViewChannel",
	"SendMessages",
	// Instead of SendMessages, in threads.
	"SendMessagesInThreads",
	"CreatePublicThreads",
	"CreatePrivateThreads",
	"ManageThreads",
	"ReadMessageHistory",
	"AddReactions",
	// To deny this, and the threads above, it has to have it.
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
	// Without it nothing counts that is allowed in a voice channel.
	"Connect",
];

/** What each feature needs, where it is on. */
const featurePermissions: Readonly<
	Record<keyof TomlSettings["features"], readonly Permission[]>
> = {
	game: [
		"ViewChannel",
		"SendMessages",
		"ReadMessageHistory",
		"EmbedLinks",
		"ManageMessages",
		"ManageRoles",
		"BanMembers",
	],
	auto_role: ["ManageRoles"],
	join_role: ["ManageRoles"],
	welcome: ["ViewChannel", "SendMessages"],
	moderation: [
		"ViewChannel",
		"SendMessages",
		"ReadMessageHistory",
		"EmbedLinks",
		"ManageMessages",
		"BanMembers",
	],
	chat: ["ViewChannel", "SendMessages", "ReadMessageHistory"],
};

/** The bits of all that a bot with these settings needs: for its tools, and for the features that are on. */
export function invitePermissions({
	features,
}: Pick<TomlSettings, "features">): bigint {
	return neededFor(toolPermissions, features);
}

/** The bits of these permissions, and of what the features that are on need. */
export function neededFor(
	permissions: readonly Permission[],
	features: TomlSettings["features"],
): bigint {
	const ofFeatures = Object.entries(featurePermissions).flatMap(
		([name, needed]) => (features[name as keyof typeof features] ? needed : []),
	);
	return bitsIn(undefined, [...permissions, ...ofFeatures]);
}

/** Where someone who manages a guild adds the bot to it, or grants it what it lacks. */
export function inviteUrl(clientId: string, permissions: bigint): string {
	return `https://discord.com/oauth2/authorize?client_id=${clientId}&scope=bot%20applications.commands&permissions=${permissions}`;
}
