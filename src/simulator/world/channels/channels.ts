// Channels of guilds with their permission overwrites, and DM channels.

import { AuditLogEvent, ChannelType } from "discord.js";
import type { Messages } from "../messages/messages.ts";
import { changesBetween, overwriteOptions } from "../state/audit-log.ts";
import type {
	Channel,
	DmChannel,
	Guild,
	GuildChannel,
	GuildChannelType,
	Overwrite,
	User,
} from "../state/entities.ts";
import { inGuild, isGuildChannel, isThread } from "../state/entities.ts";
import * as serialize from "../state/serialize.ts";
import {
	type Attribution,
	apply,
	type Changes,
	type State,
} from "../state/state.ts";
import type { Voice } from "./voice.ts";

/** The fields of a channel that can be edited. */
export type ChannelChanges = Changes<
	Omit<GuildChannel, "id" | "guild_id" | "last_message_id">
>;

export class Channels {
	readonly #state: State;
	readonly #messages: Messages;
	readonly #voice: Voice;

	constructor(state: State, messages: Messages, voice: Voice) {
		this.#state = state;
		this.#messages = messages;
		this.#voice = voice;
	}

	get(id: string): Channel | undefined {
		return this.#state.channels.get(id);
	}

	has(id: string): boolean {
		return this.#state.channels.has(id);
	}

	values(): IterableIterator<Channel> {
		return this.#state.channels.values();
	}

	/** Adds a channel, by default at the end of its kind. */
	add(
		guild: Guild,
		given: ChannelChanges & { name: string },
		by?: Attribution,
	): GuildChannel {
		const type: GuildChannelType = given.type ?? ChannelType.GuildText;
		const channel: GuildChannel = {
			id: this.#state.newId(),
			guild_id: guild.id,
			type,
			name: given.name,
			position: 1 + Math.max(-1, ...positionsLike(guild, type)),
			parent_id: null,
			permission_overwrites: [],
			topic: null,
			nsfw: false,
			rate_limit_per_user: 0,
			bitrate: 64_000,
			user_limit: 0,
			rtc_region: null,
			last_message_id: null,
			default_thread_rate_limit_per_user: 0,
			available_tags: [],
			default_reaction_emoji: null,
			default_sort_order: null,
			default_forum_layout: 0,
			flags: 0,
		};
		apply(channel, given);
		guild.channels.set(channel.id, channel);
		this.#state.channels.set(channel.id, channel);
		this.#dispatch("CHANNEL_CREATE", guild, channel);
		this.#state.audit(guild, by, AuditLogEvent.ChannelCreate, channel.id, {
			changes: changesBetween({}, given),
		});
		return channel;
	}

	edit(channel: GuildChannel, changes: ChannelChanges, by?: Attribution): void {
		const guild = this.#state.guildOf(channel);
		const before = { ...channel };
		apply(channel, changes);
		this.#dispatch("CHANNEL_UPDATE", guild, channel);
		this.#state.audit(guild, by, AuditLogEvent.ChannelUpdate, channel.id, {
			changes: changesBetween(before, changes),
		});
	}

	/** Removes a channel with its threads and messages. Channels of a category lose their parent. */
	remove(channel: GuildChannel, by?: Attribution): void {
		this.#messages.threads.removeIn(channel);
		const guild = this.#state.guildOf(channel);
		for (const { user_id, channel_id } of [...guild.voiceStates.values()]) {
			const member = guild.members.get(user_id);
			if (member && channel_id === channel.id) this.#voice.leave(guild, member);
		}
		guild.channels.delete(channel.id);
		this.#state.channels.delete(channel.id);
		this.#messages.removeChannel(channel.id);
		this.#dispatch("CHANNEL_DELETE", guild, channel);
		for (const child of guild.channels.values())
			if (child.parent_id === channel.id) this.edit(child, { parent_id: null });
		this.#state.audit(guild, by, AuditLogEvent.ChannelDelete, channel.id, {
			changes: changesBetween({ name: channel.name, type: channel.type }, {}),
		});
	}

	/** Sets or replaces the overwrite of a role or member. */
	setOverwrite(
		channel: GuildChannel,
		overwrite: Overwrite,
		by?: Attribution,
	): void {
		const guild = this.#state.guildOf(channel);
		const old = channel.permission_overwrites.find(
			({ id }) => id === overwrite.id,
		);
		channel.permission_overwrites = [
			...channel.permission_overwrites.filter((other) => other !== old),
			overwrite,
		];
		this.#dispatch("CHANNEL_UPDATE", guild, channel);
		const { allow, deny } = overwrite;
		this.#state.audit(
			guild,
			by,
			old
				? AuditLogEvent.ChannelOverwriteUpdate
				: AuditLogEvent.ChannelOverwriteCreate,
			channel.id,
			{
				changes: changesBetween({ ...old }, old ? { allow, deny } : overwrite),
				options: overwriteOptions(guild, overwrite),
			},
		);
	}

	removeOverwrite(
		channel: GuildChannel,
		overwrite: Overwrite,
		by?: Attribution,
	): void {
		const guild = this.#state.guildOf(channel);
		channel.permission_overwrites = channel.permission_overwrites.filter(
			(other) => other !== overwrite,
		);
		this.#dispatch("CHANNEL_UPDATE", guild, channel);
		this.#state.audit(
			guild,
			by,
			AuditLogEvent.ChannelOverwriteDelete,
			channel.id,
			{
				changes: changesBetween({ ...overwrite }, {}),
				options: overwriteOptions(guild, overwrite),
			},
		);
	}

	/** Whether a channel, or the channel of a thread, is age-restricted. */
	isNsfw(channel: Channel): boolean {
		const parent = isThread(channel) ? this.get(channel.parent_id) : channel;
		return parent !== undefined && isGuildChannel(parent) && parent.nsfw;
	}

	/** The DM channel of two users, if there is one. */
	findDm(one: User, other: User): DmChannel | undefined {
		for (const channel of this.values())
			if (
				!inGuild(channel) &&
				channel.recipients.includes(one) &&
				channel.recipients.includes(other)
			)
				return channel;
		return undefined;
	}

	/** The DM channel of two users, created if there is none. */
	openDm(one: User, other: User): DmChannel {
		const known = this.findDm(one, other);
		if (known) return known;
		const channel: DmChannel = {
			id: this.#state.newId(),
			type: ChannelType.DM,
			recipients: [one, other],
			last_message_id: null,
		};
		this.#state.channels.set(channel.id, channel);
		return channel;
	}

	#dispatch(
		type: "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "CHANNEL_DELETE",
		guild: Guild,
		channel: GuildChannel,
	): void {
		this.#state.dispatchToGuild(type, guild, () =>
			serialize.guildChannel(channel),
		);
	}
}

// Discord sorts categories, voice channels and other channels separately.
function positionsLike(guild: Guild, type: GuildChannelType): number[] {
	const kind = (of: GuildChannelType) =>
		of === ChannelType.GuildCategory
			? "category"
			: of === ChannelType.GuildVoice || of === ChannelType.GuildStageVoice
				? "voice"
				: "text";
	return [...guild.channels.values()]
		.filter((channel) => kind(channel.type) === kind(type))
		.map(({ position }) => position);
}
