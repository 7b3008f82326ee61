// Channels and threads: creating, reading, editing and deleting them, and typing.
//
// A gap: The type of a channel changes only between text and announcement channels; media channels are created as
// forums.

import { ChannelFlags, ChannelType, PermissionFlagsBits as Permission } from "discord.js";
import type { ChannelChanges } from "../../world/channels/channels.ts";
import {
	type Guild,
	type GuildChannel,
	type GuildChannelType,
	holdsPosts,
	isThread,
} from "../../world/state/entities.ts";
import { guildPermissions, has, isShown } from "../../world/state/permissions.ts";
import * as serialize from "../../world/state/serialize.ts";
import { permissionsIn, requireMfa, requirePermissions } from "../access.ts";
import { apiError, formError, found, missingField, notSimulated } from "../errors.ts";
import {
	boolean,
	choice,
	integer,
	list,
	nullable,
	object,
	required,
	snowflake,
	text,
	unchecked,
} from "../fields/fields.ts";
import { forumChanges, forumFields } from "../fields/forum-fields.ts";
import { type Call, guildChannelOf, type ReadForm, route } from "../route.ts";
import { isRequired } from "./guilds.ts";
import { checkOverwrites, keepReadable, overwriteList } from "./overwrites.ts";
import { deleteThread, editThread, threadForm } from "./threads.ts";

const channelLimit = 500;
const categoryLimit = 50;
/** The maximum bitrate of voice channels in bit/s, by the guild's boost level (0 to 3). */
export const bitrateLimits = [96_000, 128_000, 256_000, 384_000];

const channelFields = {
	...forumFields,
	name: text(1, 100),
	position: integer(0, 0x7fffffff),
	// The limit depends on the type: a forum's guidelines may be longer than a topic.
	topic: nullable(text(0, 4096)),
	nsfw: boolean,
	rate_limit_per_user: nullable(integer(0, 21_600), 0),
	bitrate: integer(8000, 384_000),
	user_limit: nullable(integer(0, 10_000), 0),
	rtc_region: nullable(text(0, 100)),
	video_quality_mode: choice(1, 2),
	permission_overwrites: overwriteList,
	parent_id: nullable(snowflake),
};

const creatable = choice(
	ChannelType.GuildText,
	ChannelType.GuildVoice,
	ChannelType.GuildCategory,
	ChannelType.GuildAnnouncement,
	ChannelType.GuildStageVoice,
	ChannelType.GuildForum,
);

const convertible: GuildChannelType[] = [ChannelType.GuildText, ChannelType.GuildAnnouncement];

const editForm = required(object({ ...channelFields, type: choice(...convertible) }));

type ChannelBody = ReadForm<typeof channelFields>;

function changesOf(
	call: Call,
	guild: Guild,
	type: GuildChannelType,
	body: ChannelBody,
	channel?: GuildChannel,
): ChannelChanges {
	checkTypeLimits(guild, type, body);
	checkSpoiler(body, channel);
	const overwrites = body.permission_overwrites;
	return {
		...body,
		...forumChanges(call, type, body, channel),
		name: normalizeName(type, body.name),
		topic: body.topic === "" ? null : body.topic,
		parent_id: checkParent(guild, type, body.parent_id, channel),
		permission_overwrites: overwrites && checkOverwrites(call, guild, overwrites, channel),
	};
}

/** As Discord does: lower case and "-" for text and forum channels. Other names are only trimmed. */
function normalizeName(type: GuildChannelType, name: string | undefined): string | undefined {
	const given = name?.trim();
	if (given === "") throw missingField("name");
	const isText = type === ChannelType.GuildText || type === ChannelType.GuildAnnouncement || holdsPosts({ type });
	return isText ? given?.toLowerCase().replace(/\s+/g, "-") : given;
}

function checkTypeLimits(guild: Guild, type: GuildChannelType, body: ChannelBody): void {
	// https://discord.com/developers/docs/resources/channel#modify-channel-json-params-guild-channel
	const level = guild.features.includes("VIP_REGIONS") ? 3 : guild.premium_tier;
	const limit = type === ChannelType.GuildStageVoice ? 64_000 : (bitrateLimits[level] ?? 0);
	if ((body.bitrate ?? 0) > limit)
		throw formError("NUMBER_TYPE_MAX", `int value should be less than or equal to ${limit}.`, "bitrate");
	if (!holdsPosts({ type }) && [...(body.topic ?? "")].length > 1024)
		throw formError("BASE_TYPE_MAX_LENGTH", "Must be 1024 or fewer in length.", "topic");
	if (type === ChannelType.GuildVoice && (body.user_limit ?? 0) > 99)
		throw formError("NUMBER_TYPE_MAX", "int value should be less than or equal to 99.", "user_limit");
}

/** A guess (spoiler-nsfw): the code of the error. The rule is documented with the flag. */
function checkSpoiler(body: ChannelBody, channel?: GuildChannel): void {
	const flags = body.flags ?? channel?.flags ?? 0;
	const isSpoiler = (flags & ChannelFlags.IsSpoilerChannel) !== 0;
	if (isSpoiler && (body.nsfw ?? channel?.nsfw))
		throw formError("CHANNEL_SPOILER_NSFW", "Not if nsfw is set.", "flags");
}

/**
 * Throws if the channel type needs a community guild and the guild is not one. For announcement channels the guild
 * feature NEWS suffices. Sources: for announcement channels
 * https://github.com/Lucky3028/terraform-provider-discord/issues/149, for stage channels
 * https://github.com/Rapptz/discord.py/issues/6883
 */
function requireCommunity({ features }: Guild, type: GuildChannelType): void {
	if (features.includes("COMMUNITY")) return;
	if (type === ChannelType.GuildStageVoice) throw apiError("CannotExecuteActionOnThisChannelType");
	if (type === ChannelType.GuildAnnouncement && !features.includes("NEWS"))
		throw formError("BASE_TYPE_CHOICES", "Value must be one of {0, 2, 4, 6, 13, 14, 15, 16}.", "type");
}

function checkParent(
	guild: Guild,
	type: GuildChannelType,
	parentId: string | null | undefined,
	channel: GuildChannel | undefined,
): string | null | undefined {
	if (parentId === undefined || parentId === null) return parentId;
	const refuse = (problem: string, message: string) => formError(`CHANNEL_PARENT_${problem}`, message, "parent_id");
	const parent = guild.channels.get(parentId);
	if (!parent) throw refuse("INVALID", "Category does not exist");
	const category = ChannelType.GuildCategory;
	if (parent.type !== category || type === category) throw refuse("INVALID_TYPE", "Not a category");
	const children = [...guild.channels.values()].filter((other) => other.parent_id === parentId && other !== channel);
	if (children.length >= categoryLimit)
		throw refuse("MAX_CHANNELS", `Maximum number of channels in category reached (${categoryLimit})`);
	return parentId;
}

/**
 * Throws unless the sender of the request may move a channel within its category or to another category.
 * https://discord.com/developers/docs/resources/guild#modify-guild-channel-positions
 * A guess (move-position): Discord's error code if the sender may not move it within the category.
 */
function requireMove(call: Call<":guild_id">, channel: GuildChannel, parentId: string | null | undefined): void {
	const { guild, actor } = call;
	const { ManageChannels } = Permission;
	const managesIn = (place: GuildChannel | undefined) =>
		has(place ? permissionsIn(call, place) : guildPermissions(guild, actor.user.id), ManageChannels);
	const category = (id: string | null) => guild.channels.get(id ?? "");
	if (parentId === undefined) {
		if (![undefined, category(channel.parent_id)].some(managesIn)) throw apiError("MissingPermissions");
	} else if (!managesIn(channel) || !managesIn(category(parentId))) throw apiError("MissingAccess");
	requireMfa(call, ManageChannels);
}

export const channelRoutes = [
	route("GET /guilds/:guild_id/channels", (call) => {
		const { guild, actor } = call;
		// https://docs.discord.com/developers/resources/channel#channel-object-obfuscated-channels
		return [...guild.channels.values()]
			.filter((channel) => isShown(guild, channel, actor.user.id))
			.map(serialize.guildChannel);
	}),
	route("POST /guilds/:guild_id/channels", {
		needs: "ManageChannels",
		status: 201,
		body: { ...channelFields, name: required(text(1, 100)), type: creatable },
		run: (call) => {
			const { guild } = call;
			if (guild.channels.size >= channelLimit) throw apiError("MaximumNumberOfGuildChannelsReached");
			const type = call.body.type ?? ChannelType.GuildText;
			requireCommunity(guild, type);
			const changes = changesOf(call, guild, type, call.body);
			const parent = guild.channels.get(changes.parent_id ?? "");
			const given = {
				...changes,
				type,
				name: changes.name ?? call.body.name,
				// Without overwrites of its own a channel copies those of its category.
				permission_overwrites: changes.permission_overwrites ?? structuredClone(parent?.permission_overwrites),
			};
			return serialize.guildChannel(call.world.channels.add(guild, given, call.by));
		},
	}),
	route("PATCH /guilds/:guild_id/channels", {
		body: required(
			list(
				object({
					id: required(snowflake),
					position: integer(0, 0x7fffffff),
					parent_id: nullable(snowflake),
					lock_permissions: boolean,
				}),
				0,
				channelLimit,
			),
		),
		run: (call) => {
			const { guild } = call;
			const moves = call.body.map((move) => {
				const channel = found(guild.channels.get(move.id), "UnknownChannel");
				const given = checkParent(guild, channel.type, move.parent_id, channel);
				const parent_id = given === channel.parent_id ? undefined : given;
				requireMove(call, channel, parent_id);
				// MANAGE_ROLES is documented; a guess (move-lock): in which channel, and the error code.
				if (move.lock_permissions) requirePermissions(call, channel, "ManageRoles");
				const permission_overwrites = move.lock_permissions
					? structuredClone(guild.channels.get(parent_id ?? "")?.permission_overwrites)
					: undefined;
				if (permission_overwrites) keepReadable(guild, channel, permission_overwrites);
				return { channel, position: move.position, parent_id, permission_overwrites };
			});
			const adopted = moves.filter(({ parent_id }) => parent_id !== undefined);
			if (adopted.length > 1) throw apiError("OnlyOneChannelCanHaveAParentIdModifiedAtATime");
			for (const { channel, ...changes } of moves) {
				const { position, parent_id, permission_overwrites } = changes;
				const moves = position !== undefined && position !== channel.position;
				// Clients also list channels that do not move.
				if (!moves && parent_id === undefined && !permission_overwrites) continue;
				// A move has no audit log entry: https://github.com/discord/discord-api-docs/issues/4345
				call.world.channels.edit(channel, changes);
			}
		},
	}),
	route("GET /channels/:channel_id", (call) => serialize.channel(call.channel, call.actor)),
	route("PATCH /channels/:channel_id", {
		inArchived: true,
		body: unchecked,
		run: (call) => {
			const place = call.channel;
			if (isThread(place)) return editThread(call, place, threadForm.read(call.body));
			const channel = guildChannelOf(call);
			const body = editForm.read(call.body);
			requirePermissions(call, channel, "ManageChannels");
			const guild = call.world.guilds.of(channel);
			const newType = body.type ?? channel.type;
			if (newType !== channel.type) {
				if (!convertible.includes(channel.type)) throw notSimulated("changing such a channel's type");
				requireCommunity(guild, newType);
				if (isRequired(guild, channel.id)) throw apiError("CommunityServerChannelsMustBeTextChannels");
			}
			const changes = {
				...changesOf(call, guild, newType, body, channel),
				type: newType === channel.type ? undefined : newType,
			};
			call.world.channels.edit(channel, changes, call.by);
			return serialize.guildChannel(channel);
		},
	}),
	route("DELETE /channels/:channel_id", {
		inArchived: true,
		run: (call) => {
			const place = call.channel;
			if (isThread(place)) return deleteThread(call, place);
			const channel = guildChannelOf(call);
			requirePermissions(call, channel, "ManageChannels");
			if (isRequired(call.world.guilds.of(channel), channel.id))
				throw apiError("CannotDeleteChannelRequiredForCommunityGuilds");
			const answer = serialize.guildChannel(channel);
			call.world.channels.remove(channel, call.by);
			return answer;
		},
	}),
	route("POST /channels/:channel_id/typing", {
		needs: "SendMessages",
		fleeting: true,
		inArchived: true,
		run: (call) => call.world.messages.startTyping(call.channel, call.actor.user),
	}),
];
