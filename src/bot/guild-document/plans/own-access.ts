// The bot's own access to channels that a document hides from it. People who write a document by hand think of people, as
// with create_channel, which keeps the bot's access, too.

import {
	type Guild,
	type GuildMember,
	PermissionFlagsBits as Permission,
} from "discord.js";
import type {
	Category,
	Channel,
	GuildDocument,
	Overwrite,
} from "../../../guild-document/format/document.ts";
import { permissionNamesOf } from "../../../guild-document/read/from-api.ts";
import { withOverwrites } from "../../../guild-document/steps/moved-access.ts";
import { rawOverwrites } from "../../../guild-document/steps/to-api.ts";
import { botMember } from "../../discord/permissions.ts";

/** The permissions that the bot needs to see and edit a channel. */
const needed =
	Permission.ViewChannel | Permission.ManageChannels | Permission.Connect;

/**
 * Returns a copy of a guild document in which no permission overwrites take the bot's access to a channel or category,
 * and the names of those that had to be changed for this. Documents that were exported from a guild are not changed,
 * because they state exactly which overwrites the guild has.
 */
export function withOwnAccess(
	guild: Guild,
	document: GuildDocument,
): { document: GuildDocument; names: string[] } {
	const me = botMember(guild);
	const inGuild = me.permissions.bitfield;
	const names: string[] = [];
	const isExact =
		document.omitted === "default" ||
		document.keep_bot_access === false ||
		(inGuild & Permission.Administrator) !== 0n;
	if (isExact) return { document, names };
	const keep = <Place extends Channel | Category>(place: Place): Place => {
		const { overwrites } = place;
		if (!overwrites) return place;
		const lost = needed & inGuild & ~bitsWith(me, overwrites);
		if (lost === 0n) return place;
		names.push(place.name);
		return { ...place, overwrites: allow(overwrites, me.id, lost) };
	};
	const { channels, categories } = document;
	return {
		document: {
			...document,
			...(channels && { channels: channels.map(keep) }),
			...(categories && {
				categories: categories.map((category) => ({
					...keep(category),
					...(category.channels && { channels: category.channels.map(keep) }),
				})),
			}),
		},
		names,
	};
}

/**
 * Computes the bot's permissions in a channel that has these permission overwrites, as a bit field.
 */
function bitsWith(me: GuildMember, overwrites: readonly Overwrite[]): bigint {
	const guildId = me.guild.id;
	// A document has the names of roles in place of ids.
	const ownRoles = new Set(
		me.roles.cache.filter(({ id }) => id !== guildId).map(({ name }) => name),
	);
	const holder = { guildId, roleIds: [...ownRoles], memberId: me.id };
	const raw = rawOverwrites(overwrites, guildId);
	return withOverwrites(
		me.permissions.bitfield,
		holder,
		new Map(raw.map((one) => [one.id, one])),
	);
}

/** Returns a list of permission overwrites that also allows the permissions `bits` to a member. */
function allow(
	overwrites: readonly Overwrite[],
	member: string,
	bits: bigint,
): Overwrite[] {
	const names = permissionNamesOf(bits);
	const old = overwrites.find((overwrite) => overwrite.member === member);
	return [
		...overwrites.filter((overwrite) => overwrite !== old),
		{
			member,
			allow: [...new Set([...(old?.allow ?? []), ...names])],
			...(old?.deny && {
				deny: old.deny.filter((name) => !names.includes(name)),
			}),
		},
	];
}
