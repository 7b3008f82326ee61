// The initial state of a simulator as plain data, and the demo's.

import { ChannelType, PermissionFlagsBits as Permission } from "discord.js";
import { toolPermissions } from "../guild-document/names/permission-names.ts";
import { slugOf } from "./documents/people.ts";
import type { Users } from "./world/accounts/users.ts";
import { chatChannelOf } from "./world/channels/channels.ts";
import { noColors } from "./world/state/defaults.ts";
import type { Guild, GuildChannelType, Overwrite, User } from "./world/state/entities.ts";
import { bitsOf } from "./world/state/permissions.ts";
import type { World } from "./world/world.ts";

/** Refers to users by their user names, and to roles by their names in the guild. */
export interface Seed {
	bots: readonly Parameters<Users["addBot"]>[0][];
	users: readonly Parameters<Users["addPerson"]>[0][];
	guilds: readonly SeedGuild[];
	/** Whether the owner of the bots' applications uses two-factor authentication. Default: true. */
	developerHasMfa?: boolean;
}

interface SeedGuild {
	name: string;
	id?: string;
	owner: string;
	mfa_level?: number;
	/** The roles of the guild, from highest to lowest, without @everyone. */
	roles?: readonly SeedRole[];
	channels?: readonly SeedChannel[];
	members?: readonly SeedMember[];
	bots?: readonly { username: string; permissions: bigint }[];
	crowd?: number;
}

interface SeedRole {
	name: string;
	permissions?: bigint;
	color?: number;
	hoist?: boolean;
	mentionable?: boolean;
}

interface SeedChannel {
	name: string;
	type?: GuildChannelType;
	topic?: string;
	/** The name of the channel's category, which must come before this channel in the guild's list of channels. */
	parent?: string;
	onlyFor?: readonly string[];
}

interface SeedMember {
	username: string;
	nick?: string;
	roles?: readonly string[];
}

/** The simulator must be empty. Throws if the seed refers to an unknown name. */
export function applySeed(world: World, seed: Seed): void {
	const users = new Map<string, User>();
	for (const given of seed.users) users.set(given.username, world.users.addPerson(given).user);
	for (const given of seed.bots) users.set(given.username, world.users.addBot(given).user);
	const { withoutMfa, developer } = world.users;
	if (seed.developerHasMfa === false) withoutMfa.add(developer.id);
	for (const given of seed.guilds) applyGuild(world, given, users);
}

function applyGuild(world: World, seed: SeedGuild, users: ReadonlyMap<string, User>): void {
	const user = (name: string) => lookUp(users, name, "user");
	const guild = world.guilds.add({ name: seed.name, owner: user(seed.owner), id: seed.id });
	guild.mfa_level = seed.mfa_level ?? 0;

	const roles = new Map<string, string>();
	for (const { permissions = 0n, color = 0, ...role } of seed.roles ?? []) {
		const { id } = world.roles.add(guild, {
			...role,
			color,
			colors: { ...noColors, primary_color: color },
			permissions: String(permissions),
		});
		roles.set(role.name, id);
	}
	for (const bot of seed.bots ?? []) world.members.add(guild, user(bot.username), { botPermissions: bot.permissions });
	moveBotRolesUp(world, guild);

	for (const { username, nick, roles: held = [] } of seed.members ?? []) {
		const changes = { nick: nick ?? null, roles: held.map((name) => lookUp(roles, name, "role")) };
		const known = guild.members.get(user(username).id);
		if (known) world.members.edit(guild, known, changes);
		else world.members.add(guild, user(username), changes);
	}
	applyChannels(world, guild, seed, roles);
	world.members.addMany(guild, seed.crowd ?? 0);
}

function applyChannels(world: World, guild: Guild, seed: SeedGuild, roles: ReadonlyMap<string, string>): void {
	const channels = new Map<string, string>();
	for (const { parent, onlyFor, ...channel } of seed.channels ?? []) {
		const viewers = onlyFor?.map((name) => lookUp(roles, name, "role"));
		const { id } = world.channels.add(guild, {
			...channel,
			parent_id: parent ? lookUp(channels, parent, "channel") : null,
			permission_overwrites: viewers ? visibleTo(guild, viewers) : [],
		});
		channels.set(channel.name, id);
	}
}

function moveBotRolesUp(world: World, guild: Guild): void {
	const bots = [...guild.roles.values()].filter((role) => role.managed);
	const { size } = guild.roles;
	world.roles.move(guild, new Map(bots.map((role) => [role, size])));
}

function visibleTo(guild: Guild, roleIds: readonly string[]): Overwrite[] {
	const view = String(Permission.ViewChannel);
	const bots = [...guild.roles.values()].filter((role) => role.managed);
	return [
		{ id: guild.id, type: 0, allow: "0", deny: view },
		...[...roleIds, ...bots.map(({ id }) => id)].map((id): Overwrite => ({ id, type: 0, allow: view, deny: "0" })),
	];
}

function lookUp<T>(things: ReadonlyMap<string, T>, name: string, kind: string) {
	const thing = things.get(name);
	if (thing === undefined) throw new Error(`the simulator's seed has no ${kind} named ${name}`);
	return thing;
}

/** To the channel for general conversation, without expiry. The code is the guild's name ("the-cooks") if free. */
export function addInvites(world: World): void {
	for (const guild of world.guilds.values()) {
		const channel = chatChannelOf(guild);
		const inviter = world.users.get(guild.owner_id);
		if (!channel || !inviter) continue;
		const code = slugOf(guild.name);
		const isFree = code !== "" && !world.invites.get(code);
		world.invites.add(channel, { inviter, max_age: 0, ...(isFree && { code }) });
	}
}

/** Of a bot that was invited by the link, and not as an administrator. */
export const moderatorPermissions =
	(bitsOf(toolPermissions) & ~Permission.ChangeNickname) | Permission.UseExternalEmojis;

const guildParts = {
	roles: [
		{
			name: "Staff",
			permissions: bitsOf(["ManageMessages", "KickMembers", "ModerateMembers"]),
			color: 0xe67e22,
			hoist: true,
		},
		{ name: "Regular", color: 0x2ecc71, mentionable: true },
		{ name: "Newcomer" },
	],
	channels: [
		{ name: "Talk", type: ChannelType.GuildCategory },
		{ name: "general", parent: "Talk", topic: "Everything and nothing" },
		{ name: "staff", parent: "Talk", onlyFor: ["Staff"] },
		{ name: "Lounge", type: ChannelType.GuildVoice, parent: "Talk" },
	],
} as const;

/** Two guilds with one bot each, and six people. Two of them are in both guilds. */
export function demoSeed(): Seed {
	return {
		bots: [{ username: "alpha" }, { username: "beta" }],
		users: [
			{ username: "ada", global_name: "Ada" },
			{ username: "jose.garcia", global_name: "José García" },
			{ username: "mona_lisa", global_name: "MONA LISA" },
			{ username: "zoe", global_name: "Zoë 🍞" },
			{ username: "liwei", global_name: "李伟" },
			{ username: "bob_the_baker", global_name: "Bob" },
		],
		guilds: [
			{
				...guildParts,
				name: "The Cooks",
				owner: "ada",
				bots: [{ username: "alpha", permissions: moderatorPermissions }],
				members: [
					{ username: "jose.garcia", roles: ["Staff"], nick: "Chef José" },
					{ username: "mona_lisa", roles: ["Regular"] },
					{ username: "zoe", roles: ["Newcomer"] },
					{ username: "liwei" },
				],
			},
			{
				...guildParts,
				name: "The Bakers",
				owner: "bob_the_baker",
				bots: [{ username: "beta", permissions: moderatorPermissions }],
				members: [
					{ username: "zoe", roles: ["Staff"], nick: "zoë (bread)" },
					{ username: "liwei", roles: ["Regular"] },
				],
			},
		],
	};
}
