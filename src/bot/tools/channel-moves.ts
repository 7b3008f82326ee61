// Moving channels: their order and their category. Moves have no reason: Discord's audit log does not have them.
// https://discord.com/developers/docs/resources/guild#modify-guild-channel-positions, discord-api-docs#4345

import { ChannelType, type Guild, PermissionFlagsBits, Routes } from "discord.js";
import * as v from "valibot";
import { inSameGroup, type RawChannel, reorder, siblingsIn } from "../../discord/channel-order.ts";
import { channelLabel, channelName } from "../../discord/describe.ts";
import * as find from "../../discord/find.ts";
import { impliedIn, missingPermissions, requirePermissions } from "../../discord/permissions.ts";
import { isHidden, visibleChannel } from "../../discord/visible-channels.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { type ArgumentsOf, invalidParameters } from "../../mcp/tool.ts";
import { said } from "../../texts/texts.ts";
import { asking, channels as channelMentions, parts } from "../results/result.ts";
import { flag, found, foundOrNone, guild_id, list, requireOneOf } from "../tool/arguments/arguments.ts";
import { planEach, sample } from "../tool/bulk.ts";
import { editTool } from "../tool/define.ts";
import { accessAfterMove, channelWithId, fetchChannels, lockNeedsCategory } from "./channels/channel-placement.ts";

function requireMovable(guild: Guild, raws: readonly RawChannel[], parentId: string): void {
	const { ManageChannels } = PermissionFlagsBits;
	const parent = visibleChannel(guild, parentId);
	const arriving = raws.filter((raw) => (raw.parent_id ?? "") !== parentId);
	const isHeldInGuild = missingPermissions(guild, undefined, ManageChannels) === 0n;
	if (arriving.length > 0 || !isHeldInGuild) requirePermissions(guild, parent, ManageChannels | impliedIn(parent));
	for (const { id } of arriving) {
		const channel = visibleChannel(guild, id);
		requirePermissions(guild, channel, ManageChannels | impliedIn(channel));
	}
}

const moveInput = {
	guild_id,
	channel_ids: list(found(find.channel, "channel"), 1, 50, "Channels in the new order."),
	category_id: v.optional(foundOrNone(find.categoryOrNone, "category to move them into")),
	position: v.optional(
		v.pipe(
			v.number(),
			v.integer("expected an integer from 0"),
			v.minValue(0, "expected an integer from 0"),
			v.description("Index from 0; default: last."),
		),
	),
	below_channel_id: v.optional(found(find.channel, "channel right above them, instead")),
	lock_permissions: flag("Sync with it; default: if nobody gains access."),
};

type Move = ArgumentsOf<typeof moveInput>;

export const moveChannels = editTool({
	name: "move_channels",
	toolset: "channels",
	title: "Move channels",
	description: "Place channels one below the other. Voice and stage channels are always below the others.",
	// Moving changes the positions of other channels too, and lock_permissions the channels' overwrites.
	lock: ["guild_id", "channel_ids"],
	permissions: ["ManageChannels", { permission: "ManageRoles", with: "lock_permissions" }],
	permissionsIn: "run",
	input: moveInput,
	destructive: ({ lock_permissions }) =>
		lock_permissions ? "replaces the permissions of the channels by those of the category" : undefined,
	async plan(args, { guild, channels }) {
		const move = await planMove(guild, channels, args);
		const { raws, arriving, moves, orders, access, parentId } = move;
		if (arriving.length === 0 && moves.length === 0)
			throw new ToolError(
				`Nothing would change: the channels are already in this order. ${orders.join(". ")}. Nothing was done.`,
			);
		const steps = stepsFor(arriving, moves, parentId, access.following);
		const names = new Map(channels.map((channel) => [channel.id, channelName(channel)]));
		let written = 0;
		return planEach({
			items: steps,
			asks: asking(
				describeMove("Would move", move),
				said("preview.move_channels", { where: channelMentions(channels) }),
				args.lock_permissions && said("preview.lock_permissions"),
			),
			idOf: ({ id }) => id ?? "",
			describe: ({ id = "" }) => names.get(id) ?? "the positions of all",
			async write({ body }) {
				await guild.client.rest.patch(Routes.guildChannels(guild.id), { body });
				written += 1;
			},
			done: (done, of) =>
				`Did ${done} of ${of} steps to move ${raws.length} channel(s); the last step sets their order. Changed:`,
			after: (output) => (written < steps.length ? parts(output, access.lines) : describeMove("Moved", move)),
		});
	},
});

function describeMove(verb: string, { raws, arriving, access, orders }: Awaited<ReturnType<typeof planMove>>) {
	const { length } = arriving;
	const elsewhere = length > 0 ? `, ${length} of them from elsewhere` : "";
	const head = `${verb} ${raws.length} channel(s)${elsewhere}.`;
	return [head, ...access.lines, ...orders];
}

async function planMove(guild: Guild, channels: readonly find.Channel[], args: Move) {
	const { channel_ids, lock_permissions, position, below_channel_id } = args;
	if (position !== undefined && below_channel_id !== undefined)
		throw invalidParameters(["position, below_channel_id: expected at most one of these"]);
	requireOneOf(args, ["category_id", "position", "below_channel_id"]);
	if (below_channel_id !== undefined && channel_ids.includes(below_channel_id))
		throw invalidParameters(["below_channel_id: expected a channel that is not among channel_ids"]);
	const all = await fetchChannels(guild);
	const raws: RawChannel[] = channel_ids.map((id) => channelWithId(all, id));
	const below: RawChannel | undefined = below_channel_id ? channelWithId(all, below_channel_id) : undefined;
	const parentId = args.category_id ?? categoryOf(raws, below);
	const arriving = raws.filter((raw) => (raw.parent_id ?? "") !== parentId);
	if (lock_permissions && arriving.length === 0) throw invalidParameters([lockNeedsCategory]);
	requirePlaceable(raws, below, parentId);
	requireMovable(guild, raws, parentId);
	const access = accessOf(channels, arriving, parentId, lock_permissions, all);
	const groups = raws.filter((raw, index) => raws.findIndex((other) => inSameGroup(other, raw)) === index);
	// A single channel that only gets the category in which it already is stays at its place.
	const stays = raws.length === 1 && arriving.length === 0 && !below && args.position === undefined;
	const reordered = groups.map((first) => {
		const group = raws.filter((raw) => inSameGroup(raw, first));
		const siblings = siblingsIn(first, all, parentId);
		if (stays) return { order: siblings, moves: [] };
		const others = siblings.filter((raw) => !group.includes(raw));
		const place = below ? others.indexOf(below) + 1 : args.position;
		return reorder(group, siblings, place);
	});
	const moves = reordered.flatMap(({ moves }) => moves);
	const orders = reordered.map(({ order }) => describeOrder(guild, order, raws, parentId));
	return { raws, arriving, moves, orders, access, parentId };
}

function accessOf(
	channels: readonly find.Channel[],
	arriving: readonly RawChannel[],
	parentId: string,
	lock: boolean | undefined,
	all: readonly RawChannel[],
): { following: ReadonlySet<string>; lines: string[] } {
	const found = channels
		.filter(({ id }) => arriving.some((raw) => raw.id === id))
		.map((channel) => ({ channel, ...accessAfterMove(channel, all, parentId, lock) }));
	const alike = Map.groupBy(
		found.filter(({ lines }) => lines.length > 0),
		({ lines }) => lines.join("; "),
	);
	return {
		following: new Set(found.flatMap(({ channel, entries }) => (entries ? channel.id : []))),
		lines: Array.from(
			alike,
			([text, group]) => `${group.map(({ channel }) => channelName(channel)).join(", ")}: ${text}`,
		),
	};
}

const maxInOrder = 100;

function describeOrder(guild: Guild, order: readonly RawChannel[], moved: readonly RawChannel[], parentId: string) {
	const parent = visibleChannel(guild, parentId);
	const visible = order.filter(({ id }) => !isHidden(guild, id));
	const isCategories = order[0]?.type === ChannelType.GuildCategory;
	const where = parent ? `In ${channelName(parent)}` : "In no category";
	const names = sample(visible, maxInOrder, (raw) => {
		const channel = visibleChannel(guild, raw.id) ?? { name: "unknown" };
		return moved.includes(raw) ? channelName({ ...channel, id: raw.id }) : channelLabel(channel);
	});
	return `${isCategories ? "Categories" : where}, from the top: ${names.join(", ")}`;
}

function categoryOf(raws: readonly RawChannel[], below: RawChannel | undefined): string {
	if (below) return below.parent_id ?? "";
	const [first = "", ...others] = new Set(raws.map(({ parent_id }) => parent_id ?? ""));
	if (others.length === 0) return first;
	throw invalidParameters(["category_id: is required, because the channels are in several categories"]);
}

function requirePlaceable(raws: readonly RawChannel[], below: RawChannel | undefined, parentId: string): void {
	const isCategory = ({ type }: RawChannel) => type === ChannelType.GuildCategory;
	if (parentId && raws.some(isCategory))
		throw invalidParameters(["category_id: a category cannot be inside another category"]);
	if (below && (below.parent_id ?? "") !== parentId)
		throw invalidParameters(["below_channel_id: expected a channel in the category that category_id names"]);
	if (below && raws.some((raw) => !inSameGroup(raw, below)))
		throw invalidParameters([
			"below_channel_id: expected channels of one kind: Discord shows voice and stage channels below text channels, and categories below both",
		]);
}

function stepsFor(
	arriving: readonly RawChannel[],
	moves: readonly { id: string; position: number }[],
	parentId: string,
	following: ReadonlySet<string>,
): { id?: string; body: object[] }[] {
	if (arriving.length === 0) return [{ body: [...moves] }];
	return arriving.map(({ id }, index) => {
		const lock_permissions = following.has(id);
		const own = { id, parent_id: parentId || null, lock_permissions };
		if (index < arriving.length - 1) return { id, body: [own] };
		const others = moves.filter((move) => move.id !== id);
		return { id, body: [{ ...moves.find((move) => move.id === id), ...own }, ...others] };
	});
}
