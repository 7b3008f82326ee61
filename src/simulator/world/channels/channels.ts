// What a guild is made of: its roles, its channels and their overwrites, and how they change.

import { AuditLogEvent, ChannelType } from "discord.js";
import { changesBetween, overwriteOptions } from "../state/audit-log.ts";
import { newRole } from "../state/defaults.ts";
import type {
	Guild,
	GuildChannel,
	GuildChannelType,
	Overwrite,
	Role,
} from "../state/entities.ts";
import { compareRoles } from "../state/permissions.ts";
import * as present from "../state/serialize.ts";
import { apply, type Changes, type Doing } from "../state/state.ts";
import { Voice } from "./voice.ts";

/** What may be changed of a role. */
export type RoleChanges = Changes<
	Pick<
		Role,
		| "name"
		| "colors"
		| "color"
		| "hoist"
		| "mentionable"
		| "permissions"
		| "unicode_emoji"
	>
>;
/** What may be changed of a channel. */
export type ChannelChanges = Changes<
	Omit<GuildChannel, "id" | "guild_id" | "last_message_id">
>;

/** The roles and channels of all guilds. */
export class Structure extends Voice {
	// Roles

	/** A new role, right above @everyone unless `position` says otherwise; the ones from there on move up. */
	addRole(
		guild: Guild,
		given: RoleChanges & {
			name: string;
			position?: number | undefined;
			/** The bot whose own role this is. */
			bot_id?: string;
		},
		doing?: Doing,
	): Role {
		const { bot_id, ...changes } = given;
		const role = newRole(this.newId());
		apply(role, changes);
		if (bot_id !== undefined)
			Object.assign(role, { managed: true, tags: { bot_id } });
		role.position = Math.max(1, given.position ?? 1);
		const moved = [...guild.roles.values()].filter(
			(other) => other.position >= role.position,
		);
		for (const other of moved) other.position += 1;
		guild.roles.set(role.id, role);
		this.#tellRole("GUILD_ROLE_CREATE", guild, role);
		for (const other of moved)
			this.#tellRole("GUILD_ROLE_UPDATE", guild, other);
		this.log(guild, doing, AuditLogEvent.RoleCreate, role.id, {
			changes: changesBetween({}, changes),
		});
		return role;
	}

	editRole(
		guild: Guild,
		role: Role,
		changes: RoleChanges,
		doing?: Doing,
	): void {
		const before = { ...role };
		apply(role, changes);
		this.#tellRole("GUILD_ROLE_UPDATE", guild, role);
		this.log(guild, doing, AuditLogEvent.RoleUpdate, role.id, {
			changes: changesBetween(before, changes),
		});
	}

	/** Gives these roles these positions; the others close the gaps. @everyone stays at 0. */
	moveRoles(
		guild: Guild,
		positions: ReadonlyMap<Role, number>,
		doing?: Doing,
	): void {
		const everyone = guild.roles.get(guild.id);
		const order = [...guild.roles.values()]
			.filter((role) => role !== everyone && !positions.has(role))
			.sort(compareRoles)
			.reverse();
		const placed = [...positions].sort(([, a], [, b]) => a - b);
		for (const [role, position] of placed)
			order.splice(Math.max(0, position - 1), 0, role);
		for (const [index, role] of order.entries()) {
			if (role.position === index + 1) continue;
			const before = { ...role };
			role.position = index + 1;
			this.#tellRole("GUILD_ROLE_UPDATE", guild, role);
			if (positions.has(role))
				this.log(guild, doing, AuditLogEvent.RoleUpdate, role.id, {
					changes: changesBetween(before, { position: role.position }),
				});
		}
	}

	/** The role leaves its members and the channels' overwrites too. */
	removeRole(guild: Guild, role: Role, doing?: Doing): void {
		guild.roles.delete(role.id);
		for (const member of guild.members.values())
			member.roles = member.roles.filter((id) => id !== role.id);
		for (const channel of guild.channels.values())
			channel.permission_overwrites = channel.permission_overwrites.filter(
				(overwrite) => overwrite.id !== role.id,
			);
		this.tell("GUILD_ROLE_DELETE", guild, () => ({
			guild_id: guild.id,
			role_id: role.id,
		}));
		this.log(guild, doing, AuditLogEvent.RoleDelete, role.id, {
			changes: changesBetween({ ...role }, {}),
		});
	}

	#tellRole(
		type: "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE",
		guild: Guild,
		role: Role,
	): void {
		this.tell(type, guild, () => ({ guild_id: guild.id, role }));
	}

	// Channels

	/** A new channel, below the others unless `position` says otherwise. */
	addChannel(
		guild: Guild,
		given: ChannelChanges & { name: string },
		doing?: Doing,
	): GuildChannel {
		const type: GuildChannelType = given.type ?? ChannelType.GuildText;
		const channel: GuildChannel = {
			id: this.newId(),
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
		this.channels.set(channel.id, channel);
		this.#tellChannel("CHANNEL_CREATE", guild, channel);
		this.log(guild, doing, AuditLogEvent.ChannelCreate, channel.id, {
			changes: changesBetween({}, given),
		});
		return channel;
	}

	editChannel(
		channel: GuildChannel,
		changes: ChannelChanges,
		doing?: Doing,
	): void {
		const guild = this.guildOf(channel);
		const before = { ...channel };
		apply(channel, changes);
		this.#tellChannel("CHANNEL_UPDATE", guild, channel);
		this.log(guild, doing, AuditLogEvent.ChannelUpdate, channel.id, {
			changes: changesBetween(before, changes),
		});
	}

	/** With a category its channels stay, without a parent. */
	removeChannel(channel: GuildChannel, doing?: Doing): void {
		const guild = this.guildOf(channel);
		for (const { user_id, channel_id } of [...guild.voiceStates.values()]) {
			const member = guild.members.get(user_id);
			if (member && channel_id === channel.id) this.leaveVoice(guild, member);
		}
		guild.channels.delete(channel.id);
		this.channels.delete(channel.id);
		this.messages.removeChannel(channel.id);
		this.#tellChannel("CHANNEL_DELETE", guild, channel);
		for (const child of guild.channels.values())
			if (child.parent_id === channel.id)
				this.editChannel(child, { parent_id: null });
		this.log(guild, doing, AuditLogEvent.ChannelDelete, channel.id, {
			changes: changesBetween({ name: channel.name, type: channel.type }, {}),
		});
	}

	/** Sets what the channel grants and denies to one role or member; what it said about them before is gone. */
	setOverwrite(
		channel: GuildChannel,
		overwrite: Overwrite,
		doing?: Doing,
	): void {
		const guild = this.guildOf(channel);
		const old = channel.permission_overwrites.find(
			({ id }) => id === overwrite.id,
		);
		channel.permission_overwrites = [
			...channel.permission_overwrites.filter((other) => other !== old),
			overwrite,
		];
		this.#tellChannel("CHANNEL_UPDATE", guild, channel);
		const { allow, deny } = overwrite;
		this.log(
			guild,
			doing,
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
		doing?: Doing,
	): void {
		const guild = this.guildOf(channel);
		channel.permission_overwrites = channel.permission_overwrites.filter(
			(other) => other !== overwrite,
		);
		this.#tellChannel("CHANNEL_UPDATE", guild, channel);
		this.log(guild, doing, AuditLogEvent.ChannelOverwriteDelete, channel.id, {
			changes: changesBetween({ ...overwrite }, {}),
			options: overwriteOptions(guild, overwrite),
		});
	}

	#tellChannel(
		type: "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "CHANNEL_DELETE",
		guild: Guild,
		channel: GuildChannel,
	): void {
		this.tell(type, guild, () => present.guildChannel(channel));
	}
}

// Discord counts positions separately for categories, for channels to hear, and for the others.
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
