// The gateway that `up` runs: determines its environment, and replaces the gateway when that changes.

import { join } from "node:path";
import { ConfigError } from "../lib/config.ts";
import type { Started } from "../lib/instances/control.ts";
import { gatewayEnvFile } from "../lib/instances/gateway-env.ts";
import type { Level, Log } from "../lib/log.ts";
import { within } from "../lib/wait.ts";
import { socketPath } from "./claim.ts";
import { type Env, gatewayEnvironment, shownLevel } from "./environment.ts";
import { fixedPort } from "./ports.ts";
import type { ChildProcess } from "./process.ts";
import type { Shared } from "./shared.ts";
import { Supervisor, type Timing } from "./supervisor.ts";

export interface ProgramStart {
	program: "bot" | "gateway";
	/** Of the instance, or "gateway". */
	name: string;
	env: Record<string, string>;
	/** Of the lines to show. */
	level: Level;
}

export interface ProgramsOptions {
	/** Absolute. */
	directory: string;
	env: Env;
	/** By SO_REUSEPORT, while the first gateway drains. */
	sharePort: boolean;
	log: Log;
	timing: Timing;
	spawn(start: ProgramStart): ChildProcess;
	/** Why a bot cannot start with it; undefined if valid. */
	checkBot(env: Record<string, string>): Promise<string | undefined>;
	isFree(hostname: string, port: number): Promise<boolean>;
}

interface Setup {
	env: Record<string, string>;
	key: string;
	level: ReturnType<typeof shownLevel>;
}

const defaultPort = 9100;
const startMs = 30_000;
const refusedMs = 60_000;
const stopMs = 5_000;

export class GatewayProgram {
	readonly supervisor: Supervisor;
	readonly #options: ProgramsOptions;
	#applied: Setup | undefined;
	#refused: { key: string; at: number; reason: string } | undefined;

	constructor(options: ProgramsOptions) {
		this.#options = options;
		const { log, timing, spawn } = options;
		this.supervisor = new Supervisor({
			name: "gateway",
			log,
			timing,
			spawn: () => {
				const { env = {}, level = "info" } = this.#applied ?? {};
				const port = this.#portOf(env);
				return spawn({ program: "gateway", name: "gateway", env: { ...env, GATEWAY_PORT: port }, level });
			},
			stopMs: () => stopMs + shutdownMs(this.#applied?.env),
		});
	}

	/** Also before it listens. */
	port(shared: Shared | undefined): number {
		return Number(this.#portOf(this.#setup(shared, new Map()).env));
	}

	/** Path or URL. */
	database(shared: Shared | undefined): string {
		return this.#setup(shared, new Map()).env.GATEWAY_DATABASE ?? "";
	}

	/** Where another program listens, SO_REUSEPORT would give the gateway only some of the connections: ConfigError. */
	async checkPort(shared: Shared): Promise<void> {
		const issue = await this.#portIssue(this.#setup(shared, new Map()).env);
		if (issue) throw new ConfigError(join(this.#options.directory, gatewayEnvFile), [issue]);
	}

	/** Replaces a gateway whose setup has changed; stops it without bots. */
	async update(shared: Shared | undefined, ports: ReadonlyMap<string, number>): Promise<void> {
		if (ports.size === 0) {
			this.#applied = undefined;
			this.#refused = undefined;
			if (this.supervisor.state !== "stopped") await this.supervisor.stop();
			return;
		}
		const setup = this.#setup(shared, ports);
		const { key } = setup;
		if (key === this.#applied?.key) {
			this.#refused = undefined;
			return;
		}
		if (key === this.#refused?.key && !this.isRetryDue) return;
		if (this.#applied) await this.renew(shared, ports);
		else {
			this.#applied = setup;
			await within(startMs, this.supervisor.start());
		}
	}

	/** If the new one does not start, the old one continues. */
	async renew(shared: Shared | undefined, ports: ReadonlyMap<string, number>): Promise<Started> {
		if (ports.size === 0) return { reason: "there are no instances" };
		const { supervisor } = this;
		const before = this.#applied;
		const setup = this.#setup(shared, ports);
		const wasRunning = supervisor.state === "running";
		const issue = await this.#portIssue(setup.env);
		this.#applied = setup;
		const started = issue
			? { reason: issue }
			: await (this.#options.sharePort ? supervisor.replace() : supervisor.restart());
		if ("url" in started) {
			this.#refused = undefined;
			return started;
		}
		if (issue) this.#options.log.error("could not replace the gateway", { reason: issue });
		if (before && wasRunning) {
			const { key } = setup;
			this.#refused = { key, at: this.#options.timing.now(), ...started };
			this.#applied = before;
			supervisor.retry();
		}
		return started;
	}

	/** Why the former setup continues; undefined if it is current. */
	get refusal(): string | undefined {
		return this.#refused && `a changed setup is not in use: ${this.#refused.reason}`;
	}

	/** A failed setup can be tried again, although nothing has changed. */
	get isRetryDue(): boolean {
		if (!this.#refused) return false;
		return this.#options.timing.now() - this.#refused.at >= refusedMs;
	}

	#setup(shared: Shared | undefined, ports: ReadonlyMap<string, number>): Setup {
		const { directory, env: machine, sharePort } = this.#options;
		const { variables = {}, token = "" } = shared ?? {};
		const env = gatewayEnvironment(machine, variables, {
			database: join(directory, "gateway.sqlite"),
			socket: socketPath(directory),
			token,
			ports,
			sharePort,
		});
		const level = shownLevel(machine, variables);
		const key = JSON.stringify([level, ...Object.entries(env).sort()]);
		return { env, key, level };
	}

	#portOf(env: Env): string {
		const port = env.GATEWAY_PORT || String(defaultPort);
		const { url } = this.supervisor;
		return port === "0" && url !== undefined ? new URL(url).port : port;
	}

	async #portIssue(env: Env): Promise<string | undefined> {
		const { GATEWAY_BIND_ADDR: hostname = "" } = env;
		const port = fixedPort(this.#portOf(env));
		const { url } = this.supervisor;
		const isOurs = url !== undefined && Number(new URL(url).port) === port;
		if (port === undefined || isOurs) return undefined;
		if (await this.#options.isFree(hostname, port)) return undefined;
		return `GATEWAY_PORT: ${hostname}:${port} is already in use: stop the program that uses it, or set GATEWAY_PORT to another port there`;
	}
}

function shutdownMs(env: Env = {}): number {
	const seconds = Number(env.SHUTDOWN_SECONDS);
	return seconds >= 0 ? seconds * 1_000 : 0;
}
