// https://discord.com/developers/docs/resources/guild#guild-object-guild-features

import { type Guild, PermissionFlagsBits } from "discord.js";
import { requirePermissions } from "./permissions.ts";

/** Discord does not document all features. */
function hasFeature({ features }: Pick<Guild, "features">, feature: string): boolean {
	return features.some((one: string) => one === feature);
}

const featuresFor: Partial<Record<string, readonly string[]>> = {
	// 50024 without it: https://github.com/Rapptz/discord.py/issues/6883
	stage: ["COMMUNITY"],
	// 50035 without one: https://github.com/Lucky3028/terraform-provider-discord/issues/149
	announcement: ["COMMUNITY", "NEWS"],
};

/** Whether a guild may have channels of a kind, such as "stage". */
export function isAllowedKind(guild: Pick<Guild, "features">, kind: string): boolean {
	return featuresFor[kind]?.some((feature) => hasFeature(guild, feature)) ?? true;
}

/** Source: discord-userdoccers, Prune Guild. */
export function limitsPruning(guild: Guild): boolean {
	return hasFeature(guild, "PRUNE_REQUIRES_ADMIN");
}

export function requirePruning(guild: Guild): void {
	if (!limitsPruning(guild)) return;
	requirePermissions(guild, undefined, PermissionFlagsBits.Administrator, () => [
		"The guild lets only administrators prune members (PRUNE_REQUIRES_ADMIN).",
	]);
}
