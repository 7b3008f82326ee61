// The official MCP conformance suite, in two versions, against the real bot and the real gateway.
// https://github.com/modelcontextprotocol/conformance

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runAuthorization } from "./authorization.ts";
import { expectedFailures, type Suite, type Target } from "./expected-failures.ts";
import { type Servers, startServers } from "./servers.ts";

const here = import.meta.dir;
const suites: Record<Suite, { package: string; options: string[] }> = {
	"0.1": { package: "conformance-0.1", options: [] },
	"2025-11-25": { package: "conformance-0.2", options: ["--requirements", "2025-11-25"] },
	"2026-07-28": { package: "conformance-0.2", options: ["--requirements", "2026-07-28"] },
};

let servers: Servers;
let directory: string;

async function run(command: readonly string[]) {
	const child = Bun.spawn([process.execPath, ...command], { cwd: here, stdout: "pipe", stderr: "pipe" });
	const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
	return { code: await child.exited, output: `${out}\n${error}` };
}

beforeAll(async () => {
	const { code, output } = await run(["install", "--frozen-lockfile"]);
	if (code !== 0) throw new Error(`the suite could not be installed: ${output}`);
	servers = await startServers();
	directory = mkdtempSync(join(tmpdir(), "guildhall-test-"));
});

afterAll(async () => {
	await servers[Symbol.asyncDispose]();
	rmSync(directory, { recursive: true, force: true });
});

const runs = (["bot", "gateway"] as const).flatMap((target) =>
	(Object.keys(suites) as Suite[]).map((suite) => [target, suite] as const),
);

test.each(runs)("the %s passes %s but for what is expected", async (target: Target, suite: Suite) => {
	const baseline = join(directory, `${target}-${suite}.yml`);
	writeFileSync(baseline, expectedFailures(target, suite));
	const { package: name, options } = suites[suite];
	const { code, output } = await run([
		"--bun",
		join("node_modules", name, "dist/index.js"),
		"server",
		"--url",
		servers[target],
		...options,
		"--expected-failures",
		baseline,
	]);
	if (code !== 0) console.error(output);
	expect(code).toBe(0);
	// A run against nothing passes as well, but not these.
	expect(output).toMatch(/✓ tools-call-mixed-content: [1-9]\d* passed, 0 failed/);
});

test("the gateway passes the scenarios for authorization servers", async () => {
	const { code, output } = await runAuthorization(here, "conformance-0.2");
	if (code !== 0) console.error(output);
	expect(code).toBe(0);
	expect(output).toMatch(/✓ authorization-server-metadata-endpoint: 2 passed, 0 failed/);
	expect(output).toMatch(/✓ authorization-code-grant: 1 passed, 0 failed/);
});
