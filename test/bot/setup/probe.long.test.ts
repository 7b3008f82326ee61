import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { probes } from "../../../src/bot/setup/probe/probes.ts";
import { startProgram } from "../../support/program.ts";
import { startSimulator } from "../../support/simulator.ts";
import { until } from "../../support/until.ts";

async function startFixture() {
	const simulator = await startSimulator();
	const guild = simulator.guild("The Cooks");
	const directory = mkdtempSync(join(tmpdir(), "guildhall-test-"));
	writeFileSync(join(directory, "config.toml"), 'bot_name = "Test"\n');
	const env = {
		CONFIG_DIR: directory,
		DISCORD_TOKEN: simulator.bot("alpha").token,
		DISCORD_API_URL: simulator.api,
	};
	const probe = ["--probe-guild", guild.id];
	return {
		simulator,
		env,
		command: [process.execPath, "src/bot/main.ts", ...probe],
		things: () => [...guild.channels.keys(), ...guild.roles.keys()],
		start: (...args: string[]) => startProgram("src/bot/main.ts", env, [...probe, ...args]),
		async [Symbol.asyncDispose]() {
			await simulator.close();
			rmSync(directory, { recursive: true, force: true });
		},
	};
}

test.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
	"on %s the program removes what it made, and prints the report",
	async (signal) => {
		await using fixture = await startFixture();
		const before = fixture.things();
		const { faults } = fixture.simulator;
		const stalled = faults.stall("POST /guilds/*/emojis");
		await using program = fixture.start("--yes");
		await program.line((line) => line.includes("emoji-image") || undefined);
		expect(fixture.things().length).toBeGreaterThan(before.length);
		program.kill(signal);
		await program.line(
			(line) => line === "--probe-guild was interrupted, and is removing what it created." || undefined,
		);
		stalled.release();
		expect(await program.exited).toBe(1);
		expect(fixture.things()).toEqual(before);
		expect(program.lines.join("\n")).toContain("Not tried: interrupted");
	},
);

test("a second SIGINT ends it at once, and lists what remains", async () => {
	await using fixture = await startFixture();
	const stalled = fixture.simulator.faults.stall("DELETE /channels/*");
	await using program = fixture.start("--yes");
	await program.line((line) => line.includes("emoji-image") || undefined);
	program.kill("SIGINT");
	await until("it ends", () => {
		program.kill("SIGINT");
		return program.end !== null;
	});
	stalled.release();
	expect(program.end).toBe(1);
	expect(program.lines.at(-1)).toMatch(/^--probe-guild did not remove these from the guild: .*channel \d+/);
});

test("without a terminal it needs --yes", async () => {
	await using fixture = await startFixture();
	await using program = fixture.start();
	expect(await program.exited).toBe(1);
	expect(program.lines.join("\n")).toContain("Answer the question with yes, or pass --yes.");
	expect(fixture.simulator.journal.entries()).toEqual([]);
});

test.each([
	["Ctrl-C", "\x03"],
	["Ctrl-D", "\x04"],
])("%s in place of an answer ends it, and nothing was done", async (_, key) => {
	await using fixture = await startFixture();
	let shown = "";
	await using program = Bun.spawn(fixture.command, {
		env: { ...process.env, ...fixture.env },
		terminal: {
			data(terminal, data) {
				const wasAsked = shown.includes("[y/N]");
				shown += data.toString();
				if (!wasAsked && shown.includes("[y/N]")) terminal.write(key);
			},
		},
	});
	expect(await program.exited).toBe(1);
	expect(shown).toContain("nothing was done");
	expect(shown).not.toContain("internal error");
	expect(fixture.simulator.journal.entries()).toEqual([]);
});

test("it exits with 0 if no guess is refuted", async () => {
	await using fixture = await startFixture();
	await using program = fixture.start("--yes", "--json");
	expect(await program.exited).toBe(0);
	const report = program.lines.find((line) => line.startsWith("{")) ?? "";
	expect(JSON.parse(report).results).toHaveLength(probes.length);
});
