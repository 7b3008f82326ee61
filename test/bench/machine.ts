// What stands at the top of a run: without it, its figures mean nothing.

import { availableParallelism, cpus, loadavg } from "node:os";
import { executables } from "../support/program.ts";
import type { LoadProcess } from "./load-process.ts";
import type { BenchOptions } from "./options.ts";
import { callJob } from "./targets.ts";

/** Prints the machine, the versions, the options, and what the load generator gets from the stub alone. */
export async function printMachine(
	{ oneCore, effort }: BenchOptions,
	{ load, stubUrl }: { load: LoadProcess; stubUrl: string },
	nginx: string | undefined,
): Promise<void> {
	const [average = 0] = loadavg();
	console.log(
		`Bun ${Bun.version}, ${process.platform} on ${availableParallelism()} x ${cpus()[0]?.model}, load average ${average.toFixed(1)} before this began`,
	);
	console.log(executables ? `the gateway is the executable in ${executables}` : "the gateway runs from its sources");
	if (!nginx)
		console.log(
			'nginx IS NOT INSTALLED: there is nothing to compare with, and "of 1st" is of the gateway (on Debian: apt-get install nginx-light)',
		);
	if (oneCore) console.log("one core: each server on core 0, the load generator and the bots on the others");
	const direct = await load.open(callJob(stubUrl, { connections: 64 }));
	await direct.run({ ms: effort.ms });
	const [before, from] = [await load.cpuMicros(), performance.now()];
	const { rate } = await direct.run({ ms: effort.ms * 2 });
	const used = (await load.cpuMicros()) - before;
	const share = used / 1000 / (performance.now() - from);
	await direct.close();
	console.log(
		`the load generator against the stub, nothing between them: ${rate.toFixed(0)} req/s, with ${(100 * share).toFixed(0)} % of a core; no rate below can be higher`,
	);
	console.log(
		`medians of ${effort.rounds} rounds of ${effort.ms} ms each; "of 1st": CPU of the first server's, median (least to most)`,
	);
}
