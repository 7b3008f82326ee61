import { expect, test } from "bun:test";
import { createGunzip, gunzipSync } from "node:zlib";
import { acceptsGzip } from "../../src/mcp/http-response.ts";
import { ToolList } from "../../src/mcp/tool-list.ts";
import { seeded } from "../support/random.ts";

const seed = Number(process.env.FUZZ_SEED ?? 20261121);

/** A list, and its response, of texts that repeat themselves, as texts do, or not at all. */
function packed(length: number, kinds: number, below: (n: number) => number, id = "1") {
	const name = Buffer.from(Array.from({ length }, () => below(kinds))).toString("base64");
	const response = new ToolList(JSON.stringify({ tools: [{ name }] })).response(id);
	return { plain: Buffer.from(response.plain()), gzip: response.gzip() ?? new Uint8Array() };
}

test(`any beginning and the end come out of one gzip member as they went in (FUZZ_SEED=${seed})`, () => {
	const random = seeded(seed);
	for (let round = 0; round < 60; round++)
		for (const length of [1, random.below(300), 65_000]) {
			const kinds = random.pick([1, 4, 256]);
			const id = JSON.stringify("x".repeat(length));
			const { plain, gzip } = packed(1_400 + random.below(70_000), kinds, random.below, id);
			// It checks checksum and length, and that nothing stands behind the member.
			expect(Buffer.compare(gunzipSync(gzip, { rejectGarbageAfterEnd: true }), plain)).toBe(0);
		}
});

test("a changed byte is noticed wherever it stands", () => {
	const { gzip } = packed(5_000, 20, seeded(seed).below, '"some longer id"');
	for (const at of [20, 80, gzip.length - 20, gzip.length - 6]) {
		const changed = Uint8Array.from(gzip);
		changed[at] = (changed[at] ?? 0) ^ 1;
		expect(() => gunzipSync(changed)).toThrow();
	}
});

test("readers that take it byte by byte get it, and so does the platform's own", async () => {
	const { plain, gzip } = packed(3_000, 20, seeded(seed).below);
	const gunzip = createGunzip();
	for (const byte of gzip) gunzip.write(Uint8Array.of(byte));
	gunzip.end();
	const parts: Buffer[] = [];
	for await (const part of gunzip) parts.push(part);
	expect(Buffer.concat(parts).equals(plain)).toBe(true);

	const stream = new Blob([gzip.slice()]).stream().pipeThrough(new DecompressionStream("gzip"));
	expect(plain.equals(await new Response(stream).bytes())).toBe(true);
});

test("responses with the same list that are sent later keep their own ids", () => {
	const tools = Array.from({ length: 99 }, (_, n) => ({ name: `tool${n}` }));
	const list = new ToolList(JSON.stringify({ tools }));
	const ids = ["1", "2", '"a longer id, ünïcode 😀"', "3"];
	const responses = ids.map((id) => list.response(id).gzip() ?? new Uint8Array());
	for (const [at, response] of responses.entries())
		expect(gunzipSync(response).toString()).toStartWith(
			`event: message\ndata: {"jsonrpc":"2.0","id":${ids[at]},"result":{"tools":[`,
		);
});

test("what fits into a packet, and what has too long a beginning, is not packed", () => {
	const list = (length: number) => new ToolList(JSON.stringify({ tools: ["x".repeat(length)] }));
	const around = '"tools":[""]}}\n\n'.length;
	expect(
		list(1_399 - around)
			.response("1")
			.gzip(),
	).toBe(undefined);
	const least = list(1_400 - around);
	const before = Buffer.byteLength('event: message\ndata: {"jsonrpc":"2.0","id":"","result":{');
	expect(least.response(`"${"é".repeat((65_535 - before) / 2)}"`).gzip()).toBeDefined();
	expect(least.response(`"${"é".repeat((65_537 - before) / 2)}"`).gzip()).toBe(undefined);
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
