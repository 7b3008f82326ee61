// The invite link of a bot, with the permissions that its tools and features need.
// https://discord.com/developers/docs/topics/oauth2#bot-authorization-flow

import { bitsIn, type Permission } from "../../discord/permissions.ts";
import { toolPermissions } from "../../guild-document/names/permission-names.ts";
import type { TomlSettings } from "../config/settings.ts";

const forReplies = ["ViewChannel", "SendMessages", "ReadMessageHistory"] as const;
const forModeration = [...forReplies, "EmbedLinks", "ManageMessages", "BanMembers"] as const;

const featurePermissions: Readonly<Record<keyof TomlSettings["features"], readonly Permission[]>> = {
	game: [...forModeration, "ManageRoles"],
	moderation: forModeration,
	chat: forReplies,
};

/** For tools and enabled features. */
export function invitePermissions(toml: Pick<TomlSettings, "features">): bigint {
	return neededFor(toolPermissions, toml.features);
}

/** `permissions` and those of the enabled features. */
export function neededFor(permissions: readonly Permission[], features: TomlSettings["features"]): bigint {
	const ofFeatures = Object.entries(featurePermissions).flatMap(([name, needed]) =>
		features[name as keyof typeof features] ? needed : [],
	);
	return bitsIn(undefined, [...permissions, ...ofFeatures]);
}

/** In a guild that already has the bot, the link grants missing permissions. */
export function inviteUrl(clientId: string, permissions: bigint): string {
	return `https://discord.com/oauth2/authorize?client_id=${clientId}&scope=bot%20applications.commands&permissions=${permissions}`;
}
