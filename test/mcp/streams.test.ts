// What comes on the stream of a call: progress ahead of the response, and results of every size.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { textResult } from "../../src/mcp/tool.ts";
import { type BothServers, modernRequest, postTo, rawTool, startBothServers } from "../support/both-servers.ts";

const mebibyte = 1024 * 1024;

let release = () => {};
let servers: BothServers;
beforeAll(async () => {
	servers = await startBothServers({
		tools: [
			rawTool("progress", (_, { reportProgress }) => {
				for (const progress of [1, 2, 2, 1, Number.NaN, 5]) reportProgress(progress, 5, `at ${progress}\n\ndata: x`);
				return textResult("done");
			}),
			rawTool("waiting", async (_, { reportProgress }) => {
				const { promise, resolve } = Promise.withResolvers<void>();
				release = resolve;
				reportProgress(1);
				await promise;
				return textResult("done");
			}),
			rawTool("lines", ({ bytes, filler }) => textResult(linesOf(Number(bytes), String(filler)))),
			rawTool("raw", ({ bytes }) => JSON.stringify({ content: [{ type: "text", text: "x".repeat(Number(bytes)) }] })),
		],
		progress: { afterMs: 0, everyMs: 0 },
	});
});
afterAll(() => servers[Symbol.asyncDispose]());

/** Numbered lines of 100 fillers each. */
function linesOf(bytes: number, filler: string): string[] {
	const line = filler.repeat(100);
	const count = Math.ceil(bytes / (Buffer.byteLength(JSON.stringify(line)) + 6));
	return Array.from({ length: count }, (_, n) => `${n} ${line}`);
}

async function call(
	at: "bot" | "gateway",
	era: "modern" | "legacy",
	name: string,
	args: object,
	_meta: object = {},
): Promise<Response> {
	const modern = modernRequest("tools/call", { name, arguments: args, _meta });
	if (era === "modern") return postTo(servers[at], modern.body, modern.headers);
	const params = { name, arguments: args, _meta };
	return postTo(servers[at], JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
}

/** The messages of a stream, in order. */
function messagesIn(text: string) {
	const frames = [...text.matchAll(/event: message\ndata: ([^\r\n]*)\n\n/g)];
	expect(frames.map(([frame]) => frame).join("")).toBe(text);
	return frames.map(([, data]) => JSON.parse(data ?? ""));
}

describe.each(["modern", "legacy"] as const)("in the %s era", (era) => {
	test.each([
		["bot", "a token"],
		["bot", ""],
		["bot", 0],
		["bot", 7],
		["gateway", "a token"],
		["gateway", 7],
	] as const)(
		"of the %s progress comes before the response, grows, and carries the token %j",
		async (at, progressToken) => {
			const response = await call(at, era, "progress", {}, { progressToken });
			expect(response.headers.get("cache-control")).toBe("no-cache");
			expect(response.headers.get("x-accel-buffering")).toBe("no");
			const messages = messagesIn(await response.text());
			const last = messages.pop();
			expect(last).toMatchObject({ id: 1, result: { content: [{ type: "text", text: "done" }] } });
			expect(last.result.resultType).toBe(era === "modern" ? "complete" : undefined);
			expect(messages).toEqual(
				[1, 2, 5].map((progress) => ({
					jsonrpc: "2.0",
					method: "notifications/progress",
					params: { progressToken, progress, total: 5, message: `at ${progress}\n\ndata: x` },
				})),
			);
		},
	);

	test.each([{}, { progressToken: null }, { progressToken: {} }])("with _meta %j there is none", async (_meta) => {
		for (const at of ["bot", "gateway"] as const) {
			const response = await call(at, era, "progress", {}, _meta);
			expect(messagesIn(await response.text())).toHaveLength(1);
		}
	});

	test.each(["bot", "gateway"] as const)("progress of the %s does not wait for the response", async (at) => {
		const response = await call(at, era, "waiting", {}, { progressToken: "t" });
		const reader = response.body?.getReader();
		const first = await reader?.read();
		expect(new TextDecoder().decode(first?.value)).toContain("notifications/progress");
		release();
		let rest = "";
		for (;;) {
			const { done, value } = (await reader?.read()) ?? { done: true };
			if (done) break;
			rest += new TextDecoder().decode(value);
		}
		expect(messagesIn(rest)).toHaveLength(1);
	});

	describe.each(["bot", "gateway"] as const)("on the %s", (at) => {
		test.each(["x", "€", "\u{1f600}", "\u0000", '"\\'])(
			"a result over 1 MiB, of %j, is cut below it, and says how to page",
			async (filler) => {
				const args = { bytes: 1.5 * mebibyte, filler };
				const body = await (await call(at, era, "lines", args)).text();
				expect(Buffer.byteLength(body)).toBeLessThan(mebibyte);
				expect(Buffer.byteLength(body)).toBeGreaterThan(0.9 * mebibyte);
				const [{ result }] = messagesIn(body);
				const { text } = result.content[0];
				const lines = linesOf(args.bytes, filler);
				const shown = text.split("\n");
				expect(shown.pop()).toMatch(/^\[Cut here: .*a smaller limit.*after or before\.\]$/);
				expect(shown).toEqual(lines.slice(0, shown.length));
				expect(text).toContain(`${lines.join("\n").length} characters`);
			},
		);

		test("a result of 0.9 MiB is whole", async () => {
			const bytes = Math.floor(0.9 * mebibyte);
			const body = await (await call(at, era, "raw", { bytes })).text();
			const [{ result }] = messagesIn(body);
			expect(result.content).toEqual([{ type: "text", text: "x".repeat(bytes) }]);
		});
	});
});
