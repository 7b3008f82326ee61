// The real bot as a process that can be restarted on the same port.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../src/demo/ports.ts";
import { botExecutable } from "./bot-executable.ts";
import { listeningUrl, type Program, startCommand } from "./program.ts";
import { until } from "./until.ts";

/** The number of log lines in the error of a bot that does not become ready. */
const lastLines = 30;

export interface BotProcess extends AsyncDisposable {
	/** The MCP endpoint. It does not change. */
	url: string;
	port: number;
	/** The pid of the current process. */
	readonly pid: number;
	/** Its CONFIG_DIR. */
	directory: string;
	/** Ends it with this signal and starts it again. Resolves when it is ready. `meanwhile` runs between. */
	restart(signal: NodeJS.Signals, meanwhile?: () => void): Promise<void>;
	/** Stops the process for this time, with its connections open. */
	pause(ms: number): Promise<void>;
	/** Resolves when it is connected to Discord. */
	ready(): Promise<void>;
}

/** Starts a bot. Resolves when it is ready. `env` is added to CONFIG_DIR and MCP_PORT; `toml` is its config.toml. */
export async function startBotProcess(env: Record<string, string>, toml = 'bot_name = "Test"\n'): Promise<BotProcess> {
	const executable = await botExecutable();
	const directory = mkdtempSync(join(tmpdir(), "guildhall-test-"));
	writeFileSync(join(directory, "config.toml"), toml);
	const port = await freePort();
	const url = `http://127.0.0.1:${port}/mcp`;
	let program: Program | undefined;
	let pausing: Bun.Subprocess | undefined;
	let ended = false;

	async function start() {
		// Another process may use the port for a moment: the bot ends and is started again.
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
			const response = await fetch(url, { signal, keepalive: false }).catch(() => undefined);
			return (await response?.text().catch(() => "")) === "ready";
		}).then(
			() => {},
			(error) => {
				throw new Error(`${error.message}\n${lastWords()}`);
			},
		);

	/** The last log lines of the process. */
	const lastWords = () => {
		const { end, lines = [] } = program ?? {};
		const how = end == null ? "it runs" : `it ended with ${end}`;
		return [`${how}; its last lines:`, ...lines.slice(-lastLines)].join("\n");
	};

	const dispose = async () => {
		ended = true;
		// It leads a process group: the negative pid ends its `sleep` too.
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
		async restart(signal, meanwhile) {
			program?.kill(signal);
			await program?.exited;
			meanwhile?.();
			await start();
		},
		async pause(ms) {
			if (!program || ended) return;
			const { pid } = program;
			// A separate process continues it even if this one ends. The bot then notices that its parent is gone.
			const script = `kill -STOP ${pid}; sleep ${ms / 1000}; kill -CONT ${pid}`;
			const options = { detached: true, stderr: "ignore" } as const;
			pausing = Bun.spawn(["sh", "-c", script], options);
			await pausing.exited;
			pausing = undefined;
		},
		[Symbol.asyncDispose]: dispose,
	};
}
