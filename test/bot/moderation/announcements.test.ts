// What commands announce in channels, and when that is removed. Kills between the steps: test/bot/kills.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { connectTo } from "../../support/mcp.ts";
import { onBoth, type Place } from "../../support/stores.ts";
import { until } from "../../support/until.ts";
import { grant } from "../features/running-feature.ts";
import { general, moderator, startModerationWorld } from "./moderation-world.ts";

const { ManageChannels, ManageGuild, ManageMessages, ManageRoles } = PermissionFlagsBits;

async function start(place?: Place) {
	const world = await startModerationWorld(place);
	const { simulator } = world;
	grant(simulator, "Staff", ManageChannels, ManageGuild, ManageMessages, ManageRoles);
	const { id, channel } = simulator.channel(general);
	/** Uses a slash command in #general, and confirms it if asked. Resolves with the last answer. */
	const run = async (name: string, values: Record<string, string | number | boolean> = {}) => {
		const reply = await (await simulator.user(moderator).run(general, name, values)).reply();
		const isAsked = () => reply.content.includes("Nothing has been done yet");
		if (!isAsked()) return reply.content;
		await simulator.user(moderator).press(reply, "Do it");
		return until("the answer", () => !isAsked() && reply.content);
	};
	const shown = () => world.answers().map(({ content }) => content);
	const mcp = await connectTo(world.bot.url);
	return Object.assign(world, { channelId: id, channel, post: `POST /channels/${id}/messages`, run, shown, mcp });
}

const locked = "🔒 The moderators have locked this channel: members cannot write here for now.";

test("a lock by a command is announced in the channel until it is unlocked, by whomever", async () => {
	await using world = await start();
	expect(await world.run("lock")).toStartWith("Locked");
	expect(world.shown()).toEqual([locked]);
	const { text } = await world.mcp.call("lock_channel", { channel_ids: [world.channelId], unlock: true });
	expect(text).toStartWith("Unlocked");
	await until("the announcement is gone", () => world.shown().length === 0);
});

test("a lock by an assistant, and by a command that says so, is not announced", async () => {
	await using world = await start();
	const lock = { channel_ids: [world.channelId] };
	await world.mcp.call("lock_channel", lock);
	await world.mcp.call("lock_channel", { ...lock, unlock: true });
	expect(await world.run("lock", { announce: false })).toStartWith("Locked");
	expect(world.simulator.requests.list(world.post)).toEqual([]);
});

test("a lock holds without its announcement, and the answer says so", async () => {
	await using world = await start();
	world.simulator.faults.refuse(world.post, 50013);
	const text = await world.run("lock");
	expect(text).toStartWith("Locked");
	expect(text).toContain("It was done, but could not be announced in");
	await expect(world.simulator.user("zoe").say(general, "hello")).rejects.toThrow("Missing Permissions");
	expect(world.shown()).toEqual([]);
	expect(await world.run("unlock")).toStartWith("Unlocked");
});

test("an announcement that Discord does not confirm is sent once, and the answer says so", async () => {
	await using world = await start();
	world.simulator.faults.drop(world.post, { when: "after" });
	expect(await world.run("lock")).toContain("Discord did not say whether it was announced in");
	expect(world.shown()).toEqual([locked]);
});

test("an announcement that is still there after a restart goes with the lock", async () => {
	await using world = await start();
	await world.run("lock");
	await world.stop();
	await world.start();
	expect(world.shown()).toEqual([locked]);
	expect(await world.run("unlock")).toStartWith("Unlocked");
	await until("the announcement is gone", () => world.shown().length === 0);
});

test("slow mode is announced if asked for, in the guild's language, until somebody changes it", async () => {
	await using world = await start();
	const { simulator, guild, channel } = world;
	simulator.world.guilds.edit(guild, { preferred_locale: "de" });
	await world.run("slowmode", { interval: "10s" });
	expect(world.shown()).toEqual([]);
	await world.run("slowmode", { interval: "2m", announce: true });
	expect(world.shown()).toEqual(["🐌 Der Slow-Modus ist an: Warte zwischen zwei Nachrichten 2 Minuten."]);
	simulator.world.channels.edit(channel as never, { rate_limit_per_user: 5 });
	await until("the announcement is gone", () => world.shown().length === 0);
});

test("raid mode is announced where the command is used, until it is off", async () => {
	await using world = await start();
	expect(await world.run("raid on", { announce: true })).toContain("Raid mode is on");
	expect(world.shown()).toEqual([expect.stringContaining("Raid mode is on, to protect this server.")]);
	expect(await world.run("raid off")).toContain("Raid mode is off");
	await until("the announcement is gone", () => world.shown().length === 0);
});

test("a purge says in the channel how many messages are gone", async () => {
	await using world = await start();
	for (const text of ["one", "two"]) await world.simulator.user("zoe").say(general, text);
	expect(await world.run("purge latest", { count: 2, announce: true })).toStartWith("Deleted 2");
	expect(world.shown()).toEqual(["🧹 The moderators have deleted 2 messages here."]);
	await world.run("purge latest", { count: 1 });
	expect(world.shown()).toEqual([]);
});

onBoth((databases, kind) => {
	test(`what was announced in a channel that is deleted is forgotten, on ${kind}`, async () => {
		const place = await databases.place();
		await using world = await start(place);
		const { simulator, guild } = world;
		const gone = simulator.world.channels.add(guild, { name: "gone" });
		await world.run("slowmode", { interval: "10s", announce: true, channel: gone.id });
		expect(simulator.world.messages.in(gone.id)).toHaveLength(1);
		simulator.world.channels.remove(gone);
		await world.stop();
		await world.start();
		await until("it is forgotten", async () => (await place.look("SELECT id FROM announcements")).length === 0);
	});
});
