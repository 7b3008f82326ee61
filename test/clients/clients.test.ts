// Real MCP clients sign in and call tools (sign-in.ts). They run in a process of their own: Bun does not find packages that
// were installed after the start of the process.

import { beforeAll, expect, test } from "bun:test";
import { bunIn } from "../support/run-bun.ts";

const run = bunIn(import.meta.dir);

beforeAll(async () => {
	await run("install", "--frozen-lockfile");
});

test("the files that use the clients have no type errors", async () => {
	await run("../../node_modules/.bin/tsc", "--project", ".");
});

test("each client signs in, and calls tools with the rights of a person", async () => {
	const { error: report } = await run("test", "--timeout", "90000", "./sign-in.ts");
	expect(report).toMatch(/^ *[1-9]\d* pass$/m);
	expect(report).toMatch(/^ *0 fail$/m);
});

test("the page of a plan works in the reference host of MCP Apps", async () => {
	const { error: report } = await run("test", "--timeout", "60000", "./apps.ts");
	expect(report).toMatch(/^ *[1-9]\d* (?:pass|skip)$/m);
	expect(report).toMatch(/^ *0 fail$/m);
});
