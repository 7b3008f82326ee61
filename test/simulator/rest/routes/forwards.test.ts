// Forwards, which copy a message, and publishing in announcement channels.

import { expect, test } from "bun:test";
import { ChannelType, MessageFlags, PermissionFlagsBits } from "discord.js";
import { as, connect, type Simulator, startSimulator } from "../../support.ts";

function cooks(simulator: Simulator, bot = "alpha") {
	const guild = simulator.guild("The Cooks");
	const { world } = simulator;
	const ada = world.users.get(simulator.user("ada").id);
	if (!ada) throw new Error("ada has an account");
	const from = world.channels.add(guild, { name: "from" });
	const to = world.channels.add(guild, { name: "to" });
	const call = as(simulator, simulator.bot(bot));
	const message = world.messages.add(from, ada, {
		content: "soup",
		embeds: [{ type: "rich", title: "Menu" }],
	});
	return {
		guild,
		ada,
		from,
		to,
		call,
		message,
		forward: (message_id = message.id, body = {}, target = to) =>
			call("POST", `/channels/${target.id}/messages`, {
				message_reference: { type: 1, channel_id: from.id, message_id },
				...body,
			}),
		forbid: (bits: bigint, channel = from) =>
			world.channels.setOverwrite(channel, {
				id: simulator.bot(bot).id,
				type: 1,
				allow: "0",
				deny: String(bits),
			}),
	};
}

test("discord.js forwards a message, and the copy stays as the message was", async () => {
	await using simulator = await startSimulator();
	await using bot = await connect(simulator);
	const { guild, from, to, message } = cooks(simulator);
	await bot.event("CHANNEL_CREATE", ({ id }) => id === to.id);
	const found = await bot.client.channels.fetch(from.id);
	if (!found?.isTextBased()) throw new Error("it holds messages");
	const fetched = await found.messages.fetch(message.id);
	const forward = await fetched.forward(to.id);
	simulator.world.messages.edit(from, message, { content: "stew" });
	expect(forward.messageSnapshots.first()?.content).toBe("soup");
	const seen = await bot.event("MESSAGE_CREATE", ({ id }) => id === forward.id);
	expect(seen).toMatchObject({
		type: 0,
		content: "",
		flags: MessageFlags.HasSnapshot,
		mentions: [],
		message_reference: {
			type: 1,
			message_id: message.id,
			channel_id: from.id,
			guild_id: guild.id,
		},
		message_snapshots: [
			{ message: { type: 0, content: "soup", embeds: [{ title: "Menu" }] } },
		],
	});
	expect(seen).not.toHaveProperty("referenced_message");
	const [snapshot] = seen.message_snapshots as { message: object }[];
	expect(snapshot?.message).not.toHaveProperty("author");
});

test("what cannot be seen, is not there, is no plain message or says more is not forwarded", async () => {
	await using simulator = await startSimulator();
	const { from, to, ada, message, call, forward, forbid } = cooks(simulator);
	const { world } = simulator;
	expect((await forward("1")).faults).toEqual({
		message_reference: "REPLIES_UNKNOWN_MESSAGE",
	});
	expect((await forward(message.id, { content: "look" })).faults).toEqual({
		message_reference: "FORWARD_CONTAINS_UNSUPPORTED_CONTENT",
	});
	const nowhere = { type: 1, message_id: message.id };
	const post = (message_reference: object) =>
		call("POST", `/channels/${to.id}/messages`, { message_reference });
	expect((await post(nowhere)).faults).toEqual({
		"message_reference.channel_id": "BASE_TYPE_REQUIRED",
	});
	expect((await post({ ...nowhere, channel_id: "1" })).code).toBe(10003);
	world.messages.pin(from, message, ada);
	const notice = world.messages.in(from.id).at(-1);
	expect((await forward(notice?.id)).code).toBe(50021);
	const poll = world.polls.add(from, ada, {
		question: { text: "?" },
		answers: [{ answer_id: 1, poll_media: { text: "!" } }],
		expiry: new Date(Date.now() + 60_000).toISOString(),
	});
	expect((await forward(poll.id)).code).toBe(50021);
	world.channels.edit(from, { nsfw: true });
	expect((await forward()).code).toBe(160010);
	forbid(PermissionFlagsBits.ReadMessageHistory);
	expect((await forward()).code).toBe(160009);
	forbid(PermissionFlagsBits.ViewChannel);
	expect((await forward()).code).toBe(50001);
	expect(world.messages.in(to.id)).toEqual([]);
});

test("a search finds what has a poll, and what is a forward", async () => {
	await using simulator = await startSimulator();
	const { guild, from, ada, call, forward } = cooks(simulator);
	const poll = simulator.world.polls.add(from, ada, {
		question: { text: "?" },
		answers: [{ answer_id: 1, poll_media: { text: "!" } }],
		expiry: new Date(Date.now() + 60_000).toISOString(),
	});
	const forwarded = (await forward()).json<{ id: string }>();
	const found = async (has: string) => {
		const path = `/guilds/${guild.id}/messages/search?has=${has}`;
		const { messages } = (await call("GET", path)).json<{
			messages: { id: string }[][];
		}>();
		return messages.flat().map(({ id }) => id);
	};
	expect(await found("poll")).toEqual([poll.id]);
	expect(await found("snapshot")).toEqual([forwarded.id]);
});

test("a forward of a forward shows the first message", async () => {
	await using simulator = await startSimulator();
	const { from, to, message, call, forward } = cooks(simulator);
	const first = (await forward(message.id, {}, from)).json<{ id: string }>();
	const answer = await call("POST", `/channels/${to.id}/messages`, {
		message_reference: { type: 1, channel_id: from.id, message_id: first.id },
	});
	expect(answer.json()).toMatchObject({
		message_reference: { message_id: first.id },
		message_snapshots: [{ message: { content: "soup" } }],
	});
});

test("without message content a bot forwards only its own and what mentions it", async () => {
	await using simulator = await startSimulator();
	const { world } = simulator;
	const guild = simulator.guild("The Cooks");
	const { user } = world.users.addBot({
		username: "blind",
		privilegedIntents: [],
	});
	world.members.add(guild, user, { botPermissions: 0n });
	const { from, ada, call, forward } = cooks(simulator, "blind");
	expect((await forward()).code).toBe(160014);
	const own = world.messages.add(from, user, { content: "mine" });
	expect((await forward(own.id)).status).toBe(200);
	const mention = { content: "you", mentions: [user] };
	const toIt = world.messages.add(from, ada, mention);
	expect((await forward(toIt.id)).status).toBe(200);
	const theirs = world.messages.add(from, ada, {
		content: "",
		message_snapshots: [{ message: toIt }],
	});
	const path = `/channels/${from.id}/messages/${theirs.id}`;
	expect((await call("GET", path)).json()).toMatchObject({
		message_snapshots: [{ message: { content: "" } }],
	});
});

test("a message of an announcement channel is published once", async () => {
	await using simulator = await startSimulator();
	await using bot = await connect(simulator);
	const { world } = simulator;
	const { guild, ada, from, message, call, forbid } = cooks(simulator);
	const news = world.channels.add(guild, {
		name: "news",
		type: ChannelType.GuildAnnouncement,
	});
	const publish = (channel: { id: string }, { id }: { id: string }) =>
		call("POST", `/channels/${channel.id}/messages/${id}/crosspost`);
	expect((await publish(from, message)).code).toBe(50024);
	const said = world.messages.add(news, ada, { content: "hear" });
	forbid(PermissionFlagsBits.ManageMessages, news);
	expect((await publish(news, said)).code).toBe(50013);
	const own = await call("POST", `/channels/${news.id}/messages`, {
		content: "mine",
	});
	expect((await publish(news, own.json<{ id: string }>())).status).toBe(200);
	forbid(0n, news);
	expect((await publish(news, said)).json()).toMatchObject({
		flags: MessageFlags.Crossposted,
	});
	expect(
		await bot.event("MESSAGE_UPDATE", ({ id }) => id === said.id),
	).toMatchObject({ flags: MessageFlags.Crossposted });
	expect((await publish(news, said)).code).toBe(40033);
});
