// Forwards, which copy a message, and publishing in announcement channels.

import { expect } from "bun:test";
import { ChannelType, MessageFlags, PermissionFlagsBits } from "discord.js";
import { type Cooks, connect, testWith } from "../../support.ts";

const test = testWith((cooks) => startForwards(cooks));

function startForwards({ world, guild, ada, as, deny, user }: Cooks, bot = "alpha") {
	const from = world.channels.add(guild, { name: "from" });
	const to = world.channels.add(guild, { name: "to" });
	const call = as(bot);
	const message = world.messages.add(from, ada, { content: "soup", embeds: [{ type: "rich", title: "Menu" }] });
	return {
		from,
		to,
		call,
		message,
		forward: (message_id = message.id, body = {}, target = to) =>
			call("POST", `/channels/${target.id}/messages`, {
				message_reference: { type: 1, channel_id: from.id, message_id },
				...body,
			}),
		forbid: (bits: bigint, channel = from) => deny(channel, bits, user(bot).id),
	};
}

test("discord.js forwards a message, and editing the message does not change the forward", async (given) => {
	const { guild, from, to, message, simulator } = given;
	await using bot = await connect(simulator);
	const found = await bot.client.channels.fetch(from.id);
	if (!found?.isTextBased()) throw new Error("expected a text channel");
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
		message_reference: { type: 1, message_id: message.id, channel_id: from.id, guild_id: guild.id },
		message_snapshots: [{ message: { type: 0, content: "soup", embeds: [{ title: "Menu" }] } }],
	});
	expect(seen).not.toHaveProperty("referenced_message");
	const [snapshot] = seen.message_snapshots as { message: object }[];
	expect(snapshot?.message).not.toHaveProperty("author");
});

test("a forward of an unreadable, missing or system message, or with content of its own, is refused", async (given) => {
	const { from, to, ada, message, call, forward, forbid, simulator } = given;
	const { world } = simulator;
	expect((await forward("1")).faults).toEqual({ message_reference: "REPLIES_UNKNOWN_MESSAGE" });
	expect((await forward(message.id, { content: "look" })).faults).toEqual({
		message_reference: "FORWARD_CONTAINS_UNSUPPORTED_CONTENT",
	});
	const nowhere = { type: 1, message_id: message.id };
	const post = (message_reference: object) => call("POST", `/channels/${to.id}/messages`, { message_reference });
	expect((await post(nowhere)).faults).toEqual({ "message_reference.channel_id": "BASE_TYPE_REQUIRED" });
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

test("a search finds polls and forwards", async ({ guild, from, ada, call, forward, simulator }) => {
	const poll = simulator.world.polls.add(from, ada, {
		question: { text: "?" },
		answers: [{ answer_id: 1, poll_media: { text: "!" } }],
		expiry: new Date(Date.now() + 60_000).toISOString(),
	});
	const forwarded = (await forward()).json<{ id: string }>();
	const found = async (has: string) => {
		const path = `/guilds/${guild.id}/messages/search?has=${has}`;
		const { messages } = (await call("GET", path)).json<{ messages: { id: string }[][] }>();
		return messages.flat().map(({ id }) => id);
	};
	expect(await found("poll")).toEqual([poll.id]);
	expect(await found("snapshot")).toEqual([forwarded.id]);
});

test("a forward of a forward shows the first message", async ({ from, to, message, call, forward }) => {
	const first = (await forward(message.id, {}, from)).json<{ id: string }>();
	const answer = await call("POST", `/channels/${to.id}/messages`, {
		message_reference: { type: 1, channel_id: from.id, message_id: first.id },
	});
	expect(answer.json()).toMatchObject({
		message_reference: { message_id: first.id },
		message_snapshots: [{ message: { content: "soup" } }],
	});
});

test("without message content a bot forwards only its own messages and mentions of it", async (given) => {
	const { world, guild, ada } = given;
	const { user } = world.users.addBot({ username: "blind", privilegedIntents: [] });
	world.members.add(guild, user, { botPermissions: 0n });
	const { from, call, forward } = startForwards(given, "blind");
	expect((await forward()).code).toBe(160014);
	const own = world.messages.add(from, user, { content: "mine" });
	expect((await forward(own.id)).status).toBe(200);
	const mention = { content: "you", mentions: [user] };
	const toIt = world.messages.add(from, ada, mention);
	expect((await forward(toIt.id)).status).toBe(200);
	const theirs = world.messages.add(from, ada, { content: "", message_snapshots: [{ message: toIt }] });
	const path = `/channels/${from.id}/messages/${theirs.id}`;
	expect((await call("GET", path)).json()).toMatchObject({ message_snapshots: [{ message: { content: "" } }] });
});

test("a message of an announcement channel is published once", async (given) => {
	const { guild, ada, from, message, call, forbid, simulator } = given;
	await using bot = await connect(simulator);
	const { world } = simulator;
	const news = world.channels.add(guild, { name: "news", type: ChannelType.GuildAnnouncement });
	const publish = (channel: { id: string }, { id }: { id: string }) =>
		call("POST", `/channels/${channel.id}/messages/${id}/crosspost`);
	expect((await publish(from, message)).code).toBe(50024);
	const said = world.messages.add(news, ada, { content: "hear" });
	forbid(PermissionFlagsBits.ManageMessages, news);
	expect((await publish(news, said)).code).toBe(50013);
	const own = await call("POST", `/channels/${news.id}/messages`, { content: "mine" });
	expect((await publish(news, own.json<{ id: string }>())).status).toBe(200);
	forbid(0n, news);
	expect((await publish(news, said)).json()).toMatchObject({ flags: MessageFlags.Crossposted });
	expect(await bot.event("MESSAGE_UPDATE", ({ id }) => id === said.id)).toMatchObject({
		flags: MessageFlags.Crossposted,
	});
	expect((await publish(news, said)).code).toBe(40033);
});
