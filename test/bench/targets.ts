// What is measured: the gateway as a process, the stubs behind it, and calls to them.

import { join } from "node:path";
import { freePort } from "../../src/demo/ports.ts";
import { executables } from "../support/program.ts";
import { anyCore, type Pin } from "./cores.ts";
import type { LoadJob } from "./load.ts";
import { type Logged, startLogged } from "./processes.ts";

export const token = "bench-token-of-enough-length";
const root = join(import.meta.dir, "../..");

export interface Stubs extends AsyncDisposable {
	/** A bot at each. */
	ports: readonly number[];
}

export async function startStubs(ports: number, tools: readonly string[], pin: Pin = anyCore): Promise<Stubs> {
	const child = Bun.spawn(
		pin([process.execPath, join(import.meta.dir, "servers/stub.ts"), JSON.stringify({ ports, tools })]),
		{ stdin: "pipe", stdout: "pipe", stderr: "inherit" },
	);
	const { value } = await child.stdout.getReader().read();
	return {
		ports: JSON.parse(new TextDecoder().decode(value)),
		async [Symbol.asyncDispose]() {
			child.kill();
			await child.exited;
		},
	};
}

export interface GatewayProcess extends Logged {
	readonly url: string;
}

export interface GatewayOptions {
	/** Of its own among those that log to the same directory. */
	name: string;
	/** Where its bots listen: stub0, stub1 and so on. */
	backends: readonly number[];
	/** Where its log goes. */
	directory: string;
	pin?: Pin;
	/** Settings beside those that every gateway has here. */
	settings?: Record<string, string>;
}

/** Starts it; it answers some milliseconds later. */
export async function startGatewayProcess({
	name,
	backends,
	directory,
	pin = anyCore,
	settings = {},
}: GatewayOptions): Promise<GatewayProcess> {
	const port = await freePort();
	const command = executables ? [join(executables, "gateway")] : [process.execPath, join(root, "src/gateway/main.ts")];
	const env = {
		INSTANCES: backends.map((backend, index) => `stub${index}=http://127.0.0.1:${backend}`).join(","),
		MCP_AUTH_TOKEN: token,
		GATEWAY_PORT: String(port),
		GATEWAY_BIND_ADDR: "127.0.0.1",
		LOG_FORMAT: "json",
		...settings,
	};
	const log = join(directory, `${name}.log`);
	const process_ = startLogged(pin(command), env, log);
	return { ...process_, url: `http://127.0.0.1:${port}/mcp` };
}

/** Starts `bare-gateway.ts` in front of one bot; it answers some milliseconds later. */
export async function startBareGateway(
	backend: number,
	directory: string,
	pin: Pin = anyCore,
): Promise<GatewayProcess> {
	const port = await freePort();
	const command = [process.execPath, join(import.meta.dir, "servers/bare-gateway.ts"), String(port), String(backend)];
	const process_ = startLogged(pin(command), {}, join(directory, "bare-gateway.log"));
	return { ...process_, url: `http://127.0.0.1:${port}/mcp` };
}

export const headers = {
	Authorization: `Bearer ${token}`,
	"Content-Type": "application/json",
	Accept: "application/json, text/event-stream",
	"MCP-Protocol-Version": "2025-11-25",
};

export interface CallOptions {
	connections: number;
	/** Characters of the answer. */
	size?: number;
	delayMs?: number;
	/** Calls go to so many bots in turn. */
	backends?: number;
}

/** Of about the size of a message that is sent: 300 bytes with the rest of the request. */
const content = "A message of some length, as people write them. ".repeat(2);

/** Calls of a tool. */
export function callJob(url: string, options: CallOptions): LoadJob {
	const { connections, size = 300, delayMs = 0, backends = 1 } = options;
	const requests = Array.from({ length: backends }, (_, index) => {
		const args = { instance: `stub${index}`, channel_id: "123456789012345678", content, size, delay_ms: delayMs };
		return `"method":"tools/call","params":${JSON.stringify({ name: "echo", arguments: args })}`;
	});
	return { url, connections, method: "POST", headers: [headers], requests, expect: "result" };
}

/** Requests for the list of tools; plain, or packed. */
export function listJob(url: string, connections: number, gzip: boolean): LoadJob {
	return {
		url,
		connections,
		method: "POST",
		headers: [{ ...headers, ...(gzip && { "Accept-Encoding": "gzip" }) }],
		requests: ['"method":"tools/list","params":{}'],
		expect: gzip ? "gzip" : "result",
	};
}

/** Requests for a file; plain, or packed. */
export function fileJob(url: string, connections: number, gzip: boolean): LoadJob {
	return {
		url,
		connections,
		method: "GET",
		headers: [gzip ? { "Accept-Encoding": "gzip" } : {}],
		requests: [],
		expect: "file",
	};
}

/** Ids as clients write them. */
const ids = ["1", '"a \\"quoted\\" id, ünïcode"', "9007199254740993", "-5"];

/** Calls a tool once for each kind of id, all at once. Throws unless each answer is the one to its call. */
export async function checkAnswers(url: string): Promise<void> {
	await Promise.all(
		ids.map(async (id, index) => {
			const size = 1 + index;
			const text = await callOnce(url, id, size);
			const wanted = `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"${"x".repeat(size)}"}]}}`;
			if (text !== `event: message\ndata: ${wanted}\n\n`)
				throw new Error(`${url}: the call ${id} was answered ${text}`);
		}),
	);
}

/** Resolves when a call has been answered as it should be, to the millisecond. Rejects when none is for 15 s. */
export async function firstAnswer(url: string): Promise<void> {
	const endsAt = performance.now() + 15_000;
	for (;;) {
		const text = await callOnce(url, "1", 1).catch(String);
		if (text.includes('"id":1,"result"') && text.includes('"text":"x"')) return;
		if (performance.now() > endsAt) throw new Error(`${url} does not answer: ${text}`);
		await Bun.sleep(1);
	}
}

async function callOnce(url: string, id: string, size: number): Promise<string> {
	const [request] = callJob(url, { connections: 1, size }).requests;
	const response = await fetch(url, {
		method: "POST",
		headers,
		body: `{"jsonrpc":"2.0","id":${id},${request}}`,
		keepalive: false,
	});
	return response.text();
}

/** The list of tools as it is answered. */
export async function readList(url: string): Promise<Uint8Array> {
	const response = await fetch(url, {
		method: "POST",
		headers,
		body: '{"jsonrpc":"2.0","id":1000000000,"method":"tools/list"}',
	});
	return response.bytes();
}

/** Whether the list of tools is to be had packed. */
export async function offersGzip(url: string): Promise<boolean> {
	const response = await fetch(url, {
		method: "POST",
		headers: { ...headers, "Accept-Encoding": "gzip" },
		body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
		decompress: false,
	});
	await response.bytes();
	return response.headers.get("content-encoding") === "gzip";
}
