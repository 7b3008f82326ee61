import { afterAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { serveDocs } from "../../src/gateway/docs.ts";
import { linksIn, project } from "../support/documents.ts";
import { openPlace } from "../support/place.ts";

const { path: site, read: readText, run, [Symbol.dispose]: remove } = openPlace();
afterAll(remove);
expect(run([join(project, "src/build/docs.sh"), site]).exitCode).toBe(0);

test("every link of the site leads to one of its files, and its navigation to every document for people", () => {
	const paths = [...new Glob("**/*.md").scanSync({ cwd: site, dot: true })];
	const read = (path: string) => ({ path, text: readText(path) });
	const links = paths.flatMap((path) => linksIn(read(path)));
	expect(links.length).toBeGreaterThan(200);
	expect(links.filter((link) => !existsSync(join(site, link)))).toEqual([]);
	const inner = /^src\/(ai|texts|mcp|simulator\/SOURCES|docs\/README)/;
	const found = linksIn(read("_sidebar.md"));
	expect(paths.filter((path) => !inner.test(path) && path !== "_sidebar.md").sort()).toEqual(found.sort());
});

test.each([
	["/docs", 302, ""],
	["/docs/", 200, "docsify.min.js"],
	["/docs/src/docs/server.md", 200, "# On a server"],
	["/docs/.github/screenshots/console.png", 200, "PNG"],
	["/docs/none.md", 404, "Not found"],
	["/docs/..%2f..%2fetc/passwd", 404, "Not found"],
	["/documents", undefined, ""],
])("GET %s at the gateway gets %p", async (path, status, text) => {
	const { pathname, href } = new URL(path, "http://127.0.0.1:9100");
	const response = await serveDocs(new Request(href), pathname, site);
	expect(response?.status).toBe(status);
	expect((await response?.text()) ?? "").toContain(text);
	if (status === 404)
		expect(await (await serveDocs(new Request(href), pathname, "/none"))?.text()).toContain("bun run docs");
});
