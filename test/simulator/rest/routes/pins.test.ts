// Pins: permissions, limits and pages.

import { expect } from "bun:test";
import { AuditLogEvent, PermissionFlagsBits } from "discord.js";
import { connect, testWith } from "../../support.ts";

const test = testWith(({ world, channel, ada }) => ({
	pins: `/channels/${channel.id}/messages/pins`,
	write: (content: string) => world.messages.add(channel, ada, { content }),
}));

test("discord.js pins and unpins a message, with events and audit log entries", async (given) => {
	const { guild, channel, ada, write, simulator } = given;
	await using bot = await connect(simulator);
	const message = write("soup");
	const found = await bot.client.channels.fetch(channel.id);
	if (!found?.isTextBased()) throw new Error("expected a text channel");
	const fetched = await found.messages.fetch(message.id);
	await fetched.pin("good soup");
	expect(message.pinned_at).not.toBeNull();
	expect(await bot.event("CHANNEL_PINS_UPDATE")).toMatchObject({
		guild_id: guild.id,
		channel_id: channel.id,
		last_pin_timestamp: message.pinned_at,
	});
	const notice = simulator.world.messages.in(channel.id).at(-1);
	expect(notice).toMatchObject({
		type: 6,
		author: { username: "alpha" },
		message_reference: { message_id: message.id },
	});
	const { items } = await found.messages.fetchPins();
	expect(items.map(({ message: { id, pinned } }) => [id, pinned])).toEqual([[message.id, true]]);
	await fetched.unpin();
	await bot.event("CHANNEL_PINS_UPDATE", ({ last_pin_timestamp }) => last_pin_timestamp === null);
	expect(message.pinned_at).toBeNull();
	expect(guild.auditLog.slice(-2)).toMatchObject([
		{
			action_type: AuditLogEvent.MessagePin,
			target_id: ada.id,
			options: { channel_id: channel.id, message_id: message.id },
			reason: "good soup",
		},
		{ action_type: AuditLogEvent.MessageUnpin, target_id: ada.id },
	]);
});

test("pins are listed in pages, latest first", async ({ alpha, pins, write }) => {
	const messages = ["a", "b", "c"].map(write);
	for (const [index, message] of messages.entries())
		message.pinned_at = new Date(1_790_000_000_000 + index).toISOString();
	const page = async (query: string) => {
		const answer = await alpha("GET", `${pins}?${query}`);
		const { items, has_more } = answer.json<{
			items: { pinned_at: string; message: { content: string } }[];
			has_more: boolean;
		}>();
		return [items.map(({ message }) => message.content).join(""), has_more];
	};
	expect(await page("")).toEqual(["cba", false]);
	expect(await page("limit=2")).toEqual(["cb", true]);
	const before = encodeURIComponent(String(messages[1]?.pinned_at));
	expect(await page(`before=${before}`)).toEqual(["a", false]);
	expect((await alpha("GET", `${pins}?limit=51`)).status).toBe(400);
	expect((await alpha("GET", `${pins}?before=x`)).status).toBe(400);
});

test("a channel has at most 250 pins, and system messages cannot be pinned", async (given) => {
	const { channel, alpha, pins, write, simulator } = given;
	const first = write("first");
	expect((await alpha("PUT", `${pins}/${first.id}`)).status).toBe(204);
	const before = simulator.journal.entries().length;
	expect((await alpha("PUT", `${pins}/${first.id}`)).status).toBe(204);
	expect(simulator.journal.entries()).toHaveLength(before);
	const notice = simulator.world.messages.in(channel.id).at(-1);
	expect((await alpha("PUT", `${pins}/${notice?.id}`)).code).toBe(50021);
	for (let index = 1; index < 250; index += 1) write(`${index}`).pinned_at = new Date().toISOString();
	const more = write("too many");
	expect((await alpha("PUT", `${pins}/${more.id}`)).code).toBe(30003);
});

test("without READ_MESSAGE_HISTORY the list of pins is empty", async ({ channel, alpha, pins, write, deny }) => {
	write("soup").pinned_at = new Date().toISOString();
	deny(channel, PermissionFlagsBits.ReadMessageHistory);
	expect((await alpha("GET", pins)).json()).toMatchObject({ items: [] });
});

test("both users of a DM can pin messages", async ({ ada, alpha }) => {
	const opened = await alpha("POST", "/users/@me/channels", { recipient_id: ada.id });
	const { id } = opened.json<{ id: string }>();
	const sent = await alpha("POST", `/channels/${id}/messages`, { content: "hi" });
	const message = sent.json<{ id: string }>();
	const pinned = await alpha("PUT", `/channels/${id}/messages/pins/${message.id}`);
	expect(pinned.status).toBe(204);
});
