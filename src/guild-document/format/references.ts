// What identifies the things of a guild document: the keys by which others refer to them.

import { type Category, type Channel, everyone, type GuildDocument, type Role } from "./document.ts";

/** What documents list by name. */
export type Thing = Pick<Role, "name" | "id" | "key">;

export const keyOf = ({ key, name }: Thing) => key ?? name;

/** `longName`, such as "Staff/general", is used if several have the same name. */
export interface Named {
	name: string;
	longName?: string | undefined;
}

/**
 * The name, the longer name, or a name with a number, such as "Mods (2)". The same things in the same order always get
 * the same keys.
 */
export function keysOf(things: readonly Named[]): string[] {
	const names = Map.groupBy(things, ({ name }) => name);
	const longNames = Map.groupBy(things, ({ longName }) => longName);
	const used = new Set([everyone, ...names.keys()]);
	const last = new Map<string, number>();
	return things.map(({ name, longName }) => {
		if (name !== everyone && names.get(name)?.length === 1) return name;
		if (longName !== undefined && longNames.get(longName)?.length === 1 && !used.has(longName)) {
			used.add(longName);
			return longName;
		}
		const base = longName ?? name;
		for (let number = (last.get(base) ?? 0) + 1; ; number++) {
			const key = `${base} (${number})`;
			if (used.has(key)) continue;
			used.add(key);
			last.set(base, number);
			return key;
		}
	});
}

/** A channel inside a category comes with that category. */
export function channelsWithCategories(
	document: Pick<GuildDocument, "channels" | "categories">,
): { channel: Channel | Category; category?: Category }[] {
	return [
		...(document.channels ?? []).map((channel) => ({ channel })),
		...(document.categories ?? []).flatMap((category) => [
			{ channel: category },
			...(category.channels ?? []).map((channel) => ({ channel, category })),
		]),
	];
}

/** Without categories. Those outside of them are first. */
export function channelsIn({
	channels = [],
	categories = [],
}: GuildDocument): { channel: Channel; category?: Category }[] {
	const inside = categories.flatMap((category) => (category.channels ?? []).map((channel) => ({ channel, category })));
	return [...channels.map((channel) => ({ channel })), ...inside];
}
