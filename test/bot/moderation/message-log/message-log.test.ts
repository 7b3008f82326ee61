// What the message log shows of messages that are deleted or edited, and the evidence in entries of the moderation log.

import { expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { authorOf } from "../../../../src/simulator/world/guilds/webhooks.ts";
import type { SentEmbed } from "../../../../src/simulator/world/state/api-types.ts";
import type { GuildChannel, User } from "../../../../src/simulator/world/state/entities.ts";
import { connectTo } from "../../../support/mcp.ts";
import { present, until } from "../../../support/until.ts";
import { channelNamed, memberOverwrite, roleNamed, roleOverwrite, userNamed } from "../../../support/world.ts";
import { general, type ModerationWorld, staffChannel, startModerationWorld } from "../moderation-world.ts";

const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");

/** A private channel for the message log, and a world in which it is on. */
async function startLogged(log: Record<string, unknown> = {}) {
	let logChannel: GuildChannel | undefined;
	const world = await startModerationWorld(undefined, {}, (simulator) => {
		const guild = simulator.guild("The Cooks");
		logChannel = simulator.world.channels.add(guild, {
			name: "message-log",
			type: ChannelType.GuildText,
			permission_overwrites: [
				roleOverwrite(guild.id, { deny: PermissionFlagsBits.ViewChannel }),
				memberOverwrite(simulator.bot("alpha").id, { allow: PermissionFlagsBits.ViewChannel }),
			],
		});
		return { log: { messages: logChannel.id, evidence: true, ...log } };
	});
	const { messages } = world.simulator.world;
	const entries = () => messages.in(logChannel?.id ?? "").flatMap(({ embeds }) => embeds);
	const here = channelNamed(world, "general");
	return Object.assign(world, {
		/** #general. */
		channel: here,
		logChannel: () => logChannel as GuildChannel,
		/** As text, once there are `count`. */
		logged: (count: number) =>
			until(`${count} entries`, () => {
				const all = entries();
				return all.length >= count && all.map(textOf);
			}),
		write(user: User, content: string) {
			return messages.add(here, user, { content });
		},
	});
}

type Entry = Pick<SentEmbed, "title" | "description" | "fields">;

function textOf({ title, description = "", fields = [] }: Entry): string {
	return [title, ...fields.map(({ name, value }) => `${name}: ${value}`), description].join("\n");
}

/** What the bot has seen of a person so far: it answers events in order. */
async function seen({ simulator, bot }: ModerationWorld): Promise<void> {
	const before = simulator.world.messages.in(simulator.channel(general).id).length;
	const { call } = await connectTo(bot.url);
	await call("send_message", { channel_id: simulator.channel(general).id, content: "mark" });
	await until("the mark", () => simulator.world.messages.in(simulator.channel(general).id).length > before);
}

test("a message that its author, a moderator or a purge deletes is shown with its text, and who deleted it", async () => {
	await using world = await startLogged();
	const { simulator, member } = world;
	const { channel } = world;
	const { messages } = simulator.world;
	const zoe = member("zoe").user;
	const own = world.write(zoe, "see `this`\n@everyone https://evil.example");
	const bad = world.write(zoe, "you are ugly");
	const many = ["one", "two", "three"].map((text) => world.write(zoe, text));
	await seen(world);
	messages.remove(channel, own);
	const [first = ""] = await world.logged(1);
	expect(first).toStartWith(`Message deleted\nUser: <@${zoe.id}>\nChannels: <#${channel.id}>`);
	// No link and no mention works in it, and no backtick ends it.
	expect(first).toEndWith("```\nsee ˋthisˋ\n@everyone https://evil.example\n```");
	messages.remove(channel, bad, { actor: simulator.user("jose.garcia").id });
	const [, second = ""] = await world.logged(2);
	expect(second).toContain(`Moderator: <@${simulator.user("jose.garcia").id}>`);
	expect(second).toContain("you are ugly");
	messages.removeMany(channel, many, { actor: simulator.user("jose.garcia").id });
	const [, , third = ""] = await world.logged(3);
	expect(third).toStartWith("3 messages deleted");
	for (const text of ["one", "two", "three"]) expect(third).toContain(`\`\`\`\n${text}\n\`\`\``);
	const webhook = simulator.world.webhooks.add(channel, { name: "News" });
	const posted = { content: "hear", webhook_id: webhook.id };
	const news = messages.add(channel, authorOf(webhook, { username: "The *Crier*" }), posted);
	await seen(world);
	messages.removeMany(channel, [news]);
	expect((await world.logged(4))[3]).toContain(`The \\*Crier\\* (Webhook ID: ${webhook.id})`);
});

test("an edit is shown before and after, and a link preview is none", async () => {
	await using world = await startLogged();
	const { channel } = world;
	const { messages } = world.simulator.world;
	const zoe = world.member("zoe").user;
	const message = world.write(zoe, "I like https://example.com");
	await seen(world);
	messages.edit(channel, message, { embeds: [{ type: "link", title: "Example", url: "https://example.com" }] });
	messages.edit(channel, message, { content: "I hate https://example.com" });
	const entries = await world.logged(1);
	expect(entries).toHaveLength(1);
	expect(entries[0]).toStartWith("Message edited");
	expect(entries[0]).toContain("**Before**\n```\nI like https://example.com\n```\n**After**\n```\nI hate");
	messages.remove(channel, message);
	expect((await world.logged(2))[1]).toContain("I hate https://example.com");
	// What waits for the audit log is shown at a shutdown.
	const last = world.write(zoe, "goodbye");
	messages.remove(channel, last);
	await seen(world);
	await world.stop();
	expect((await world.logged(3))[2]).toContain("goodbye");
});

test("long texts with many files fit into an entry, their marks are closed, and they are whole in a file", async () => {
	await using world = await startLogged();
	const { channel } = world;
	const { messages } = world.simulator.world;
	const zoe = world.member("zoe").user;
	const long = (word: string) => `${"`".repeat(50)}${word.repeat(4_000 / word.length - 20)}[x](https://evil.example)`;
	const files = Array.from({ length: 10 }, (_, number) => ({
		id: `${number}`,
		filename: `${"_".repeat(90)}${number}\u202egnp.zip`,
		content_type: "application/zip",
		size: 1,
		url: "http://127.0.0.1:1/x",
		proxy_url: "http://127.0.0.1:1/x",
	}));
	const message = messages.add(channel, zoe, { content: long("before"), attachments: files });
	await seen(world);
	messages.edit(channel, message, { content: `un\u200bseen\rforged\n\u202enext ${long("after").slice(40)}` });
	messages.remove(channel, message);
	const [edited = "", deleted = ""] = await world.logged(2);
	for (const entry of [edited, deleted]) expect(entry.split("```").length % 2).toBe(1);
	expect(edited).not.toContain("evil.example");
	const [, posted] = messages.in(world.logChannel().id);
	expect(posted?.attachments.map(({ filename }) => filename)).toEqual(["messages.txt"]);
	const text = await (await fetch(posted?.attachments[0]?.url ?? "")).text();
	expect(text).toContain(`${zoe.id}): un\\u{200b}seen\\u{000d}forged\n    \\u{202e}next `);
	expect(text).toContain("0\\u{202e}gnp.zip]");
});

test("ignored channels, bots on request, and a log that everyone sees show nothing", async () => {
	await using world = await startLogged({ without_bots: true });
	const { channel } = world;
	const { messages } = world.simulator.world;
	const { call } = await connectTo(world.bot.url);
	const other = world.simulator.world.channels.add(world.guild, { name: "other", type: ChannelType.GuildText });
	await until("the bot sees the channel", async () => {
		const { text } = await call("set_settings", { settings: { "log.ignored": ["#other"] } });
		return text.includes("log.ignored: not set");
	});
	const zoe = world.member("zoe").user;
	const ignored = messages.add(other, zoe, { content: "ignored" });
	const alpha = userNamed(world.simulator, "alpha");
	const byBot = world.write(alpha ?? zoe, "by a bot");
	const shown = world.write(zoe, "shown");
	await seen(world);
	messages.remove(other, ignored);
	messages.removeMany(other, [messages.add(other, zoe, { content: "ignored, too" })]);
	messages.remove(channel, byBot);
	messages.remove(channel, shown);
	const entries = await world.logged(1);
	expect(entries).toHaveLength(1);
	expect(entries[0]).toContain("shown");
	const open = await call("set_settings", { settings: { "log.messages": channel.id } });
	expect(open.text).toContain("@everyone can see");
	expect(open.isError).toBe(true);
});

test("images that were kept on arrival are uploaded again, and other files are named", async () => {
	await using world = await startLogged({ images: [] });
	const { simulator, member } = world;
	const { channel } = world;
	await (await connectTo(world.bot.url)).call("set_settings", { settings: { "log.images": [channel.id] } });
	const form = new FormData();
	form.append("payload_json", JSON.stringify({ content: "" }));
	form.append("files[0]", new File([png], "cat.png", { type: "image/png" }));
	form.append("files[1]", new File([new Uint8Array(3_000_000)], "big.zip", { type: "application/zip" }));
	const response = await fetch(`${simulator.api}/v10/channels/${channel.id}/messages`, {
		method: "POST",
		body: form,
		headers: { Authorization: simulator.user("zoe").token },
	});
	const { id } = (await response.json()) as { id: string };
	await seen(world);
	const message = present(simulator.world.messages.in(channel.id).find((one) => one.id === id));
	simulator.world.messages.remove(channel, message);
	const [entry = ""] = await world.logged(1);
	expect(entry).toContain("cat.png (image/png, 1 kB), attached");
	expect(entry).toContain("big.zip (application/zip, 3.0 MB)");
	const [posted] = simulator.world.messages.in(world.logChannel().id);
	expect(posted?.attachments.map(({ filename }) => filename)).toEqual(["cat.png"]);
	// Without the audit log, an entry waits for nothing but the images of its message.
	const role = roleNamed(world, "alpha");
	const permissions = String(BigInt(role.permissions) & ~PermissionFlagsBits.ViewAuditLog);
	simulator.world.roles.edit(world.guild, role, { permissions });
	for (const isClosing of [false, true]) {
		const stalled = simulator.faults.stall("GET /gateway", { times: 1 });
		const url = `${simulator.api}/v10/gateway`;
		const attachments = [{ id: "1", filename: "a.png", content_type: "image/png", size: 16, url, proxy_url: url }];
		const sent = simulator.world.messages.add(channel, member("zoe").user, { content: "", attachments });
		await until("the image is being read", () => stalled.hits === 1);
		simulator.world.messages.remove(channel, sent);
		await seen(world);
		if (isClosing) await world.stop();
		else stalled.release();
		const entries = await world.logged(isClosing ? 3 : 2);
		expect(entries.at(-1)?.includes("1 kB), attached")).toBe(!isClosing);
	}
});

test("a purge's and a ban's entry in the moderation log shows the messages, and the case links to it", async () => {
	await using world = await startLogged({ messages: null });
	const { simulator } = world;
	const { channel } = world;
	const zoe = world.member("zoe").user;
	const all = Array.from({ length: 60 }, (_, number) => world.write(zoe, `${number} ${"x".repeat(100)}`));
	await seen(world);
	const { call } = await connectTo(world.bot.url);
	await call("purge", { channel_ids: [channel.id], user_ids: [zoe.id], after: "1h" });
	const posts = () => simulator.world.messages.in(simulator.channel(staffChannel).id);
	const purge = await until("the entry", () => posts().find(({ embeds }) => JSON.stringify(embeds).includes("Purge")));
	expect(JSON.stringify(purge.embeds)).toContain("0 xxx");
	expect(JSON.stringify(purge.embeds)).toContain("more messages are in the file.");
	expect(purge.attachments.map(({ filename }) => filename)).toEqual(["messages.txt"]);
	await call("temp_ban", { user_ids: [zoe.id], duration: "1d", reason: "spam" });
	const ban = await until("the ban's entry", () => posts().find(({ id }) => id !== purge.id && id > purge.id));
	expect(JSON.stringify(ban.embeds)).toContain(`${all.length - 20} xxx`);
	await until("the case links to it", async () => {
		const { text } = await call("list_cases", { number: 2 });
		return text.includes(`/${simulator.channel(staffChannel).id}/${ban.id}`);
	});
});

test("an entry about spam shows what was posted, once, also after a later change of the entry", async () => {
	await using world = await startLogged({ messages: null });
	const { simulator } = world;
	const { call } = await connectTo(world.bot.url);
	await call("set_settings", { settings: { "spam.on": true, "spam.times": 3 } });
	const zoe = world.member("zoe").user;
	const advert = "Free gift for all members, claim it on my profile now!";
	for (let number = 0; number < 3; number += 1) world.write(zoe, advert);
	const entry = await until("the entry", () => {
		const posts = simulator.world.messages.in(simulator.channel(staffChannel).id);
		return posts.find(({ embeds, components }) => components.length > 0 && JSON.stringify(embeds).includes(advert));
	});
	expect(JSON.stringify(entry.embeds).split(advert)).toHaveLength(2);
	world.write(zoe, advert);
	await until("the fourth copy is deleted", () => {
		const { description = "" } = entry.embeds[0] ?? {};
		return description.includes("4 messages");
	});
	expect(JSON.stringify(entry.embeds).split(advert)).toHaveLength(2);
	await until("the case links to it", async () =>
		(await call("list_cases", { number: 1 })).text.includes(`/${entry.id}`),
	);
});
