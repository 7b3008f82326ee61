// Which permission overwrites the channels of a document have.

import type { Category, Channel } from "../format/document.ts";
import { channelsWithCategories } from "../format/references.ts";
import { changedBits } from "../names/overwrites.ts";
import { bitsOfNames } from "../read/from-api.ts";
import { type GuildAccess, type MovedAccess, movedAccess } from "./moved-access.ts";
import { byId, type StepList } from "./step-list.ts";
import { rawOverwrites } from "./to-api.ts";

/** With its category, if any. */
export interface Placed {
	channel: Channel | Category;
	category?: Category;
}

export interface PlacedWithAccess extends Placed {
	/** Undefined if it is new. */
	before: Placed | undefined;
	/** If the channel moves, or is to have the access of its category. */
	moved?: MovedAccess;
}

/**
 * Without `overwrites`, a channel gets those of its category if it is new, `omitted` is "default", or it follows
 * (`movedAccess`).
 */
export function channelsWithAccess(list: StepList): PlacedWithAccess[] {
	const { wanted, current } = list;
	const { following } = list.options;
	const isWhole = wanted.omitted === "default";
	const existing = byId(channelsWithCategories(current).map((one) => ({ id: one.channel.id, ...one })));
	const categories = byId(current.categories);
	const listed = byId(wanted.categories);
	const guild = guildAccess(list);
	const raw = (overwrites: Channel["overwrites"] = []) => byId(rawOverwrites(overwrites, guild.guildId));
	const accessIn = ({ id = "", overwrites }: Category) =>
		overwrites ?? (isWhole ? undefined : categories.get(id)?.overwrites) ?? [];
	return channelsWithCategories(wanted).map(({ channel, category }) => {
		const before = existing.get(channel.id ?? "");
		const place = { channel, ...(category && { category }), before };
		const access = category ? accessIn(category) : [];
		const followed = { ...place, channel: { ...channel, overwrites: access } };
		// Discord gives a new channel the overwrites of a category that the bot cannot see.
		const isUnknown = !category?.overwrites && categories.get(category?.id ?? "")?.unseen;
		if (channel.overwrites || channel.unseen || isUnknown) return place;
		if (isWhole || !before) return followed;
		const { lock_permissions: lock } = channel as Channel;
		const from = before.category?.id ?? "";
		const isDecided = following?.has(channel.id ?? "") ?? false;
		if (from === (category?.id ?? "") && !isDecided && lock !== true) return place;
		const own = raw(before.channel.overwrites);
		const isSynced = from !== "" && changedBits(own, raw(categories.get(from)?.overwrites)) === 0n;
		// A channel that is synced with its old category changes together with it, in an earlier step.
		const changed = isSynced ? listed.get(from)?.overwrites : undefined;
		const moved = movedAccess(
			{ own: changed ? raw(changed) : own, isSynced, to: category && raw(access), lock: following ? isDecided : lock },
			guild,
		);
		return { ...(moved.access === "follows" ? followed : place), moved };
	});
}

function guildAccess({ state, wanted, options }: StepList): GuildAccess {
	const { id: guildId, owner_id: ownerId } = state.guild;
	const roles = new Map(state.guild.roles.map(({ id, permissions }) => [id, BigInt(permissions)]));
	for (const { id = "", permissions } of wanted.roles ?? [])
		if (permissions || !roles.has(id)) roles.set(id, bitsOfNames(permissions ?? []));
	if (wanted.everyone) roles.set(guildId, bitsOfNames(wanted.everyone));
	const { rolesOf = () => undefined } = options;
	return { guildId, ownerId, roles, rolesOf };
}
