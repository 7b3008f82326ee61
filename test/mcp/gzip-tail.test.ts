import { expect, test } from "bun:test";
import { createGunzip, gunzipSync } from "node:zlib";
import { GzipTail } from "../../src/mcp/fast/gzip-tail.ts";
import { ToolList } from "../../src/mcp/fast/tool-list.ts";
import { acceptsGzip, createEventResponder } from "../../src/mcp/http-response.ts";
import { seeded } from "../support/random.ts";

const seed = Number(process.env.FUZZ_SEED ?? 20261121);

/** Bytes that repeat themselves, as texts do, or not at all. */
function bytes(length: number, kinds: number, below: (n: number) => number) {
	return Uint8Array.from({ length }, () => below(kinds));
}

test(`any beginning and the end come out of one gzip member as they went in (FUZZ_SEED=${seed})`, () => {
	const random = seeded(seed);
	for (let round = 0; round < 60; round++) {
		const kinds = random.pick([1, 4, 256]);
		const tail = bytes(1_400 + random.below(70_000), kinds, random.below);
		const gzip = new GzipTail(tail);
		for (const length of [0, 1, random.below(300), 65_535]) {
			const head = bytes(length, 256, random.below);
			const packed = gzip.after(head);
			if (!packed) throw new Error("it was not packed");
			// It checks checksum and length, and that nothing stands behind the member.
			const unpacked = gunzipSync(packed, { rejectGarbageAfterEnd: true });
			expect(Buffer.compare(unpacked, Buffer.concat([head, tail]))).toBe(0);
		}
	}
});

test("a changed byte is noticed wherever it stands", () => {
	const { below } = seeded(seed);
	const gzip = new GzipTail(bytes(5_000, 20, below));
	const packed = gzip.after(bytes(100, 256, below)) ?? new Uint8Array();
	for (const at of [20, 115, packed.length - 20, packed.length - 6]) {
		const changed = Uint8Array.from(packed);
		changed[at] = (changed[at] ?? 0) ^ 1;
		expect(() => gunzipSync(changed)).toThrow();
	}
});

test("readers that take it byte by byte get it, and so does the platform's own", async () => {
	const { below } = seeded(seed);
	const [head, tail] = [bytes(200, 256, below), bytes(3_000, 20, below)];
	const packed = new GzipTail(tail).after(head) ?? new Uint8Array();
	const whole = Buffer.concat([head, tail]);

	const gunzip = createGunzip();
	for (const byte of packed) gunzip.write(Uint8Array.of(byte));
	gunzip.end();
	const parts: Buffer[] = [];
	for await (const part of gunzip) parts.push(part);
	expect(Buffer.concat(parts).equals(whole)).toBe(true);

	const stream = new Blob([packed.slice()]).stream().pipeThrough(new DecompressionStream("gzip"));
	expect(whole.equals(await new Response(stream).bytes())).toBe(true);
});

test("a text as the beginning is packed as its UTF-8, also a longer one after a shorter one", () => {
	const { below } = seeded(seed);
	const tail = bytes(3_000, 20, below);
	const gzip = new GzipTail(tail);
	for (const head of ["id 1", `"ünïcode 😀 ${"x".repeat(500)}"`, "", "é"]) {
		const packed = gzip.after(head) ?? new Uint8Array();
		const unpacked = gunzipSync(packed, { rejectGarbageAfterEnd: true });
		const whole = Buffer.concat([Buffer.from(head), tail]);
		expect(Buffer.compare(unpacked, whole)).toBe(0);
	}
	expect(gzip.after("é".repeat(32_768))).toBe(undefined);
});

test("responses with the same list that are sent later keep their own ids", async () => {
	const tools = Array.from({ length: 99 }, (_, n) => ({ name: `tool${n}` }));
	const list = new ToolList(JSON.stringify({ tools }));
	const respond = createEventResponder();
	const accepting = new Headers({ "Accept-Encoding": "gzip" });
	const ids = ["1", "2", '"a longer id"', "3"];
	const responses = ids.map((id) => respond({ kind: "list", list: list.response(id), outcome: "done" }, accepting));
	for (const [at, response] of responses.entries()) {
		expect(response.headers.get("content-encoding")).toBe("gzip");
		const text = gunzipSync(await response.bytes()).toString();
		expect(text).toStartWith(`event: message\ndata: {"jsonrpc":"2.0","id":${ids[at]},"result":{"tools":[`);
	}
});

test("what fits into a packet, and what has too long a beginning, is not packed", () => {
	expect(new GzipTail(new Uint8Array(1_399)).after(new Uint8Array(1))).toBe(undefined);
	const gzip = new GzipTail(new Uint8Array(1_400));
	expect(gzip.after(new Uint8Array(65_535))).toBeDefined();
	expect(gzip.after(new Uint8Array(65_536))).toBe(undefined);
});

test.each([
	[null, false],
	["", false],
	["gzip", true],
	["GZIP", true],
	["x-gzip", true],
	["gzip, deflate, br, zstd", true],
	["deflate,\tgzip ;q=0.5", true],
	["gzip;q=0.001", true],
	["gzip;q=1.000", true],
	["gzip;q=0", false],
	["gzip; q=0.000", false],
	["gzip;Q = 0", false],
	["br;q=1.0, gzip;q=0, *", false],
	["*", false],
	["identity", false],
	["deflate, br", false],
	["gzipped", false],
	["not gzip", false],
])("Accept-Encoding %p asks for gzip: %p", (header, expected) => {
	expect(acceptsGzip(header)).toBe(expected);
});
