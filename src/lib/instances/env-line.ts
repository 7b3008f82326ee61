// Lines of .env files.

import { parseEnv } from "node:util";

/** Quotes the value if needed; undefined if no line can hold it, because it has every kind of quotation mark. */
export function envLine(name: string, value: string): string | undefined {
	return ["", '"', "'", "`"]
		.map((quote) => `${name}=${quote}${value}${quote}`)
		.find((line) => parseEnv(line)[name] === value);
}
