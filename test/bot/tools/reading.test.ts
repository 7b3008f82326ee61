// Reading messages: pages, what a line shows, and what Discord hides from the bot.

import { expect } from "bun:test";
import { blindSeed, type TestWorld, userNamed, worldTest } from "../../support/world.ts";

/** Messages by ada in a channel of their own, oldest first. */
function write({ simulator, guild }: TestWorld, contents: string[]) {
	const { world } = simulator;
	const channel = world.channels.add(guild, { name: "notes" });
	const ada = userNamed({ simulator }, "ada");
	const ids = contents.map((content) => world.messages.add(channel, ada, { content }).id);
	return { channel, channel_id: channel.id, ada, ids };
}

const shown = (text: string) => Array.from(text.matchAll(/\| text: (\S+)/g), ([, said]) => said).join("");
const next = (text: string) => text.split("\n").filter((l) => /^next_/.test(l));

worldTest("a channel is read page by page, in both directions", async (world) => {
	const { channel_id, ids } = write(world, ["a", "b", "c", "d", "e"]);
	await world.heard();
	const read = async (args: object) => {
		const { text } = await world.call("get_recent_messages", { channel_id, ...args });
		return [shown(text), ...next(text)];
	};
	const [a, b, c, d, e] = ids;
	expect(await read({})).toEqual(["edcba"]);
	expect(await read({ limit: 2 })).toEqual(["ed", `next_before=${d}`]);
	expect(await read({ limit: 2, before: d })).toEqual(["cb", `next_before=${b}`]);
	expect(await read({ limit: 2, before: b })).toEqual(["a"]);
	expect(await read({ limit: 2, after: a })).toEqual(["cb", `next_after=${c}`]);
	expect(await read({ limit: 2, after: d })).toEqual(["e"]);
	expect(await read({ limit: 3, around: c })).toEqual(["dcb", `next_before=${b}`, `next_after=${d}`]);
	const { text } = await world.call("get_recent_messages", { channel_id, after: e });
	expect(text).toBe(`There are no messages after ${e} in #notes (ID: ${channel_id}).`);
});

worldTest("a forum post is read with its forum and tags", async (world) => {
	const { simulator, guild } = world;
	const id = simulator.world.state.newId();
	const tag = { id, name: "so|up", moderated: false };
	const forum = simulator.world.channels.add(guild, {
		name: "recipes",
		type: 15,
		available_tags: [{ ...tag, emoji_id: null, emoji_name: null }],
	});
	const ada = userNamed({ simulator }, "ada");
	const post = simulator.world.threads.add(forum, ada, { name: "leek", applied_tags: [id] });
	await world.heard();
	const { text } = await world.call("get_recent_messages", { channel_id: post.id });
	expect(text).toBe(
		`There are no messages in #leek (ID: ${post.id}) in #recipes (ID: ${forum.id}) with the tags so\\|up.`,
	);
});

worldTest("get_message shows reply, file, embed, reaction, edit and pin as Discord has them", async (world) => {
	const { simulator } = world;
	const { channel, channel_id, ada, ids } = write(world, ["soup?"]);
	const message = simulator.world.messages.add(channel, ada, {
		content: "yes",
		type: 19,
		message_reference: { type: 0, message_id: ids[0] ?? "", channel_id },
		embeds: [{ type: "rich", title: "Soup" }],
		attachments: [
			{
				id: "1",
				filename: "soup.png",
				content_type: "image/png",
				size: 7,
				url: "https://cdn/soup.png",
				proxy_url: "https://cdn/soup.png",
			},
		],
	});
	simulator.world.reactions.add(channel, message, ada, { id: null, name: "🍞" });
	simulator.world.messages.edit(channel, message, { content: "yes!" });
	message.pinned_at = new Date().toISOString();
	await world.heard();
	const { text } = await world.call("get_message", { channel_id, message_id: message.id });
	expect(text).toMatch(
		new RegExp(
			`^\\S+Z by @ada \\(ID: ${ada.id}\\) \\| ID: ${message.id} \\| reply to: ${ids[0]} by @ada \\(ID: ${ada.id}\\) "soup\\?" \\| text: yes! \\| embed: Soup \\| attachment: soup\\.png \\(image/png, 7 bytes\\) https://cdn/soup\\.png \\| reactions: 🍞 1 \\| edited: \\S+Z \\| pinned$`,
		),
	);
});

worldTest("a message of newer components, with a sticker, is read like any other", async (world) => {
	const { simulator } = world;
	const { channel, channel_id, ada } = write(world, []);
	const { id } = simulator.world.messages.add(channel, ada, {
		content: "",
		mentions: [userNamed({ simulator }, "alpha")],
		flags: 1 << 15,
		components: [
			{
				type: 17,
				id: 1,
				spoiler: false,
				accent_color: null,
				components: [
					{ type: 10, id: 2, content: "Soup | <@1>" },
					{ type: 1, id: 3, components: [{ type: 2, id: 4, style: 5, label: "Menu", url: "https://menu" }] },
				],
			},
		],
		sticker_items: [{ id: "200000000000000001", name: "Wave", format_type: 1 }],
	});
	await world.heard();
	for (const tool of ["get_message", "get_recent_messages"]) {
		const args = tool === "get_message" ? { message_id: id } : {};
		const { text } = await world.call(tool, { channel_id, ...args });
		expect(text).toContain(
			`| ID: ${id} | components: Soup \\| <@1> / [Menu → https://menu] | stickers: Wave | mentions: @alpha (ID: `,
		);
	}
});

worldTest(
	"every tool that reads says if Discord hides message content, and why",
	{ seed: blindSeed },
	async (world) => {
		const { simulator } = world;
		const said = await simulator.user("ada").say("general", "a secret");
		const { channel_id } = said;
		const message = simulator.world.messages.get(channel_id, said.id);
		if (!message) throw new Error("it was just written");
		message.pinned_at = new Date().toISOString();
		const calls: [string, object][] = [
			["get_recent_messages", {}],
			["get_message", { message_id: said.id }],
			["search_messages", { channel_id: undefined, channel_ids: [channel_id], text: "secret" }],
			["list_pins", {}],
		];
		for (const [tool, args] of calls) {
			const text = await world.expectResult(tool, { channel_id, ...args });
			expect(text).not.toContain("a secret");
			expect(text.split("\n").filter((l) => /Message Content Intent/.test(l))).toHaveLength(1);
		}
		await world.call("send_message", { channel_id, content: "my own" });
		const { text } = await world.call("get_recent_messages", { channel_id, limit: 1 });
		expect(text).toContain("| text: my own");
		expect(text).not.toContain("Message Content Intent");
	},
);
