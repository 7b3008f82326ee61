// Roles: listing, creating, editing, ordering and deleting.

import type { RoleChanges } from "../../world/guilds/roles.ts";
import { type Guild, parseUnicodeEmoji, type Role } from "../../world/state/entities.ts";
import { allPermissions } from "../../world/state/permissions.ts";
import { requireAboveRole, requireGuildPermissions } from "../access.ts";
import { apiError, formError, found } from "../errors.ts";
import * as f from "../fields/fields.ts";
import { type ReadForm, route } from "../route.ts";

const all = "/guilds/:guild_id/roles";
const one = `${all}/:role_id` as const;
const roleLimit = 250;
const color = f.integer(0, 0xffffff);
/** Maximum size of a role's icon, in bytes. A guess (role-icon-size): Discord refuses larger icons. */
const iconLimitBytes = 256 * 1024;

const holographic = { primary_color: 11127295, secondary_color: 16759788, tertiary_color: 16761760 };

const roleFields = {
	name: f.text(1, 100),
	permissions: f.permissionBits,
	color: color,
	colors: f.object({ primary_color: f.required(color), secondary_color: color, tertiary_color: color }),
	hoist: f.boolean,
	mentionable: f.boolean,
	icon: f.nullable(f.image(iconLimitBytes)),
	unicode_emoji: f.nullable(
		f.refine(f.text(0, 100), (given) => {
			// A guess (role-emoji).
			if (parseUnicodeEmoji(given)) return given;
			throw formError("UNICODE_EMOJI_INVALID", "Invalid emoji");
		}),
	),
};

type RoleBody = ReadForm<typeof roleFields>;

/** `colors` overrides the older field. A guess (role-color): setting only `color` removes a gradient from the role. */
function colorsOf({ color, colors }: RoleBody) {
	const primary_color = colors?.primary_color ?? color;
	if (primary_color === undefined) return undefined;
	const { secondary_color = null, tertiary_color = null } = colors ?? {};
	// Discord replaces other colors: https://discord.com/developers/docs/topics/permissions#role-object-role-colors-object
	if (tertiary_color !== null) return holographic;
	return { primary_color, secondary_color, tertiary_color };
}

/** A guess (role-features): Discord's error code is 50101 if a guild lacks the features for icons and gradients. */
function changesOf({ features }: Guild, body: RoleBody): RoleChanges {
	const { permissions, icon, unicode_emoji } = body;
	const gradient = body.colors?.secondary_color ?? body.colors?.tertiary_color;
	const lacksIcons = (icon || unicode_emoji) && !features.includes("ROLE_ICONS");
	const lacksColors = gradient !== undefined && !features.includes("ENHANCED_ROLE_COLORS");
	if (lacksIcons || lacksColors) throw apiError("ServerNeedsMoreBoostsToPerformThisAction");
	const colors = colorsOf(body);
	return {
		...body,
		permissions: permissions === undefined ? undefined : String(permissions & allPermissions),
		color: colors?.primary_color,
		colors,
	};
}

export const roleRoutes = [
	route(`GET ${all}`, ({ guild }) => [...guild.roles.values()]),
	route(`GET ${one}`, ({ role }) => role),
	route(`POST ${all}`, {
		needs: "ManageRoles",
		body: roleFields,
		run: (call) => {
			const { guild } = call;
			if (guild.roles.size >= roleLimit) throw apiError("MaximumNumberOfGuildRolesReached");
			// Permissions default to those of @everyone.
			const permissions = call.body.permissions ?? BigInt(guild.roles.get(guild.id)?.permissions ?? 0);
			requireGuildPermissions(call, permissions & allPermissions);
			const changes = changesOf(guild, { ...call.body, permissions });
			return call.world.roles.add(guild, { ...changes, name: changes.name ?? "new role" }, call.by);
		},
	}),
	route(`PATCH ${all}`, {
		needs: "ManageRoles",
		body: f.required(
			f.list(f.object({ id: f.required(f.snowflake), position: f.integer(0, 0x7fffffff) }), 0, roleLimit),
		),
		run: (call) => {
			const { guild } = call;
			const positions = new Map<Role, number>();
			for (const { id, position } of call.body) {
				const role = found(guild.roles.get(id), "UnknownRole");
				// Clients also list roles that do not move.
				if (position === undefined || position === role.position) continue;
				if (role.id === guild.id) throw apiError("InvalidRole");
				requireAboveRole(call, role);
				// A role cannot move to or above the actor's highest role.
				for (const other of guild.roles.values())
					if (other.position <= position && other !== role) requireAboveRole(call, other);
				positions.set(role, position);
			}
			call.world.roles.move(guild, positions, call.by);
			return [...guild.roles.values()];
		},
	}),
	route(`PATCH ${one}`, {
		needs: "ManageRoles",
		body: roleFields,
		run: (call) => {
			const { guild, role } = call;
			requireAboveRole(call, role);
			const { permissions, name } = call.body;
			if (permissions !== undefined) {
				requireGuildPermissions(call, (permissions ^ BigInt(role.permissions)) & allPermissions);
			}
			if (role.id === guild.id && name && name !== role.name)
				throw formError("BASE_TYPE_CHOICES", "Value must be one of {'@everyone'}.", "name");
			call.world.roles.edit(guild, role, changesOf(guild, call.body), call.by);
			return role;
		},
	}),
	route(`DELETE ${one}`, {
		needs: "ManageRoles",
		run: (call) => {
			const { guild, role } = call;
			if (role.id === guild.id || role.managed) throw apiError("InvalidRole");
			requireAboveRole(call, role);
			call.world.roles.remove(guild, role, call.by);
		},
	}),
];
