// Permission overwrites: what a channel allows and denies to roles and members.

import { type Guild, OverwriteType, Routes } from "discord.js";
import * as v from "valibot";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import {
	changeLine,
	differenceOf,
	differingOverwrites,
	overwriteName,
	overwriteOf,
	rawOverwrites,
	requireUndoable,
} from "../channels/overwrites.ts";
import { channelName, memberName, roleName } from "../discord/describe.ts";
import * as find from "../discord/find.ts";
import { compareIds } from "../discord/ids.ts";
import {
	type Bits,
	describeBits,
	overwritesOf,
	readBits,
	requireGrantable,
} from "../discord/permissions.ts";
import { fieldLine, resultLines } from "../discord/text.ts";
import {
	choiceInAnyCase,
	flag,
	found,
	guild_id,
	list,
	permissionBits,
	permissionNames,
	reason,
	requireOneOf,
	snowflake,
} from "../tool/arguments.ts";
import { writeEach } from "../tool/bulk.ts";
import { destructiveTool, readTool } from "../tool/define.ts";

export const setChannelPermissions = destructiveTool({
	name: "set_channel_permissions",
	toolset: "channels",
	title: "Set channel permissions",
	description:
		"Allow or deny permissions to a role or member in a channel; those not given stay as they are, unless `replace`.",
	lock: "channel_id",
	permissions: ["ManageRoles"],
	ignored: ["merge"],
	input: v.strictObject({
		guild_id,
		channel_id: found(find.currentChannel, "channel"),
		target_type: choiceInAnyCase(
			["role", "member"],
			"What target_id is the id of.",
		),
		target_id: snowflake("role or member"),
		allow: permissionBits("What to allow"),
		allow_names: permissionNames("What to allow"),
		deny: permissionBits("What to deny"),
		deny_names: permissionNames("What to deny"),
		replace: v.optional(
			flag("Neither allow nor deny permissions that are not given."),
			false,
		),
		reason,
	}),
	async plan(args, { guild, channel, connection }) {
		const { target_type, target_id, allow_names, deny_names, replace } = args;
		const target =
			target_type === "role"
				? find.role(guild, target_id)
				: await find.member(guild, target_id, connection);
		const name = "user" in target ? memberName(target) : roleName(target);
		const allow = readBits(["allow", "allow_names"], args.allow, allow_names);
		const deny = readBits(["deny", "deny_names"], args.deny, deny_names);
		if (!replace)
			requireOneOf(
				args,
				["allow", "allow_names", "deny", "deny_names"],
				" without replace",
			);
		const before = overwriteOf(channel, target.id);
		// Discord replaces an overwrite as a whole:
		// https://discord.com/developers/docs/resources/channel#edit-channel-permissions
		const after = overwriteAfter(before, allow ?? 0n, deny ?? 0n, replace);
		const allowed = after.allow ^ before.allow;
		const denied = after.deny ^ before.deny;
		if ((allowed | denied) === 0n)
			throw new ToolError(
				`Nothing would change: ${channelName(channel)} already has this overwrite for ${name}. Nothing was done.`,
			);
		requireGrantable(guild, channel, allowed | denied);
		requireUndoable(
			channel,
			new Map([...overwritesOf(channel), [target_id, after]]),
		);
		const route = Routes.channelPermission(channel.id, target_id);
		const place = `the permissions of ${name} in ${channelName(channel)}`;
		const lines = [
			`Newly allowed: ${describeBits(after.allow & ~before.allow)}`,
			`Newly denied: ${describeBits(after.deny & ~before.deny)}`,
			`No longer allowed: ${describeBits(before.allow & ~after.allow)}`,
			`No longer denied: ${describeBits(before.deny & ~after.deny)}`,
		];
		return {
			preview: [`Would set ${place}.`, ...lines],
			write: () =>
				guild.client.rest.put(route, {
					body: {
						type: OverwriteType[target_type === "role" ? "Role" : "Member"],
						allow: String(after.allow),
						deny: String(after.deny),
					},
				}),
			result: [`Set ${place}.`, ...lines],
		};
	},
});

/**
 * Returns a permission overwrite after allowing and denying permissions in it. `replace` resets all other permissions.
 * Throws an RpcError if a permission is both allowed and denied.
 */
function overwriteAfter(
	before: Bits,
	allow: bigint,
	deny: bigint,
	replace: boolean,
): Bits {
	const both = allow & deny;
	const names = describeBits(both);
	if (both !== 0n)
		throw invalidParameters([`allow, deny: ${names} cannot be both`]);
	if (replace) return { allow, deny };
	return {
		allow: (before.allow & ~deny) | allow,
		deny: (before.deny & ~allow) | deny,
	};
}

export const listChannelPermissions = readTool({
	name: "list_channel_permissions",
	toolset: "channels",
	extra: true,
	title: "List channel permissions",
	description: "List a channel's permission overwrites for roles and members.",
	input: v.strictObject({
		guild_id,
		channel_id: found(find.channel, "channel"),
	}),
	run(_, { guild, channel }) {
		const overwrites = [...channel.permissionOverwrites.cache.values()];
		const lines = overwrites
			.sort(
				(a, b) =>
					rankOf(guild, b.id) - rankOf(guild, a.id) || compareIds(a.id, b.id),
			)
			.map((overwrite) =>
				fieldLine(
					`${overwriteName(guild, overwrite)} | ID: ${overwrite.id}`,
					`allow: ${describeBits(overwrite.allow.bitfield)}`,
					`deny: ${describeBits(overwrite.deny.bitfield)}`,
				),
			);
		const name = channelName(channel);
		return resultLines(
			lines.length === 0
				? `${name} has no overwrites: the permissions of the roles apply.`
				: `${name} has overwrites for ${lines.length} role(s) and member(s), roles from the top:`,
			lines,
			channel.permissionsLocked && "They are the same as in its category.",
		);
	},
});

/**
 * Returns a role's position, by which permission overwrites are sorted; -1 for a member's id, which comes below all
 * roles.
 */
function rankOf(guild: Guild, id: string): number {
	return guild.roles.cache.get(id)?.position ?? -1;
}

export const removeChannelPermissions = destructiveTool({
	name: "remove_channel_permissions",
	toolset: "channels",
	extra: true,
	title: "Remove channel permissions",
	description:
		"Remove a channel's overwrite for a role or member, who may have left.",
	lock: "channel_id",
	permissions: ["ManageRoles"],
	input: v.strictObject({
		guild_id,
		channel_id: found(find.currentChannel, "channel"),
		target_id: snowflake("role or member"),
		reason,
	}),
	plan({ target_id }, { guild, channel }) {
		const overwrite = channel.permissionOverwrites.cache.get(target_id);
		if (!overwrite)
			throw new ToolError(
				`${channelName(channel)} has no overwrite for ${target_id}. list_channel_permissions lists its overwrites. Nothing was done.`,
			);
		const { allow, deny } = overwriteOf(channel, target_id);
		requireGrantable(guild, channel, allow | deny);
		const rest = new Map(overwritesOf(channel));
		rest.delete(target_id);
		requireUndoable(channel, rest);
		const target = `the overwrite for ${overwriteName(guild, overwrite)} (ID: ${target_id}) in ${channelName(channel)}`;
		const lines = [
			`Allowed: ${describeBits(allow)}`,
			`Denied: ${describeBits(deny)}`,
		];
		return {
			preview: [`Would remove ${target}.`, ...lines],
			write: () =>
				guild.client.rest.delete(
					Routes.channelPermission(channel.id, target_id),
				),
			result: [`Removed ${target}.`, ...lines],
		};
	},
});

export const syncChannelPermissions = destructiveTool({
	name: "sync_channel_permissions",
	toolset: "channels",
	extra: true,
	title: "Sync channel permissions",
	description:
		"Replace a channel's permission overwrites with those of its category.",
	lock: "channel_id",
	permissions: ["ManageChannels", "ManageRoles"],
	input: v.strictObject({
		guild_id,
		channel_id: found(find.currentChannel, "channel"),
		reason,
	}),
	async plan(_, { guild, channel }) {
		if (!channel.parentId)
			throw new ToolError(
				`${channelName(channel)} is in no category. move_channel can move it into one. Nothing was done.`,
			);
		const parent = await find.currentChannel(guild, channel.parentId);
		const changed = differingOverwrites(channel, parent);
		if (changed.length === 0)
			throw new ToolError(
				`Nothing would change: ${channelName(channel)} already has the permissions of ${channelName(parent)}. Nothing was done.`,
			);
		const body = rawOverwrites(parent);
		requireGrantable(
			guild,
			channel,
			differenceOf(rawOverwrites(channel), body),
		);
		requireUndoable(channel, overwritesOf(parent));
		const change = `${channelName(channel)} the permissions of ${channelName(parent)}`;
		const count = `${changed.length} role(s) and member(s):`;
		const lines = changed.map((overwrite) =>
			changeLine(channel, parent, overwrite),
		);
		return {
			preview: [`Would give ${change}; changes for ${count}`, ...lines],
			write: () =>
				guild.client.rest.patch(Routes.channel(channel.id), { body }),
			result: [`Gave ${change}; changes for ${count}`, ...lines],
		};
	},
});

/** How many changed permission overwrites a tool's result shows for each channel. */
const sampleSize = 5;

export const copyChannelPermissions = destructiveTool({
	name: "copy_channel_permissions",
	toolset: "channels",
	extra: true,
	title: "Copy channel permissions",
	description:
		"Replace the permission overwrites of channels with those of another one. Channels that already have them are skipped.",
	lock: ["channel_id", "target_channel_ids"],
	permissions: ["ManageChannels", "ManageRoles"],
	permissionsIn: "target_channel_ids",
	input: v.strictObject({
		guild_id,
		channel_id: found(find.currentChannel, "channel to copy from"),
		target_channel_ids: list(
			found(find.currentChannel, "channel"),
			1,
			20,
			"Channels to copy to.",
		),
		reason,
	}),
	plan(_, { guild, channel, target_channels }) {
		const body = rawOverwrites(channel);
		const changes = target_channels
			.map((target) => ({
				target,
				changed: differingOverwrites(target, channel),
			}))
			.filter(({ changed }) => changed.length > 0);
		if (changes.length === 0)
			throw new ToolError(
				`Nothing would change: the ${target_channels.length} channel(s) already have the permissions of ${channelName(channel)}. Nothing was done.`,
			);
		for (const { target } of changes) {
			requireGrantable(
				guild,
				target,
				differenceOf(rawOverwrites(target), body),
			);
			requireUndoable(target, overwritesOf(channel));
		}
		const count = `${changes.length} of ${target_channels.length} channel(s)`;
		const lines = changes.flatMap(({ target, changed }) => [
			`${channelName(target)}: changes for ${changed.length} role(s) and member(s)${changed.length > sampleSize ? `, the first ${sampleSize}` : ""}`,
			...changed
				.slice(0, sampleSize)
				.map((overwrite) => `- ${changeLine(target, channel, overwrite)}`),
		]);
		const source = `the permissions of ${channelName(channel)}`;
		return {
			preview: [`Would give ${count} ${source}:`, ...lines],
			act: (call) =>
				writeEach(
					{
						items: changes,
						resumes: true,
						idOf: ({ target }) => target.id,
						describe: ({ target, changed }) =>
							`${channelName(target)}: changed for ${changed.length} role(s) and member(s)`,
						write: ({ target }) =>
							guild.client.rest.patch(Routes.channel(target.id), { body }),
						done: (done, of) => `Gave ${done} of ${of} channel(s) ${source}:`,
					},
					call,
				),
		};
	},
});
