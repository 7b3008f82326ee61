// What commands announce in channels, and when that is removed. Kills between the steps: test/bot/kills.

import { expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { Announcements } from "../../../src/bot/moderation/announcements.ts";
import { StoreUnavailable } from "../../../src/bot/store/unavailable.ts";
import type { InjectedFault } from "../../../src/simulator/rest/faults.ts";
import { render } from "../../../src/texts/texts.ts";
import { connectTo } from "../../support/mcp.ts";
import { onBoth, type Place } from "../../support/stores.ts";
import { testWith } from "../../support/test-with.ts";
import { until } from "../../support/until.ts";
import { grant, startFeature, withSql } from "../features/running-feature.ts";
import { general, moderator, startModerationWorld } from "./moderation-world.ts";

const lockTest = testWith(start);

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

lockTest("a lock by a command is announced in the channel until it is unlocked, by whomever", async (world) => {
	expect(await world.run("lock")).toStartWith("Locked");
	expect(world.shown()).toEqual([locked]);
	const { text } = await world.mcp.call("lock_channel", { channel_ids: [world.channelId], unlock: true });
	expect(text).toStartWith("Unlocked");
	await until("the announcement is gone", () => world.shown().length === 0);
});

lockTest("a lock by an assistant, and by a command that says so, is not announced", async (world) => {
	const lock = { channel_ids: [world.channelId] };
	await world.mcp.call("lock_channel", lock);
	await world.mcp.call("lock_channel", { ...lock, unlock: true });
	expect(await world.run("lock", { announce: false })).toStartWith("Locked");
	expect(world.simulator.requests.list(world.post)).toEqual([]);
});

lockTest("a lock holds without its announcement, and the answer says so", async (world) => {
	world.simulator.faults.refuse(world.post, 50013);
	const text = await world.run("lock");
	expect(text).toStartWith("Locked");
	expect(text).toContain(`It was not announced in <#${world.channelId}>: Discord refuses: the bot lacks a permission`);
	await expect(world.simulator.user("zoe").say(general, "hello")).rejects.toThrow("Missing Permissions");
	expect(world.shown()).toEqual([]);
	expect(await world.run("unlock")).toStartWith("Unlocked");
});

test("a forum is locked without an announcement, which it cannot show, and the answer does not mention one", async () => {
	await using world = await start();
	const forum = world.simulator.world.channels.add(world.guild, { name: "ideas", type: ChannelType.GuildForum });
	expect(await world.run("lock", { channel: forum.id })).toBe(
		`Locked <#${forum.id}>: members can no longer write or speak there.\nCase 1.`,
	);
	expect(world.simulator.requests.list(`POST /channels/${forum.id}/messages`)).toEqual([]);
});

lockTest("the locks of many channels are announced, in five of them at a time", async (world) => {
	const { simulator, guild } = world;
	const category = simulator.world.channels.add(guild, { name: "many", type: ChannelType.GuildCategory });
	const channels = Array.from({ length: 7 }, (_, index) =>
		simulator.world.channels.add(guild, { name: `many-${index}`, parent_id: category.id }),
	);
	const sent = () => channels.flatMap(({ id }) => simulator.world.messages.in(id)).length;
	const faults = channels.map(({ id }) => simulator.faults.stall(`POST /channels/${id}/messages`));
	const waiting = () => faults.filter(({ hits }) => hits > 0).length;
	const answer = world.run("lock", { channel: category.id });
	await until("five are on their way", () => waiting() === 5);
	for (let calls = 0; calls < 5; calls++) await world.mcp.call("get_recent_messages", { channel_id: world.channelId });
	expect([waiting(), sent()]).toEqual([5, 0]);
	for (const fault of faults) fault.release();
	expect(await answer).toStartWith("Locked");
	expect(sent()).toBe(7);
});

lockTest("channels that cannot be told for the same reason are named in one line", async (world) => {
	const { simulator, guild } = world;
	const category = simulator.world.channels.add(guild, { name: "two", type: ChannelType.GuildCategory });
	const [one, two] = ["one", "two"].map((name) =>
		simulator.world.channels.add(guild, { name, parent_id: category.id }),
	);
	simulator.faults.refuse("POST /channels/:channel_id/messages", 50013);
	const lines = (await world.run("lock", { channel: category.id })).split("\n");
	expect(lines.slice(2)).toEqual([
		`It was not announced in <#${one?.id}>, <#${two?.id}>: Discord refuses: the bot lacks a permission, or its role is too low.`,
	]);
});

lockTest("an announcement that Discord does not confirm is sent once, and the answer says so", async (world) => {
	world.simulator.faults.drop(world.post, { when: "after" });
	expect(await world.run("lock")).toContain("Discord did not say whether it was announced in");
	expect(world.shown()).toEqual([locked]);
});

lockTest("an announcement that is still there after a restart goes with the lock", async (world) => {
	await world.run("lock");
	await world.stop();
	await world.start();
	expect(world.shown()).toEqual([locked]);
	expect(await world.run("unlock")).toStartWith("Unlocked");
	await until("the announcement is gone", () => world.shown().length === 0);
});

lockTest("slow mode is announced if asked for, in the guild's language, until somebody changes it", async (world) => {
	const { simulator, guild, channel } = world;
	simulator.world.guilds.edit(guild, { preferred_locale: "de" });
	await world.run("slowmode", { interval: "10s" });
	expect(world.shown()).toEqual([]);
	await world.run("slowmode", { interval: "2m", announce: true });
	expect(world.shown()).toEqual(["🐌 Der Slow-Modus ist an: Warte zwischen zwei Nachrichten 2 Minuten."]);
	simulator.world.channels.edit(channel as never, { rate_limit_per_user: 5 });
	await until("the announcement is gone", () => world.shown().length === 0);
});

lockTest("raid mode is announced once where the command is used, until it is off", async (world) => {
	expect(await world.run("raid on", { announce: true })).toContain("Raid mode is on");
	expect(world.shown()).toEqual([expect.stringContaining("Raid mode is on, to protect this server.")]);
	expect(await world.run("raid on", { slowmode: 60, announce: true })).toContain("Raid mode is on");
	expect(world.shown()).toHaveLength(1);
	expect(await world.run("raid off")).toContain("Raid mode is off");
	await until("the announcement is gone", () => world.shown().length === 0);
	await world.run("raid on", { announce: true });
	expect(world.shown()).toHaveLength(1);
});

lockTest("a purge says in the channel how many messages are gone", async (world) => {
	for (const text of ["one", "two"]) await world.simulator.user("zoe").say(general, text);
	expect(await world.run("purge latest", { count: 2, announce: true })).toStartWith("Deleted 2");
	expect(world.shown()).toEqual(["🧹 The moderators have deleted 2 messages here."]);
	await world.run("purge latest", { count: 1 });
	expect(world.shown()).toEqual([]);
});

/** Announcements alone. What `announce` says is over at once, because raid mode is off. */
async function startAlone() {
	let announcements: Announcements | undefined;
	let isAway = false;
	const world = await startFeature({
		create(options) {
			const created = new Announcements({ ...options, backOffMs: [1, 4], arrivedAfterMs: 5 });
			announcements = created;
			return {
				tools: [],
				attach: (client) => created.attach(client),
				start: () => created.start(),
				close: () => created.close(),
			};
		},
		store: (store) =>
			withSql(store, (...statement) =>
				isAway ? Promise.reject(new StoreUnavailable("for a test")) : store.sql(...statement),
			),
	});
	const { simulator } = world;
	const { id } = simulator.channel(general);
	const announce = async (action: "raid_on" | "lock", given: { isAway?: boolean } = {}) => {
		const guild = world.connection.guilds.find((one) => one.id === world.guild.id);
		if (!guild || !announcements) throw new Error("the bot has its guild");
		isAway = given.isAway ?? false;
		const draft = { action, userIds: [], channelIds: action === "lock" ? [id] : [] };
		const notes = await announcements.after({ guild, draft, args: {}, place: id });
		isAway = false;
		return notes;
	};
	const shown = () =>
		simulator.world.messages.in(id).filter(({ author }) => author.id === simulator.bot("alpha").id).length;
	const rows = async () => (await world.store.sql`SELECT id FROM announcements`).length;
	const removal = "DELETE /channels/:channel_id/messages/:message_id";
	return Object.assign(world, { post: `POST /channels/${id}/messages`, channelId: id, announce, shown, rows, removal });
}

test.each<[string, (world: Awaited<ReturnType<typeof startAlone>>) => InjectedFault]>([
	["whose removal Discord refuses", ({ simulator, removal }) => simulator.faults.refuse(removal, 50013, { times: 2 })],
	["whose removal fails", ({ simulator, removal }) => simulator.faults.fail(removal, 500, { times: 2 })],
	[
		"for which the bot may not look",
		({ simulator, post, channelId }) => {
			simulator.faults.drop(post, { when: "after" });
			return simulator.faults.refuse(`GET /channels/${channelId}/messages`, 50001, { times: 2 });
		},
	],
])("an announcement %s is removed later", async (_, prepare) => {
	await using world = await startAlone();
	const fault = prepare(world);
	await world.announce("raid_on");
	await until("it is gone, and its row", async () => world.shown() === 0 && (await world.rows()) === 0);
	expect(fault.hits).toBe(2);
});

test.each([10003, 10008])("an announcement that is not there any more is forgotten: code %i", async (code) => {
	await using world = await startAlone();
	world.simulator.faults.refuse(world.removal, code, { status: 404, times: 1 });
	await world.announce("raid_on");
	await until("its row is gone", async () => (await world.rows()) === 0);
	expect(world.shown()).toBe(1);
});

test.each([
	["raid_on", "It was not announced in <#ID>: REASON", "In <#ID> wurde es nicht mitgeteilt: GRUND"],
	["lock", "It was not announced: REASON", "Es wurde nicht mitgeteilt: GRUND"],
] as const)("without the database, nothing is announced after %s, and the note says so", async (action, en, de) => {
	await using world = await startAlone();
	const reasons = {
		ID: world.channelId,
		REASON: "the bot's database is unavailable.",
		GRUND: "Die Datenbank des Bots ist nicht erreichbar.",
	};
	const full = (text: string) => Object.entries(reasons).reduce((all, [name, value]) => all.replace(name, value), text);
	const notes = await world.announce(action, { isAway: true });
	expect(notes.map((note) => [render(note, "en"), render(note, "de")])).toEqual([[full(en), full(de)]]);
	expect(world.shown()).toBe(0);
	expect(world.logged.lines.filter((line) => line.includes('"error"'))).toEqual([]);
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
