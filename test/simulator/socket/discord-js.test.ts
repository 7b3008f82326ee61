// The simulator with discord.js: logging in, events, and the calls of our tools.

import { describe, expect } from "bun:test";
import { GatewayIntentBits as Intent } from "discord.js";
import { simulatorTest } from "../../support/simulator.ts";
import { until } from "../../support/until.ts";
import { as, connect, cooksOf, usualIntents } from "../support.ts";

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
