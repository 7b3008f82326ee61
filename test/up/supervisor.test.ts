import { expect, test } from "bun:test";
import { describeProgram } from "../../src/up/status.ts";
import { Supervisor } from "../../src/up/supervisor.ts";
import { recordLog } from "../support/log.ts";
import { type FakeProcess, FakeTiming, fakeProcess, settle } from "./fakes.ts";

/** A supervisor of processes that the test ends. */
function supervise() {
	const timing = new FakeTiming();
	const recorded = recordLog();
	const spawned: FakeProcess[] = [];
	let broken: Error | undefined;
	const supervisor = new Supervisor({
		name: "alpha",
		log: recorded.log,
		timing,
		stopMs: () => 5_000,
		spawn() {
			if (broken) throw broken;
			const process = fakeProcess();
			spawned.push(process);
			return process;
		},
	});
	return {
		supervisor,
		timing,
		recorded,
		spawned,
		/** The latest process. */
		get last() {
			const process = spawned.at(-1);
			if (!process) throw new Error("nothing was started");
			return process;
		},
		/** Makes each start fail. */
		break(error?: Error) {
			broken = error;
		},
		/** Starts the program and lets it listen. */
		async run() {
			void supervisor.start();
			this.last.listen();
			await settle();
		},
	};
}

test("a program that ends is started again after 1 s, 2 s, and at most a minute", async () => {
	const it = supervise();
	await it.run();
	const waits: number[] = [];
	for (let count = 0; count < 8; count++) {
		it.last.exit({ signal: "SIGKILL" });
		await settle();
		const [wait = 0] = it.timing.waits;
		waits.push(wait / 1_000);
		await it.timing.move(wait);
		it.last.listen();
		await settle();
	}
	expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
	expect(it.supervisor).toMatchObject({ state: "running", restarts: 8 });
});

test("the reason why a running program ended is in its status until it runs again", async () => {
	const it = supervise();
	const shown = () => describeProgram(it.supervisor, it.timing.now());
	await it.run();
	expect(shown().reason).toBeUndefined();
	it.last.exit({ code: 1, reason: `refused\n\u001b[2J${"x".repeat(5_000)}` });
	await settle();
	const { state, issue, reason } = shown();
	expect([state, issue]).toEqual(["waiting", undefined]);
	expect(reason).toMatch(/^refused {2}\[2Jx+$/);
	expect(reason).toHaveLength(200);
	await it.timing.move(1_000);
	it.last.listen();
	await settle();
	expect(shown().reason).toBeUndefined();
	it.last.exit({ signal: "SIGKILL" });
	await settle();
	expect(shown().reason).toBe("it ended with SIGKILL");
	// Then the reason why it cannot start is shown instead.
	it.break(new Error("no memory"));
	await it.timing.move(2_000);
	expect(shown()).toMatchObject({ issue: "no memory", reason: undefined });
});

test("after it has run for a minute, the first wait is 1 s again", async () => {
	const it = supervise();
	await it.run();
	it.last.exit({ code: 1 });
	await settle();
	await it.timing.move(1_000);
	it.last.listen();
	await it.timing.move(60_000);
	it.last.exit({ code: 1 });
	await settle();
	expect(it.timing.waits).toEqual([1_000]);
});

test("why it cannot start is logged once, until the reason changes", async () => {
	const it = supervise();
	const first = it.supervisor.start();
	it.last.exit({ code: 1, reason: "DISCORD_TOKEN: is required" });
	expect(await first).toEqual({ reason: "DISCORD_TOKEN: is required" });
	await settle();
	expect(it.supervisor.issue).toBe("DISCORD_TOKEN: is required");
	await it.timing.move(1_000);
	it.last.exit({ code: 1, reason: "DISCORD_TOKEN: is required" });
	await settle();
	await it.timing.move(2_000);
	it.last.exit({ code: 1, reason: "GUILD_ID: is wrong" });
	await settle();
	const message = "program could not start: trying again";
	expect(it.recorded.entries(message).map(({ reason }) => reason)).toEqual([
		"DISCORD_TOKEN: is required",
		"GUILD_ID: is wrong",
	]);
	await it.timing.move(4_000);
	it.last.listen();
	await settle();
	expect(it.supervisor.issue).toBeUndefined();
});

test("a start that the system refuses is tried again as well", async () => {
	const it = supervise();
	it.break(new Error("EAGAIN"));
	expect(await it.supervisor.start()).toEqual({ reason: "EAGAIN" });
	it.break();
	await it.timing.move(1_000);
	it.last.listen();
	await settle();
	expect(it.supervisor.state).toBe("running");
});

test("retry starts what waits now, and nothing else", async () => {
	const it = supervise();
	it.supervisor.retry();
	expect(it.spawned).toHaveLength(0);
	await it.run();
	it.supervisor.retry();
	expect(it.spawned).toHaveLength(1);
	it.last.exit();
	await settle();
	it.supervisor.retry();
	expect(it.spawned).toHaveLength(2);
	expect(it.timing.waits).toEqual([]);
});

test("a stopped program is asked to end, and not started again", async () => {
	const it = supervise();
	await it.run();
	const stopped = it.supervisor.stop();
	expect(it.last.signals).toEqual(["SIGTERM"]);
	expect(describeProgram(it.supervisor, 0)).toMatchObject({ state: "stopping", isHalted: true });
	it.last.exit({ code: 0 });
	await stopped;
	expect(it.supervisor.state).toBe("stopped");
	expect(it.timing.waits).toEqual([]);
});

test("a program that waits to be started again can be stopped", async () => {
	const it = supervise();
	await it.run();
	it.last.exit();
	await settle();
	await it.supervisor.stop();
	expect(it.supervisor.state).toBe("stopped");
	expect(it.timing.waits).toEqual([]);
});

test("a program that does not end in its time is killed", async () => {
	const it = supervise();
	await it.run();
	const stopped = it.supervisor.stop();
	await it.timing.move(4_999);
	expect(it.last.signals).toEqual(["SIGTERM"]);
	await it.timing.move(1);
	expect(it.last.signals).toEqual(["SIGTERM", "SIGKILL"]);
	it.last.exit({ signal: "SIGKILL" });
	await stopped;
});

test("a restart starts the new process when the old one has ended", async () => {
	const it = supervise();
	await it.run();
	const [old] = it.spawned;
	const restarted = it.supervisor.restart();
	await settle();
	// The gateway holds its calls.
	expect(describeProgram(it.supervisor, 0)).toMatchObject({ state: "stopping", isHalted: undefined });
	expect(it.spawned).toHaveLength(1);
	old?.exit({ code: 0 });
	await settle();
	expect(it.spawned).toHaveLength(2);
	it.last.listen("http://127.0.0.1:1/mcp");
	expect(await restarted).toEqual({ url: "http://127.0.0.1:1/mcp" });
});

test("a replacement ends the old process only when the new one listens", async () => {
	const it = supervise();
	await it.run();
	const [old] = it.spawned;
	const replaced = it.supervisor.replace();
	await settle();
	expect(it.spawned).toHaveLength(2);
	expect(old?.signals).toEqual([]);
	it.last.listen();
	expect(await replaced).toHaveProperty("url");
	await settle();
	expect(old?.signals).toEqual(["SIGTERM"]);
	expect(it.supervisor).toMatchObject({ state: "running", pid: it.last.pid });
	// The end of the old process does not start another one.
	old?.exit({ code: 0 });
	await settle();
	expect(it.spawned).toHaveLength(2);
	expect(it.timing.waits).toEqual([]);
});

test("a replacement that does not start leaves the old process alone", async () => {
	const it = supervise();
	await it.run();
	const [old] = it.spawned;
	const replaced = it.supervisor.replace();
	it.last.exit({ code: 1, reason: "wrong" });
	expect(await replaced).toEqual({ reason: "wrong" });
	expect(old?.signals).toEqual([]);
	expect(it.supervisor).toMatchObject({ state: "running", pid: old?.pid });
});

test("a replacement that does not listen within 30 s is killed", async () => {
	const it = supervise();
	await it.run();
	const replaced = it.supervisor.replace();
	await it.timing.move(30_000);
	expect(it.last.signals).toEqual(["SIGKILL"]);
	it.last.exit({ signal: "SIGKILL" });
	expect(await replaced).toHaveProperty("reason");
	expect(it.supervisor.pid).toBe(it.spawned[0]?.pid);
});

test("if the old process ends while the new one starts, the new one takes its place once", async () => {
	const it = supervise();
	await it.run();
	const replaced = it.supervisor.replace();
	const next = it.last;
	it.spawned[0]?.exit({ signal: "SIGKILL" });
	await settle();
	expect(it.supervisor.state).toBe("waiting");
	next.listen();
	await replaced;
	await settle();
	expect(it.supervisor).toMatchObject({ state: "running", pid: next.pid });
	expect(it.timing.waits).toEqual([]);
});

test("a process that was started while the new one starts is ended, too", async () => {
	const it = supervise();
	await it.run();
	const replaced = it.supervisor.replace();
	const next = it.last;
	it.spawned[0]?.exit({ signal: "SIGKILL" });
	await settle();
	await it.timing.move(1_000);
	const again = it.last;
	expect(again).not.toBe(next);
	next.listen();
	await replaced;
	await settle();
	expect(it.supervisor).toMatchObject({ state: "running", pid: next.pid });
	expect(again.signals).toEqual(["SIGTERM"]);
	expect(next.signals).toEqual([]);
});

test("closing ends every process of the program once, also one that replaces another", async () => {
	const it = supervise();
	await it.run();
	void it.supervisor.replace();
	await settle();
	const closed = it.supervisor.close();
	expect(it.spawned.map(({ signals }) => signals)).toEqual([["SIGTERM"], ["SIGTERM"]]);
	for (const process of it.spawned) process.exit({ code: 0 });
	await closed;
	await settle();
	expect(it.supervisor.state).toBe("stopped");
	void it.supervisor.start();
	expect(it.spawned).toHaveLength(2);
});

test("closing does not signal a process twice that ends already", async () => {
	const it = supervise();
	await it.run();
	void it.supervisor.stop();
	const closed = it.supervisor.close();
	expect(it.last.signals).toEqual(["SIGTERM"]);
	it.last.exit({ code: 0 });
	await closed;
});
