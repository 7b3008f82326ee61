// Changing the things of a guild document, wherever they stand in it.

import type { Category, Channel, GuildDocument } from "./document.ts";

type Item<Things> = NonNullable<Things> extends readonly (infer One)[] ? One : NonNullable<Things>;
type Change<Things> = (thing: Item<Things>) => Item<Things> | undefined;

/** By the name of the section. A function returns undefined to remove the thing. */
export type Changes = {
	[Name in Exclude<keyof GuildDocument, "channels" | "categories">]?: Change<GuildDocument[Name]>;
} & {
	/** In and outside of categories. */
	channels?: (channel: Channel, category?: Category) => Channel | undefined;
	/** Its channels are changed afterwards. */
	categories?: (category: Category) => Category | undefined;
};

/** Sections that the document lacks, and those without a function, stay as they are. */
export function mapDocument(document: GuildDocument, changes: Changes): GuildDocument {
	const { channels: changeChannel, categories: changeCategory = (one) => one, ...others } = changes;
	const changed: GuildDocument & Record<string, unknown> = { ...document };
	for (const [name, change] of Object.entries(others)) {
		const given = changed[name];
		const apply = change as (thing: unknown) => unknown;
		if (given !== undefined)
			changed[name] = Array.isArray(given) ? given.flatMap((one) => apply(one) ?? []) : apply(given);
	}
	const inside = (channels: Channel[] | undefined, category?: Category) =>
		changeChannel ? channels?.flatMap((one) => changeChannel(one, category) ?? []) : channels;
	return present({
		...changed,
		channels: inside(document.channels),
		categories: document.categories?.flatMap((category) => {
			const mapped = changeCategory(category);
			return mapped ? present({ ...mapped, channels: inside(mapped.channels, category) }) : [];
		}),
	});
}

/** Without fields that are undefined. */
export function present<T extends object>(thing: T): T {
	return Object.fromEntries(Object.entries(thing).filter(([, value]) => value !== undefined)) as T;
}

/** Without fields that are undefined, at any depth. */
export function withoutUndefined<T>(value: T): T {
	if (Array.isArray(value)) return value.map(withoutUndefined) as T;
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(present(value)).map(([name, one]) => [name, withoutUndefined(one)])) as T;
}
