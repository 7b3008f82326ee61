// Every route and every event is used by a test, and the README names the routes that there are.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { allRoutes } from "../../src/simulator/rest/routes/all.ts";
import { guildIntents } from "../../src/simulator/world/state/events.ts";
import { eventTests, routeTests } from "./coverage.ts";

test("every route and every event has its test in the table", () => {
	const routes = allRoutes.map(({ name }) => name);
	expect(Object.keys(routeTests).sort()).toEqual(routes.sort());
	expect(Object.keys(eventTests).sort()).toEqual(
		Object.keys(guildIntents).sort(),
	);
});

test("every test that the table names exists", async () => {
	const named = [...Object.values(routeTests), ...Object.values(eventTests)];
	const missing: string[] = [];
	for (const [file, name] of named) {
		const source = await Bun.file(join(import.meta.dir, file)).text();
		if (!source.includes(`test(${JSON.stringify(name)}`))
			missing.push(`${file}: ${name}`);
	}
	expect(missing).toEqual([]);
});

test("the README lists the routes that there are, and no others", async () => {
	const readme = await Bun.file(
		join(import.meta.dir, "../../src/simulator/README.md"),
	).text();
	const listed = readme.matchAll(/^(GET|POST|PUT|PATCH|DELETE) \/\S+/gm);
	expect(Array.from(listed, ([name]) => name).sort()).toEqual(
		allRoutes.map(({ name }) => name).sort(),
	);
});
