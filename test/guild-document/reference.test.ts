// What is published about guild documents is what the schema says. `bun run reference` writes it.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { readDocument } from "../../src/guild-document/format/document.ts";
import { fieldTables, marker, publishedSchema, readmeFile, schemaFile } from "./reference.ts";

const biome = join(import.meta.dir, "../../node_modules/.bin/biome");

test("the published JSON Schema is that of the documents", async () => {
	const schema = publishedSchema();
	if (process.env.WRITE_REFERENCE) {
		await Bun.write(schemaFile, JSON.stringify(schema));
		await Bun.spawn([biome, "format", "--write", schemaFile]).exited;
	}
	// When this fails: bun run reference.
	expect(await Bun.file(schemaFile).json()).toEqual(schema);
});

test("the README has a table of every field", async () => {
	const readme = await Bun.file(readmeFile).text();
	const [text = ""] = readme.split(marker);
	const expected = `${text}${marker}${fieldTables()}`;
	if (process.env.WRITE_REFERENCE) await Bun.write(readmeFile, expected);
	// When this fails: bun run reference.
	expect(await Bun.file(readmeFile).text()).toBe(expected);
});

test("every field of the JSON Schema has a description", () => {
	const missing: string[] = [];
	const visit = (schema: unknown, path: string) => {
		const { properties = {}, items } = Object(schema);
		if (items) visit(items, `${path}[]`);
		for (const [field, one] of Object.entries(properties)) {
			const at = `${path}.${field}`;
			if (!Object(one).description) missing.push(at);
			visit(one, at);
		}
	};
	visit(publishedSchema(), "");
	expect(missing).toEqual([]);
});

test("the example of the README is a guild document", async () => {
	const readme = await Bun.file(readmeFile).text();
	const examples = [...readme.matchAll(/```yaml\n([\s\S]*?)```/g)];
	expect(examples).toHaveLength(3);
	for (const [, example = ""] of examples) readDocument(example);
});
