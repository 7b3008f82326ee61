// config.toml: its text → settings, or faults that show the line.

import { parse, TomlError } from "smol-toml";
import type * as v from "valibot";
import {
	checkSettings,
	describeFault,
	type Fault,
	holdsSecret,
	masked,
	type Parsed,
} from "../lib/config.ts";

/** What stands in a file, whether or not it is what belongs there. */
export type TomlValues = Readonly<Record<string, unknown>>;

/**
 * Settings from TOML text, and what stands in it. A fault names its key, and shows its line with a caret. A value that
 * begins "your-" was never filled in, and counts as unset. `check` finds what a schema does not: it is given whatever
 * stands there, so that no fault hides another.
 */
export function readToml<const S extends v.GenericSchema<unknown, unknown>>(
	schema: S,
	text: string,
	check: (values: TomlValues) => Fault[] = () => [],
): Parsed<v.InferOutput<S>> & { values: TomlValues } {
	let values: TomlValues;
	try {
		// Ids without quotation marks are no numbers that a double can hold; what is wrong with them is said below.
		const parsed = parse(text, { integersAsBigInt: "asNeeded" });
		values = withoutPlaceholders(parsed) as TomlValues;
	} catch (error) {
		if (!(error instanceof TomlError)) throw error;
		return {
			settings: undefined,
			faults: [describeSyntaxFault(text, error)],
			values: {},
		};
	}
	const parsed = checkSettings(schema, values);
	const faults = [...parsed.faults, ...check(values)];
	if (faults.length === 0)
		return {
			settings: parsed.settings as v.InferOutput<S>,
			faults: [],
			values,
		};
	return {
		settings: undefined,
		values,
		faults: faults.map((fault) => {
			const shown = showPlace(text, fault.path);
			return shown ? `${describeFault(fault)}\n${shown}` : describeFault(fault);
		}),
	};
}

/** Whether a value was copied from the example and never filled in. */
export function isPlaceholder(value: unknown): boolean {
	return typeof value === "string" && value.startsWith("your-");
}

function withoutPlaceholders(value: unknown): unknown {
	if (typeof value !== "object" || value === null || value instanceof Date)
		return value;
	if (Array.isArray(value))
		return value.filter((one) => !isPlaceholder(one)).map(withoutPlaceholders);
	const kept = Object.entries(value).filter(([, one]) => !isPlaceholder(one));
	return Object.fromEntries(
		kept.map(([key, one]) => [key, withoutPlaceholders(one)]),
	);
}

/** The line of a key, with a caret under its value; undefined where it does not stand on a line of its own. */
function showPlace(text: string, path: readonly string[]): string | undefined {
	const place = findPlace(text, path);
	if (!place) return undefined;
	return showLine(place);
}

/** A line, with a caret under a column of it. What may be a secret in it is not shown. */
function showLine({ number, line, column }: Place): string {
	const margin = `    ${number}: `;
	const shown = holdsSecret(line)
		? `${line.slice(0, line.indexOf("=") + 1)} …`
		: line.slice(0, column) + masked(line.slice(column));
	return `${margin}${shown}\n${" ".repeat(margin.length)}${line.slice(0, column).replace(/[^\t]/g, " ")}^`;
}

/** The parser shows the lines around a fault, whatever stands in them; here it is the line itself. */
function describeSyntaxFault(text: string, error: TomlError): string {
	const [summary = ""] = error.message.split("\n");
	const line = text.split(/\r?\n/)[error.line - 1] ?? "";
	const place = { number: error.line, line, column: error.column - 1 };
	return `${masked(summary)}\n${showLine(place)}`;
}

interface Place {
	/** From 1. */
	number: number;
	line: string;
	/** Of the value, from 0. */
	column: number;
}

const keyPattern = String.raw`(?:[\w-]+|"[^"]*"|'[^']*')`;
const keysPattern = String.raw`${keyPattern}(?:\s*\.\s*${keyPattern})*`;
const header = new RegExp(String.raw`^\s*\[\[?\s*(${keysPattern})\s*\]`);
const assignment = new RegExp(String.raw`^\s*(${keysPattern})\s*=\s*`);

/** Where a key stands. Only for text that the parser has accepted. */
function findPlace(text: string, path: readonly string[]): Place | undefined {
	let table: string[] = [];
	let inText = false;
	for (const [index, line] of text.split(/\r?\n/).entries()) {
		// Neither in a comment nor in a text of one line.
		const code = inText
			? line
			: line.replace(/"(?!"")(?:[^"\\]|\\.)*"|'(?!'')[^']*'|#.*$/g, "");
		const wasInText = inText;
		if ((code.match(/"""|'''/g)?.length ?? 0) % 2 === 1) inText = !inText;
		if (wasInText) continue;
		const [opening, name] = header.exec(line) ?? [];
		if (name !== undefined && opening !== undefined) {
			table = readKeys(name);
			if (isSame(table.slice(0, path.length), path))
				return { number: index + 1, line, column: line.indexOf("[") };
		}
		const [whole, keys] = assignment.exec(line) ?? [];
		if (whole === undefined || keys === undefined) continue;
		const at = [...table, ...readKeys(keys)];
		// A value may be a list or a table, with what is meant within it; and what is meant may be a table of the key's.
		const length = Math.min(at.length, path.length);
		if (isSame(at.slice(0, length), path.slice(0, length)))
			return { number: index + 1, line, column: whole.length };
	}
	return undefined;
}

function readKeys(text: string): string[] {
	return Array.from(text.matchAll(new RegExp(keyPattern, "g")), ([key]) =>
		key.replace(/^["']|["']$/g, ""),
	);
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
	return a.length === b.length && a.every((key, index) => key === b[index]);
}
