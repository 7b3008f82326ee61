// Reading a guild from Discord, with the real connection.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { readGuildState } from "../../../src/bot/guild-documents/read/read-guild.ts";
import { StoreUnavailable } from "../../../src/bot/store/unavailable.ts";
import { emojiPicture, type PictureReference } from "../../../src/discord/rest/pictures.ts";
import { partNames } from "../../../src/guild-document/format/document.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { startConnection } from "../../support/connection.ts";
import { testWith } from "../../support/test-with.ts";
import { present, until } from "../../support/until.ts";
import { memberNamed } from "../../support/world.ts";

const worldTest = testWith(() => startGuild());

const webhooksRoute = "GET /guilds/:guild_id/webhooks";

async function startGuild(prepare: (simulator: Simulator) => void = () => {}) {
	const world = await startConnection(prepare);
	await until("the bot is ready", () => world.connection.ready);
	await until("all members are loaded", () =>
		world.connection.guilds.every((one) => world.connection.hasAllMembers(one)),
	);
	const { id } = world.simulator.guild("The Cooks");
	const guild = present(world.connection.guilds.find((one) => one.id === id));
	/** Paths of the requests from now on. */
	const requested: string[] = [];
	world.connection.discord.rest.on("response", ({ path }) => requested.push(path));
	return { ...world, guild, requested };
}

test("every part of a guild is read", async () => {
	await using world = await startGuild(({ world, guild, user }) => {
		const cooks = guild("The Cooks");
		const channel = present([...cooks.channels.values()][0]);
		world.webhooks.add(channel, { name: "news" });
		const mona = world.users.get(user("mona_lisa").id);
		if (mona) world.bans.add(cooks, mona);
	});
	const { guild, connection, simulator } = world;
	const { state, unreadable } = await readGuildState(guild, partNames, { connection });
	const cooks = simulator.guild("The Cooks");
	expect(unreadable).toEqual([]);
	expect(state.guild.name).toBe("The Cooks");
	expect(state.guild.roles.map(({ id }) => id).sort()).toEqual([...cooks.roles.keys()].sort());
	expect(state.channels.map(({ id }) => id).sort()).toEqual([...cooks.channels.keys()].sort());
	expect(state.automod).toEqual([]);
	expect(state.events).toEqual([]);
	expect(state.webhooks?.map(({ name }) => name)).toEqual(["news"]);
	expect(state.bans?.map(({ user }) => user.username)).toEqual(["mona_lisa"]);
	expect(state.members).toHaveLength(cooks.members.size);
	for (const { id, roles } of state.members ?? [])
		expect(roles.toSorted()).toEqual(cooks.members.get(id)?.roles.toSorted() ?? []);
	// Only communities have them.
	expect(state.welcomeScreen).toBeUndefined();
	expect(state.onboarding).toBeUndefined();
	expect(state.pictures.size).toBe(0);
});

worldTest("parts that are not wanted are not requested", async ({ guild, connection, requested }) => {
	const { state } = await readGuildState(guild, ["roles"], { connection });
	expect(requested.toSorted()).toEqual([`/guilds/${guild.id}`, `/guilds/${guild.id}/channels`]);
	expect(state.members).toBeUndefined();
	expect(state.webhooks).toBeUndefined();
});

test("tokens and URLs of webhooks are dropped, and webhooks that nobody can post with are left out", async () => {
	await using world = await startGuild(({ world, guild }) => {
		const channel = present([...guild("The Cooks").channels.values()][0]);
		world.webhooks.add(channel, { name: "news" });
		world.webhooks.add(channel, { name: "followed", type: 2 });
	});
	const { guild, connection, simulator } = world;
	const { state } = await readGuildState(guild, ["webhooks"], { connection });
	const [webhook, ...others] = state.webhooks ?? [];
	expect(others).toEqual([]);
	const [stored] = simulator.world.webhooks.list({ guild_id: guild.id }).filter(({ name }) => name === "news");
	expect(stored?.token).toBeString();
	expect(JSON.stringify(webhook)).not.toContain(String(stored?.token));
	expect(webhook).not.toHaveProperty("token");
	expect(webhook).not.toHaveProperty("url");
});

test("parts that the bot may not read are named, and nothing is requested in vain", async () => {
	await using world = await startGuild(({ world, guild }) => {
		const cooks = guild("The Cooks");
		const member = memberNamed({ guild: cooks }, "alpha");
		for (const id of [cooks.id, ...member.roles]) {
			const role = cooks.roles.get(id);
			if (role) world.roles.edit(cooks, role, { permissions: String(PermissionFlagsBits.ViewChannel) });
		}
	});
	const { guild, connection, requested } = world;
	const { state, unreadable } = await readGuildState(guild, partNames, { connection });
	expect(unreadable).toEqual([
		{ part: "automod", why: "the bot lacks MANAGE_GUILD" },
		{ part: "webhooks", why: "the bot lacks MANAGE_WEBHOOKS" },
		{ part: "bans", why: "the bot lacks BAN_MEMBERS" },
	]);
	expect(state.automod).toBeUndefined();
	expect(state.webhooks).toBeUndefined();
	expect(state.bans).toBeUndefined();
	expect(requested.toSorted()).toEqual([
		`/guilds/${guild.id}`,
		`/guilds/${guild.id}/channels`,
		`/guilds/${guild.id}/scheduled-events`,
	]);
});

worldTest("a part that Discord refuses is named; other errors are thrown", async ({ guild, connection, simulator }) => {
	simulator.faults.refuse(webhooksRoute, 50_013, { times: 1 });
	const read = () => readGuildState(guild, ["webhooks"], { connection });
	expect((await read()).unreadable).toEqual([{ part: "webhooks", why: "Discord does not let the bot read it" }]);
	simulator.faults.fail(webhooksRoute, 500, { times: 2 });
	expect(read()).rejects.toThrow();
});

worldTest("without the database, settings of the bot are named as unreadable", async ({ guild, connection }) => {
	const fail = async () => {
		throw new StoreUnavailable("down");
	};
	const { unreadable } = await readGuildState(guild, ["bot"], {
		connection,
		ownSettings: { read: fail, change: fail },
	});
	expect(unreadable).toEqual([{ part: "bot", why: expect.stringContaining("database") }]);
});

worldTest("members are not read before all of them are loaded", async ({ guild }) => {
	const connection = { hasAllMembers: () => false };
	expect(readGuildState(guild, ["members"], { connection })).rejects.toThrow("are still being loaded");
	const { state } = await readGuildState(guild, ["roles"], { connection });
	expect(state.members).toBeUndefined();
});

test("bans are read page by page", async () => {
	await using world = await startGuild(({ world, guild }) => {
		for (let at = 0; at < 1_001; at += 1) world.bans.add(guild("The Cooks"), world.users.add({ username: `b${at}` }));
	});
	const { guild, connection } = world;
	const { state } = await readGuildState(guild, ["bans"], { connection });
	expect(new Set(state.bans?.map(({ user }) => user.id)).size).toBe(1_001);
});

test("hashes of pictures come from the source, and missing ones are named", async () => {
	await using world = await startGuild(({ world, guild, user }) => {
		const mona = world.users.get(user("mona_lisa").id);
		if (mona) world.emojis.add(guild("The Cooks"), mona, { name: "soup" });
	});
	const { guild, connection } = world;
	const asked: PictureReference[][] = [];
	const hash = "0".repeat(32);
	const pictures = {
		hashesOf: async (references: readonly PictureReference[]) => {
			asked.push([...references]);
			return { hashes: new Map([["1", hash]]), missing: "1 is missing" };
		},
	};
	const { state, unreadable } = await readGuildState(guild, ["emojis"], { connection, pictures });
	expect(asked).toEqual([state.guild.emojis.map(({ id, animated = false }) => emojiPicture(String(id), animated))]);
	expect(state.guild.emojis.map(({ name }) => name)).toContain("soup");
	expect(state.pictures.get("1")).toBe(hash);
	expect(unreadable).toEqual([{ part: "emojis", why: "1 is missing" }]);
});

test("welcome screen and onboarding of a community are read", async () => {
	await using world = await startGuild(({ world, guild }) => {
		world.guilds.edit(guild("The Cooks"), { features: ["COMMUNITY"] });
	});
	const { guild, connection, simulator } = world;
	const read = () => readGuildState(guild, ["welcome_screen", "onboarding"], { connection });
	const never = await read();
	expect(never.unreadable).toEqual([]);
	expect(never.state.welcomeScreen).toEqual({ description: null, welcome_channels: [] });
	expect(never.state.onboarding).toMatchObject({ enabled: false, prompts: [] });
	const general = simulator.channel("The Cooks/general");
	await connection.discord.rest.patch(`/guilds/${guild.id}/welcome-screen`, {
		body: { enabled: true, description: "Hello", welcome_channels: [{ channel_id: general.id, description: "Talk" }] },
	});
	expect((await read()).state.welcomeScreen).toMatchObject({
		description: "Hello",
		welcome_channels: [{ channel_id: general.id }],
	});
});

test("a welcome screen that is off needs MANAGE_GUILD, and is not requested without it", async () => {
	await using world = await startGuild(({ world, guild }) => {
		const cooks = guild("The Cooks");
		world.guilds.edit(cooks, { features: ["COMMUNITY"] });
		const member = memberNamed({ guild: cooks }, "alpha");
		for (const id of [cooks.id, ...member.roles]) {
			const role = cooks.roles.get(id);
			const permissions = String(PermissionFlagsBits.ViewChannel);
			if (role) world.roles.edit(cooks, role, { permissions });
		}
	});
	const { guild, connection, requested } = world;
	const { unreadable } = await readGuildState(guild, ["welcome_screen"], { connection });
	expect(unreadable).toEqual([{ part: "welcome_screen", why: "the bot lacks MANAGE_GUILD" }]);
	expect(requested).not.toContain(`/guilds/${guild.id}/welcome-screen`);
});
