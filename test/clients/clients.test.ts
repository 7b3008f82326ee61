// Real MCP clients sign in and call tools (sign-in.ts and others). They run in a process of their own: Bun does not find
// packages that were installed after the start of the process.

import { beforeAll, expect, test } from "bun:test";
import { bunIn } from "../support/run-bun.ts";

const run = bunIn(import.meta.dir);

beforeAll(async () => {
	await run("install", "--frozen-lockfile");
});

test("the files that use the clients have no type errors", async () => {
	await run("../../node_modules/.bin/tsc", "--project", ".");
});

test.concurrent.each([
	["each client signs in, and calls tools with the rights of a person", "./sign-in.ts"],
	["the official SDKs see the progress of long calls, and cancel them", "./long-calls.ts"],
])("%s", async (_, file) => {
	const { error: report } = await run("test", "--timeout", "90000", file);
	expect(report).toMatch(/^ *[1-9]\d* pass$/m);
	expect(report).toMatch(/^ *0 fail$/m);
});

// They take 650 MB, and some ask for news of their makers. They have exact versions, and so need no lock file.
test.skipIf(process.env.CLIENTS !== "all")(
	"assistants for the terminal connect and sign in, without an account of their maker (skipped without CLIENTS=all)",
	async () => {
		const runThere = bunIn(`${import.meta.dir}/terminal`);
		await runThere("install", "--no-save");
		const { error: report } = await runThere("test", "--timeout", "90000", "./command-lines.ts");
		expect(report).toMatch(/^ *[1-9]\d* pass$/m);
		expect(report).toMatch(/^ *0 fail$/m);
	},
);

test("the page of a plan works in the reference host of MCP Apps", async () => {
	const { error: report } = await run("test", "--timeout", "60000", "./apps.ts");
	expect(report).toMatch(/^ *[1-9]\d* (?:pass|skip)$/m);
	expect(report).toMatch(/^ *0 fail$/m);
});
