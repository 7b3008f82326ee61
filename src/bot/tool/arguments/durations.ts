// Durations as arguments of tools: "90m", "3d", "1d12h". Tools receive seconds.

import * as v from "valibot";
import { secondsOf } from "../../../lib/times.ts";
import { published } from "../../../mcp/json-schema.ts";
import { expected } from "./arguments.ts";

/** JSON Schema pattern of all of them. */
export const durationPattern = "^(off|none|forever|(\\d{1,9} ?[a-zA-Z]{1,7} ?)+)$";

interface Range {
	/** Default: "1s". */
	min?: string;
	max: string;
	/** The word for 0. */
	none?: "off" | "none" | "forever";
	/** The smallest unit. */
	whole?: "hours" | "days";
}

function durationArgument(read: (text: string) => number | undefined, what: string, description: string) {
	return v.pipe(
		v.string(),
		v.check((input) => read(input) !== undefined, expected(what)),
		v.transform((input) => read(input) ?? 0),
		published({ pattern: durationPattern }),
		v.description(description),
	);
}

/** Inclusive. */
export function duration({ min = "1s", max, none, whole }: Range, description: string) {
	const [least, most] = [secondsOf(min), secondsOf(max)];
	const step = whole ? secondsOf(`1 ${whole}`) : 1;
	const read = (text: string) => {
		if (none !== undefined && (text === none || secondsOf(text) === 0)) return 0;
		const seconds = secondsOf(text);
		return seconds >= least && seconds <= most && seconds % step === 0 ? seconds : undefined;
	};
	const unit = whole ? ` in whole ${whole}` : "";
	return durationArgument(read, `a duration from ${min} to ${max}${unit}${none ? ` or "${none}"` : ""}`, description);
}

/** One of those that Discord has. */
export function durationOf(options: readonly string[], description: string) {
	const seconds = options.map(secondsOf);
	const read = (text: string) => seconds.find((one) => one === secondsOf(text));
	return durationArgument(read, `one of ${options.join(", ")}`, description);
}
