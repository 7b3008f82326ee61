// The process of a rehearsal: reads what to play from stdin and writes lines of JSON to stdout, the answer last. It has no
// token, and reaches no server. A scenario is played once more with the settings that may change its outcome.

import { seed } from "./virtual-time.ts";
import "./memory-network.ts";
import { join } from "node:path";
import type { Answer, Rehearsal } from "../bot/guild-documents/rehearsals/rehearsals.ts";
import { playHijack, playRaid } from "./attacks.ts";
import { playDocument, playRestore } from "./documents.ts";
import { openStage, type Scenario } from "./stage.ts";

const maxBytes = 1_000_000_000;
const scenarios: Record<Rehearsal["scenario"], Scenario> = {
	raid: playRaid,
	hijack: playHijack,
	restore: playRestore,
	document: playDocument,
};

const write = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

async function play(given: Rehearsal, directory: string): Promise<Answer> {
	const random = seed(given.seed);
	await using stage = await openStage(given, directory);
	if (process.memoryUsage.rss() > maxBytes) throw new Error(`the copy takes more than ${maxBytes / 1e6} MB of memory`);
	const answer = await scenarios[given.scenario](stage, given, random);
	return { ...answer, lines: [...answer.lines, stage.costs()] };
}

async function rehearse({ directory, ...given }: Rehearsal & { directory: string }): Promise<Answer> {
	const first = await play(given, join(directory, "first"));
	if (!first.better) return first;
	Bun.gc(true);
	const settings = { ...given.settings, ...first.better };
	const second = await play({ ...given, settings }, join(directory, "second"));
	return { ...first, lines: [...first.lines, `With ${JSON.stringify(first.better)}:`, ...second.lines] };
}

const answer = rehearse(await Bun.stdin.json());
write(await answer.then((answer) => ({ answer })).catch((error: Error) => ({ error: error.message })));
process.exit(0);
