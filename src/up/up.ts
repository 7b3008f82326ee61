// Starts all parts of `up`: the lock of the directory, the programs, and the check for changed files.

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../lib/config.ts";
import type { Level, Log } from "../lib/log.ts";
import { silentLog } from "../lib/log.ts";
import { tryListening } from "../lib/program/check.ts";
import { commandOf } from "../lib/program/launch.ts";
import { eachLine } from "../lib/program/lines.ts";
import { type Running, runs, version } from "../lib/program/program.ts";
import { newerRelease, releasesAddress } from "../lib/program/releases.ts";
import { singleFlight } from "../lib/wait.ts";
import { checkAll } from "./check.ts";
import { claimState, socketPath } from "./claim.ts";
import { listenForCommands } from "./control.ts";
import type { Env } from "./environment.ts";
import { isShown, keepLine, type LogLine, parseLine, unexpectedLine } from "./log-lines.ts";
import { startChildProcess } from "./process.ts";
import { Programs } from "./programs.ts";
import { describePrograms } from "./status.ts";
import { timing } from "./supervisor.ts";

interface UpConfig {
	/** Absolute. */
	directory: string;
	/** Programs get some of these variables. */
	env: Env;
	log: { format: "json" | "text"; level: Level };
}

const pollMs = 2_000;
/** Within this time, programs of a killed `up` have ended and left their ports. */
const leavingMs = 4_000;
const retryMs = 100;
/** Most times the answer of the last day is still known. */
const askNewestMs = 60 * 60_000;

/** `close` ends all. Rejects with a ConfigError if the directory does not exist or another `up` runs there. */
export async function startUp(
	config: UpConfig,
	log: Log,
	write: (line: LogLine) => void,
	onGateway?: (url: string, token: string) => void,
): Promise<Running> {
	const { directory } = config;
	checkDirectory(directory, log);
	const claim = claimState(directory);
	const start = performance.now();
	const lastLines = new Map<string, string[]>();
	const programs = new Programs({
		directory,
		env: config.env,
		sharePort: process.platform === "linux",
		log,
		timing,
		spawn({ program, name, env, level }) {
			const pass = (line: LogLine) => {
				if (!isShown(line, level)) return;
				keepLine(lastLines, line);
				write(line);
			};
			const now = () => new Date().toISOString();
			return startChildProcess({
				program,
				env,
				onLine: (line) => pass(parseLine(name, line, now())),
				onErrorLine: (line) => pass(unexpectedLine(name, line, now())),
			});
		},
		async checkBot(env) {
			const { code, reason } = await startChildProcess({ program: "bot", args: ["--check-config"], env }).exited;
			return code === 0 ? undefined : reason;
		},
		async isFree(hostname, port) {
			const settings = { hostname: "GATEWAY_BIND_ADDR", port: "GATEWAY_PORT" };
			for (;;) {
				if ((await tryListening({ hostname, port, settings, log: silentLog })) === "free") return true;
				if (performance.now() - start > leavingMs) return false;
				await Bun.sleep(retryMs);
			}
		},
	});
	let newer: string | undefined;
	let isClosing = false;
	// After a second signal or an error, no process that this one started may remain.
	process.on("exit", () => {
		if (isClosing) programs.kill();
	});
	await programs.checkBeforeStart();
	const endCommands = listenForCommands({
		path: socketPath(directory),
		programs,
		status: () => ({
			...{ pid: process.pid, version, newer, directory },
			programs: describePrograms(programs, performance.now()),
		}),
		log: (name) => lastLines.get(name) ?? [],
		async check(name) {
			const lines: string[] = [];
			await checkAll(directory, config.env, (line) => lines.push(line), name);
			return lines;
		},
		async add(name, token) {
			const lines = await addInstance(directory, name, token);
			void look();
			return lines;
		},
	});
	let isToldOfGateway = false;
	let lastProblem = "";
	const look = singleFlight(async () => {
		try {
			await programs.updateIfChanged();
			lastProblem = "";
			const { gateway, token } = programs;
			if (gateway.url && token && !isToldOfGateway) onGateway?.(gateway.url, token);
			isToldOfGateway ||= gateway.url !== undefined;
		} catch (error) {
			const { message } = error as Error;
			if (message !== lastProblem) log.error("could not read the directory of the instances", { reason: message });
			lastProblem = message;
		}
	});
	void look();
	const timer = setInterval(look, pollMs);
	const askNewest = async () => {
		newer = await newerRelease(join(claim.path, "newest"), releasesAddress(config.env)).catch(() => undefined);
	};
	void askNewest();
	const newestTimer = setInterval(askNewest, askNewestMs);
	return {
		async close() {
			isClosing = true;
			clearInterval(timer);
			clearInterval(newestTimer);
			endCommands();
			await programs.close();
			claim.release();
			isClosing = false;
		},
	};
}

function checkDirectory(directory: string, log: Log): void {
	if (process.platform === "win32")
		throw new ConfigError("this system", [
			"up needs Linux or macOS: on Windows, start the gateway and each bot separately",
		]);
	if (!existsSync(directory))
		throw new ConfigError("the command line", [
			`--directory: ${directory} does not exist; ${runs("new-instance")} NAME makes it with the first bot`,
		]);
	const { mode } = statSync(directory);
	if ((mode & 0o002) !== 0 && (mode & 0o1000) === 0)
		log.warn("any user can add instances to the directory: remove the write permission for others", { directory });
}

/** Resolves with the next steps, for a reader of the console. The token goes through a pipe, which other users cannot see. */
async function addInstance(directory: string, name: string, token: string): Promise<string[]> {
	const lines: string[] = [];
	const child = Bun.spawn([...commandOf("new-instance"), "--token-stdin", "--directory", directory, "--", name], {
		stdin: new Blob([token]),
		stdout: "pipe",
		stderr: "pipe",
	});
	await Promise.all([child.stdout, child.stderr].map((stream) => eachLine(stream, (line) => lines.push(line))));
	if ((await child.exited) !== 0) throw new Error(lines.filter((line) => !/ has \d+ errors?:$/.test(line)).join("\n"));
	const invite = lines.find((line) => line.startsWith("https://discord.com/oauth2/")) ?? "";
	const isComplete = !invite.includes("CLIENT_ID");
	return [
		`${name} starts now. Its card says when it is online, or what is wrong.`,
		"To let it work in your Discord server, invite it:",
		invite,
		...(isComplete ? [] : ["In this link, replace CLIENT_ID with the id of your application."]),
		"Then switch on what it does there, in the section Settings.",
		`Its files are in ${directory}/${name}.`,
	];
}
