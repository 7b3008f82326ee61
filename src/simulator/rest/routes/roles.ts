// Roles: listing, creating, editing, ordering and deleting.

import {
	RESTJSONErrorCodes as Code,
	PermissionFlagsBits as Permission,
} from "discord.js";
import type { RoleChanges } from "../../world/guilds/roles.ts";
import type { Guild, Role } from "../../world/state/entities.ts";
import {
	allPermissions,
	guildPermissions,
	has,
	isAboveRole,
} from "../../world/state/permissions.ts";
import { apiError, formError } from "../errors.ts";
import * as f from "../fields.ts";
import { type Call, guildOf, type ReadForm, roleOf, route } from "../route.ts";

const roleLimit = 250;
const color = f.integer(0, 0xffffff);

const roleFields = {
	name: f.nullable(f.text(1, 100)),
	permissions: f.nullable(f.permissionBits),
	color: f.nullable(color),
	colors: f.nullable(
		f.object({
			primary_color: f.required(color),
			secondary_color: f.nullable(color),
			tertiary_color: f.nullable(color),
		}),
	),
	hoist: f.nullable(f.boolean),
	mentionable: f.nullable(f.boolean),
	icon: f.nullable(f.text(0, 1_000_000)),
	unicode_emoji: f.nullable(f.text(0, 100)),
};

type RoleBody = ReadForm<typeof roleFields>;

function changesOf(body: RoleBody): RoleChanges {
	if (body.icon || body.unicode_emoji)
		throw apiError(50101, {
			message: "This server needs more boosts to perform this action",
		});
	const { colors } = body;
	// Of both fields the newer one counts.
	const primary = colors?.primary_color ?? body.color ?? undefined;
	return {
		name: body.name ?? undefined,
		hoist: body.hoist ?? undefined,
		mentionable: body.mentionable ?? undefined,
		permissions:
			body.permissions === undefined || body.permissions === null
				? undefined
				: String(body.permissions & allPermissions),
		...(primary === undefined
			? {}
			: {
					color: primary,
					colors: {
						primary_color: primary,
						secondary_color: colors?.secondary_color ?? null,
						tertiary_color: colors?.tertiary_color ?? null,
					},
				}),
	};
}

/** Throws if a role is at or above the actor's highest. */
function requireHierarchy(call: Call, guild: Guild, role: Role): void {
	if (!isAboveRole(guild, call.actor.user.id, role))
		throw apiError(Code.MissingPermissions);
}

/** Throws if the actor lacks the permissions that it grants or removes. */
function requireOwnPermissions(call: Call, guild: Guild, bits: bigint): void {
	const own = guildPermissions(guild, call.actor.user.id);
	if (!has(own, bits & allPermissions)) throw apiError(Code.MissingPermissions);
}

export const roleRoutes = [
	route({
		method: "GET",
		path: "/guilds/:guild_id/roles",
		run: (call) => [...guildOf(call).roles.values()],
	}),
	route({
		method: "GET",
		path: "/guilds/:guild_id/roles/:role_id",
		run: roleOf,
	}),
	route({
		method: "POST",
		path: "/guilds/:guild_id/roles",
		needs: Permission.ManageRoles,
		body: roleFields,
		run: (call) => {
			const guild = guildOf(call);
			if (guild.roles.size >= roleLimit)
				throw apiError(Code.MaximumNumberOfGuildRolesReached);
			// Permissions default to those of @everyone.
			const permissions =
				call.body.permissions ??
				BigInt(guild.roles.get(guild.id)?.permissions ?? 0);
			requireOwnPermissions(call, guild, permissions);
			const changes = changesOf({ ...call.body, permissions });
			return call.world.roles.add(
				guild,
				{ ...changes, name: changes.name ?? "new role" },
				call.by,
			);
		},
	}),
	route({
		method: "PATCH",
		path: "/guilds/:guild_id/roles",
		needs: Permission.ManageRoles,
		body: f.required(
			f.list(
				f.object({
					id: f.required(f.snowflake),
					position: f.nullable(f.integer(0, 0x7fffffff)),
				}),
				0,
				roleLimit,
			),
		),
		run: (call) => {
			const guild = guildOf(call);
			const positions = new Map<Role, number>();
			for (const { id, position } of call.body.flatMap((one) => one ?? [])) {
				const role = guild.roles.get(id);
				if (!role) throw apiError(Code.UnknownRole);
				// Clients also list roles that do not move.
				if (typeof position !== "number" || position === role.position)
					continue;
				if (role.id === guild.id) throw apiError(Code.InvalidRole);
				requireHierarchy(call, guild, role);
				// A role cannot move to or above the actor's highest role.
				for (const other of guild.roles.values())
					if (other.position <= position && other !== role)
						requireHierarchy(call, guild, other);
				positions.set(role, position);
			}
			call.world.roles.move(guild, positions, call.by);
			return [...guild.roles.values()];
		},
	}),
	route({
		method: "PATCH",
		path: "/guilds/:guild_id/roles/:role_id",
		needs: Permission.ManageRoles,
		body: roleFields,
		run: (call) => {
			const guild = guildOf(call);
			const role = roleOf(call);
			requireHierarchy(call, guild, role);
			const { permissions, name } = call.body;
			if (typeof permissions === "bigint")
				requireOwnPermissions(
					call,
					guild,
					permissions ^ BigInt(role.permissions),
				);
			if (role.id === guild.id && name && name !== role.name)
				throw formError(
					"BASE_TYPE_CHOICES",
					"Value must be one of {'@everyone'}.",
					"name",
				);
			call.world.roles.edit(guild, role, changesOf(call.body), call.by);
			return role;
		},
	}),
	route({
		method: "DELETE",
		path: "/guilds/:guild_id/roles/:role_id",
		needs: Permission.ManageRoles,
		run: (call) => {
			const guild = guildOf(call);
			const role = roleOf(call);
			if (role.id === guild.id || role.managed)
				throw apiError(Code.InvalidRole);
			requireHierarchy(call, guild, role);
			call.world.roles.remove(guild, role, call.by);
		},
	}),
];
