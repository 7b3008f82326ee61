// What keeps the bot from acting though its roles allow it: said before Discord is asked.

import { expect, test } from "bun:test";
import { PermissionFlagsBits } from "discord.js";
import { until } from "../../support/until.ts";
import { startWorld } from "../../support/world.ts";

test("a bot that is timed out says so, and until when, and sends nothing", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const alpha = guild.members.get(simulator.bot("alpha").id);
	if (!alpha) throw new Error("alpha is a member");
	simulator.world.editMember(guild, alpha, {
		communication_disabled_until: new Date(Date.now() + 600_000).toISOString(),
	});
	const { id: channel_id } = simulator.channel("The Cooks/general");
	await until("the bot has heard of it", async () => {
		const args = { channel_id, count: 1, dry_run: true };
		return (await world.call("delete_messages", args)).isError;
	});
	const { text } = await world.call("send_message", {
		channel_id,
		content: "hello",
	});
	expect(text).toMatch(/^The bot is timed out in the guild \d+ until \S+Z, /);
	const writes = simulator.requests
		.list()
		.filter(({ method }) => method !== "GET");
	expect(writes).toEqual([]);
});

test("a voice channel that the bot may not connect to is not edited, and CONNECT is named", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const { id: channel_id } = simulator.channel("The Cooks/Lounge");
	const channel = guild.channels.get(channel_id);
	if (!channel) throw new Error("it was just found");
	simulator.world.editChannel(channel, {
		permission_overwrites: [
			{
				id: simulator.bot("alpha").id,
				type: 1,
				allow: "0",
				deny: String(PermissionFlagsBits.Connect),
			},
		],
	});
	const outcome = await until("the bot has heard of it", async () => {
		const args = { channel_id, name: "Quiet" };
		const outcome = await world.call("edit_channel", args);
		return outcome.text.includes("CONNECT") && outcome;
	});
	expect(outcome.text).toStartWith("The bot lacks CONNECT in #");
});

test("a mention of everyone that would ping nobody is not sent", async () => {
	await using world = await startWorld();
	const { simulator, guild } = world;
	const { id: channel_id } = simulator.channel("The Cooks/general");
	const channel = guild.channels.get(channel_id);
	if (!channel) throw new Error("it was just found");
	const deny = String(PermissionFlagsBits.MentionEveryone);
	simulator.world.editChannel(channel, {
		permission_overwrites: [
			{ id: simulator.bot("alpha").id, type: 1, allow: "0", deny },
		],
	});
	await world.heard();
	const send = (mentions: string, content: string) =>
		world.call("send_message", { channel_id, content, mentions });
	const refused = await send("everyone", "@here dinner");
	expect(refused.text).toStartWith("The bot lacks MENTION_EVERYONE in #");
	expect((await send("everyone", "dinner")).isError).toBe(false);
	expect((await send("none", "@everyone dinner")).isError).toBe(false);
	expect(simulator.channel("The Cooks/general").transcript()).toBe(
		"alpha: dinner\nalpha: @everyone dinner",
	);
});

test("while Discord's Gateway is away, look-ups say that someone may be missing", async () => {
	await using world = await startWorld();
	const { simulator } = world;
	simulator.disconnectSockets({ resumable: true });
	const look = async () => (await world.call("list_members")).text;
	await until("the bot has noticed", async () =>
		(await look()).includes("some are missing"),
	);
	await until(
		"it is back",
		async () => !(await look()).includes("some are missing"),
	);
});
