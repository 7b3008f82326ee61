// The guild in which jobs of administrators are done: people, roles, channels with access, weeks of messages, and, for one
// job, a raid. Everything is made from constants, relative to the present.

import { ChannelType, PermissionFlagsBits as Permission } from "discord.js";
import type { Guild, GuildChannel, Member, Overwrite, Role, User } from "../../src/simulator/world/state/entities.ts";
import type { World } from "../../src/simulator/world/world.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Permissions of the bot: those that its invitation asks for. */
export const botPermissions =
	Permission.ManageRoles |
	Permission.ManageChannels |
	Permission.ManageGuild |
	Permission.ManageMessages |
	Permission.ManageThreads |
	Permission.ManageWebhooks |
	Permission.ManageNicknames |
	Permission.ManageEvents |
	Permission.CreateEvents |
	Permission.KickMembers |
	Permission.BanMembers |
	Permission.ModerateMembers |
	Permission.ViewAuditLog |
	Permission.CreateInstantInvite |
	Permission.MentionEveryone |
	Permission.MoveMembers |
	Permission.MuteMembers |
	Permission.DeafenMembers |
	Permission.PinMessages |
	Permission.SendPolls |
	Permission.AddReactions |
	Permission.AttachFiles |
	Permission.EmbedLinks |
	Permission.ReadMessageHistory |
	Permission.SendMessages |
	Permission.SendMessagesInThreads |
	Permission.CreatePublicThreads |
	Permission.CreatePrivateThreads |
	Permission.ViewChannel |
	Permission.Connect |
	Permission.Speak;

const moderator =
	Permission.KickMembers |
	Permission.BanMembers |
	Permission.ManageMessages |
	Permission.ModerateMembers |
	Permission.ManageRoles |
	Permission.ManageChannels |
	Permission.ManageWebhooks |
	Permission.ManageGuild;

const everyone =
	Permission.ViewChannel |
	Permission.SendMessages |
	Permission.SendMessagesInThreads |
	Permission.CreatePublicThreads |
	Permission.ReadMessageHistory |
	Permission.AddReactions |
	Permission.Connect |
	Permission.Speak |
	Permission.CreateInstantInvite;

const first = ["Ada", "Bruno", "Chen", "Dara", "Emil", "Fatou", "Goran", "Hana"];
const last = ["Adler", "Brook", "Cole", "Dunn", "Ekman", "Fuchs", "Gray", "Holt"];

/** The guild of a job, with what the checks of its outcome refer to. */
export interface JobGuild {
	guild: Guild;
	role(name: string): Role | undefined;
	channel(name: string): GuildChannel | undefined;
	/** The people of the guild, oldest member first. */
	people: readonly Member[];
}

/** Adds the guild "Lantern Hall" with `count` people and 600 messages of the last 20 days. */
export function addGuild(world: World, bot: User, count: number): JobGuild {
	const now = Date.now();
	const owner = world.users.addPerson({ username: "lantern_owner", global_name: "Mira Lantern" });
	const guild = world.guilds.add({ name: "Lantern Hall", owner: owner.user, everyone });
	world.guilds.edit(guild, { features: ["COMMUNITY"] });
	const roles = new Map<string, Role>();
	const addRole = (name: string, permissions: bigint, color = 0) => {
		const role = world.roles.add(guild, {
			name,
			color,
			permissions: String(permissions),
			colors: { primary_color: color, secondary_color: null, tertiary_color: null },
		});
		roles.set(name, role);
		return role;
	};
	// From the lowest to the highest.
	const muted = addRole("Muted", 0n);
	const regular = addRole("Regular", Permission.AttachFiles, 0x3498db);
	const veteran = addRole("Veteran", Permission.AttachFiles, 0x9b59b6);
	const helper = addRole("Helper", Permission.ManageMessages, 0x2ecc71);
	const mods = addRole("Moderator", moderator, 0xe67e22);
	const admins = addRole("Admin", Permission.Administrator, 0xe74c3c);
	world.members.add(guild, bot, { botPermissions });
	const [own] = [...guild.roles.values()].filter(({ managed }) => managed);
	world.roles.move(
		guild,
		new Map(
			[muted, regular, veteran, helper, mods, admins, own].flatMap((role, index) =>
				role ? [[role, index + 1] as const] : [],
			),
		),
	);

	const channels = new Map<string, GuildChannel>();
	const only = (...viewers: readonly Role[]): Overwrite[] => [
		deny(guild.id, Permission.ViewChannel),
		...[...viewers, own].flatMap((role) => (role ? [allow(role.id, Permission.ViewChannel)] : [])),
	];
	const readOnly = [
		deny(guild.id, Permission.SendMessages),
		allow(mods.id, Permission.SendMessages),
		...(own ? [allow(own.id, Permission.SendMessages)] : []),
	];
	const add = (
		name: string,
		parent: GuildChannel | undefined,
		overwrites: Overwrite[] = [],
		type: GuildChannel["type"] = ChannelType.GuildText,
	) => {
		const channel = world.channels.add(guild, {
			name,
			type,
			parent_id: parent?.id ?? null,
			permission_overwrites: overwrites,
		});
		channels.set(name, channel);
		return channel;
	};
	const category = (name: string, overwrites: Overwrite[] = []) =>
		add(name, undefined, overwrites, ChannelType.GuildCategory);
	const info = category("Information");
	add("rules", info, readOnly);
	add("announcements", info, readOnly);
	const hall = category("Hall");
	const open = ["general", "off-topic", "pictures", "questions", "trading"].map((name) => add(name, hall));
	const voice = category("Voice");
	add("Lounge", voice, [], ChannelType.GuildVoice);
	add("Games", voice, [], ChannelType.GuildVoice);
	const staff = category("Staff", only(helper, mods));
	add("staff-chat", staff, only(helper, mods));
	// It looks private, and is not: the reviewers of permissions should find it.
	add("staff-notes", staff);
	add("old-season", undefined);

	for (const member of guild.members.values()) joinedAt(world, guild, member, now - 500 * dayMs);
	const people: Member[] = [];
	for (let number = 0; number < count; number += 1) {
		const user = world.users.add({
			username: `lantern${number}`,
			global_name: `${first[number % 8]} ${last[Math.floor(number / 8) % 8]} ${number}`,
		});
		const held = [
			...(number < 2 ? [admins] : number < 6 ? [mods] : number < 12 ? [helper] : []),
			...(number % 5 === 0 ? [veteran] : []),
			...(number % 3 === 0 ? [regular] : []),
		];
		const member = world.members.add(guild, user, { roles: held.map(({ id }) => id) });
		joinedAt(world, guild, member, now - 10 * dayMs - (400 * dayMs * (count - number)) / count);
		people.push(member);
	}
	for (let number = 0; number < 600; number += 1) {
		const channel = open[(number * 7) % open.length];
		const author = people[authorOf(number)];
		if (channel && author)
			world.messages.add(channel, author.user, {
				id: world.state.newId(now - 20 * dayMs + number * 40 * minuteMs),
				content: `${first[number % 8]} asks about lamp ${number}${number % 20 === 0 ? " https://lamps.example/shop" : ""}`,
			});
	}
	return {
		guild,
		role: (name) => [...guild.roles.values()].find((one) => one.name === name),
		channel: (name) => [...guild.channels.values()].find((one) => one.name === name),
		people,
	};
}

/** The person who wrote a message: three people write most, others a little, and many nothing. */
function authorOf(number: number): number {
	const turn = number % 20;
	if (turn < 6) return 20;
	if (turn < 10) return 31;
	return turn < 13 ? 12 : 40 + (number % 30);
}

/** What a raid left: who and what is to be found by the job that cleans up after it. */
export interface Raid {
	/** The moderator whose account was taken over. */
	mallory: Member;
	/** The accounts that joined and wrote advertisements. */
	raiders: readonly Member[];
	/** Members who got a moderator's role from the account. */
	accomplices: readonly Member[];
	/** Members whom the account banned. */
	victims: readonly User[];
}

/** Lets an account with a moderator's role, and twelve new ones, raid the guild during the last three hours. */
export function raid(world: World, { guild, people, ...job }: JobGuild): Raid {
	const now = Date.now();
	const [, , , mallory] = people;
	const mods = job.role("Moderator");
	if (!mallory || !mods) throw new Error("the guild has moderators");
	const by = { actor: mallory.user.id };
	const raiders: Member[] = [];
	for (let number = 0; number < 12; number += 1) {
		const user = world.users.add({ username: `free_lamps_${number}` });
		const raider = world.members.add(guild, user);
		joinedAt(world, guild, raider, now - 2.5 * hourMs + number * minuteMs);
		raiders.push(raider);
	}
	const places = ["general", "off-topic", "pictures", "questions"].flatMap((name) => job.channel(name) ?? []);
	for (let number = 0; number < 180; number += 1) {
		const raider = raiders[number % raiders.length];
		const place = places[number % places.length];
		if (raider && place)
			world.messages.add(place, raider.user, {
				id: world.state.newId(now - 2 * hourMs + number * 20_000),
				content: `FREE LAMPS https://free-lamps.example/${number} @everyone`,
			});
	}
	const accomplices = people.slice(50, 52);
	for (const member of accomplices) world.members.edit(guild, member, { roles: [...member.roles, mods.id] }, by);
	const support = world.roles.add(guild, { name: "Support", permissions: String(Permission.Administrator) }, by);
	for (const raider of raiders.slice(0, 2)) world.members.edit(guild, raider, { roles: [support.id] }, by);
	for (const name of ["pictures", "trading"]) {
		const channel = job.channel(name);
		if (name === "trading" && channel) world.channels.remove(channel, by);
		else if (channel) world.channels.edit(channel, { name: "free-lamps" }, by);
	}
	const announcements = job.channel("announcements");
	const general = job.channel("general");
	if (!announcements || !general) throw new Error("the guild has both");
	world.channels.setOverwrite(announcements, allow(guild.id, Permission.SendMessages), by);
	for (const name of ["Lamp News", "Lantern Bot"]) world.webhooks.add(general, { name, user: mallory.user }, by);
	for (let number = 0; number < 2; number += 1)
		world.invites.add(general, { inviter: mallory.user, max_age: 0, max_uses: 0, temporary: false }, by);
	const victims = people.slice(60, 63).map(({ user }) => user);
	for (const user of victims) world.bans.add(guild, user, 0, by);
	world.guilds.edit(guild, { name: "FREE LAMPS" }, by);
	return { mallory, raiders, accomplices, victims };
}

function joinedAt(world: World, guild: Guild, member: Member, at: number) {
	member.joined_at = new Date(at).toISOString();
	world.members.edit(guild, member, { nick: null });
}

export const allow = (id: string, bits: bigint): Overwrite => ({ id, type: 0, allow: String(bits), deny: "0" });
export const deny = (id: string, bits: bigint): Overwrite => ({ id, type: 0, allow: "0", deny: String(bits) });
