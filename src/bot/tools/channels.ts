// Channels: listing, making, changing, moving and removing them. Who may do what in them is in overwrites.ts.

import {
	ChannelType,
	type Guild,
	type GuildBasedChannel,
	type OverwriteResolvable,
	OverwriteType,
	PermissionFlagsBits,
	type Role,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import {
	choiceInAnyCase,
	flag,
	found,
	foundOrNone,
	guild_id,
	integer,
	list,
	reason,
	text,
} from "../arguments.ts";
import {
	categoryField,
	createWith,
	currentFields,
	editWith,
	kindFields,
	kindName,
	kindNames,
	nameField,
} from "../channel-fields.ts";
import {
	channelsFromTop,
	likeIn,
	placed,
	type RawChannel,
} from "../channel-order.ts";
import { destructiveTool, tool } from "../context.ts";
import { channelName, roleName, time } from "../describe.ts";
import * as find from "../find.ts";
import { differenceOf } from "../overwrites.ts";
import { botMember, botPermissions, requireGrantable } from "../permissions.ts";
import { oneField, oneLine } from "../text.ts";

export const createChannel = tool({
	name: "create_channel",
	toolset: "channels",
	title: "Create a channel",
	description:
		"Create a channel. With `private_to_role_ids` only these roles and the bot see it, and it takes over no permissions of its category.",
	effect: "write",
	permissions: ["ManageChannels"],
	input: v.strictObject({
		guild_id,
		name: nameField,
		channel_type: v.optional(
			choiceInAnyCase(kindNames, "What kind of channel it is."),
			"text",
		),
		category_id: categoryField,
		...kindFields,
		position: v.optional(
			integer(0, 1000, "Where it stands among its like, from the top."),
		),
		private_to_role_ids: v.optional(
			list(
				found(find.role, "role that can see it"),
				1,
				50,
				"Roles that can see the channel; everyone can when omitted.",
			),
		),
		reason,
	}),
	async run(args, { guild, private_to_roles }) {
		const { guild_id, reason, ...fields } = args;
		const { channel_type, position, private_to_role_ids, ...rest } = fields;
		const made = await createWith(guild, channel_type, rest, {
			...(position !== undefined && { position }),
			...(private_to_roles && {
				permissionOverwrites: visibleOnlyTo(guild, private_to_roles),
			}),
		});
		return private_to_roles
			? `${made}, seen only by ${private_to_roles.map(roleName).join(", ")} and the bot.`
			: `${made}.`;
	},
});

/** Nobody but these roles and the bot sees it: without itself, the bot would shut itself out. */
function visibleOnlyTo(guild: Guild, roles: Role[]): OverwriteResolvable[] {
	const view = PermissionFlagsBits.ViewChannel;
	if (roles.some(({ id }) => id === guild.id))
		throw invalidParameters([
			"private_to_role_ids: everyone has the role @everyone; leave this out for a channel that everyone can see",
		]);
	requireGrantable(guild, undefined, view);
	return [
		{ id: guild.id, type: OverwriteType.Role, deny: view },
		...roles.map(({ id }) => ({ id, type: OverwriteType.Role, allow: view })),
		{ id: botMember(guild).id, type: OverwriteType.Member, allow: view },
	];
}

export const editChannel = tool({
	name: "edit_channel",
	toolset: "channels",
	title: "Edit a channel",
	description:
		"Change a channel's name, topic, age restriction, slow mode or category; what is not given stays.",
	effect: "write",
	idempotent: true,
	turns: "channel_id",
	permissions: ["ManageChannels"],
	input: v.strictObject({
		guild_id,
		channel_id: found(find.currentChannel, "channel"),
		name: v.optional(text(1, 100, "New name.")),
		topic: kindFields.topic,
		nsfw: kindFields.nsfw,
		slowmode_seconds: kindFields.slowmode_seconds,
		category_id: v.optional(
			foundOrNone(find.categoryOrNone, "category to move it into"),
		),
		reason,
	}),
	run(args, { guild, channel }) {
		const { name, topic, nsfw, slowmode_seconds, category_id } = args;
		const asked = { name, topic, nsfw, slowmode_seconds, category_id };
		return editWith(guild, channel, asked);
	},
});

export const listChannels = tool({
	name: "list_channels",
	toolset: "channels",
	title: "List channels",
	description:
		"List a guild's channels in the order that people see: name, id, kind, category, topic, slow mode. Threads are not among them.",
	effect: "read",
	input: v.strictObject({
		guild_id,
		category_id: v.optional(
			found(find.category, "category to list; all channels when omitted"),
		),
	}),
	run(_, { guild, category }) {
		const lines = channelsFromTop(guild)
			.filter(
				({ id, parentId }) =>
					!category || id === category.id || parentId === category.id,
			)
			.map(lineOf);
		if (lines.length === 0) return "The guild has no channels.";
		const where = category ? ` in ${channelName(category)}, with itself` : "";
		return [`${lines.length} channel(s)${where}, from the top:`, ...lines];
	},
});

const shownTopic = 80;

function lineOf(channel: find.Channel): string {
	const { topic, nsfw, slowmode_seconds, category_id } = currentFields(channel);
	const characters = [...topic];
	const shown = characters.slice(0, shownTopic).join("");
	const cut = characters.length > shownTopic ? "…" : "";
	return [
		`#${oneField(channel.name)} | ID: ${channel.id} | ${kindName(channel)}`,
		...(category_id ? [`category: ${category_id}`] : []),
		...(topic ? [`topic: ${oneField(shown)}${cut}`] : []),
		...(nsfw ? ["nsfw"] : []),
		...(slowmode_seconds ? [`slow mode: ${slowmode_seconds} s`] : []),
		...(isVisible(channel) ? [] : ["hidden from the bot"]),
	].join(" | ");
}

function isVisible(channel: GuildBasedChannel): boolean {
	const { Administrator, ViewChannel } = PermissionFlagsBits;
	const has = botPermissions(channel.guild, channel);
	return (has & (ViewChannel | Administrator)) !== 0n;
}

export const getChannel = tool({
	name: "get_channel",
	toolset: "channels",
	extra: true,
	title: "Get a channel",
	description:
		"A channel's or thread's kind, category, position, topic, limits, and whether its permissions are its category's.",
	effect: "read",
	input: v.strictObject({
		guild_id,
		channel_id: found(find.anyChannel, "channel or thread"),
	}),
	run(_, { channel }) {
		const fields = currentFields(channel);
		const { parent } = channel;
		const lines = [
			`${channelName(channel)}, ${kindName(channel)}`,
			`${channel.isThread() ? "thread of" : "category"}: ${parent ? channelName(parent) : "none"}`,
			`topic: ${oneLine(fields.topic) || "none"}`,
			`nsfw: ${fields.nsfw ? "yes" : "no"}`,
			`slow mode: ${fields.slowmode_seconds} s`,
			`visible to the bot: ${isVisible(channel) ? "yes" : "no"}`,
			`created: ${time(channel.createdTimestamp)}`,
		];
		if (channel.isThread())
			return [
				...lines,
				`started by: ${channel.ownerId ?? "unknown"}`,
				`archived: ${channel.archived ? "yes" : "no"}`,
				`locked: ${channel.locked ? "yes" : "no"}`,
			];
		const { size } = channel.permissionOverwrites.cache;
		const voice = [
			`bitrate: ${fields.bitrate} bit/s`,
			`user limit: ${fields.user_limit || "none"}`,
			`region: ${oneLine(fields.rtc_region) || "automatic"}`,
		];
		const synced = channel.permissionsLocked ? "yes" : "no";
		return [
			...lines,
			`position: ${channel.position}`,
			...(channel.isVoiceBased() ? voice : []),
			...(parent ? [`permissions as in the category: ${synced}`] : []),
			`permissions of its own: for ${size} role(s) and member(s), shown by list_channel_permissions`,
		];
	},
});

/** How many things a dry run names. */
const sampleSize = 5;

export const deleteChannel = destructiveTool({
	name: "delete_channel",
	toolset: "channels",
	title: "Delete a channel",
	description:
		"Delete a channel with all messages in it, or a category, whose channels stay. It cannot be brought back.",
	permissions: ["ManageChannels"],
	turns: "channel_id",
	idempotent: true,
	input: v.strictObject({
		guild_id,
		channel_id: found(find.currentChannel, "channel"),
		reason,
	}),
	plan(_, { guild, channel }) {
		const what = `the ${kindName(channel)} channel ${channelName(channel)}`;
		const inside = channelsFromTop(guild).filter(
			({ parentId }) => parentId === channel.id,
		);
		const left =
			inside.length > 0
				? ` The ${inside.length} channel(s) in it stay, in no category.`
				: "";
		const people = channel.isVoiceBased() ? channel.members.size : 0;
		const lost =
			people > 0 ? ` ${people} member(s) in it would be disconnected.` : "";
		return {
			preview: [
				channel.type === ChannelType.GuildCategory
					? `Would delete ${what}.${left}`
					: `Would delete ${what}, with everything in it.${lost}`,
				...inside.slice(0, sampleSize).map(lineOf),
			],
			async act() {
				await guild.client.rest.delete(Routes.channel(channel.id));
				return `Deleted ${what}.${left}`;
			},
		};
	},
});

export const moveChannel = tool({
	name: "move_channel",
	toolset: "channels",
	title: "Move a channel",
	description:
		"Move a channel among its like, or into another category. Voice and stage channels always stand below the others.",
	effect: "write",
	idempotent: true,
	// Others make room for it; and it may be given other permissions.
	turns: ["guild_id", "channel_id"],
	permissions: [
		"ManageChannels",
		{ permission: "ManageRoles", with: "lock_permissions" },
	],
	input: v.strictObject({
		guild_id,
		channel_id: found(find.channel, "channel"),
		position: v.optional(
			integer(
				0,
				499,
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
		const like = likeIn(raw, all, parentId);
		const stays = position === undefined && like.includes(raw);
		const { order, moves } = placed(
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

export const cloneChannel = tool({
	name: "clone_channel",
	toolset: "channels",
	extra: true,
	title: "Clone a channel",
	description:
		"Make another channel with the fields, permissions and category of one, without its messages.",
	effect: "write",
	guildPermissions: ["ManageChannels"],
	permissions: [],
	input: v.strictObject({
		guild_id,
		channel_id: found(find.currentChannel, "channel to clone"),
		name: v.optional(text(1, 100, "Its name; the same one when omitted.")),
		reason,
	}),
	async run({ name = "" }, { guild, channel }) {
		const overwrites = [...channel.permissionOverwrites.cache.values()];
		const bits = overwrites.reduce(
			(all, { allow, deny }) => all | allow.bitfield | deny.bitfield,
			0n,
		);
		requireGrantable(guild, "new", bits);
		const made = await channel.clone({ name: name || channel.name });
		return `Created ${channelName(made)}, a clone of ${channelName(channel)}.`;
	},
});
