// What the gateway costs: `bun run bench`. README.md says what each figure is.

import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tools } from "../../src/bot/tools/index.ts";
import { freePort } from "../../src/demo/ports.ts";
import { fastPathNames } from "../../src/mcp/fast/switch.ts";
import { added, type Contender, columns, compare, type Effort, goalLine, lines, ratiosOf } from "./compare.ts";
import { shareCores } from "./cores.ts";
import { cell, median } from "./figures.ts";
import { startLoadProcess } from "./load-process.ts";
import { printMachine } from "./machine.ts";
import { fillGateway } from "./memory.ts";
import { connectionCounts, type parts, readOptions, sizes } from "./options.ts";
import { memoryOf, treeOf } from "./processes.ts";
import { nginxCommand, startNginx } from "./servers/nginx.ts";
import {
	callJob,
	checkAnswers,
	fileJob,
	firstAnswer,
	type GatewayProcess,
	listJob,
	offersGzip,
	readList,
	startBareGateway,
	startGatewayProcess,
	startStubs,
} from "./targets.ts";

const options = readOptions();
const { quick, effort } = options;
const wanted = (part: (typeof parts)[number]) => !options.only || options.only === part;
const cores = shareCores(options.oneCore);
/** How long each gateway is called before it is measured: until Bun has compiled all of it. */
const warmUpMs = quick ? 500 : 2_000;
const listedTools = 60;
/** Goal of the time from the start of a gateway to its first answer. */
const startGoalMs = 40;
const manyBackends = [10, 100, 1_000];
const slowGoalMs = 0.5;

await using stack = new AsyncDisposableStack();
const directory = mkdtempSync(join(tmpdir(), "guildhall-bench-"));
stack.defer(() => rmSync(directory, { recursive: true, force: true }));
// nginx reads its files as another user where it is started by root.
chmodSync(directory, 0o755);

const listings = tools.map(({ listing }) => JSON.stringify(listing));
const stubs = stack.use(await startStubs(Math.max(...manyBackends), listings.slice(0, listedTools), cores.others));
const [stubPort = 0] = stubs.ports;
const stubUrl = `http://127.0.0.1:${stubPort}/mcp`;
await firstAnswer(stubUrl);
const load = stack.use(startLoadProcess(cores.others));

const gateways: GatewayProcess[] = [];
async function addGateway(name: string, backends = 1, settings: Record<string, string> = {}) {
	const gateway = await startGatewayProcess({
		name,
		backends: stubs.ports.slice(0, backends),
		directory,
		settings,
		pin: cores.server,
	});
	gateways.push(gateway);
	return warm(gateway, backends);
}
/** Calls what was just started until Bun has compiled all of it. */
async function warm(server: GatewayProcess, backends: number) {
	stack.use(server);
	await firstAnswer(server.url);
	const calls = await load.open(callJob(server.url, { connections: 64, backends }));
	await calls.run({ ms: warmUpMs });
	await calls.close();
	return server;
}
const gateway = await addGateway("gateway");
const bare = await warm(await startBareGateway(stubPort, directory, cores.server), 1);
const nginxPath = nginxCommand();
const startOneNginx = async (name: string, file: Uint8Array) => {
	const own = join(directory, name);
	const ports = [await freePort(), await freePort()] as const;
	return startNginx(nginxPath ?? "", { directory: own, ports, backendPort: stubPort, file, pin: cores.server });
};
const nginx = nginxPath ? stack.use(await startOneNginx("nginx", await readList(gateway.url))) : undefined;
if (nginx) await firstAnswer(nginx.proxyUrl);
const nginxPids = nginx ? await treeOf(nginx.pid) : [];

/** The calls of a row at everyone who can take them; nginx, where it is there, is the first. */
function contenders(options: Parameters<typeof callJob>[1]): Contender[] {
	const one = (name: string, url: string, pids: readonly number[]) => ({ name, job: callJob(url, options), pids });
	return [
		...(nginx ? [one("nginx", nginx.proxyUrl, nginxPids)] : []),
		one("bare Bun.serve", bare.url, [bare.pid]),
		one("gateway", gateway.url, [gateway.pid]),
	];
}

/** Measures and prints some rows. */
async function rows(label: string, given: readonly Contender[], howMuch: Effort = effort) {
	const compared = await compare(load, given, howMuch);
	for (const [index, line] of lines(compared).entries()) console.log(`${(index === 0 ? label : "").padEnd(18)}${line}`);
	for (const { forget } of gateways) forget();
	return compared;
}

function heading(text: string): void {
	console.log(`\n${text}\n${"".padEnd(18)}${columns}`);
}

async function measureCalls(): Promise<void> {
	heading("tools/call");
	for (const [kilobytes, size] of sizes) {
		if ((options.size ?? kilobytes) !== kilobytes) continue;
		const ofBare: number[] = [];
		const ofNginx: number[] = [];
		for (const connections of connectionCounts) {
			if ((options.connections ?? connections) !== connections) continue;
			const compared = await rows(
				`${String(connections).padStart(4)} x ${kilobytes} KB`,
				contenders({ connections, size }),
			);
			// The goals are about many connections.
			if (connections === 1) continue;
			ofBare.push(...ratios(compared, "gateway", "bare Bun.serve"));
			ofNginx.push(...ratios(compared, "gateway", "nginx"));
		}
		if (ofBare.length > 0)
			console.log(
				`${"".padEnd(18)}${goalLine(`${kilobytes} KB: CPU, gateway : bare Bun.serve`, ofBare, options.oneCore ? 1.8 : 1.5)}`,
			);
		if (ofNginx.length > 0)
			console.log(`${"".padEnd(18)}${goalLine(`${kilobytes} KB: CPU, gateway : nginx`, ofNginx, 1.8)}`);
	}
}

/** Of one of those that were compared to another, by rounds; none where one of them is not there. */
function ratios(compared: Awaited<ReturnType<typeof rows>>, name: string, other: string) {
	const [one, another] = [name, other].map((wantedName) => compared.find((each) => each.name === wantedName));
	return one && another ? ratiosOf(one, another) : [];
}

async function measureSlow(): Promise<void> {
	heading("tools/call of a bot that takes 5 ms");
	const options = { connections: 16, delayMs: 5 };
	const [first, ...others] = await rows("  16 x 0.4 KB", contenders(options), { ...effort, ms: effort.ms * 3 });
	for (const other of others) {
		if (!first || !nginx) return;
		const { p50, p99 } = added(first, other);
		const end = other.name === "gateway" ? `, goal ${slowGoalMs} ${p99 <= slowGoalMs ? "met" : "missed"}` : "";
		console.log(
			`${"".padEnd(18)}${other.name}: ${p50.toFixed(2)} ms more than nginx at p50, ${p99.toFixed(2)} at p99${end}`,
		);
	}
}

async function measureList(): Promise<void> {
	const list = await readList(gateway.url);
	heading(`tools/list of ${listedTools} tools, ${(list.length / 1000).toFixed(0)} KB; nginx has it ready`);
	for (const gzip of [false, true]) {
		const label = `  16 x ${gzip ? "gzip" : "plain"}`;
		if (gzip && !(await offersGzip(gateway.url))) {
			console.log(`${label.padEnd(18)}not offered by the gateway`);
			continue;
		}
		const compared = await rows(label, [
			...(nginx
				? [{ name: gzip ? "nginx gzip_static" : "nginx", job: fileJob(nginx.fileUrl, 16, gzip), pids: nginxPids }]
				: []),
			{ name: "gateway", job: listJob(gateway.url, 16, gzip), pids: [gateway.pid] },
		]);
		const ofNginx = ratios(compared, "gateway", "nginx gzip_static");
		if (ofNginx.length > 0)
			console.log(`${"".padEnd(18)}${goalLine("packed: CPU, gateway : nginx gzip_static", ofNginx, 1.2)}`);
	}
}

/** What each fast path of src/mcp/fast saves: the gateway without it is compared with the gateway as it is. */
async function measurePaths(): Promise<void> {
	const without: { name: string; process: GatewayProcess }[] = [];
	for (const path of fastPathNames)
		without.push({
			name: `without ${path}`,
			process: await addGateway(`gateway-no-${path}`, 1, { MCP_FAST_PATHS: `no-${path}` }),
		});
	const all = (job: (url: string) => Contender["job"]) =>
		[{ name: "gateway", process: gateway }, ...without].map(({ name, process: { url, pid } }) => ({
			name,
			job: job(url),
			pids: [pid],
		}));
	heading("fast paths, each switched off");
	for (const [kilobytes, size] of sizes)
		await rows(
			`  64 x ${kilobytes} KB`,
			all((url) => callJob(url, { connections: 64, size })),
		);
	for (const gzip of [false, true])
		await rows(
			`  16 x list${gzip ? " gzip" : ""}`,
			all((url) => listJob(url, 16, gzip)),
		);
}

async function measureBackends(): Promise<void> {
	const several = [{ backends: 1, process: await addGateway("gateway-1") }];
	for (const backends of manyBackends)
		several.push({ backends, process: await addGateway(`gateway-${backends}`, backends) });
	heading("tools/call at several bots in turn");
	const all = several.map(({ backends, process: { url, pid } }) => ({
		name: `${backends} bot(s)`,
		job: callJob(url, { connections: 64, backends }),
		pids: [pid],
	}));
	const [one, ...others] = await rows("  64 x 0.4 KB", all);
	for (const other of others)
		if (one) console.log(`${"".padEnd(18)}${goalLine(`CPU, ${other.name} : one`, ratiosOf(other, one), 1.05)}`);
	const [first = 0, ...memory] = await Promise.all(several.map(({ process: { pid } }) => memoryOf(pid)));
	for (const [index, backends] of manyBackends.entries()) {
		const kib = (1024 * ((memory[index] ?? 0) - first)) / (backends - 1);
		console.log(
			`${"".padEnd(18)}memory of each bot more, of ${backends}: ${kib.toFixed(0)} KiB, goal: no more with more bots`,
		);
	}
}

async function measureStart(): Promise<void> {
	const times = quick ? 3 : 9;
	const timed = async (start: () => Promise<AsyncDisposable & { url: string }>) => {
		const all: number[] = [];
		for (let time = 0; time < times; time++) {
			const from = performance.now();
			await using started = await start();
			await firstAnswer(started.url);
			all.push(performance.now() - from);
		}
		return all;
	};
	console.log(`\nfrom the start to the first right answer, ms: median of ${times} (least to most)`);
	const print = (name: string, all: number[], goal?: number) => {
		const took = median(all);
		const wanted = goal === undefined ? "" : `   goal ${goal}: ${took <= goal ? "met" : "MISSED"}`;
		console.log(
			`${name.padEnd(24)}${cell(took, 0, 7)} (${Math.min(...all).toFixed(0)} to ${Math.max(...all).toFixed(0)})${wanted}`,
		);
	};
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
		await timed(() => startGatewayProcess({ name: "started", backends: [stubPort], directory, pin: cores.server })),
		startGoalMs,
	);
}

async function measureMemory(): Promise<void> {
	console.log("\nmemory of a gateway (RSS)");
	const filled = await startGatewayProcess({ name: "filled", backends: [stubPort], directory, pin: cores.server });
	stack.use(filled);
	await firstAnswer(filled.url);
	await fillGateway(filled, load, quick ? 20_000 : 100_000);
}

await printMachine(options, { load, stubUrl }, nginxPath);
const servers = [gateway.url, bare.url, ...(nginx ? [nginx.proxyUrl] : [])];
for (const url of servers) await checkAnswers(url);
if (wanted("calls")) await measureCalls();
if (wanted("slow")) await measureSlow();
if (wanted("list")) await measureList();
if (options.only === "paths") await measurePaths();
if (wanted("backends")) await measureBackends();
if (wanted("start")) await measureStart();
if (wanted("memory")) await measureMemory();
for (const url of servers) await checkAnswers(url);
console.log("\nevery answer was the one to its call");
