// edit_message, and deleting one message.

import { expect } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { denyBot, type TestWorld, worldTest } from "../../support/world.ts";

/** A message by ada and one by the bot. */
function write({ simulator, guild }: TestWorld) {
	const { world } = simulator;
	const channel = world.channels.add(guild, { name: "notes" });
	const by = (id: string, content: string) => {
		const author = world.users.get(id);
		if (!author) throw new Error("they have an account");
		return world.messages.add(channel, author, { content });
	};
	return {
		channel,
		channel_id: channel.id,
		hers: by(simulator.user("ada").id, "hers"),
		own: by(simulator.bot("alpha").id, "own"),
	};
}

worldTest("an edit pings nobody", async (world) => {
	const { channel_id, own } = write(world);
	await world.heard();
	const content = `@everyone <@${world.simulator.user("ada").id}>`;
	await world.expectResult("edit_message", { channel_id, message_id: own.id, content });
	expect(own).toMatchObject({ mentions: [], mention_everyone: false });
});

worldTest("an edit of the embeds keeps the content, and an edit without a change is refused", async (world) => {
	const { channel_id, own } = write(world);
	await world.heard();
	const args = { channel_id, message_id: own.id };
	const { text } = await world.call("edit_message", { ...args, embeds: [{ title: "Soup" }] });
	expect(text).toStartWith(`Changed embeds of the message ${own.id} in #notes`);
	expect(own).toMatchObject({ content: "own", embeds: [{ title: "Soup" }] });
	const same = await world.call("edit_message", { ...args, content: "own" });
	expect(same.text).toStartWith("Nothing would change: ");
	expect(world.simulator.journal.entries()).toHaveLength(1);
});

worldTest("messages of others are not edited", async (world) => {
	const { channel_id, hers } = write(world);
	await world.heard();
	const text = await world.expectError("edit_message", { channel_id, message_id: hers.id, content: "changed" });
	expect(text).toContain("is by @ada");
	expect(hers.content).toBe("hers");
});

worldTest("the bot deletes its own message without MANAGE_MESSAGES, and no preview shows a text", async (world) => {
	const { channel, channel_id, hers, own } = write(world);
	await denyBot(world, channel, PermissionFlagsBits.ManageMessages);
	const call = (message_id: string, dry_run: boolean) =>
		world.call("delete_messages", { channel_id, message_ids: [message_id], dry_run });
	const dry = await call(own.id, true);
	expect(dry.text).toContain(`| ID: ${own.id} from #notes`);
	expect(dry.text).not.toContain("own");
	expect((await call(own.id, false)).isError).toBe(false);
	expect((await call(hers.id, true)).text).toStartWith("The bot lacks MANAGE_MESSAGES in #notes");
	expect(world.simulator.world.messages.in(channel_id)).toEqual([hers]);
});

worldTest("without READ_MESSAGE_HISTORY a message is deleted unread", async (world) => {
	const { channel, channel_id, hers, own } = write(world);
	const { ManageMessages, ReadMessageHistory } = PermissionFlagsBits;
	await denyBot(world, channel, ReadMessageHistory);
	const remove = async (message_id: string) =>
		(await world.call("delete_messages", { channel_id, message_ids: [message_id] })).text;
	expect(await remove(hers.id)).toBe(`Deleted the message ${hers.id} from #notes (ID: ${channel_id}).`);
	await denyBot(world, channel, ReadMessageHistory | ManageMessages);
	expect(await remove(own.id)).toStartWith("Deleted");
	expect(world.simulator.world.messages.in(channel_id)).toEqual([]);
});
