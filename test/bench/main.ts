// What a call costs through the gateway: `bun run bench`. A stub answers as a bot would, at once; it is called directly
// and through the gateway, in turn within each round, and the ratio is taken within a round. Everything shares this
// machine, so the ratio says more than the figures.

import { join } from "node:path";

const rounds = 5;
const callsPerRound = 2_000;
const connections = 16;
const token = "bench-token-of-enough-length";

const stub = Bun.serve({
	port: 0,
	hostname: "127.0.0.1",
	async fetch(request) {
		if (request.method !== "POST") return new Response(null, { status: 204 });
		const { id, method } = (await request.json()) as {
			id?: number;
			method: string;
		};
		if (id === undefined) return new Response(null, { status: 202 });
		const result = answers[method];
		return new Response(
			`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`,
			{ headers: { "Content-Type": "text/event-stream" } },
		);
	},
});

const answers: Record<string, unknown> = {
	initialize: {
		protocolVersion: "2025-11-25",
		capabilities: { tools: {} },
		serverInfo: { name: "stub", version: "0" },
	},
	"tools/list": { tools: [] },
	"tools/call": { content: [{ type: "text", text: "x".repeat(300) }] },
};

const gateway = Bun.spawn(
	[process.execPath, join(import.meta.dir, "../../src/gateway/main.ts")],
	{
		env: {
			INSTANCES: `stub=http://127.0.0.1:${stub.port}`,
			MCP_AUTH_TOKEN: token,
			GATEWAY_PORT: "0",
			GATEWAY_BIND_ADDR: "127.0.0.1",
			STOP_WITH_STDIN: "1",
		},
		stdin: "pipe",
		stdout: "pipe",
		stderr: "inherit",
	},
);

async function gatewayUrl(): Promise<string> {
	let text = "";
	for await (const chunk of gateway.stdout) {
		text += new TextDecoder().decode(chunk);
		const url = /"url":"([^"]+)"/.exec(text)?.[1];
		if (url) return url;
	}
	throw new Error(`the gateway ended without saying where it listens: ${text}`);
}

/** Milliseconds of each of `callsPerRound` calls, and of all of them together. */
async function measure(url: string): Promise<{ each: number[]; all: number }> {
	const each: number[] = [];
	let next = 0;
	const worker = async () => {
		while (next < callsPerRound) {
			const id = next++;
			const start = performance.now();
			const response = await fetch(url, {
				method: "POST",
				headers: {
					"Content-Type": "application/json",
					Authorization: `Bearer ${token}`,
				},
				body: JSON.stringify({
					jsonrpc: "2.0",
					id,
					method: "tools/call",
					params: { name: "echo", arguments: { instance: "stub" } },
				}),
			});
			const text = await response.text();
			each.push(performance.now() - start);
			if (!text.includes(`"id":${id},"result"`))
				throw new Error(`call ${id} was answered ${text}`);
		}
	};
	const start = performance.now();
	await Promise.all(Array.from({ length: connections }, worker));
	return { each, all: performance.now() - start };
}

const quantile = (values: number[], q: number) =>
	values.toSorted((a, b) => a - b)[Math.floor(values.length * q)] ?? 0;

const targets = {
	direct: `http://127.0.0.1:${stub.port}/mcp`,
	gateway: await gatewayUrl(),
};
for (const url of Object.values(targets)) await measure(url); // warm-up

const ratios: number[] = [];
const results = { direct: [] as number[], gateway: [] as number[] };
const rates = { direct: [] as number[], gateway: [] as number[] };
for (let round = 0; round < rounds; round++) {
	const spent: Partial<Record<keyof typeof targets, number>> = {};
	for (const name of ["direct", "gateway"] as const) {
		const { each, all } = await measure(targets[name]);
		results[name].push(...each);
		rates[name].push((callsPerRound / all) * 1000);
		spent[name] = all;
	}
	ratios.push((spent.gateway ?? 0) / (spent.direct ?? 1));
}

console.log(
	`tools/call, ${connections} connections, ${rounds} rounds of ${callsPerRound} calls, Bun ${Bun.version}`,
);
console.log("             req/s    p50 ms   p99 ms");
for (const name of ["direct", "gateway"] as const)
	console.log(
		`${name.padEnd(10)}${quantile(rates[name], 0.5).toFixed(0).padStart(8)}${quantile(results[name], 0.5).toFixed(2).padStart(10)}${quantile(results[name], 0.99).toFixed(2).padStart(9)}`,
	);
console.log(
	`time of a round through the gateway / directly: median ${quantile(ratios, 0.5).toFixed(2)}`,
);

gateway.stdin.end();
await gateway.exited;
await stub.stop(true);
