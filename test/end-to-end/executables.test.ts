// What an operator has who has nothing but the two executables. `bun run test:binaries` builds and tests them; elsewhere
// there are none, and these tests are skipped.

import { describe, expect, test } from "bun:test";
import {
	copyFileSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { hostTarget } from "../../src/build/targets.ts";
import { version } from "../../src/lib/program/program.ts";
import { freePort } from "../support/free-port.ts";
import { connectTo } from "../support/mcp.ts";
import { becomesReady, executables, startCommand } from "../support/program.ts";
import { startSimulator } from "../support/simulator.ts";

/** A directory with the executables in it, and nothing else. */
function workplace() {
	const path = mkdtempSync(join(tmpdir(), "guildhall-executables-"));
	for (const name of ["bot", "gateway"])
		copyFileSync(join(executables ?? "", name), join(path, name));
	const start = (
		program: string,
		args: string[] = [],
		env: Record<string, string> = {},
	) => startCommand([join(path, program), ...args], env, { cwd: path });
	return {
		path,
		start,
		async run(...options: Parameters<typeof start>) {
			await using program = start(...options);
			return { code: await program.exited, lines: program.lines };
		},
		[Symbol.dispose]: () => rmSync(path, { recursive: true }),
	};
}

describe.skipIf(executables === undefined)("the executables", () => {
	test("--version says what they were made from", async () => {
		using place = workplace();
		for (const program of ["bot", "gateway"]) {
			const { code, lines } = await place.run(program, ["--version"]);
			expect(lines).toEqual([
				expect.stringMatching(/^\S+ \(commit [\da-z]+, (dirty, )?\S+\)$/),
			]);
			expect(lines[0]).toStartWith(`${version} (commit `);
			expect(lines[0]).toEndWith(`, ${hostTarget()})`);
			expect(code).toBe(0);
		}
	});

	test("an .env where they are started does not count", async () => {
		using place = workplace();
		writeFileSync(join(place.path, ".env"), "MCP_PORT=no\nGATEWAY_PORT=no\n");
		for (const program of ["bot", "gateway"]) {
			const { lines } = await place.run(program, ["--health"]);
			expect(lines).toEqual([expect.stringContaining("ready: http://")]);
		}
	});

	test("an instance is made, checked, run, and reached through the gateway", async () => {
		await using simulator = await startSimulator();
		using place = workplace();
		const nothing = await place.run("bot");
		expect(nothing.lines[1]).toEndWith("; bot --new-instance <name> makes one");

		const made = await place.run("bot", ["--new-instance", "alpha"]);
		expect(made.lines).toContain("CONFIG_DIR=instances/alpha ./bot --check");
		expect(made.code).toBe(0);
		const directory = join(place.path, "instances/alpha");
		expect(readdirSync(directory).sort()).toEqual(
			readdirSync(join(import.meta.dir, "../../instances/example")).sort(),
		);
		const again = await place.run("bot", ["--new-instance", "alpha"]);
		expect([again.code, again.lines[0]]).toEqual([
			1,
			`${place.path}/instances has 1 error:`,
		]);

		const file = join(directory, ".env");
		const text = readFileSync(file, "utf8");
		const port = String(await freePort());
		const { token } = simulator.bot("alpha");
		writeFileSync(
			file,
			`${text}\nDISCORD_TOKEN=${token}\nDISCORD_API_URL=${simulator.api}\nMCP_PORT=${port}\n`,
		);
		const env = { CONFIG_DIR: "instances/alpha" };
		const checked = await place.run("bot", ["--check"], env);
		expect(checked.lines.filter((line) => line.startsWith("✗"))).toEqual([]);
		expect(checked.code).toBe(0);

		await using bot = place.start("bot", [], env);
		const gatewayPort = String(await freePort());
		const gatewayEnv = {
			INSTANCES: `alpha=http://127.0.0.1:${port}`,
			MCP_AUTH_TOKEN: parseEnv(text).MCP_AUTH_TOKEN ?? "",
			GATEWAY_PORT: gatewayPort,
			REFRESH_INTERVAL_SECONDS: "1",
		};
		await using gateway = place.start("gateway", [], gatewayEnv);
		await becomesReady(bot, `http://127.0.0.1:${port}`);
		await becomesReady(gateway, `http://127.0.0.1:${gatewayPort}`);
		const healthy = await place.run("gateway", ["--health"], gatewayEnv);
		expect(healthy.code).toBe(0);
		const asked = await place.run("bot", ["--health"], env);
		expect(asked.lines[0]).toStartWith("ready: ");
		const client = await connectTo(
			`http://127.0.0.1:${gatewayPort}/mcp`,
			gatewayEnv.MCP_AUTH_TOKEN,
		);
		const { text: guilds } = await client.call("list_guilds", {
			instance: "alpha",
		});
		expect(guilds).toContain("1 guild");
		bot.kill();
		gateway.kill();
		expect(await Promise.all([bot.exited, gateway.exited])).toEqual([0, 0]);
	});
});
