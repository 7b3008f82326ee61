// The real bot as a process that goes, and comes back where it was.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { botExecutable } from "./bot-executable.ts";
import { freePort } from "./free-port.ts";
import { listeningUrl, type Program, startCommand } from "./program.ts";
import { until } from "./until.ts";

/** How much of its log is shown of one that is not ready. */
const lastLines = 30;

export interface BotProcess extends AsyncDisposable {
	/** The MCP endpoint; it stays the same. */
	url: string;
	port: number;
	/** Of the process that runs now. */
	readonly pid: number;
	/** Its CONFIG_DIR. */
	directory: string;
	/** Ends it with this signal and starts it again at once; resolves when it is ready. */
	restart(signal: NodeJS.Signals): Promise<void>;
	/** It stands still for so long, its connections open. */
	pause(ms: number): Promise<void>;
	/** Resolves when it can act on Discord. */
	ready(): Promise<void>;
}

/** Starts it; resolves when it is ready. `env` is what it needs beside CONFIG_DIR and MCP_PORT; `toml` is its config.toml. */
export async function startBotProcess(
	env: Record<string, string>,
	toml = 'bot_name = "Test"\n',
): Promise<BotProcess> {
	const executable = await botExecutable();
	const directory = mkdtempSync(join(tmpdir(), "guildhall-test-"));
	writeFileSync(join(directory, "config.toml"), toml);
	const port = await freePort();
	const url = `http://127.0.0.1:${port}/mcp`;
	let program: Program | undefined;
	let pausing: Bun.Subprocess | undefined;
	let ended = false;

	async function start() {
		// Someone may hold the port for a moment: then it ends at once, and is started again.
		for (let attempt = 0; ; attempt++) {
			if (ended) return;
			const all = { ...env, CONFIG_DIR: directory, MCP_PORT: String(port) };
			program = startCommand([executable], all, { cwd: directory });
			try {
				await listeningUrl(program);
				return await ready();
			} catch (error) {
				await program[Symbol.asyncDispose]();
				if (attempt === 5) throw error;
			}
		}
	}

	const ready = () =>
		until(`the bot at ${url} is ready`, async () => {
			if (ended) return true;
			const signal = AbortSignal.timeout(1_000);
			const response = await fetch(url, { signal, keepalive: false }).catch(
				() => undefined,
			);
			return (await response?.text().catch(() => "")) === "ready";
		}).then(
			() => {},
			(error) => {
				throw new Error(`${error.message}\n${lastWords()}`);
			},
		);

	/** What the process says of why it is not ready. */
	const lastWords = () => {
		const { end, lines = [] } = program ?? {};
		const how = end == null ? "it runs" : `it ended with ${end}`;
		return [`${how}; its last lines:`, ...lines.slice(-lastLines)].join("\n");
	};

	const dispose = async () => {
		ended = true;
		// With what it waits for: it leads a process group.
		if (pausing) process.kill(-pausing.pid, "SIGKILL");
		await program?.[Symbol.asyncDispose]();
		rmSync(directory, { recursive: true, force: true });
	};
	await start().catch(async (error) => {
		await dispose();
		throw error;
	});
	return {
		url,
		port,
		get pid() {
			return program?.pid ?? 0;
		},
		directory,
		ready,
		async restart(signal) {
			program?.kill(signal);
			await program?.exited;
			await start();
		},
		async pause(ms) {
			if (!program || ended) return;
			const { pid } = program;
			// Another process lets it go on, whatever becomes of this one; then it notices by itself that its parent has gone.
			const script = `kill -STOP ${pid}; sleep ${ms / 1000}; kill -CONT ${pid}`;
			const options = { detached: true, stderr: "ignore" } as const;
			pausing = Bun.spawn(["sh", "-c", script], options);
			await pausing.exited;
			pausing = undefined;
		},
		[Symbol.asyncDispose]: dispose,
	};
}
