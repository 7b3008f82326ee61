// Roles: listing, creating, editing, deleting, and assigning them to members.

import { type GuildMember, PermissionFlagsBits, PermissionsBitField, type Role, Routes } from "discord.js";
import * as v from "valibot";
import { memberFields, roleFields, roleName, userLabel } from "../../discord/describe.ts";
import { currentRole, knownMember, role, unknownMembers } from "../../discord/find.ts";
import { roleIds } from "../../discord/members/member-filter.ts";
import { isObfuscated } from "../../discord/obfuscation.ts";
import { describeBits, personHas, requireGrantable } from "../../discord/permissions.ts";
import { describePowers, grantingPermissions, powerfulPermissions, powersIn } from "../../discord/powers.ts";
import { countOf, fieldLine, inlineText, namedLike, oneField, resultLines } from "../../discord/text.ts";
import { visibleChannels } from "../../discord/visible-channels.ts";
import { compareIds } from "../../guild-document/names/ids.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { invalidParameters, type ToolCall } from "../../mcp/tool.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said } from "../../texts/texts.ts";
import { result } from "../results/result.ts";
import {
	color,
	flag,
	found,
	guild_id,
	list,
	nameQuery,
	permissionList,
	readPermissions,
	reason,
	requireOneOf,
	text,
} from "../tool/arguments/arguments.ts";
import { attemptEach, shownOf } from "../tool/bulk.ts";
import { destructiveTool, editTool, readTool, writeTool } from "../tool/define.ts";
import { describePlace, placeBelow, planMove, requirePlaceBelow, whyPlaceBelow, whyReordered } from "./role-order.ts";

const fields = {
	hoist: flag("List members separately."),
	mentionable: flag("Let everyone mention it."),
	below_role_id: v.optional(found(role, "role above it")),
};

export const listRoles = readTool({
	name: "list_roles",
	toolset: "roles",
	offered: "listed",
	title: "List roles",
	description: "List roles from the top: name, id, members, color, flags, permissions beyond @everyone's.",
	input: { guild_id, query: v.optional(nameQuery("Parts of names.")) },
	run({ query }, { guild, connection }) {
		const { matches, words } = namedLike(query);
		const roles = [...guild.roles.cache.values()].filter(matches).sort((a, b) => b.comparePositionTo(a));
		const counts = new Map([[guild.id, guild.members.cache.size]]);
		for (const member of guild.members.cache.values())
			for (const id of member[roleIds]) counts.set(id, (counts.get(id) ?? 0) + 1);
		const showsPermissions = personHas(guild, undefined, PermissionFlagsBits.ManageRoles);
		const lines = roles.map((role) =>
			fieldLine(
				roleFields(role),
				countOf(counts.get(role.id) ?? 0, "member"),
				...describeFlags(role),
				role.managed && "managed",
				showsPermissions && `permits: ${describePermissions(role)}`,
			),
		);
		return [
			`${lines.length} roles${words}, from the top${showsPermissions ? ", with permissions beyond @everyone's" : "; only people with MANAGE_ROLES see their permissions"}:`,
			...lines,
			...resultLines(unknownMembers(guild, connection)),
		];
	},
});

function describeFlags(role: Role): string[] {
	return resultLines(describeColors(role), role.hoist && "hoisted", role.mentionable && "mentionable");
}

function describeColors({ colors }: Role): string {
	const { primaryColor, secondaryColor, tertiaryColor } = colors;
	if (primaryColor === 0 && secondaryColor == null) return "";
	return [primaryColor, secondaryColor, tertiaryColor]
		.filter((color) => color != null)
		.map((color) => Bun.color(color, "HEX"))
		.join(" to ");
}

/** Those that matter most or that @everyone lacks; of @everyone, all; of administrators, only ADMINISTRATOR. */
function describePermissions({ permissions, guild, id }: Role): string {
	const { bitfield } = permissions;
	if ((bitfield & PermissionFlagsBits.Administrator) !== 0n) return describeBits(PermissionFlagsBits.Administrator);
	if (id === guild.id) return describeBits(bitfield);
	return describeBits(bitfield & (powerfulPermissions | ~guild.roles.everyone.permissions.bitfield));
}

export const createRole = writeTool({
	name: "create_role",
	toolset: "roles",
	offered: "listed",
	title: "Create a role",
	description: "Create a role, below all others by default, and give it to members. Several: plan_guild.",
	permissions: ["ManageRoles"],
	lock: ({ guild_id, below_role_id, user_ids = [] }, { guildId }) => [
		...user_ids,
		below_role_id && (guild_id || guildId),
	],
	input: {
		guild_id,
		name: text(1, 100, "Its name."),
		color: v.optional(color),
		permissions: v.optional(permissionList("Names: VIEW_CHANNEL.")),
		...fields,
		user_ids: v.optional(list(found(knownMember, "member"), 1, 100, "Members who get it.")),
		reason,
	},
	destructive({ permissions = [] }, { guild, below_role }) {
		const powers = powersIn(readPermissions("permissions", permissions), guild, undefined, grantingPermissions);
		if (powers !== 0n) return `gives a role ${describePowers(powers)}`;
		return below_role && whyPlaceBelow(guild, below_role);
	},
	async run(args, { guild, below_role, users = [] }, call) {
		const { name, color = 0, hoist = false, mentionable = false } = args;
		const permissions = readPermissions("permissions", args.permissions ?? []);
		requireGrantable(guild, undefined, permissions);
		if (below_role) requirePlaceBelow(guild, below_role);
		const made = await guild.roles.create({ name, permissions, hoist, mentionable, colors: { primaryColor: color } });
		const keep = color === 0 || below_role ? [] : users.filter(({ roles }) => roles.color);
		return resultLines(
			`Created the role ${[roleName(made), ...describeFlags(made)].join(", ")}, which permits: ${describeBits(made.permissions.bitfield)}.`,
			below_role && (await placeBelow(guild, made, below_role)),
			users.length > 0 && (await giveRole(made, users, call)),
			keep.length > 0 && `${keep.length} of them keep the color of a higher role.`,
		);
	},
});

async function giveRole(role: Role, members: readonly GuildMember[], call: ToolCall): Promise<string[]> {
	const { guild } = role;
	const { lines } = await attemptEach(
		{
			items: members,
			idOf: ({ id }) => id,
			describe: memberFields,
			isShort: ({ user }) => userLabel(user),
			write: ({ id }) => guild.client.rest.put(Routes.guildMemberRole(guild.id, id, role.id)),
			done: (count, of) => `Gave ${count} of ${countOf(of, "member")} the role:`,
			next: `To continue, call bulk_role_update with role_id=${role.id} and their user_ids.`,
		},
		call,
	);
	return lines;
}

export const editRole = editTool({
	name: "edit_role",
	toolset: "roles",
	offered: "listed",
	title: "Edit a role",
	description: "Change a role; what is omitted stays.",
	lock: ({ role_id, guild_id, below_role_id }, { guildId }) => [role_id, below_role_id && (guild_id || guildId)],
	permissions: ["ManageRoles"],
	ranked: true,
	input: {
		guild_id,
		role_id: found(currentRole, "role"),
		name: v.optional(text(1, 100, "New name.")),
		color: v.optional(color),
		add_permissions: v.optional(permissionList("Names: VIEW_CHANNEL.")),
		remove_permissions: v.optional(permissionList("Likewise.")),
		...fields,
		reason,
	},
	destructive(args, { guild, role }) {
		const before = role.permissions.bitfield;
		const after = requestedPermissions(args, before) ?? before;
		const isEveryone = role.id === guild.id;
		const added = after & ~before;
		const powers = isEveryone ? added & grantingPermissions : powersIn(added, guild, undefined, grantingPermissions);
		if (powers !== 0n) return `gives ${roleName(role)} ${describePowers(powers)}`;
		const silenced = before & ~after & speakingPermissions;
		if (silenced !== 0n) return `takes ${describeBits(silenced)} from ${roleName(role)}`;
		const { below_role_id } = args;
		return below_role_id && whyReordered(guild, [role.id], { below_role_id });
	},
	async run(args, { guild, role, below_role }) {
		requireOneOf(args, editable);
		const before = currentFields(role);
		const requested = { ...args, permissions: requestedPermissions(args, before.permissions) };
		const present = fieldsOf(before).filter((field) => requested[field] !== undefined);
		const toChange = present.filter((field) => requested[field] !== before[field]);
		const toggled = (requested.permissions ?? before.permissions) ^ before.permissions;
		requireGrantable(guild, undefined, toggled);
		const move = below_role && (await planMove(guild, [role.id], { below_role_id: below_role.id }));
		if (toChange.length === 0) {
			const same = [...present, ...(move ? ["place"] : [])].join(", ");
			if (!move?.isNeeded)
				throw new ToolError(`Nothing would change: ${roleName(role)} already has the given ${same}. Nothing was done.`);
			const place = describePlace(await move.execute(), role.id);
			return `Moved the role ${roleName(role)}. ${place}`;
		}
		const { color: primaryColor, ...changes } = Object.fromEntries(
			toChange.map((field) => [field, requested[field]]),
		) as Partial<typeof before>;
		const edited = await guild.roles.edit(role.id, {
			...changes,
			...(primaryColor !== undefined && { colors: { primaryColor } }),
		});
		return resultLines(
			`Changed the role ${roleName(edited)}:`,
			describeChanges(before, currentFields(edited)),
			below_role && move?.isNeeded && (await placeBelow(guild, role, below_role, move)),
		);
	},
});

const speakingPermissions = PermissionsBitField.resolve([
	"Connect",
	"SendMessages",
	"SendMessagesInThreads",
	"Speak",
	"ViewChannel",
]);

const editable = [
	"name",
	"color",
	"add_permissions",
	"remove_permissions",
	"hoist",
	"mentionable",
	"below_role_id",
] as const;

type PermissionArguments = { [Name in "add_permissions" | "remove_permissions"]?: string[] | undefined };

function requestedPermissions(args: PermissionArguments, before: bigint): bigint | undefined {
	if (!args.add_permissions && !args.remove_permissions) return undefined;
	const read = (field: keyof PermissionArguments) => readPermissions(field, args[field] ?? []);
	const [added, removed] = [read("add_permissions"), read("remove_permissions")];
	const both = added & removed;
	if (both !== 0n) throw invalidParameters([`add_permissions, remove_permissions: both contain ${describeBits(both)}`]);
	return (before | added) & ~removed;
}

function currentFields(role: Role) {
	return {
		name: role.name,
		color: role.colors.primaryColor,
		permissions: role.permissions.bitfield,
		hoist: role.hoist,
		mentionable: role.mentionable,
	};
}

type RoleFields = ReturnType<typeof currentFields>;

function fieldsOf(role: RoleFields) {
	return Object.keys(role) as (keyof RoleFields)[];
}

function describeChanges(before: RoleFields, after: RoleFields): string[] {
	return fieldsOf(before).flatMap((field) => {
		if (before[field] === after[field]) return [];
		const format = (role: RoleFields) =>
			oneField(String(field === "color" ? Bun.color(role.color, "HEX") : role[field]));
		if (field !== "permissions") return `${field}: ${format(before)} → ${format(after)}`;
		const added = after.permissions & ~before.permissions;
		const removed = before.permissions & ~after.permissions;
		return resultLines(
			added !== 0n && `permissions added: ${describeBits(added)}`,
			removed !== 0n && `permissions removed: ${describeBits(removed)}`,
		);
	});
}

const maxShown = 50;

export const deleteRole = destructiveTool({
	name: "delete_role",
	toolset: "roles",
	title: "Delete a role",
	description: "Delete a role permanently, with its channel overwrites.",
	permissions: ["ManageRoles"],
	ranked: true,
	lock: "role_id",
	input: { guild_id, role_id: found(currentRole, "role"), reason },
	plan(_, { guild, role, connection }) {
		if (role.id === guild.id || role.managed)
			throw new ToolError(`${roleName(role)} ${whyFixed(role)} and cannot be deleted. Nothing was done.`);
		const members = [...role.members.values()].sort((a, b) => compareIds(a.id, b.id));
		const shown = members.slice(0, shownOf(maxShown));
		const channels = visibleChannels(guild).filter(
			(channel) => !channel.isThread() && channel.permissionOverwrites.cache.has(role.id),
		);
		const unseen = visibleChannels(guild).filter(isObfuscated).size;
		const unknown = unseen > 0 ? ` (unknown for ${unseen} that the bot cannot see)` : "";
		const usage = `, which ${members.length} member(s) have, and for which ${channels.size} channel(s) have overwrites${unknown}`;
		return {
			preview: [
				result(
					`Would delete the role ${roleName(role)}${usage}.`,
					said("preview.delete_role", { role: inlineText(`@${role.name}`, 200) }),
				),
				...resultLines(
					shown.map(memberFields),
					shown.length < members.length && 'Not all are shown: list_members with where="role:ID" lists them.',
					unknownMembers(guild, connection),
				),
			],
			write: () => guild.client.rest.delete(Routes.guildRole(guild.id, role.id)),
			result: `Deleted the role ${roleName(role)}. ${members.length} member(s) had it.`,
		};
	},
});

function whyFixed({ id, guild }: Role): string {
	return id === guild.id ? "is the role of all members" : "is managed by Discord";
}

export function requireAssignable(role: Role): void {
	if (role.id !== role.guild.id && !role.managed) return;
	throw new SaidError(
		said(role.managed ? "refusal.managed_role" : "refusal.everyone", {
			role: role.managed ? `<@&${role.id}>` : "@everyone",
		}),
		{ models: `${roleName(role)} ${whyFixed(role)} and cannot be assigned or removed. Nothing was done.` },
	);
}
