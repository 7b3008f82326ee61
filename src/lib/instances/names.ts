// Rules for the names of instances, which are the names of their directories.

import { formatValue, isPlaceholder } from "../config.ts";

const pattern = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,39}$/;

export function instanceNameIssue(name: string): string | undefined {
	if (!pattern.test(name))
		return `expected 1 to 40 letters, digits, ".", "_" and "-", the first neither "." nor "-", received ${formatValue(name)}`;
	const lower = name.toLowerCase();
	if (lower === "example")
		return `${formatValue(name)} is the example that instances are made from; expected another name`;
	if (lower === "gateway") return `${formatValue(name)} is the gateway's name; expected another name`;
	if (isPlaceholder(name))
		return `a name that begins with "your-" would count as a placeholder; expected another name, received ${formatValue(name)}`;
	return undefined;
}
