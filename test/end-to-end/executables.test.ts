// Tests the executable alone, as an operator gets it, without the sources. `bun run test:binaries` builds and tests it.
// Without an executable, these tests are skipped.

import { describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { hostTarget } from "../../src/build/targets.ts";
import type { DemoFacts } from "../../src/demo/demo.ts";
import { freePort } from "../../src/demo/ports.ts";
import { version } from "../../src/lib/program/program.ts";
import { connectTo } from "../support/mcp.ts";
import { allEnded, becomesReady, childrenOf, executables, startCommand } from "../support/program.ts";
import { startSimulator } from "../support/simulator.ts";

/** Creates a directory that contains only the executable and links to it. */
function workplace() {
	const path = mkdtempSync(join(tmpdir(), "guildhall-executables-"));
	copyFileSync(join(executables ?? "", "guildhall"), join(path, "guildhall"));
	for (const name of ["bot", "gateway"]) symlinkSync("guildhall", join(path, name));
	/** Starts the executable with arguments separated by spaces, or a link to it. */
	const start = (command: string, env: Record<string, string> = {}) => {
		const [name = "", ...args] = command.split(" ");
		return startCommand([join(path, name), ...args], env, { cwd: path });
	};
	return {
		path,
		start,
		async run(...options: Parameters<typeof start>) {
			await using program = start(...options);
			return { code: await program.exited, lines: program.lines };
		},
		[Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
	};
}

describe.skipIf(executables === undefined)("the executable", () => {
	test("--version says what each program was made from", async () => {
		using place = workplace();
		for (const program of [
			"guildhall",
			"guildhall bot",
			"guildhall gateway",
			"guildhall new-instance",
			"guildhall simulator",
			"guildhall demo",
			"bot",
			"gateway",
		]) {
			const { code, lines } = await place.run(`${program} --version`);
			expect(lines).toEqual([expect.stringMatching(/^\S+ \(commit [\da-z]+, (dirty, )?\S+\)$/)]);
			expect(lines[0]).toStartWith(`${version} (commit `);
			expect(lines[0]).toEndWith(`, ${hostTarget()})`);
			expect(code).toBe(0);
		}
	});

	test.each([
		["guildhall gateway", "Usage: guildhall gateway ["],
		["guildhall bot", "Usage: CONFIG_DIR=<directory> guildhall bot ["],
		["guildhall new-instance", "Usage: guildhall new-instance <name>"],
		["guildhall up", "Usage: guildhall up ["],
		["guildhall check", "Usage: guildhall check ["],
		["guildhall install", "Usage: guildhall install ["],
		["guildhall", "Usage: guildhall <program>"],
		["gateway", "Usage: guildhall gateway ["],
		["bot", "Usage: CONFIG_DIR=<directory> guildhall bot ["],
		["bot gateway", "Usage: guildhall gateway ["],
	])("%s --help prints the usage of that program", async (command, usage) => {
		using place = workplace();
		const { code, lines } = await place.run(`${command} --help`);
		expect(lines[0]).toStartWith(usage);
		expect(code).toBe(0);
	});

	test("an unknown program exits 2 with the names of all", async () => {
		using place = workplace();
		for (const command of ["guildhall", "guildhall constructor"]) {
			const { code, lines } = await place.run(command);
			expect(lines.join("\n")).toContain("  new-instance  makes the directory");
			expect(code).toBe(2);
		}
	});

	test("the demo starts its programs from the executable", async () => {
		using place = workplace();
		await using demo = place.start("guildhall demo --json --gateway-port 0");
		const { gateway } = await demo.line((line) => (line.startsWith("{") ? (JSON.parse(line) as DemoFacts) : undefined));
		const client = await connectTo(gateway.url, gateway.token);
		const { text } = await client.call("list_guilds", { instance: "beta" });
		expect(text).toContain("1 guild");
		const children = await childrenOf(demo.pid);
		expect(children.length).toBe(3);
		demo.kill();
		expect(await demo.exited).toBe(0);
		await allEnded(children);
		expect(readdirSync(place.path).sort()).toEqual(["bot", "gateway", "guildhall"]);
	});

	test("an .env where it is started does not count", async () => {
		using place = workplace();
		writeFileSync(join(place.path, ".env"), "MCP_PORT=no\nGATEWAY_PORT=no\n");
		for (const program of ["bot", "guildhall gateway"]) {
			const { lines } = await place.run(`${program} --health`);
			expect(lines).toEqual([expect.stringContaining("ready: http://")]);
		}
	});

	test("an instance is made, checked, run, and reached through the gateway", async () => {
		await using simulator = await startSimulator();
		using place = workplace();
		const nothing = await place.run("bot");
		expect(nothing.lines[1]).toEndWith("; guildhall new-instance <name> makes one");

		const made = await place.run("guildhall new-instance alpha");
		expect(made.lines).toContain("CONFIG_DIR=instances/alpha ./guildhall bot --check");
		expect(made.code).toBe(0);
		const directory = join(place.path, "instances/alpha");
		expect(readdirSync(directory).sort()).toEqual(readdirSync(join(import.meta.dir, "../../instances/example")).sort());
		const again = await place.run("bot --new-instance alpha");
		expect([again.code, again.lines[0]]).toEqual([1, `${place.path}/instances has 1 error:`]);

		const file = join(directory, ".env");
		const text = readFileSync(file, "utf8");
		const port = String(await freePort());
		const { token } = simulator.bot("alpha");
		writeFileSync(file, `${text}\nDISCORD_TOKEN=${token}\nDISCORD_API_URL=${simulator.api}\nMCP_PORT=${port}\n`);
		const env = { CONFIG_DIR: "instances/alpha" };
		const checked = await place.run("guildhall bot --check", env);
		expect(checked.lines.filter((line) => line.startsWith("✗"))).toEqual([]);
		expect(checked.code).toBe(0);

		await using bot = place.start("guildhall bot", env);
		const gatewayPort = String(await freePort());
		const gatewayEnv = {
			INSTANCES: `alpha=http://127.0.0.1:${port}`,
			MCP_AUTH_TOKEN: parseEnv(text).MCP_AUTH_TOKEN ?? "",
			GATEWAY_PORT: gatewayPort,
			REFRESH_INTERVAL_SECONDS: "1",
		};
		await using gateway = place.start("gateway", gatewayEnv);
		await becomesReady(bot, `http://127.0.0.1:${port}`);
		await becomesReady(gateway, `http://127.0.0.1:${gatewayPort}`);
		const healthy = await place.run("gateway --health", gatewayEnv);
		expect(healthy.code).toBe(0);
		const asked = await place.run("bot --health", env);
		expect(asked.lines[0]).toStartWith("ready: ");
		const client = await connectTo(`http://127.0.0.1:${gatewayPort}/mcp`, gatewayEnv.MCP_AUTH_TOKEN);
		const { text: guilds } = await client.call("list_guilds", { instance: "alpha" });
		expect(guilds).toContain("1 guild");
		bot.kill();
		gateway.kill();
		expect(await Promise.all([bot.exited, gateway.exited])).toEqual([0, 0]);
	});
});
