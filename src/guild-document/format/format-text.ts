// The format of guild documents as a text: one line for each field.

import * as v from "valibot";
import { documentSchema, type Part, partNames } from "./document.ts";

interface SchemaParts {
	type: string;
	entries?: Record<string, v.GenericSchema>;
	wrapped?: v.GenericSchema;
	item?: v.GenericSchema;
	options?: readonly (string | number)[];
	literal?: unknown;
}

const intro = [
	"A guild document is JSON, whole or partial. Things refer to each other by name; give things of the same name different keys. Ids are hints: they are compared first. A part that is absent is not touched.",
	"? marks what may be left out.",
];

/** A line for each field with name, type and meaning, indented by depth. */
export function formatText(parts: readonly Part[] = partNames): string[] {
	const isLeftOut = (name: string) => partNames.some((part) => part === name) && !parts.some((part) => part === name);
	return [...intro, ...linesOf(documentSchema, "", new Map(), isLeftOut)];
}

function linesOf(
	schema: v.GenericSchema,
	indent: string,
	seen: Map<unknown, string>,
	isLeftOut: (name: string) => boolean = () => false,
): string[] {
	const { entries } = partsOf(schema);
	if (!entries) return [];
	const known = seen.get(entries);
	if (known !== undefined) return [`${indent}(fields as in ${known})`];
	return Object.entries(entries).flatMap(([name, field]) => {
		if (isLeftOut(name)) return [];
		const { type, wrapped } = partsOf(field);
		const inner = type === "optional" && wrapped ? wrapped : field;
		const text = v.getDescription(inner) ?? "";
		const item = partsOf(inner).item ?? inner;
		const mark = type === "optional" ? "?" : "";
		const inside = linesOf(item, `${indent}  `, seen);
		const { entries } = partsOf(item);
		if (entries && !seen.has(entries)) seen.set(entries, name);
		return [`${indent}${name}${mark}: ${[typeText(inner), text].filter(Boolean).join(". ")}`, ...inside];
	});
}

const partsOf = (schema: v.GenericSchema) => schema as unknown as SchemaParts;

function typeText(schema: v.GenericSchema): string {
	const { type, item, options, literal } = partsOf(schema);
	if (item) return `list of ${typeText(item)}`;
	if (literal !== undefined) return String(literal);
	if (options)
		return options.length > 12
			? `one of ${options.length} values such as ${options[0]}`
			: options.map((one) => (one === "" ? '""' : one)).join(" | ");
	const names: Readonly<Record<string, string>> = {
		string: "text",
		number: "integer",
		boolean: "true or false",
		strict_object: "object",
	};
	return names[type] ?? type;
}
