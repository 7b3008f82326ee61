// Channels and threads: creating, reading, editing and deleting them, and typing.

import {
	ChannelType,
	RESTJSONErrorCodes as Code,
	PermissionFlagsBits as Permission,
} from "discord.js";
import type { ChannelChanges } from "../../world/channels/channels.ts";
import {
	type Guild,
	type GuildChannel,
	type GuildChannelType,
	holdsPosts,
	isThread,
} from "../../world/state/entities.ts";
import { channelPermissions, has } from "../../world/state/permissions.ts";
import * as serialize from "../../world/state/serialize.ts";
import { apiError, formError, notSimulated } from "../errors.ts";
import * as f from "../fields.ts";
import { forumChanges, forumFields } from "../forum-fields.ts";
import { requirePermissions } from "../message-body.ts";
import {
	type Call,
	channelOf,
	guildChannelOf,
	guildOf,
	type ReadForm,
	route,
} from "../route.ts";
import { isRequired } from "./guilds.ts";
import { checkOverwrites, overwriteList } from "./overwrites.ts";
import { deleteThread, editThread, threadFields } from "./threads.ts";

const channelLimit = 500;
const categoryLimit = 50;
// Without boosts.
const bitrateLimit = 96_000;

const channelFields = {
	...forumFields,
	name: f.nullable(f.text(1, 100)),
	position: f.nullable(f.integer(0, 0x7fffffff)),
	// The limit depends on the type: a forum's guidelines may be longer than a topic.
	topic: f.nullable(f.text(0, 4096)),
	nsfw: f.nullable(f.boolean),
	rate_limit_per_user: f.nullable(f.integer(0, 21_600)),
	bitrate: f.nullable(f.integer(8000, bitrateLimit)),
	user_limit: f.nullable(f.integer(0, 10_000)),
	rtc_region: f.nullable(f.text(0, 100)),
	permission_overwrites: f.nullable(overwriteList),
	parent_id: f.nullable(f.snowflake),
};

const creatable = f.choice(
	ChannelType.GuildText,
	ChannelType.GuildVoice,
	ChannelType.GuildCategory,
	ChannelType.GuildAnnouncement,
	ChannelType.GuildStageVoice,
	ChannelType.GuildForum,
);

type ChannelBody = ReadForm<typeof channelFields>;

/** The changes that a body makes to a channel of this type. Throws if they do not fit the guild. */
function changesOf(
	call: Call,
	guild: Guild,
	type: GuildChannelType,
	body: ChannelBody,
	channel?: GuildChannel,
): ChannelChanges {
	checkTypeLimits(type, body);
	const overwrites = body.permission_overwrites;
	return {
		...forumChanges(call, type, body, channel),
		name: body.name === null ? undefined : normalizeName(type, body.name),
		position: body.position ?? undefined,
		topic: body.topic === "" ? null : body.topic,
		nsfw: body.nsfw ?? undefined,
		rate_limit_per_user:
			body.rate_limit_per_user === null ? 0 : body.rate_limit_per_user,
		bitrate: body.bitrate ?? undefined,
		user_limit: body.user_limit === null ? 0 : body.user_limit,
		rtc_region: body.rtc_region,
		parent_id: checkParent(guild, type, body.parent_id, channel),
		permission_overwrites: overwrites
			? checkOverwrites(call, guild, overwrites, channel)
			: undefined,
	};
}

/** Names of text channels are in lower case without spaces. */
function normalizeName(
	type: GuildChannelType,
	name: string | undefined,
): string | undefined {
	const given = name?.trim();
	if (given === "")
		throw formError("BASE_TYPE_REQUIRED", "This field is required", "name");
	const isText =
		type === ChannelType.GuildText ||
		type === ChannelType.GuildAnnouncement ||
		holdsPosts({ type });
	return isText ? given?.toLowerCase().replace(/\s+/g, "-") : given;
}

function checkTypeLimits(type: GuildChannelType, body: ChannelBody): void {
	if (!holdsPosts({ type }) && [...(body.topic ?? "")].length > 1024)
		throw formError(
			"BASE_TYPE_MAX_LENGTH",
			"Must be 1024 or fewer in length.",
			"topic",
		);
	if (type === ChannelType.GuildVoice && (body.user_limit ?? 0) > 99)
		throw formError(
			"NUMBER_TYPE_MAX",
			"int value should be less than or equal to 99.",
			"user_limit",
		);
}

function checkParent(
	guild: Guild,
	type: GuildChannelType,
	parentId: string | null | undefined,
	channel: GuildChannel | undefined,
): string | null | undefined {
	if (parentId === undefined || parentId === null) return parentId;
	const parent = guild.channels.get(parentId);
	if (!parent)
		throw formError(
			"CHANNEL_PARENT_INVALID",
			"Category does not exist",
			"parent_id",
		);
	if (
		parent.type !== ChannelType.GuildCategory ||
		type === ChannelType.GuildCategory
	)
		throw formError(
			"CHANNEL_PARENT_INVALID_TYPE",
			"Not a category",
			"parent_id",
		);
	const children = [...guild.channels.values()].filter(
		(other) => other.parent_id === parentId && other !== channel,
	);
	if (children.length >= categoryLimit)
		throw formError(
			"CHANNEL_PARENT_MAX_CHANNELS",
			`Maximum number of channels in category reached (${categoryLimit})`,
			"parent_id",
		);
	return parentId;
}

export const channelRoutes = [
	route({
		method: "GET",
		path: "/guilds/:guild_id/channels",
		run: (call) => {
			const guild = guildOf(call);
			const { user } = call.actor;
			// Bots see every channel, people only those they can view.
			return [...guild.channels.values()]
				.filter(
					(channel) =>
						user.bot ||
						has(
							channelPermissions(guild, channel, user.id),
							Permission.ViewChannel,
						),
				)
				.map(serialize.guildChannel);
		},
	}),
	route({
		method: "POST",
		path: "/guilds/:guild_id/channels",
		needs: Permission.ManageChannels,
		status: 201,
		body: {
			...channelFields,
			name: f.required(f.text(1, 100)),
			type: f.nullable(creatable),
		},
		run: (call) => {
			const guild = guildOf(call);
			if (guild.channels.size >= channelLimit)
				throw apiError(Code.MaximumNumberOfGuildChannelsReached);
			const type = call.body.type ?? ChannelType.GuildText;
			const changes = changesOf(call, guild, type, call.body);
			const parent = guild.channels.get(changes.parent_id ?? "");
			return serialize.guildChannel(
				call.world.channels.add(
					guild,
					{
						...changes,
						type,
						name: changes.name ?? call.body.name,
						// Without overwrites of its own a channel copies those of its category.
						permission_overwrites:
							changes.permission_overwrites ??
							structuredClone(parent?.permission_overwrites),
					},
					call.by,
				),
			);
		},
	}),
	route({
		method: "PATCH",
		path: "/guilds/:guild_id/channels",
		needs: Permission.ManageChannels,
		body: f.required(
			f.list(
				f.object({
					id: f.required(f.snowflake),
					position: f.nullable(f.integer(0, 0x7fffffff)),
					parent_id: f.nullable(f.snowflake),
					lock_permissions: f.nullable(f.boolean),
				}),
				0,
				channelLimit,
			),
		),
		run: (call) => {
			const guild = guildOf(call);
			const moves = call.body.map((move) => {
				const channel = guild.channels.get(move?.id ?? "");
				if (!channel) throw apiError(Code.UnknownChannel);
				const parent_id = checkParent(
					guild,
					channel.type,
					move?.parent_id,
					channel,
				);
				return { move, channel, parent_id };
			});
			const adopted = moves.filter(({ parent_id }) => parent_id !== undefined);
			if (adopted.length > 1)
				throw apiError(Code.OnlyOneChannelCanHaveAParentIdModifiedAtATime);
			for (const { move, channel, parent_id } of moves) {
				const parent = guild.channels.get(parent_id ?? "");
				call.world.channels.edit(
					channel,
					{
						position: move?.position ?? undefined,
						parent_id,
						permission_overwrites: move?.lock_permissions
							? structuredClone(parent?.permission_overwrites)
							: undefined,
					},
					call.by,
				);
			}
		},
	}),
	route({
		method: "GET",
		path: "/channels/:channel_id",
		run: (call) => serialize.channel(channelOf(call), call.actor),
	}),
	route({
		method: "PATCH",
		path: "/channels/:channel_id",
		inArchived: true,
		body: {
			...channelFields,
			...threadFields,
			type: f.nullable(
				f.choice(ChannelType.GuildText, ChannelType.GuildAnnouncement),
			),
		},
		run: (call) => {
			const place = channelOf(call);
			if (isThread(place)) return editThread(call, place);
			const channel = guildChannelOf(call);
			requirePermissions(call, channel, Permission.ManageChannels);
			const guild = call.world.guilds.of(channel);
			const { type } = call.body;
			if (type !== undefined && type !== null && type !== channel.type)
				throw notSimulated("changing a channel's type");
			const changes = changesOf(call, guild, channel.type, call.body, channel);
			call.world.channels.edit(channel, changes, call.by);
			return serialize.guildChannel(channel);
		},
	}),
	route({
		method: "DELETE",
		path: "/channels/:channel_id",
		inArchived: true,
		run: (call) => {
			const place = channelOf(call);
			if (isThread(place)) return deleteThread(call, place);
			const channel = guildChannelOf(call);
			requirePermissions(call, channel, Permission.ManageChannels);
			if (isRequired(call.world.guilds.of(channel), channel.id))
				throw apiError(Code.CannotDeleteChannelRequiredForCommunityGuilds);
			const answer = serialize.guildChannel(channel);
			call.world.channels.remove(channel, call.by);
			return answer;
		},
	}),
	route({
		method: "POST",
		path: "/channels/:channel_id/typing",
		needs: Permission.SendMessages,
		fleeting: true,
		inArchived: true,
		run: (call) =>
			call.world.messages.startTyping(channelOf(call), call.actor.user),
	}),
];
