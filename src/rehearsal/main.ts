// The process of a rehearsal: reads what to play from stdin and writes lines of JSON to stdout: its steps, and the answer
// last. It has no token, and reaches no server. A scenario is played once more with the settings that may change its outcome.

import type { Answer, Rehearsal } from "../bot/guild-documents/rehearsals/rehearsals.ts";
import { featureOff, isKey } from "../bot/settings/keys.ts";
import { playHijack, playRaid, playSpam } from "./attacks.ts";
import { playDocument, playRestore } from "./documents.ts";
import { playMember } from "./member.ts";
import { seed } from "./sandbox.ts";
import { openStage, report, type Scenario } from "./stage.ts";

const scenarios: Record<Rehearsal["scenario"], Scenario> = {
	raid: playRaid,
	spam: playSpam,
	hijack: playHijack,
	member: playMember,
	restore: playRestore,
	document: playDocument,
};

async function play(given: Rehearsal, missing: Set<string>): Promise<Answer> {
	seed(given.seed);
	await using stage = await openStage(given, missing);
	report({ step: `playing ${given.scenario}` });
	const answer = await scenarios[given.scenario](stage, { ...given, settings: stage.settings });
	return { ...answer, lines: [...answer.lines, ...stage.costs()] };
}

async function rehearse(given: Rehearsal): Promise<Answer> {
	const lacking = new Set(given.missing);
	const withMissing = (...lines: string[]) => [...Array.from(lacking, (line) => `Not in the copy: ${line}`), ...lines];
	for (const step of withMissing()) report({ step });
	const first = await play(given, lacking);
	const { features } = given.toml;
	const isOn = ([key]: [string, unknown]) => isKey(key) && featureOff(key, features) === undefined;
	const better = Object.fromEntries(Object.entries(first.better ?? {}).filter(isOn));
	if (Object.keys(better).length === 0) return { ...first, better: undefined, lines: withMissing(...first.lines) };
	report({ step: "once more, with other settings" });
	Bun.gc(true);
	const settings = { ...given.settings, ...better };
	const second = await play({ ...given, settings }, lacking);
	const changes = JSON.stringify(better);
	if (Bun.deepEquals(first.outcome ?? first.lines, second.outcome ?? second.lines))
		return { lines: withMissing(...first.lines, `With ${changes} it would be the same.`) };
	const lines = withMissing(...first.lines, `With ${changes}:`, ...second.lines);
	return { ...first, better, lines };
}

// The copy has no icons: it could not load them.
await rehearse(JSON.parse(await Bun.stdin.text(), (key, value) => (key === "icon" ? undefined : value)))
	.then((answer) => report({ answer }))
	.catch((error) => report({ error: error.message || String(error) }));
process.exit(0);
