// The emoji tools.

import { expect } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { roleNamed, type TestWorld, userNamed, worldTest } from "../../support/world.ts";

const { CreateGuildExpressions, ManageGuildExpressions } = PermissionFlagsBits;

function base64(text: string): string {
	return Buffer.from(text, "latin1").toString("base64");
}
const png = base64("\x89PNG\r\n\x1a\nxx");
const gif = base64("GIF89axx");

function add(world: TestWorld, by: string, name: string, animated = false) {
	const { emojis } = world.simulator.world;
	return emojis.add(world.guild, userNamed(world, by), { name, animated });
}

/** Removes a permission from the bot's own role. */
async function forbid(world: TestWorld, bit: bigint) {
	const { simulator, guild } = world;
	const role = roleNamed(world, "alpha");
	const permissions = String(BigInt(role.permissions) & ~bit);
	simulator.world.roles.edit(guild, role, { permissions });
	await world.heard();
}

worldTest.each([
	["PNG", png, false],
	["PNG as a data URI of another kind", `data:image/jpeg;base64,${png}`, false],
	["GIF", gif, true],
	["JPEG", base64("\xff\xd8\xff\xe0"), false],
	["WebP", base64("RIFF\x00\x00\x00\x00WEBPVP8 "), false],
	["AVIF", base64("\x00\x00\x00\x20ftypavif\x00\x00"), false],
])("a %s becomes an emoji", async (world, _, image, animated) => {
	const { text } = await world.call("create_emoji", { name: "soup", image });
	const [made] = world.guild.emojis.values();
	expect(made).toMatchObject({ name: "soup", animated });
	expect(text).toBe(`Created the emoji <${animated ? "a" : ""}:soup:${made?.id}> (ID: ${made?.id}).`);
});

worldTest("a guild without free slots is refused, with how to make room", async (world) => {
	for (let index = 0; index < 50; index += 1) add(world, "ada", `e${index}`);
	const args = { name: "soup", image: png };
	const { text } = await world.call("create_emoji", args);
	expect(text).toContain("(code 30008). list_emojis shows the emoji");
	await world.expectResult("create_emoji", { ...args, image: gif });
});

worldTest("emoji are listed by id, with who may use them", async (world) => {
	const none = await world.call("list_emojis", {});
	expect(none.text).toBe(`The guild ${world.guild.id} has no custom emoji.`);
	const soup = add(world, "ada", "soup", true);
	const bread = add(world, "alpha", "bread");
	bread.roles = ["1", "2"];
	const { ada, alpha } = { ada: userNamed(world, "ada").id, alpha: userNamed(world, "alpha").id };
	expect((await world.call("list_emojis", {})).text.split("\n")).toEqual([
		"2 emoji, by id:",
		`<a:soup:${soup.id}> | ID: ${soup.id} | made by: @ada (ID: ${ada})`,
		`<:bread:${bread.id}> | ID: ${bread.id} | made by: @alpha (ID: ${alpha}) | only for: ID: 1, ID: 2`,
	]);
});

worldTest("an edit sends only the given fields, and is refused without a change", async (world) => {
	const emoji = add(world, "ada", "soup");
	const ids = [...world.guild.roles.keys()].slice(0, 2);
	const edit = (args: object) => world.call("edit_emoji", { emoji_id: emoji.id, ...args });
	expect((await edit({ name: "soup" })).text).toContain("Nothing would change: the emoji <:soup:");
	expect((await edit({ role_ids: [] })).text).toContain("Nothing would change");
	expect((await edit({ role_ids: ids })).text).toMatch(
		/^Changed the emoji .*:\nrole_ids: everyone → @everyone .*, @Staff /,
	);
	expect(emoji).toMatchObject({ name: "soup", roles: ids });
	const turned = ids.toReversed();
	expect((await edit({ role_ids: turned })).isError).toBe(true);
	await edit({ name: "stew" });
	expect(emoji).toMatchObject({ name: "stew", roles: ids });
	await edit({ role_ids: [] });
	expect(emoji.roles).toEqual([]);
});

worldTest("the bot's own emoji require either permission, those of others MANAGE_GUILD_EXPRESSIONS", async (world) => {
	const own = add(world, "alpha", "mine");
	const other = add(world, "ada", "hers");
	const calls = (id: string) => [
		world.call("edit_emoji", { emoji_id: id, name: `n${Date.now()}` }),
		world.call("delete_emoji", { emoji_id: id, dry_run: true }),
	];
	await forbid(world, ManageGuildExpressions);
	for (const { isError } of await Promise.all(calls(own.id))) expect(isError).toBe(false);
	for (const { text } of await Promise.all(calls(other.id)))
		expect(text).toContain("lacks MANAGE_GUILD_EXPRESSIONS in the guild");
	await forbid(world, CreateGuildExpressions);
	for (const { isError } of await Promise.all(calls(own.id))) expect(isError).toBe(true);
	expect(other.name).toBe("hers");
});

worldTest("MANAGE_GUILD_EXPRESSIONS suffices to edit, but not to create", async (world) => {
	const own = add(world, "alpha", "mine");
	await forbid(world, CreateGuildExpressions);
	await world.expectResult("edit_emoji", { emoji_id: own.id, name: "ours" });
	const args = { name: "soup", image: png };
	expect((await world.call("create_emoji", args)).text).toContain("lacks CREATE_GUILD_EXPRESSIONS");
});

worldTest("a new emoji can be used in a reaction and in a poll", async (world) => {
	const made = await world.call("create_emoji", { name: "soup", image: png });
	const emoji = /<:soup:\d+>/.exec(made.text)?.[0];
	const said = await world.simulator.user("ada").say("The Cooks/general", "lunch?");
	const { channel_id } = said;
	const reacted = await world.call("add_reaction", { channel_id, message_id: said.id, emoji });
	expect(reacted.text).toStartWith(`Put ${emoji} on`);
	const { text } = await world.call("create_poll", {
		channel_id,
		question: "Lunch?",
		answers: [{ text: "Soup", emoji }, { text: "Bread" }],
	});
	expect(text).toContain(`| answer 1, 0 vote(s): ${emoji} Soup |`);
});
