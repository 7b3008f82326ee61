// When many joins suggest raid mode: by Discord's times, once per wave, and with a bounded memory.

import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import { type Client, Events } from "discord.js";
import { createJoinWatch } from "../../../../src/bot/moderation/raid/raid.ts";
import type { RaidView } from "../../../../src/bot/moderation/raid/raid-mode.ts";
import { read } from "../../../../src/bot/settings/guild-settings.ts";
import { recordLog } from "../../../support/log.ts";

const start = Date.UTC(2026, 0, 1);
const minuteMs = 60_000;

/** A watch for 20 joins in 60 s, with its suggestions; in the guild "night" it turns raid mode on. */
function watch(view?: RaidView, failures = 0) {
	const sent: unknown[] = [];
	const turned: unknown[] = [];
	let tries = 0;
	const { log } = recordLog("debug");
	const channel = {
		isSendable: () => true,
		send: async (message: unknown) => {
			tries += 1;
			if (tries <= failures) throw new Error("Discord is away");
			sent.push(message);
		},
	};
	const watched = createJoinWatch({
		settings: {
			of(guild) {
				const raid = { "moderation.raid": `${guild === "2" ? 5 : 20} joins in 1m`, "night.raid": guild === "night" };
				return read(guild === "off" ? {} : raid).values;
			},
		},
		connection: { discord: { channels: { cache: new Map([["1", channel]]) } } } as never,
		modes: {
			view: async () => view,
			turn: async (...request) => {
				turned.push(request);
				return { ended: Promise.resolve() };
			},
		},
		moderationLog: { channelOf: () => "1" },
		log,
	});
	const client = new EventEmitter() as unknown as Client;
	watched.attach(client);
	return {
		join(at: number, { bot = false, guild = "1" } = {}) {
			const member = { guild: { id: guild }, user: { bot }, joinedTimestamp: at };
			client.emit(Events.GuildMemberAdd, member as never);
		},
		/** The number of suggestions, when those that were begun are sent. */
		async suggestions() {
			for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
			return sent.length;
		},
		sent,
		turned,
		tries: () => tries,
	};
}

test("20 joins within a minute suggest raid mode, 19 do not", async () => {
	const { join, suggestions, sent } = watch();
	for (let number = 0; number < 19; number += 1) join(start + number);
	expect(await suggestions()).toBe(0);
	join(start + minuteMs);
	expect(await suggestions()).toBe(1);
	expect(sent[0]).toMatchObject({ allowedMentions: { parse: [] } });
});

test("slow joins, bots and joins in several guilds do not", async () => {
	const { join, suggestions } = watch();
	for (let number = 0; number < 100; number += 1) {
		join(start + number * 4_000);
		join(start, { bot: true });
		join(start, { guild: String(number) });
	}
	expect(await suggestions()).toBe(0);
});

test("with night.raid the bot turns raid mode on instead, once per wave and unless it is on", async () => {
	const { join, suggestions, turned } = watch();
	for (let number = 0; number < 100; number += 1) join(start + number, { guild: "night" });
	expect(await suggestions()).toBe(0);
	expect(turned).toMatchObject([["night", { wanted: "on", moderator_id: null, ends_at: expect.any(Number) }]]);
	const other = watch({ mode: { wanted: "on" } } as RaidView);
	for (let number = 0; number < 100; number += 1) other.join(start + number, { guild: "night" });
	expect([await other.suggestions(), other.turned]).toEqual([0, []]);
});

test("each guild has its own rate, or none", async () => {
	const { join, suggestions } = watch();
	for (let number = 0; number < 19; number += 1) for (const guild of ["1", "off"]) join(start + number, { guild });
	expect(await suggestions()).toBe(0);
	for (let number = 0; number < 5; number += 1) join(start + number, { guild: "2" });
	expect(await suggestions()).toBe(1);
});

test("a wave is suggested once, and the next one again", async () => {
	const { join, suggestions } = watch();
	for (let number = 0; number < 10_000; number += 1) join(start + number * 100);
	expect(await suggestions()).toBe(1);
	const later = start + 1_000_000 + 11 * minuteMs;
	for (let number = 0; number < 40; number += 1) join(later + number);
	expect(await suggestions()).toBe(2);
});

test("events in another order, as after a reconnect, count by when people joined", async () => {
	const { join, suggestions } = watch();
	for (let number = 60; number > 0; number -= 1) join(start + number * 4_000);
	expect(await suggestions()).toBe(0);
});

test("nothing is suggested while raid mode is on", async () => {
	const { join, suggestions } = watch({ mode: { wanted: "on" } } as RaidView);
	for (let number = 0; number < 40; number += 1) join(start + number);
	expect(await suggestions()).toBe(0);
});

test("a suggestion that fails is tried again by a later join of the wave, and sent once", async () => {
	const { join, suggestions, tries } = watch(undefined, 2);
	for (let second = 0; second < 60; second += 1)
		for (let number = 0; number < 40; number += 1) {
			join(start + second * 1_000 + number);
			await suggestions();
		}
	expect([tries(), await suggestions()]).toEqual([3, 1]);
});
