// The step that brings channels and categories into the document's order.

import type { Category, Channel } from "../format/document.ts";
import { mergeOrder } from "../format/merge.ts";
import { channelsWithCategories } from "../format/references.ts";
import { isPlaceholder } from "../match/match.ts";
import { editedKinds, kindOf } from "../names/channel-kinds.ts";
import { apiChannels, compareChannels, isBelowText } from "../read/from-api.ts";
import { isNewAmong, movedIn } from "./order.ts";
import { placesIn, type StepList } from "./step-list.ts";

/** One step. Discord orders text channels of a category, its voice channels, and categories separately. */
export function orderChannels(list: StepList): void {
	const { wanted, ids, nameOf } = list;
	const all = apiChannels(list.state)
		.filter(({ type }) => kindOf(type))
		.toSorted(compareChannels);
	const isCategory = (type: number) => type === editedKinds.category.type;
	const listed = new Set(channelsWithCategories(wanted).map(({ channel }) => channel.id));
	const orders: { order: string[]; moves: string[] }[] = [];
	const addOrder = (now: readonly string[], things: readonly (Channel | Category)[]) => {
		// What the job has created and someone has deleted has no place.
		const placed = things.filter(({ id = "" }) => !isPlaceholder(id) || !ids.has(id));
		const own = placed.map(({ id = "" }) => id);
		// New ones at the end of the document come last, unless one that is only named, to say where, is before them.
		const end = own.findLastIndex((id) => !isPlaceholder(id)) + 1;
		const before = placed[end - 1];
		const order =
			before && !Object.keys(before).every((field) => naming.has(field))
				? [...mergeOrder(now, own.slice(0, end)), ...own.slice(end)]
				: mergeOrder(now, own);
		const moved = movedIn(now, order, own);
		if (moved.length > 0 || isNewAmong(order))
			orders.push({ order, moves: [...moved, ...order.filter(isPlaceholder)] });
	};
	const addPlace = (parentId: string, channels: readonly Channel[]) => {
		const kinds = new Map(channels.map(({ id = "", kind }) => [id, kind]));
		for (const below of [false, true]) {
			const isIn = (type: number) => !isCategory(type) && isBelowText(type) === below;
			const own = channels.filter(({ kind = "text" }) => isIn(editedKinds[kind].type));
			const now = all.filter(
				({ id, type, parent_id }) =>
					isIn(type) && (kinds.has(id) || ((parent_id ?? "") === parentId && !listed.has(id))),
			);
			addOrder(
				now.map(({ id }) => id),
				own,
			);
		}
	};
	if (wanted.channels) addPlace("", wanted.channels);
	for (const { id = "", channels } of wanted.categories ?? []) if (channels) addPlace(id, channels);
	if (wanted.categories)
		addOrder(
			all.filter(({ type }) => isCategory(type)).map(({ id }) => id),
			wanted.categories,
		);
	if (orders.length === 0) return;
	list.add("channel order", {
		action: "order",
		kind: "channel",
		name: "channels",
		targetId: "all",
		changes: orders.flatMap(({ order, moves }) => placesIn(order, moves, nameOf)),
		guard: { moves: orders.flatMap(({ moves }) => moves) },
		path: `${list.guildPath}/channels`,
		body: orders.flatMap(({ order }) => order.map((id, position) => ({ id, position }))),
		needs: [],
	});
}

const naming: ReadonlySet<string> = new Set(["id", "key", "name", "kind"]);
