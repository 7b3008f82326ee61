// Reading what Discord's API returns: the order of roles and channels, kinds of channels, and names of permissions.

import { type APIGuildForumTag, type APIOverwrite, type APIRole, ChannelFlags, ChannelType } from "discord.js";
import { compareIds } from "../names/ids.ts";
import { allBits, bitsByName } from "../names/permission-names.ts";
import type { GuildState } from "../steps.ts";

/** Optional fields are those that only some types have. */
export interface ApiChannel {
	id: string;
	type: ChannelType;
	name: string;
	position: number;
	parent_id?: string | null;
	permission_overwrites?: readonly APIOverwrite[];
	topic?: string | null;
	nsfw?: boolean;
	rate_limit_per_user?: number | null;
	bitrate?: number | null;
	user_limit?: number | null;
	rtc_region?: string | null;
	video_quality_mode?: number | null;
	default_thread_rate_limit_per_user?: number | null;
	default_auto_archive_duration?: number | null;
	available_tags?: readonly APIGuildForumTag[];
	flags?: number;
	default_reaction_emoji?: { emoji_id: string | null; emoji_name: string | null } | null;
	default_sort_order?: number | null;
	default_forum_layout?: number | null;
}

export const apiChannels = ({ channels }: GuildState) => channels as readonly unknown[] as readonly ApiChannel[];

/** Then nothing but id, type, position and category is known. */
export const isUnseen = ({ flags = 0 }: ApiChannel) => (flags & ChannelFlags.ChannelObfuscated) !== 0;

/** Without @everyone. https://discord.com/developers/docs/topics/permissions */
export function rolesFromTop({ guild }: GuildState): APIRole[] {
	return guild.roles
		.filter(({ id }) => id !== guild.id)
		.sort((a, b) => b.position - a.position || compareIds(a.id, b.id));
}

/** Discord's clients show voice and stage channels below the text channels of a category. */
export function isBelowText(type: ChannelType): boolean {
	return type === ChannelType.GuildVoice || type === ChannelType.GuildStageVoice;
}

/** In one category, by their order in Discord's clients. */
export function compareChannels(a: ApiChannel, b: ApiChannel): number {
	return Number(isBelowText(a.type)) - Number(isBelowText(b.type)) || a.position - b.position || compareIds(a.id, b.id);
}

/** A bit without a name is "BIT_" with its number: "BIT_53". */
export function permissionNamesOf(bits: string | bigint): string[] {
	const all = BigInt(bits);
	const names = [...bitsByName].filter(([, bit]) => (all & bit) !== 0n).map(([name]) => name);
	let rest = all & ~allBits;
	for (let bit = 0; rest !== 0n; bit++, rest >>= 1n) if (rest & 1n) names.push(`BIT_${bit}`);
	return names;
}

/** By the names of documents. */
export function bitsOfNames(names: readonly string[]): bigint {
	return names.reduce((bits, name) => {
		const [, number] = /^BIT_(\d+)$/.exec(name) ?? [];
		const bit = number ? 1n << BigInt(number) : (bitsByName.get(name) ?? 0n);
		return bits | bit;
	}, 0n);
}
