// Which permission overwrites the channels of a document have.

import type { Category, Channel } from "../format/document.ts";
import { channelsWithCategories } from "../format/references.ts";
import { bitsOfNames } from "../read/from-api.ts";
import {
	type GuildAccess,
	isSame,
	type MovedAccess,
	movedAccess,
} from "./moved-access.ts";
import { byId, type StepList } from "./step-list.ts";
import { rawOverwrites } from "./to-api.ts";

/** A channel or category, with the category that contains it if there is one. */
export interface Placed {
	channel: Channel | Category;
	category?: Category;
}

/** A channel or category of a document, with its overwrites. */
export interface PlacedWithAccess extends Placed {
	isNew: boolean;
	/** What becomes of the access of a channel that moves, or is to have the access of its category. */
	moved?: MovedAccess;
}

/**
 * Returns the channels and categories of a guild document with their overwrites. A channel without the field
 * `overwrites` gets those of its category if the channel is new, if the document is complete (`omitted` is "default"),
 * or if it follows its category (`movedAccess`).
 */
export function channelsWithAccess(list: StepList): PlacedWithAccess[] {
	const { wanted, current, following } = list;
	const isWhole = wanted.omitted === "default";
	const existing = byId(
		channelsWithCategories(current).map((one) => ({
			id: one.channel.id,
			...one,
		})),
	);
	const categories = byId(current.categories);
	const listed = byId(wanted.categories);
	const guild = guildAccess(list);
	const raw = (overwrites: Channel["overwrites"] = []) =>
		rawOverwrites(overwrites, guild.guildId);
	const accessIn = ({ id = "", overwrites }: Category) =>
		overwrites ?? (isWhole ? undefined : categories.get(id)?.overwrites) ?? [];
	return channelsWithCategories(wanted).map(({ channel, category }) => {
		const before = existing.get(channel.id ?? "");
		const isNew = !before;
		const place = { channel, ...(category && { category }), isNew };
		// Discord gives a new channel the overwrites of a category that the bot cannot see.
		const isUnknown =
			!category?.overwrites && categories.get(category?.id ?? "")?.unseen;
		if (channel.overwrites || channel.unseen || isUnknown) return place;
		if (isWhole || isNew) {
			const overwrites = category ? accessIn(category) : [];
			return { ...place, channel: { ...channel, overwrites } };
		}
		const { lock_permissions: lock } = channel as Channel;
		const from = before.category;
		const isMoved = from?.id !== category?.id;
		const isDecided = following?.has(channel.id ?? "") ?? false;
		if (!isMoved && !isDecided && lock !== true) return place;
		const own = before.channel.overwrites;
		const old = categories.get(from?.id ?? "")?.overwrites;
		// A channel that is synced with its old category changes together with it, in an earlier step.
		const isSynced = from !== undefined && isSame(raw(own), raw(old));
		const changed = listed.get(from?.id ?? "")?.overwrites;
		const moved = movedAccess(
			{
				own: raw(isSynced && changed ? changed : own),
				isSynced,
				to: category && raw(accessIn(category)),
				lock: following ? isDecided : lock,
			},
			guild,
		);
		return moved.access === "follows" && category
			? {
					...place,
					moved,
					channel: { ...channel, overwrites: accessIn(category) },
				}
			: { ...place, moved };
	});
}

/** Returns what decides who sees the guild's channels once the roles are as the document says. */
function guildAccess({ state, wanted, rolesOf }: StepList): GuildAccess {
	const { id: guildId, owner_id: ownerId } = state.guild;
	const members = byId(state.members);
	const given = new Map(
		(wanted.roles ?? []).flatMap(({ id = "", permissions }) =>
			permissions || id.startsWith("+")
				? [[id, bitsOfNames(permissions ?? [])] as const]
				: [],
		),
	);
	if (wanted.everyone) given.set(guildId, bitsOfNames(wanted.everyone));
	const roles = new Map(
		state.guild.roles.map(({ id, permissions }) => [id, BigInt(permissions)]),
	);
	return {
		guildId,
		ownerId,
		roles: new Map([...roles, ...given]),
		rolesOf: (id) => members.get(id)?.roles ?? rolesOf(id),
	};
}
