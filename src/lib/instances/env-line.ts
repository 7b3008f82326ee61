// Lines of .env files.

import { parseEnv } from "node:util";

/**
 * Returns the line of an .env file that sets a variable, with the value in quotation marks if it needs them; undefined if
 * no line can, because the value has every kind of quotation mark.
 */
export function envLine(name: string, value: string): string | undefined {
	return ["", '"', "'", "`"]
		.map((quote) => `${name}=${quote}${value}${quote}`)
		.find((line) => parseEnv(line)[name] === value);
}
