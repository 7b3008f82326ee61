// What `guildhall check` checks. test/install/server.test.ts runs it beside `up`.

import { expect, test } from "bun:test";
import { readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programsToCheck } from "../../src/up/check.ts";
import { openPlace } from "../support/place.ts";
import { startCommand } from "../support/program.ts";

const main = join(import.meta.dir, "../../src/guildhall/main.ts");
const token = "0123456789abcdef0123456789abcdef";

function workplace() {
	const { path, write, [Symbol.dispose]: dispose } = openPlace();
	return {
		path,
		add(name: string, env: Record<string, string | number>) {
			const lines = Object.entries(env).map(([key, value]) => `${key}=${value}`);
			write(`${name}/config.toml`, `bot_name = "${name}"\n`);
			write(`${name}/.env`, lines.join("\n"), 0o600);
		},
		start(program: string) {
			const command = [process.execPath, main, program, "--directory", path];
			return startCommand(command, {}, { cwd: tmpdir() });
		},
		[Symbol.dispose]: dispose,
	};
}

test("the programs have the settings that up gives them, and nothing is written", async () => {
	using place = workplace();
	const before = { DISCORD_TOKEN: "x", MCP_AUTH_TOKEN: token };
	place.add("alpha", { ...before, MCP_PORT: 9095 });
	place.add("beta", { ...before, MCP_PORT: 9095 });
	const files = readdirSync(place.path, { recursive: true });
	const programs = await programsToCheck(place.path, { TZ: "UTC", DISCORD_TOKEN: "of the shell" });
	expect(programs.map(({ name }) => name)).toEqual(["alpha", "beta", "gateway"]);
	expect(programs.map(({ env }) => env)).toMatchObject([
		{ TZ: "UTC", MCP_PORT: "9095", MCP_AUTH_TOKEN: token },
		{ TZ: "UTC", MCP_PORT: "9090", MCP_AUTH_TOKEN: token },
		{ INSTANCES: "alpha=http://127.0.0.1:9095,beta=http://127.0.0.1:9090" },
	]);
	expect(JSON.stringify(programs)).not.toContain("of the shell");
	expect(readdirSync(place.path, { recursive: true })).toEqual(files);
});

test("without instances it says what makes one", async () => {
	using place = workplace();
	await using empty = place.start("check");
	expect(await empty.exited).toBe(1);
	expect(empty.lines).toEqual([`There is no instance in ${place.path}: bun run new-instance NAME makes one.`]);
});

test("two instances with one DISCORD_TOKEN are an error of both, without a login", async () => {
	using place = workplace();
	for (const name of ["alpha", "beta"]) place.add(name, { DISCORD_TOKEN: token, MCP_AUTH_TOKEN: token });
	for (const [name, other] of [
		["alpha", "beta"],
		["beta", "alpha"],
	] as const) {
		const path = join(place.path, name);
		await using check = startCommand(
			[process.execPath, main, "bot", "--check-config"],
			{ CONFIG_DIR: path },
			{ cwd: tmpdir() },
		);
		const issue = await check.line((line) => (line.startsWith("✗ configuration: ") ? line : undefined));
		expect(issue).toContain(`${path} and ${join(place.path, other)} have the same DISCORD_TOKEN`);
		expect(await check.exited).toBe(1);
		expect(check.lines.join("\n")).not.toContain(token);
	}
	rmSync(join(place.path, "beta"), { recursive: true });
	await using check = startCommand(
		[process.execPath, main, "bot", "--check-config"],
		{ CONFIG_DIR: join(place.path, "alpha") },
		{ cwd: tmpdir() },
	);
	expect(await check.exited).toBe(0);
});
