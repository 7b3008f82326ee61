// The queue of embeds for log channels.

import { expect, test } from "bun:test";
import { EmbedBuilder } from "discord.js";
import { Connection } from "../../../src/bot/discord/connection/connection.ts";
import { createEmbedQueue } from "../../../src/bot/messages/embed-queue.ts";
import { recordLog } from "../../support/log.ts";
import { startSimulator } from "../../support/simulator.ts";
import { until } from "../../support/until.ts";

test("embeds that do not fit into the queue are dropped, and the next message says how many", async () => {
	await using simulator = await startSimulator({
		rateLimits: {
			global: { requests: 10_000, perMs: 1_000 },
			each: { requests: 1_000, perMs: 1_000 },
		},
	});
	const { log, lines } = recordLog("warn");
	const connection = new Connection({
		...{ token: simulator.bot("alpha").token, log },
		...{ api: simulator.api, cdn: simulator.cdn },
		onResponse() {},
	});
	await using _ = { [Symbol.asyncDispose]: () => connection.close() };
	await connection.open();
	const { id } = simulator.channel("The Cooks/staff");
	await until("the channel is known", () =>
		connection.discord.channels.cache.has(id),
	);
	const queue = createEmbedQueue({
		...{ connection, log },
		noun: "call(s)",
		setting: "mcp.audit_channel",
	});
	const fault = simulator.faults.stall("POST /channels/*/messages", {
		times: 1,
	});
	const push = (number: number) =>
		queue.push(id, () => new EmbedBuilder().setTitle(`call-${number}`));
	push(0);
	await until("the first is on its way", () => fault.hits === 1);
	for (let number = 1; number < 1_100; number++) push(number);
	fault.release();
	await queue.settled();
	const messages = simulator.world.messages.in(id);
	const titles = messages.flatMap(({ embeds }) =>
		embeds.map((embed) => Object(embed).title),
	);
	expect(titles).toEqual(
		Array.from({ length: 1_001 }, (_, number) => `call-${number}`),
	);
	expect(
		messages.map(({ content }) => content).filter((content) => content !== ""),
	).toEqual(["99 more call(s) were not logged."]);
	expect(lines).toEqual([]);
});
