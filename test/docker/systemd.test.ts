// The systemd units: read as systemd reads them where it is installed, and run as they are written, installed as the
// README says. Only paths are those of this machine.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { parseEnv } from "node:util";
import { freePort } from "../../src/demo/ports.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { buildImages, share } from "../support/images.ts";
import { connectTo } from "../support/mcp.ts";
import { becomesReady, listeningUrl, startCommand } from "../support/program.ts";
import { startSimulator } from "../support/simulator.ts";
import { until } from "../support/until.ts";

const project = join(import.meta.dir, "../..");
const units = join(project, "docker/systemd");
const gatewayUnit = "guildhall-gateway.service";
const botUnit = "guildhall-bot@.service";

/** The settings of a unit, all values of each. */
type Unit = Map<string, string[]>;

async function readUnit(file: string, instance = ""): Promise<Unit> {
	const unit: Unit = new Map();
	for (const line of (await Bun.file(join(units, file)).text()).split("\n")) {
		if (line === "" || /^[#[]/.test(line)) continue;
		const [, name, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
		if (name === undefined || value === undefined) throw new Error(`${file}: not a setting: ${line}`);
		const values = unit.get(name) ?? [];
		unit.set(name, [...values, value.replaceAll("%i", instance)]);
	}
	return unit;
}

describe.each([gatewayUnit, botUnit])("%s", async (file) => {
	const unit = await readUnit(file);
	const only = (name: string) => {
		const values = unit.get(name) ?? [];
		expect(values).toHaveLength(1);
		return values[0];
	};

	test("runs as nobody in particular, who can write nowhere else and become nothing else", () => {
		for (const name of [
			...["DynamicUser", "NoNewPrivileges", "ProtectHome", "PrivateTmp"],
			...["PrivateDevices", "RestrictNamespaces", "RestrictSUIDSGID"],
			...["ProtectKernelTunables", "ProtectControlGroups"],
		])
			expect([name, only(name)]).toEqual([name, "yes"]);
		expect(only("ProtectSystem")).toBe("strict");
		expect(only("CapabilityBoundingSet")).toBe("");
	});

	test("is started again after a crash, and not for ever after a fault of configuration", () => {
		expect(only("Restart")).toBe("on-failure");
		// As many ends within that time as a fault of configuration needs.
		const spent = Number(only("RestartSec")) * Number(only("StartLimitBurst"));
		expect(spent).toBeLessThan(Number(only("StartLimitIntervalSec")));
		expect(only("RestartPreventExitStatus")).toBe("2");
	});

	test("has limits, and the time that its end takes", () => {
		expect(only("MemoryMax")).toMatch(/^\d+M$/);
		expect(only("TasksMax")).toBe("256");
		expect(Number(only("TimeoutStopSec"))).toBeGreaterThan(20);
	});

	test("holds no secret", () => {
		for (const value of unit.get("Environment") ?? [])
			expect(value).not.toMatch(/TOKEN|SECRET|PASSWORD|_KEY|DATABASE_URL/);
	});
});

const analyze = Bun.which("systemd-analyze");
if (!analyze) console.warn("the units are not verified: systemd-analyze is not installed");

describe.skipIf(!analyze)("systemd", () => {
	let directory: string;
	const paths: string[] = [];

	beforeAll(async () => {
		directory = mkdtempSync(join(tmpdir(), "guildhall-units-"));
		for (const [file, name] of [
			[gatewayUnit, gatewayUnit],
			[botUnit, "guildhall-bot@alpha.service"],
		] as const) {
			const text = await Bun.file(join(units, file)).text();
			const path = join(directory, name);
			// What is to be started has to be there.
			await Bun.write(path, text.replace(/^(ExecStart=)\S+/m, `$1${process.execPath}`));
			paths.push(path);
		}
	});

	afterAll(() => rmSync(directory, { recursive: true, force: true }));

	test("understands all of them", () => {
		const { exitCode, stderr } = Bun.spawnSync([...["systemd-analyze", "verify", "--man=no", ...paths]]);
		expect(stderr.toString()).toBe("");
		expect(exitCode).toBe(0);
	});

	test("finds them exposed to 2 of 10 at the most", () => {
		for (const path of paths) {
			const { exitCode, stdout } = Bun.spawnSync([
				...["systemd-analyze", "security", "--offline=true"],
				...["--threshold=20", "--no-pager", path],
			]);
			expect(stdout.toString()).toContain("Overall exposure level");
			expect([basename(path), exitCode]).toEqual([basename(path), 0]);
		}
	});
});

/** The README's commands that install it, one a line. */
async function installCommands(): Promise<string[]> {
	const text = await Bun.file(join(project, "docker/README.md")).text();
	const section = text.split("## systemd\n")[1]?.split("\n## ")[0] ?? "";
	return [...section.matchAll(/^ {4}(.*)$/gm)].map(([, line = ""]) => line);
}

/** Those that need root's rights on the machine itself, or a running systemd. */
const onlyThere = /^(groupadd|chown|systemctl) /;

test("installed as the README says, they run as they are written, and stop in time", async () => {
	await using stack = new AsyncDisposableStack();
	const root = mkdtempSync(join(tmpdir(), "guildhall-installed-"));
	stack.defer(() => rmSync(root, { recursive: true, force: true }));
	const images = await buildImages(join(root, "images"), ["guildhall"]);
	const here = join(root, "project");
	for (const directory of ["dist", "docker/systemd"]) mkdirSync(join(here, directory), { recursive: true });
	share(join(images.guildhall?.root ?? "", "usr/local/bin/guildhall"), join(here, "dist/guildhall"));
	for (const unit of [gatewayUnit, botUnit]) copyFileSync(join(units, unit), join(here, "docker/systemd", unit));
	const simulator: Simulator = stack.use(await startSimulator());
	const token = "0123456789abcdef0123456789abcdef";
	const port = await freePort();
	const files = {
		"instances/alpha/.env": [
			`DISCORD_TOKEN=${simulator.bot("alpha").token}`,
			`DISCORD_API_URL=${simulator.api}`,
			`MCP_PORT=${port}`,
			`MCP_AUTH_TOKEN=${token}`,
		].join("\n"),
		"instances/alpha/config.toml": 'bot_name = "alpha"\n',
		"gateway.env": [
			`INSTANCES=alpha=http://127.0.0.1:${port}`,
			`MCP_AUTH_TOKEN=${token}`,
			`GATEWAY_PORT=${await freePort()}`,
		].join("\n"),
	};
	for (const [file, text] of Object.entries(files)) await Bun.write(join(here, file), text);
	for (const directory of ["usr/local/bin", "etc/systemd/system", "var/lib"])
		mkdirSync(join(root, directory), { recursive: true });
	const mapped = (text: string) => text.replace(/(^|[ =])(\/(?:usr\/local\/bin|etc|var\/lib)\/?)/g, `$1${root}$2`);
	const commands = await installCommands();
	expect(commands.length).toBeGreaterThan(6);
	for (const command of commands.filter((line) => !onlyThere.test(line))) {
		const { exitCode, stderr } = Bun.spawnSync(["sh", "-c", mapped(command)], { cwd: here });
		expect([command, stderr.toString(), exitCode]).toEqual([command, "", 0]);
	}

	const start = async (file: string, instance?: string) => {
		const unit = await readUnit(file, instance);
		const [state] = unit.get("StateDirectory") ?? [];
		if (state) mkdirSync(join(root, "var/lib", state), { recursive: true });
		const [given] = unit.get("EnvironmentFile") ?? [];
		const variables = [
			...(unit.get("Environment") ?? []).map(mapped),
			given ? await Bun.file(mapped(given)).text() : "",
		].join("\n");
		const [command = ""] = unit.get("ExecStart") ?? [];
		const program = startCommand(mapped(command).split(" "), parseEnv(variables) as Record<string, string>, {
			cwd: root,
		});
		stack.use(program);
		return program;
	};
	const bot = await start(botUnit, "alpha");
	await becomesReady(bot, await listeningUrl(bot));
	const gateway = await start(gatewayUnit);
	const { call } = await connectTo(await listeningUrl(gateway), token);
	await until("the bot has logged in", async () => {
		const { text } = await call("list_guilds", { instance: "alpha" });
		return text.includes("1 guild(s)");
	});
	expect([...new Bun.Glob("*").scanSync(join(root, "var/lib/guildhall/alpha"))]).not.toEqual([]);
	for (const program of [gateway, bot]) {
		program.kill("SIGTERM");
		expect(await program.exited).toBe(0);
	}
});
