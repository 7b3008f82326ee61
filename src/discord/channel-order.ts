// The order of channels: as Discord's clients show them, and the position changes that move some of them.

import { ChannelType, type Guild } from "discord.js";
import { compareIds } from "../guild-document/names/ids.ts";
import type { Channel } from "./find.ts";
import { visibleChannels } from "./visible-channels.ts";

/** As in Discord's API: place and overwrites. */
export interface RawChannel {
	id: string;
	type: ChannelType;
	position: number;
	parent_id?: string | null;
	permission_overwrites?: { id: string; type: number; allow: string; deny: string }[];
}

/** Those without a category, then each category with its channels. */
export function channelsFromTop(guild: Guild): Channel[] {
	const visible = visibleChannels(guild);
	const all = visible
		.filter((channel): channel is Channel => !channel.isThread())
		.toJSON()
		.sort((a, b) => groupOf(a.type) - groupOf(b.type) || a.rawPosition - b.rawPosition || compareIds(a.id, b.id));
	const isRoot = ({ parentId }: Channel) => !parentId || !visible.has(parentId);
	return all.filter(isRoot).flatMap((root) => [root, ...all.filter(({ parentId }) => parentId === root.id)]);
}

function groupOf(type: ChannelType): number {
	if (type === ChannelType.GuildCategory) return 2;
	return type === ChannelType.GuildVoice || type === ChannelType.GuildStageVoice ? 1 : 0;
}

/** Of the same sort as `raw` (text, voice or category), from the top; with `raw` if it is there. */
export function siblingsIn(raw: RawChannel, all: readonly RawChannel[], parentId: string): RawChannel[] {
	const isCategory = raw.type === ChannelType.GuildCategory;
	return all
		.filter((other) => inSameGroup(other, raw) && (isCategory || (other.parent_id ?? "") === parentId))
		.sort((a, b) => a.position - b.position || compareIds(a.id, b.id));
}

type Typed = Pick<RawChannel, "type">;

/** Text channels, voice channels and categories have separate sequences of positions. */
export function inSameGroup(a: Typed, b: Typed): boolean {
	return groupOf(a.type) === groupOf(b.type);
}

/** `place`: index for `raws`, by default the end. Returns the order, and the fewest position changes for it. */
export function reorder(raws: readonly RawChannel[], before: readonly RawChannel[], place: number | undefined) {
	const free = [...new Set([...before, ...raws])].map(({ position }) => position).sort((a, b) => a - b);
	const others = before.filter((raw) => !raws.includes(raw));
	const at = place ?? others.length;
	const next = [...others.slice(0, at), ...raws, ...others.slice(at)];
	let last = -1;
	const moves: { id: string; position: number }[] = [];
	for (const [index, raw] of next.entries()) {
		// Channels with equal positions are ordered by id, so each gets a position of its own.
		last = Math.max(free[index] ?? 0, last + 1);
		if (raw.position !== last) moves.push({ id: raw.id, position: last });
	}
	return { order: next, moves: next.every((raw, index) => raw === before[index]) ? [] : moves };
}
