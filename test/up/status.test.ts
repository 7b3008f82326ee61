import { expect, test } from "bun:test";
import type { ProgramStatus } from "../../src/lib/instances/control.ts";
import { formatStatus, isWell, stateLines } from "../../src/up/status.ts";

const program = (fields: Partial<ProgramStatus>): ProgramStatus => ({
	name: "alpha",
	state: "running",
	seconds: 5,
	restarts: 0,
	...fields,
});

test.each([
	[{ pid: 12, url: "http://127.0.0.1:1/mcp", health: "ok" }, "running (5 s, process 12, http://127.0.0.1:1/mcp)"],
	[{ pid: 12, health: "connecting", seconds: 130 }, "connecting (2 min, process 12)"],
	[{ state: "starting", pid: 12, restarts: 3, seconds: 8_000 }, "starting (2 h, process 12, restarted 3 times)"],
	[{ state: "waiting", restarts: 1, seconds: 200_000 }, "ended, will be started again (2 d, restarted 1 time)"],
	[{ state: "stopped" }, "stopped (5 s)"],
	[{ state: "waiting", issue: "A: is required" }, "cannot start (5 s)"],
] as const)("%j is shown as %p", (fields, line) => {
	expect(stateLines(program(fields))[0]).toBe(line);
});

test("status has a line for each program, and the reasons of those that cannot start", () => {
	const lines = formatStatus({
		pid: 1,
		version: "0.1.0",
		newer: "99.0.0",
		directory: "/srv/\u001b[2Jinstances",
		programs: [
			program({ name: "gateway", health: "ok" }),
			program({ state: "waiting", issue: "2 errors:\n  A\u001b[1A\n  B" }),
		],
	});
	expect(lines.map((line) => Bun.stripANSI(line))).toEqual([
		"guildhall 0.1.0, process 1, /srv/\\u{001b}[2Jinstances",
		"Version 99.0.0 is available: guildhall upgrade",
		"  gateway  running (5 s)",
		"  alpha    cannot start (5 s)",
		"           2 errors:",
		"             A\\u{001b}[1A",
		"             B",
	]);
});

test("the reason why a program ended is one line of its state", () => {
	const ended = program({ state: "waiting", restarts: 4, reason: "Discord rejected the token\u009b2J" });
	const reason = "Discord rejected the token\\u{009b}2J";
	expect(stateLines(ended)).toEqual(["ended, will be started again (5 s, restarted 4 times)", reason]);
	expect(isWell(ended)).toBe(false);
});

test("well is what is ready, or was stopped", () => {
	expect(isWell(program({ health: "ok" }))).toBe(true);
	expect(isWell(program({ state: "stopped" }))).toBe(true);
	for (const fields of [
		{ health: "degraded" },
		{ state: "waiting" },
		{ state: "starting" },
		{ health: "ok", issue: "a changed setup is not in use: A: is required" },
		{ name: "gateway", state: "stopped" },
	] as const)
		expect(isWell(program(fields))).toBe(false);
});
