// Real MCP clients sign in and call tools (sign-in.ts). They run in a process of their own: Bun does not find packages that
// were installed after the start of the process.

import { beforeAll, expect, test } from "bun:test";

/** Runs Bun in this folder. Throws with its output if it fails. */
async function run(...command: string[]): Promise<string> {
	const child = Bun.spawn([process.execPath, ...command], {
		cwd: import.meta.dir,
		stdout: "pipe",
		stderr: "pipe",
	});
	const [out, error] = await Promise.all([
		new Response(child.stdout).text(),
		new Response(child.stderr).text(),
	]);
	if ((await child.exited) !== 0)
		throw new Error(`bun ${command.join(" ")}: ${out}\n${error}`);
	return error;
}

beforeAll(async () => {
	await run("install", "--frozen-lockfile");
});

test("the files that use the clients have no type errors", async () => {
	await run("../../node_modules/.bin/tsc", "--project", ".");
});

test("each client signs in, and calls tools with the rights of a person", async () => {
	const report = await run("test", "--timeout", "120000", "./sign-in.ts");
	expect(report).toMatch(/^ *[1-9]\d* pass$/m);
	expect(report).toMatch(/^ *0 fail$/m);
});
