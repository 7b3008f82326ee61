// The reaction tools.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { pagesOf } from "../../support/pages.ts";
import { denyBot, type TestWorld, userNamed, worldTest } from "../../support/world.ts";
import { startScene } from "../tool-rows/scene.ts";

function write({ simulator, guild }: TestWorld) {
	const { world } = simulator;
	const channel = world.channels.add(guild, { name: "notes" });
	const userOf = (name: string) => userNamed({ simulator }, name);
	const message = world.messages.add(channel, userOf("ada"), { content: "soup" });
	return { world, channel, message, userOf, at: { channel_id: channel.id, message_id: message.id } };
}

const bread = { id: "123456789012345678", name: "bread" };

worldTest("an existing reaction is joined in its own form, without ADD_REACTIONS", async (world) => {
	const { channel, message, at, userOf, ...made } = write(world);
	for (const emoji of [bread, { id: null, name: "❤️" }])
		made.world.reactions.add(channel, message, userOf("zoe"), emoji);
	await denyBot(world, channel, PermissionFlagsBits.AddReactions);
	for (const emoji of [bread.id, "❤"]) {
		await world.expectResult("add_reaction", { ...at, emoji });
	}
	expect(message.reactions.map(({ userIds }) => userIds.length)).toEqual([2, 2]);
	const refused = await world.call("add_reaction", { ...at, emoji: "👍" });
	expect(refused.text).toStartWith("The bot lacks ADD_REACTIONS in #notes");
});

worldTest.each(["<:bread:123456789012345678>", "bread:123456789012345678", bread.id])(
	"a guild's emoji is accepted as %s",
	async (world, emoji) => {
		const { channel, message, at, userOf, ...made } = write(world);
		made.world.reactions.add(channel, message, userOf("zoe"), bread);
		await world.heard();
		const { text } = await world.call("get_reactions", { ...at, emoji });
		expect(text).toContain(`(@zoe) | ID: ${userOf("zoe").id}`);
	},
);

worldTest("adding an existing reaction and removing a missing one are refused without a request", async (world) => {
	const { channel, message, at, userOf, ...made } = write(world);
	await world.heard();
	const call = (tool: string, args: object = {}) => world.call(tool, { ...at, emoji: "👍", ...args });
	expect((await call("remove_reaction")).text).toStartWith("The bot has not put 👍");
	expect((await call("remove_reaction", { everyone: true })).text).toStartWith("Nobody has put 👍");
	await call("add_reaction");
	expect((await call("add_reaction")).text).toContain("already");
	const { id } = userOf("zoe");
	expect((await call("remove_reaction", { user_id: id })).text).toStartWith(`The user ${id} has not put 👍`);
	made.world.reactions.add(channel, message, userOf("zoe"), { id: null, name: "👍" });
	expect(world.simulator.journal.entries()).toHaveLength(1);
});

worldTest("a Unicode emoji without an id is recognized", async (world) => {
	const { channel, message, at, userOf, ...made } = write(world);
	const { simulator } = world;
	made.world.reactions.add(channel, message, userOf("zoe"), { id: null, name: "👍" });
	const match = "GET /channels/*/messages/*";
	simulator.faults.rewrite(match, ({ body = "", ...answer }) => ({
		...answer,
		body: body.replaceAll('"id":null,', ""),
	}));
	const { text } = await world.call("remove_reaction", { ...at, emoji: "👍", everyone: true });
	expect(text).toStartWith("Removed 1 reaction(s) from ");
	expect(text).toEndWith("👍 1");
	expect(message.reactions).toEqual([]);
});

worldTest("without user_id, or with the bot's id, only the bot's own reaction is removed", async (world) => {
	const { channel, message, at, userOf, ...made } = write(world);
	const thumb = { id: null, name: "👍" };
	made.world.reactions.add(channel, message, userOf("zoe"), thumb);
	await world.heard();
	for (const user_id of [undefined, world.simulator.bot("alpha").id]) {
		await world.call("add_reaction", { ...at, emoji: "👍" });
		expect(message.reactions[0]?.userIds).toHaveLength(2);
		await world.call("remove_reaction", { ...at, emoji: "👍", ...(user_id && { user_id }) });
		expect(message.reactions).toEqual([{ emoji: thumb, userIds: [userOf("zoe").id] }]);
	}
});

worldTest("clear_reactions removes those with one emoji, and keeps the others", async (world) => {
	const { channel, message, at, userOf, ...made } = write(world);
	for (const name of ["👍", "🍞"]) made.world.reactions.add(channel, message, userOf("zoe"), { id: null, name });
	await world.heard();
	const { text } = await world.call("remove_reaction", { ...at, emoji: "👍", everyone: true });
	expect(text).toContain("Removed 1 reaction(s) from the message");
	expect(message.reactions.map(({ emoji }) => emoji.name)).toEqual(["🍞"]);
});

worldTest("who reacted is listed page by page", async (world) => {
	const { channel, message, at, userOf, ...made } = write(world);
	const names = ["zoe", "ada", "liwei"];
	for (const name of names) made.world.reactions.add(channel, message, userOf(name), { id: null, name: "👍" });
	await world.heard();
	const pages = await pagesOf(world.call, "get_reactions", { ...at, emoji: "👍", limit: 2 });
	const seen = pages.flatMap((page) => page.match(/(?<=\| ID: )\d+$/gm));
	expect(seen).toEqual(names.map((name) => userOf(name).id).toSorted());
});

worldTest("without an emoji, the reactions with all of them are listed", async (world) => {
	const { channel, message, at, userOf, ...made } = write(world);
	const call = async (args: object) => (await world.call("get_reactions", { ...at, ...args })).text;
	await world.heard();
	const where = `the message ${message.id} in #notes (ID: ${channel.id})`;
	expect(await call({})).toBe(`There are no reactions on ${where}.`);
	const [ada, zoe] = [userOf("ada"), userOf("zoe")];
	for (const [name, user] of [
		["🍞", ada],
		["🍞", zoe],
		["🍲", ada],
	] as const)
		made.world.reactions.add(channel, message, user, { id: null, name });
	const adas = `Ada (@ada, ID: ${ada.id})`;
	expect((await call({})).split("\n")).toEqual([
		`2 emoji with reactions on ${where}:`,
		`🍞 2: ${adas}, Zoë 🍞 (@zoe, ID: ${zoe.id})`,
		`🍲 1: ${adas}`,
	]);
	expect(await call({ limit: 1 })).toContain(`🍞 2: ${adas}, … 1 more\n`);
	expect(await call({ after: ada.id })).toContain("only together with emoji");
});

worldTest("super reactions are counted, listed by themselves, and cleared with the others", async (world) => {
	const { channel, message, at, userOf, ...made } = write(world);
	const thumb = { id: null, name: "👍" };
	const [zoe, ada] = [userOf("zoe"), userOf("ada")];
	made.world.reactions.add(channel, message, zoe, thumb, true);
	await world.heard();
	const call = async (tool: string, args: object) => (await world.call(tool, { ...at, ...args })).text;
	const emoji = "👍";
	expect(await call("get_message", {})).toEndWith("| reactions: 👍 1 (1 super)");
	expect(await call("get_reactions", { emoji })).toStartWith("Nobody has put 👍");
	made.world.reactions.add(channel, message, ada, thumb);
	const lists = [
		["normal", "👍 on", ada],
		["burst", "👍 as a super reaction on", zoe],
	] as const;
	for (const [type, target, { id, username }] of lists) {
		const text = await call("get_reactions", { emoji, type });
		expect(text).toStartWith(`1 user(s) with ${target} the message`);
		expect(text).toEndWith(`(@${username}) | ID: ${id}`);
	}
	expect(world.simulator.journal.entries()).toEqual([]);
	expect(await call("get_reactions", { type: "burst" })).toEndWith(
		`1 emoji with super reactions on the message ${message.id} in #notes (ID: ${channel.id}):\n👍 1: Zoë 🍞 (@zoe, ID: ${zoe.id})`,
	);
	expect(await call("remove_reaction", { emoji, everyone: true })).toEndWith(": 👍 2 (1 super)");
	expect(message.reactions).toEqual([]);
});

worldTest("a twenty-first emoji is refused, with what makes room", async (world) => {
	const { channel, message, at, userOf, ...made } = write(world);
	for (let index = 0; index < 20; index += 1)
		made.world.reactions.add(channel, message, userOf("zoe"), {
			id: null,
			name: String.fromCodePoint(0x1f600 + index),
		});
	await world.heard();
	const { text } = await world.call("add_reaction", { ...at, emoji: "👍" });
	expect(text).toContain("(code 30010). remove_reaction with everyone = true makes room");
});

test("a foreign emoji is only added where a reaction with it exists", async () => {
	await using scene = await startScene();
	const { world, guild, other } = scene;
	const { at, channel, message, userOf, ...made } = write(world);
	const [own, foreign] = [guild, other].map((one) => made.world.emojis.add(one, userOf("ada"), { name: "pan" }));
	await world.heard();
	const put = (emoji = "") => world.call("add_reaction", { ...at, emoji });
	const refused = await put(foreign?.id);
	expect(refused.text).toStartWith(
		`There is no emoji ${foreign?.id} in the guild ${guild.id}. list_emojis lists its emoji.\n`,
	);
	expect(message.reactions).toEqual([]);
	expect((await put(own?.id)).isError).toBe(false);
	const pan = { id: foreign?.id ?? "", name: "pan" };
	made.world.reactions.add(channel, message, userOf("zoe"), pan);
	expect((await put(foreign?.id)).isError).toBe(false);
});
