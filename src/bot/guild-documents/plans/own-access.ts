// The bot's own access to channels that a document hides from it. People who write a document by hand think of people, as
// with create_channel, which keeps the bot's access, too.

import { type Guild, PermissionFlagsBits as Permission } from "discord.js";
import { botMember } from "../../../discord/permissions.ts";
import type { Category, Channel, GuildDocument } from "../../../guild-document/format/document.ts";
import { mapDocument } from "../../../guild-document/format/map-document.ts";
import { withOverwrites } from "../../../guild-document/names/overwrites.ts";
import { permissionNames } from "../../../guild-document/read/from-api.ts";
import { rawOverwrites } from "../../../guild-document/steps/to-api.ts";

const needed = Permission.ViewChannel | Permission.ManageChannels | Permission.Connect;
/** For channels with messages. */
const writing =
	Permission.SendMessages | Permission.ReadMessageHistory | Permission.EmbedLinks | Permission.PinMessages;

/** Also the names of what was changed. Exported documents stay, because they state exactly the guild's overwrites. */
export function withOwnAccess(guild: Guild, document: GuildDocument): { document: GuildDocument; names: string[] } {
	const me = botMember(guild);
	const inGuild = me.permissions.bitfield;
	const guildId = guild.id;
	const own = me.roles.cache.filter(({ id }) => id !== guildId);
	// A document has the names of roles in place of ids.
	const roleIds = new Set(own.map(({ name }) => name));
	const holder = { guildId, roleIds, memberId: me.id };
	const names: string[] = [];
	const isExact =
		document.omitted === "default" || document.keep_bot_access === false || (inGuild & Permission.Administrator) !== 0n;
	if (isExact) return { document, names };
	const written = new Set(document.messages?.map(({ channel }) => channel));
	const isWritten = (place: Channel & Category): boolean =>
		written.has(place.key ?? place.name) || (place.channels ?? []).some((one) => !one.overwrites && isWritten(one));
	const keep = <Place extends Channel | Category>(place: Place): Place => {
		const { overwrites } = place;
		if (!overwrites) return place;
		const raw = new Map(rawOverwrites(overwrites, guildId).map((one) => [one.id, one]));
		const wanted = isWritten(place as Channel & Category) ? needed | writing : needed;
		const lost = wanted & inGuild & ~withOverwrites(inGuild, holder, raw);
		if (lost === 0n) return place;
		names.push(place.name);
		const { allow = 0n, deny = 0n } = raw.get(me.id) ?? {};
		const own = { member: me.id, allow: permissionNames(allow | lost), deny: permissionNames(deny & ~lost) };
		const others = overwrites.filter(({ member }) => member !== me.id);
		return { ...place, overwrites: [...others, own] };
	};
	return { document: mapDocument(document, { channels: keep, categories: keep }), names };
}
