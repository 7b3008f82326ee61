// The bot as a program: `--check`, `--new-instance`, and settings that it refuses.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clock } from "../support/clock.ts";
import { startProgram } from "../support/program.ts";
import { startSimulator } from "../support/simulator.ts";

let directory: string;

beforeEach(() => {
	directory = mkdtempSync(join(tmpdir(), "guildhall-test-"));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe("--check", () => {
	const toml = (extra = "") => `bot_name = "Alpha"\n[features]\ngame = true\n${extra}`;

	async function runCheck(files: Record<string, string>, env = {}) {
		for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
		await using program = startProgram("src/bot/main.ts", { CONFIG_DIR: directory, MCP_PORT: "0", ...env }, [
			"--check",
		]);
		return { code: await program.exited, lines: program.lines };
	}

	test("ends by itself with exit 0 where all is well, and with 1 where it is not", async () => {
		await using simulator = await startSimulator();
		const guild = simulator.guild("The Cooks");
		const { token } = simulator.bot("alpha");
		const env = {
			DISCORD_TOKEN: token,
			DISCORD_API_URL: simulator.api,
			GUILD_ID: guild.id,
			MCP_AUTH_TOKEN: "the-token-of-this-mcp-server",
		};
		const fine = await runCheck({ "config.toml": toml() }, env);
		expect(fine.lines.filter((line) => !/^(✓|\d+ passed$)/.test(line))).toEqual([]);
		expect(fine.lines).toContain(`✓ configuration: ${directory}: Alpha`);
		expect(fine.code).toBe(0);
		const bad = await runCheck({ "config.toml": toml() }, { ...env, GUILD_ID: "12345678901234567" });
		expect(bad.lines.join("\n")).toContain("✗ guild: the bot is not in the guild 12345678901234567");
		expect(bad.code).toBe(1);
		expect([...fine.lines, ...bad.lines].join()).not.toContain(token);
	});

	test("reports a faulty configuration as a start does", async () => {
		const { code, lines } = await runCheck({ "config.toml": toml("gmae = true\n") });
		expect(code).toBe(1);
		expect(lines.join("\n")).toMatch(
			/has 3 errors:\n.*the file does not exist.*\n.*DISCORD_TOKEN: is required\n.*gmae/,
		);
		expect(lines.join("\n")).not.toContain("✓");
	});
});

test.each([[["--check"]], [[]]])("with %j it refuses a tool to deny that does not exist", async (args) => {
	writeFileSync(join(directory, ".env"), "DISCORD_TOKEN=token\n");
	writeFileSync(join(directory, "config.toml"), 'bot_name = "Cook"\n[mcp.tools]\ndeny = ["bann"]\n');
	await using program = startProgram("src/bot/main.ts", { CONFIG_DIR: directory }, args);
	const refusal = await program.line((line) => (line.includes("mcp.tools.deny") ? line : undefined));
	expect(refusal).toContain("did you mean ban?");
	expect(await program.exited).toBe(1);
});

test("it makes an instance where it is started, as bun run new-instance does; a refusal goes to stderr", async () => {
	const start = async (main: string, ...args: string[]) => {
		const file = join(import.meta.dir, "../../src/bot", main);
		const child = Bun.spawn([process.execPath, file, ...args], {
			cwd: directory,
			env: { PATH: process.env.PATH ?? "", ...clock },
			stdout: "pipe",
			stderr: "pipe",
		});
		const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
		return { stdout, stderr, code };
	};
	const newInstance = "setup/new-instance-main.ts";
	const made = await start(newInstance, "a");
	expect([made.code, made.stderr]).toEqual([0, ""]);
	expect(made.stdout).toStartWith("Wrote instances/a: .env,");
	const [again, other] = await Promise.all([
		start(newInstance, "a"),
		start("main.ts", "--new-instance=b", "--directory=my bots"),
	]);
	expect([again.code, again.stdout]).toEqual([1, ""]);
	expect(again.stderr).toContain("a: a file or directory of this name already exists");
	expect([other.code, other.stderr]).toEqual([0, ""]);
	expect(other.stdout).toContain("CONFIG_DIR='my bots/b' ");
	expect(readdirSync(join(directory, "instances"))).toEqual(["a"]);
	expect(readdirSync(join(directory, "my bots"))).toEqual(["b"]);
});
