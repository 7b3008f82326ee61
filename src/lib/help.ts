// The environment variables of a program, as `--help` lists them: from the schemas that read them.

import * as v from "valibot";

const lineWidth = 120;

/**
 * One row for each variable: its name, the `v.description` of its schema, and "(required)" or its default. A default that
 * is no constant is stated by `v.metadata({ default: "…" })`.
 */
export function describeVariables(
	schemas: Readonly<Record<string, v.GenericSchema>>,
): string {
	const nameWidth = Math.max(
		...Object.keys(schemas).map((name) => name.length),
	);
	const indent = " ".repeat(nameWidth + 4);
	return Object.entries(schemas)
		.map(([name, schema]) => {
			const words = `${v.getDescription(schema) ?? ""}${defaultNote(schema)}`;
			const lines = wrap(words, lineWidth - indent.length);
			return `  ${name.padEnd(nameWidth)}  ${lines.join(`\n${indent}`)}`;
		})
		.join("\n");
}

function defaultNote(schema: v.GenericSchema): string {
	const { default: stated } = v.getMetadata(schema);
	const value = stated ?? v.getDefault(schema);
	if (value !== undefined) return ` (default: ${value})`;
	return schema.type === "optional" ? "" : " (required)";
}

function wrap(text: string, width: number): string[] {
	const lines: string[] = [];
	let line = "";
	for (const word of text.split(" ")) {
		if (line !== "" && line.length + 1 + word.length > width) {
			lines.push(line);
			line = word;
		} else line = line === "" ? word : `${line} ${word}`;
	}
	return [...lines, line];
}
