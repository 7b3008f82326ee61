// The command line of `bun run bench`.

import { parseCommandLine } from "../../src/lib/program/program.ts";
import type { Effort } from "./compare.ts";

export const parts = ["calls", "slow", "list", "paths", "backends", "start", "memory"] as const;
/** Characters of the responses by their size in KB, as rows name it. */
export const sizes = new Map([
	["0.4", 300],
	["8", 8_100],
	["48", 49_000],
]);
export const connectionCounts = [1, 16, 64, 256];

const usage = `Usage: bun run bench [--quick] [--one-core] [--only PART] [--size KB] [--connections N] [--rounds N]

Measures the gateway against nginx as a plain reverse proxy and against a bare Bun.serve with raw connections to the bot.
test/bench/README.md says what each figure is, and how to read it on a machine that is busy otherwise.

  --quick          less of everything, in under 40 seconds
  --one-core       each server on the first core, the load generator and the bots on the others (Linux, taskset)
  --only PART      one part alone: ${parts.join(", ")}
  --size KB        calls with this size of response alone: ${[...sizes.keys()].join(", ")}
  --connections N  calls over so many connections alone: ${connectionCounts.join(", ")}
  --rounds N       so many rounds instead of 5

Environment:
  EXECUTABLES  a directory with the executable to measure instead of the sources, e.g. dist`;

export interface BenchOptions {
	quick: boolean;
	oneCore: boolean;
	/** A part, a size or a number of connections to which the run is limited. */
	only: string | undefined;
	size: string | undefined;
	connections: number | undefined;
	effort: Effort;
}

/** Reads the command line. Ends the program if an option is not what it may be. */
export function readOptions(): BenchOptions {
	const given = parseCommandLine(usage, {
		quick: { type: "boolean" },
		"one-core": { type: "boolean" },
		only: { type: "string" },
		size: { type: "string" },
		connections: { type: "string" },
		rounds: { type: "string" },
	});
	const oneOf = (option: "only" | "size" | "connections", values: readonly string[]) => {
		const value = given[option];
		if (value === undefined || values.includes(value)) return value;
		return refuse(`--${option}: expected one of ${values.join(", ")}`);
	};
	const rounds = Number(given.rounds ?? (given.quick ? 3 : 5));
	if (!Number.isInteger(rounds) || rounds < 1 || rounds > 1_000)
		return refuse("--rounds: expected a whole number from 1 to 1000");
	const { quick = false } = given;
	const connections = oneOf("connections", connectionCounts.map(String));
	return {
		quick,
		oneCore: given["one-core"] ?? false,
		only: oneOf("only", parts),
		size: oneOf("size", [...sizes.keys()]),
		connections: connections === undefined ? undefined : Number(connections),
		effort: { rounds, ms: quick ? 100 : 400 },
	};
}

function refuse(issue: string): never {
	console.error(`${issue}\n\n${usage}`);
	process.exit(2);
}
