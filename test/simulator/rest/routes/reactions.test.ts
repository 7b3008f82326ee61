// Reactions: who may put which emoji on a message, and who takes it off.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { as, connect, type Simulator, startSimulator } from "../../support.ts";

const thumb = encodeURIComponent("👍");

async function written(simulator: Simulator) {
	const said = await simulator.user("ada").say("The Cooks/general", "soup");
	const channel = simulator.world.channels.get(said.channel_id);
	const message = simulator.world.messages.get(said.channel_id, said.id);
	if (!channel || !("position" in channel) || !message)
		throw new Error("it was just written");
	const path = `/channels/${channel.id}/messages/${message.id}`;
	return { channel, message, path, reactions: `${path}/reactions` };
}

function forbid(
	simulator: Simulator,
	channel: Awaited<ReturnType<typeof written>>["channel"],
	bits: bigint,
): void {
	simulator.world.channels.setOverwrite(channel, {
		id: channel.guild_id,
		type: 0,
		allow: "0",
		deny: String(bits),
	});
}

test("discord.js puts an emoji on a message and takes it off, and is told so", async () => {
	await using simulator = await startSimulator();
	await using bot = await connect(simulator);
	const { message, channel } = await written(simulator);
	const found = await bot.client.channels.fetch(channel.id);
	if (!found?.isTextBased()) throw new Error("it holds messages");
	const fetched = await found.messages.fetch(message.id);
	const reaction = await fetched.react("👍");
	expect(message.reactions).toEqual([
		{ emoji: { id: null, name: "👍" }, userIds: [simulator.bot("alpha").id] },
	]);
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

test("others' reactions are taken off by those who manage messages", async () => {
	await using simulator = await startSimulator();
	await using bot = await connect(simulator);
	const { message, reactions } = await written(simulator);
	const zoe = as(simulator, simulator.user("zoe"));
	const alpha = as(simulator, simulator.bot("alpha"));
	for (const emoji of ["👍", "❤️", "🍞"])
		await zoe("PUT", `${reactions}/${encodeURIComponent(emoji)}/@me`);
	const one = `${reactions}/${thumb}/${simulator.user("zoe").id}`;
	expect((await zoe("DELETE", one)).code).toBe(50013);
	expect((await zoe("DELETE", reactions)).code).toBe(50013);
	expect((await zoe("DELETE", `${reactions}/${thumb}`)).code).toBe(50013);
	expect((await alpha("DELETE", one)).status).toBe(204);
	expect(message.reactions.map(({ emoji }) => emoji.name)).toEqual(["❤️", "🍞"]);
	expect((await alpha("DELETE", one)).code).toBe(10014);
	const bread = encodeURIComponent("🍞");
	expect((await alpha("DELETE", `${reactions}/${bread}`)).status).toBe(204);
	await bot.event(
		"MESSAGE_REACTION_REMOVE_EMOJI",
		({ emoji }) => (emoji as { name: string }).name === "🍞",
	);
	expect((await alpha("DELETE", reactions)).status).toBe(204);
	await bot.event("MESSAGE_REACTION_REMOVE_ALL");
	expect(message.reactions).toEqual([]);
});

test("a message shows its reactions, and whether the reader is among them", async () => {
	await using simulator = await startSimulator();
	const { path, reactions } = await written(simulator);
	const zoe = as(simulator, simulator.user("zoe"));
	const ada = as(simulator, simulator.user("ada"));
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
	expect(
		simulator.journal.entries().filter(({ method }) => method === "PUT"),
	).toHaveLength(1);
});

test("who reacted is listed in the order of ids, a page at a time", async () => {
	await using simulator = await startSimulator();
	const { channel, message, reactions } = await written(simulator);
	const names = ["zoe", "ada", "liwei"];
	const ids = names.map((name) => simulator.user(name).id);
	for (const id of ids) {
		const user = simulator.world.users.get(id);
		if (user)
			simulator.world.reactions.add(channel, message, user, {
				id: null,
				name: "👍",
			});
	}
	const alpha = as(simulator, simulator.bot("alpha"));
	const sorted = ids.toSorted();
	const page = async (query: string) =>
		(await alpha("GET", `${reactions}/${thumb}?${query}`))
			.json<{ id: string }[]>()
			.map(({ id }) => id);
	expect(await page("limit=2")).toEqual(sorted.slice(0, 2));
	expect(await page(`limit=2&after=${sorted[1]}`)).toEqual(sorted.slice(2));
	const other = encodeURIComponent("🍞");
	expect((await alpha("GET", `${reactions}/${other}`)).code).toBe(10014);
});

test("what is no emoji, and an emoji of no guild here, is 10014", async () => {
	await using simulator = await startSimulator();
	const { reactions } = await written(simulator);
	const ada = as(simulator, simulator.user("ada"));
	for (const emoji of ["x", "👍👍", "bread:123456789012345678", "%ff"])
		expect(
			(
				await ada(
					"PUT",
					`${reactions}/${emoji === "%ff" ? emoji : encodeURIComponent(emoji)}/@me`,
				)
			).code,
		).toBe(10014);
	expect(
		(await ada("PUT", `${reactions}/${encodeURIComponent("❤")}/@me`)).status,
	).toBe(204);
});

test("an emoji of a guild that is on a message can be joined in, by its id", async () => {
	await using simulator = await startSimulator();
	const { channel, message, reactions } = await written(simulator);
	const zoe = simulator.world.users.get(simulator.user("zoe").id);
	if (!zoe) throw new Error("zoe has an account");
	const emoji = { id: "123456789012345678", name: "bread" };
	simulator.world.reactions.add(channel, message, zoe, emoji);
	const ada = as(simulator, simulator.user("ada"));
	await ada("PUT", `${reactions}/renamed:${emoji.id}/@me`);
	expect(message.reactions).toEqual([
		{ emoji, userIds: [zoe.id, simulator.user("ada").id] },
	]);
});

test("a message takes twenty emoji, and who may not add one joins in those there are", async () => {
	await using simulator = await startSimulator();
	const { channel, message, reactions } = await written(simulator);
	const ada = as(simulator, simulator.user("ada"));
	const zoe = as(simulator, simulator.user("zoe"));
	const emoji = Array.from({ length: 21 }, (_, index) =>
		encodeURIComponent(String.fromCodePoint(0x1f600 + index)),
	);
	for (const one of emoji.slice(0, 20))
		expect((await ada("PUT", `${reactions}/${one}/@me`)).status).toBe(204);
	const more = await ada("PUT", `${reactions}/${emoji[20]}/@me`);
	expect(more.code).toBe(30010);
	await ada("DELETE", `${reactions}/${emoji[19]}/@me`);
	forbid(simulator, channel, PermissionFlagsBits.AddReactions);
	const refused = await zoe("PUT", `${reactions}/${emoji[20]}/@me`);
	expect(refused.code).toBe(50013);
	const joined = await zoe("PUT", `${reactions}/${emoji[0]}/@me`);
	expect(joined.status).toBe(204);
	expect(message.reactions[0]?.userIds).toHaveLength(2);
});
