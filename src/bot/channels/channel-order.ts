// The order of channels: as people see them, and what has to change for one to stand elsewhere.

import { ChannelType, type Guild } from "discord.js";
import type { Channel } from "../discord/find.ts";
import { compareIds } from "../discord/ids.ts";

/** A channel as Discord sends it, as far as its place goes. */
export interface RawChannel {
	id: string;
	type: ChannelType;
	position: number;
	parent_id?: string | null;
	permission_overwrites?: { id: string; allow: string; deny: string }[];
}

/** All channels of a guild as people see them: those in no category, then each category and what is in it. */
export function channelsFromTop(guild: Guild): Channel[] {
	const all = guild.channels.cache
		.filter((channel): channel is Channel => !channel.isThread())
		.toJSON()
		.sort(inOrder);
	const isRoot = ({ parentId }: Channel) =>
		!parentId || !guild.channels.cache.has(parentId);
	return all
		.filter(isRoot)
		.flatMap((root) => [
			root,
			...all.filter(({ parentId }) => parentId === root.id),
		]);
}

/** Categories below what is in none, what is heard below what is written. */
function inOrder(a: Channel, b: Channel): number {
	return (
		groupOf(a.type) - groupOf(b.type) ||
		a.rawPosition - b.rawPosition ||
		compareIds(a.id, b.id)
	);
}

/** Discord counts positions for each of these separately. */
function groupOf(type: ChannelType): number {
	if (type === ChannelType.GuildCategory) return 2;
	const { GuildVoice, GuildStageVoice } = ChannelType;
	return type === GuildVoice || type === GuildStageVoice ? 1 : 0;
}

/** What a channel shares its positions with in a category, from the top, itself included where it is there. */
export function likeIn(
	raw: RawChannel,
	all: readonly RawChannel[],
	parentId: string,
): RawChannel[] {
	const isCategory = raw.type === ChannelType.GuildCategory;
	return all
		.filter(
			(one) =>
				areLike(one, raw) && (isCategory || (one.parent_id ?? "") === parentId),
		)
		.sort((a, b) => a.position - b.position || compareIds(a.id, b.id));
}

/** Whether two channels share their positions. */
export function areLike(
	one: Pick<RawChannel, "type">,
	other: Pick<RawChannel, "type">,
): boolean {
	return groupOf(one.type) === groupOf(other.type);
}

/**
 * The like of these channels, with them in this order at `place` among the others, or else last; and the positions that
 * change for that, no more than need to. `before` is their like in the category as it is.
 */
export function placed(
	raws: readonly RawChannel[],
	before: readonly RawChannel[],
	place: number | undefined,
) {
	const free = [...new Set([...before, ...raws])]
		.map((one) => one.position)
		.sort((a, b) => a - b);
	const others = before.filter((one) => !raws.includes(one));
	const at = place ?? others.length;
	const next = [...others.slice(0, at), ...raws, ...others.slice(at)];
	let last = -1;
	const moves: { id: string; position: number }[] = [];
	for (const [index, one] of next.entries()) {
		// Two that share a position stand by their ids: each needs one of its own.
		last = Math.max(free[index] ?? 0, last + 1);
		if (one.position !== last) moves.push({ id: one.id, position: last });
	}
	const same = next.every((one, index) => one === before[index]);
	return { order: next, moves: same ? [] : moves };
}
