// Numbered calls, what each was answered, and whether that is true of what was written.

/** What a call came to, as far as its client knows. */
export type Fate =
	| "done"
	/** The answer says that it was not carried out. */
	| "not done"
	/** The answer says that it may have been carried out. */
	| "unknown"
	/** The client hung up before there was an answer. */
	| "given up"
	/** There was no answer, or it was no answer to this call. */
	| "lost";

export interface Answer {
	fate: Fate;
	/** The answer's text, or why there is none. */
	said: string;
}

export interface LedgerCall {
	number: number;
	/** What was called, for whoever looks for a fault. */
	what: string;
	writes: boolean;
	/** All of them; there should be one. */
	answers: Answer[];
	/** What cut it off after it was sent, where its outcome is unknown. */
	cause?: string | undefined;
}

/** How many of the things that are written each call may have caused. */
const allowed: Record<Fate, readonly [least: number, most: number]> = {
	done: [1, 1],
	"not done": [0, 0],
	unknown: [0, 1],
	"given up": [0, 1],
	lost: [0, 1],
};

export interface Violations {
	/** Without an answer, or answered "done" and nowhere to be found. */
	lost: string[];
	/** Answered, or carried out, more than once. */
	duplicated: string[];
	/** Carried out although the answer says that it was not, or although nobody asked for it. */
	unannounced: string[];
	/** Answered "unknown" though nothing cut it off. */
	unexplained: string[];
}

/** What is wrong with these calls, if their writes were carried out so often: number → times. */
export function findViolations(
	calls: Iterable<LedgerCall>,
	written: ReadonlyMap<number, number>,
): Violations {
	const found: Violations = {
		lost: [],
		duplicated: [],
		unannounced: [],
		unexplained: [],
	};
	const known = new Set<number>();
	for (const { number, what, writes, answers, cause } of calls) {
		known.add(number);
		const times = written.get(number) ?? 0;
		const [answer = { fate: "lost", said: "never answered" }, ...more] =
			answers;
		const said = [answer, ...more].map((one) => `${one.fate}: ${one.said}`);
		const line = `${number} (${what}) carried out ${times} time(s), ${said.join("; and ")}`;
		const [least, most] = writes ? allowed[answer.fate] : [0, 0];
		if (answer.fate === "lost" || times < least) found.lost.push(line);
		if (answer.fate === "unknown" && cause === undefined)
			found.unexplained.push(line);
		if (times > 1 || more.length > 0) found.duplicated.push(line);
		else if (times > most) found.unannounced.push(line);
	}
	for (const [number, times] of written)
		if (!known.has(number))
			found.unannounced.push(
				`${number} carried out ${times} time(s), never asked for`,
			);
	return found;
}

/** How many of these calls came to what. */
export function countFates(calls: Iterable<LedgerCall>): Record<Fate, number> {
	const counts = { done: 0, "not done": 0, unknown: 0, "given up": 0, lost: 0 };
	for (const { answers } of calls) counts[answers[0]?.fate ?? "lost"] += 1;
	return counts;
}

/** What an answer over HTTP to the call with this number says became of it. */
export function readAnswer(
	number: number,
	status: number,
	body: string,
): Answer[] {
	const lost = (why: string): Answer => ({ fate: "lost", said: why });
	if (status !== 200) return [lost(`HTTP ${status}: ${body}`)];
	const frames = [...body.matchAll(/^data: (.*)$/gm)].map(([, text]) => text);
	if (frames.length === 0)
		return [lost(`no message in ${JSON.stringify(body)}`)];
	return frames.map((frame = "") => {
		const { id, result } = JSON.parse(frame);
		if (id !== number) return lost(`an answer to ${JSON.stringify(id)}`);
		if (!result) return lost(`a JSON-RPC error: ${frame}`);
		const said = result.content
			.map((one: { text: string }) => one.text)
			.join("\n");
		return { fate: result.isError ? fateOf(said) : "done", said };
	});
}

/** By the words of the gateway, and those of the bot (src/bot/discord/rest/errors.ts, src/bot/tool/context.ts). */
function fateOf(fault: string): Fate {
	return /^Gateway error: OutcomeUnknown:|is unknown|may have taken effect/.test(
		fault,
	)
		? "unknown"
		: "not done";
}
