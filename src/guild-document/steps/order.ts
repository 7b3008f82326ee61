// The steps that bring roles, channels and categories into the document's order, with new ones where they belong.

import { listFirst } from "../../lib/text.ts";
import type { Category, Channel } from "../format/document.ts";
import { mergeOrder } from "../format/merge.ts";
import { channelsWithCategories } from "../format/references.ts";
import { isPlaceholder } from "../match/match.ts";
import { editedKinds, kindOf } from "../names/channel-kinds.ts";
import { apiChannels, compareChannels, isBelowText, rolesFromTop } from "../read/from-api.ts";
import type { FieldChange } from "../steps.ts";
import type { StepList } from "./step-list.ts";

export function orderRoles(list: StepList): void {
	const { ids, fixedRoles, nameOf, wanted } = list;
	const all = rolesFromTop(list.state).map(({ id }) => id);
	// What the job has created and someone has deleted has no place.
	const listed = (wanted.roles ?? []).map(({ id = "" }) => id).filter((id) => !isPlaceholder(id) || !ids.has(id));
	const movable = all.filter((id) => !fixedRoles.has(id));
	const existing = listed.filter((id) => all.includes(id));
	for (const id of movedIn(all, mergeOrder(all, existing), existing)) {
		const below = existing.slice(existing.indexOf(id) + 1);
		if (!fixedRoles.has(id) && below.some((other) => fixedRoles.has(other)))
			list.refuse(
				`role ${nameOf(id)}`,
				"the document places the role above roles that the bot cannot move; the role stays below them",
			);
	}
	const own = listed.filter((id) => !fixedRoles.has(id));
	const order = mergeOrder(movable, own);
	const moved = movedIn(movable, order, own);
	if (moved.length === 0 && !isNewAmong(order)) return;
	const moves = [...moved, ...order.filter(isPlaceholder)];
	list.add("role order", {
		action: "order",
		kind: "role",
		name: "roles",
		targetId: "all",
		changes: placesIn(order, moves, nameOf),
		guard: { roleIds: moved, moves },
		path: `${list.guildPath}/roles`,
		body: order.map((id) => ({ id })),
		// Position 1 is the lowest role above @everyone. Roles that could not be created leave no gaps, which would move
		// others above the bot's role.
		arrange: (roles) =>
			(roles as { id: string }[]).map(({ id }, index, { length }) => ({ id, position: length - index })),
		needs: [],
	});
}

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

interface Chain {
	weight: number;
	place: number;
	id: string;
	before?: Chain;
}

/** As few as possible, and only `listed` ones. */
function movedIn(current: readonly string[], wanted: readonly string[], listed: readonly string[]): string[] {
	const placeOf = new Map(wanted.map((id, index) => [id, index]));
	const mayMove = new Set(listed);
	const known = current.filter((id) => placeOf.has(id));
	// Those that stay are the heaviest chain whose places increase.
	const chains: Chain[] = [{ weight: 0, place: -1, id: "" }];
	const heaviest = (below = Infinity) =>
		chains.reduce((best, one) => (one.place < below && one.weight >= best.weight ? one : best));
	for (const id of known) {
		const place = placeOf.get(id) ?? 0;
		const before = heaviest(place);
		chains.push({ weight: before.weight + (mayMove.has(id) ? 1 : known.length), place, id, before });
	}
	const stays = new Set<string>();
	for (let at: Chain | undefined = heaviest(); at; at = at.before) stays.add(at.id);
	return known.filter((id) => !stays.has(id));
}

/** Otherwise new ones need no reordering, because Discord puts them last. */
function isNewAmong(order: readonly string[]): boolean {
	return order.slice(0, order.findLastIndex((id) => !isPlaceholder(id)) + 1).some(isPlaceholder);
}

const maxNames = 20;

/** Such as "a, b: below c, above d". */
function placesIn(order: readonly string[], moved: readonly string[], nameOf: (id: string) => string): FieldChange[] {
	const isMoved = new Set(moved);
	const runs: { above: string | undefined; ids: string[]; below?: string }[] = [];
	for (const [index, id] of order.entries()) {
		const above = order[index - 1];
		const last = runs.at(-1);
		if (isMoved.has(id)) {
			if (last && above !== undefined && isMoved.has(above)) last.ids.push(id);
			else runs.push({ above, ids: [id] });
		} else if (last) last.below ??= id;
	}
	return runs.map(({ above, ids, below }) => {
		const places = [
			above === undefined ? "at the top" : `below ${nameOf(above)}`,
			below === undefined ? "at the bottom" : `above ${nameOf(below)}`,
		];
		return { field: listFirst(ids.map(nameOf), maxNames), after: places.join(", ") };
	});
}
