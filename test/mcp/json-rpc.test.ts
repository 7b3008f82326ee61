import { describe, expect, test } from "bun:test";
import { errorResponse, MalformedMessage, parseMessage, RpcError, resultResponse } from "../../src/mcp/json-rpc.ts";

/** What becomes of a text: its kind and id, or the code and the id of the error. */
function outcome(text: string): string {
	try {
		const message = parseMessage(text);
		return message.kind === "request" ? `request ${message.id}` : message.kind;
	} catch (error) {
		if (!(error instanceof MalformedMessage)) throw error;
		return `${error.code} ${error.id}`;
	}
}

const request = (id: string) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`;

describe("an id that is a string or an integer is kept as it was written", () => {
	test.each([
		"0",
		"-0",
		"-1",
		"9007199254740993",
		"-123456789012345678901234567890",
		`${"9".repeat(400)}`,
		'""',
		'"a"',
		'"1"',
		'"1.5"',
		'"\\u0061\\/\\n"',
		'"null"',
		'"ünï😀\u2028"',
		'"\\ud800"',
	])("%s", (id) => {
		expect(outcome(request(id))).toBe(`request ${id}`);
		expect(outcome(`{"method":"m","id"\n:\t${id} ,"jsonrpc":"2.0"}`)).toBe(`request ${id}`);
	});
});

describe("any other id is refused, and not echoed", () => {
	test.each(["1.0", "1.5", "-0.0", "1e2", "1E400", "null", "true", "false", "{}", "[]", "[1]", '{"id":1}'])(
		"%s",
		(id) => {
			expect(outcome(request(id))).toBe("-32600 null");
		},
	);
});

describe("what a text is", () => {
	test.each([
		// Requests, notifications, responses.
		['{"jsonrpc":"2.0","method":"a/b"}', "notification"],
		['{"jsonrpc":"2.0","method":"a","params":{}}', "notification"],
		['{"jsonrpc":"2.0","id":1,"result":{}}', "response"],
		['{"jsonrpc":"2.0","id":1,"error":{}}', "response"],
		['{"jsonrpc":"2.0","id":"x","method":"a","result":1}', 'request "x"'],
		[` \r\n${request("1")}\n`, "request 1"],
		// No JSON.
		["", "-32700 null"],
		[" ", "-32700 null"],
		["{", "-32700 null"],
		["{}{}", "-32700 null"],
		["{'id':1}", "-32700 null"],
		['{"id":1,}', "-32700 null"],
		['{"id":01}', "-32700 null"],
		["NaN", "-32700 null"],
		['"a\nb"', "-32700 null"],
		["undefined", "-32700 null"],
		// No message.
		["null", "-32600 null"],
		["1", "-32600 null"],
		['"x"', "-32600 null"],
		["[]", "-32600 null"],
		[`[${request("1")}]`, "-32600 null"],
		["{}", "-32600 null"],
		['{"id":1,"method":"a"}', "-32600 1"],
		['{"jsonrpc":"1.0","id":1,"method":"a"}', "-32600 1"],
		['{"jsonrpc":2.0,"id":1,"method":"a"}', "-32600 1"],
		['{"jsonrpc":"2.0","id":1}', "-32600 1"],
		['{"jsonrpc":"2.0","id":1,"method":null}', "-32600 1"],
		['{"jsonrpc":"2.0","id":1,"method":5}', "-32600 1"],
		['{"jsonrpc":"2.0","id":1,"method":["a"]}', "-32600 1"],
		['{"jsonrpc":"2.0","id":1,"method":5,"result":{}}', "-32600 1"],
		// Parameters.
		['{"jsonrpc":"2.0","id":1,"method":"a","params":[]}', "-32602 1"],
		['{"jsonrpc":"2.0","id":1,"method":"a","params":"x"}', "-32602 1"],
		['{"jsonrpc":"2.0","id":1,"method":"a","params":null}', "-32602 1"],
		// Keys that stand twice, however they are written.
		['{"jsonrpc":"2.0","id":1,"id":1,"method":"a"}', "-32600 null"],
		['{"jsonrpc":"2.0","id":1,"i\\u0064":1,"method":"a"}', "-32600 null"],
		['{"jsonrpc":"2.0","id":1.5,"id":1,"method":"a"}', "-32600 null"],
		['{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}', "-32600 1"],
		['{"jsonrpc":"2.0","id":1,"method":"a","metho\\u0064":"a"}', "-32600 1"],
		['{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}', "-32600 1"],
		// Those that do not matter may.
		['{"jsonrpc":"2.0","id":1,"method":"a","x":1,"x":2}', "request 1"],
		['{"jsonrpc":"2.0","id":1,"method":"a","params":{"id":1,"id":2}}', "request 1"],
	])("%j is %s", (text, expected) => {
		expect(outcome(text)).toBe(expected);
	});
});

test("only the id of the message itself counts", () => {
	const text = '{"params":{"id":7,"x":"\\"id\\":8"},"jsonrpc":"2.0","method":"a","i\\u0064":9}';
	expect(outcome(text)).toBe("request 9");
});

test("absent parameters are none, and given ones are found in the text", () => {
	const plain = parseMessage(request("1"));
	expect(plain).toMatchObject({ params: {}, paramsAt: undefined });
	const text = '{"jsonrpc":"2.0","id":1,"method":"a","params" : {"n":1e400}}';
	const message = parseMessage(text);
	if (message.kind !== "request") throw new Error("not a request");
	expect(message.text.slice(message.paramsAt)).toBe('{"n":1e400}}');
});

test("a message with keys of Object.prototype's is just a message", () => {
	const text = '{"jsonrpc":"2.0","id":1,"method":"a","__proto__":{"params":{"x":1}},"constructor":1}';
	const message = parseMessage(text);
	expect(message).toMatchObject({ kind: "request", params: {} });
	expect(outcome('{"__proto__":{"jsonrpc":"2.0","method":"a"}}')).toBe("-32600 null");
});

test("the parser's words, which quote the body, are not in the error", () => {
	expect(() => parseMessage('{"token":"hunter2')).toThrow(/^Parse error$/);
});

test("responses carry the id as it was given", () => {
	expect(resultResponse("12345678901234567890", '{"a":1.0}')).toBe(
		'{"jsonrpc":"2.0","id":12345678901234567890,"result":{"a":1.0}}',
	);
	const error = new RpcError(-1, 'say "no"\n');
	expect(errorResponse('"\\u0061"', error)).toBe(
		'{"jsonrpc":"2.0","id":"\\u0061","error":{"code":-1,"message":"say \\"no\\"\\n"}}',
	);
});
