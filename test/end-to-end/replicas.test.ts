// Several gateways side by side share nothing: behind a balancer they are one, also while single ones end or are killed.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Answer, countOutcomes, findViolations, type LedgerCall, readAnswer } from "../support/ledger.ts";
import { listeningUrl, type Program, startProgram } from "../support/program.ts";
import { type StubBackend, startStubBackend, textResult } from "../support/stub-backend.ts";
import { present, until } from "../support/until.ts";

const token = "a-token-of-enough-length";
const names = ["alpha", "beta"] as const;
const clientCount = 20;

interface Gateway {
	url: string;
	program: Program;
}

/** Number → how often a bot was asked for it. */
const written = new Map<number, number>();
const ledger: LedgerCall[] = [];
/** What bots keep waiting, by number: called, they answer. */
const held = new Map<number, () => void>();
const toBeHeld = new Set<number>();

let bots: StubBackend[];
let gateways: Gateway[];
let balancer: Balancer;

/**
 * Sends each request to the next of the gateways, over a connection of its own. To one that accepts none it cannot have got:
 * then it goes to the one after it. Where a connection breaks later, the client is told with 502.
 */
class Balancer {
	readonly gateways = new Set<Gateway>();
	/** How many requests each has now. */
	readonly inFlight = new Map<Gateway, number>();
	#next = 0;
	readonly #http = Bun.serve({
		hostname: "127.0.0.1",
		port: 0,
		idleTimeout: 0,
		fetch: (request) => this.#forward(request),
	});

	get url() {
		return `http://127.0.0.1:${this.#http.port}/mcp`;
	}

	async #forward(request: Request): Promise<Response> {
		const body = await request.text();
		const { method, headers } = request;
		for (let tries = 0; tries <= gateways.length; tries++) {
			const all = [...this.gateways];
			const wanted = Number(headers.get("x-gateway") ?? this.#next++);
			const gateway = all[wanted % all.length];
			if (!gateway) break;
			this.#count(gateway, 1);
			try {
				const answer = await fetch(gateway.url, { method, headers, body, keepalive: false });
				return new Response(await answer.text(), { status: answer.status });
			} catch (error) {
				if ((error as { code?: string }).code !== "ECONNREFUSED") break;
			} finally {
				this.#count(gateway, -1);
			}
		}
		return new Response("Bad gateway\n", { status: 502 });
	}

	#count(gateway: Gateway, change: 1 | -1): void {
		this.inFlight.set(gateway, (this.inFlight.get(gateway) ?? 0) + change);
	}

	close = () => this.#http.stop(true);
}

async function startGateway(): Promise<Gateway> {
	const program = startProgram("src/gateway/main.ts", {
		INSTANCES: bots.map(({ url }, index) => `${names[index]}=${url}`).join(),
		MCP_AUTH_TOKEN: token,
		GATEWAY_PORT: "0",
		GATEWAY_BIND_ADDR: "127.0.0.1",
	});
	const gateway = { program, url: await listeningUrl(program) };
	await until("the gateway is ready", async () => {
		const url = new URL("/readyz", gateway.url);
		return (await fetch(url, { keepalive: false })).ok;
	});
	return gateway;
}

/** Sends the next call, and notes what it is answered. `gateway`: where the balancer takes it. */
async function write({ hold = false, gateway }: CallOptions = {}) {
	const number = ledger.length + 1;
	const what = names[number % names.length] ?? "";
	const call: LedgerCall = { number, what, writes: true, answers: [] };
	ledger.push(call);
	if (hold) toBeHeld.add(number);
	const response = await fetch(balancer.url, {
		method: "POST",
		keepalive: false,
		headers: {
			Authorization: `Bearer ${token}`,
			"Content-Type": "application/json",
			...(gateway !== undefined && { "X-Gateway": String(gateway) }),
		},
		body: JSON.stringify({
			jsonrpc: "2.0",
			id: number,
			method: "tools/call",
			params: { name: "echo", arguments: { instance: what, text: `write ${number}` } },
		}),
	});
	const body = await response.text();
	call.answers = response.status === 502 ? [broken] : readAnswer(number, response.status, body);
	if (response.status === 502) call.cause = "the gateway was killed";
	return call;
}

const broken: Answer = { outcome: "unknown", said: "the balancer's 502" };

interface CallOptions {
	/** Whether the bot keeps it waiting. */
	hold?: boolean;
	gateway?: number;
}

/** What a bot does with a call. */
async function carryOut({ id, body }: { id: string; body: string }) {
	const number = Number(/"write (\d+)"/.exec(body)?.[1]);
	written.set(number, (written.get(number) ?? 0) + 1);
	if (toBeHeld.has(number)) await new Promise<void>((resolve) => held.set(number, resolve));
	else await Bun.sleep(number % 20);
	return textResult(id, `wrote ${number}`);
}

/** Calls without a pause while `work` is done, and what was called meanwhile. */
async function underLoad(work: () => Promise<void>): Promise<LedgerCall[]> {
	const first = ledger.length;
	let over = false;
	const client = async () => {
		while (!over) await write();
	};
	const clients = Array.from({ length: clientCount }, client);
	const more = (count: number) => {
		const enough = ledger.length + count;
		return until("there is load", () => ledger.length >= enough);
	};
	try {
		await more(100);
		await work();
		await more(100);
	} finally {
		over = true;
		await Promise.all(clients);
	}
	return ledger.slice(first);
}

beforeAll(async () => {
	bots = names.map(() => startStubBackend({ on: { echo: carryOut } }));
	balancer = new Balancer();
	gateways = await Promise.all([startGateway(), startGateway(), startGateway()]);
	for (const gateway of gateways) balancer.gateways.add(gateway);
});

afterAll(async () => {
	for (const { program } of gateways) await program[Symbol.asyncDispose]();
	await balancer.close();
	for (const bot of bots) await bot.stop();
});

function findGateway(index: number): Gateway {
	return present([...balancer.gateways][index], `there is no gateway ${index}`);
}

const none = { lost: [], duplicated: [], unannounced: [], unexplained: [] };

/** Calls that a bot keeps waiting, all through one gateway, once it has them. */
async function holdCalls(gateway: number) {
	const calls = Array.from({ length: 5 }, () => write({ hold: true, gateway }));
	const numbers = [...toBeHeld].slice(-calls.length);
	await until("the bots have the calls", () => numbers.every((number) => held.has(number)));
	return {
		answers: async () => (await Promise.all(calls)).flatMap(({ answers }) => answers),
		count: calls.length,
		release() {
			for (const number of numbers) held.get(number)?.();
		},
	};
}

test("a gateway that is replaced loses no call", async () => {
	const calls = await underLoad(async () => {
		const old = findGateway(0);
		const { answers, count, release } = await holdCalls(0);
		const fresh = await startGateway();
		gateways.push(fresh);
		balancer.gateways.add(fresh);
		// As a cluster does it: first it is sent nothing more, then it is told to end, while it still has calls.
		balancer.gateways.delete(old);
		await until("what was on its way has arrived", () => {
			return balancer.inFlight.get(old) === count;
		});
		old.program.kill("SIGTERM");
		await until("it takes nothing more", () =>
			fetch(old.url).then(
				() => false,
				() => true,
			),
		);
		release();
		for (const { outcome } of await answers()) expect(outcome).toBe("done");
		expect(await old.program.exited).toBe(0);
	});
	expect(findViolations(ledger, written)).toEqual(none);
	expect(countOutcomes(calls).done).toBe(calls.length);
});

test("a gateway that is killed leaves no call without an answer, and none is carried out twice", async () => {
	const calls = await underLoad(async () => {
		const victim = findGateway(0);
		const { answers, count, release } = await holdCalls(0);
		// The balancer learns of it by itself.
		victim.program.kill("SIGKILL");
		expect(await answers()).toEqual(Array(count).fill(broken));
		release();
	});
	expect(findViolations(ledger, written)).toEqual(none);
	const { done, unknown } = countOutcomes(calls);
	expect(done + unknown).toBe(calls.length);
	// Those alone that it had.
	expect(unknown).toBeLessThanOrEqual(clientCount + 5);
	expect(written.size).toBeGreaterThan(400);
});
