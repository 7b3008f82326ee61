// How memory grows; a gateway's at rest, after many calls, with many clients that are connected and quiet.

import { until } from "../support/until.ts";
import { holdIdle } from "./idle-connections.ts";
import type { LoadProcess } from "./load-process.ts";
import { maxOpenFiles, memoryOf } from "./processes.ts";
import { callJob, type GatewayProcess, token } from "./targets.ts";

const idleConnections = 10_000;
/** Descriptors beside those of the idle connections. */
const spareDescriptors = 600;
/** What is let go is given back a little later. */
const restMs = 1_000;
/** Goals of resident memory, in MiB: the gateway at rest. */
const idleGoal = 40;

/** Resolves after a while in which a process could give back what it let go. */
export function settle(): Promise<void> {
	return Bun.sleep(restMs);
}

/** Prints a figure in MiB, next to its goal if it has one. */
export function printRow(
	label: string,
	mib: number,
	{ goal, note = "" }: { goal?: number | undefined; note?: string } = {},
): void {
	const met = mib <= (goal ?? Number.POSITIVE_INFINITY) ? "met" : "MISSED";
	const wanted = goal === undefined ? "" : `   goal ${goal}: ${met}`;
	const row = `${label.padEnd(52)}${mib.toFixed(1).padStart(7)} MiB`;
	console.log(`${row}${note && `   ${note}`}${wanted}`);
}

/** Prints how much memory a process has, after a while in which it could give some back. */
async function printMemory(pid: number, state: string, goal?: number): Promise<void> {
	await settle();
	printRow(state, await memoryOf(pid), { goal });
}

/** Prints a line for each state of one that has just been started. */
export async function fillGateway(gateway: GatewayProcess, load: LoadProcess, calls: number): Promise<void> {
	const show = (state: string, goal?: number) => printMemory(gateway.pid, state, goal);
	await show("gateway, idle", idleGoal);
	const running = await load.open(callJob(gateway.url, { connections: 64 }));
	await running.run({ count: calls });
	await running.close();
	await show(`gateway, after ${calls} calls`);

	const possible = maxOpenFiles() - spareDescriptors;
	const count = Math.min(idleConnections, possible);
	if (count < idleConnections)
		console.log(
			`only ${count} of ${idleConnections} idle connections: a process may have ${maxOpenFiles()} open files here (ulimit -n)`,
		);
	const idle = holdIdle(gateway.url, count, { token, method: "ping" });
	try {
		await until("every connection is open", () => idle.open === count);
		await show(`gateway, with ${count} idle connections too`);
	} finally {
		idle.close();
	}
}
