// How soon a bot is back after an outage of Discord's Gateway: outages of 6 s to 5 minutes, on the real clock, all at the
// same time, each with a bot and a simulator of its own.

import { setTimeout as sleep } from "node:timers/promises";
import { Connection } from "../../src/discord/connection/connection.ts";
import { parseCommandLine } from "../../src/lib/program/program.ts";
import { startSimulator } from "../../src/simulator/simulator.ts";
import { recordLog } from "../support/log.ts";
import { median } from "./figures.ts";

const usage = `Usage: bun run bench:outage [--quick]

Measures the time from the end of an outage of Discord's Gateway until the bot is ready: 20 outages of 6 to 300 s in which
sessions end, and 20 in which they can be resumed.

  --quick  outages of 6 to 30 s`;

const runs = 20;
const shortestMs = 6_000;

/** Resolves with how long after an outage a bot was back, in milliseconds, and how often it logged in for that. */
async function measure(outageMs: number, resumable: boolean) {
	await using simulator = await startSimulator();
	const { id, token } = simulator.bot("alpha");
	const connection = new Connection({
		token,
		api: simulator.api,
		cdn: simulator.api,
		log: recordLog("warn").log,
		onResponse() {},
	});
	await connection.open();
	const { used } = simulator.world.users.sessionStarts;
	const before = used.get(id) ?? 0;
	simulator.sockets.refuseConnections(502);
	simulator.sockets.disconnect({ resumable });
	await sleep(outageMs);
	simulator.sockets.refuseConnections(undefined);
	const from = performance.now();
	while (!connection.state.connected) await sleep(10);
	const ms = performance.now() - from;
	await connection.close();
	return { outageMs, ms, logins: (used.get(id) ?? 0) - before };
}

const { quick } = parseCommandLine(usage, { quick: { type: "boolean" } });
const longestMs = quick ? 30_000 : 300_000;
const lengths = Array.from({ length: runs }, (_, run) => shortestMs + ((longestMs - shortestMs) * run) / (runs - 1));
const seconds = (ms: number) => (ms / 1_000).toFixed(1);
await Promise.all(
	[false, true].map(async (resumable) => {
		const results = await Promise.all(lengths.map((outageMs) => measure(outageMs, resumable)));
		const times = results.map(({ ms }) => ms);
		console.log(
			`sessions ${resumable ? "can be resumed" : "have ended"}: median ${seconds(median(times))} s, longest ${seconds(Math.max(...times))} s, logins ${results.reduce((sum, { logins }) => sum + logins, 0)} in ${runs} outages`,
		);
		for (const { outageMs, ms, logins } of results)
			console.log(`  ${seconds(outageMs)} s: ready after ${seconds(ms)} s, logins ${logins}`);
	}),
);
process.exit(0);
