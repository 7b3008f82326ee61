// The format of guild documents as a text: one line for each field.

import * as v from "valibot";
import { documentSchema, type Part, partNames } from "./document.ts";

interface SchemaParts {
	type: string;
	entries?: Record<string, v.GenericSchema>;
	wrapped?: v.GenericSchema;
	item?: v.GenericSchema;
	options?: readonly (string | number)[];
}

const intro = [
	"A guild document is JSON, whole or partial. Things refer to each other by name; give things of the same name different keys. A part that is absent is not touched.",
	"? marks what may be left out. Values are texts unless said. All with a name may have id and key. What is described once means the same elsewhere.",
];

/** People do not write these. */
const ofExports = new Set(["version", "omitted", "unseen", "managed", "animated"]);

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
	return Object.entries(entries).flatMap(([name, field]) => {
		const { type, wrapped } = partsOf(field);
		const inner = type === "optional" && wrapped ? wrapped : field;
		const text = v.getDescription(inner) ?? "";
		const isKnown = type === "optional" && seen.has(text);
		const isHint = isKnown && (name === "id" || name === "key");
		if (isLeftOut(name) || ofExports.has(name) || isHint) return [];
		const item = partsOf(inner).item ?? inner;
		const fields = partsOf(item).entries;
		const known = seen.get(fields);
		const shown = [typeText(inner), known ? `as in ${known}` : "", isKnown ? "" : text];
		seen.set(text, name);
		const inside = known ? [] : linesOf(item, `${indent} `, seen);
		if (fields && !known) seen.set(fields, name);
		return [
			[`${indent}${name}${type === "optional" ? "?" : ""}`, shown.filter(Boolean).join(". ")]
				.filter(Boolean)
				.join(": "),
			...inside,
		];
	});
}

const partsOf = (schema: v.GenericSchema) => schema as unknown as SchemaParts;

function typeText(schema: v.GenericSchema): string {
	const { type, item, options } = partsOf(schema);
	if (item) return ["list", typeText(item)].filter(Boolean).join(" of ");
	if (options) return options.map((one) => (one === "" ? '""' : one)).join(" | ");
	return type === "number" || type === "boolean" ? type : "";
}
