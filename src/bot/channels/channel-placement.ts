// Placing one channel right below another, where Discord's clients show it.

import { ChannelType, type Guild, PermissionFlagsBits } from "discord.js";
import { channelName } from "../../discord/describe.ts";
import { impliedIn } from "../../discord/effective-permissions.ts";
import { fetchGuildChannels, isObfuscated } from "../../discord/obfuscation.ts";
import { missingPermissions, requireOfPerson, requirePermissions } from "../../discord/permissions.ts";
import { isHidden, visibleChannel } from "../../discord/visible-channels.ts";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import { inSameGroup, type RawChannel, reorder, siblingsIn } from "./channel-order.ts";

/** A channel as in Discord's API, with its name. */
export type NamedChannel = RawChannel & {
	name: string;
	flags?: number;
	/** Whether results must not name the channel, because the person in whose name the call acts cannot see it. */
	isHidden: boolean;
};

/**
 * Fetches all channels of a guild from Discord, including those that the bot, or the person in whose name the call
 * acts, cannot see.
 */
export async function fetchChannels(guild: Guild): Promise<NamedChannel[]> {
	const all = await fetchGuildChannels(guild);
	return (all as unknown as NamedChannel[]).map((one) => ({
		...one,
		isHidden: isHidden(guild, one.id),
	}));
}

/**
 * Returns the channel with the id `id` from `all`, the channels just fetched from Discord. Throws a ToolError if `all`
 * does not contain it.
 */
export function channelWithId(all: readonly NamedChannel[], id: string): NamedChannel {
	const found = all.find((channel) => channel.id === id);
	if (found) return found;
	throw new ToolError(`The channel ${id} was just deleted. Nothing was done; list_channels shows the channels.`);
}

/**
 * Where a channel is in the channel list: its category ("" for none), and its index among the category's text channels
 * or voice channels.
 */
export interface Place {
	parentId: string;
	index: number;
	/** The place of the channel in words: "below #rules (ID: …) in #Staff (ID: …)". */
	text: string;
}

const maxChannelsPerCategory = 50;

/**
 * Returns the place in the channel list right below the channel `below`, or at its top if `below` is a category. `own`
 * is the channel to move; undefined for a new channel. Throws an RpcError if Discord's clients cannot show a channel of
 * this type there.
 */
export function placeBelow(
	type: ChannelType,
	below: NamedChannel,
	all: readonly NamedChannel[],
	own?: NamedChannel,
): Place {
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

/** Throws a ToolError if a category would hold too many channels with `arriving`, by default one new channel. */
export function requireRoom(all: readonly RawChannel[], parentId: string, arriving: readonly RawChannel[] = []): void {
	const inside = all.filter((one) => parentId && one.parent_id === parentId && !arriving.includes(one)).length;
	const after = inside + (arriving.length || 1);
	if (parentId && after > maxChannelsPerCategory)
		throw new ToolError(
			`The category ${parentId} is full: it would have ${after} channels, and Discord allows at most ${maxChannelsPerCategory}. Nothing was done.`,
		);
}

/**
 * Throws a ToolError unless the person in whose name the call acts may put a channel into the category `parentId`, or
 * outside of all categories if it is "". The person needs MANAGE_CHANNELS there. The bot's permissions are not checked
 * here, because Discord checks them.
 */
export function requirePlaceIn(guild: Guild, parentId: string): void {
	const { ManageChannels } = PermissionFlagsBits;
	const parent = visibleChannel(guild, parentId);
	if (parent && isObfuscated(parent))
		throw new ToolError(
			`The bot cannot see the category ${parentId}, and so not who would see a channel in it. Allow the bot VIEW_CHANNEL there. Nothing was done.`,
		);
	requireOfPerson(guild, parent, ManageChannels | impliedIn(parent));
}

/**
 * Throws a ToolError unless the bot, and the person in whose name the call acts, may change the order of a category's
 * channels. They need MANAGE_CHANNELS in the guild or in the category.
 * https://discord.com/developers/docs/resources/guild#modify-guild-channel-positions
 */
export function requireOrderable(guild: Guild, parentId: string): void {
	const { ManageChannels } = PermissionFlagsBits;
	if (missingPermissions(guild, undefined, ManageChannels) === 0n) return;
	const parent = visibleChannel(guild, parentId);
	requirePermissions(guild, parent, ManageChannels | impliedIn(parent));
}

/**
 * Returns the `position` for a new channel so that Discord places it at the index, without moving other channels. A new
 * channel comes after existing channels of the same position.
 * https://discord.com/developers/docs/resources/guild#create-guild-channel
 */
export function positionOfNew(type: ChannelType, { parentId, index }: Place, all: readonly RawChannel[]): number {
	const others = siblingsIn({ id: "", type, position: 0 }, all, parentId);
	const above = others[index - 1];
	if (above) return above.position;
	return Math.max(0, (others[0]?.position ?? 1) - 1);
}

/**
 * Returns the position changes that move the channel `own` to a category and index; empty if the channel is there
 * already. `all` are the guild's channels.
 */
export function movesTo(
	own: RawChannel,
	{ parentId, index }: Place,
	all: readonly RawChannel[],
): { id: string; position: number }[] {
	return reorder([own], siblingsIn(own, all, parentId), index).moves;
}
