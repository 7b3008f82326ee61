// Runs the README's commands for a server in an image of a system: the installed programs run, and `guildhall check`
// passes. The simulator stands in for Discord; the test stands in for Caddy (requests have the domain as Host) and for
// systemd (`up` is started with the unit's command).

import { expect, test } from "bun:test";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { freePort } from "../../src/demo/ports.ts";
import { install } from "../../src/install/install.ts";
import { openSystem } from "../../src/install/system.ts";
import { commandsIn, project, readDocument } from "../support/documents.ts";
import { connectTo } from "../support/mcp.ts";
import { openPlace } from "../support/place.ts";
import { startCommand } from "../support/program.ts";
import { startSimulator } from "../support/simulator.ts";
import { until } from "../support/until.ts";

const guildhall = [process.execPath, join(project, "src/guildhall/main.ts")];
const domain = "mcp.example.com";

test("from a bare server to two bots with TLS, the README has these five commands", async () => {
	const { path, text } = await readDocument("README.md");
	const [, section = ""] = /\n## On a server\n([\s\S]*?)\n## /.exec(text) ?? [];
	expect(commandsIn({ path, text: section })).toEqual([
		"apt-get update && apt-get install --yes caddy curl",
		"curl -fsSL https://github.com/OWNER/guildhall/releases/latest/download/install.sh | sh -s -- --domain mcp.example.com",
		"guildhall new-instance alpha",
		"guildhall new-instance beta",
		"guildhall check",
	]);
});

test("what they make serves two bots under the domain, and check says what is wrong", async () => {
	await using stack = new AsyncDisposableStack();
	const { path: root, read, write } = stack.use(openPlace());
	const simulator = stack.use(await startSimulator());
	write("etc/caddy/Caddyfile");
	const system = openSystem(root);
	const quiet = { write: () => {}, ask: async () => true };
	await install(system, { executable: "/dev/null", domain }, quiet).catch((error) =>
		expect(error.message).toContain("/dev/null is not a file"),
	);
	const executable = join(root, "guildhall");
	write("guildhall", "the executable");
	expect(await install(system, { executable, domain }, quiet)).toBe(0);

	const instances = join(root, "var/lib/guildhall/instances");
	const gatewayEnv = join(instances, "gateway.env");
	const port = await freePort();
	appendFileSync(gatewayEnv, `GATEWAY_PORT=${port}\n`);
	const run = (program: string, ...args: string[]) =>
		startCommand([...guildhall, program, ...args, "--directory", instances], {}, { cwd: root });
	for (const name of ["alpha", "beta"] as const) {
		const { token } = simulator.bot(name);
		const made = Bun.spawnSync(
			[...[...guildhall, "new-instance", name, "--token-stdin"], ...["--directory", instances]],
			{ stdin: Buffer.from(token) },
		);
		expect([made.exitCode, made.stderr.toString()]).toEqual([0, ""]);
		// The simulator replaces Discord, and other tests use the default ports.
		const path = join(instances, name, ".env");
		const env = readFileSync(path, "utf8").replace(/^MCP_PORT=.*$/m, "");
		writeFileSync(path, `${env}\nMCP_PORT=${await freePort()}\nDISCORD_API_URL=${simulator.api}\n`);
	}

	const unit = read("etc/systemd/system/guildhall.service");
	const [, started = ""] = /^ExecStart=\S+ (up) --directory /m.exec(unit) ?? [];
	const up = stack.use(run(started));

	const readToken = () => parseEnv(readFileSync(gatewayEnv, "utf8")).MCP_AUTH_TOKEN ?? "";
	await until("both bots answer", async () => {
		try {
			const caller = await connectTo(`http://127.0.0.1:${port}/mcp`, readToken());
			const { text } = await caller.call("list_instances");
			return text.match(/online/g)?.length === 2;
		} catch {
			return false;
		}
	});
	const response = await fetch(`http://127.0.0.1:${port}/mcp`, { headers: { Host: domain } });
	expect(response.status).toBe(401);
	const refused = await fetch(`http://127.0.0.1:${port}/mcp`, { headers: { Host: "other.example.com" } });
	expect(refused.status).toBe(403);

	await using good = run("check");
	expect([await good.exited, good.lines.at(-1)]).toEqual([0, "All 3 programs passed."]);
	for (const line of good.lines.slice(0, -1)) expect(line).toMatch(/^(alpha {4}|beta {5}|gateway {2})\S/);

	const path = join(instances, "beta/.env");
	const env = readFileSync(path, "utf8");
	writeFileSync(path, env.replace(/^DISCORD_TOKEN=.*$/m, "DISCORD_TOKEN=no"));
	await using bad = run("check");
	expect(await bad.exited).toBe(1);
	expect(bad.lines.filter((line) => /^beta +✗.*DISCORD_TOKEN/.test(line))).toHaveLength(1);
	expect(bad.lines.at(-1)).toMatch(/^\d of 3 programs failed\.$/);

	// Killed, it would leave bots that still write to the directory that the test removes.
	up.kill();
	expect(await up.exited).toBe(0);
}, 300_000);
