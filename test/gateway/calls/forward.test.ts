import { describe, expect, test } from "bun:test";
import { forwardedParams } from "../../../src/gateway/calls/forward.ts";
import { parseMessage, RpcError } from "../../../src/mcp/json-rpc.ts";

function forwarded(params: string): string {
	const request = parseMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`);
	if (request.kind !== "request") throw new Error("not a request");
	return forwardedParams(request);
}

const args = (text: string) => `{"name":"a","arguments":${text}}`;

describe("arguments without instance go on byte for byte", () => {
	test.each([
		"{}",
		'{"a":1e400,"b":1.0,"c":-0,"d":12345678901234567890123}',
		'{"z":1,"a":2,"10":3,"9":4}',
		'{ "a" :\n[ 1 , {"b":\t"c"} ] }',
		'{"s":"\\u00e9\\/é\\ud800\\"},{\\"instance\\":1"}',
		'{"guild_id":"123","x":{"instance":"kept"},"y":[{"instance":1}]}',
		'{"a":1,"a":2}',
		'{"Instance":"x","instances":"y","":1}',
		'{"__proto__":{"instance":"x"}}',
	])("%s", (text) => {
		expect(forwarded(args(text))).toBe(args(text));
	});
});

describe("instance is taken out of arguments, and nothing else", () => {
	test.each([
		['{"instance":"a"}', "{}"],
		['{"instance":"a","n":1e400,"z":1.0}', '{"n":1e400,"z":1.0}'],
		['{"n":1,"instance":"a"}', '{"n":1}'],
		['{"n":1,"instance":null,"m":2}', '{"n":1,"m":2}'],
		['{"inst\\u0061nce":"a","n":1}', '{"n":1}'],
		['{"\\u0069\\u006e\\u0073\\u0074\\u0061\\u006e\\u0063\\u0065":"","n":1}', '{"n":1}'],
		['{"instance":{"n":[1,"}"]},"n":"instance"}', '{"n":"instance"}'],
		['{ "n" : {"instance":"b"} , "instance" : "a" }', '{ "n" : {"instance":"b"} }'],
		['{"guild_id":"1","instance":"a"}', '{"guild_id":"1"}'],
	])("%s becomes %s", (text, expected) => {
		expect(forwarded(args(text))).toBe(args(expected));
	});
});

describe("absent arguments become {}", () => {
	test.each(['{"name":"a"}', '{"name":"a","arguments":null}'])("%s", (params) => {
		expect(forwarded(params)).toBe(args("{}"));
	});
});

describe("of _meta our part is taken out", () => {
	test.each([
		['{"progressToken":1}', "{}"],
		[
			'{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{},"x":1.0}',
			'{"x":1.0}',
		],
		['{"pro\\u0067ressToken":1,"io.modelcontextprotocol\\/x":1,"y":2}', '{"y":2}'],
		[
			'{"traceparent":"00-1","example.com/x":1e400,"ProgressToken":1,"progressTokens":2,"io.modelcontextprotocol":3,"io.modelcontextprotocolx/a":4}',
			'{"traceparent":"00-1","example.com/x":1e400,"ProgressToken":1,"progressTokens":2,"io.modelcontextprotocol":3,"io.modelcontextprotocolx/a":4}',
		],
		["null", "null"],
		["[1]", "[1]"],
	])("%s becomes %s", (meta, expected) => {
		expect(JSON.parse(forwarded(`{"_meta":${meta},"name":"a","arguments":{}}`))).toEqual(
			JSON.parse(`{"name":"a","arguments":{},"_meta":${expected}}`),
		);
		expect(forwarded(`{"name":"a","arguments":{},"_meta":${meta}}`)).toContain(`"_meta":${expected}`);
	});

	test("and a _meta among the arguments is a tool's", () => {
		const text = args('{"_meta":{"progressToken":1}}');
		expect(forwarded(text)).toBe(text);
	});
});

test("names and unknown members go on as they are written", () => {
	const params = forwarded('{ "task":{"ttl":1.0},"name" : "\\u0061","arguments":{},"n":12345678901234567890 }');
	expect(params).toContain('"task":{"ttl":1.0}');
	expect(params).toContain('"name" : "\\u0061"');
	expect(params).toContain('"n":12345678901234567890');
});

describe("a duplicate key where it matters is -32600", () => {
	test.each([
		["name", '{"name":"a","name":"b"}'],
		["name", '{"name":"a","n\\u0061me":"a"}'],
		["name", '{"name":"a","name":5}'],
		["arguments", '{"name":"a","arguments":{},"arguments":{}}'],
		["arguments", '{"name":"a","arguments":{},"\\u0061rguments":{}}'],
		["arguments", '{"name":"a","arguments":{},"arguments":5}'],
		["arguments", '{"name":"a","arguments":[],"arguments":{}}'],
		["instance", args('{"instance":"a","instance":"a"}')],
		["instance", args('{"instance":"a","x":1,"inst\\u0061nce":"b"}')],
		["guild_id", args('{"guild_id":"1","guild_id":"2"}')],
		["guild_id", args('{"instance":"a","guild_id":"1","guild\\u005fid":"1"}')],
	])("%s in %s", (key, params) => {
		const refused = () => forwarded(params);
		expect(refused).toThrow(RpcError);
		expect(refused).toThrow(`Invalid request: duplicate key "${key}"`);
		try {
			refused();
		} catch (error) {
			expect((error as RpcError).code).toBe(-32600);
		}
	});
});

test("params that name no tool stay JSON", () => {
	for (const params of ["{}", '{"x":1}', '{"x":1,"arguments":null}'])
		expect(JSON.parse(forwarded(params))).toEqual({ ...JSON.parse(params), arguments: {} });
});

test("params that are absent are those of a call without any", () => {
	const request = parseMessage('{"jsonrpc":"2.0","id":1,"method":"tools/call"}');
	if (request.kind !== "request") throw new Error("not a request");
	expect(JSON.parse(forwardedParams(request))).toEqual({});
});
