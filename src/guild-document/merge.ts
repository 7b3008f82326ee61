// A document with changes, which are a partial document: what both list is changed, what only the changes list is added.

import type { Category, Channel, GuildDocument } from "./document.ts";
import { channelsWithCategories } from "./references.ts";

interface Thing {
	name: string;
	key?: string | undefined;
}

const keyOf = ({ key, name }: Thing) => key ?? name;

/**
 * Returns a document with changes. Things are the same if their keys (by default their names) are equal; a channel may be
 * listed in another category than in the document, which moves it. Fields that the changes leave out stay.
 */
export function mergeDocuments(
	document: GuildDocument,
	changes: GuildDocument,
): GuildDocument {
	const { settings, welcome_screen, onboarding, everyone } = changes;
	const merged: GuildDocument = {
		...document,
		...(settings && { settings: { ...document.settings, ...settings } }),
		...(everyone && { everyone }),
		...(welcome_screen && {
			welcome_screen: { ...document.welcome_screen, ...welcome_screen },
		}),
		...(onboarding && {
			onboarding: { ...document.onboarding, ...onboarding },
		}),
	};
	const merge = <
		Part extends "roles" | "emojis" | "automod" | "events" | "webhooks",
	>(
		part: Part,
	) => {
		const given = changes[part] as (Thing[] & GuildDocument[Part]) | undefined;
		if (given)
			merged[part] = mergeLists(
				(document[part] ?? []) as Thing[],
				given,
				keyOf,
			) as GuildDocument[Part];
	};
	for (const part of [
		"roles",
		"emojis",
		"automod",
		"events",
		"webhooks",
	] as const)
		merge(part);
	for (const part of ["members", "bans"] as const)
		if (changes[part])
			Object.assign(merged, {
				[part]: mergeLists<{ id: string }>(
					document[part] ?? [],
					changes[part],
					({ id }) => id,
				),
			});
	return mergeChannels(merged, changes);
}

/** Returns `before` with the fields of the things in `changes` that have the same key, and with those that are new. */
function mergeLists<T extends object>(
	before: readonly T[],
	changes: readonly T[],
	keyOf: (thing: T) => string,
): T[] {
	const known = new Set(before.map(keyOf));
	const changed = Map.groupBy(changes, keyOf);
	return [
		...before.map((thing) => {
			const found = changed.get(keyOf(thing));
			return found ? Object.assign({}, thing, ...found) : thing;
		}),
		...changes.filter((thing) => !known.has(keyOf(thing))),
	];
}

function mergeChannels(
	document: GuildDocument,
	changes: GuildDocument,
): GuildDocument {
	if (!changes.channels && !changes.categories) return document;
	const before = channelsWithCategories(document);
	const isCategory = (one: Channel | Category) =>
		document.categories?.includes(one as Category) ?? false;
	const known = new Map(
		before
			.filter(({ channel }) => !isCategory(channel))
			.map(({ channel, category }) => [
				keyOf(channel),
				{ channel: channel as Channel, category },
			]),
	);
	const moved = new Set<Channel>();
	/** Returns the channels of one place after the changes `given`, which list some of them. */
	const place = (
		category: Category | undefined,
		now: readonly Channel[],
		given: readonly Channel[],
	): Channel[] => {
		const incoming = given.flatMap((channel) => {
			const old = known.get(keyOf(channel));
			if (!old || old.category === category) return [];
			moved.add(old.channel);
			return [old.channel];
		});
		return mergeLists([...now, ...incoming], given, keyOf);
	};
	const channels = changes.channels
		? place(undefined, document.channels ?? [], changes.channels)
		: document.channels;
	const given = new Map(
		changes.categories?.map((category) => [keyOf(category), category]),
	);
	const old = document.categories ?? [];
	const added = (changes.categories ?? []).filter(
		(category) => !old.some((one) => keyOf(one) === keyOf(category)),
	);
	const categories = [
		...old.map((category): Category => {
			const change = given.get(keyOf(category));
			if (!change) return category;
			const { channels, ...fields } = change;
			const inside = channels
				? place(category, category.channels ?? [], channels)
				: category.channels;
			return { ...category, ...fields, ...(inside && { channels: inside }) };
		}),
		...added.map((category): Category => {
			const { channels } = category;
			return channels
				? { ...category, channels: place(category, [], channels) }
				: category;
		}),
	];
	// A channel that moved is still in its old place, too: the last of both is the changed one.
	const isStill = (channel: Channel) => !moved.has(channel);
	return {
		...document,
		...(channels && { channels: channels.filter(isStill) }),
		...(categories.length > 0 || changes.categories
			? {
					categories: categories.map((category) => ({
						...category,
						...(category.channels && {
							channels: category.channels.filter(isStill),
						}),
					})),
				}
			: {}),
	};
}
