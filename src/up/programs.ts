// Runs one bot for each instance directory, and a gateway in front of all bots. Starts, ends and replaces the programs
// when directories or gateway.env change.

import { join, resolve } from "node:path";
import { ConfigError } from "../lib/config.ts";
import type { Started } from "../lib/instances/control.ts";
import { gatewayEnvFile } from "../lib/instances/gateway-env.ts";
import { type Entry, fingerprintOf, readTable, sameTokenIssue } from "../lib/instances/table.ts";
import { KeyedMutex } from "../lib/keyed-mutex.ts";
import { runs } from "../lib/program/program.ts";
import { within } from "../lib/wait.ts";
import { botEnvironment, shownLevel } from "./environment.ts";
import { GatewayProgram, type ProgramsOptions } from "./gateway.ts";
import { assignPorts, fixedPort } from "./ports.ts";
import { readShared, type Shared, tokensOf } from "./shared.ts";
import { Supervisor } from "./supervisor.ts";

/** As of its last start. */
export interface Bot {
	entry: Entry;
	port: number;
	token: string;
	supervisor: Supervisor;
}

const firstStartMs = 10_000;
const startMs = 30_000;
const botStopMs = 35_000;

/** Changes run one after the other. */
export class Programs {
	readonly #gateway: GatewayProgram;
	readonly #options: ProgramsOptions;
	readonly #bots = new Map<string, Bot>();
	readonly #leaving = new Set<Supervisor>();
	readonly #mutex = new KeyedMutex();
	readonly #warned = new Set<string>();
	#shared: Shared | undefined;
	#seen = "";
	#isClosed = false;

	constructor(options: ProgramsOptions) {
		this.#options = options;
		this.#gateway = new GatewayProgram(options);
	}

	get gateway(): Supervisor {
		return this.#gateway.supervisor;
	}

	/** Of gateway and bots. */
	get token(): string | undefined {
		return this.#shared?.token;
	}

	/** Why the gateway does not use its present setup. */
	get gatewayIssue(): string | undefined {
		return this.#gateway.refusal;
	}

	/** Sorted by name. */
	get bots(): Bot[] {
		const bots = [...this.#bots.values()];
		return bots.sort((a, b) => (a.entry.name < b.entry.name ? -1 : 1));
	}

	/** The gateway first. */
	get all(): Supervisor[] {
		return [this.gateway, ...this.bots.map(({ supervisor }) => supervisor)];
	}

	/** "PostgreSQL" without the URL, which has a password. */
	databaseOf(name: string): string {
		const { path = "", env = {} } = this.#bots.get(name)?.entry ?? {};
		const own = env.DATABASE_URL ?? join(env.DATA_DIR ?? join(path, "data"), "store.sqlite");
		const place = name === "gateway" ? this.#gateway.database(this.#shared) : own;
		return /^postgres/i.test(place) ? "PostgreSQL" : resolve(place);
	}

	/** Creates gateway.env. ConfigError if unreadable, for equal DISCORD_TOKENs, or if the gateway's port is in use. */
	async checkBeforeStart(): Promise<void> {
		const { directory, log } = this.#options;
		const { entries } = readTable(directory);
		for (const entry of entries) {
			const issue = sameTokenIssue(entries, entry);
			if (issue) throw new ConfigError(directory, [issue]);
		}
		this.#shared = readShared(directory, entries, log);
		await this.#gateway.checkPort(this.#shared);
	}

	/** Starts, ends and replaces programs to match the files. ConfigError if they are unreadable. */
	update(): Promise<void> {
		return this.#exclusively(async () => {
			const started = await this.#updateBots();
			await within(firstStartMs, Promise.all(started));
			await this.#updateGateway();
		});
	}

	/** After a change of a file, or when a failed setup of the gateway is due again. */
	async updateIfChanged(): Promise<void> {
		const { entries, ignored } = readTable(this.#options.directory);
		const env = join(this.#options.directory, gatewayEnvFile);
		const seen = JSON.stringify([entries, ignored, fingerprintOf(env)]);
		if (seen === this.#seen && !this.#gateway.isRetryDue) return;
		await this.update();
		this.#seen = seen;
	}

	/** Resolves when the program listens or has failed. A running bot whose configuration is invalid now continues. */
	restart(name: string): Promise<Started> {
		return this.#exclusively(async () => {
			if (name === "gateway") return this.#gateway.renew(this.#shared, this.#ports);
			const bot = this.#find(name);
			const { path, env } = bot.entry;
			const isRunning = bot.supervisor.state === "running";
			const checked = isRunning && botEnvironment(this.#options.env, env, { ...bot, path });
			const issue = checked ? await this.#options.checkBot(checked) : undefined;
			if (issue !== undefined) return { reason: issue && `${issue}\nThe running bot continues.` };
			await bot.supervisor.stop(false);
			return this.#startAgain(name);
		});
	}

	/** Resolves when it listens or has failed to start. */
	start(name: string): Promise<Started> {
		return this.#exclusively(() => this.#startAgain(name));
	}

	/** Ends it until `restart`. Calls wait for it meanwhile. */
	pause(name: string): Promise<void> {
		return this.#exclusively(() => (name === "gateway" ? this.gateway : this.#find(name).supervisor).stop(false));
	}

	/** Stays stopped until `start` or `restart`. Ends a start that is under way. Resolves with whether it failed before. */
	async stop(name: string): Promise<boolean> {
		const { supervisor } = this.#find(name);
		const hasFailed = supervisor.state === "waiting" || supervisor.issue !== undefined;
		await supervisor.stop();
		await this.#exclusively(() => this.#find(name).supervisor.stop());
		return hasFailed;
	}

	/** First the gateway, which answers its calls, then the bots. */
	async close(): Promise<void> {
		this.#isClosed = true;
		await this.gateway.close();
		const bots = this.bots.map(({ supervisor }) => supervisor);
		await Promise.all([...bots, ...this.#leaving].map((bot) => bot.close()));
	}

	kill(): void {
		for (const supervisor of [...this.all, ...this.#leaving]) supervisor.kill();
	}

	#exclusively<T>(work: () => Promise<T>): Promise<T> {
		return this.#mutex.withLock("programs", work);
	}

	#find(name: string): Bot {
		const bot = this.#bots.get(name);
		if (!bot) throw new Error(`there is no bot ${name}`);
		return bot;
	}

	async #startAgain(name: string): Promise<Started> {
		await this.#updateBots();
		const started = await within(startMs, this.#find(name).supervisor.start());
		await this.#updateGateway();
		return started === "late" ? { reason: `it has not listened for ${startMs / 1_000} s` } : started;
	}

	async #updateBots(): Promise<Promise<Started>[]> {
		const { directory, log } = this.#options;
		const { entries, ignored } = readTable(directory);
		for (const { name, reason } of ignored) this.#warnOnce("directory is not an instance", { name, reason });
		const before = this.#shared;
		this.#shared = readShared(directory, entries, log, before?.token);
		const { token } = this.#shared;
		for (const [name, own] of tokensOf(entries))
			if (own !== token)
				this.#warnOnce("MCP_AUTH_TOKEN in an instance's .env is ignored: gateway.env has another one", { name });
		this.#removeOthers(entries);
		const ports = await this.#assignPorts(entries);
		// `close` would not end a bot that starts after this point.
		if (this.#isClosed) return [];
		const started: Promise<Started>[] = [];
		for (const entry of entries) {
			const issue = sameTokenIssue(entries, entry);
			if (issue && !this.#bots.has(entry.name)) {
				this.#warnOnce("instance is not started", { reason: issue });
				continue;
			}
			const port = ports.get(entry.name) ?? 0;
			const wanted = fixedPort(entry.env.MCP_PORT);
			// A running bot keeps its port until its next start, which will find out whether the wanted one is taken.
			const isRunning = this.#bots.get(entry.name)?.supervisor.pid;
			if (!isRunning && wanted !== undefined && wanted !== port)
				this.#warnOnce("MCP_PORT of an instance is taken: assigned another port", { name: entry.name, wanted, port });
			const start = this.#updateBot(entry, port, token);
			if (start) started.push(start);
		}
		return started;
	}

	#updateBot(entry: Entry, port: number, token: string): Promise<Started> | undefined {
		const { name } = entry;
		const known = this.#bots.get(name);
		if (!known) {
			const { log, timing, spawn, env: machine } = this.#options;
			const start = () => {
				const bot = this.#find(name);
				bot.token = this.#shared?.token ?? token;
				const { path, env } = bot.entry;
				const level = shownLevel(machine, env);
				return spawn({ program: "bot", name, env: botEnvironment(machine, env, { ...bot, path }), level });
			};
			const supervisor = new Supervisor({ name, log, timing, spawn: start, stopMs: () => botStopMs });
			this.#bots.set(name, { entry, port, token, supervisor });
			return supervisor.start();
		}
		const hasChanged = known.entry.fingerprint !== entry.fingerprint;
		known.entry = entry;
		known.port = port;
		const { supervisor } = known;
		if (supervisor.state === "waiting" && hasChanged) return supervisor.start();
		if (known.token === token || supervisor.state === "stopped") return undefined;
		return supervisor.restart();
	}

	#removeOthers(entries: readonly Entry[]): void {
		for (const [name, bot] of this.#bots) {
			if (entries.some((entry) => entry.name === name)) continue;
			this.#options.log.info("instance was removed: ending its bot", { name });
			this.#bots.delete(name);
			const { supervisor } = bot;
			this.#leaving.add(supervisor);
			void supervisor.close().then(() => this.#leaving.delete(supervisor));
		}
	}

	#assignPorts(entries: readonly Entry[]): Promise<Map<string, number>> {
		const current = new Map<string, number>();
		for (const [name, { port }] of this.#bots) current.set(name, port);
		const requests = entries.map(({ name, env }) => {
			const { port, supervisor } = this.#bots.get(name) ?? {};
			// A running bot keeps its port until its next start.
			const wanted = supervisor?.pid ? port : fixedPort(env.MCP_PORT);
			return { name, wanted };
		});
		return assignPorts(requests, {
			current,
			reserved: [this.#gateway.port(this.#shared)],
			isFree: (port) => this.#options.isFree("127.0.0.1", port),
		});
	}

	get #ports(): Map<string, number> {
		return new Map(this.bots.map(({ entry, port }) => [entry.name, port]));
	}

	async #updateGateway(): Promise<void> {
		if (this.#isClosed) return;
		if (this.#bots.size === 0)
			this.#warnOnce("there are no instances yet", {
				directory: this.#options.directory,
				next: `${runs("new-instance")} NAME`,
			});
		await this.#gateway.update(this.#shared, this.#ports);
	}

	#warnOnce(message: string, fields: Record<string, unknown>): void {
		const key = JSON.stringify([message, fields]);
		if (this.#warned.has(key)) return;
		this.#warned.add(key);
		this.#options.log.warn(message, fields);
	}
}
