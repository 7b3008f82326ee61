// Roles of guilds.

import { compareIds } from "../../../guild-document/names/ids.ts";
import { newRole } from "../state/defaults.ts";
import type { Guild, Role } from "../state/entities.ts";
import { compareRoles } from "../state/permissions.ts";
import { type Attribution, apply, type Changes, type State } from "../state/state.ts";
import type { Picture, Pictures } from "./pictures.ts";

export type RoleChanges = Changes<
	Omit<Role, "id" | "description" | "icon" | "position" | "managed" | "tags" | "flags"> & { icon: Picture | null }
>;

export class Roles {
	constructor(
		private readonly state: State,
		private readonly pictures: Pictures,
	) {}

	/** By default just above @everyone. Roles at or above the new role's position move up by one. */
	add(
		guild: Guild,
		given: RoleChanges & {
			name: string;
			position?: number | undefined;
			bot_id?: string | undefined;
			managed?: boolean;
		},
		by?: Attribution,
	): Role {
		const { bot_id, managed = false, ...others } = given;
		const role = newRole(this.state.nextId());
		const changes = this.#storeIcon(role, others);
		apply(role, changes);
		role.managed = managed || bot_id !== undefined;
		if (bot_id !== undefined) role.tags = { bot_id };
		role.position = Math.max(1, given.position ?? 1);
		const moved = [...guild.roles.values()].filter((other) => other.position >= role.position);
		for (const other of moved) other.position += 1;
		guild.roles.set(role.id, role);
		this.#dispatch("GUILD_ROLE_CREATE", guild, role);
		for (const other of moved) this.#dispatch("GUILD_ROLE_UPDATE", guild, other);
		this.state.audit(guild, by, "RoleCreate", role.id, { after: auditFields(changes) });
		return role;
	}

	edit(guild: Guild, role: Role, changes: RoleChanges, by?: Attribution): void {
		const before = { ...role };
		const stored = this.#storeIcon(role, changes);
		apply(role, stored);
		if (role.icon !== before.icon) this.pictures.delete(`role-icons/${role.id}/${before.icon}`);
		this.#dispatch("GUILD_ROLE_UPDATE", guild, role);
		const logged = { before: auditFields(before), after: auditFields(stored) };
		this.state.audit(guild, by, "RoleUpdate", role.id, logged);
	}

	/** Then numbers all roles from 1 without gaps; @everyone stays at 0. At the same position, the older is higher. */
	move(guild: Guild, positions: ReadonlyMap<Role, number>, by?: Attribution): void {
		const everyone = guild.roles.get(guild.id);
		const order = [...guild.roles.values()]
			.filter((role) => role !== everyone && !positions.has(role))
			.sort(compareRoles)
			.reverse();
		const placed = [...positions].sort(([one, a], [other, b]) => a - b || compareIds(one.id, other.id));
		for (const [role, position] of placed) order.splice(Math.max(0, position - 1), 0, role);
		for (const [index, role] of order.entries()) {
			if (role.position === index + 1) continue;
			const before = { ...role };
			const position = index + 1;
			role.position = position;
			this.#dispatch("GUILD_ROLE_UPDATE", guild, role);
			if (positions.has(role)) this.state.audit(guild, by, "RoleUpdate", role.id, { before, after: { position } });
		}
	}

	/** Also from members and overwrites: https://github.com/discord/discord-api-docs/issues/4303 */
	remove(guild: Guild, role: Role, by?: Attribution): void {
		guild.roles.delete(role.id);
		this.pictures.delete(`role-icons/${role.id}/${role.icon}`);
		for (const member of guild.members.values()) member.roles = member.roles.filter((id) => id !== role.id);
		for (const channel of guild.channels.values())
			channel.permission_overwrites = channel.permission_overwrites.filter((overwrite) => overwrite.id !== role.id);
		this.state.dispatchToGuild("GUILD_ROLE_DELETE", guild, { guild_id: guild.id, role_id: role.id });
		this.state.audit(guild, by, "RoleDelete", role.id, { before: auditFields(role) });
	}

	#storeIcon({ id }: Role, { icon, ...changes }: RoleChanges) {
		return { ...changes, icon: icon && this.pictures.addIcon("role-icons", id, icon) };
	}

	#dispatch(type: "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE", guild: Guild, role: Role): void {
		this.state.dispatchToGuild(type, guild, { guild_id: guild.id, role });
	}
}

function auditFields({ icon, ...rest }: Changes<Pick<Role, "icon">>) {
	return { ...rest, icon_hash: icon };
}
