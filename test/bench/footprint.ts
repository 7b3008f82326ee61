// `bun run bench:footprint`: memory of the programs when idle and under load, and the size of the executable.

import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseCommandLine } from "../../src/lib/program/program.ts";
import { executables } from "../support/program.ts";
import { startLoadProcess } from "./load-process.ts";
import { measureBareClient, measureMembers, measureStart } from "./members/measure.ts";
import { fillGateway } from "./memory.ts";
import { firstAnswer, startGatewayProcess, startStubs } from "./targets.ts";
import { measureUp, smallServer } from "./up-footprint.ts";

const usage = `Usage: bun run bench:footprint [--quick] [--only <part>] [--members <number>] [--help]

Prints the memory (RSS) of a gateway, at rest and full, of a bot at rest, of "up" with two and with five bots (also PSS), and the size
of the executable in dist.

  --quick             fewer calls and members, in under 20 seconds
  --only <part>       gateway, bot, up, size, or one that does not run without it:
                      members: a bot and a bare discord.js client with a few, 100,000 and 1,000,000 members in a guild:
                               memory, longest call while the members load, look-ups, each next to its goal
                      small-server: "up" with two bots of 20,000 members each, in a control group of 512 MB
                      start:   from the start of a bot to its first answer
  --members <number>  for --only members: only a guild of so many

Environment:
  EXECUTABLES  a directory with the executable to measure instead of the sources, e.g. dist`;

const { quick, only, members } = parseCommandLine(usage, {
	quick: { type: "boolean" },
	only: { type: "string" },
	members: { type: "string" },
});
const parts = {
	gateway: measureGateway,
	bot: () => measureMembers(0),
	async up() {
		for (const bots of [2, 5]) await measureUp({ bots });
	},
	"small-server": () => measureUp(smallServer),
	size() {
		console.log("\nexecutable");
		printSize();
	},
	async members() {
		const crowds = quick ? [0, 10_000] : [0, 100_000, 1_000_000];
		for (const count of members === undefined ? crowds : [Number(members)]) {
			await measureMembers(count);
			await measureBareClient(count);
		}
	},
	start: () => measureStart(quick ? 3 : 11),
};
const calls = quick ? 20_000 : 100_000;

async function measureGateway(): Promise<void> {
	await using stack = new AsyncDisposableStack();
	const directory = mkdtempSync(join(tmpdir(), "guildhall-footprint-"));
	stack.defer(() => rmSync(directory, { recursive: true, force: true }));
	const stubs = stack.use(await startStubs(1, []));
	const gateway = await startGatewayProcess({ name: "gateway", backends: stubs.ports, directory });
	stack.use(gateway);
	await firstAnswer(gateway.url);
	await fillGateway(gateway, stack.use(startLoadProcess()), calls);
}

function printSize(): void {
	const file = join(executables ?? "dist", "guildhall");
	console.log(
		existsSync(file)
			? `${file.padEnd(42)}${(statSync(file).size / 1024 / 1024).toFixed(1).padStart(7)} MiB`
			: `${file}: not there; "bun run build" makes it`,
	);
}

console.log(
	executables
		? `the executable in ${executables}, resident memory`
		: `from the sources with Bun ${Bun.version}, resident memory`,
);
const isPart = (name: string): name is keyof typeof parts => Object.hasOwn(parts, name);
if (only !== undefined && !isPart(only)) {
	console.error(`--only: expected one of ${Object.keys(parts).join(", ")}`);
	process.exit(2);
}
for (const part of only ? [only] : (["gateway", "bot", "up", "size"] as const)) await parts[part]();
