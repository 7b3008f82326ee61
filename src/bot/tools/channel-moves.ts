// Channels to other places, one or several at once.

import { ChannelType, type Guild, Routes } from "discord.js";
import * as v from "valibot";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import {
	inSameGroup,
	type RawChannel,
	reorder,
	siblingsIn,
} from "../channels/channel-order.ts";
import { differenceOf } from "../channels/overwrites.ts";
import { channelName } from "../discord/describe.ts";
import * as find from "../discord/find.ts";
import { requireGrantable } from "../discord/permissions.ts";
import {
	flag,
	found,
	foundOrNone,
	guild_id,
	list,
	reason,
} from "../tool/arguments.ts";
import { writeEach } from "../tool/bulk.ts";
import { tool } from "../tool/define.ts";

/** A place among others. One that is further down than all of them is the last: the answer says which one that is. */
function place(description: string) {
	return v.pipe(
		v.number(),
		v.integer("expected an integer from 0"),
		v.minValue(0, "expected an integer from 0"),
		v.description(description),
	);
}

export const moveChannel = tool({
	name: "move_channel",
	toolset: "channels",
	title: "Move a channel",
	description:
		"Move a channel among its like, or into another category. Voice and stage channels always stand below the others.",
	effect: "write",
	idempotent: true,
	// Others make room for it; and it may be given other permissions.
	lock: ["guild_id", "channel_id"],
	permissions: [
		"ManageChannels",
		{ permission: "ManageRoles", with: "lock_permissions" },
	],
	input: v.strictObject({
		guild_id,
		channel_id: found(find.channel, "channel"),
		position: v.optional(
			place(
				"How many of its like are above it there; the last place in a new category when omitted.",
			),
		),
		category_id: v.optional(
			foundOrNone(find.categoryOrNone, "category to move it into"),
		),
		lock_permissions: v.optional(
			flag("Take over the permissions of the new category."),
			false,
		),
		reason,
	}),
	async run(args, { guild, channel }) {
		const { position, category_id, lock_permissions } = args;
		if (position === undefined && category_id === undefined)
			throw invalidParameters([
				"position, category_id: expected at least one of these",
			]);
		if (category_id && channel.type === ChannelType.GuildCategory)
			throw invalidParameters(["category_id: category channels have none"]);
		const route = Routes.guildChannels(guild.id);
		const all = (await guild.client.rest.get(route)) as RawChannel[];
		const raw = all.find(({ id }) => id === channel.id);
		if (!raw)
			throw new ToolError(
				`${channelName(channel)} is gone: it has just been deleted.`,
			);
		const from = raw.parent_id ?? "";
		const parentId = category_id ?? from;
		if (lock_permissions && (parentId === from || parentId === ""))
			throw invalidParameters([
				"lock_permissions: expected only with the category_id of another category; sync_channel_permissions does it where the channel is",
			]);
		if (lock_permissions) {
			const lock = all.find(({ id }) => id === parentId);
			requireGrantable(guild, channel, differenceOf(raw, lock));
		}
		const like = siblingsIn(raw, all, parentId);
		const stays = position === undefined && like.includes(raw);
		const { order, moves } = reorder(
			[raw],
			like,
			stays ? like.indexOf(raw) : position,
		);
		const place = order.indexOf(raw);
		const parent = guild.channels.cache.get(parentId);
		const where = parent ? `in ${channelName(parent)}` : "in no category";
		if (parentId === from && moves.length === 0)
			throw new ToolError(
				`Nothing would change: ${channelName(channel)} is at position ${place} ${where} already. Nothing was done.`,
			);
		const own = {
			...{ id: raw.id },
			...moves.find(({ id }) => id === raw.id),
			// Discord takes one change of category in a request.
			...(parentId !== from && {
				parent_id: parentId || null,
				lock_permissions,
			}),
		};
		const others = moves.filter(({ id }) => id !== raw.id);
		await guild.client.rest.patch(route, { body: [own, ...others] });
		return `Moved ${channelName(channel)} to position ${place} of ${order.length} ${where}${lock_permissions ? ", with its permissions" : ""}.`;
	},
});

const categoryRoom = 50;

export const moveChannels = tool({
	name: "move_channels",
	toolset: "channels",
	extra: true,
	title: "Move channels",
	description:
		"Move channels to stand one below the other, at a place among their like or last, in their category or another. Each change of category is a request of its own.",
	effect: "write",
	idempotent: true,
	// Others make room for them; and they may be given other permissions.
	lock: ["guild_id", "channel_ids"],
	permissions: [
		"ManageChannels",
		{ permission: "ManageRoles", with: "lock_permissions" },
	],
	permissionsIn: "channel_ids",
	input: v.strictObject({
		guild_id,
		channel_ids: list(
			found(find.channel, "channel"),
			1,
			50,
			"Channels, in the order they shall stand.",
		),
		category_id: v.optional(
			foundOrNone(find.categoryOrNone, "category to move them into"),
		),
		position: v.optional(place("How many others of their like stand above.")),
		below_channel_id: v.optional(
			found(find.channel, "channel to stand right below, instead"),
		),
		lock_permissions: v.optional(
			flag("Take over the permissions of the new category."),
			false,
		),
		reason,
	}),
	async run(args, { guild, channels }, call) {
		const { channel_ids, lock_permissions } = args;
		refuseUnclear(args);
		const route = Routes.guildChannels(guild.id);
		const all = (await guild.client.rest.get(route)) as RawChannel[];
		const raws = channel_ids.map((id) => rawOf(all, id));
		const below =
			args.below_channel_id === undefined
				? undefined
				: rawOf(all, args.below_channel_id);
		const parentId = args.category_id ?? categoryOf(raws, below);
		const arriving = raws.filter((raw) => (raw.parent_id ?? "") !== parentId);
		refuseMisfits(raws, below, parentId, all);
		if (lock_permissions) requireLockable(guild, arriving, parentId, all);
		const groups = raws.filter(
			(raw, index) => raws.findIndex((one) => inSameGroup(one, raw)) === index,
		);
		const moves = groups.flatMap((first) => {
			const alike = raws.filter((raw) => inSameGroup(raw, first));
			const like = siblingsIn(first, all, parentId);
			const others = like.filter((one) => !alike.includes(one));
			const place = below ? others.indexOf(below) + 1 : args.position;
			return reorder(alike, like, place).moves;
		});
		const parent = guild.channels.cache.get(parentId);
		const where = parent ? `in ${channelName(parent)}` : "in no category";
		if (arriving.length === 0 && moves.length === 0)
			throw new ToolError(
				`Nothing would change: the ${raws.length} channel(s) stand so ${where} already. Nothing was done.`,
			);
		const names = new Map(channels.map((one) => [one.id, channelName(one)]));
		const took =
			arriving.length === 0
				? ""
				: `, ${arriving.length} of them from elsewhere${lock_permissions ? " and with the permissions of it" : ""}`;
		const order = channel_ids.map((id) => names.get(id)).join(", ");
		return writeEach(
			{
				items: stepsFor(arriving, moves, parentId, lock_permissions),
				resumes: true,
				idOf: ({ id }) => id ?? "",
				describe: ({ id = "" }) => names.get(id) ?? "the positions of all",
				write: ({ body }) => guild.client.rest.patch(route, { body }),
				done: (done, of) =>
					done === of
						? `${raws.length} channel(s) stand ${where} now${took}, in this order among their like: ${order}. Changed:`
						: `Did ${done} of ${of} steps for ${raws.length} channel(s) to stand ${where}; their places follow with the last one. Changed:`,
			},
			call,
		);
	},
});

interface Asked {
	channel_ids: string[];
	category_id?: string | undefined;
	position?: number | undefined;
	below_channel_id?: string | undefined;
}

/** Throws an RpcError for arguments that do not say where to. */
function refuseUnclear({
	channel_ids,
	category_id,
	position,
	below_channel_id,
}: Asked): void {
	if (position !== undefined && below_channel_id !== undefined)
		throw invalidParameters([
			"position, below_channel_id: expected one of these",
		]);
	if (
		[category_id, position, below_channel_id].every((one) => one === undefined)
	)
		throw invalidParameters([
			"category_id, position, below_channel_id: expected at least one of these",
		]);
	if (below_channel_id !== undefined && channel_ids.includes(below_channel_id))
		throw invalidParameters([
			"below_channel_id: expected a channel that is not among channel_ids",
		]);
}

function rawOf(all: readonly RawChannel[], id: string): RawChannel {
	const raw = all.find((one) => one.id === id);
	if (raw) return raw;
	throw new ToolError(
		`The channel ${id} is gone: it has just been deleted. Nothing was done.`,
	);
}

/** The category that is meant where none is named. */
function categoryOf(
	raws: readonly RawChannel[],
	below: RawChannel | undefined,
): string {
	if (below) return below.parent_id ?? "";
	const [first = "", ...others] = new Set(
		raws.map(({ parent_id }) => parent_id ?? ""),
	);
	if (others.length === 0) return first;
	throw invalidParameters([
		"category_id: expected, because the channels stand in several categories",
	]);
}

/** Throws for channels that cannot stand there. */
function refuseMisfits(
	raws: readonly RawChannel[],
	below: RawChannel | undefined,
	parentId: string,
	all: readonly RawChannel[],
): void {
	const isCategory = ({ type }: RawChannel) =>
		type === ChannelType.GuildCategory;
	if (parentId && raws.some(isCategory))
		throw invalidParameters(["category_id: category channels have none"]);
	if (below && (below.parent_id ?? "") !== parentId)
		throw invalidParameters([
			"below_channel_id: expected a channel in the category of category_id",
		]);
	if (below && raws.some((raw) => !inSameGroup(raw, below)))
		throw invalidParameters([
			"below_channel_id: expected channels of one kind; categories stand below voice and stage channels, and those below the others",
		]);
	const inside = all.filter(
		(one) => one.parent_id === parentId && !raws.includes(one),
	);
	if (parentId && inside.length + raws.length > categoryRoom)
		throw new ToolError(
			`A category has room for ${categoryRoom} channels, and this one would have ${inside.length + raws.length}. Nothing was done.`,
		);
}

function requireLockable(
	guild: Guild,
	arriving: readonly RawChannel[],
	parentId: string,
	all: readonly RawChannel[],
): void {
	if (parentId === "" || arriving.length === 0)
		throw invalidParameters([
			"lock_permissions: expected only with another category; sync_channel_permissions does it where a channel is",
		]);
	const lock = all.find(({ id }) => id === parentId);
	for (const raw of arriving)
		requireGrantable(
			guild,
			guild.channels.cache.get(raw.id),
			differenceOf(raw, lock),
		);
}

interface Step {
	/** Whose category it changes, if any one's. */
	id?: string;
	body: object[];
}

/** Discord takes one change of category in a request, and any number of positions: those go with the last one. */
function stepsFor(
	arriving: readonly RawChannel[],
	moves: readonly { id: string; position: number }[],
	parentId: string,
	lock_permissions: boolean,
): Step[] {
	if (arriving.length === 0) return [{ body: [...moves] }];
	return arriving.map(({ id }, index) => {
		const own = { id, parent_id: parentId || null, lock_permissions };
		if (index < arriving.length - 1) return { id, body: [own] };
		const others = moves.filter((move) => move.id !== id);
		const position = moves.find((move) => move.id === id);
		return { id, body: [{ ...position, ...own }, ...others] };
	});
}
