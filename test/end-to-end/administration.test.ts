// A long session of administration by tool calls alone: a community is set up from nothing, reordered, locked, searched,
// cleaned up, and mistakes are undone. In the end the guild is compared with the plan of it.

import { expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { permissionNames } from "../../src/discord/permissions.ts";
import { moderatorPermissions } from "../../src/simulator/seed.ts";
import type { Guild, GuildChannel, Member } from "../../src/simulator/world/state/entities.ts";
import { startWorld, type TestWorld } from "../support/world.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** From the top; each with what it permits. */
const rolePlan: readonly [name: string, permissions: readonly string[]][] = [
	["Council", ["KICK_MEMBERS", "MANAGE_MESSAGES", "MODERATE_MEMBERS"]],
	["Harbour Master", ["MANAGE_MESSAGES"]],
	["Pilot", ["MANAGE_THREADS"]],
	["Event Host", ["CREATE_EVENTS"]],
	["Builder", []],
	["Trader", []],
	["Smith", []],
	["Farmer", []],
	["Scout", []],
	["Bard", []],
	["Regular", []],
	["Newcomer", []],
	["Announcements", []],
	["Night Watch", []],
	["Quiet", []],
];

type Kind = "text" | "voice" | "stage" | "forum";

/** Each category with what is in it, in the order that people see: those to speak in come last. */
const channelPlan: readonly [category: string, channels: readonly [name: string, kind: Kind][]][] = [
	["Gate", named("text", "rules", "welcome", "news", "roles", "faq")],
	[
		"Market",
		[
			...named("text", "offers", "wanted", "prices", "auctions", "services"),
			...named("forum", "trades"),
			...named("voice", "Stall"),
		],
	],
	[
		"Tavern",
		[
			...named("text", "general", "pictures", "music", "games", "late-night"),
			...named("voice", "Table 1", "Table 2", "Table 3"),
			...named("stage", "Open Stage"),
		],
	],
	[
		"Workshop",
		[
			...named("text", "plans", "materials", "progress"),
			...named("forum", "ideas"),
			...named("voice", "Bench", "Yard"),
		],
	],
	["Council Hall", named("text", "council", "log", "cases", "votes")],
	["Archive", named("text", "old-news", "old-offers", "old-plans")],
];
const hidden = "Council Hall";

function named(kind: Kind, ...names: string[]): [string, Kind][] {
	return names.map((name) => [name, kind]);
}

const kinds: Record<Kind, ChannelType> = {
	text: ChannelType.GuildText,
	voice: ChannelType.GuildVoice,
	stage: ChannelType.GuildStageVoice,
	forum: ChannelType.GuildForum,
};

/** A guild with nothing in it but people, and the bot. */
async function foundGuild({ simulator, heard }: TestWorld) {
	const { world } = simulator;
	const owner = world.users.addPerson({ username: "founder" });
	const guild = world.guilds.add({ name: "Harbour", owner: owner.user });
	const alpha = world.users.get(simulator.bot("alpha").id);
	if (!alpha) throw new Error("alpha has an account");
	world.guilds.edit(guild, { features: ["COMMUNITY"] });
	world.members.add(guild, alpha, {
		botPermissions: moderatorPermissions | PermissionFlagsBits.ManageGuild | PermissionFlagsBits.CreateEvents,
	});
	const people: Member[] = [];
	for (let number = 1; number <= 30; number += 1) {
		const user = world.users.add({ username: `settler${number}` });
		people.push(world.members.add(guild, user));
	}
	await heard();
	return { guild, people, owner };
}

/** Calls tools in the guild, and expects each to succeed. */
function administrator({ call }: TestWorld, guild: Guild) {
	return async (tool: string, args: Record<string, unknown> = {}) => {
		const answer = await call(tool, { guild_id: guild.id, ...args });
		expect({ tool, args, ...answer }).toMatchObject({ isError: false });
		return answer.text;
	};
}

/** The id in an answer that names one thing. */
function idIn(text: string): string {
	const [, id] = /ID: (\d{17,20})/.exec(text) ?? [];
	if (!id) throw new Error(`no id in: ${text}`);
	return id;
}

/** The guild as its members would describe it; nothing of it comes from a tool. */
function describe(guild: Guild) {
	const channels = [...guild.channels.values()];
	const byPlace = (a: GuildChannel, b: GuildChannel) =>
		Number(isSpokenIn(a)) - Number(isSpokenIn(b)) || a.position - b.position;
	const inside = (id: string | null) =>
		channels
			.filter((one) => one.parent_id === id)
			.sort(byPlace)
			.map(({ name, type }) => [name, type]);
	const roleName = (id: string) => guild.roles.get(id)?.name ?? id;
	return {
		roles: [...guild.roles.values()]
			.filter(({ managed, id }) => !managed && id !== guild.id)
			.sort((a, b) => b.position - a.position)
			.map(({ name, permissions }) => [name, permissionNames(BigInt(permissions))]),
		categories: channels
			.filter(({ type }) => type === ChannelType.GuildCategory)
			.sort(byPlace)
			.map(({ name, id }) => [name, inside(id)]),
		withoutCategory: inside(null).filter(([, type]) => type !== ChannelType.GuildCategory),
		overwrites: Object.fromEntries(
			channels
				.filter(({ permission_overwrites: all }) => all.length > 0)
				.map(({ name, permission_overwrites: all }) => [
					name,
					all
						.map(({ id, type, allow, deny }) => ({
							who: type === 0 ? roleName(id) : guild.members.get(id)?.user.username,
							allow: permissionNames(BigInt(allow)),
							deny: permissionNames(BigInt(deny)),
						}))
						.sort((a, b) => String(a.who).localeCompare(String(b.who))),
				]),
		),
		members: Object.fromEntries(
			[...guild.members.values()].map(({ user, nick, roles }) => [
				user.username,
				{ nick, roles: roles.map(roleName).sort() },
			]),
		),
		bans: [...guild.bans.values()].map(({ user }) => user.username),
	};
}

function isSpokenIn({ type }: GuildChannel): boolean {
	return type === ChannelType.GuildVoice || type === ChannelType.GuildStageVoice;
}

test("a community of 40 channels and 15 roles is set up, changed and put right by tool calls alone", async () => {
	await using world = await startWorld();
	const { guild, people, owner } = await foundGuild(world);
	const act = administrator(world, guild);
	const person = (number: number) => {
		const found = people[number - 1];
		if (!found) throw new Error(`there is no settler ${number}`);
		return found;
	};
	const userId = (number: number) => person(number).user.id;

	// Roles: made in the order in which one thinks of them, then put in order.
	const roles = new Map<string, string>();
	const made = [...rolePlan].sort(([a], [b]) => a.localeCompare(b));
	for (const [name, permissions] of made) roles.set(name, idIn(await act("create_role", { name, permissions })));
	const role = (name: string) => roles.get(name) ?? name;
	const [top, ...others] = rolePlan.map(([name]) => role(name));
	await act("move_roles", { role_ids: others, below_role_id: top });
	await act("edit_role", { role_id: role("Council"), hoist: true, color: 255 });

	// Channels: 6 categories and 34 in them; all of one category made elsewhere first.
	const ids = new Map<string, string>();
	const id = (name: string) => ids.get(name) ?? name;
	for (const [category, channels] of channelPlan) {
		const view_role_ids = category === hidden ? [role("Council")] : undefined;
		const fields = { channel_type: "category", view_role_ids };
		ids.set(category, idIn(await act("create_channel", { name: category, ...fields })));
		for (const [name, channel_type] of channels)
			ids.set(
				name,
				idIn(
					await act("create_channel", {
						name,
						channel_type,
						category_id: id(category === "Archive" ? "Gate" : category),
					}),
				),
			);
	}
	expect(guild.channels.size).toBe(40);
	await act("move_channels", {
		channel_ids: ["old-news", "old-offers", "old-plans"].map(id),
		category_id: id("Archive"),
	});
	await act("move_channels", { channel_ids: [id("faq")], position: 0 });
	await act("move_channels", { channel_ids: ["rules", "welcome", "news", "roles", "faq"].map(id), position: 0 });

	// Who may do what: news are read, the archive is not written to, one council channel is for the Harbour Master, too.
	await act("set_channel_permissions", { channel_ids: [id("news")], target_ids: [guild.id], deny: ["SEND_MESSAGES"] });
	await act("copy_channel_permissions", { channel_id: id("news"), target_channel_ids: [id("old-news")] });
	const closed = await act("set_channel_permissions", {
		channel_ids: [id("Archive")],
		target_ids: [guild.id],
		deny: ["SEND_MESSAGES", "ADD_REACTIONS"],
	});
	expect(closed).toEndWith(
		"2 synced channel(s) follow: #old-offers, #old-plans; 1 not synced, with permissions of their own, stay: #old-news",
	);
	await act("copy_channel_permissions", { target_channel_ids: [id("old-news")] });
	await act("set_channel_permissions", {
		channel_ids: [id("log")],
		target_ids: [role("Harbour Master")],
		allow: ["VIEW_CHANNEL"],
	});

	// People: all begin as newcomers, some rise; one is silenced, and forgiven.
	const dry = await act("bulk_role_update", { role_id: role("Newcomer"), action: "add", bots: false, dry_run: true });
	expect(dry).toStartWith("Dry run: nothing was done.");
	for (let after: string | undefined, round = 0; round < 5; round += 1) {
		const text = await act("bulk_role_update", {
			role_id: role("Newcomer"),
			action: "add",
			bots: false,
			dry_run: false,
			after,
		});
		after = /next_after=(\d+)/.exec(text)?.[1];
		if (!after) break;
	}
	for (const [number, name] of [
		[1, "Council"],
		[2, "Harbour Master"],
		[3, "Pilot"],
		[4, "Builder"],
	] as const)
		await act("bulk_role_update", { user_ids: [userId(number)], role_id: role(name), action: "add" });
	await act("bulk_role_update", { user_ids: [userId(1)], role_id: role("Newcomer"), action: "remove" });
	await act("set_nickname", { user_id: userId(1), nickname: "The Mayor" });
	await act("timeout", { user_ids: [userId(5)], duration: "2h", reason: "noise" });
	await act("remove_timeout", { user_ids: [userId(5)] });

	// Talk; a channel is locked, and open again as it was before.
	const general = guild.channels.get(id("general"));
	if (!general) throw new Error("there is a general");
	const { world: platform } = world.simulator;
	const said = ["the lighthouse is lit", "cheap rum, click here", "cheap rum!"];
	for (const content of said) platform.messages.add(general, person(6).user, { content });
	platform.messages.add(general, owner.user, { content: "behave" });
	const before = structuredClone(general.permission_overwrites);
	await act("lock_channel", { channel_ids: [general.id], reason: "a raid" });
	await world.heard();
	expect(general.permission_overwrites).not.toEqual(before);
	await act("lock_channel", { channel_ids: [general.id], unlock: true });
	expect(general.permission_overwrites).toEqual(before);

	// What was said is found, and what should not have been is deleted.
	const found = await act("search_messages", { channel_ids: [general.id], text: "lighthouse" });
	expect(found).toContain("the lighthouse is lit");
	const rum = { channel_id: general.id, count: 50, text: "cheap rum" };
	expect(await act("delete_messages", { ...rum, dry_run: true })).toContain("Would delete 2 message(s)");
	expect(await act("delete_messages", rum)).toContain("Deleted 2 message(s)");
	const notice = idIn(await act("send_message", { channel_id: general.id, content: "Rum is sold at the market." }));
	await act("pin_message", { channel_id: general.id, message_id: notice });

	// Mistakes, undone: someone is banned, a channel and a role are gone, a name is wrong.
	await act("ban", { user_ids: [userId(6)], reason: "cheap rum" });
	await act("unban", { user_ids: [userId(6)] });
	await act("ban", { user_ids: [userId(7)], reason: "worse" });
	await act("delete_channel", { channel_id: id("pictures") });
	ids.set("pictures", idIn(await act("create_channel", { name: "pictures", category_id: id("Tavern") })));
	await act("move_channels", { channel_ids: [id("pictures")], position: 1 });
	await act("delete_role", { role_id: role("Quiet") });
	roles.set("Quiet", idIn(await act("create_role", { name: "Quiet" })));
	await act("edit_channel", { channel_id: id("prices"), name: "wrong" });
	await act("edit_channel", { channel_id: id("prices"), name: "prices" });

	// Who has not been here for a month leaves, if they never rose above newcomer.
	const away = [20, 21, 22, 4];
	for (const number of away) platform.members.setLastSeen(person(number), new Date(Date.now() - 40 * dayMs));
	const prune = { days: 30, include_role_ids: [role("Newcomer")] };
	expect(await act("prune_members", { ...prune, dry_run: true })).toContain("Would remove 3 member");
	expect(guild.members.size).toBe(30);
	await act("prune_members", { ...prune, dry_run: false });

	const newcomers = (number: number) => ![1, 6, 7, 20, 21, 22].includes(number);
	const more: Record<number, string> = { 1: "Council", 2: "Harbour Master", 3: "Pilot", 4: "Builder" };
	const denied = (...deny: string[]) => ({ who: "@everyone", allow: [], deny });
	const allowed = (who: string) => ({ who, allow: ["VIEW_CHANNEL"], deny: [] });
	const archived = [denied("ADD_REACTIONS", "SEND_MESSAGES")];
	const council = [denied("VIEW_CHANNEL"), allowed("alpha"), allowed("Council")];
	const byName = (...all: { who: string }[]) => all.sort((a, b) => a.who.localeCompare(b.who));
	expect<unknown>(describe(guild)).toEqual({
		roles: rolePlan.map(([name, permissions]) => [name, permissions]),
		categories: channelPlan.map(([category, channels]) => [
			category,
			channels.map(([name, kind]) => [name, kinds[kind]]),
		]),
		withoutCategory: [],
		overwrites: {
			news: [denied("SEND_MESSAGES")],
			Archive: archived,
			"old-news": archived,
			"old-offers": archived,
			"old-plans": archived,
			[hidden]: byName(...council),
			...Object.fromEntries(["council", "cases", "votes"].map((name) => [name, byName(...council)])),
			log: byName(...council, allowed("Harbour Master")),
		},
		members: {
			founder: { nick: null, roles: ["Newcomer"] },
			alpha: { nick: null, roles: ["alpha"] },
			...Object.fromEntries(
				people
					.map(({ user }, index) => [user.username, index + 1] as const)
					.filter(([, number]) => ![6, 7, 20, 21, 22].includes(number))
					.map(([name, number]) => [
						name,
						{
							nick: number === 1 ? "The Mayor" : null,
							roles: [...(newcomers(number) ? ["Newcomer"] : []), ...(more[number] ? [more[number]] : [])].sort(),
						},
					]),
			),
		},
		bans: ["settler7"],
	});
	const texts = platform.messages
		.in(general.id)
		.filter(({ type }) => type === 0)
		.map(({ content }) => content);
	expect(texts).toEqual(["the lighthouse is lit", "behave", "Rum is sold at the market."]);
});
