// Reactions: adding, removing and listing them, with their permissions.

import { expect } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { connect, testWith } from "../../support.ts";

const thumb = encodeURIComponent("👍");

/** A message of ada's. */
const test = testWith(({ world, channel, ada }) => {
	const message = world.messages.add(channel, ada, { content: "soup" });
	const path = `/channels/${channel.id}/messages/${message.id}`;
	return { message, path, reactions: `${path}/reactions` };
});

test("discord.js adds and removes a reaction, with events", async ({ message, channel, simulator }) => {
	await using bot = await connect(simulator);
	const found = await bot.client.channels.fetch(channel.id);
	if (!found?.isTextBased()) throw new Error("expected a text channel");
	const fetched = await found.messages.fetch(message.id);
	const reaction = await fetched.react("👍");
	expect(message.reactions).toEqual([{ emoji: { id: null, name: "👍" }, userIds: [simulator.bot("alpha").id] }]);
	const added = await bot.event("MESSAGE_REACTION_ADD");
	expect(added).toMatchObject({
		user_id: simulator.bot("alpha").id,
		message_id: message.id,
		guild_id: channel.guild_id,
		emoji: { id: null, name: "👍" },
		message_author_id: simulator.user("ada").id,
		member: { user: { username: "alpha" } },
	});
	await reaction.users.remove();
	expect(message.reactions).toEqual([]);
	expect(await bot.event("MESSAGE_REACTION_REMOVE")).toMatchObject({
		user_id: simulator.bot("alpha").id,
		emoji: { name: "👍" },
	});
});

test("removing others' reactions needs MANAGE_MESSAGES", async ({ message, reactions, simulator, alpha, as }) => {
	await using bot = await connect(simulator);
	const zoe = as("zoe");
	for (const emoji of ["👍", "❤️", "🍞"]) await zoe("PUT", `${reactions}/${encodeURIComponent(emoji)}/@me`);
	const one = `${reactions}/${thumb}/${simulator.user("zoe").id}`;
	expect((await zoe("DELETE", one)).code).toBe(50013);
	expect((await zoe("DELETE", reactions)).code).toBe(50013);
	expect((await zoe("DELETE", `${reactions}/${thumb}`)).code).toBe(50013);
	expect((await alpha("DELETE", one)).status).toBe(204);
	expect(message.reactions.map(({ emoji }) => emoji.name)).toEqual(["❤️", "🍞"]);
	expect((await alpha("DELETE", one)).code).toBe(10014);
	const bread = encodeURIComponent("🍞");
	expect((await alpha("DELETE", `${reactions}/${bread}`)).status).toBe(204);
	await bot.event("MESSAGE_REACTION_REMOVE_EMOJI", ({ emoji }) => (emoji as { name: string }).name === "🍞");
	expect((await alpha("DELETE", reactions)).status).toBe(204);
	await bot.event("MESSAGE_REACTION_REMOVE_ALL");
	expect(message.reactions).toEqual([]);
});

test("a message has its reactions, and whether the reader reacted", async ({ path, reactions, simulator, as }) => {
	const zoe = as("zoe");
	const ada = as("ada");
	expect((await ada("GET", path)).json()).not.toHaveProperty("reactions");
	await zoe("PUT", `${reactions}/${thumb}/@me`);
	await zoe("PUT", `${reactions}/${thumb}/@me`);
	for (const [reader, me] of [
		[zoe, true],
		[ada, false],
	] as const)
		expect((await reader("GET", path)).json().reactions).toMatchObject([
			{ emoji: { id: null, name: "👍" }, count: 1, me },
		]);
	expect(simulator.journal.entries().filter(({ method }) => method === "PUT")).toHaveLength(1);
});

test("users who reacted are listed in pages, ordered by id", async (given) => {
	const { channel, message, reactions, simulator, alpha } = given;
	const names = ["zoe", "ada", "liwei"];
	const ids = names.map((name) => simulator.user(name).id);
	for (const id of ids) {
		const user = simulator.world.users.get(id);
		if (user) simulator.world.reactions.add(channel, message, user, { id: null, name: "👍" });
	}
	const sorted = ids.toSorted();
	const page = async (query: string) =>
		(await alpha("GET", `${reactions}/${thumb}?${query}`)).json<{ id: string }[]>().map(({ id }) => id);
	expect(await page("limit=2")).toEqual(sorted.slice(0, 2));
	expect(await page(`limit=2&after=${sorted[1]}`)).toEqual(sorted.slice(2));
	const other = encodeURIComponent("🍞");
	expect((await alpha("GET", `${reactions}/${other}`)).code).toBe(10014);
});

test("super reactions have their own count, colors, list and events", async (given) => {
	const { channel, message, path, reactions, user, alpha, ...more } = given;
	const { world, simulator } = more;
	await using bot = await connect(simulator);
	const emoji = { id: null, name: "👍" };
	const [zoe, ada] = [user("zoe"), user("ada")];
	const events = ["MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE"] as const;
	world.reactions.add(channel, message, zoe, emoji, true);
	world.reactions.add(channel, message, ada, emoji);
	world.reactions.add(channel, message, ada, emoji, true);
	const shown = async () => (await alpha("GET", path)).json().reactions;
	const burst_colors = expect.arrayContaining([expect.stringMatching(/^#[0-9a-f]{6}$/)]);
	expect(await shown()).toEqual([
		{ emoji, count: 3, count_details: { burst: 2, normal: 1 }, me: false, me_burst: false, burst_colors },
	]);
	const ids = async (query = "") =>
		(await alpha("GET", `${reactions}/${thumb}${query}`)).json<{ id: string }[]>().map(({ id }) => id);
	expect(await ids()).toEqual([ada.id]);
	expect(await ids("?type=0")).toEqual([ada.id]);
	expect(await ids("?type=1")).toEqual([zoe.id, ada.id].toSorted());
	const one = `${reactions}/${thumb}/${zoe.id}`;
	expect((await alpha("DELETE", one)).status).toBe(204);
	expect(await ids("?type=1")).toHaveLength(2);
	world.reactions.remove(channel, message, zoe, emoji, true);
	for (const event of events) expect(await bot.event(event)).toMatchObject({ user_id: zoe.id, burst: true, type: 1 });
	expect(await bot.event(events[0])).toMatchObject({ burst_colors });
	const normal = await bot.event(events[0], ({ burst }) => burst === false);
	expect(normal).toMatchObject({ user_id: ada.id, type: 0 });
	expect(normal).not.toHaveProperty("burst_colors");
	expect((await alpha("DELETE", reactions)).status).toBe(204);
	expect(await shown()).toBeUndefined();
});

test("an invalid emoji or one of another guild gets 10014", async ({ reactions, as }) => {
	const ada = as("ada");
	for (const emoji of ["x", "👍👍", "bread:123456789012345678", "%ff"])
		expect((await ada("PUT", `${reactions}/${emoji === "%ff" ? emoji : encodeURIComponent(emoji)}/@me`)).code).toBe(
			10014,
		);
	expect((await ada("PUT", `${reactions}/${encodeURIComponent("❤")}/@me`)).status).toBe(204);
});

test("a reaction with an unknown custom emoji can be repeated by its id", async (given) => {
	const { channel, message, reactions, simulator, as, user } = given;
	const zoe = user("zoe");
	const emoji = { id: "123456789012345678", name: "bread" };
	simulator.world.reactions.add(channel, message, zoe, emoji);
	const ada = as("ada");
	await ada("PUT", `${reactions}/renamed:${emoji.id}/@me`);
	expect(message.reactions).toEqual([{ emoji, userIds: [zoe.id, simulator.user("ada").id] }]);
});

test("a message has at most 20 emoji, and repeating one does not need ADD_REACTIONS", async (given) => {
	const { channel, message, reactions, deny, guild, as } = given;
	const ada = as("ada");
	const zoe = as("zoe");
	const emoji = Array.from({ length: 21 }, (_, index) => encodeURIComponent(String.fromCodePoint(0x1f600 + index)));
	for (const one of emoji.slice(0, 20)) expect((await ada("PUT", `${reactions}/${one}/@me`)).status).toBe(204);
	const more = await ada("PUT", `${reactions}/${emoji[20]}/@me`);
	expect(more.code).toBe(30010);
	await ada("DELETE", `${reactions}/${emoji[19]}/@me`);
	deny(channel, PermissionFlagsBits.AddReactions, guild.id);
	const refused = await zoe("PUT", `${reactions}/${emoji[20]}/@me`);
	expect(refused.code).toBe(50013);
	const joined = await zoe("PUT", `${reactions}/${emoji[0]}/@me`);
	expect(joined.status).toBe(204);
	expect(message.reactions[0]?.userIds).toHaveLength(2);
});
