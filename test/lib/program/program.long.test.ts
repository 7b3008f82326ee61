import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { runs, version } from "../../../src/lib/program/program.ts";
import { pathWithBun } from "../../support/path-with-bun.ts";

interface Child extends AsyncDisposable {
	process: Bun.Subprocess<"pipe", "pipe", "pipe">;
	/** Resolves when this has been written to stdout. */
	says(text: string): Promise<void>;
	/** Resolves when it has ended. */
	end(): Promise<{ code: number; stdout: string; stderr: string }>;
}

function start(args: string[] = [], env: Record<string, string> = {}): Child {
	const child = Bun.spawn({
		cmd: [process.execPath, `${import.meta.dir}/program.fixture.ts`, ...args],
		env: { ...process.env, ...env },
		stdin: "pipe",
		stdout: "pipe",
		stderr: "pipe",
	});
	let stdout = "";
	let look = () => {};
	const read = (async () => {
		const decoder = new TextDecoder();
		for await (const chunk of child.stdout) {
			stdout += decoder.decode(chunk, { stream: true });
			look();
		}
	})();
	const stderr = child.stderr.text();
	return {
		process: child,
		says(text) {
			const { promise, resolve, reject } = Promise.withResolvers<void>();
			look = () => stdout.includes(text) && resolve();
			look();
			void read.then(() => reject(new Error(`it never said ${text}`)));
			return promise;
		},
		async end() {
			const code = await child.exited;
			await read;
			return { code, stdout, stderr: await stderr };
		},
		async [Symbol.asyncDispose]() {
			child.kill("SIGKILL");
			await child.exited;
		},
	};
}

test("from its sources a program is run by Bun", () => {
	expect(runs("bot")).toBe("bun run bot");
	expect(runs("up")).toBe("bun run up");
	expect(runs("check")).toBe("bun run guildhall check");
});

describe("the command line", () => {
	test.each(["--help", "-h"])("%s prints the usage and exits 0", async (flag) => {
		await using child = start([flag]);
		expect(await child.end()).toEqual({ code: 0, stdout: "Usage: fixture [--name N]\n", stderr: "" });
	});

	test("`bun run` prints what the program prints, and nothing of its own", () => {
		const { stdout, stderr } = Bun.spawnSync([process.execPath, "run", "gateway", "--version"], {
			cwd: join(import.meta.dir, "../../.."),
			env: { ...process.env, PATH: pathWithBun() },
		});
		expect(stderr.toString()).toBe("");
		expect(stdout.toString()).toBe(`${version}\n`);
	});

	test("--version prints the version of package.json and exits 0, without rendering the usage", async () => {
		await using child = start(["--version"], { MODE: "no-usage" });
		expect(await child.end()).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
	});

	test.each([[["--nope"]], [["word"]], [["--name"]], [["--help=yes"]]])(
		"%j exits 2 with the usage on stderr",
		async (args) => {
			await using child = start(args);
			const { code, stdout, stderr } = await child.end();
			expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
			expect(stderr).toContain("Usage: fixture");
		},
	);

	test("an option of the program's own is read", async () => {
		await using child = start(["--name", "ada"]);
		await child.says('"name":"ada"');
	});
});

describe("the start", () => {
	test("a ConfigError is all there is on stderr, with exit 1", async () => {
		await using child = start([], { MODE: "config-error" });
		expect(await child.end()).toEqual({
			code: 1,
			stdout: "",
			stderr: "the environment has 2 errors:\n  A: is required\n  B: is bad\n",
		});
	});

	test.each(["start-error", "configure-error"])(
		"any other error, such as a %s, is logged with its stack, with exit 1",
		async (mode) => {
			await using child = start([], { MODE: mode });
			const { code, stdout } = await child.end();
			expect(code).toBe(1);
			expect(JSON.parse(stdout).error).toMatch(/^Error: no luck\n +at /);
		},
	);

	test("the log is as the configuration has it", async () => {
		await using child = start([], { LOG_FORMAT: "text" });
		await child.says("INFO  started");
		child.process.kill("SIGTERM");
		expect((await child.end()).stdout).toMatch(
			/^[\d:]{8} INFO {2}started\n[\d:]{8} INFO {2}program is stopping cause="SIGTERM"\n/,
		);
	});

	test("lines below the log level are not written", async () => {
		await using child = start([], { LOG_LEVEL: "error", MODE: "failed" });
		const { code, stdout } = await child.end();
		expect(code).toBe(1);
		expect(JSON.parse(stdout)).toMatchObject({
			level: "error",
			message: "program is stopping because of an error",
			reason: "no luck",
		});
	});

	test("an invalid log setting is a ConfigError", async () => {
		await using child = start([], { LOG_LEVEL: "loud", LOG_FORMAT: "xml" });
		expect(await child.end()).toEqual({
			code: 1,
			stdout: "",
			stderr:
				'the environment has 2 errors:\n  LOG_FORMAT: expected ("text" | "json"), received "xml"\n  LOG_LEVEL: expected ("debug" | "info" | "warn" | "error"), received "loud"\n',
		});
	});
});

describe("the end", () => {
	test.each(["SIGTERM", "SIGINT"] as const)("%s closes the program and exits 0", async (signal) => {
		await using child = start();
		await child.says("started");
		child.process.kill(signal);
		const { code, stdout } = await child.end();
		expect(code).toBe(0);
		expect(stdout).toContain(`"cause":"${signal}"`);
		expect(stdout).toContain("closed");
	});

	test("SIGINT that arrives twice at once is one signal", async () => {
		const closing = Promise.withResolvers<Response>();
		const asked = Promise.withResolvers<void>();
		await using http = Bun.serve({
			port: 0,
			fetch() {
				asked.resolve();
				return closing.promise;
			},
		});
		await using child = start([], { MODE: "close-waits", WAIT_URL: http.url.href });
		await child.says("started");
		child.process.kill("SIGINT");
		await asked.promise;
		child.process.kill("SIGINT");
		// Handled by now, or else before the close ends: the child's event loop takes signals as they come.
		closing.resolve(new Response());
		const { code, stdout } = await child.end();
		expect(code).toBe(0);
		expect(stdout.match(/stopping/g)).toHaveLength(1);
		expect(stdout).toContain("closed");
	});

	test("a signal repeated until it works ends a program whose close hangs, with exit 1", async () => {
		await using child = start([], { MODE: "close-hangs" });
		await child.says("started");
		const nagging = setInterval(() => child.process.kill("SIGINT"), 20);
		const { code } = await child.end();
		clearInterval(nagging);
		expect(code).toBe(1);
	});

	test("with STOP_WITH_STDIN the end of stdin closes the program and exits 0", async () => {
		await using child = start([], { STOP_WITH_STDIN: "1" });
		await child.says("started");
		child.process.stdin.write("what it says does not matter\n");
		await child.process.stdin.end();
		const { code, stdout } = await child.end();
		expect(code).toBe(0);
		expect(stdout).toContain('"cause":"stdin ended"');
		expect(stdout).toContain("closed");
	});

	test("without STOP_WITH_STDIN the end of stdin ends nothing", async () => {
		await using http = Bun.serve({ port: 0, fetch: () => new Response() });
		await using child = start([], { STOP_WITH_STDIN: "", MODE: "linger", WAIT_URL: http.url.href });
		await child.process.stdin.end();
		await child.says("still here");
		child.process.kill("SIGTERM");
		expect((await child.end()).stdout).toContain('"cause":"SIGTERM"');
	});

	test.each([
		["close-error", "program could not shut down cleanly"],
		["failed", "no luck"],
		["throw-later", "internal error"],
		["reject-later", "internal error"],
	])("%s is logged as %j, with exit 1", async (mode, message) => {
		await using child = start([], { MODE: mode });
		if (mode === "close-error") {
			await child.says("started");
			child.process.kill("SIGTERM");
		}
		const { code, stdout } = await child.end();
		expect(code).toBe(1);
		expect(stdout).toContain(message);
	});
});
