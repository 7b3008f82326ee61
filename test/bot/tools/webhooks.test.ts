// The webhook tools. Their tokens are never shown.

import { expect } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { authorOf } from "../../../src/simulator/world/guilds/webhooks.ts";
import { until } from "../../support/until.ts";
import { denyBot, linked, type TestWorld, userNamed, worldTest } from "../../support/world.ts";

function made(world: TestWorld, by = "ada") {
	const { world: platform } = world.simulator;
	const channel = platform.channels.add(world.guild, { name: "notes" });
	const maker = userNamed(world, by);
	const hook = platform.webhooks.add(channel, { name: "Crier", user: maker });
	const token = String(hook.token);
	const path = `/webhooks/${hook.id}/${token}`;
	const write = (content: string) => platform.messages.add(channel, authorOf(hook), { content, webhook_id: hook.id });
	return { platform, channel, maker, hook, token, path, write };
}

worldTest("a message is sent with another name and avatar and with embeds, and pings nobody", async (world) => {
	const { platform, channel, hook } = made(world);
	const { id: ada } = world.simulator.user("ada");
	await world.heard();
	const content = `hear, @everyone and <@${ada}>`;
	const { text } = await world.call("send_webhook_message", {
		webhook_id: hook.id,
		content,
		username: "Town",
		avatar_url: "https://example.com/a.png",
		embeds: [{ title: "news" }],
	});
	const [message] = platform.messages.in(channel.id);
	expect(message).toMatchObject({
		content,
		webhook_id: hook.id,
		author: { username: "Town" },
		embeds: [{ title: "news" }],
		mentions: [],
		mention_everyone: false,
	});
	expect(message?.author.avatar).toBeString();
	expect(text).toBe(
		`Message sent (ID: ${message?.id}) by the webhook Crier (ID: ${hook.id}) to ${linked(world, channel, message?.id)}\nNot pinged: @everyone, @ada.`,
	);
	await world.call("send_webhook_message", { webhook_id: hook.id, content, mentions: "everyone" });
	expect(platform.messages.in(channel.id).at(-1)).toMatchObject({ mention_everyone: true, mentions: [{ id: ada }] });
});

worldTest("a token in a message is not shown", async (world) => {
	const { platform, channel, maker, hook, token } = made(world);
	const url = `https://discord.com/api/webhooks/${hook.id}/${token}`;
	const message = platform.messages.add(channel, maker, {
		content: `by ${url}`,
		embeds: [{ type: "rich", description: url }],
	});
	await world.heard();
	const where = { channel_id: channel.id };
	for (const [tool, args] of [
		["get_recent_messages", where],
		["get_message", { ...where, message_id: message.id }],
		["search_messages", { channel_ids: [channel.id], text: "webhooks" }],
	] as const) {
		const { text } = await world.call(tool, args);
		expect(text).toContain(`by https://discord.com/api/webhooks/${hook.id}/[`);
		expect(text).not.toContain(token);
	}
});

worldTest("a token argument, as other servers take it, is refused, not listed and not logged", async (world) => {
	const { platform, channel, hook } = made(world);
	await world.heard();
	const token = "a-secret-of-the-client";
	const { text } = await world.call("send_webhook_message", { webhook_id: hook.id, content: "hear", token });
	expect(text).toContain("token: this tool has no such parameter");
	expect(platform.messages.in(channel.id)).toEqual([]);
	const listed = await world.mcp.listTools();
	expect(JSON.stringify(listed)).not.toContain('"token"');
	expect(world.logged.join("\n")).not.toContain(token);
	const calls = await until("the calls are on record", async () => {
		const { text } = await world.call("list_recent_tool_calls", {});
		return text.includes("send_webhook_message") && text;
	});
	expect(calls).not.toContain(token);
});

worldTest("a webhook message requires MENTION_EVERYONE to ping everyone", async (world) => {
	const { platform, channel, hook } = made(world);
	await denyBot(world, channel, PermissionFlagsBits.MentionEveryone);
	const args = { webhook_id: hook.id, content: "@here", mentions: "everyone" };
	const sent = await world.call("send_webhook_message", args);
	expect(sent.text).toContain("lacks MENTION_EVERYONE in #notes");
	expect(platform.messages.in(channel.id)).toEqual([]);
	await world.expectResult("send_webhook_message", { webhook_id: hook.id, content: "@here" });
});

worldTest("an edit without a change is refused", async (world) => {
	const { hook, write } = made(world);
	const message = write("hear");
	await world.heard();
	const webhook_id = hook.id;
	const same = await world.call("edit_webhook", { webhook_id, name: "Crier" });
	expect(same.text).toContain("Nothing would change: the webhook Crier");
	const said = await world.call("edit_webhook_message", { webhook_id, message_id: message.id, content: "hear" });
	expect(said.text).toContain("Nothing would change: the message");
	expect(world.simulator.journal.entries()).toEqual([]);
});

worldTest("moving a webhook requires MANAGE_WEBHOOKS in the target channel", async (world) => {
	const { platform, channel, hook } = made(world);
	const open = platform.channels.add(world.guild, { name: "open" });
	const closed = platform.channels.add(world.guild, { name: "closed" });
	await denyBot(world, closed, PermissionFlagsBits.ManageWebhooks);
	const webhook_id = hook.id;
	const move = (channel_id: string) => world.call("edit_webhook", { webhook_id, channel_id });
	expect((await move(closed.id)).text).toContain("lacks MANAGE_WEBHOOKS in");
	expect(hook.channel_id).toBe(channel.id);
	expect((await move(open.id)).text).toContain(`: channel_id: #notes (ID: ${channel.id}) → #open (ID: ${open.id}).`);
	expect(hook.channel_id).toBe(open.id);
});

worldTest("a webhook that cannot send messages says why, and can still be listed and deleted", async (world) => {
	const { platform, channel, hook } = made(world);
	const beta = platform.users.get(world.simulator.bot("beta").id) ?? null;
	const { webhooks } = platform;
	const follower = webhooks.add(channel, {
		name: "News",
		type: 2,
		source_guild: { id: "1", name: "The Press", icon: null },
		source_channel: { id: "2", name: "wire" },
	});
	const application = webhooks.add(channel, { name: "App", type: 3 });
	const foreign = webhooks.add(channel, { name: "Betas", user: beta });
	await world.heard();
	const { text } = await world.call("list_webhooks");
	expect(text.split("\n")).toEqual([
		expect.stringMatching(/^4 webhook\(s\) in the guild, by id, times in UTC; now is \S+Z:$/),
		expect.stringMatching(/^Crier \| ID: \d+ .* \| can send messages$/),
		expect.stringContaining("kind: follower | follows: wire of The Press | made: "),
		expect.stringMatching(/ \| kind: application \| made: \S+Z \| cannot send messages: it belongs/),
		expect.stringContaining("cannot send messages: another application created"),
		"Last messages are known of webhooks that sent one of the newest 25 messages by webhooks.",
	]);
	for (const { id } of [follower, application, foreign]) {
		const sent = await world.expectError("send_webhook_message", { webhook_id: id, content: "x" });
		expect(sent).toContain("create_webhook creates one that can");
	}
	await world.expectResult("delete_webhook", { webhook_ids: [follower.id] });
	expect(webhooks.list({ channel_id: channel.id })).toEqual([hook, application, foreign]);
});

worldTest("the list shows when a webhook last sent a message, if the bot can search the guild", async (world) => {
	const { platform, channel, write } = made(world);
	platform.webhooks.add(channel, { name: "Silent" });
	write("old");
	const { timestamp } = write("new");
	await world.heard();
	const list = async () => (await world.call("list_webhooks")).text.split("\n");
	const last = ` | last message: ${timestamp.slice(0, 19)}Z | `;
	expect((await list())[1]).toContain(last);
	expect((await list())[2]).not.toContain("last message");
	const search = `GET /guilds/${world.guild.id}/messages/search`;
	for (const spoil of [
		() => world.simulator.faults.refuse(search, 50013),
		() =>
			world.simulator.faults.answer(search, {
				status: 202,
				headers: { "content-type": "application/json" },
				body: JSON.stringify({
					message: "Index not yet available",
					code: 110000,
					documents_indexed: 0,
					retry_after: 2,
				}),
			}),
	]) {
		const fault = spoil();
		const lines = await list();
		fault.release();
		expect(lines[1]).not.toContain("last message");
		expect(lines.at(-1)).toContain("is not known: the bot cannot search");
	}
});

worldTest("a message by the bot's own webhook is its last message", async (world) => {
	const { channel } = made(world);
	const { text } = await world.call("create_webhook", { channel_id: channel.id, name: "Own" });
	const webhook_id = /Own \(ID: (\d+)\)/.exec(text)?.[1];
	await world.call("send_webhook_message", { webhook_id, content: "x" });
	const listed = (await world.call("list_webhooks")).text;
	expect(listed).toMatch(/^Own \|.* \| last message: \S+Z \| can send/m);
});

worldTest("several webhooks are deleted in one call, which says which ones are not there", async (world) => {
	const { platform, channel, hook } = made(world);
	const ids = ["a", "b"].map((name) => platform.webhooks.add(channel, { name }).id);
	const unknown = "123456789012345678";
	await world.heard();
	const args = { webhook_ids: [...ids, unknown, ids[0]] };
	const dry = await world.call("delete_webhook", { ...args, dry_run: true });
	expect(dry.text).toContain("Would delete 2 webhook(s).");
	expect(platform.webhooks.list({ channel_id: channel.id })).toHaveLength(3);
	const { text } = await world.call("delete_webhook", args);
	expect(text.split("\n")).toEqual([
		"Deleted 2 of 2 webhook(s):",
		`a | ID: ${ids[0]} | channel: #notes (ID: ${channel.id})`,
		`b | ID: ${ids[1]} | channel: #notes (ID: ${channel.id})`,
		`Not found, or not for the bot to manage: ${unknown}.`,
	]);
	expect(platform.webhooks.list({ channel_id: channel.id })).toEqual([hook]);
	const again = await world.expectError("delete_webhook", args);
	expect(again).toContain("There is no webhook");
});

worldTest("a webhook that the bot may not manage is reported as missing", async (world) => {
	const { channel, hook } = made(world);
	await denyBot(world, channel, PermissionFlagsBits.ManageWebhooks);
	const { text } = await world.call("delete_webhook", { webhook_ids: [hook.id] });
	expect(text).toContain(`There is no webhook ${hook.id} in the guild`);
	expect(text).toContain("that the bot may manage");
});

worldTest("thread_id must be a thread of the webhook's channel, and forums require one", async (world) => {
	const { platform, maker, hook } = made(world);
	const other = platform.channels.add(world.guild, { name: "other" });
	const asides = platform.threads.add(other, maker, { name: "asides" });
	const forum = platform.channels.add(world.guild, { name: "ideas", type: ChannelType.GuildForum });
	const poster = platform.webhooks.add(forum, { name: "Poster" });
	await world.heard();
	const send = (webhook_id: string, thread_id?: string) =>
		world.call("send_webhook_message", { webhook_id, content: "x", ...(thread_id && { thread_id }) });
	for (const { name, id } of [other, asides])
		expect((await send(hook.id, id)).text).toContain(`#${name} (ID: ${id}) is not a thread of #notes`);
	expect((await send(poster.id)).text).toContain("pass the id of one of its posts as thread_id");
	expect(world.simulator.journal.entries()).toEqual([]);
});

worldTest("a webhook sends, edits and deletes messages in a thread of its channel", async (world) => {
	const { platform, channel, maker, hook } = made(world);
	const thread = platform.threads.add(channel, maker, { name: "asides" });
	await world.heard();
	const said = () => platform.messages.in(thread.id).filter(({ webhook_id }) => webhook_id === hook.id);
	const there = { webhook_id: hook.id, thread_id: thread.id };
	const sent = await world.call("send_webhook_message", { ...there, content: "hear" });
	expect(sent.text).toContain(`to ${linked(world, thread, said()[0]?.id)}`);
	const [message] = said();
	const message_id = message?.id;
	const edited = await world.call("edit_webhook_message", { ...there, message_id, content: "hush" });
	expect(edited.text).toStartWith("Changed content of the message");
	expect(message?.content).toBe("hush");
	const elsewhere = await world.call("delete_webhook_message", { webhook_id: hook.id, message_id });
	expect(elsewhere.text).toContain("(code 10008)");
	await world.call("delete_webhook_message", { ...there, message_id });
	expect(said()).toEqual([]);
});

worldTest("a webhook edits and deletes only its own messages", async (world) => {
	const { platform, channel, maker, hook, write } = made(world);
	const own = write("hear");
	const adas = platform.messages.add(channel, maker, { content: "mine" });
	await world.heard();
	const call = (tool: string, message_id: string, more = {}) =>
		world.call(tool, { webhook_id: hook.id, message_id, ...more });
	const change = { content: "hush", embeds: [{ title: "t" }] };
	expect((await call("edit_webhook_message", own.id, change)).text).toBe(
		`Changed content, embeds of the message ${own.id} in ${linked(world, channel, own.id)}`,
	);
	for (const [tool, more] of [
		["edit_webhook_message", change],
		["delete_webhook_message", {}],
	] as const)
		expect((await call(tool, adas.id, more)).text).toContain("(code 10008)");
	expect((await call("delete_webhook_message", own.id)).isError).toBe(false);
	expect(platform.messages.in(channel.id)).toEqual([adas]);
});

worldTest("a full channel says how to make room", async (world) => {
	const { platform, channel } = made(world);
	for (let index = 1; index < 15; index += 1) platform.webhooks.add(channel, { name: `hook ${index}` });
	await world.heard();
	const { text } = await world.call("create_webhook", { channel_id: channel.id, name: "one more" });
	expect(text).toContain("(code 30007). list_webhooks shows the webhooks");
});

worldTest("a refused webhook token does not count as the bot's", async (world) => {
	const { hook, path } = made(world);
	await world.heard();
	world.simulator.faults.refuse(`POST ${path}`, 50027);
	const { text } = await world.call("send_webhook_message", { webhook_id: hook.id, content: "x" });
	expect(text).toContain("Invalid Webhook Token (code 50027). The webhook's token has");
	expect(world.bot.ready).toBe(true);
	expect(world.logged.filter((line) => /\b401\b/.test(line))).toEqual([]);
});

worldTest("no result, log line or metric shows a webhook's token", async (world) => {
	const { simulator, logged } = world;
	const { channel, hook, token, write } = made(world);
	await world.heard();
	const answers: string[] = [];
	const call = async (tool: string, args: object) => answers.push((await world.call(tool, { ...args })).text);
	const all = async () => {
		const webhook_id = hook.id;
		const { id: message_id } = write("hear");
		const message = { webhook_id, message_id };
		await call("list_webhooks", {});
		await call("list_webhooks", { channel_ids: [channel.id] });
		await call("edit_webhook", { webhook_id, name: `Crier ${message_id}` });
		await call("send_webhook_message", { webhook_id, content: "x" });
		await call("edit_webhook_message", { ...message, content: "y" });
		await call("delete_webhook_message", { ...message, dry_run: true });
		await call("delete_webhook_message", message);
		await call("delete_webhook", { webhook_ids: [webhook_id], dry_run: true });
	};
	await all();
	const written = "* /webhooks/*/*";
	const { faults } = simulator;
	for (const fault of [
		() => faults.drop(`${written}/*`, { when: "after" }),
		() => faults.drop(`POST ${written.slice(2)}`, { when: "before" }),
		() => faults.refuse(`${written}/*`, 50013),
		() => faults.refuse(`POST ${written.slice(2)}`, 50035),
		() => faults.fail(`${written}/*`, 502),
		() => faults.fail(`POST ${written.slice(2)}`, 500),
		() => faults.fail(`POST ${written.slice(2)}`, 401),
		() => faults.rateLimit(`POST ${written.slice(2)}`, { retryAfterMs: 60_000 }),
	]) {
		const active = fault();
		await all();
		expect(active.hits).toBeGreaterThan(0);
		active.release();
	}
	await call("create_webhook", { channel_id: channel.id, name: "Second" });
	const tokens = simulator.world.webhooks.list({ channel_id: channel.id }).map((one) => String(one.token));
	expect(tokens).toHaveLength(2);
	expect(tokens).toContain(token);
	const figures = await (await fetch(new URL("/metrics", world.bot.url))).text();
	const shown = [...answers, ...logged, figures].join("\n");
	for (const one of tokens) expect(shown).not.toContain(one);
	expect(shown).toContain("send_webhook_message");
});
