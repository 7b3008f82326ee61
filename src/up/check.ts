// `guildhall check`: runs `bot --check` for each instance, and `gateway --check`, with the environment that `up` gives them.

import { join } from "node:path";
import { readGatewayEnv } from "../lib/instances/gateway-env.ts";
import { readTable } from "../lib/instances/table.ts";
import { commandOf } from "../lib/program/launch.ts";
import { eachLine } from "../lib/program/lines.ts";
import { runs } from "../lib/program/program.ts";
import { Semaphore } from "../lib/semaphore.ts";
import { escapeBreaks } from "../lib/text.ts";
import { socketPath } from "./claim.ts";
import { botEnvironment, type Env, gatewayEnvironment } from "./environment.ts";
import { assignPorts, fixedPort } from "./ports.ts";
import { commonToken } from "./shared.ts";

const maxAtOnce = 4;

interface CheckedProgram {
	/** Of the instance, or "gateway". */
	name: string;
	program: "bot" | "gateway";
	env: Record<string, string>;
}

/** Absolute path; the gateway comes last. Changes nothing. ConfigError if it or gateway.env is unreadable. */
export async function programsToCheck(directory: string, env: Env): Promise<CheckedProgram[]> {
	const { entries } = readTable(directory);
	if (entries.length === 0) return [];
	const found = readGatewayEnv(directory);
	const own = found?.variables ?? {};
	// If there is no token yet, `up` will create one.
	const token = found?.token ?? commonToken(entries) ?? "";
	const ports = await assignPorts(
		entries.map(({ name, env }) => ({ name, wanted: fixedPort(env.MCP_PORT) })),
		{
			current: new Map(),
			reserved: [fixedPort(own.GATEWAY_PORT) ?? 9100],
			// The bots may be running: then their ports are in use by themselves.
			isFree: async () => true,
		},
	);
	const bots = entries.map(({ name, path, env: ofBot }) => ({
		name,
		program: "bot" as const,
		env: botEnvironment(env, ofBot, { path, port: ports.get(name) ?? 0, token }),
	}));
	const gateway = gatewayEnvironment(env, own, {
		database: join(directory, "gateway.sqlite"),
		socket: socketPath(directory),
		token,
		ports,
		sharePort: false,
	});
	return [...bots, { name: "gateway", program: "gateway", env: gateway }];
}

/** Of all programs, or of one. Prefixes each line with the program's name. True if all passed. */
export async function checkAll(
	directory: string,
	env: Env,
	write: (line: string) => void,
	only?: string,
): Promise<boolean> {
	const all = await programsToCheck(directory, env);
	const programs = all.filter(({ name }) => only === undefined || name === only);
	if (programs.length === 0) {
		write(`There is no instance in ${directory}: ${runs("new-instance")} NAME makes one.`);
		return false;
	}
	const width = Math.max(...programs.map(({ name }) => name.length));
	const semaphore = new Semaphore({ max: maxAtOnce });
	const check = ({ name, program, env }: CheckedProgram) =>
		semaphore.run(new AbortController().signal, async () => {
			const child = Bun.spawn([...commandOf(program), "--check"], {
				env: { ...env, LOG_FORMAT: "text" },
				stdin: "ignore",
				stdout: "pipe",
				stderr: "pipe",
			});
			const say = (line: string) => write(`${name.padEnd(width)}  ${escapeBreaks(line)}`);
			const streams = [child.stdout, child.stderr];
			await Promise.all(streams.map((stream) => eachLine(stream, say)));
			return (await child.exited) === 0;
		});
	const bots = programs.filter(({ program }) => program === "bot");
	const passed = await Promise.all(bots.map(check));
	// The gateway comes last, so that bots that `up` has just started are reachable.
	const gateway = programs.filter(({ program }) => program === "gateway");
	for (const program of gateway) passed.push(await check(program));
	const failed = passed.filter((isPassed) => !isPassed).length;
	if (only === undefined)
		write(
			failed === 0 ? `All ${programs.length} programs passed.` : `${failed} of ${programs.length} programs failed.`,
		);
	return failed === 0;
}
