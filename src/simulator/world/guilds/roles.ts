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

	/** A new role, right above @everyone unless `position` says otherwise; the ones from there on move up. */
	add(
		guild: Guild,
		given: RoleChanges & {
			name: string;
			position?: number | undefined;
			/** The bot whose own role this is. */
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

	/** Gives these roles these positions; the others close the gaps. @everyone stays at 0. */
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

	/** The role leaves its members and the channels' overwrites too. */
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
