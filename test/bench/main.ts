// What the gateway costs: `bun run bench`. README.md says what each figure is.

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { tools } from "../../src/bot/tools/index.ts";
import { parseCommandLine } from "../../src/lib/program/program.ts";
import { freePort } from "../support/free-port.ts";
import { executables } from "../support/program.ts";
import {
	added,
	type Contender,
	columns,
	compare,
	type Effort,
	lines,
} from "./compare.ts";
import { cell, median } from "./figures.ts";
import { startLoadProcess } from "./load-process.ts";
import { fillGateway } from "./memory.ts";
import { nginxCommand, startNginx } from "./nginx.ts";
import { treeOf } from "./processes.ts";
import {
	callJob,
	checkAnswers,
	fileJob,
	firstAnswer,
	type GatewayProcess,
	listJob,
	offersGzip,
	readList,
	startGatewayProcess,
	startStubs,
} from "./targets.ts";

const parts = ["calls", "slow", "list", "backends", "start", "memory"] as const;
const usage = `Usage: bun run bench [--quick] [--only PART] [--help]

Measures the gateway against nginx as a plain reverse proxy, and against itself with fetch towards its bots.
test/bench/README.md says what each figure is, and how to read it on a machine that is busy otherwise.

  --quick      less of everything, in under 40 seconds
  --only PART  one part alone: ${parts.join(", ")}

Environment:
  EXECUTABLES  a directory with an executable of the gateway to measure instead of the sources, e.g. dist`;

const { quick, only } = parseCommandLine(usage, {
	quick: { type: "boolean" },
	only: { type: "string" },
});
if (only !== undefined && !parts.some((part) => part === only)) {
	console.error(`--only: expected one of ${parts.join(", ")}\n\n${usage}`);
	process.exit(2);
}
const wanted = (part: (typeof parts)[number]) => !only || only === part;
const effort: Effort = quick ? { rounds: 3, ms: 100 } : { rounds: 5, ms: 400 };
/** How long each gateway is called before it is measured: until Bun has compiled all of it. */
const warmUpMs = quick ? 500 : 2_000;
const listedTools = 60;
const manyBackends = [10, 100];

await using stack = new AsyncDisposableStack();
const directory = mkdtempSync(join(tmpdir(), "guildhall-bench-"));
stack.defer(() => rmSync(directory, { recursive: true, force: true }));
// nginx reads its files as another user where it is started by root.
chmodSync(directory, 0o755);

const listings = tools.map(({ listing }) => JSON.stringify(listing));
const stubs = stack.use(
	await startStubs(Math.max(...manyBackends), listings.slice(0, listedTools)),
);
const [stubPort = 0] = stubs.ports;
const stubUrl = `http://127.0.0.1:${stubPort}/mcp`;
await firstAnswer(stubUrl);
const load = stack.use(startLoadProcess());

const gateways: GatewayProcess[] = [];
async function addGateway(name: string, backends = 1, main?: string) {
	const gateway = await startGatewayProcess({
		name,
		backends: stubs.ports.slice(0, backends),
		directory,
		...(main && { main }),
	});
	gateways.push(stack.use(gateway));
	await firstAnswer(gateway.url);
	const calls = await load.open(
		callJob(gateway.url, { connections: 64, backends }),
	);
	await calls.run({ ms: warmUpMs });
	await calls.close();
	return gateway;
}
const gateway = await addGateway("gateway");
const withFetch = await addGateway(
	"gateway-fetch",
	1,
	"test/bench/fetch-gateway.ts",
);
const nginxPath = nginxCommand();
const startOneNginx = async (name: string, file: Uint8Array) => {
	const own = join(directory, name);
	const ports = [await freePort(), await freePort()] as const;
	return startNginx(nginxPath ?? "", {
		directory: own,
		ports,
		backendPort: stubPort,
		file,
	});
};
const nginx = nginxPath
	? stack.use(await startOneNginx("nginx", await readList(gateway.url)))
	: undefined;
if (nginx) await firstAnswer(nginx.proxyUrl);
const nginxPids = nginx ? await treeOf(nginx.pid) : [];

/** The calls of a row at everyone who can take them; nginx, where it is there, is the first. */
function contenders(options: Parameters<typeof callJob>[1]): Contender[] {
	const one = (name: string, url: string, pids: readonly number[]) => ({
		name,
		job: callJob(url, options),
		pids,
	});
	return [
		...(nginx ? [one("nginx", nginx.proxyUrl, nginxPids)] : []),
		one("gateway", gateway.url, [gateway.pid]),
		one("gateway with fetch", withFetch.url, [withFetch.pid]),
	];
}

/** Measures and prints some rows. */
async function rows(
	label: string,
	given: readonly Contender[],
	howMuch: Effort = effort,
) {
	const compared = await compare(load, given, howMuch);
	for (const [index, line] of lines(compared).entries())
		console.log(`${(index === 0 ? label : "").padEnd(18)}${line}`);
	for (const { forget } of gateways) forget();
	return compared;
}

function heading(text: string): void {
	console.log(`\n${text}\n${"".padEnd(18)}${columns}`);
}

async function printMachine(): Promise<void> {
	const [busy = 0] = loadavg();
	console.log(
		`Bun ${Bun.version}, ${process.platform} on ${availableParallelism()} x ${cpus()[0]?.model}, load average ${busy.toFixed(1)} before this began`,
	);
	console.log(
		executables
			? `the gateway is the executable in ${executables}`
			: "the gateway runs from its sources",
	);
	if (!nginx)
		console.log(
			'nginx IS NOT INSTALLED: there is nothing to compare with, and "of 1st" is of the gateway (on Debian: apt-get install nginx-light)',
		);
	const direct = await load.open(callJob(stubUrl, { connections: 64 }));
	await direct.run({ ms: effort.ms });
	const [before, from] = [await load.cpuMicros(), performance.now()];
	const { rate } = await direct.run({ ms: effort.ms * 2 });
	const used = (await load.cpuMicros()) - before;
	const share = used / 1000 / (performance.now() - from);
	await direct.close();
	console.log(
		`the load generator against the stub, nothing between them: ${rate.toFixed(0)} req/s, with ${(100 * share).toFixed(0)} % of a core; no rate below can be higher`,
	);
	console.log(
		`medians of ${effort.rounds} rounds of ${effort.ms} ms each; "of 1st": CPU of the first server's, median (least to most)`,
	);
}

async function measureCalls(): Promise<void> {
	heading("tools/call");
	for (const [kilobytes, size] of [
		[0.4, 300],
		[8, 8_100],
		[48, 49_000],
	] as const)
		for (const connections of [1, 16, 64, 256])
			await rows(
				`${String(connections).padStart(4)} x ${kilobytes} KB`,
				contenders({ connections, size }),
			);
}

async function measureSlow(): Promise<void> {
	heading("tools/call of a bot that takes 5 ms");
	const options = { connections: 16, delayMs: 5 };
	const [first, ...others] = await rows("  16 x 0.4 KB", contenders(options), {
		...effort,
		ms: effort.ms * 3,
	});
	for (const other of others) {
		if (!first || !nginx) return;
		const { p50, p99 } = added(first, other);
		console.log(
			`${"".padEnd(18)}${other.name}: ${p50.toFixed(2)} ms more than nginx at p50, ${p99.toFixed(2)} at p99`,
		);
	}
}

async function measureList(): Promise<void> {
	const { length } = await readList(gateway.url);
	heading(
		`tools/list of ${listedTools} tools, ${(length / 1000).toFixed(0)} KB; nginx serves a file`,
	);
	for (const gzip of [false, true]) {
		const label = `  16 x ${gzip ? "gzip" : "plain"}`;
		if (gzip && !(await offersGzip(gateway.url))) {
			console.log(`${label.padEnd(18)}not offered by the gateway`);
			continue;
		}
		await rows(label, [
			...(nginx
				? [
						{
							name: gzip ? "nginx gzip_static" : "nginx",
							job: fileJob(nginx.fileUrl, 16, gzip),
							pids: nginxPids,
						},
					]
				: []),
			{
				name: "gateway",
				job: listJob(gateway.url, 16, gzip),
				pids: [gateway.pid],
			},
		]);
	}
}

async function measureBackends(): Promise<void> {
	const several: { backends: number; process: GatewayProcess }[] = [];
	for (const backends of manyBackends)
		several.push({
			backends,
			process: await addGateway(`gateway-${backends}`, backends),
		});
	heading("tools/call at several bots in turn");
	await rows(
		"  64 x 0.4 KB",
		[{ backends: 1, process: gateway }, ...several].map(
			({ backends, process: { url, pid } }) => ({
				name: `${backends} bot(s)`,
				job: callJob(url, { connections: 64, backends }),
				pids: [pid],
			}),
		),
	);
}

async function measureStart(): Promise<void> {
	const times = quick ? 3 : 9;
	const timed = async (
		start: () => Promise<AsyncDisposable & { url: string }>,
	) => {
		const all: number[] = [];
		for (let time = 0; time < times; time++) {
			const from = performance.now();
			await using started = await start();
			await firstAnswer(started.url);
			all.push(performance.now() - from);
		}
		return all;
	};
	console.log(
		`\nfrom the start to the first right answer, ms: median of ${times} (least to most)`,
	);
	const print = (name: string, all: number[]) =>
		console.log(
			`${name.padEnd(24)}${cell(median(all), 0, 7)} (${Math.min(...all).toFixed(0)} to ${Math.max(...all).toFixed(0)})`,
		);
	if (nginx)
		print(
			"nginx",
			await timed(async () => {
				const one = await startOneNginx("started", new Uint8Array());
				return Object.assign(one, { url: one.proxyUrl });
			}),
		);
	print(
		"gateway",
		await timed(() =>
			startGatewayProcess({ name: "started", backends: [stubPort], directory }),
		),
	);
}

async function measureMemory(): Promise<void> {
	console.log("\nmemory of a gateway (RSS)");
	const filled = await startGatewayProcess({
		name: "filled",
		backends: [stubPort],
		directory,
	});
	stack.use(filled);
	await firstAnswer(filled.url);
	await fillGateway(filled, load, quick ? 20_000 : 100_000);
}

await printMachine();
const servers = [
	gateway.url,
	withFetch.url,
	...(nginx ? [nginx.proxyUrl] : []),
];
for (const url of servers) await checkAnswers(url);
if (wanted("calls")) await measureCalls();
if (wanted("slow")) await measureSlow();
if (wanted("list")) await measureList();
if (wanted("backends")) await measureBackends();
if (wanted("start")) await measureStart();
if (wanted("memory")) await measureMemory();
for (const url of servers) await checkAnswers(url);
console.log("\nevery answer was the one to its call");
