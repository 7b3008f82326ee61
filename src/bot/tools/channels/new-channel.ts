// Creating a channel with its settings, access and place.

import {
	ChannelType,
	type Guild,
	type GuildChannelCreateOptions,
	type NonThreadGuildBasedChannel,
	Routes,
} from "discord.js";
import { channelsFromTop, inSameGroup } from "../../../discord/channel-order.ts";
import { channelName } from "../../../discord/describe.ts";
import { isForum, type MemberState } from "../../../discord/find.ts";
import { botPermissions, describeBits, requireGrantable } from "../../../discord/permissions.ts";
import { fieldLine, resultLines } from "../../../discord/text.ts";
import { changedBits } from "../../../guild-document/names/overwrites.ts";
import { invalidParameters } from "../../../mcp/tool.ts";
import { requireOwnEmoji } from "../../messages/emoji.ts";
import { failureOf } from "../../tool/bulk.ts";
import {
	type Access,
	type Entries,
	entriesOf,
	type GivenOverwrites,
	givesAccess,
	grantable,
	overwriteOptions,
	readEntries,
	restricted,
	withBotAccess,
	wouldLoseBot,
} from "./channel-access.ts";
import {
	currentFields,
	discordFields,
	type GivenFields,
	type Kind,
	kindFields,
	requireAllowedKind,
	requireSupportedFields,
	typeOf,
} from "./channel-fields.ts";
import {
	channelWithId,
	fetchChannels,
	movesTo,
	placeBelow,
	positionOfNew,
	requirePlaceIn,
} from "./channel-placement.ts";
import { accessForEveryone, changedEntries, fieldText } from "./channel-text.ts";
import { currentTags, type GivenTag, requireUniqueNames, tagLine, tagOptions, toTag } from "./forum-tags.ts";

interface NewChannel extends GivenFields, Access {
	permission_overwrites?: GivenOverwrites;
	name: string;
	tags?: GivenTag[] | undefined;
	below_channel_id?: string | undefined;
}

export async function createGuildChannel(
	guild: Guild,
	kind: Kind,
	args: NewChannel,
	connection: MemberState,
): Promise<string[]> {
	requireSupportedFields(args, kind);
	requireUniqueNames(args.tags ?? []);
	if (args.view_role_ids?.includes(guild.id))
		throw invalidParameters([
			"view_role_ids: @everyone cannot be one of these roles; leave view_role_ids out to create a channel that everyone can see",
		]);
	requireAllowedKind(guild, kind);
	const { tags, below_channel_id, category_id } = args;
	const custom = (tags ?? []).flatMap(({ emoji }) => emoji ?? []);
	await requireOwnEmoji(guild, custom);
	const all = category_id || below_channel_id ? await fetchChannels(guild) : [];
	const place = below_channel_id ? placeBelow(typeOf(kind), { below_channel_id, category_id }, all) : undefined;
	const parentId = category_id || (place?.parentId ?? "");
	if (parentId) requirePlaceIn(guild, parentId);
	const parent = all.find(({ id }) => id === parentId);
	const { entries, line } = await overwritesOfNew(
		guild,
		kind,
		args,
		entriesOf(parent?.permission_overwrites),
		connection,
	);
	const options: GuildChannelCreateOptions = {
		...(discordFields({ ...args, category_id: undefined }) as object),
		name: args.name,
		type: typeOf(kind),
		...(parentId && { parent: parentId }),
		...(tags && { availableTags: tags.map((tag) => tagOptions(toTag(tag))) }),
		...(entries && { permissionOverwrites: overwriteOptions(entries) }),
		...(place && { position: positionOfNew(typeOf(kind), place, all) }),
	};
	const made = await guild.channels.create(options);
	const misplaced =
		below_channel_id === undefined ? undefined : await failureOf(() => ensurePlace(guild, made, below_channel_id));
	const inCategory = parent ? ` in ${channelName(parent)}` : "";
	const where = misplaced ? inCategory : place ? ` ${place.text}` : `${inCategory}${aboveOf(guild, made)}`;
	const settings = currentFields(made);
	return resultLines(
		`Created the ${kind} channel ${channelName(made)}${where}.`,
		fieldLine(...fieldNames.map((name) => args[name] !== undefined && fieldText(guild, name, settings[name]))),
		line ?? `For @everyone: ${accessForEveryone(made).join(", ") || "public"}${parent ? ", as in its category" : ""}.`,
		isForum(made) && tags && currentTags(made).map((tag) => `tag: ${tagLine(tag)}`),
		misplaced &&
			`The channel exists, but may not be at its place: ${misplaced.message.replace(" Nothing was done;", "")}`,
	);
}

const fieldNames = Object.keys(kindFields) as (keyof typeof kindFields)[];

/** Where Discord puts a channel for which no place was given: ", below #general (ID: …)". */
function aboveOf(guild: Guild, { id, type, parentId }: NonThreadGuildBasedChannel): string {
	const siblings = channelsFromTop(guild).filter((one) =>
		type === ChannelType.GuildCategory ? one.type === type : one.parentId === parentId && inSameGroup(one, { type }),
	);
	const above = siblings[siblings.findIndex((one) => one.id === id) - 1];
	return above ? `, below ${channelName(above)}` : "";
}

async function overwritesOfNew(
	guild: Guild,
	kind: Kind,
	args: NewChannel,
	inherited: Entries,
	connection: MemberState,
): Promise<{ entries?: Entries; line?: string }> {
	const { permission_overwrites } = args;
	const losesBot = wouldLoseBot(guild, kind, inherited);
	if (!permission_overwrites && !givesAccess(args) && !losesBot) return {};
	const given = permission_overwrites && (await readEntries(guild, permission_overwrites, connection));
	const base = given ? { entries: given, lost: 0n } : grantable(guild, inherited);
	const wanted = restricted(guild, kind, base.entries, args);
	const entries = withBotAccess(guild, kind, wanted, botPermissions(guild, undefined));
	requireGrantable(guild, "new", changedBits(new Map(), entries));
	const line = resultLines(
		`Overwrites${inherited.size > 0 ? ", beside those of its category" : ""}: ${changedEntries(guild, inherited, entries).join("; ")}.`,
		base.lost !== 0n &&
			`Not taken over from its category, because the bot cannot allow it: ${describeBits(base.lost)}.`,
	).join("\n");
	return { entries, line };
}

/** For example, the channel above it was just deleted or moved. */
async function ensurePlace(guild: Guild, { id, type }: NonThreadGuildBasedChannel, below_channel_id: string) {
	const all = await fetchChannels(guild);
	const own = channelWithId(all, id);
	const moves = movesTo(own, placeBelow(type, { below_channel_id }, all, own), all);
	if (moves.length > 0) await guild.client.rest.patch(Routes.guildChannels(guild.id), { body: moves });
}
