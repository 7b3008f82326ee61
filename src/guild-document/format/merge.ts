// A document with changes, which are a partial document: what both list is changed, what only the changes list is added.

import type { Channel, GuildDocument } from "./document.ts";
import { present } from "./fields.ts";
import { channelsIn, keyOf, type Thing } from "./references.ts";

function findIn<T extends Thing>(things: readonly T[], change: Thing): T | undefined {
	const { id, name } = change;
	const named = things.filter((thing) => thing.name === name);
	return (
		things.find((thing) => id !== undefined && thing.id === id) ??
		things.find((thing) => keyOf(thing) === keyOf(change)) ??
		(named.length === 1 && change.key === undefined ? named[0] : undefined)
	);
}

/** Keeps the old key, by default the old name, because other parts of the document refer to it. */
function withChanges<T extends Thing>(thing: T, changes: readonly T[]): T {
	if (changes.length === 0) return thing;
	const changed: T = Object.assign({}, thing, ...changes);
	return changed.name === thing.name ? changed : { ...changed, key: keyOf(thing) };
}

/**
 * The same id, key (by default the name) or a unique name is the same thing. A channel that `changes` has in another
 * category moves if its id or key matches. Fields that `changes` lacks stay.
 */
export function mergeDocuments(document: GuildDocument, changes: GuildDocument): GuildDocument {
	const { keep_bot_access, repost, everyone } = changes;
	const merged: GuildDocument = { ...document, ...present({ keep_bot_access, repost, everyone }) };
	for (const part of ["settings", "welcome_screen", "onboarding", "bot"] as const)
		if (changes[part]) Object.assign(merged, { [part]: { ...document[part], ...changes[part] } });
	for (const part of ["roles", "emojis", "automod", "events", "webhooks"] as const) {
		const given: readonly Thing[] | undefined = changes[part];
		if (given) Object.assign(merged, { [part]: mergeLists(document[part] ?? [], given) });
	}
	for (const part of ["members", "bans", "messages"] as const)
		if (changes[part]) {
			const all = new Map<string, object>();
			for (const one of [...(document[part] ?? []), ...changes[part]]) {
				const id = "id" in one ? one.id : `${one.channel}\n${one.key ?? one.name}`;
				all.set(id, { ...all.get(id), ...one });
			}
			Object.assign(merged, { [part]: [...all.values()] });
		}
	return mergeChannels(merged, changes);
}

/** A new thing is its own change. In the order of both. */
function mergeLists<T extends Thing>(
	before: readonly T[],
	changes: readonly T[],
	change: (thing: T, changes: readonly T[]) => T = withChanges,
): T[] {
	const found = (one: T) => findIn(before, one) ?? one;
	const changed = Map.groupBy(changes, found);
	return mergeOrder(before, changes.map(found)).map((thing) => change(thing, changed.get(thing) ?? []));
}

/** Those in both share their places anew; those only in `wanted` go below the one before them, the first above the next. */
export function mergeOrder<T>(current: readonly T[], wanted: readonly T[]): T[] {
	const [existing, listed] = [new Set(current), new Set(wanted)];
	const runs: T[][] = [[]];
	for (const one of listed)
		if (existing.has(one)) runs.push([one]);
		else runs.at(-1)?.push(one);
	const [leading = [], first, ...others] = runs;
	if (!first) return [...current, ...leading];
	const places = [[...leading, ...first], ...others];
	return current.flatMap((one) => (listed.has(one) ? (places.shift() ?? []) : [one]));
}

function mergeChannels(document: GuildDocument, changes: GuildDocument): GuildDocument {
	if (!changes.channels && !changes.categories) return document;
	const known = channelsIn(document).map(({ channel }) => channel);
	const moved = new Set<Channel>();
	const place = (now: readonly Channel[], given: readonly Channel[]): Channel[] => {
		const incoming = given.flatMap((channel) => {
			if (findIn(now, channel)) return [];
			const old = known.find((one) => (one.id !== undefined && one.id === channel.id) || keyOf(one) === keyOf(channel));
			if (!old) return [];
			moved.add(old);
			return [old];
		});
		return mergeLists([...now, ...incoming], given);
	};
	const channels = changes.channels ? place(document.channels ?? [], changes.channels) : document.channels;
	const categories = mergeLists(document.categories ?? [], changes.categories ?? [], (category, found) => {
		const old = found.includes(category) ? [] : (category.channels ?? []);
		const listed = found.flatMap(({ channels }) => channels ?? []);
		const channels = found.some(({ channels }) => channels) ? place(old, listed) : category.channels;
		return { ...withChanges(category, found), ...(channels && { channels }) };
	});
	// A channel that moved is still in its old place, too: the last of both is the changed one.
	const isStill = (channel: Channel) => !moved.has(channel);
	return {
		...document,
		...(channels && { channels: channels.filter(isStill) }),
		...((categories.length > 0 || changes.categories) && {
			categories: categories.map((category) => ({
				...category,
				...(category.channels && { channels: category.channels.filter(isStill) }),
			})),
		}),
	};
}
