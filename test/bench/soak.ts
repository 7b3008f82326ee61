// Whether the memory of the gateway and of a bot stays flat under many idle connections and steady load: `bun run soak`.
// The gateway, a bot, the simulator and two stubs for more bots are processes of their own; the clients live in this one.

import { parseCommandLine } from "../../src/lib/program/program.ts";
import { listeningUrl, type Program, startProgram } from "../support/program.ts";
import { startStubBackend, textResult } from "../support/stub-backend.ts";
import { median } from "./figures.ts";
import { holdIdle, type IdleConnections } from "./idle-connections.ts";
import { maxOpenFiles, memoryOf } from "./processes.ts";
import { botName, type MixedCall, runSoakSimulator, type SoakBot, startSoakBot } from "./soak-bot.ts";

const usage = `Usage: bun run soak [--help]

Holds idle client connections and concurrent calls, to stubs and to a real bot in front of the simulator. Prints the
memory (RSS) of the gateway and of the bot as it goes.
Ctrl-C ends it early, with a verdict on what there was.

Environment:
  SOAK_SECONDS      how long (60)
  SOAK_CONNECTIONS  idle connections (10000); each takes a file descriptor here and one in the gateway
  SOAK_CALLS        calls at a time to the stubs (200; up to 240)
  SOAK_BOT_CALLS    calls a second to the bot: reads, messages, calls that it refuses (50; up to 500)`;

const token = "soak-token-of-enough-length";
/** How long a stub thinks: 200 calls at a time are then at most 2,000 a second. */
const thinkMs = 100;
/** Descriptors beside those of the idle connections. */
const spareDescriptors = 600;
/** Calls to the bot at a time. */
const maxBotCalls = 16;
/** What counts as flat: growth over the time after warm-up, as part of the memory at its beginning. */
const flatGrowth = 0.05;

/** Stands for two bots until stdin ends. */
async function runStubs(): Promise<void> {
	const stubs = ["alpha", "beta"].map((name, index) =>
		startStubBackend({
			guilds: { [`10000000000000000${index}`]: name },
			on: {
				async echo({ id }) {
					await Bun.sleep(thinkMs);
					return textResult(id, "x".repeat(300));
				},
			},
		}),
	);
	// What they remember is not wanted here.
	setInterval(() => {
		for (const { requests } of stubs) requests.length = 0;
	}, 1_000);
	console.log(JSON.stringify({ stubs: stubs.map(({ url }) => url) }));
	for await (const _ of Bun.stdin.stream());
	process.exit(0);
}

/** Calls that are kept under way. */
class Load {
	calls = 0;
	errors = 0;
	/** What went wrong first. */
	firstError: string | undefined;
	/** Ends the calls. Resolves when the last one has ended. */
	close = async (): Promise<void> => {};

	noteError(error: unknown): void {
		this.errors++;
		this.firstError ??= String(error);
	}
}

/** Keeps `count` calls under way, half of them to each instance. */
function holdCalls(url: string, count: number): Load {
	const load = new Load();
	let closed = false;

	const call = (id: number, instance: string) =>
		callTool(url, id, { params: { name: "echo", arguments: { instance } }, isRefused: false });
	const workers = Array.from({ length: count }, async (_, index) => {
		while (!closed) {
			try {
				await call(++load.calls, index % 2 === 0 ? "alpha" : "beta");
			} catch (error) {
				load.noteError(error);
				await Bun.sleep(100);
			}
		}
	});
	load.close = async () => {
		closed = true;
		await Promise.all(workers);
	};
	return load;
}

/** Calls a tool. Rejects unless the response is the expected one. */
async function callTool(url: string, id: number, { params, isRefused }: MixedCall): Promise<void> {
	const response = await fetch(url, {
		method: "POST",
		headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
		body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }),
	});
	const text = await response.text();
	if (!text.includes(`"id":${id},"result"`) || text.includes('"isError":true') !== isRefused)
		throw new Error(`HTTP ${response.status}: ${text}`);
}

/** Calls the bot so many times a second. */
function holdBotCalls(url: string, perSecond: number, bot: SoakBot): Load {
	const load = new Load();
	const running = new Set<Promise<void>>();
	const timer = setInterval(() => {
		// A bot that does not keep up gets no more calls at once than the gateway lets through.
		if (running.size >= maxBotCalls) return;
		const id = ++load.calls;
		const one = callTool(url, id, bot.call(id))
			.catch((error) => load.noteError(error))
			.finally(() => running.delete(one));
		running.add(one);
	}, 1_000 / perSecond);
	load.close = async () => {
		clearInterval(timer);
		await Promise.all(running);
	};
	return load;
}

interface Sample {
	second: number;
	mib: number;
}

/** A process whose memory is watched. */
interface Watched {
	name: string;
	program: Program;
	atRest: number;
	samples: Sample[];
}

/**
 * MiB a minute: the median of the slopes between any two samples (Theil-Sen), which single samples just before a garbage
 * collection hardly change. https://en.wikipedia.org/wiki/Theil%E2%80%93Sen_estimator
 */
function slope(samples: readonly Sample[]): number {
	const slopes = samples.flatMap((one, at) =>
		samples.slice(at + 1).map((later) => (later.mib - one.mib) / (later.second - one.second)),
	);
	return 60 * median(slopes);
}

function setting(name: string, otherwise: number, most: number): number {
	const value = Number(process.env[name] ?? otherwise);
	if (Number.isInteger(value) && value > 0 && value <= most) return value;
	return fail(`${name}: expected a whole number from 1 to ${most}`);
}

function fail(message: string): never {
	console.error(message);
	process.exit(1);
}

async function main(): Promise<void> {
	parseCommandLine(usage, {});
	const seconds = setting("SOAK_SECONDS", 60, 7 * 86_400);
	const connections = setting("SOAK_CONNECTIONS", 10_000, 50_000);
	// Bun runs no more requests of a process at once.
	const concurrent = setting("SOAK_CALLS", 200, 240);
	const botCalls = setting("SOAK_BOT_CALLS", 50, 500);
	const limit = maxOpenFiles();
	const needed = connections + concurrent + spareDescriptors;
	if (limit < needed)
		fail(
			`a process may have ${limit} open files here, and this needs ${needed}: raise it with "ulimit -n ${needed}" (or "ulimit -Hn" as root), or set SOAK_CONNECTIONS=${Math.max(1, limit - concurrent - spareDescriptors)}`,
		);

	await using stack = new AsyncDisposableStack();
	const stop = Promise.withResolvers<void>();
	for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.resolve());

	console.log("starting two stubs, the simulator, a bot and the gateway");
	const stubs = stack.use(startProgram("test/bench/soak.ts", {}, ["stubs"]));
	const [alpha, beta] = await stubs.line((line) =>
		line.startsWith("{") ? (JSON.parse(line).stubs as string[]) : undefined,
	);
	const bot = stack.use(await startSoakBot(token));
	const gateway = stack.use(
		startProgram("src/gateway/main.ts", {
			INSTANCES: `alpha=${alpha},beta=${beta},${botName}=${bot.url}`,
			MCP_AUTH_TOKEN: token,
			GATEWAY_PORT: "0",
			GATEWAY_BIND_ADDR: "127.0.0.1",
		}),
	);
	const url = await listeningUrl(gateway);
	void gateway.exited.then(() => stop.resolve());
	void bot.program.exited.then(() => stop.resolve());
	const watched: Watched[] = [];
	for (const [name, program] of [
		["gateway", gateway],
		["bot", bot.program],
	] as const) {
		const atRest = await memoryOf(program.pid);
		watched.push({ name, program, atRest, samples: [] });
		console.log(`${name} at rest: ${atRest.toFixed(1)} MiB`);
	}
	console.log(
		`opening ${connections} idle connections, ${concurrent} calls at a time and ${botCalls} a second to the bot, for ${seconds} s`,
	);

	const idle = holdIdle(url, connections, { token, method: "tools/list" });
	stack.defer(() => idle.close());
	const load = holdCalls(url, concurrent);
	const botLoad = holdBotCalls(url, botCalls, bot);
	const loads = [load, botLoad];
	await sample({ seconds, watched, idle, loads, stop: stop.promise });
	const held = idle.open;
	const ends = Promise.all(loads.map((one) => one.close()));
	await Promise.race([ends, Bun.sleep(5_000)]);
	idle.close();

	for (const { firstError } of loads) if (firstError) console.log(`the first error: ${firstError}`);
	for (const one of watched) verdict(one);
	const errors = load.errors + botLoad.errors;
	if (errors > 0 || held < connections)
		console.log(
			`NOT AS IT SHOULD BE: ${errors} call(s) failed, ${held} of ${connections} connections were open at the end`,
		);
}

/** A line every few seconds, until the time is over or `stop` resolves. */
async function sample(given: {
	seconds: number;
	watched: readonly Watched[];
	idle: IdleConnections;
	loads: readonly Load[];
	stop: Promise<void>;
}): Promise<void> {
	const { seconds, watched, idle, loads } = given;
	const stopped = given.stop.then(() => "stopped" as const);
	const stepMs = Math.min(60_000, Math.max(1_000, (seconds * 1000) / 24));
	const columns = [
		"second",
		...watched.map(({ name }) => `${name} MiB`),
		"open",
		"reopened",
		"failed",
		"calls",
		"of bot",
		"errors",
	];
	const row = (cells: readonly (string | number)[]) =>
		console.log(cells.map((cell) => String(cell).padStart(11)).join(" "));
	row(columns);
	const begin = performance.now();
	for (let next = begin + stepMs; ; next += stepMs) {
		const pause = Bun.sleep(Math.max(0, next - performance.now()));
		if ((await Promise.race([pause, stopped])) === "stopped") return;
		const second = (performance.now() - begin) / 1000;
		for (const { program, samples } of watched) {
			samples.push({ second, mib: await memoryOf(program.pid) });
			// Its log is not wanted here.
			program.lines.length = 0;
		}
		const { open, reopened, failed } = idle;
		row([
			second.toFixed(0),
			...watched.map(({ samples }) => samples.at(-1)?.mib.toFixed(1) ?? ""),
			...[open, reopened, failed],
			...loads.map(({ calls }) => calls),
			loads.reduce((sum, { errors }) => sum + errors, 0),
		]);
		if (second >= seconds) return;
	}
}

function verdict({ name, samples, atRest }: Watched): void {
	const after = samples.slice(Math.floor(samples.length / 3));
	const [first, last] = [after[0], after.at(-1)];
	if (!first || !last || after.length < 4) {
		console.log(`${name}: too short for a verdict`);
		return;
	}
	const perMinute = slope(after);
	const growth = (perMinute * (last.second - first.second)) / 60 / first.mib;
	console.log(
		[
			`${name}: RSS at rest ${atRest.toFixed(1)} MiB`,
			`after warm-up (${first.second.toFixed(0)} s) ${first.mib.toFixed(1)} MiB`,
			`at the end (${last.second.toFixed(0)} s) ${last.mib.toFixed(1)} MiB`,
			`slope ${perMinute.toFixed(2)} MiB a minute`,
			growth < flatGrowth ? "flat" : `GROWING: ${(100 * growth).toFixed(0)} % since the warm-up`,
		].join("; "),
	);
}

if (process.argv[2] === "stubs") await runStubs();
else if (process.argv[2] === "simulator") await runSoakSimulator();
else {
	await main();
	process.exit(0);
}
