// Permission overwrites: what channels allow and deny to roles and members.

import { ChannelType, type Guild, OverwriteType, PermissionFlagsBits, Routes } from "discord.js";
import * as v from "valibot";
import { channelsFromTop } from "../../discord/channel-order.ts";
import { channelName, memberName, roleName } from "../../discord/describe.ts";
import * as find from "../../discord/find.ts";
import { isObfuscated } from "../../discord/obfuscation.ts";
import {
	describeChange,
	differingOverwrites,
	fetchCurrent,
	isInPrivateCategory,
	overwriteName,
	overwriteOf,
	rawOverwrites,
	requireUndoable,
	sortedOverwrites,
	syncedWith,
} from "../../discord/overwrites.ts";
import {
	type Bits,
	describeBits,
	overwritesOf,
	requireGrantable,
	requirePermissions,
	withTitles,
} from "../../discord/permissions.ts";
import { fieldLine, oneField, resultLines } from "../../discord/text.ts";
import { isPublic } from "../../discord/visible-channels.ts";
import { changedBits } from "../../guild-document/names/overwrites.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { said } from "../../texts/texts.ts";
import { asking, channels as channelMentions, listed, mentionOf, parts } from "../results/result.ts";
import {
	flag,
	found,
	guild_id,
	list,
	permissionList,
	readPermissions,
	reason,
	requireOneOf,
	snowflake,
} from "../tool/arguments/arguments.ts";
import { planEach, sample } from "../tool/bulk.ts";
import { destructiveTool, readTool } from "../tool/define.ts";
import { describeFollowers } from "./channels/channel-text.ts";

const permissionSets = ["allow", "deny", "neutral"] as const;

type Target = Awaited<ReturnType<typeof findTarget>>;
type OverwriteChange = ReturnType<typeof changesIn>[number];

export const setChannelPermissions = destructiveTool({
	name: "set_channel_permissions",
	toolset: "channels",
	offered: "listed",
	title: "Set channel permissions",
	description: "Allow or deny permissions in channels; others stay. Synced channels follow their category.",
	lock: "channel_ids",
	permissions: ["ManageRoles"],
	permissionsIn: "channel_ids",
	input: {
		guild_id,
		channel_ids: list(found(find.channel, "channel"), 1, 50, "Channels, categories."),
		target_ids: list(snowflake("role or member"), 1, 20, "Roles, members; @everyone: the guild's id."),
		allow: v.optional(permissionList("Names: VIEW_CHANNEL; or decimal bits.")),
		deny: v.optional(permissionList("Likewise.")),
		neutral: v.optional(permissionList("Neither.")),
		replace: flag("Others become neutral; alone: remove overwrites.", false),
		reason,
	},
	async plan(args, { guild, channels: cached, connection }) {
		const change = readChange(args);
		const channels = await fetchCurrent(guild, cached);
		const targets: Target[] = [];
		for (const id of args.target_ids) targets.push(await findTarget(guild, id, channels, connection));
		// Channels that follow a category of this call need no request.
		const following = new Set(channels.flatMap(syncedWith));
		const own = channels.filter((channel) => !following.has(channel));
		const changes = own.flatMap((channel) => changesIn(channel, targets, change));
		const names = targets.map(({ fullName }) => fullName).join(", ");
		const all = own.length * targets.length;
		if (changes.length === 0)
			throw new ToolError(
				`Nothing would change for ${names}: list_channel_permissions shows what the channels allow and deny. Nothing was done.`,
			);
		const rest = unchangedNote(all - changes.length);
		// Read before the writes, which change the cached overwrites.
		const followers = new Map(changes.map(({ channel }) => [channel, describeFollowers(channel, channels)]));
		const followersOf = (changed: readonly find.Channel[]) =>
			resultLines(
				[...new Set(changed)].map((channel) => {
					const text = followers.get(channel);
					return text && `${channelName(channel)}: ${text}`;
				}),
			);
		const done: find.Channel[] = [];
		return planEach({
			items: changes,
			asks: asking(
				[
					`Would change ${changes.length} overwrite(s) for ${names}${rest}:`,
					...sample(changes, 50, describeOverwriteChange),
					...followersOf([...followers.keys()]),
				],
				said("preview.overwrites", {
					who: listed(targets.map(({ id }) => mentionOf(guild, id))),
					where: channelMentions(own),
				}),
				...permissionSets.map(
					(set) => args[set] && withTitles(said(`preview.${set}`, { permissions: describeBits(change[set]) })),
				),
				args.replace && said("preview.replace"),
			),
			idOf: ({ channel }) => channel.id,
			describe: describeOverwriteChange,
			async write({ channel, target, after: { allow, deny } }) {
				const { rest } = channel.client;
				// https://discord.com/developers/docs/resources/channel#edit-channel-permissions
				const route = Routes.channelPermission(channel.id, target.id);
				const body = { type: target.type, allow: String(allow), deny: String(deny) };
				await ((allow | deny) === 0n ? rest.delete(route) : rest.put(route, { body }));
				done.push(channel);
			},
			done: (done, of) => `Changed ${done === of ? "" : `${done} of `}${of} overwrite(s) for ${names}${rest}:`,
			after: (output) => parts(output, followersOf(done)),
		});
	},
});

function unchangedNote(count: number): string {
	return count > 0 ? ` (${count} unchanged)` : "";
}

function readChange(args: { [Set in (typeof permissionSets)[number]]?: string[] | undefined } & { replace: boolean }) {
	if (!args.replace) requireOneOf(args, permissionSets, " without replace");
	const [allow, deny, neutral] = permissionSets.map((set) => readPermissions(set, args[set] ?? [])) as [
		bigint,
		bigint,
		bigint,
	];
	for (const [sets, shared] of [
		["allow, deny", allow & deny],
		["allow, neutral", allow & neutral],
		["deny, neutral", deny & neutral],
	] as const)
		if (shared !== 0n) throw invalidParameters([`${sets}: ${describeBits(shared)} cannot be in both of these lists`]);
	return { allow, deny, neutral: args.replace ? ~(allow | deny) : neutral };
}

async function findTarget(guild: Guild, id: string, channels: readonly find.Channel[], connection: find.MemberState) {
	const { Member, Role } = OverwriteType;
	const named = (type: OverwriteType, fullName?: string) => {
		const name = overwriteName(guild, { id, type });
		return { id, type, name, fullName: fullName ?? name };
	};
	const role = guild.roles.cache.get(id);
	if (role) return named(Role, roleName(role));
	const overwrite = channels
		.map(({ permissionOverwrites }) => permissionOverwrites.cache.get(id))
		.find((one) => one !== undefined);
	const known = guild.members.cache.get(id);
	if (overwrite && !known) return named(overwrite.type);
	try {
		return named(Member, memberName(await find.member(guild, id, connection)));
	} catch (error) {
		if (!(error instanceof ToolError)) throw error;
		throw new ToolError(
			`There is no role or member ${id} in the guild ${guild.id}. list_roles and lookup_user_by_name find them. Nothing was done.`,
			{ cause: error },
		);
	}
}

function changesIn(
	channel: find.Channel,
	targets: readonly Target[],
	{ allow, deny, neutral }: ReturnType<typeof readChange>,
) {
	const overwrites = new Map(overwritesOf(channel));
	const isEmpty = (bits: Bits) => (bits.allow | bits.deny) === 0n;
	return targets.flatMap((target) => {
		const before = overwriteOf(channel, target.id);
		const after = {
			allow: (before.allow & ~(deny | neutral)) | allow,
			deny: (before.deny & ~(allow | neutral)) | deny,
		};
		const changed = (after.allow ^ before.allow) | (after.deny ^ before.deny);
		const removesEmpty = overwrites.has(target.id) && isEmpty(after);
		if (changed === 0n && !removesEmpty) return [];
		requireGrantable(channel.guild, channel, changed);
		if (isEmpty(after)) overwrites.delete(target.id);
		else overwrites.set(target.id, after);
		requireUndoable(channel, overwrites);
		return [{ channel, target, before, after }];
	});
}

function describeOverwriteChange({ channel, target, before, after }: OverwriteChange): string {
	const isRemoved = (after.allow | after.deny) === 0n;
	const texts = resultLines(describeChange(before, after), isRemoved && "overwrite removed");
	return `${channelName(channel)}: ${target.name}: ${texts.join("; ")}`;
}

export const listChannelPermissions = readTool({
	name: "list_channel_permissions",
	toolset: "channels",
	offered: "listed",
	title: "List channel permissions",
	description: "Channels' overwrites as they are: of roles, members and the bot.",
	person: { permissions: ["ManageRoles"], permissionsIn: "channel_ids" },
	input: {
		guild_id,
		channel_ids: v.optional(list(found(find.channel, "channel"), 1, 100, "Default: all with overwrites.")),
	},
	run(_, { guild, channels }) {
		const all = channelsFromTop(guild);
		const shown = channels ?? all.filter((channel) => hasOverwrites(channel) || isInPrivateCategory(channel));
		const firsts = new Map<string, find.Channel>();
		const lines = shown.map((channel) => {
			const overwrites = Array.from(overwritesOf(channel), ([id, { allow, deny }]) => `${id} ${allow} ${deny}`);
			const key = overwrites.sort().join();
			const same = firsts.get(key);
			if (!same && !isObfuscated(channel)) firsts.set(key, channel);
			return channelLine(channel, shown, same);
		});
		const used = new Map(
			shown
				.filter((channel) => !isObfuscated(channel))
				.flatMap(sortedOverwrites)
				.map((one) => [one.id, one]),
		);
		const names = [...used.keys()].flatMap((id) => {
			const role = guild.roles.cache.get(id);
			const member = guild.members.cache.get(id);
			return role ? roleName(role) : member ? memberName(member) : [];
		});
		return resultLines(
			channels ? `${shown.length} channel(s):` : listHeading(shown, all.length),
			lines,
			names.length > 0 && `Ids: ${names.join(", ")}`,
		);
	},
});

function hasOverwrites({ permissionOverwrites }: find.Channel): boolean {
	return permissionOverwrites.cache.size > 0;
}

function listHeading(shown: readonly find.Channel[], all: number): string {
	const unseen = shown.filter(isObfuscated).length;
	const own = shown.filter(hasOverwrites).length - unseen;
	const others = shown.length - own - unseen;
	const more = resultLines(
		others > 0 && `; ${others} without overwrites in private categories, too`,
		unseen > 0 && `; ${unseen} that the bot cannot see, too`,
	).join("");
	return `${own} of ${all} channel(s) have overwrites, from the top${more}:`;
}

function channelLine(channel: find.Channel, shown: readonly find.Channel[], same: find.Channel | undefined): string {
	const { guild, parent } = channel;
	if (isObfuscated(channel)) return `${channelName(channel)}: unknown`;
	const notes = [
		...(channel.type === ChannelType.GuildCategory ? ["category"] : []),
		...(isPublic(channel) ? [] : ["private"]),
		...(isPublic(channel) && isInPrivateCategory(channel) ? ["public, unlike its category"] : []),
	];
	const name = `#${oneField(channel.name)} (${[...notes, `ID: ${channel.id}`].join(", ")})`;
	if (!hasOverwrites(channel)) return `${name}: no overwrites`;
	const isSynced = parent !== null && channel.permissionsLocked;
	const synced = isSynced ? `as its category #${oneField(parent.name)}` : "";
	if (isSynced && shown.includes(parent)) return `${name}: ${synced}`;
	if (same) return `${name}: the same as ${channelName(same)}`;
	const overwrites = sortedOverwrites(channel).map((overwrite) => {
		const { allow, deny } = overwriteOf(channel, overwrite.id);
		const texts = resultLines(
			allow !== 0n && `allows ${describeBits(allow)}`,
			deny !== 0n && `denies ${describeBits(deny)}`,
		);
		const text = texts.join("; ") || "changes nothing";
		return `${overwriteName(guild, overwrite)} ${text}`;
	});
	return `${name}: ${fieldLine(synced, ...overwrites)}`;
}

const sampleSize = 50;

export const copyChannelPermissions = destructiveTool({
	name: "copy_channel_permissions",
	toolset: "channels",
	offered: "extra",
	title: "Copy channel permissions",
	description:
		"Replace the permission overwrites of channels with those of another one, or sync them with their category.",
	lock: ({ channel_id, target_channel_ids }) => [channel_id, ...target_channel_ids],
	permissions: ["ManageChannels", "ManageRoles"],
	permissionsIn: "target_channel_ids",
	input: {
		guild_id,
		channel_id: v.optional(found(find.channel, "channel to copy from; default: each one's category")),
		target_channel_ids: list(found(find.channel, "channel"), 1, 50, "Channels to copy to."),
		reason,
	},
	async plan(_, { guild, channel: given, target_channels: cached }) {
		const parents = cached.flatMap(({ parent }) => parent ?? []);
		const current = await fetchCurrent(guild, [...cached, ...(given ? [given] : parents)]);
		const [source, targets] = [given && current[cached.length], current.slice(0, cached.length)];
		const changes = targets
			.map((target) => ({ target, source: source ?? categoryOf(target) }))
			.map((pair) => ({ ...pair, changed: differingOverwrites(pair.target, pair.source) }))
			.filter(({ changed }) => changed.length > 0);
		const sourcePermissions = source
			? `the permissions of ${channelName(source)}`
			: "the permissions of their category";
		if (changes.length === 0)
			throw new ToolError(
				`Nothing would change: all ${targets.length} target channel(s) already have ${sourcePermissions}. Nothing was done.`,
			);
		for (const { target, source } of changes) {
			requirePermissions(guild, source, PermissionFlagsBits.ViewChannel);
			requireGrantable(guild, target, changedBits(overwritesOf(target), overwritesOf(source)));
			requireUndoable(target, overwritesOf(source), source);
		}
		type Copy = (typeof changes)[number];
		const describe = ({ target, source, changed }: Copy) => {
			const lines = sample(changed, sampleSize, (overwrite) => {
				const [before, after] = [target, source].map((one) => overwriteOf(one, overwrite.id)) as [Bits, Bits];
				return `${overwriteName(guild, overwrite)}: ${describeChange(before, after)}`;
			});
			return `${channelName(target)}: ${fieldLine(...lines, describeFollowers(target, targets))}`;
		};
		// Described before the writes, which change the cached overwrites.
		const texts = new Map(changes.map((one) => [one, describe(one)]));
		const rest = unchangedNote(targets.length - changes.length);
		const where = channelMentions(changes.map(({ target }) => target));
		return planEach({
			items: changes,
			asks: asking(
				[`Would give ${changes.length} channel(s) ${sourcePermissions}${rest}:`, ...texts.values()],
				source
					? said("preview.copy_permissions", { where, source: `<#${source.id}>` })
					: said("preview.sync", { where }),
			),
			idOf: ({ target }) => target.id,
			describe: (one) => texts.get(one) ?? channelName(one.target),
			write: ({ target, source }) =>
				guild.client.rest.patch(Routes.channel(target.id), { body: rawOverwrites(source) }),
			done: (done, of) => `Gave ${done === of ? "" : `${done} of `}${of} channel(s) ${sourcePermissions}${rest}:`,
		});
	},
});

function categoryOf(channel: find.Channel): find.Channel {
	if (channel.parent) return channel.parent;
	throw new ToolError(
		`${channelName(channel)} is in no category. move_channels can move it into one. Nothing was done.`,
	);
}
