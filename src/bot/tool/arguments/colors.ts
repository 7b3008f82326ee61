// Colors as arguments of tools: "#8E44AD", "8E44AD", "0x8E44AD", "#84A", names of CSS colors, or numbers.

import * as v from "valibot";
import { publishedAs } from "../../../mcp/json-schema.ts";
import { expected } from "./arguments.ts";

/** Such as "#8E44AD". */
export const hexColorPattern = "^#[0-9A-Fa-f]{6}$";

/** 0 to 0xffffff. For Discord, 0 (black) means no color. */
export const color = v.pipe(
	v.union([v.string(), v.number()]),
	v.check((input) => readColor(input) !== undefined, expected('a color such as "#8E44AD", "purple" or "none"')),
	v.transform((input) => readColor(input) as number),
	// Numbers are accepted, too: the argument took nothing else in former versions.
	publishedAs({
		type: "string",
		pattern: hexColorPattern,
		description: "Such as #8E44AD or purple; none to remove it.",
	}),
);

function readColor(input: string | number): number | undefined {
	if (typeof input === "number") return Number.isInteger(input) && input >= 0 && input <= 0xffffff ? input : undefined;
	const text = input.trim().toLowerCase();
	if (text === "none") return 0;
	const [, digits] = /^(?:#|0x)?([0-9a-f]{6})$/.exec(text) ?? [];
	if (digits) return Number.parseInt(digits, 16);
	if (!/^(#[0-9a-f]{3}|[a-z]+)$/.test(text)) return undefined;
	const value: unknown = Bun.color(text, "number");
	return typeof value === "number" ? value : undefined;
}
