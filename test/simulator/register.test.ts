// Every route and event has a source. The README's last part is generated from the register; `bun run reference` writes it.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { devDependencies } from "../../package.json";
import { beliefs } from "../../src/simulator/register/beliefs.ts";
import { readSources } from "../../src/simulator/register/sources.ts";
import { allRoutes } from "../../src/simulator/rest/routes/all.ts";
import { guildIntents } from "../../src/simulator/world/state/events.ts";
import { operationKey, readOperations } from "../support/discord-spec/operations.ts";

const src = join(import.meta.dir, "../../src");
const readmeFile = join(src, "simulator/README.md");
const marker = "<!-- register -->\n";

const sources = readSources();
const routes = allRoutes.map(({ name }) => name);
const events = Object.keys(guildIntents);

function table(columns: readonly string[], rows: readonly string[][]): string {
	const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |\n`;
	return line(columns) + line(columns.map(() => "---")) + rows.map(line).join("");
}

const code = (text: string) => `\`${text}\``;

function sourceCells(name: string): string[] {
	const { url = "", asOf = "" } = sources.get(name) ?? {};
	return [`[${url.replace(/.*#/, "")}](${url})`, asOf];
}

function renderRegister(): string {
	const operations = readOperations();
	const routeRows = allRoutes.map(({ name, method, path }) => [
		code(name),
		...sourceCells(name),
		operations.has(operationKey(method, path)) ? "yes" : "no",
	]);
	const guesses: string[][] = [];
	const sourced: string[][] = [];
	for (const [id, one] of Object.entries(beliefs))
		if (one.kind === "guess") guesses.push([code(id), one.belief, one.notProbed ?? ""]);
		else {
			const { belief, kind, source, asOf } = one;
			sourced.push([code(id), belief, `${kind}: ${source}`, asOf]);
		}
	const untried = guesses.filter(([, , reason]) => reason !== "").length;
	return `
### Guesses

${guesses.length}, of which ${guesses.length - untried} \`bun run bot --probe-guild ID\` tries in a guild made for it.

${table(["id", "guess", "why it is not tried"], guesses)}
### Other beliefs

${table(["id", "belief", "source", "as of"], sourced)}
### Routes

${routes.length}. "OpenAPI": an operation of Discord's OpenAPI document, as of discord-api-spec ${devDependencies["discord-api-spec"]}. The tests compare
all requests and responses with it.

${table(["route", "documentation", "as of", "OpenAPI"], routeRows)}
### Events

${events.length}.

${table(
	["event", "documentation", "as of"],
	events.map((name) => [code(name), ...sourceCells(name)]),
)}`;
}

test("every route and every event has a source, and nothing else", () => {
	expect([...sources.keys()].sort()).toEqual([...routes, ...events].sort());
	const incomplete = [...sources].filter(
		([, { url, asOf }]) => !/^https:\/\/[^#]+#[\w-]+$/.test(url) || !/^\d{4}-\d\d-\d\d$/.test(asOf),
	);
	expect(incomplete).toEqual([]);
});

test("every guess in a comment is in the register", async () => {
	const unknown: string[] = [];
	for await (const file of new Bun.Glob("simulator/**/*.ts").scan(src)) {
		if (file.startsWith("simulator/register/")) continue;
		const text = await Bun.file(join(src, file)).text();
		for (const [found, id = ""] of text.matchAll(/\bguess\b(?: \(([\w-]+)\))?/gi))
			if (beliefs[id]?.kind !== "guess") unknown.push(`${file}: ${found}`);
	}
	expect(unknown).toEqual([]);
});

test("the README has the register as it is", async () => {
	const readme = await Bun.file(readmeFile).text();
	const [before] = readme.split(marker);
	const expected = before + marker + renderRegister();
	if (process.env.WRITE_REFERENCE) await Bun.write(readmeFile, expected);
	// When this fails: bun run reference.
	expect(await Bun.file(readmeFile).text()).toBe(expected);
});
