// Which permission overwrites the channels of a document have.

import type { Category, Channel } from "../format/document.ts";
import { channelsWithCategories } from "../format/references.ts";
import { byId, type StepList } from "./step-list.ts";

/** A channel or category, with the category that contains it if there is one. */
export interface Placed {
	channel: Channel | Category;
	category?: Category;
}

/**
 * Returns the channels and categories of a guild document with their overwrites. A channel without the field
 * `overwrites` gets those of its category if the channel is new, or if the document is complete (`omitted` is
 * "default").
 */
export function channelsWithAccess({
	wanted,
	current,
}: Pick<StepList, "wanted" | "current">): (Placed & { isNew: boolean })[] {
	const isWhole = wanted.omitted === "default";
	const existing = new Set(
		channelsWithCategories(current).map(({ channel }) => channel.id),
	);
	const categories = byId(current.categories);
	return channelsWithCategories(wanted).map(({ channel, category }) => {
		const isNew = !existing.has(channel.id);
		const place = category ? { category, isNew } : { isNew };
		if (channel.overwrites || channel.unseen || !(isWhole || isNew))
			return { channel, ...place };
		const old = isWhole ? undefined : categories.get(category?.id ?? "");
		const overwrites = category?.overwrites ?? old?.overwrites ?? [];
		return { channel: { ...channel, overwrites }, ...place };
	});
}
