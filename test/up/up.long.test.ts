// `up` as an operator runs it: real processes, real directories, the simulator in place of Discord.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { newInstance as makeInstance } from "../../src/bot/setup/new-instance-report.ts";
import { freePort } from "../../src/demo/ports.ts";
import type { ProgramStatus, UpStatus } from "../../src/lib/instances/control.ts";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { send } from "../../src/up/commands.ts";
import { isWell, withHealth } from "../../src/up/status.ts";
import { botExecutable } from "../support/bot-executable.ts";
import { connectTo, type McpCaller } from "../support/mcp.ts";
import { allEnded, childrenOf, type Program, startCommand, startProgram } from "../support/program.ts";
import { startSimulator } from "../support/simulator.ts";
import { smallGuilds } from "../support/small-guilds.ts";
import { until } from "../support/until.ts";

const names = ["alpha", "beta", "gamma"];
/** Variables of the shell in which `up` is started. The programs must not get them. */
const shell = { OPENAI_API_KEY: "key-of-the-shell", SECRET: "of-the-shell" };

let simulator: Simulator;
let home: string;
let instances: string;
let executable: string;
let up: Program;
let url: string;
let token: string;
let mcp: McpCaller;

beforeAll(async () => {
	executable = join(dirname(await botExecutable()), "guildhall");
	simulator = await startSimulator({ seed: smallGuilds(names) });
	home = mkdtempSync(join(tmpdir(), "guildhall-up-"));
	instances = join(home, "instances");
	for (const name of ["alpha", "beta"]) await newInstance(name);
	await startUp();
});

afterAll(async () => {
	await up[Symbol.asyncDispose]();
	await simulator.close();
	rmSync(home, { recursive: true, force: true });
});

/** Makes an instance as the operator does, and fills in what is left. */
async function newInstance(name: string, fill = true) {
	const { code, text } = makeInstance(name, undefined, home);
	expect([code, text]).toEqual([0, expect.any(String)]);
	// The ports of other tests are in use on this machine.
	edit(name, /^MCP_PORT=.*$/m, `MCP_PORT=${await freePort()}`);
	edit(name, /^# DISCORD_API_URL=.*$/m, `DISCORD_API_URL=${simulator.api}`);
	if (fill) fillIn(name);
}

const fillIn = (name: string) => edit(name, /^DISCORD_TOKEN=.*$/m, `DISCORD_TOKEN=${simulator.bot(name).token}`);

function edit(name: string, pattern: RegExp, text: string) {
	const file = join(instances, name, ".env");
	const before = readFileSync(file, "utf8");
	expect(before).toMatch(pattern);
	writeFileSync(file, before.replace(pattern, text));
}

const env = { ...shell, GATEWAY_PORT: "0" };
const given = (...args: string[]) => ["up", ...args, "--directory", instances];
/** From the executable, whose programs start with a third of the CPU time. */
const run = (...args: string[]) => startCommand([executable, ...given(...args)], env, { cwd: home });

/** Starts `up`, and connects to its gateway when all is well. */
async function startUp(start = run) {
	up = start();
	url = await up.line((line) => (line.includes('"program":"gateway"') ? /"url":"([^"]+)"/.exec(line)?.[1] : undefined));
	const file = readFileSync(join(instances, "gateway.env"), "utf8");
	token = /^MCP_AUTH_TOKEN=(\w{64})$/m.exec(file)?.[1] ?? "";
	mcp = await connectTo(url, token);
	await allWell();
}

/** What a command of `up` prints, and its exit code. */
async function command(...args: string[]) {
	await using program = run(...args);
	const code = await program.exited;
	// On a slow machine the command prints progress lines.
	const lines = program.lines.filter((line) => !line.startsWith("…"));
	return { code, text: lines.join("\n") };
}

async function status(): Promise<UpStatus> {
	const answer = await send(instances, { command: "status" });
	if (!("status" in answer)) throw new Error(JSON.stringify(answer));
	return withHealth(answer.status);
}

async function statusOf(name: string): Promise<ProgramStatus> {
	const { programs } = await status();
	const found = programs.find((program) => program.name === name);
	if (!found) throw new Error(`there is no ${name}`);
	return found;
}

/** Resolves when all programs are well, and the gateway can reach all bots. */
async function allWell() {
	await until("all is well", async () => (await status()).programs.every(isWell));
	await until("all bots are online", async () => !(await mcp.call("list_instances")).text.includes("offline"));
}

/** The gateway and two bots. A gateway that was replaced ends when its calls are answered. */
const threeChildren = () =>
	until("three programs run", async () => {
		const children = await childrenOf(up.pid);
		return children.length === 3 && children;
	});

const call = (instance: string) => mcp.call("list_guilds", { instance });

/** Returns the secrets that must appear in no log and in no other program. */
const secrets = () => [token, ...names.map((name) => simulator.bot(name).token), ...Object.values(shell)];

test("two new instances serve calls through the gateway", async () => {
	for (const name of ["alpha", "beta"]) {
		const { text } = await call(name);
		expect(text).toContain(`Guild of ${name}`);
	}
	expect((await command("status")).code).toBe(0);
	expect(JSON.parse((await command("status", "--json")).text)).toMatchObject({ programs: [{}, {}, {}] });
	const lines = up.lines.map((line) => JSON.parse(line));
	expect(new Set(lines.map(({ program }) => program))).toEqual(new Set(["up", "gateway", "alpha", "beta"]));
});

test("no program has another's secrets, and none has them on its command line", async () => {
	const children = await threeChildren();
	for (const pid of children) {
		const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, "utf8");
		const environment = read("environ");
		for (const secret of secrets()) {
			expect(read("cmdline")).not.toContain(secret);
			if (secret !== token) expect(environment).not.toContain(secret);
		}
		expect(environment).toContain(token);
		expect(environment).not.toContain("HOME=");
	}
});

test("a second up is refused and names the first one", async () => {
	const { code, text } = await command();
	expect(code).toBe(1);
	expect(text).toContain("up runs there already");
});

test("a stopped bot is offline until it is started, the other is not affected", async () => {
	expect(await command("stop", "beta")).toEqual({ code: 0, text: "beta is stopped." });
	expect((await statusOf("beta")).state).toBe("stopped");
	expect((await call("beta")).text).toContain("BackendOffline");
	expect((await call("alpha")).isError).toBe(false);
	const started = await command("start", "beta");
	expect(started.code).toBe(0);
	expect(started.text).toStartWith("beta listens at http://127.0.0.1:");
	await allWell();
	expect((await call("beta")).isError).toBe(false);
});

test("a restarted bot has another process, and an unknown name is refused", async () => {
	const before = await statusOf("alpha");
	expect((await command("restart", "alpha")).code).toBe(0);
	expect((await statusOf("alpha")).pid).not.toBe(before.pid);
	const { code, text } = await command("restart", "nobody");
	expect(code).toBe(1);
	expect(text).toBe("there is no instance nobody; there are: alpha, beta");
	await allWell();
});

test("each program that is killed comes back", async () => {
	const before = await status();
	for (const { pid } of before.programs) {
		if (pid === undefined) throw new Error("it does not run");
		process.kill(pid, "SIGKILL");
		await allEnded([pid]);
	}
	await until("all have another process", async () => {
		const { programs } = await status();
		return programs.every(({ pid, health }, index) => health === "ok" && pid !== before.programs[index]?.pid);
	});
	await allWell();
	for (const name of ["alpha", "beta"]) expect((await call(name)).isError).toBe(false);
});

/** Whether the kernel gives connections that wait at the old gateway to the new one. Without it, it resets a few. */
const migrates = await Bun.file("/proc/sys/net/ipv4/tcp_migrate_req")
	.text()
	.then(
		(value) => value.trim() !== "0",
		() => false,
	);

test("a new directory is served and a removed one is ended, without a failed call to the others", async () => {
	let isOver = false;
	const failures: string[] = [];
	const caller = (async () => {
		for (;;) {
			if (isOver) return;
			const outcome = await call("alpha").catch((error) => ({ isError: true, text: String(error) }));
			const isReset = outcome.text.includes("the connection was lost");
			if (outcome.isError && !(isReset && !migrates)) failures.push(outcome.text);
		}
	})();

	// The instance has no token yet.
	await newInstance("gamma", false);
	const refused = await until("gamma is known", () =>
		statusOf("gamma").then(
			(found) => found.issue,
			() => undefined,
		),
	);
	expect(refused).toContain("DISCORD_TOKEN");
	edit("gamma", /^DISCORD_TOKEN=.*$/m, "DISCORD_TOKEN=unknown.to.discord");
	const reason = await until("gamma has ended", async () => {
		const found = await statusOf("gamma");
		return found.state === "waiting" && found.reason;
	});
	expect(reason).toContain("token");
	fillIn("gamma");
	await until("gamma is served", async () => !(await call("gamma")).isError);
	expect((await call("gamma")).text).toContain("Guild of gamma");
	const { pid = 0 } = await statusOf("gamma");

	rmSync(join(instances, "gamma"), { recursive: true });
	await allEnded([pid]);
	await until("the gateway does not know gamma", async () => (await call("gamma")).text.includes("InstanceNotFound"));
	isOver = true;
	await caller;
	expect(failures).toEqual([]);
});

test("up that is killed leaves no program, and nothing that stops the next one, from the sources", async () => {
	const children = await threeChildren();
	up.kill("SIGKILL");
	await up.exited;
	await allEnded(children);
	expect((await command("status")).text).toContain("up is not running there");
	const before = token;
	await startUp(() => startProgram("src/guildhall/main.ts", env, given()));
	expect(token).toBe(before);
	for (const name of ["alpha", "beta"]) expect((await call(name)).isError).toBe(false);
});

// This test is the last one, because it ends the programs that the others use.
test("SIGTERM ends all programs with exit code 0, and no secret was logged", async () => {
	const children = await threeChildren();
	up.kill("SIGTERM");
	expect(await up.exited).toBe(0);
	await allEnded(children);
	const log = up.lines.join("\n");
	for (const secret of secrets()) expect(log).not.toContain(secret);
	for (const line of up.lines) expect(JSON.parse(line)).toBeObject();
});
