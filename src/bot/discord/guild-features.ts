// What a guild's features allow.
// https://discord.com/developers/docs/resources/guild#guild-object-guild-features

import { type Guild, PermissionFlagsBits } from "discord.js";
import { requirePermissions } from "./permissions.ts";

/**
 * Whether a guild has a feature, such as "COMMUNITY". Discord does not document all features, so `feature` may be any
 * string.
 */
function hasFeature({ features }: Pick<Guild, "features">, feature: string): boolean {
	return features.some((one: string) => one === feature);
}

const featuresFor: Partial<Record<string, readonly string[]>> = {
	// 50024 without it: https://github.com/Rapptz/discord.py/issues/6883
	stage: ["COMMUNITY"],
	// 50035 without one: https://github.com/Lucky3028/terraform-provider-discord/issues/149
	announcement: ["COMMUNITY", "NEWS"],
};

/** Whether Discord allows channels of a kind, such as "stage", in a guild. Some kinds need a community guild. */
export function isAllowedKind(guild: Pick<Guild, "features">, kind: string): boolean {
	const features = featuresFor[kind];
	return features?.some((feature) => hasFeature(guild, feature)) ?? true;
}

/**
 * Whether only administrators may prune members (kick inactive ones) in the guild. Source: discord-userdoccers, Prune
 * Guild.
 */
export function limitsPruning(guild: Guild): boolean {
	return hasFeature(guild, "PRUNE_REQUIRES_ADMIN");
}

/**
 * Throws a ToolError if only administrators may prune members (kick inactive ones) and the bot is not an administrator.
 */
export function requirePruning(guild: Guild): void {
	if (!limitsPruning(guild)) return;
	const { Administrator } = PermissionFlagsBits;
	requirePermissions(guild, undefined, Administrator, () => [
		"The guild lets only administrators prune members (PRUNE_REQUIRES_ADMIN).",
	]);
}
