// The simulator with discord.js: logging in, events, and the calls of our tools.

import { describe, expect } from "bun:test";
import { GatewayIntentBits as Intent, TextChannel } from "discord.js";
import type { EventType } from "../../../src/simulator/world/state/events.ts";
import { testWith } from "../../support/test-with.ts";
import { until } from "../../support/until.ts";
import { as, connect, cooksOf, startSimulator, usualIntents } from "../support.ts";

const simulatorTest = testWith(() => startSimulator());

describe("logging in", () => {
	simulatorTest("its application, its guilds and the Gateway's URL can be fetched", async (simulator) => {
		await using bot = await connect(simulator);
		const application = await bot.client.application.fetch();
		expect(application.flags.has("GatewayMessageContent")).toBe(true);
		const own = await bot.client.guilds.fetch();
		expect(own.map(({ name, owner }) => `${name} ${owner}`)).toEqual(["The Cooks false"]);
		const { id } = simulator.guild("The Cooks");
		const guild = await bot.client.guilds.fetch({ guild: id, force: true, withCounts: true });
		expect(guild.approximateMemberCount).toBe(6);
		const alpha = as(simulator, simulator.bot("alpha"));
		for (const path of ["/gateway", "/gateway/bot"])
			expect((await alpha("GET", path)).json().url).toBe(`ws://127.0.0.1:${simulator.port}/socket`);
		const ada = as(simulator, simulator.user("ada"));
		expect((await ada("GET", "/gateway/bot")).code).toBe(20002);
		expect((await alpha("GET", "/oauth2/applications/@me")).json().name).toBe("alpha");
		expect((await ada("GET", "/users/@me")).json().username).toBe("ada");
	});
});

describe("events", () => {
	simulatorTest("a message from a person arrives with its author, member and mentions", async (simulator) => {
		await using bot = await connect(simulator);
		const own = simulator.bot("alpha").id;
		await simulator.user("jose.garcia").say("The Cooks/general", `<@${own}> hello`);
		expect(await bot.event("MESSAGE_CREATE")).toMatchObject({
			content: `<@${own}> hello`,
			guild_id: simulator.guild("The Cooks").id,
			author: { username: "jose.garcia" },
			member: { nick: "Chef José" },
			mentions: [{ id: own, member: { joined_at: expect.any(String) } }],
		});
	});

	simulatorTest("editing, deleting and typing are dispatched", async (simulator) => {
		await using bot = await connect(simulator);
		const ada = as(simulator, simulator.user("ada"));
		const said: string[] = [];
		for (const text of ["1", "2", "3"]) {
			const sent = await simulator.user("ada").say("The Cooks/general", text);
			said.push(sent.id);
		}
		const { id } = simulator.channel("The Cooks/general");
		const path = `/channels/${id}`;
		await ada("PATCH", `${path}/messages/${said[0]}`, { content: "one" });
		await ada("DELETE", `${path}/messages/${said[0]}`);
		await ada("POST", `${path}/typing`);
		const general = bot.client.channels.cache.get(id);
		if (!(general instanceof TextChannel)) throw new Error("general is a text channel");
		await general.bulkDelete(said.slice(1));
		expect(await bot.event("MESSAGE_UPDATE")).toMatchObject({ content: "one" });
		expect(await bot.event("MESSAGE_DELETE")).toMatchObject({ id: said[0] });
		expect(await bot.event("MESSAGE_DELETE_BULK")).toMatchObject({ ids: said.slice(1) });
		expect(await bot.event("TYPING_START")).toMatchObject({
			user_id: simulator.user("ada").id,
			member: { user: { username: "ada" } },
		});
	});

	simulatorTest("changes of roles, channels, members, bans and the guild are dispatched", async (simulator) => {
		await using bot = await connect(simulator);
		const { world } = simulator;
		const guild = simulator.guild("The Cooks");
		const doing = { actor: simulator.user("ada").id, reason: "because" };

		const role = world.roles.add(guild, { name: "New" }, doing);
		world.roles.edit(guild, role, { name: "Newer" });
		world.roles.remove(guild, role);
		const channel = world.channels.add(guild, { name: "new" });
		world.channels.edit(channel, { topic: "x" });
		world.channels.remove(channel);
		const user = world.users.add({ username: "guest" });
		const member = world.members.add(guild, user);
		world.members.edit(guild, member, { nick: "G" });
		const ban = world.bans.add(guild, user);
		world.bans.remove(guild, ban);
		world.guilds.edit(guild, { name: "The Chefs" });

		const named = (name: string) => (data: Record<string, unknown>) =>
			(data.role as { name?: string } | undefined)?.name === name;
		await bot.event("GUILD_ROLE_CREATE", named("New"));
		await bot.event("GUILD_ROLE_UPDATE", named("Newer"));
		expect(await bot.event("GUILD_ROLE_DELETE")).toEqual({ guild_id: guild.id, role_id: role.id });
		const entry = { action_type: 30, user_id: doing.actor, reason: "because" };
		const expected: [EventType, object][] = [
			["CHANNEL_CREATE", { name: "new", topic: null }],
			["CHANNEL_UPDATE", { topic: "x" }],
			["CHANNEL_DELETE", { id: channel.id }],
			["GUILD_MEMBER_ADD", { user: { username: "guest" } }],
			["GUILD_MEMBER_UPDATE", { nick: "G" }],
			["GUILD_MEMBER_REMOVE", { user: { id: user.id } }],
			["GUILD_BAN_ADD", { user: { id: user.id } }],
			["GUILD_BAN_REMOVE", { user: { id: user.id } }],
			["GUILD_UPDATE", { name: "The Chefs" }],
			["GUILD_AUDIT_LOG_ENTRY_CREATE", entry],
		];
		for (const [type, data] of expected) expect(await bot.event(type)).toMatchObject(data);
		expect(bot.client.guilds.cache.get(guild.id)?.name).toBe("The Chefs");
	});

	simulatorTest("a bot that joins or leaves a guild receives GUILD_CREATE or GUILD_DELETE", async (simulator) => {
		await using bot = await connect(simulator);
		const bakers = simulator.guild("The Bakers");
		const { world, user } = cooksOf(simulator);
		const given = { botPermissions: 8n };
		const member = world.members.add(bakers, user("alpha"), given);
		await until("the guild", () => bot.client.guilds.cache.has(bakers.id));
		expect(await bot.event("GUILD_CREATE", ({ id }) => id === bakers.id)).toMatchObject({
			members: [{ user: { username: "alpha" } }],
		});
		world.members.remove(bakers, member);
		expect(await bot.event("GUILD_DELETE")).toEqual({ id: bakers.id });
		world.guilds.remove(simulator.guild("The Cooks"));
		await until("no guild", () => bot.client.guilds.cache.size === 0);
	});

	simulatorTest("a bot receives no events of other guilds and hidden channels", async (simulator) => {
		await using bot = await connect(simulator);
		const staff = cooksOf(simulator).channelNamed("staff");
		await simulator.user("zoe").say("The Bakers/general", "elsewhere");
		simulator.world.channels.edit(staff, {
			permission_overwrites: [{ id: staff.guild_id, type: 0, allow: "0", deny: "1024" }],
		});
		await simulator.user("ada").say("The Cooks/staff", "hidden");
		await simulator.user("ada").say("The Cooks/general", "open");
		await bot.event("MESSAGE_CREATE", ({ content }) => content === "open");
		const heard = bot.events.filter(({ t }) => t === "MESSAGE_CREATE");
		expect(heard.map(({ d }) => d.content)).toEqual(["open"]);
	});

	simulatorTest("without the intents for content and members, neither is sent", async (simulator) => {
		await using bot = await connect(simulator, "alpha", [Intent.Guilds, Intent.GuildMessages]);
		const own = simulator.bot("alpha").id;
		simulator.world.members.add(simulator.guild("The Cooks"), simulator.world.users.add({ username: "guest" }));
		await simulator.user("ada").say("The Cooks/general", "to everyone");
		const last = `to <@${own}>`;
		await simulator.user("ada").say("The Cooks/general", last);
		await bot.event("MESSAGE_CREATE", ({ content }) => content === last);
		const heard = bot.events.filter(({ t }) => t === "MESSAGE_CREATE");
		expect(heard.map(({ d }) => d.content)).toEqual(["", last]);
		expect(bot.events.some(({ t }) => t === "GUILD_MEMBER_ADD")).toBe(false);
	});

	simulatorTest("a direct message has content even without the intent", async (simulator) => {
		await using bot = await connect(
			simulator,
			"alpha",
			usualIntents.filter((intent) => intent !== Intent.MessageContent),
		);
		const ada = as(simulator, simulator.user("ada"));
		const opened = await ada("POST", "/users/@me/channels", { recipient_id: simulator.bot("alpha").id });
		const { id } = opened.json<{ id: string }>();
		await ada("POST", `/channels/${id}/messages`, { content: "psst" });
		const told = await bot.event("MESSAGE_CREATE");
		expect(told).toMatchObject({ content: "psst", channel_id: id });
		expect(told.guild_id).toBeUndefined();
	});
});

describe("what our tools call", () => {});
