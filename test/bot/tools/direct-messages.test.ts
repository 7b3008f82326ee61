// The direct message tools.

import { expect } from "bun:test";
import { type TestWorld, userNamed, worldTest } from "../../support/world.ts";

const toZoe = ({ simulator }: TestWorld) => {
	const users = [simulator.bot("alpha").id, simulator.user("zoe").id].map((id) => simulator.world.users.get(id));
	const [alpha, zoe] = users;
	if (!alpha || !zoe) throw new Error("both have accounts");
	return { alpha, zoe, channel: () => simulator.world.channels.openDm(alpha, zoe) };
};

worldTest("the first message opens the channel, and mentions in it ping nobody", async (world) => {
	const { zoe, channel } = toZoe(world);
	const content = `hello <@${zoe.id}> @everyone`;
	const { text } = await world.call("send_private_message", { user_ids: zoe.id, content, silent: true });
	const [message] = world.simulator.world.messages.in(channel().id);
	expect(message).toMatchObject({ content, flags: 4096, mentions: [], mention_everyone: false });
	expect(text).toBe(
		`Direct message sent to Zoë 🍞 (@zoe, ID: ${zoe.id}) (ID: ${message?.id}): https://discord.com/channels/@me/${channel().id}/${message?.id}`,
	);
	await world.expectResult("edit_private_message", {
		user_id: zoe.id,
		message_id: message?.id,
		content: `sorry <@${zoe.id}>`,
	});
	expect(message).toMatchObject({ content: `sorry <@${zoe.id}>`, mentions: [] });
});

worldTest("a user who does not accept direct messages is named, with advice", async (world) => {
	const { zoe } = toZoe(world);
	world.simulator.world.users.closedDms.add(zoe.id);
	const text = await world.expectError("send_private_message", { user_ids: zoe.id, content: "hello" });
	expect(text).toStartWith(`The direct message to Zoë 🍞 (@zoe, ID: ${zoe.id}) was not delivered: `);
	expect(text).toContain("(code 50007). This person does not accept direct");
});

worldTest("direct messages to bots are refused", async (world) => {
	const { simulator, guild } = world;
	const beta = userNamed({ simulator }, "beta");
	simulator.world.members.add(guild, beta);
	await world.heard();
	const text = await world.expectError("send_private_message", { user_ids: beta.id, content: "hello" });
	expect(text).toContain(` was not delivered: @beta (ID: ${beta.id}) is a bot: bots cannot `);
	expect(simulator.requests.list("POST /users/@me/channels")).toEqual([]);
});

worldTest("the other person's messages are read, but neither edited nor deleted", async (world) => {
	const { zoe, channel } = toZoe(world);
	const { simulator, call } = world;
	const theirs = simulator.world.messages.add(channel(), zoe, { content: "mine" });
	const user_id = zoe.id;
	const read = await call("read_private_messages", { user_id });
	expect(read.text).toContain(`| ID: ${theirs.id} | text: mine`);
	const args = { user_id, message_id: theirs.id };
	for (const { text, isError } of [
		await call("edit_private_message", { ...args, content: "x" }),
		await call("delete_private_message", { ...args, dry_run: true }),
		await call("delete_private_message", args),
	]) {
		expect(isError).toBe(true);
		expect(text).toContain("its own messages. Nothing was done.");
	}
	expect(simulator.journal.entries()).toEqual([]);
});

worldTest("reading an empty conversation says so, and counts as a read", async (world) => {
	const { zoe } = toZoe(world);
	world.simulator.faults.fail("POST /users/@me/channels", 502, { times: 1 });
	const text = await world.expectResult("read_private_messages", { user_id: zoe.id });
	expect(text).toStartWith("There are no messages in the direct messages with");
	expect(world.simulator.requests.list("POST /users/@me/channels")).toHaveLength(2);
});
