// What a guild's features allow.
// https://discord.com/developers/docs/resources/guild#guild-object-guild-features

import { type Guild, PermissionFlagsBits } from "discord.js";
import { requirePermissions } from "./permissions.ts";

/** Whether a guild has a feature. Not all are documented. */
function hasFeature({ features }: Guild, feature: string): boolean {
	return features.some((one: string) => one === feature);
}

/** The features of which Discord demands one to create a channel of a kind. */
const featuresFor: Partial<Record<string, readonly string[]>> = {
	// 50024 without it: https://github.com/Rapptz/discord.py/issues/6883
	stage: ["COMMUNITY"],
	// 50035 without one: https://github.com/Lucky3028/terraform-provider-discord/issues/149
	announcement: ["COMMUNITY", "NEWS"],
};

/** Whether Discord allows a kind of channel, such as "stage", in a guild. Some need a community. */
export function isAllowedKind(guild: Guild, kind: string): boolean {
	const features = featuresFor[kind];
	return features?.some((feature) => hasFeature(guild, feature)) ?? true;
}

/** Whether only administrators may prune members: discord-userdoccers, Prune Guild. */
export function limitsPruning(guild: Guild): boolean {
	return hasFeature(guild, "PRUNE_REQUIRES_ADMIN");
}

/** Throws a ToolError if only administrators may prune members, and the bot is none. */
export function requirePruning(guild: Guild): void {
	if (!limitsPruning(guild)) return;
	const { Administrator } = PermissionFlagsBits;
	requirePermissions(guild, undefined, Administrator, () => [
		"The guild lets only administrators prune members (PRUNE_REQUIRES_ADMIN).",
	]);
}
