// Placing one channel right below another, where Discord's clients show it, and what becomes of its access in another
// category.

import { ChannelType, type Guild, PermissionFlagsBits } from "discord.js";
import { forClients } from "../../../discord/acting-person.ts";
import { inSameGroup, type RawChannel, reorder, siblingsIn } from "../../../discord/channel-order.ts";
import { channelName } from "../../../discord/describe.ts";
import type { Channel } from "../../../discord/find.ts";
import { fetchGuildChannels, isObfuscated } from "../../../discord/obfuscation.ts";
import { requireUndoable } from "../../../discord/overwrites.ts";
import {
	impliedIn,
	missingPermissions,
	requireGrantable,
	requireOfPerson,
	requirePermissions,
} from "../../../discord/permissions.ts";
import { isHidden, visibleChannel } from "../../../discord/visible-channels.ts";
import { changedBits } from "../../../guild-document/names/overwrites.ts";
import { gainsText, movedAccess } from "../../../guild-document/steps/moved-access.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { invalidParameters } from "../../../mcp/tool.ts";
import { type Entries, entriesOf } from "./channel-access.ts";
import { subjectName } from "./channel-text.ts";

export type NamedChannel = RawChannel & {
	name: string;
	flags?: number;
	/** Results must not name it, because the person in whose name the call acts cannot see it. */
	isHidden: boolean;
};

/** Also those that the bot, or the person in whose name the call acts, cannot see. */
export async function fetchChannels(guild: Guild): Promise<NamedChannel[]> {
	const all = await fetchGuildChannels(guild);
	return (all as unknown as NamedChannel[]).map((one) => ({ ...one, isHidden: isHidden(guild, one.id) }));
}

export function channelWithId(all: readonly NamedChannel[], id: string): NamedChannel {
	const found = all.find((channel) => channel.id === id);
	if (found) return found;
	throw new ToolError(`The channel ${id} was just deleted. Nothing was done; list_channels shows the channels.`);
}

/** Category ("" for none), and index among its text or voice channels. */
export interface Place {
	parentId: string;
	index: number;
	/** Such as "below #rules (ID: …) in #Staff (ID: …)". */
	text: string;
}

/** At the top of a category. Throws an RpcError if clients cannot show the channel there, or it is in another category. */
export function placeBelow(
	type: ChannelType,
	{ below_channel_id, category_id }: { below_channel_id: string; category_id?: string | undefined },
	all: readonly NamedChannel[],
	own?: NamedChannel,
): Place {
	const place = placeNextTo(type, channelWithId(all, below_channel_id), all, own);
	if (category_id === undefined || category_id === place.parentId) return place;
	throw invalidParameters(["below_channel_id: expected a channel in the category that category_id names"]);
}

function placeNextTo(type: ChannelType, below: NamedChannel, all: readonly NamedChannel[], own?: NamedChannel): Place {
	const { GuildCategory, GuildText, GuildVoice } = ChannelType;
	const isCategory = type === GuildCategory;
	const atTop = below.type === GuildCategory && !isCategory;
	const parentId = atTop ? below.id : (below.parent_id ?? "");
	const category = all.find(({ id }) => id === parentId);
	const where = category && !isCategory ? ` in ${channelName(category)}` : "";
	const text = atTop ? `at the top of ${channelName(below)}` : `below ${channelName(below)}${where}`;
	const group = (type: ChannelType) =>
		siblingsIn({ id: "", type, position: 0 }, all, parentId).filter((other) => other !== own);
	if (!atTop && inSameGroup({ type }, below)) return { parentId, index: group(type).indexOf(below) + 1, text };
	const isVoice = inSameGroup({ type }, { type: GuildVoice });
	const lastText = isVoice ? all.find((channel) => channel === group(GuildText).at(-1)) : undefined;
	const aboveGroup = lastText ?? (atTop ? below : undefined);
	if (!isCategory && aboveGroup === below) return { parentId, index: 0, text };
	throw invalidParameters([
		isCategory
			? "below_channel_id: expected a category, because the channel to place is a category: Discord shows categories below all other channels"
			: isVoice
				? `below_channel_id: expected ${lastText?.isHidden ? "the last text channel" : channelName(lastText ?? below)} or a channel below it: Discord shows voice and stage channels below all other channels`
				: "below_channel_id: expected a text channel or a category: Discord does not show text channels and forums below voice and stage channels",
	]);
}

/** The person needs MANAGE_CHANNELS there, or a ToolError is thrown. Discord itself checks the bot. "": no category. */
export function requirePlaceIn(guild: Guild, parentId: string): void {
	const { ManageChannels } = PermissionFlagsBits;
	const parent = visibleChannel(guild, parentId);
	if (parent && isObfuscated(parent))
		throw new ToolError(
			`The bot cannot see the category ${parentId}, and so not who would see a channel in it. Allow the bot VIEW_CHANNEL there. Nothing was done.`,
		);
	requireOfPerson(guild, parent, ManageChannels | impliedIn(parent));
}

/** They need MANAGE_CHANNELS in the guild or in the category. */
export function requireOrderable(guild: Guild, parentId: string): void {
	const { ManageChannels } = PermissionFlagsBits;
	if (missingPermissions(guild, undefined, ManageChannels) === 0n) return;
	const parent = visibleChannel(guild, parentId);
	requirePermissions(guild, parent, ManageChannels | impliedIn(parent));
}

/** So that no other channel moves: a new one comes after those of the same position.
 * https://discord.com/developers/docs/resources/guild#create-guild-channel
 */
export function positionOfNew(type: ChannelType, { parentId, index }: Place, all: readonly RawChannel[]): number {
	const others = siblingsIn({ id: "", type, position: 0 }, all, parentId);
	const above = others[index - 1];
	if (above) return above.position;
	return Math.max(0, (others[0]?.position ?? 1) - 1);
}

/** Empty if the channel is there already. `all`: the guild's channels. */
export function movesTo(
	own: RawChannel,
	{ parentId, index }: Place,
	all: readonly RawChannel[],
): { id: string; position: number }[] {
	return reorder([own], siblingsIn(own, all, parentId), index).moves;
}

export const lockNeedsCategory =
	'lock_permissions: only works if the channels move to another category; to sync channels with their category: copy_channel_permissions with {"target_channel_ids":[…]}';

export interface AccessAfterMove {
	/** Undefined if the channel keeps its own. */
	entries?: Entries;
	lines: readonly string[];
}

/** `all`: just fetched. Throws a ToolError if the bot may not give the category's access, or could not undo it. */
export function accessAfterMove(
	channel: Channel,
	all: readonly RawChannel[],
	parentId: string,
	lock: boolean | undefined,
): AccessAfterMove {
	if (parentId === "" && lock) throw invalidParameters([lockNeedsCategory]);
	const { guild } = channel;
	const raw = (id: string | null | undefined) => all.find((one) => one.id === id);
	const own = raw(channel.id);
	const [before, entries, old] = [own, raw(parentId), raw(own?.parent_id)].map(
		(one) => one && entriesOf(one.permission_overwrites),
	);
	const { access, gains } = movedAccess(
		{ own: before ?? new Map(), isSynced: before && old ? changedBits(before, old) === 0n : false, to: entries, lock },
		{
			guildId: guild.id,
			ownerId: guild.ownerId,
			roles: guild.roles.cache.mapValues(({ permissions }) => permissions.bitfield),
			rolesOf: (id) => guild.members.cache.get(id)?.roles.cache.map((role) => role.id),
		},
	);
	if (access === "same") return { lines: [] };
	const who = gainsText(gains, (id) => subjectName(guild, id));
	if (access === "keeps" || !entries)
		return {
			lines: [
				who === ""
					? "keeps its own access"
					: `keeps its own access, because with that of its category these would gain access: ${who}${forClients(". lock_permissions: true gives it that")}`,
			],
		};
	try {
		requirePermissions(guild, channel, PermissionFlagsBits.ManageRoles | impliedIn(channel), () => [
			"It needs that to give the channel the access of its new category.",
		]);
		requireGrantable(guild, channel, changedBits(before ?? new Map(), entries));
		requireUndoable(channel, entries, visibleChannel(guild, parentId));
	} catch (error) {
		if (!(error instanceof ToolError)) throw error;
		const reason = error.message.replace(" Nothing was done.", "");
		throw new ToolError(
			`${channelName(channel)} would get the access of its new category. ${reason}${forClients(" lock_permissions: false moves it with its own access.")} Nothing was done.`,
			{ cause: error },
		);
	}
	return { entries, lines: ["gets the access of its category", ...(who === "" ? [] : [`these gain access: ${who}`])] };
}
