import { afterAll, expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import type { ProgramStart } from "../../src/up/gateway.ts";
import { Programs } from "../../src/up/programs.ts";
import { recordLog } from "../support/log.ts";
import { openPlace } from "../support/place.ts";
import { type FakeProcess, FakeTiming, fakeProcess, settle } from "./fakes.ts";

interface Spawned extends ProgramStart, FakeProcess {}

const stack = new DisposableStack();
afterAll(() => stack.dispose());

/** Programs whose processes listen at once, unless they are in `refusing` (with "hangs", they do nothing), and end when they are told. */
function place(options: { sharePort?: boolean; env?: object } = {}) {
	const { path: directory, write } = stack.use(openPlace());
	const spawned: Spawned[] = [];
	const refusing = new Map<string, string>();
	const invalid = new Map<string, string>();
	const busy = new Set<number>();
	const recorded = recordLog();
	const timing = new FakeTiming();
	const programs = new Programs({
		directory,
		env: { ...options.env },
		sharePort: options.sharePort ?? true,
		log: recorded.log,
		timing,
		isFree: async (_, port) => !busy.has(port),
		checkBot: async ({ CONFIG_DIR }) => invalid.get(basename(CONFIG_DIR ?? "")),
		spawn(start) {
			const process = fakeProcess();
			const { name, env } = start;
			const port = env.MCP_PORT ?? env.GATEWAY_PORT ?? "9100";
			const reason = refusing.get(name);
			if (reason === undefined) process.listen(`http://127.0.0.1:${port === "0" ? 54_321 : port}/mcp`);
			else if (reason !== "hangs") process.exit({ code: 1, reason });
			const { kill } = process;
			process.kill = (signal) => {
				kill(signal);
				process.exit({ code: 0 });
			};
			const both = { ...process, ...start };
			spawned.push(both);
			return both;
		},
	});
	return {
		directory,
		programs,
		spawned,
		refusing,
		invalid,
		busy,
		recorded,
		timing,
		/** Makes an instance, or changes its .env. */
		add(name: string, env = "") {
			write(`${name}/config.toml`);
			write(`${name}/.env`, env);
		},
		remove: (name: string) => rmSync(join(directory, name), { recursive: true, force: true }),
		writeEnv: (text: string) => write("gateway.env", text, 0o600),
		/** Returns the names of the programs that were started since the last call, in order. */
		started() {
			const names = spawned.slice(this.seen).map(({ name }) => name);
			this.seen = spawned.length;
			return names;
		},
		seen: 0,
		/** The latest process of a program. */
		last(name: string) {
			const found = spawned.findLast((process) => process.name === name);
			if (!found) throw new Error(`${name} was not started`);
			return found;
		},
		async update() {
			await programs.update();
			await settle();
		},
		states: () => Object.fromEntries(programs.all.map(({ name, state }) => [name, state])),
	};
}

const instancesOf = ({ env }: Spawned) => env.INSTANCES;

test("bots are started before the gateway, which gets their addresses", async () => {
	const it = place();
	it.add("beta", "MCP_PORT=9095");
	it.add("alpha");
	await it.update();
	expect(it.started()).toEqual(["alpha", "beta", "gateway"]);
	expect(instancesOf(it.last("gateway"))).toBe("alpha=http://127.0.0.1:9090,beta=http://127.0.0.1:9095");
	const token = it.last("gateway").env.MCP_AUTH_TOKEN;
	expect(token).toMatch(/^\w{64}$/);
	expect(it.last("alpha").env.MCP_AUTH_TOKEN).toBe(token);
	// Nothing has changed.
	await it.update();
	await it.programs.updateIfChanged();
	expect(it.started()).toEqual([]);
});

test("without instances nothing runs, and the first one starts the gateway", async () => {
	const it = place();
	await it.update();
	expect(it.started()).toEqual([]);
	expect(it.recorded.messages()).toContain("there are no instances yet");
	it.add("alpha");
	await it.update();
	expect(it.started()).toEqual(["alpha", "gateway"]);
	it.remove("alpha");
	await it.update();
	expect(it.states()).toEqual({ gateway: "stopped" });
	it.add("beta");
	await it.update();
	expect(it.states()).toEqual({ gateway: "running", beta: "running" });
});

test("several changes at once replace the gateway once", async () => {
	const it = place();
	it.add("alpha");
	it.add("beta");
	await it.update();
	const [alpha, beta, gateway] = it.spawned;
	it.started();
	it.add("gamma");
	it.add("delta");
	it.remove("beta");
	await it.programs.updateIfChanged();
	await settle();
	expect(it.started()).toEqual(["delta", "gamma", "gateway"]);
	expect(alpha?.signals).toEqual([]);
	expect(beta?.signals).toEqual(["SIGTERM"]);
	expect(gateway?.signals).toEqual(["SIGTERM"]);
	expect(instancesOf(it.last("gateway"))).toMatch(/^alpha=\S+,delta=\S+,gamma=\S+$/);
});

test("a bot whose configuration is wrong is in the table, and is tried again when a file changes", async () => {
	const it = place();
	it.refusing.set("beta", "DISCORD_TOKEN: is required");
	it.add("alpha");
	it.add("beta");
	await it.update();
	expect(it.states()).toEqual({ gateway: "running", alpha: "running", beta: "waiting" });
	it.started();
	it.refusing.clear();
	it.add("alpha", "DISCORD_TOKEN=2");
	it.add("beta", "DISCORD_TOKEN=1");
	await it.programs.updateIfChanged();
	// A bot that runs reads its files only at its start.
	expect(it.started()).toEqual(["beta"]);
});

test("a gateway that does not start with a changed gateway.env does not cost the running one", async () => {
	const it = place();
	it.add("alpha");
	await it.update();
	const gateway = it.last("gateway");
	const { MCP_AUTH_TOKEN: token } = gateway.env;
	const line = `MCP_AUTH_TOKEN=${token}\n`;
	it.refusing.set("gateway", "PUBLIC_URL: is wrong");
	it.started();
	it.writeEnv(`${line}PUBLIC_URL=nonsense\n`);
	await it.programs.updateIfChanged();
	expect(it.started()).toEqual(["gateway"]);
	expect(gateway.signals).toEqual([]);
	expect(it.programs.gateway.pid).toBe(gateway.pid);
	expect(it.programs.gatewayIssue).toBe("a changed setup is not in use: PUBLIC_URL: is wrong");
	// The failed setup is tried again only after a minute, or after a change.
	await it.update();
	expect(it.started()).toEqual([]);
	await it.timing.move(60_000);
	await it.programs.updateIfChanged();
	expect(it.started()).toEqual(["gateway"]);
	// The running gateway is started again with its former setup.
	gateway.exit({ signal: "SIGKILL" });
	await settle();
	it.refusing.clear();
	await it.timing.move(1_000);
	expect(it.last("gateway").env.PUBLIC_URL).toBeUndefined();
	it.writeEnv(`${line}PUBLIC_URL=https://mcp.example\n`);
	await it.programs.updateIfChanged();
	expect(it.last("gateway").env.PUBLIC_URL).toBe("https://mcp.example");
	expect(it.states()).toMatchObject({ gateway: "running" });
	expect(it.programs.gatewayIssue).toBeUndefined();
});

test("a wrong gateway.env that becomes again what it was is forgotten", async () => {
	const it = place();
	it.add("alpha");
	await it.update();
	const line = `MCP_AUTH_TOKEN=${it.last("gateway").env.MCP_AUTH_TOKEN}\n`;
	it.refusing.set("gateway", "PUBLIC_URL: is wrong");
	it.writeEnv(`${line}PUBLIC_URL=nonsense\n`);
	await it.programs.updateIfChanged();
	expect(it.programs.gatewayIssue).toContain("PUBLIC_URL");
	it.writeEnv(line);
	it.started();
	await it.programs.updateIfChanged();
	expect(it.programs.gatewayIssue).toBeUndefined();
	await it.timing.move(60_000);
	await it.programs.updateIfChanged();
	expect(it.started()).toEqual([]);
});

test("where two gateways cannot share a port, the old one ends first, and comes back if the new one does not start", async () => {
	const it = place({ sharePort: false });
	it.add("alpha");
	await it.update();
	const gateway = it.last("gateway");
	const { MCP_AUTH_TOKEN: token } = gateway.env;
	expect(gateway.env.GATEWAY_SHARE_PORT).toBeUndefined();
	it.started();
	it.refusing.set("gateway", "wrong");
	it.writeEnv(`MCP_AUTH_TOKEN=${token}\nPUBLIC_URL=nonsense\n`);
	const { spawned } = it;
	const count = spawned.length;
	await it.programs.updateIfChanged();
	expect(gateway.signals).toEqual(["SIGTERM"]);
	expect(spawned.slice(count).map(({ env }) => env.PUBLIC_URL)).toEqual(["nonsense", undefined]);
});

test("another token restarts the bots and replaces the gateway", async () => {
	const it = place();
	it.add("alpha");
	it.add("beta");
	await it.update();
	await it.programs.stop("beta");
	it.started();
	it.writeEnv("MCP_AUTH_TOKEN=another\n");
	await it.programs.updateIfChanged();
	expect(it.started()).toEqual(["alpha", "gateway"]);
	expect(it.last("alpha").env.MCP_AUTH_TOKEN).toBe("another");
	expect(it.last("gateway").env.MCP_AUTH_TOKEN).toBe("another");
	expect(it.states().beta).toBe("stopped");
	await it.programs.start("beta");
	expect(it.last("beta").env.MCP_AUTH_TOKEN).toBe("another");
});

test("a bot that cannot start, or is about to, is stopped at once and not tried again", async () => {
	const it = place();
	it.refusing.set("alpha", "config.toml: bot_name is required");
	it.add("alpha");
	await it.update();
	expect(await it.programs.stop("alpha")).toBe(true);
	it.started();
	await it.timing.move(600_000);
	expect([it.started(), it.states().alpha]).toEqual([[], "stopped"]);
	it.refusing.set("alpha", "hangs");
	const started = it.programs.start("alpha");
	await settle();
	expect(await it.programs.stop("alpha")).toBe(false);
	expect([await started, it.states().alpha]).toEqual([{ reason: expect.any(String) }, "stopped"]);
});

test("gateway.env that is deleted is made again with the same token", async () => {
	const it = place();
	it.add("alpha");
	await it.update();
	const path = join(it.directory, "gateway.env");
	const before = readFileSync(path, "utf8");
	rmSync(path);
	it.started();
	await it.programs.updateIfChanged();
	expect(readFileSync(path, "utf8")).toBe(before);
	expect(it.started()).toEqual([]);
});

test("the token is that of the instances if they have the same, otherwise a new one", async () => {
	const same = place();
	same.add("alpha", "MCP_AUTH_TOKEN=shared");
	same.add("beta", "MCP_AUTH_TOKEN=shared");
	same.add("gamma", "MCP_AUTH_TOKEN=your-shared-token");
	await same.update();
	expect(same.last("gateway").env.MCP_AUTH_TOKEN).toBe("shared");
	const other = place();
	other.add("alpha", "MCP_AUTH_TOKEN=one");
	other.add("beta", "MCP_AUTH_TOKEN=two");
	await other.update();
	expect(other.last("gateway").env.MCP_AUTH_TOKEN).toMatch(/^\w{64}$/);
	expect(other.recorded.lines.filter((line) => line.includes("MCP_AUTH_TOKEN in an instance"))).toHaveLength(2);
});

test("a bot gets another port at its next start, and the gateway learns of it", async () => {
	const it = place();
	it.add("alpha", "MCP_PORT=9095");
	await it.update();
	it.add("alpha", "MCP_PORT=9096");
	it.started();
	await it.programs.updateIfChanged();
	expect(it.started()).toEqual([]);
	expect(await it.programs.restart("alpha")).toEqual({ url: "http://127.0.0.1:9096/mcp" });
	expect(it.started()).toEqual(["alpha", "gateway"]);
	expect(instancesOf(it.last("gateway"))).toBe("alpha=http://127.0.0.1:9096");
	// A running bot keeps its port until its restart: that is no reason for a warning.
	const taken = () => it.recorded.lines.filter((line) => line.includes("MCP_PORT of an instance"));
	expect(taken()).toEqual([]);
	it.busy.add(9097);
	it.add("alpha", "MCP_PORT=9097");
	await it.programs.updateIfChanged();
	expect(taken()).toEqual([]);
	expect(await it.programs.restart("alpha")).toEqual({ url: "http://127.0.0.1:9096/mcp" });
	expect(taken().map((line) => JSON.parse(line))).toMatchObject([{ name: "alpha", wanted: 9097, port: 9096 }]);
});

test("a running bot whose configuration is invalid now is not restarted", async () => {
	const it = place();
	it.add("alpha");
	await it.update();
	it.started();
	it.invalid.set("alpha", "config.toml: bot_name is required");
	expect(await it.programs.restart("alpha")).toEqual({
		reason: "config.toml: bot_name is required\nThe running bot continues.",
	});
	expect(it.started()).toEqual([]);
	expect(it.last("alpha").signals).toEqual([]);
	expect(it.states()).toMatchObject({ alpha: "running" });
	// A bot that does not run reports by itself why it cannot start.
	await it.programs.stop("alpha");
	await it.programs.restart("alpha");
	expect(it.started()).toEqual(["alpha"]);
});

test("instances with one DISCORD_TOKEN are refused at the start, and later a new one is not started", async () => {
	const it = place();
	it.add("alpha", "DISCORD_TOKEN=one");
	it.add("beta", "DISCORD_TOKEN=one");
	const same = `${join(it.directory, "alpha")} and ${join(it.directory, "beta")} have the same DISCORD_TOKEN`;
	await expect(it.programs.checkBeforeStart()).rejects.toThrow(same);
	it.remove("beta");
	await it.programs.checkBeforeStart();
	await it.update();
	it.started();
	it.add("beta", "DISCORD_TOKEN=one");
	await it.programs.updateIfChanged();
	expect(it.started()).toEqual([]);
	expect(it.recorded.lines.filter((line) => line.includes("have the same DISCORD_TOKEN"))).toHaveLength(1);
	it.add("beta", "DISCORD_TOKEN=two");
	await it.programs.updateIfChanged();
	expect(it.started()).toContain("beta");
});

test("a port that the gateway was assigned stays when it is replaced", async () => {
	const it = place({ env: { GATEWAY_PORT: "0" } });
	it.add("alpha");
	await it.update();
	expect(it.last("gateway").env.GATEWAY_PORT).toBe("0");
	await it.programs.restart("gateway");
	expect(it.last("gateway").env.GATEWAY_PORT).toBe("54321");
});

test("a gateway's port that another program uses stops the start, with the next step", async () => {
	const it = place({ env: { GATEWAY_PORT: "9200" } });
	it.add("alpha");
	it.busy.add(9200);
	await expect(it.programs.checkBeforeStart()).rejects.toThrow(
		"GATEWAY_PORT: 127.0.0.1:9200 is already in use: stop the program that uses it, or set GATEWAY_PORT to another port there",
	);
	expect(it.started()).toEqual([]);
});

test("a paused program ends, and starts with restart; its database is known", async () => {
	const it = place({ env: { GATEWAY_DATABASE: "keys.sqlite" } });
	it.add("alpha", "DATA_DIR=elsewhere");
	await it.programs.update();
	for (const name of ["gateway", "alpha"]) {
		it.started();
		const { signals } = it.last(name);
		await it.programs.pause(name);
		expect([signals, it.started()]).toEqual([["SIGTERM"], []]);
		expect(await it.programs.restart(name)).toHaveProperty("url");
	}
	const databases = ["gateway", "alpha"].map((name) => it.programs.databaseOf(name));
	expect(databases).toEqual([resolve("keys.sqlite"), resolve("elsewhere/store.sqlite")]);
});

test("the gateway ends before the bots", async () => {
	const it = place();
	it.add("alpha");
	await it.update();
	const gateway = it.last("gateway");
	const alpha = it.last("alpha");
	const ended = Promise.withResolvers<void>();
	const { kill } = gateway;
	gateway.kill = (signal) => {
		expect(alpha.signals).toEqual([]);
		kill(signal);
		ended.resolve();
	};
	await it.programs.close();
	await ended.promise;
	expect(gateway.signals).toEqual(["SIGTERM"]);
	expect(alpha.signals).toEqual(["SIGTERM"]);
	expect(it.states()).toEqual({ gateway: "stopped", alpha: "stopped" });
});

test("a changed port that another program uses does not cost the running gateway", async () => {
	const it = place();
	it.add("alpha");
	await it.update();
	const gateway = it.last("gateway");
	it.started();
	it.busy.add(9200);
	it.writeEnv(`MCP_AUTH_TOKEN=${gateway.env.MCP_AUTH_TOKEN}\nGATEWAY_PORT=9200\n`);
	await it.programs.updateIfChanged();
	expect(it.started()).toEqual([]);
	expect(gateway.signals).toEqual([]);
	expect(it.recorded.messages()).toContain("could not replace the gateway");
	it.busy.clear();
	await it.timing.move(60_000);
	await it.programs.updateIfChanged();
	expect(it.last("gateway").env.GATEWAY_PORT).toBe("9200");
});

test("nothing is started after closing has begun", async () => {
	const it = place();
	it.add("alpha");
	const updated = it.programs.update();
	await it.programs.close();
	await updated;
	expect(it.started()).toEqual([]);
});

test("closing waits for the bots of removed directories, too", async () => {
	const it = place();
	it.add("alpha");
	it.add("beta");
	await it.update();
	const beta = it.last("beta");
	beta.kill = (signal) => void beta.signals.push(signal);
	it.remove("beta");
	await it.update();
	const closed = it.programs.close();
	let isClosed = false;
	void closed.then(() => {
		isClosed = true;
	});
	await settle();
	await settle();
	expect([isClosed, beta.signals]).toEqual([false, ["SIGTERM"]]);
	beta.exit({ code: 0 });
	await closed;
});
