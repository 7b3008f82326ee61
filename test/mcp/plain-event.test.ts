import { describe, expect, test } from "bun:test";
import { PlainEvent } from "../../src/mcp/plain-event.ts";

const event = (json: string) => `event: message\ndata: ${json}\n\n`;
const result = (rest: string) =>
	event(`{"jsonrpc":"2.0","id":7,"result":{"content":[${rest}}}`);
const read = (text: string, id = 7) => PlainEvent.read(Buffer.from(text), id);
const item = '{"type":"text","text":"ä \\u2028 \\"isError\\":true"}';

describe("is read", () => {
	test.each([
		["a result", result(`${item}]`), false],
		["no content", result("]"), false],
		["an error", result(`${item}],"isError":true`), true],
		["no error", result(`${item}],"isError":false`), false],
	])("%s", (_, text, isError) => {
		const plain = read(text);
		expect(plain?.isError).toBe(isError);
		expect(event(plain?.text ?? "")).toBe(text);
		expect(JSON.parse(plain?.text ?? "").id).toBe(7);
	});

	test("from the middle of other bytes", () => {
		const text = result(`${item}]`);
		const bytes = new Uint8Array(Buffer.from(`xx${text}`)).subarray(2);
		expect(PlainEvent.read(bytes, 7)?.text).toBe(read(text)?.text as string);
	});
});

test("the id is replaced, and every other byte stays", () => {
	const ids = ["1", '"a\\u0000ö"', "12345678901234567890", "null"];
	for (const given of [7, 1234567])
		for (const id of ids) {
			const text = result(`${item}]`).replace('"id":7', `"id":${given}`);
			const changed = read(text, given)?.withId(id);
			expect(Buffer.from(changed ?? []).toString()).toBe(
				text.replace(`"id":${given}`, `"id":${id}`),
			);
		}
});

describe("is left to who parses", () => {
	test.each([
		["another id", result("]").replace('"id":7', '"id":8')],
		["an id that begins like it", result("]").replace('"id":7', '"id":70')],
		["white space between members", result("]").replace(",", ", ")],
		[
			"another order",
			event('{"id":7,"jsonrpc":"2.0","result":{"content":[]}}'),
		],
		["an error", event('{"jsonrpc":"2.0","id":7,"error":{"code":1}}')],
		["no content", event('{"jsonrpc":"2.0","id":7,"result":{"a":[]}}')],
		["an end that is none", result("]").slice(0, -1)],
		["a second event", result("]") + result("]")],
		["data in two lines", result("\n]")],
		["a carriage return", result("\r]")],
		["isError before the end", result('],"isError":true,"a":[]')],
		["another type of event", result("]").replace("message", "other")],
		["nothing", ""],
		["the beginning alone", result("]").slice(0, 40)],
	])("%s", (_, text) => {
		expect(read(text)).toBeUndefined();
	});
});
