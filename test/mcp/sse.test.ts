import { describe, expect, test } from "bun:test";
import { encodeMessage, readEvents, type SseEvent } from "../../src/mcp/sse.ts";

const encoder = new TextEncoder();

async function read(chunks: Iterable<Uint8Array>, maxEventLength = 1_000): Promise<SseEvent[]> {
	const stream = new ReadableStream<Uint8Array>({
		start(controller) {
			for (const chunk of chunks) controller.enqueue(chunk);
			controller.close();
		},
	});
	return Array.fromAsync(readEvents(stream, maxEventLength));
}

const message = (data: string): SseEvent => ({ event: "message", data });

const streams: [name: string, text: string, events: SseEvent[]][] = [
	["one event", "event: message\ndata: {}\n\n", [message("{}")]],
	["no event field", "data: a\n\n", [message("a")]],
	["another event", "event: ping\ndata: a\n\n", [{ event: "ping", data: "a" }]],
	[
		"several events",
		"data: a\n\ndata: b\n\nevent: x\ndata: c\n\ndata: d\n\n",
		[message("a"), message("b"), { event: "x", data: "c" }, message("d")],
	],
	["CR LF", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", [{ event: "x", data: "a" }, message("b")]],
	["CR", "event: x\rdata: a\r\rdata: b\r\r", [{ event: "x", data: "a" }, message("b")]],
	["mixed line ends", "data: a\r\n\ndata: b\n\r\ndata: c\r\n\r", [message("a"), message("b"), message("c")]],
	["a byte order mark", "\ufeffdata: a\n\n", [message("a")]],
	["comments", ": hello\n:\ndata: a\n: in between\n\n:\n\n", [message("a")]],
	["several lines of data", "data: a\ndata:\ndata: c\n\n", [message("a\n\nc")]],
	["no space after the colon", "data:a\n\ndata:  b\n\n", [message("a"), message(" b")]],
	["colons in data", "data: a: b\n\n", [message("a: b")]],
	["a field without a colon", "data\n\n", [message("")]],
	["id, retry and unknown fields", "id: 7\nretry: 100\nx: y\ndata: a\nid\n\n", [message("a")]],
	["a priming event", "id: 1\ndata: \n\ndata: a\n\n", [message(""), message("a")]],
	["an event without data", "event: x\n\ndata: a\n\n", [message("a")]],
	["many empty lines", "\n\n\ndata: a\n\n\n\n", [message("a")]],
	["characters of several bytes", "data: é€😀\n\n", [message("é€😀")]],
	["line separators that are none here", "data: a\u2028b\u0085c\n\n", [message("a\u2028b\u0085c")]],
	["nothing", "", []],
	["only a comment", ": x\n\n", []],
	["a cut-off last event", "data: a\n\ndata: b\n", [message("a")]],
	["a cut-off last line", "data: a\n\ndata: b", [message("a")]],
	["no empty line at all", "data: a\n", []],
	["field names in another case", "Data: a\nDATA: b\n\n", []],
	["field names with white space", " data: a\ndata : b\n\n", []],
];

describe.each(streams)("%s", (_, text, events) => {
	const bytes = encoder.encode(text);

	test("in one piece", async () => {
		expect(await read([bytes])).toEqual(events);
	});

	test("byte by byte", async () => {
		expect(await read([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(events);
	});

	test("in two pieces, split anywhere, with empty pieces about", async () => {
		const none = new Uint8Array();
		for (let at = 0; at <= bytes.length; at++)
			expect(await read([none, bytes.slice(0, at), none, bytes.slice(at), none])).toEqual(events);
	});
});

test("events come out when they are complete, not when the stream ends", async () => {
	const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
	const writer = writable.getWriter();
	const events = readEvents(readable, 100);
	void writer.write(encoder.encode("data: a\n\ndata: b"));
	expect((await events.next()).value).toEqual(message("a"));
	void writer.write(encoder.encode("\n\n"));
	expect((await events.next()).value).toEqual(message("b"));
	void writer.close();
	expect((await events.next()).done).toBe(true);
});

test("who stops reading cancels the stream", async () => {
	const cancelled = Promise.withResolvers<void>();
	const stream = new ReadableStream<Uint8Array>({
		start: (controller) => controller.enqueue(encoder.encode("data: a\n\n")),
		cancel: () => cancelled.resolve(),
	});
	for await (const _ of readEvents(stream, 100)) break;
	await cancelled.promise;
});

describe("the limit of an event's length", () => {
	const long = "x".repeat(60);
	const split = (text: string) => [...encoder.encode(text)].map((byte) => Uint8Array.of(byte));

	test.each([
		["one line", `data: ${"x".repeat(101)}\n\n`],
		["several lines", `data: ${long}\ndata: ${long}\n\n`],
		["a line that does not end", "x".repeat(101)],
		["a comment that does not end", `:${"x".repeat(101)}`],
	])("%s above it throws, however it is split", async (_, text) => {
		await expect(read([encoder.encode(text)], 100)).rejects.toThrow(RangeError);
		await expect(read(split(text), 100)).rejects.toThrow(RangeError);
	});

	test("empty lines of data count, too", async () => {
		await expect(read([encoder.encode("data\n".repeat(102))], 100)).rejects.toThrow(RangeError);
	});

	test.each([":\n", "data\n\n", "\n"])("a stream of more than 100,000 lines throws, as in %j", async (lines) => {
		const stream = (count: number) => [encoder.encode(lines.repeat(count / (lines.match(/\n/g) ?? []).length))];
		await read(stream(100_000));
		await expect(read(stream(100_002))).rejects.toThrow(RangeError);
	});

	test("many events and comments below it are no matter", async () => {
		const text = `data: ${long}\n\n: ${long}\n`.repeat(50);
		const events = Array.from({ length: 50 }, () => message(long));
		expect(await read([encoder.encode(text)], 100)).toEqual(events);
		expect(await read(split(text), 100)).toEqual(events);
	});
});

describe("encodeMessage", () => {
	test("writes one frame of event and data", () => {
		expect(encodeMessage('{"a":1}')).toBe('event: message\ndata: {"a":1}\n\n');
	});

	test.each(["\n", "\r", "\r\n", "\n\n", "\r\n\r\n"])(
		"a line break between tokens (%j) neither ends the frame nor changes the JSON",
		async (lineBreak) => {
			const json = ["{", '"a":', "[1.0,", '"\\n"', "]", "}"].join(lineBreak);
			const frame = encodeMessage(json);
			expect(frame.trimEnd().split(/\r\n|\r|\n/)).toHaveLength(2);
			const [event] = await read([encoder.encode(frame)]);
			expect(JSON.parse(event?.data ?? "")).toEqual(JSON.parse(json));
			expect(event?.data).toContain("1.0");
		},
	);
});
