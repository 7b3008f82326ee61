// What the benchmarks trust: the load generator notices an answer that is not the right one.

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { goalLine, ratiosOf } from "./compare.ts";
import { shareCores } from "./cores.ts";
import { Histogram } from "./figures.ts";
import { Load, type LoadJob } from "./load.ts";
import { callJob, checkAnswers, firstAnswer, startBareGateway, startStubs } from "./targets.ts";

/** A server whose answer to a request with this id is written in these pieces, one after the other. */
function serve(answer: (id: string) => readonly (string | Uint8Array)[]) {
	const listener = Bun.listen({
		hostname: "127.0.0.1",
		port: 0,
		socket: {
			async data(socket, bytes) {
				const id = /"id":(\d+)/.exec(bytes.toString())?.[1] ?? "";
				for (const piece of answer(id)) {
					socket.write(piece);
					socket.flush();
					await Bun.sleep(1);
				}
			},
		},
	});
	return { url: `http://127.0.0.1:${listener.port}/mcp`, [Symbol.dispose]: () => listener.stop(true) };
}

const resultFor = (id: string) =>
	`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"${"x".repeat(500)}"}]}}`;
const announced = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

async function run(answer: (id: string) => readonly (string | Uint8Array)[], expected: LoadJob["expect"] = "result") {
	using server = serve(answer);
	const load = await Load.open({
		url: server.url,
		connections: 3,
		method: "POST",
		headers: [{}],
		requests: ['"method":"tools/call","params":{}'],
		expect: expected,
	});
	try {
		return await load.run({ count: 9 });
	} finally {
		load.close();
	}
}

test("right answers are counted, in whatever pieces they come", async () => {
	const inPieces = (text: string) => text.match(/[\s\S]{1,150}/g) ?? [];
	const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
	const chunks = (id: string) => {
		const body = resultFor(id);
		const [first, rest] = [body.slice(0, 100), body.slice(100)];
		return `${head}${chunk(first)}${chunk(rest)}0\r\n\r\n`;
	};
	for (const answer of [
		(id: string) => [announced(resultFor(id))],
		(id: string) => inPieces(announced(resultFor(id))),
		(id: string) => [chunks(id)],
		(id: string) => inPieces(chunks(id)),
	])
		expect((await run(answer)).requests).toBe(9);
});

test("an answer to another request, an error and a refusal end the load", async () => {
	const faults: [(id: string) => string, string][] = [
		[(id) => announced(resultFor(String(Number(id) + 1))), "no result for"],
		[(id) => announced(`{"jsonrpc":"2.0","id":${id},"error":{"code":1}}`), "no result for"],
		[(id) => announced(`{"jsonrpc":"2.0","id":${id},"result":{"content":[],"isError":true}}`), "it is an error"],
		[(id) => announced(resultFor(id)).replace("200 OK", "503 No"), "status is not 200"],
	];
	for (const [answer, fault] of faults) await expect(run((id) => [answer(id)])).rejects.toThrow(fault);
});

test("an answer of another length than the others ends the load", async () => {
	let count = 0;
	const answer = (id: string) => {
		const text = "x".repeat(++count > 5 ? 300 : 301);
		return [announced(`{"jsonrpc":"2.0","id":${id},"result":{"text":"${text}"}}`)];
	};
	await expect(run(answer)).rejects.toThrow("bytes");
});

test("a packed answer is unpacked and looked at", async () => {
	const packed = (body: string) => {
		const bytes = gzipSync(body);
		const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bytes.length}\r\n\r\n`;
		return [Buffer.concat([Buffer.from(head), bytes])];
	};
	expect((await run((id) => packed(resultFor(id)), "gzip")).requests).toBe(9);
	await expect(run(() => packed(resultFor("1")), "gzip")).rejects.toThrow("no result for");
	await expect(run((id) => [announced(resultFor(id))], "gzip")).rejects.toThrow("not packed");
});

test("a quantile is right to a fiftieth", () => {
	const times = new Histogram();
	for (let ms = 1; ms <= 1_000; ms++) times.add(ms);
	for (const [q, ms] of [
		[0.5, 500],
		[0.99, 990],
		[1, 1_000],
	] as const)
		expect(Math.abs(times.quantile(q) / ms - 1)).toBeLessThan(0.02);
});

test("the bare gateway answers each call with the bot's response to it, of any size", async () => {
	await using stack = new AsyncDisposableStack();
	const directory = mkdtempSync(join(tmpdir(), "guildhall-bench-test-"));
	stack.defer(() => rmSync(directory, { recursive: true, force: true }));
	const stubs = stack.use(await startStubs(1, []));
	const bare = stack.use(await startBareGateway(stubs.ports[0] ?? 0, directory));
	await firstAnswer(bare.url);
	await checkAnswers(bare.url);
	for (const size of [300, 49_000, 1_000_000]) {
		const load = await Load.open(callJob(bare.url, { connections: 5, size }));
		try {
			expect((await load.run({ count: 20 })).requests).toBe(20);
		} finally {
			load.close();
		}
	}
});

test.skipIf(process.platform !== "linux" || availableParallelism() < 2)(
	"with one core, the server has the first and everything else the others",
	() => {
		const { server, others } = shareCores(true);
		const coresOf = (pin: typeof server) => {
			const command = ["grep", "Cpus_allowed_list", "/proc/self/status"];
			return Bun.spawnSync(pin(command)).stdout.toString().split(/\s/)[1];
		};
		expect(coresOf(server)).toBe("0");
		expect(coresOf(others)?.startsWith("1")).toBe(true);
		expect(shareCores(false).server(["a", "b"])).toEqual(["a", "b"]);
	},
);

test("ratios are taken within a round, and their median is held against the goal", () => {
	const compared = (micros: readonly number[]) => ({
		name: "",
		ratios: [],
		measured: micros.map((each) => ({ micros: each, requests: 1, rate: 1, p50: 1, p99: 1, max: 1 })),
	});
	const ratios = ratiosOf(compared([30, 20, 60]), compared([10, 20, 30]));
	expect(ratios).toEqual([3, 1, 2]);
	expect(goalLine("a : b", ratios, 1.5)).toBe("a : b  2.00 (1.00 to 3.00), goal 1.5 missed");
	expect(goalLine("a : b", ratios, 2)).toEndWith("goal 2 met");
});
