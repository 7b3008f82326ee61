// Reading what Discord's API returns: the order of roles and channels, kinds of channels, and names of permissions.

import {
	type APIGuildForumChannel,
	type APIGuildVoiceChannel,
	type APIRole,
	type APITextChannel,
	ChannelFlags,
	ChannelType,
} from "discord.js";
import { compareIds } from "../names/ids.ts";
import { allBits, bitsByName } from "../names/permission-names.ts";
import type { GuildState, StepKind } from "../steps.ts";

type Without<T> = Omit<T, "type">;

/** Optional fields are those that only some types have. */
export type ApiChannel = Partial<
	Without<APITextChannel> & Without<APIGuildVoiceChannel> & Without<APIGuildForumChannel>
> & { id: string; type: ChannelType; name: string; position: number };

export const apiChannels = ({ channels }: GuildState) => channels as readonly unknown[] as readonly ApiChannel[];

/** Undefined if there are none of this kind, or they were not fetched. */
export function thingsOf(
	state: GuildState,
	kind: StepKind,
): readonly { id: string; name?: string | null }[] | undefined {
	const { guild, channels, bans, automod, events: event, webhooks: webhook } = state;
	const emoji = guild.emojis.flatMap(({ id, ...rest }) => (id === null ? [] : { ...rest, id }));
	const others = { emoji, automod, event, webhook, ban: bans?.map(({ user }) => ({ ...user, name: user.username })) };
	const all = { ...others, role: guild.roles, everyone: guild.roles, channel: channels, category: channels };
	return all[kind as keyof typeof all];
}

/** Then nothing but id, type, position and category is known. */
export const isUnseen = ({ flags }: ApiChannel) => ((flags ?? 0) & ChannelFlags.ChannelObfuscated) !== 0;

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

/** Discord's, such as VIEW_CHANNEL. A bit without a name is "BIT_" with its number: "BIT_53". */
export function permissionNames(bits: string | bigint): string[] {
	const all = BigInt(bits);
	const names = [...bitsByName].filter(([, bit]) => (all & bit) !== 0n).map(([name]) => name);
	let rest = BigInt.asUintN(64, all & ~allBits);
	for (let bit = 0; rest !== 0n; bit++, rest >>= 1n) if (rest & 1n) names.push(`BIT_${bit}`);
	return names;
}

/** By the names of documents. */
export function bitsOfNames(names: readonly string[]): bigint {
	return names.reduce((bits, name) => {
		const [, number] = /^BIT_(\d+)$/.exec(name) ?? [];
		return bits | (number ? 1n << BigInt(number) : (bitsByName.get(name) ?? 0n));
	}, 0n);
}
