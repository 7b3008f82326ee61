// Many reports at once: everyone gets an answer in time, and the entries keep to Discord's limits.

import { expect, test } from "bun:test";
import { generousLimits, realisticLimits } from "../../../../src/simulator/rest/rate-limits.ts";
import type { Message } from "../../../../src/simulator/world/state/entities.ts";
import { present, until } from "../../../support/until.ts";
import { general, shownIn, startReportsWorld } from "./reports-world.ts";

const people = 500;

/** The machine may be slow. */
const timing = { acknowledgeMs: 60_000 };

const sent = /^Thank you\. Your report was sent/;

function crowd(world: Awaited<ReturnType<typeof startReportsWorld>>): string[] {
	const { simulator, guild } = world;
	return Array.from({ length: people }, (_, index) => {
		const username = `person_${index}`;
		const { user } = simulator.world.users.addPerson({ username });
		simulator.world.members.add(guild, user);
		return username;
	});
}

test("many people report the same message: one entry, few requests, all answered", async () => {
	await using world = await startReportsWorld(undefined, { rateLimits: realisticLimits, timing });
	const names = crowd(world);
	const message = await world.say("mona_lisa", "cheap watches");
	const answers = await Promise.all(names.map((name) => world.report(name, message)));
	expect(answers.filter((answer) => !sent.test(answer))).toEqual([]);
	const entry = await world.entry(1, (text) => text.includes(`Reported by ${people} people:`));
	expect(shownIn(entry)).toContain(`and ${people - 5} more`);
	expect(world.entries()).toHaveLength(1);
	const edits = world.simulator.journal.entries("PATCH /channels/:channel_id/messages/:message_id");
	expect(edits.length).toBeLessThan(20);
}, 300_000);

test("many messages are reported: each has an entry, and all are answered", async () => {
	await using world = await startReportsWorld(undefined, {
		timing,
		rateLimits: {
			...generousLimits,
			// As at Discord, but faster.
			routes: { "POST /channels/:channel_id/messages": { requests: 5, perMs: 300 } },
		},
	});
	const names = crowd(world).slice(0, 60);
	const messages: Message[] = [];
	const { channel } = world.simulator.channel(general);
	const mona = present(world.simulator.world.users.get(world.id("mona_lisa")));
	for (const [index] of names.entries())
		messages.push(world.simulator.world.messages.add(channel, mona, { content: `message ${index}` }));
	const answers = await Promise.all(names.map((name, index) => world.report(name, messages[index] as Message)));
	expect(answers.filter((answer) => !sent.test(answer))).toEqual([]);
	await until("all entries", () => world.entries().length >= names.length);
	const numbers = world.entries().map(({ embeds }) => embeds[0]?.title);
	expect(new Set(numbers).size).toBe(names.length);
}, 300_000);
