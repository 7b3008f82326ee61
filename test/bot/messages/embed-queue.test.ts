// The queue of embeds for log channels.

import { expect, test } from "bun:test";
import { EmbedBuilder } from "discord.js";
import { createEmbedQueue } from "../../../src/bot/messages/embed-queue.ts";
import { withinRun } from "../../../src/discord/rest/rest.ts";
import { openConnection } from "../../support/connection.ts";
import { recordLog } from "../../support/log.ts";
import { startSimulator } from "../../support/simulator.ts";
import { until } from "../../support/until.ts";

/** A queue, and the channel that it writes to. */
async function startQueue() {
	await using stack = new AsyncDisposableStack();
	const simulator = stack.use(
		await startSimulator({
			rateLimits: { global: { requests: 10_000, perMs: 1_000 }, each: { requests: 1_000, perMs: 1_000 } },
		}),
	);
	const { log, lines } = recordLog("warn");
	const { token } = simulator.bot("alpha");
	const { connection, opened } = stack.use(openConnection(simulator.api, { token, privileged: [], log }));
	await opened;
	const { id } = simulator.channel("The Cooks/staff");
	const other = simulator.channel("The Cooks/general");
	await until("the channels are known", () => connection.discord.channels.cache.has(other.id));
	const queue = createEmbedQueue({ connection, log, setting: "audit.channel" });
	const pushTo = (guildId: string, channelId: string, embed: () => EmbedBuilder | undefined, more = {}) =>
		queue.push(guildId, { channelId: () => channelId, embed, ...more });
	const titles = () =>
		simulator.world.messages.in(id).flatMap(({ embeds }) => embeds.map((embed) => Object(embed).title));
	const owned = stack.move();
	return {
		simulator,
		id,
		lines,
		other,
		pushTo,
		push: (number: number) => pushTo("a", id, () => new EmbedBuilder().setTitle(`call-${number}`)),
		/** The titles of the embeds in the channel. */
		titles,
		sent: (count: number) => until("all are sent", () => titles().length === count),
		contents: () => simulator.world.messages.in(id).flatMap(({ content }) => content || []),
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

test("beyond the limit, the guild with the most embeds loses its newest, and the next message says how many", async () => {
	await using world = await startQueue();
	const { simulator, id, other, pushTo, push, lines } = world;
	const fault = simulator.faults.stall(`POST /channels/${id}/messages`, { times: 1 });
	push(0);
	await until("the first is on its way", () => fault.hits === 1);
	for (let number = 1; number < 1_100; number++) push(number);
	for (let number = 0; number < 3; number++) pushTo("b", other.id, () => new EmbedBuilder().setTitle(`b-${number}`));
	const posted = () => simulator.world.messages.in(other.id).flatMap(({ embeds }) => embeds);
	await until("those of the other guild", () => posted().length === 3);
	fault.release();
	await world.sent(998);
	expect(world.titles()).toEqual(Array.from({ length: 998 }, (_, number) => `call-${number}`));
	expect(world.contents()).toEqual(["102 more entries were not logged."]);
	expect(lines).toEqual([]);
});

test("an embed that a tool call pushes is sent even if the call is cancelled, or may not write", async () => {
	await using world = await startQueue();
	const run = { signal: AbortSignal.abort(), endsAt: performance.now(), reason: undefined, mayWrite: false };
	await withinRun(run, async () => world.push(1));
	await world.sent(1);
	expect(world.titles()).toEqual(["call-1"]);
	expect(world.lines).toEqual([]);
});

test("of entries that Discord refuses together, each is sent alone, and one that it refuses then without its copies", async () => {
	await using world = await startQueue();
	const { simulator, id, lines, push, pushTo } = world;
	const first = simulator.faults.stall("POST /channels/*/messages", { times: 1 });
	push(0);
	await until("the first is on its way", () => first.hits === 1);
	const refused = () => new EmbedBuilder().setTitle("refused");
	pushTo("a", id, refused, { plain: () => new EmbedBuilder().setTitle("plain") });
	push(1);
	pushTo("a", id, () => undefined);
	const line = () => new EmbedBuilder().setTitle("line").setDescription("by Zoe");
	pushTo("a", id, line, { details: "audit:1" });
	for (let number = 3; number < 1_003; number++) push(number);
	// All together, and the first of them alone.
	simulator.faults.refuse("POST /channels/*/messages", 240_000, { times: 2 });
	first.release();
	await world.sent(1_000);
	expect(world.titles().slice(0, 4)).toEqual(["call-0", "plain", "call-1", "line"]);
	expect(world.contents()).toEqual(["4 more entries were not logged."]);
	expect(simulator.world.messages.in(id)[3]).toMatchObject({
		embeds: [{ description: "by Zoe" }],
		components: [{ components: [{ label: "Details" }] }],
	});
	expect(lines).toEqual([]);
});
