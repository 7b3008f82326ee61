// --grants and --revoke-grant, as an operator runs them beside a running gateway.

import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { hashToken } from "../../../src/gateway/keys/token.ts";
import { clock } from "../../support/clock.ts";
import { assistant, startWorld, type World } from "./sign-in-world.ts";

const main = join(import.meta.dir, "../../../src/gateway/main.ts");
let world: World;
beforeEach(async () => {
	world = await startWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const find = (token: string) => world.oauth.findAccessToken(hashToken(token));

/** Runs the command to its end, beside the gateway. */
async function run(...args: string[]) {
	const { database, schema } = world.settings;
	await using child = Bun.spawn({
		cmd: [process.execPath, main, ...args],
		env: { PATH: process.env.PATH ?? "", ...clock, GATEWAY_DATABASE: database, GATEWAY_DB_SCHEMA: schema || "unused" },
		stdin: "ignore",
		stdout: "pipe",
		stderr: "pipe",
	});
	const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
	return { stdout, stderr, code };
}

test("the operator lists and ends connections while the gateway runs", async () => {
	expect(await run("--grants")).toEqual({
		stdout: "No grants. People create them by signing in with Discord.\n",
		stderr: "",
		code: 0,
	});
	world.clients.set(assistant.id, { ...assistant, name: "Ass\\u{202e}istant" });
	// The command has the time of the machine.
	world.clock.now = Date.parse("2126-03-01T12:00:00Z");
	const { access_token } = await world.getTokens();
	expect(await find(access_token)).toBeDefined();
	const { stdout } = await run("--grants");
	expect(stdout).toMatch(
		/^1 grant\n\S+: "Ass\\\\u\{202e\}istant" \(client-1\) for the Discord user 100000000000000001 \("Hanna"\); access write; \/mcp; created 2126-03-01 12:00 UTC, (never used|last used 2126-03-01 12:00 UTC)\n$/,
	);
	const [, id = ""] = /\n([^:]+):/.exec(stdout) ?? [];
	expect(await run("--revoke-grant", "x")).toMatchObject({
		stdout: "",
		code: 1,
		stderr: 'There is no grant "x". bun run gateway --grants lists all.\n',
	});
	const revoked = await run("--revoke-grant", id);
	expect(revoked).toMatchObject({ stderr: "", code: 0 });
	expect(revoked.stdout).toStartWith(`Revoked the grant ${id}.`);
	// The database knows it no more; a running gateway remembers it for at most 500 ms.
	expect(await find(access_token)).toBeUndefined();
});

test("commands cannot be combined, and need the database", async () => {
	for (const other of ["--grants", "--keys", "--check"]) {
		const both = await run(other, "--revoke-grant", "x");
		expect(both.code).toBe(1);
		expect(both.stderr).toContain(`--revoke-grant: cannot be combined with ${other}`);
	}
	await using child = Bun.spawn({
		cmd: [process.execPath, main, "--grants"],
		env: { PATH: process.env.PATH ?? "", ...clock },
		stderr: "pipe",
		stdout: "ignore",
	});
	expect(await child.stderr.text()).toContain("GATEWAY_DATABASE: is required for sign-ins");
	expect(await child.exited).toBe(1);
});
