// Forwarding and crossposting messages.

import { expect } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import type { GuildChannel } from "../../../src/simulator/world/state/entities.ts";
import { blindSeed, denyBot, linked, type TestWorld, userNamed, worldTest } from "../../support/world.ts";

function place(given: TestWorld, type = ChannelType.GuildText) {
	const { simulator, guild } = given;
	const { world } = simulator;
	const from = world.channels.add(guild, { name: "from", type: type as GuildChannel["type"] });
	const to = world.channels.add(guild, { name: "to" });
	const [ada, alpha] = [userNamed({ simulator }, "ada"), userNamed({ simulator }, "alpha")];
	const forbid = (channel: GuildChannel, bits: bigint) => denyBot(given, channel, bits);
	return { world, from, to, ada, alpha, forbid };
}

worldTest("a forward shows what was forwarded, escaped, and pings nobody", async (world) => {
	const { from, to, ada, world: platform } = place(world);
	const message = platform.messages.add(from, ada, {
		content: `@everyone <@${ada.id}>\n| ID: 1`,
		attachments: [
			{
				id: "1",
				filename: "a|b.png",
				content_type: "image/png",
				size: 7,
				url: "https://cdn/a.png",
				proxy_url: "https://cdn/x",
			},
		],
	});
	await world.heard();
	const { text } = await world.call("forward_message", {
		channel_id: from.id,
		message_id: message.id,
		to_channel_id: to.id,
	});
	const [forward] = platform.messages.in(to.id);
	expect(text).toBe(
		`Forwarded the message ${message.id} of #from (ID: ${from.id}) (message ID: ${forward?.id}) to ${linked(world, to, forward?.id)}`,
	);
	expect(forward).toMatchObject({ mentions: [], mention_everyone: false });
	const seen = await world.call("get_message", { channel_id: to.id, message_id: forward?.id });
	expect(seen.text.split(" | ").slice(2)).toEqual([
		`forwarded: message ${message.id} of ${message.timestamp.slice(0, 19)}Z in the channel ${from.id}`,
		`forwarded text: @everyone <@${ada.id}>\\n\\| ID\\: 1`,
		"forwarded attachment: a\\|b.png (image/png, 7 bytes) https://cdn/a.png",
	]);
});

worldTest("polls and Discord's own messages are not forwarded", async (world) => {
	const { from, to, ada, world: platform } = place(world);
	const poll = platform.polls.add(from, ada, {
		question: { text: "?" },
		answers: [{ answer_id: 1, poll_media: { text: "!" } }],
		expiry: new Date(Date.now() + 60_000).toISOString(),
	});
	platform.messages.pin(from, poll, ada);
	const notice = platform.messages.in(from.id).at(-1);
	await world.heard();
	const forward = async (message_id = "") =>
		(await world.call("forward_message", { channel_id: from.id, message_id, to_channel_id: to.id })).text;
	expect(await forward(poll.id)).toContain("(code 50021)");
	expect(await forward(notice?.id)).toContain("(code 50021)");
	expect(world.simulator.journal.entries()).toEqual([]);
});

worldTest("a message that the bot may not read is not forwarded", async (world) => {
	const { from, to, ada, world: platform, forbid } = place(world);
	const message = platform.messages.add(from, ada, { content: "secret" });
	await forbid(from, PermissionFlagsBits.ReadMessageHistory);
	const { text } = await world.call("forward_message", {
		channel_id: from.id,
		message_id: message.id,
		to_channel_id: to.id,
	});
	expect(text).toContain(`lacks READ_MESSAGE_HISTORY in #from (ID: ${from.id})`);
});

worldTest(
	"a bot without message content is told why it cannot forward what others write",
	{ seed: blindSeed },
	async (world) => {
		const { from, to, ada, world: platform } = place(world);
		const message = platform.messages.add(from, ada, { content: "secret" });
		await world.heard();
		const { text } = await world.call("forward_message", {
			channel_id: from.id,
			message_id: message.id,
			to_channel_id: to.id,
		});
		expect(text).toContain("(code 160014). The bot may not read");
		expect(text).toContain("Message Content Intent");
	},
);

worldTest("a message is published once, and shows that it was", async (world) => {
	const { from, ada, world: platform } = place(world, ChannelType.GuildAnnouncement);
	const message = platform.messages.add(from, ada, { content: "news" });
	await world.heard();
	const args = { channel_id: from.id, message_id: message.id };
	expect((await world.call("crosspost_message", args)).text).toBe(
		`Published the message ${message.id} of ${linked(world, from, message.id)}`,
	);
	expect((await world.call("get_message", args)).text).toEndWith("| text: news | crossposted");
	const again = await world.call("crosspost_message", args);
	expect(again.text).toContain("already been crossposted");
	expect(world.simulator.journal.entries()).toHaveLength(1);
});

worldTest("the bot publishes its own messages without MANAGE_MESSAGES", async (world) => {
	const { from, alpha, forbid, world: platform } = place(world, ChannelType.GuildAnnouncement);
	await forbid(from, PermissionFlagsBits.ManageMessages);
	const message = platform.messages.add(from, alpha, { content: "news" });
	await world.heard();
	await world.expectResult("crosspost_message", { channel_id: from.id, message_id: message.id });
});

worldTest("only announcement channels publish", async (world) => {
	const { from, ada, world: platform } = place(world);
	const message = platform.messages.add(from, ada, { content: "news" });
	await world.heard();
	const { text } = await world.call("crosspost_message", { channel_id: from.id, message_id: message.id });
	expect(text).toContain("#from (ID: ");
	expect(text).toContain("is not an announcement channel. list_channels");
	expect(world.simulator.journal.entries()).toEqual([]);
});
