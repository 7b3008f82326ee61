// config.toml: its text → settings, or faults that show the line.

import { parse } from "smol-toml";
import type * as v from "valibot";
import {
	checkSettings,
	describeFault,
	holdsSecret,
	masked,
	type Parsed,
} from "../lib/config.ts";

/** Settings from TOML text. A fault names its key, and shows its line with a caret. A value that begins "your-" was never filled in, and counts as unset. */
export function readToml<const S extends v.GenericSchema<unknown, unknown>>(
	schema: S,
	text: string,
): Parsed<v.InferOutput<S>> {
	let values: unknown;
	try {
		values = parse(text);
	} catch (error) {
		// The parser shows the line, with a caret under the fault.
		const fault = error instanceof Error ? error.message : String(error);
		return { settings: undefined, faults: [masked(fault.trimEnd())] };
	}
	const { settings, faults } = checkSettings(
		schema,
		withoutPlaceholders(values),
	);
	if (faults.length === 0)
		return { settings: settings as v.InferOutput<S>, faults: [] };
	return {
		settings: undefined,
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
	const { number, line, column } = place;
	const margin = `    ${number}: `;
	const shown = holdsSecret(path.at(-1) ?? "")
		? `${line.slice(0, column)}…`
		: line.slice(0, column) + masked(line.slice(column));
	return `${margin}${shown}\n${" ".repeat(margin.length)}${line.slice(0, column).replace(/[^\t]/g, " ")}^`;
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
		const quotes = line.match(/"""|'''/g)?.length ?? 0;
		const wasInText = inText;
		if (quotes % 2 === 1) inText = !inText;
		if (wasInText) continue;
		const [opening, name] = header.exec(line) ?? [];
		if (name !== undefined && opening !== undefined) {
			table = readKeys(name);
			if (isSame(table, path))
				return { number: index + 1, line, column: line.indexOf("[") };
		}
		const [whole, keys] = assignment.exec(line) ?? [];
		if (whole === undefined || keys === undefined) continue;
		const at = [...table, ...readKeys(keys)];
		// A value may be a list or a table, with what is meant within it.
		if (isSame(at, path.slice(0, at.length)))
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
