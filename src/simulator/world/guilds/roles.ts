// Roles of guilds.

import { auditOf } from "../state/audit-log.ts";
import { newRole } from "../state/defaults.ts";
import type { Guild, Role } from "../state/entities.ts";
import { compareRoles } from "../state/permissions.ts";
import type { Attribution, Changes, State } from "../state/state.ts";
import { apply } from "../state/state.ts";

/** New values for the fields of a role. */
export type RoleChanges = Changes<
	Omit<
		Role,
		"id" | "description" | "icon" | "position" | "managed" | "tags" | "flags"
	>
>;

const audit = auditOf("Role");

export class Roles {
	constructor(private readonly state: State) {}

	/**
	 * Adds a role to a guild, by default just above @everyone. Roles at or above the new role's position move up by one.
	 */
	add(
		guild: Guild,
		given: RoleChanges & {
			name: string;
			position?: number | undefined;
			/** The id of a bot, for the managed role that Discord creates for this bot. */
			bot_id?: string;
		},
		by?: Attribution,
	): Role {
		const { bot_id, ...changes } = given;
		const role = newRole(this.state.newId());
		apply(role, changes);
		if (bot_id !== undefined) {
			role.managed = true;
			role.tags = { bot_id };
		}
		role.position = Math.max(1, given.position ?? 1);
		const moved = [...guild.roles.values()].filter(
			(other) => other.position >= role.position,
		);
		for (const other of moved) other.position += 1;
		guild.roles.set(role.id, role);
		this.#dispatch("GUILD_ROLE_CREATE", guild, role);
		for (const other of moved)
			this.#dispatch("GUILD_ROLE_UPDATE", guild, other);
		audit.create(this.state, guild, role, {}, changes, by);
		return role;
	}

	edit(guild: Guild, role: Role, changes: RoleChanges, by?: Attribution): void {
		const before = { ...role };
		apply(role, changes);
		this.#dispatch("GUILD_ROLE_UPDATE", guild, role);
		audit.update(this.state, guild, role, before, changes, by);
	}

	/** Moves roles of a guild to new positions, then numbers all roles from 1 without gaps. @everyone stays at 0. */
	move(
		guild: Guild,
		positions: ReadonlyMap<Role, number>,
		by?: Attribution,
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
			const position = index + 1;
			role.position = position;
			this.#dispatch("GUILD_ROLE_UPDATE", guild, role);
			if (positions.has(role))
				audit.update(this.state, guild, role, before, { position }, by);
		}
	}

	/** Removes a role from a guild, from the members who have it, and from the permission overwrites of channels. */
	remove(guild: Guild, role: Role, by?: Attribution): void {
		guild.roles.delete(role.id);
		for (const member of guild.members.values())
			member.roles = member.roles.filter((id) => id !== role.id);
		for (const channel of guild.channels.values())
			channel.permission_overwrites = channel.permission_overwrites.filter(
				(overwrite) => overwrite.id !== role.id,
			);
		this.state.dispatchToGuild("GUILD_ROLE_DELETE", guild, {
			guild_id: guild.id,
			role_id: role.id,
		});
		audit.delete(this.state, guild, role, role, {}, by);
	}

	#dispatch(
		type: "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE",
		guild: Guild,
		role: Role,
	): void {
		const guild_id = guild.id;
		this.state.dispatchToGuild(type, guild, { guild_id, role });
	}
}
