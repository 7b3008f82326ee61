// Channels: making and changing them, and who may do what in them.

import {
	ChannelType,
	type Guild,
	type GuildChannelCreateOptions,
	type OverwriteResolvable,
	OverwriteType,
	PermissionFlagsBits,
	type Role,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import {
	choice,
	flag,
	found,
	foundOrNone,
	guild_id,
	integer,
	list,
	permissionBits,
	permissionNames,
	reason,
	snowflake,
	text,
} from "../arguments.ts";
import { tool } from "../context.ts";
import { channelName, memberName, roleName } from "../describe.ts";
import { changesOf } from "../edits.ts";
import * as find from "../find.ts";
import {
	botMember,
	describeBits,
	readBits,
	requireGrantable,
} from "../permissions.ts";

const spokenFields = [
	"nsfw",
	"slowmode_seconds",
	"bitrate",
	"user_limit",
	"category_id",
] as const;

/** What can be made, and which of the fields below each kind has. */
const kinds = {
	text: {
		type: ChannelType.GuildText,
		fields: ["topic", "nsfw", "slowmode_seconds", "category_id"],
	},
	voice: {
		type: ChannelType.GuildVoice,
		fields: spokenFields,
	},
	category: { type: ChannelType.GuildCategory, fields: [] },
	forum: {
		type: ChannelType.GuildForum,
		fields: ["topic", "nsfw", "slowmode_seconds", "category_id"],
	},
	stage: {
		type: ChannelType.GuildStageVoice,
		fields: spokenFields,
	},
	announcement: {
		type: ChannelType.GuildAnnouncement,
		fields: ["topic", "nsfw", "category_id"],
	},
} as const satisfies Record<
	string,
	{ type: GuildChannelCreateOptions["type"]; fields: readonly string[] }
>;

type Kind = keyof typeof kinds;
const kindNames = Object.keys(kinds) as Kind[];

/** Fields that not every kind of channel has. */
const kindFields = {
	topic: v.optional(
		text(0, 1024, "What the channel is for; empty for nothing."),
	),
	nsfw: v.optional(flag("Only for adults.")),
	slowmode_seconds: v.optional(
		integer(
			0,
			21_600,
			"How long a person waits between two messages; 0 for no wait.",
		),
	),
	bitrate: v.optional(
		integer(8000, 384_000, "Bits per second of a voice or stage channel."),
	),
	user_limit: v.optional(
		integer(
			0,
			10_000,
			"How many people fit into a voice (99) or stage channel; 0 for no limit.",
		),
	),
};

export const createChannel = tool({
	name: "create_channel",
	toolset: "channels",
	title: "Create a channel",
	description:
		"Create a channel in a guild. With `private_to_role_ids` only these roles, and the bot, can see it from the start, and it takes over no permissions from its category. Answers with its name, as Discord made it, and its id.",
	effect: "write",
	permissions: ["ManageChannels"],
	input: v.strictObject({
		guild_id,
		name: text(1, 100, "Name of the channel."),
		channel_type: v.optional(
			choice(kindNames, "What kind of channel it is."),
			"text",
		),
		category_id: v.optional(found(find.category, "category that it goes into")),
		...kindFields,
		position: v.optional(
			integer(0, 1000, "Where it stands among its like, from the top."),
		),
		private_to_role_ids: v.optional(
			list(
				found(find.role, "role that can see it"),
				1,
				50,
				"Roles that can see the channel; everyone can when omitted.",
			),
		),
		reason,
	}),
	async run(args, { guild, category, private_to_roles }) {
		const kind = kinds[args.channel_type];
		refuseForeignFields(args, args.channel_type);
		const overwrites =
			private_to_roles && visibleOnlyTo(guild, private_to_roles);
		const options: GuildChannelCreateOptions = {
			name: args.name,
			type: kind.type,
			...given({
				topic: args.topic,
				nsfw: args.nsfw,
				rateLimitPerUser: args.slowmode_seconds,
				bitrate: args.bitrate,
				userLimit: args.user_limit,
				position: args.position,
				parent: category,
				permissionOverwrites: overwrites,
			}),
		};
		const made = await guild.channels.create(options);
		const where = category ? ` in ${channelName(category)}` : "";
		const seenBy = private_to_roles
			? `, seen only by ${private_to_roles.map(roleName).join(", ")} and the bot`
			: "";
		return `Created the ${args.channel_type} channel ${channelName(made)}${where}${seenBy}.`;
	},
});

/** Nobody but these roles and the bot sees it: without itself, the bot would shut itself out. */
function visibleOnlyTo(guild: Guild, roles: Role[]): OverwriteResolvable[] {
	const view = PermissionFlagsBits.ViewChannel;
	if (roles.some(({ id }) => id === guild.id))
		throw invalidParameters([
			"private_to_role_ids: everyone has the role @everyone; leave this out for a channel that everyone can see",
		]);
	requireGrantable(guild, undefined, view);
	return [
		{ id: guild.id, type: OverwriteType.Role, deny: view },
		...roles.map(({ id }) => ({ id, type: OverwriteType.Role, allow: view })),
		{ id: botMember(guild).id, type: OverwriteType.Member, allow: view },
	];
}

/** Throws an RpcError for fields that this kind of channel does not have. */
function refuseForeignFields(args: Record<string, unknown>, kind: Kind): void {
	const own: readonly string[] = kinds[kind].fields;
	const foreign = [...Object.keys(kindFields), "category_id"].filter(
		(field) => args[field] !== undefined && !own.includes(field),
	);
	if (foreign.length > 0)
		throw invalidParameters(
			foreign.map((field) => `${field}: ${kind} channels have none`),
		);
	if (kind === "voice" && Number(args.user_limit ?? 0) > 99)
		throw invalidParameters(["user_limit: a voice channel has at most 99"]);
}

export const editChannel = tool({
	name: "edit_channel",
	toolset: "channels",
	title: "Edit a channel",
	description:
		"Change a channel's name, topic, age restriction, slow mode or category. Only what is given is changed; an edit that would change nothing is refused. Answers with what has changed.",
	effect: "write",
	idempotent: true,
	turns: "channel_id",
	permissions: ["ManageChannels"],
	input: v.strictObject({
		guild_id,
		channel_id: found(find.currentChannel, "channel"),
		name: v.optional(text(1, 100, "New name.")),
		topic: kindFields.topic,
		nsfw: kindFields.nsfw,
		slowmode_seconds: kindFields.slowmode_seconds,
		category_id: v.optional(
			foundOrNone(find.categoryOrNone, "category to move it into"),
		),
		reason,
	}),
	async run(args, { guild, channel }) {
		const kind = kindNames.find((name) => kinds[name].type === channel.type);
		if (!kind)
			throw new ToolError(
				`${channelName(channel)} is of a kind that this tool does not edit. Nothing was done.`,
			);
		const { name, topic, nsfw, slowmode_seconds, category_id } = args;
		const fields = { topic, nsfw, slowmode_seconds, category_id };
		refuseForeignFields(fields, kind);
		const before = currentFields(channel);
		const changes = changesOf(
			before,
			{ name, ...fields },
			channelName(channel),
		);
		const edited = (await guild.channels.edit(
			channel.id,
			given({
				name: changes.name,
				topic: changes.topic,
				nsfw: changes.nsfw,
				rateLimitPerUser: changes.slowmode_seconds,
				// null is no category; undefined leaves it as it is.
				parent: changes.category_id === "" ? null : changes.category_id,
			}),
		)) as find.Channel;
		// Discord writes the names of text channels in its own way, and so may make the old one of a new one.
		const after = currentFields(edited);
		const changed = fieldNames.filter(
			(field) => before[field] !== after[field],
		);
		if (changed.length === 0)
			throw new ToolError(
				`Nothing has changed: as Discord writes it, ${channelName(edited)} had ${Object.keys(changes).join(", ")} as given already.`,
			);
		return `Changed ${changed.join(", ")} of ${channelName(edited)}.`;
	},
});

const fieldNames = [
	"name",
	"topic",
	"nsfw",
	"slowmode_seconds",
	"category_id",
] as const;

/** A channel's fields as the tool takes them. */
function currentFields(channel: find.Channel) {
	const some = channel as Partial<{
		topic: string | null;
		nsfw: boolean;
		rateLimitPerUser: number | null;
	}>;
	return {
		name: channel.name,
		topic: some.topic ?? "",
		nsfw: some.nsfw ?? false,
		slowmode_seconds: some.rateLimitPerUser ?? 0,
		category_id: channel.parentId ?? "",
	};
}

export const setChannelPermissions = tool({
	name: "set_channel_permissions",
	toolset: "channels",
	title: "Set channel permissions",
	description:
		"Set what a role or a member is allowed and denied in a channel. It replaces what the channel says of them, or with `merge` changes only the permissions named; what is in neither `allow` nor `deny` then follows from their roles. Answers with what has changed, by name.",
	effect: "write",
	idempotent: true,
	turns: "channel_id",
	permissions: ["ManageRoles"],
	input: v.strictObject({
		guild_id,
		channel_id: found(find.currentChannel, "channel"),
		target_type: choice(["role", "member"], "What target_id is the id of."),
		target_id: snowflake("role or the member"),
		allow: permissionBits("What to allow"),
		allow_names: permissionNames("What to allow"),
		deny: permissionBits("What to deny"),
		deny_names: permissionNames("What to deny"),
		merge: v.optional(
			flag("Keep what the channel says of other permissions."),
			false,
		),
		reason,
	}),
	async run(args, { guild, channel, connection }) {
		const target =
			args.target_type === "role"
				? find.role(guild, args.target_id)
				: await find.member(guild, args.target_id, connection);
		const name = "user" in target ? memberName(target) : roleName(target);
		const allow = readBits(
			["allow", "allow_names"],
			args.allow,
			args.allow_names,
		);
		const deny = readBits(["deny", "deny_names"], args.deny, args.deny_names);
		if (allow === undefined && deny === undefined)
			throw invalidParameters([
				"allow, allow_names, deny, deny_names: expected at least one of these",
			]);
		const before = overwriteOf(channel, target.id);
		const after = overwriteAfter(before, allow ?? 0n, deny ?? 0n, args.merge);
		const allowed = after.allow ^ before.allow;
		const denied = after.deny ^ before.deny;
		if ((allowed | denied) === 0n)
			throw new ToolError(
				`Nothing would change: ${channelName(channel)} says exactly this of ${name} already. Nothing was done.`,
			);
		requireGrantable(guild, channel, allowed | denied);
		await guild.client.rest.put(
			Routes.channelPermission(channel.id, target.id),
			{
				body: {
					type: OverwriteType[args.target_type === "role" ? "Role" : "Member"],
					allow: String(after.allow),
					deny: String(after.deny),
				},
			},
		);
		return [
			`Set the permissions of ${name} in ${channelName(channel)}.`,
			`Newly allowed: ${describeBits(after.allow & ~before.allow)}`,
			`Newly denied: ${describeBits(after.deny & ~before.deny)}`,
			`No longer allowed: ${describeBits(before.allow & ~after.allow)}`,
			`No longer denied: ${describeBits(before.deny & ~after.deny)}`,
		];
	},
});

interface Bits {
	allow: bigint;
	deny: bigint;
}

/** What a channel says of a role or a member. */
function overwriteOf(channel: find.Channel, id: string): Bits {
	const overwrite = channel.permissionOverwrites.cache.get(id);
	return {
		allow: overwrite?.allow.bitfield ?? 0n,
		deny: overwrite?.deny.bitfield ?? 0n,
	};
}

/** What it will say. Throws an RpcError where the same permission is allowed and denied. */
function overwriteAfter(
	before: Bits,
	allow: bigint,
	deny: bigint,
	merge: boolean,
): Bits {
	const both = allow & deny;
	if (both !== 0n)
		throw invalidParameters([
			`allow, deny: ${describeBits(both)} cannot be both`,
		]);
	if (!merge) return { allow, deny };
	return {
		allow: (before.allow & ~deny) | allow,
		deny: (before.deny & ~allow) | deny,
	};
}

/** Only what is given: to discord.js, undefined is not the same as absent. */
function given<T extends object>(
	fields: T,
): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
	return Object.fromEntries(
		Object.entries(fields).filter(([, value]) => value !== undefined),
	) as { [Key in keyof T]?: Exclude<T[Key], undefined> };
}
