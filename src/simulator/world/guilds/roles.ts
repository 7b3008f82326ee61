// Roles of guilds.

import { AuditLogEvent } from "discord.js";
import { changesBetween } from "../state/audit-log.ts";
import { newRole } from "../state/defaults.ts";
import type { Guild, Role } from "../state/entities.ts";
import { compareRoles } from "../state/permissions.ts";
import {
	type Attribution,
	apply,
	type Changes,
	type State,
} from "../state/state.ts";

/** The fields of a role that can be edited. */
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

export class Roles {
	readonly #state: State;

	constructor(state: State) {
		this.#state = state;
	}

	/** Adds a role at `position`, by default just above @everyone, and moves the roles from there up. */
	add(
		guild: Guild,
		given: RoleChanges & {
			name: string;
			position?: number | undefined;
			/** The bot that this role belongs to. */
			bot_id?: string;
		},
		by?: Attribution,
	): Role {
		const { bot_id, ...changes } = given;
		const role = newRole(this.#state.newId());
		apply(role, changes);
		if (bot_id !== undefined)
			Object.assign(role, { managed: true, tags: { bot_id } });
		role.position = Math.max(1, given.position ?? 1);
		const moved = [...guild.roles.values()].filter(
			(other) => other.position >= role.position,
		);
		for (const other of moved) other.position += 1;
		guild.roles.set(role.id, role);
		this.#dispatch("GUILD_ROLE_CREATE", guild, role);
		for (const other of moved)
			this.#dispatch("GUILD_ROLE_UPDATE", guild, other);
		this.#state.audit(guild, by, AuditLogEvent.RoleCreate, role.id, {
			changes: changesBetween({}, changes),
		});
		return role;
	}

	edit(guild: Guild, role: Role, changes: RoleChanges, by?: Attribution): void {
		const before = { ...role };
		apply(role, changes);
		this.#dispatch("GUILD_ROLE_UPDATE", guild, role);
		this.#state.audit(guild, by, AuditLogEvent.RoleUpdate, role.id, {
			changes: changesBetween(before, changes),
		});
	}

	/** Moves roles to these positions and closes the gaps. @everyone stays at 0. */
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
			role.position = index + 1;
			this.#dispatch("GUILD_ROLE_UPDATE", guild, role);
			if (positions.has(role))
				this.#state.audit(guild, by, AuditLogEvent.RoleUpdate, role.id, {
					changes: changesBetween(before, { position: role.position }),
				});
		}
	}

	/** Removes a role, also from its members and from overwrites. */
	remove(guild: Guild, role: Role, by?: Attribution): void {
		guild.roles.delete(role.id);
		for (const member of guild.members.values())
			member.roles = member.roles.filter((id) => id !== role.id);
		for (const channel of guild.channels.values())
			channel.permission_overwrites = channel.permission_overwrites.filter(
				(overwrite) => overwrite.id !== role.id,
			);
		this.#state.dispatchToGuild("GUILD_ROLE_DELETE", guild, () => ({
			guild_id: guild.id,
			role_id: role.id,
		}));
		this.#state.audit(guild, by, AuditLogEvent.RoleDelete, role.id, {
			changes: changesBetween({ ...role }, {}),
		});
	}

	#dispatch(
		type: "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE",
		guild: Guild,
		role: Role,
	): void {
		this.#state.dispatchToGuild(type, guild, () => ({
			guild_id: guild.id,
			role,
		}));
	}
}
