// Several gateways behind nginx, which gives them requests in turn. A gateway keeps nothing for a client, so that any of
// them can take any request of any session.

import { join } from "node:path";
import { freePort } from "../../support/free-port.ts";
import { columns, compare, lines } from "../compare.ts";
import { shareCores } from "../cores.ts";
import { median } from "../figures.ts";
import { nginxCommand, startBalancer } from "../servers/nginx.ts";
import { callJob, firstAnswer, headers } from "../targets.ts";
import type { Setting } from "./many-bots.ts";

const gatewayCounts = [1, 2, 4];
/** So many that requests wait at each gateway when its turn comes. */
const heldConnections = 1_000;

/** Measures and prints what one, two and four gateways do together. */
export async function measureSeveralGateways({ options, load, directory, ports, start }: Setting): Promise<void> {
	const command = nginxCommand();
	if (!command) {
		console.log("\nseveral gateways: not measured without nginx");
		return;
	}
	await using stack = new AsyncDisposableStack();
	const { others } = shareCores(options.oneCore);
	const bots = ports.length;
	const targets = ports.map((_, bot) => ({ instance: `stub${bot}` }));
	const gateways = await Promise.all(
		Array.from({ length: Math.max(...gatewayCounts) }, (_, index) => start(`behind-${index}`, bots)),
	);
	for (const { url } of gateways) {
		const calls = await load.open(callJob(url, { connections: 64, targets }));
		await calls.run({ ms: options.quick ? 500 : 2_000 });
		await calls.close();
	}
	const contenders = [];
	for (const count of gatewayCounts) {
		const some = gateways.slice(0, count);
		const balancer = stack.use(
			startBalancer(
				command,
				join(directory, `balancer-${count}`),
				await freePort(),
				some.map(({ url }) => Number(new URL(url).port)),
				others,
			),
		);
		await firstAnswer(balancer.url);
		await checkSessions(balancer.url);
		contenders.push({
			name: `${count} gateway(s)`,
			job: callJob(balancer.url, { connections: 64, targets }),
			pids: some.map(({ pid }) => pid),
		});
	}
	console.log(
		`\nseveral gateways behind nginx, ${bots} bots, 64 connections; CPU of the gateways together\n${columns}`,
	);
	const compared = await compare(load, contenders, options.effort);
	for (const line of lines(compared)) console.log(line);
	for (const { name, measured } of compared) {
		const micros = median(measured.map((one) => one.micros));
		const used = median(measured.map((one) => (one.micros * one.rate) / 1e6));
		console.log(
			`${name}: they used ${used.toFixed(2)} cores; a core of their own would give ${(1e6 / micros).toFixed(0)} req/s`,
		);
	}

	console.log(
		`\nthe same, each gateway held to a fifth of a core, ${heldConnections} connections: whether throughput adds up\n${columns}`,
	);
	const held = gateways.map(({ pid }, index) => holdToAFifth(pid, index));
	try {
		const shown = await compare(
			load,
			contenders.map((one) => ({ ...one, job: { ...one.job, connections: heldConnections } })),
			{ ...options.effort, ms: options.effort.ms * 5 },
		);
		for (const line of lines(shown)) console.log(line);
		const rateOf = (at: number) => median(shown[at]?.measured.map(({ rate }) => rate) ?? []);
		console.log(
			`req/s of that of one gateway: ${gatewayCounts.map((count, at) => `${count}: ${(rateOf(at) / rateOf(0)).toFixed(2)}`).join(", ")}`,
		);
	} finally {
		for (const { end } of held) end();
	}
}

/**
 * Lets a process run for a fifth of the time, with signals, so that a machine with few cores has some left for the load
 * generator. Processes with other numbers run at other times. `end` lets it run again.
 */
function holdToAFifth(pid: number, number: number): { end(): void } {
	const sliceMs = 10;
	let slice = number;
	process.kill(pid, "SIGSTOP");
	const timer = setInterval(() => {
		slice = (slice + 1) % 5;
		if (slice === 0) process.kill(pid, "SIGCONT");
		if (slice === 1) process.kill(pid, "SIGSTOP");
	}, sliceMs);
	return {
		end() {
			clearInterval(timer);
			process.kill(pid, "SIGCONT");
		},
	};
}

/** Throws unless a session works whichever gateway gets its requests. */
async function checkSessions(url: string): Promise<void> {
	const post = async (session: string | null, method: string) => {
		const response = await fetch(url, {
			method: "POST",
			headers: { ...headers, ...(session && { "Mcp-Session-Id": session }) },
			body: JSON.stringify({
				jsonrpc: "2.0",
				id: 1,
				method,
				params: {
					protocolVersion: "2025-11-25",
					capabilities: {},
					clientInfo: { name: "bench", version: "0" },
				},
			}),
		});
		const text = await response.text();
		if (!response.ok || !text.includes('"result"')) throw new Error(`${url}: ${method} in a session: ${text}`);
		return response.headers.get("mcp-session-id");
	};
	const session = await post(null, "initialize");
	// More requests than gateways: each gets some.
	for (let request = 0; request < 8; request++) await post(session, "ping");
}
