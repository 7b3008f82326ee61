import { describe, expect, test } from "bun:test";
import { PlainEvent } from "../../src/mcp/fast/plain-event.ts";
import { type Random, seeded } from "../support/random.ts";

const event = (json: string) => `event: message\ndata: ${json}\n\n`;
const result = (rest: string) => event(`{"jsonrpc":"2.0","id":7,"result":{"content":[${rest}}}`);
const read = (text: string, id = 7) => PlainEvent.read(Buffer.from(text), id);
const item = '{"type":"text","text":"ä \\u2028 \\"isError\\":true"}';

describe("is read", () => {
	test.each([
		["a result", result(`${item}]`), false],
		["no content", result("]"), false],
		["items with objects", result(`{"a":1,"b":[{},{}]},${item},{"c":{}}]`), false],
		["text like keys", result('{"text":"},\\"id\\":8, \\"id\\" ,"}]'), false],
		["an error", result(`${item}],"isError":true`), true],
		["no error", result(`${item}],"isError":false`), false],
	])("%s", (_, text, isError) => {
		const plain = read(text);
		expect(plain?.isError).toBe(isError);
		expect(event(plain?.text ?? "")).toBe(text);
		expect(JSON.parse(plain?.text ?? "").id).toBe(7);
	});

	test("as a response, with its message", () => {
		const plain = read(result(`${item}]`));
		expect(plain?.event).toBe(plain as PlainEvent);
		expect(plain?.message).toEqual({
			jsonrpc: "2.0",
			id: 7,
			result: { content: [JSON.parse(item)] },
		} as object as PlainEvent["message"]);
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
			expect(Buffer.from(changed ?? []).toString()).toBe(text.replace(`"id":${given}`, `"id":${id}`));
		}
});

describe("is left to who parses", () => {
	test.each([
		["another id", result("]").replace('"id":7', '"id":8')],
		["an id that begins like it", result("]").replace('"id":7', '"id":70')],
		["white space between members", result("]").replace(",", ", ")],
		["another order", event('{"id":7,"jsonrpc":"2.0","result":{"content":[]}}')],
		["an error", event('{"jsonrpc":"2.0","id":7,"error":{"code":1}}')],
		["no content", event('{"jsonrpc":"2.0","id":7,"result":{"a":[]}}')],
		["an end that is none", result("]").slice(0, -1)],
		["a second event", result("]") + result("]")],
		["data in two lines", result("\n]")],
		["a carriage return", result("\r]")],
		["isError before the end", result('],"isError":true,"a":[]')],
		...['"id":8', '"\\u0069d":8', '"result":{"content":[]}', '"\\u0072esult":{}', '"error":{}', '"other":1'].flatMap(
			(member) =>
				["},", "} , ", "},\t", "}\t,"].map(
					(before) =>
						[`after ${JSON.stringify(before)} a member ${member}`, result(`]${before}${member},"x":{"y":[]`)] as const,
				),
		),
		["another type of event", result("]").replace("message", "other")],
		["nothing", ""],
		["the beginning alone", result("]").slice(0, 40)],
	])("%s", (_, text) => {
		expect(read(text)).toBeUndefined();
	});
});

/** The keys of the outermost object, as often as they stand there: what JSON.parse does not tell. */
function outermostKeys(json: string): string[] {
	const tokens = json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g);
	const keys: string[] = [];
	let depth = 0;
	let last = "";
	for (const [token] of tokens) {
		if (token === ":" && depth === 1) keys.push(JSON.parse(last));
		if (token === "{" || token === "[") depth++;
		if (token === "}" || token === "]") depth--;
		last = token;
	}
	return keys;
}

const pieces =
	'{ } [ ] , : " \\ \\" {} [] "id":8 "\\u0069d":8 "result":{} "error":{} "x":{"y":[ "text":"},", ]},"id":8 ]}} } ,"id":8,"x":{"y":[]}} true é \\u0000'.split(
		" ",
	);

/** A result in the usual form with something put into it, most of the time where JSON stays JSON. */
function mutated(random: Random): string {
	const text = () =>
		JSON.stringify(Array.from({ length: random.below(4) }, () => random.pick(pieces)).join(random.pick(["", " "])));
	const blank = () => random.pick(["", "", "", " ", "\t", "  "]);
	const value = () => random.pick([text(), "{}", "[]", "1", `{"a":${text()}}`]);
	const keys = ["id", "\\u0069d", "result", "r\\u0065sult", "error", "x", "}"];
	const member = () => `${blank()},${blank()}"${random.pick(keys)}"${blank()}:${blank()}${value()}${blank()}`;
	const members = () => Array.from({ length: Math.max(0, random.below(6) - 3) }, member).join("");
	const items = Array.from({ length: random.below(3) }, () => `{"type":"text","text":${text()}${members()}}`).join(
		random.pick([",", ", "]),
	);
	const end = random.pick([
		"]}}",
		'],"isError":true}}',
		`]}${members()}}`,
		`]${members()}}${members()}}`,
		`]}${members()},"x":{"y":[]}}`,
	]);
	const made = `{"jsonrpc":"2.0","id":7,"result":{"content":[${items}${end}`;
	if (random.chance(0.7)) return made;
	const at = random.below(made.length);
	return made.slice(0, at) + random.pick(pieces) + made.slice(at);
}

test("of random events none is read that has a key twice, or another than the usual", () => {
	const seed = Number(process.env.FUZZ_SEED ?? 20261122);
	const random = seeded(seed);
	const count = { read: 0, left: 0, repeated: 0 };
	for (let round = 0; round < 8_000; round++) {
		const json = mutated(random);
		const plain = read(event(json));
		let isJson = true;
		try {
			JSON.parse(json);
		} catch {
			// Clients refuse it.
			isJson = false;
		}
		if (!isJson) continue;
		const keys = outermostKeys(json);
		if (plain) {
			expect([seed, json, keys]).toEqual([...[seed, json], ["jsonrpc", "id", "result"]]);
			count.read++;
		} else count.left++;
		if (new Set(keys).size < keys.length) count.repeated++;
	}
	// And there was something of each kind.
	for (const times of Object.values(count)) expect(times).toBeGreaterThan(200);
});
