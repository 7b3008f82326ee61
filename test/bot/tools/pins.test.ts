// The pin tools.

import { expect } from "bun:test";
import { pagesOf } from "../../support/pages.ts";
import { linked, type TestWorld, userNamed, worldTest } from "../../support/world.ts";

function write({ simulator, guild }: TestWorld, contents: string[]) {
	const { world } = simulator;
	const channel = world.channels.add(guild, { name: "notes" });
	const ada = userNamed({ simulator }, "ada");
	const messages = contents.map((content) => world.messages.add(channel, ada, { content }));
	return { channel_id: channel.id, messages };
}

worldTest("pins are listed page by page, the latest first", async (world) => {
	const { channel_id, messages } = write(world, ["a", "b", "c"]);
	for (const [index, message] of messages.entries())
		message.pinned_at = new Date(1_790_000_000_000 + index).toISOString();
	await world.heard();
	const pages = await pagesOf(world.call, "list_pins", { channel_id, limit: 1 });
	const seen = pages.map((page) => /\| text: (\w)/.exec(page)?.[1]);
	expect(seen).toEqual(["c", "b", "a"]);
});

worldTest("a channel without pins says so", async (world) => {
	const { channel_id } = write(world, ["a"]);
	await world.heard();
	const { text } = await world.call("list_pins", { channel_id });
	expect(text).toBe(`No message is pinned in #notes (ID: ${channel_id}).`);
});

worldTest("pinning a pinned message and unpinning another one are refused without a request", async (world) => {
	const { channel_id, messages } = write(world, ["a"]);
	await world.heard();
	const args = { channel_id, message_id: messages[0]?.id };
	const unpinned = await world.call("pin_message", { ...args, pinned: false });
	expect(unpinned.text).toContain("is not pinned in #notes");
	expect((await world.call("pin_message", args)).isError).toBe(false);
	const pinned = await world.call("pin_message", args);
	expect(pinned.text).toContain("is already pinned in #notes");
	expect(pinned.isError).toBe(true);
	expect(world.simulator.journal.entries()).toHaveLength(1);
	expect((await world.call("pin_message", { ...args, pinned: false })).text).toStartWith(
		`Unpinned the message ${args.message_id} in ${linked(world, { id: channel_id, name: "notes" }, args.message_id)}`,
	);
	expect(messages[0]?.pinned_at).toBe(null);
});

worldTest("a full channel and Discord's own message are refused, with what to do", async (world) => {
	const { channel_id, messages } = write(
		world,
		Array.from({ length: 252 }, (_, index) => String(index)),
	);
	await world.heard();
	await world.call("pin_message", { channel_id, message_id: messages[0]?.id });
	const notice = world.simulator.world.messages.in(channel_id).at(-1);
	const own = await world.call("pin_message", { channel_id, message_id: notice?.id });
	expect(own.text).toContain("(code 50021). The message is a system message of Discord");
	for (const message of messages.slice(0, 250)) message.pinned_at = new Date().toISOString();
	const full = await world.call("pin_message", { channel_id, message_id: messages[251]?.id });
	expect(full.text).toContain("(code 30003). list_pins shows the pinned messages");
});
