import { describe, expect, test } from "bun:test";
import { type Check, CheckFailed, runChecks, tryListening } from "../../../src/lib/program/check.ts";
import { recordLog } from "../../support/log.ts";
import { ownHost } from "../../support/own-host.ts";

async function run(checks: readonly Check[], secrets: string[] = []) {
	const lines: string[] = [];
	const recorded = recordLog();
	const write = (line: string) => lines.push(line);
	const { log } = recorded;
	const passed = await runChecks(checks, { log, write, secrets });
	return { passed, lines, logged: recorded.lines.join("\n") };
}

const fine: Check = { title: "fine", run: () => "as it should be" };
const failing: Check = {
	title: "failing",
	run() {
		throw new CheckFailed("it is broken", "Mend it.");
	},
};

test("each check has its line, and the last one counts them", async () => {
	const silent: Check = { title: "silent", run: async () => undefined };
	expect(await run([fine, silent])).toEqual({
		passed: true,
		lines: ["✓ fine: as it should be", "✓ silent", "2 passed"],
		logged: "",
	});
});

test("one that fails says what to do, and the others go on", async () => {
	expect(await run([failing, fine])).toMatchObject({
		passed: false,
		lines: ["✗ failing: it is broken", "    Mend it.", "✓ fine: as it should be", "1 passed, 1 failed"],
	});
});

test("a warning is no failure, and does not block dependent checks", async () => {
	const odd: Check = { title: "odd", run: () => ({ warning: "hm" }) };
	expect(await run([odd, { ...fine, needs: [odd] }])).toMatchObject({
		passed: true,
		lines: ["! odd: hm", "✓ fine: as it should be", "1 passed, 1 passed with a warning"],
	});
});

test("a check is skipped if one that it needs failed or was skipped", async () => {
	let ran = false;
	const second: Check = {
		title: "second",
		needs: [fine, failing],
		run: () => {
			ran = true;
			return undefined;
		},
	};
	const third: Check = { ...second, title: "third", needs: [second] };
	const { passed, lines } = await run([fine, failing, second, third]);
	expect({ passed, ran }).toEqual({ passed: false, ran: false });
	expect(lines.slice(-3)).toEqual([
		'– second: skipped, because "failing" failed',
		'– third: skipped, because "failing" failed',
		"1 passed, 1 failed, 2 skipped",
	]);
});

test("a line is written as soon as its check ends, whatever the order of the list", async () => {
	const { promise, resolve } = Promise.withResolvers<string>();
	const slow: Check = { title: "slow", run: () => promise };
	const quick: Check = {
		title: "quick",
		run: () => {
			resolve("at last");
			return undefined;
		},
	};
	expect((await run([slow, fine, quick])).lines).toEqual([
		"✓ fine: as it should be",
		"✓ quick",
		"✓ slow: at last",
		"3 passed",
	]);
});

test("an internal error fails, and its message is only in the log", async () => {
	const { passed, lines, logged } = await run([
		{
			title: "bug",
			run() {
				throw new TypeError("inside information");
			},
		},
	]);
	expect(passed).toBe(false);
	expect(lines).toEqual(["✗ bug: internal error", "0 passed, 1 failed"]);
	expect(logged).toContain("inside information");
});

test("no secret is shown, and no line ends early", async () => {
	const { lines } = await run(
		[
			{ title: "one", run: () => "it said my-secret,\nmy-secret" },
			{
				title: "two",
				run() {
					throw new CheckFailed("not my-secret\u2028", "use my-secret\u001b[2J");
				},
			},
		],
		["my-secret", "", "i"],
	);
	expect(lines).toEqual([
		"✓ one: it said [secret], [secret]",
		"✗ two: not [secret] ",
		"    use [secret] [2J",
		"1 passed, 1 failed",
	]);
});

describe("trying to listen", () => {
	const settings = { hostname: "SOME_ADDR", port: "SOME_PORT" };
	const on = (hostname: string, port: number) => tryListening({ hostname, port, settings, log: recordLog().log });

	test("finds a port in use, and leaves one that is free as it was", async () => {
		const hostname = ownHost(80);
		const taken = Bun.listen({ hostname, port: 0, socket: { data() {} } });
		const { port } = taken;
		expect(await on(hostname, port)).toBe("in use");
		taken.stop(true);
		expect(await on(hostname, port)).toBe("free");
		expect(await on(hostname, port)).toBe("free");
	});

	test("fails where the address is not this machine's", async () => {
		const tried = on("192.0.2.1", 0).catch((error: Error) => error);
		expect(await tried).toBeInstanceOf(CheckFailed);
		expect(String(await tried)).toContain("SOME_ADDR, SOME_PORT: ");
	});
});
