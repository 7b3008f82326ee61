// Every route has a source, and every guess in a comment is in the table of guesses. The tables are in SOURCES.md.
// The README has every gap: those of comments, and Discord's routes that are not simulated.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { allRoutes } from "../../src/simulator/rest/routes/all.ts";
import { operationKey, readOperations } from "../support/discord-spec/operations.ts";

const simulator = join(import.meta.dir, "../../src/simulator");
const text = await Bun.file(join(simulator, "SOURCES.md")).text();

/** The rows of the table below a heading. A row is its cells; the first one is code. */
function rowsBelow(heading: string): string[][] {
	const [, section = ""] = text.split(`\n## ${heading}\n`);
	const [table = ""] = section.split("\n## ");
	const lines = table.split("\n").filter((line) => line.startsWith("| `"));
	return lines.map((line) => line.slice(3, -2).replace("`", "").split(" | "));
}

const firsts = (rows: readonly string[][]) => rows.map(([first = ""]) => first);
const guesses = firsts(rowsBelow("Guesses"));
const beliefs = rowsBelow("Other beliefs");
const sources = rowsBelow("Routes");

test("every route has a source, and nothing else", () => {
	const known = new Set(allRoutes.map(({ name }) => name));
	const listed = firsts(sources);
	expect(listed).toHaveLength(new Set(listed).size);
	// The table is in SOURCES.md.
	expect({
		missing: [...known.difference(new Set(listed))],
		unknown: listed.filter((name) => !known.has(name)),
	}).toEqual({ missing: [], unknown: [] });
	const incomplete = sources.filter(
		(row) => !/ \| \[[\w-]+\]\(https:\/\/[^#]+#[\w-]+\) \| \d{4}-\d\d-\d\d$/.test(row.join(" | ")),
	);
	expect(incomplete).toEqual([]);
});

test("no id is used twice, and every belief names its source and date", () => {
	const ids = [...guesses, ...firsts(beliefs)];
	expect(ids).toHaveLength(new Set(ids).size);
	const kinds = /^(documentation|OpenAPI|library): ./;
	expect(
		beliefs.filter(([, , source = "", asOf = ""]) => !kinds.test(source) || !/^\d{4}-\d\d-\d\d$/.test(asOf)),
	).toEqual([]);
});

test("every guess in a comment is in the table", async () => {
	const unknown: string[] = [];
	for await (const file of new Bun.Glob("**/*.ts").scan(simulator)) {
		const source = await Bun.file(join(simulator, file)).text();
		for (const [found, id = ""] of source.matchAll(/\bguess\b(?: \(([\w-]+)\))?/gi))
			if (!guesses.includes(id)) unknown.push(`${file}: ${found}`);
	}
	expect(unknown).toEqual([]);
});

test("the README lists all gaps", async () => {
	const file = join(simulator, "README.md");
	const readme = await Bun.file(file).text();
	const start = readme.indexOf("\n\n- ", readme.indexOf("\n## What is not\n"));
	const end = readme.indexOf("\n\n## Where it comes from\n");
	const gaps = [...(await gapsOfComments()), ...missingRoutes()];
	const expected = `${readme.slice(0, start)}\n\n${gaps.join("\n")}${readme.slice(end)}`;
	if (process.env.WRITE_REFERENCE) await Bun.write(file, expected);
	// When this fails: bun run reference.
	expect(await Bun.file(file).text()).toBe(expected);
});

/** The paragraphs of comments that begin with "A gap: ". */
async function gapsOfComments(): Promise<string[]> {
	const gaps: string[] = [];
	for await (const file of new Bun.Glob("**/*.ts").scan(simulator)) {
		const source = await Bun.file(join(simulator, file)).text();
		for (const [, text = ""] of source.matchAll(/^\/\/ A gap: (.*(?:\n\/\/ .*)*)/gm))
			gaps.push(`- ${text.replaceAll("\n// ", " ")}`);
	}
	return gaps.sort();
}

/** Discord's operations without a route here, a line for each resource. */
function missingRoutes(): string[] {
	const routes = new Set(
		allRoutes.map(({ name }) => {
			const [method = "", path = ""] = name.split(" ");
			return operationKey(method, path);
		}),
	);
	const resources = new Map<string, string[]>();
	for (const [key, { name }] of readOperations()) {
		if (routes.has(key)) continue;
		const [resource = ""] = /(?<= \/)[\w-]+/.exec(name) ?? [];
		resources.set(resource, [...(resources.get(resource) ?? []), `\`${name}\``]);
	}
	return [...resources].map(([resource, names]) => `- Routes of ${resource}: ${names.join(", ")}.`).sort();
}
