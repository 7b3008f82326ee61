import { describe, expect, test } from "bun:test";
import { readTools } from "../../../src/gateway/backends/listed-tools.ts";

const named = '"name":"a","inputSchema":{"type":"object"}';
const read = (...tools: string[]) => readTools(`{"jsonrpc":"2.0","id":1,"result":{"tools":[${tools.join(",")}]}}`);

describe("readTools", () => {
	test("takes each tool as it is written", () => {
		const tools = [
			`{${named},"n":1.0,"title":"A","x":{"y":[1,"é",null,true]}}`,
			'{"n\\u0061me":"B_2-c" ,"inputSchema":{ "type":"object","properties":{"b":{}},"required":["b"],"$schema":"s","x":1}}',
			`{${named.replace('"a"', `"${"a".repeat(64)}"`)},"outputSchema":{"type":"object","properties":{"$b c":{}}},"icons":[{"src":"x","sizes":["any"]}],"_meta":{},"execution":{}}`,
		];
		expect(
			readTools(
				`{"jsonrpc":"2.0","id":1,"result":{"x":[{"name":"no"}],"tools":[ ${tools.join(" ,\n")} ],"nextCursor":"c"}}`,
			),
		).toEqual({
			tools: [
				{ name: "a", text: tools[0] as string, readOnly: false },
				{ name: "B_2-c", text: tools[1] as string, readOnly: false },
				{ name: "a".repeat(64), text: tools[2] as string, readOnly: false },
			],
			dropped: [],
		});
	});

	test.each<[annotations: string, readOnly: boolean]>([
		['{"readOnlyHint":true}', true],
		['{"readOnlyHint":false}', false],
		['{"idempotentHint":true}', false],
		["{}", false],
	])("with annotations %s has readOnly %p", (annotations, readOnly) => {
		const tool = `{${named},"annotations":${annotations}}`;
		expect(read(tool).tools).toEqual([{ name: "a", text: tool, readOnly }]);
	});

	const schema = (inputSchema: string) => `{"name":"a","inputSchema":${inputSchema}}`;
	test.each<[tool: string, reason: string | RegExp, name?: string]>([
		["null", "expected an object", "tool 1"],
		["[]", "expected an object", "tool 1"],
		['"a"', "expected an object", "tool 1"],
		["{}", /^name: /, "tool 1"],
		['{"name":1}', /^name: /, "tool 1"],
		...["", "a b", "a.b", "a/b", "ä", "a\\n", "x".repeat(65)].map((name): [string, string, string] => [
			named.replace('"a"', `"${name}"`).replace(/.*/, "{$&}"),
			'name: expected 1 to 64 letters, digits, "_" and "-"',
			/^[a-z.]+$/.test(name) ? name : `"${name}"`,
		]),
		['{"name":"a"}', /^inputSchema: /],
		[schema("null"), /^inputSchema: /],
		[schema("true"), /^inputSchema: /],
		[schema("[]"), /^inputSchema: /],
		[schema("{}"), /^inputSchema.type: /],
		[schema('{"type":"string"}'), /^inputSchema.type: /],
		[schema('{"type":["object"]}'), /^inputSchema.type: /],
		[schema('{"type":"object","properties":[]}'), /^inputSchema.properties: /],
		[schema('{"type":"object","properties":null}'), /^inputSchema.properties: /],
		[schema('{"type":"object","properties":{"b":true}}'), /^inputSchema.properties.b: /],
		...["constructor", "prototype", "__proto__"].map((key): [string, string] => [
			schema(`{"type":"object","properties":{"${key}":1}}`),
			`inputSchema.properties.${key}: expected an object`,
		]),
		...["", "b c", "b[]", "ä", "x".repeat(65)].map((key): [string, RegExp] => [
			schema(`{"type":"object","properties":{"${key}":{}}}`),
			/^inputSchema.properties.*: expected 1 to 64 letters, /,
		]),
		[schema('{"type":"object","required":"b"}'), /^inputSchema.required: /],
		[schema('{"type":"object","required":[1]}'), /^inputSchema.required.0: /],
		[`{${named},"outputSchema":{"type":"array"}}`, /^outputSchema.type: /],
		[`{${named},"title":null}`, /^title: /],
		[`{${named},"description":1}`, /^description: /],
		[`{${named},"annotations":null}`, /^annotations: /],
		[`{${named},"annotations":[]}`, /^annotations: /],
		[`{${named},"annotations":{"readOnlyHint":"true"}}`, /^annotations.readOnlyHint: /],
		[`{${named},"annotations":{"destructiveHint":1}}`, /^annotations.destructiveHint: /],
		[`{${named},"annotations":{"title":1}}`, /^annotations.title: /],
		[`{${named},"icons":{}}`, /^icons: /],
		[`{${named},"icons":[{}]}`, /^icons.0.src: /],
		[`{${named},"icons":[{"src":"x","theme":"red"}]}`, /^icons.0.theme: /],
		[`{${named},"execution":{"taskSupport":"yes"}}`, /^execution.taskSupport: /],
		[`{${named},"_meta":[]}`, /^_meta: /],
		[
			'{"name":"list_instances","inputSchema":{"type":"object"}}',
			"the gateway has a tool of this name",
			"list_instances",
		],
		[
			'{"name":"list\\u005finstances","inputSchema":{"type":"object"}}',
			"the gateway has a tool of this name",
			"list_instances",
		],
	])("drops %s, which clients refuse, and no other", (tool, reason, name = "a") => {
		const good = '{"name":"b","inputSchema":{"type":"object"}}';
		const { tools, dropped } = read(tool, good);
		expect(tools.map(({ text }) => text)).toEqual([good]);
		expect(dropped).toEqual([{ name, reason: typeof reason === "string" ? reason : expect.stringMatching(reason) }]);
	});

	test("looks at one more than the 500 tools that a bot may have, good or not", () => {
		const { tools, dropped } = read("0", ...Array.from({ length: 600 }, () => `{${named}}`));
		expect([tools.length, dropped.length]).toEqual([500, 1]);
	});

	test.each([
		'{"result":{}}',
		'{"result":{"tools":null}}',
		'{"result":{"tools":{}}}',
		'{"result":{"tools":"[]"}}',
		'{"result":{"tools":[]}}',
		'{"result":[]}',
		'{"result":"x"}',
		'{"result":null}',
		'{"error":{}}',
	])("finds none in %s", (text) => {
		expect(readTools(text)).toEqual({ tools: [], dropped: [] });
	});
});
