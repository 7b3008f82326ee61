// Channels: listing, creating, editing, deleting. Moving is in channel-moves.ts, permissions in overwrites.ts.

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
	categoryField,
	createGuildChannel,
	currentFields,
	editGuildChannel,
	kindFields,
	kindName,
	kindNames,
	nameField,
	requireAllowedKind,
} from "../channels/channel-fields.ts";
import { channelsFromTop } from "../channels/channel-order.ts";
import { activeThreads } from "../channels/thread-pages.ts";
import { channelName, roleName, time } from "../discord/describe.ts";
import * as find from "../discord/find.ts";
import {
	botMember,
	missingPermissions,
	requireGrantable,
} from "../discord/permissions.ts";
import { fieldLine, oneField, resultLines } from "../discord/text.ts";
import {
	choiceInAnyCase,
	found,
	foundOrNone,
	guild_id,
	integer,
	list,
	reason,
	text,
} from "../tool/arguments.ts";
import {
	destructiveTool,
	editTool,
	readTool,
	writeTool,
} from "../tool/define.ts";

export const createChannel = writeTool({
	name: "create_channel",
	toolset: "channels",
	title: "Create a channel",
	description:
		"Create a channel. With `private_to_role_ids` only these roles and the bot see it; it then ignores its category's permissions.",
	permissions: ["ManageChannels"],
	input: v.strictObject({
		guild_id,
		name: nameField,
		channel_type: v.optional(
			choiceInAnyCase(kindNames, "Kind of channel."),
			"text",
		),
		category_id: categoryField,
		...kindFields,
		position: v.optional(integer(0, 1000, "Index from the top, from 0.")),
		private_to_role_ids: v.optional(
			list(
				found(find.role, "role that can see it"),
				1,
				50,
				"Roles that can see the channel; default: everyone.",
			),
		),
		reason,
	}),
	async run(args, { guild, private_to_roles }) {
		const { guild_id, reason, ...fields } = args;
		const { channel_type, position, private_to_role_ids, ...rest } = fields;
		const made = await createGuildChannel(guild, channel_type, rest, {
			...(position !== undefined && { position }),
			...(private_to_roles && {
				permissionOverwrites: visibleOnlyTo(guild, private_to_roles),
			}),
		});
		return private_to_roles
			? `${made}, visible only to ${private_to_roles.map(roleName).join(", ")} and the bot.`
			: `${made}.`;
	},
});

/**
 * Returns permission overwrites for a channel that only these roles and the bot see. The bot needs its own overwrite,
 * or it would lose access.
 */
function visibleOnlyTo(guild: Guild, roles: Role[]): OverwriteResolvable[] {
	const view = PermissionFlagsBits.ViewChannel;
	if (roles.some(({ id }) => id === guild.id))
		throw invalidParameters([
			"private_to_role_ids: @everyone is not a private role; omit this for a channel that everyone can see",
		]);
	requireGrantable(guild, undefined, view);
	return [
		{ id: guild.id, type: OverwriteType.Role, deny: view },
		...roles.map(({ id }) => ({ id, type: OverwriteType.Role, allow: view })),
		{ id: botMember(guild).id, type: OverwriteType.Member, allow: view },
	];
}

export const editChannel = editTool({
	name: "edit_channel",
	toolset: "channels",
	title: "Edit a channel",
	description:
		"Change a channel's name, topic, age restriction, slow mode or category; omitted fields stay.",
	lock: "channel_id",
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
		const fields = { name, topic, nsfw, slowmode_seconds, category_id };
		return editGuildChannel(guild, channel, fields);
	},
});

export const listChannels = readTool({
	name: "list_channels",
	toolset: "channels",
	title: "List channels",
	description:
		"List a guild's channels from the top, without threads: name, id, kind, category, topic, slow mode.",
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
		const where = category
			? ` in ${channelName(category)}, including itself`
			: "";
		return [`${lines.length} channel(s)${where}, from the top:`, ...lines];
	},
});

const maxTopicLength = 80;

function lineOf(channel: find.Channel): string {
	const { topic, nsfw, slowmode_seconds, category_id } = currentFields(channel);
	const characters = [...topic];
	const start = characters.slice(0, maxTopicLength).join("");
	const ellipsis = characters.length > maxTopicLength ? "…" : "";
	return fieldLine(
		`#${oneField(channel.name)} | ID: ${channel.id} | ${kindName(channel)}`,
		category_id && `category: ${category_id}`,
		topic && `topic: ${oneField(start)}${ellipsis}`,
		nsfw && "nsfw",
		slowmode_seconds > 0 && `slow mode: ${slowmode_seconds} s`,
		!isVisible(channel) && "hidden from the bot",
	);
}

function isVisible(channel: GuildBasedChannel): boolean {
	const { ViewChannel } = PermissionFlagsBits;
	return missingPermissions(channel.guild, channel, ViewChannel) === 0n;
}

export const getChannel = readTool({
	name: "get_channel",
	toolset: "channels",
	extra: true,
	title: "Get a channel",
	description:
		"A channel's or thread's kind, category, position, topic, limits, and whether its permissions are its category's.",
	input: v.strictObject({
		guild_id,
		channel_id: found(find.anyChannel, "channel or thread"),
	}),
	run(_, { channel }) {
		const fields = currentFields(channel);
		const { parent } = channel;
		const yesOrNo = (value: unknown) => (value ? "yes" : "no");
		const lines = [
			`${channelName(channel)}, ${kindName(channel)}`,
			`${channel.isThread() ? "thread of" : "category"}: ${parent ? channelName(parent) : "none"}`,
			`topic: ${oneField(fields.topic) || "none"}`,
			`nsfw: ${yesOrNo(fields.nsfw)}`,
			`slow mode: ${fields.slowmode_seconds} s`,
			`visible to the bot: ${yesOrNo(isVisible(channel))}`,
			`created: ${time(channel.createdTimestamp)}`,
		];
		if (channel.isThread())
			return [
				...lines,
				`started by: ${channel.ownerId ?? "unknown"}`,
				`archived: ${yesOrNo(channel.archived)}`,
				`locked: ${yesOrNo(channel.locked)}`,
			];
		const { size } = channel.permissionOverwrites.cache;
		return resultLines(
			lines,
			`position: ${channel.position}`,
			find.isVoice(channel) && [
				`bitrate: ${fields.bitrate === undefined ? "unknown" : `${fields.bitrate} bit/s`}`,
				`user limit: ${fields.user_limit || "none"}`,
				`region: ${oneField(fields.rtc_region) || "automatic"}`,
			],
			parent &&
				`permissions as in the category: ${yesOrNo(channel.permissionsLocked)}`,
			`permissions of its own: for ${size} role(s) and member(s), shown by list_channel_permissions`,
		);
	},
});

const sampleSize = 5;

export const deleteChannel = destructiveTool({
	name: "delete_channel",
	toolset: "channels",
	title: "Delete a channel",
	description:
		"Delete a channel with all its messages, or a category, whose channels stay. This cannot be undone.",
	permissions: ["ManageChannels"],
	lock: "channel_id",
	input: v.strictObject({
		guild_id,
		channel_id: found(find.currentChannel, "channel"),
		reason,
	}),
	plan(_, { guild, channel }) {
		requireDeletable(guild, channel);
		const target = `the ${kindName(channel)} channel ${channelName(channel)}`;
		const inside = channelsFromTop(guild).filter(
			({ parentId }) => parentId === channel.id,
		);
		const left =
			inside.length > 0
				? ` The ${inside.length} channel(s) in it stay, without a category.`
				: "";
		return {
			preview: async () => [
				channel.type === ChannelType.GuildCategory
					? `Would delete ${target}.${left}`
					: `Would delete ${target}, with everything in it.${await describeContent(guild, channel)}`,
				...inside.slice(0, sampleSize).map(lineOf),
			],
			write: () => guild.client.rest.delete(Routes.channel(channel.id)),
			result: `Deleted ${target}.${left}`,
		};
	},
});

/**
 * Throws a ToolError for a channel that Discord refuses to delete: a community's rules channel or public updates
 * channel.
 */
function requireDeletable(guild: Guild, channel: find.Channel): void {
	const required = {
		rules_channel_id: guild.rulesChannelId,
		public_updates_channel_id: guild.publicUpdatesChannelId,
	};
	const named = Object.entries(required).filter(([, id]) => id === channel.id);
	if (named.length === 0 || !guild.features.includes("COMMUNITY")) return;
	const settings = named.map(([setting]) => setting).join(" and ");
	throw new ToolError(
		`${channelName(channel)} is the ${settings} of the guild, which a community must have: set another one with edit_guild first. Nothing was done.`,
	);
}

/**
 * Describes how many members are connected to a channel and how many of its threads are active; empty if it has no
 * connected members and no active threads.
 */
async function describeContent(
	guild: Guild,
	channel: find.Channel,
): Promise<string> {
	const people = find.isVoice(channel) ? channel.members.size : 0;
	const threads =
		"threads" in channel ? await activeThreads(guild, { channel }) : [];
	return resultLines(
		people > 0 && ` ${people} member(s) in it would be disconnected.`,
		threads.length > 0 && ` ${threads.length} of its threads are active.`,
	).join("");
}

export const cloneChannel = writeTool({
	name: "clone_channel",
	toolset: "channels",
	extra: true,
	title: "Clone a channel",
	description:
		"Create a copy of a channel: its fields, permissions and category, without messages.",
	guildPermissions: ["ManageChannels"],
	permissions: [],
	input: v.strictObject({
		guild_id,
		channel_id: found(find.currentChannel, "channel to clone"),
		name: v.optional(text(1, 100, "Name; default: the same.")),
		reason,
	}),
	async run({ name = "" }, { guild, channel }) {
		requireAllowedKind(guild, kindName(channel));
		const bits = channel.permissionOverwrites.cache.reduce(
			(all, { allow, deny }) => all | allow.bitfield | deny.bitfield,
			0n,
		);
		requireGrantable(guild, "new", bits);
		const made = await channel.clone({ name: name || channel.name });
		return `Created ${channelName(made)}, a clone of ${channelName(channel)}.`;
	},
});
