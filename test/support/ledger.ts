// Numbered calls with their answers, compared with the writes that were executed.

/** The outcome of a call, as far as its client knows. */
export type CallOutcome =
	| "done"
	/** The answer says that it was not executed. */
	| "not done"
	/** The answer says that it may have been executed. */
	| "unknown"
	/** The client disconnected before the answer. */
	| "cancelled"
	/** No answer, or one to another call. */
	| "lost";

export interface Answer {
	outcome: CallOutcome;
	/** The answer's text, or why there is none. */
	said: string;
}

export interface LedgerCall {
	number: number;
	/** The called tool, for messages. */
	what: string;
	writes: boolean;
	/** There should be exactly one. */
	answers: Answer[];
	/** Why its outcome can be unknown: what interrupted it after it was sent. */
	cause?: string | undefined;
}

/** How many writes a call with each outcome may have caused. */
const allowed: Record<CallOutcome, readonly [least: number, most: number]> = {
	done: [1, 1],
	"not done": [0, 0],
	unknown: [0, 1],
	cancelled: [0, 1],
	lost: [0, 1],
};

export interface Violations {
	/** Without an answer, or answered "done" without a write. */
	lost: string[];
	/** Answered or executed more than once. */
	duplicated: string[];
	/** Executed although the answer denies it, or without a call. */
	unannounced: string[];
	/** Answered "unknown" without an interruption. */
	unexplained: string[];
}

/** The violations of these calls. `written` has how often the write of each number was executed. */
export function findViolations(calls: Iterable<LedgerCall>, written: ReadonlyMap<number, number>): Violations {
	const found: Violations = { lost: [], duplicated: [], unannounced: [], unexplained: [] };
	const known = new Set<number>();
	for (const { number, what, writes, answers, cause } of calls) {
		known.add(number);
		const times = written.get(number) ?? 0;
		const [answer = { outcome: "lost", said: "never answered" }, ...more] = answers;
		const said = [answer, ...more].map((one) => `${one.outcome}: ${one.said}`);
		const line = `${number} (${what}) executed ${times} time(s), ${said.join("; and ")}`;
		const [least, most] = writes ? allowed[answer.outcome] : [0, 0];
		if (answer.outcome === "lost" || times < least) found.lost.push(line);
		if (answer.outcome === "unknown" && cause === undefined) found.unexplained.push(line);
		if (times > 1 || more.length > 0) found.duplicated.push(line);
		else if (times > most) found.unannounced.push(line);
	}
	for (const [number, times] of written)
		if (!known.has(number)) found.unannounced.push(`${number} executed ${times} time(s), never called`);
	return found;
}

/** Counts calls by outcome. */
export function countOutcomes(calls: Iterable<LedgerCall>): Record<CallOutcome, number> {
	const counts = { done: 0, "not done": 0, unknown: 0, cancelled: 0, lost: 0 };
	for (const { answers } of calls) counts[answers[0]?.outcome ?? "lost"] += 1;
	return counts;
}

/** The outcome that an HTTP response to the call with this number states. */
export function readAnswer(number: number, status: number, body: string): Answer[] {
	const lost = (why: string): Answer => ({ outcome: "lost", said: why });
	if (status !== 200) return [lost(`HTTP ${status}: ${body}`)];
	const frames = [...body.matchAll(/^data: (.*)$/gm)].map(([, text]) => text);
	if (frames.length === 0) return [lost(`no message in ${JSON.stringify(body)}`)];
	return frames.map((frame = "") => {
		const { id, result } = JSON.parse(frame);
		if (id !== number) return lost(`an answer to ${JSON.stringify(id)}`);
		if (!result) return lost(`a JSON-RPC error: ${frame}`);
		const said = result.content.map((one: { text: string }) => one.text).join("\n");
		return { outcome: result.isError ? outcomeOf(said) : "done", said };
	});
}

/** By the words of the gateway, and those of the bot (src/discord/rest/errors.ts, src/bot/tool/context.ts). */
function outcomeOf(fault: string): CallOutcome {
	return /^Gateway error: OutcomeUnknown:|is unknown|may have taken effect/.test(fault) ? "unknown" : "not done";
}
