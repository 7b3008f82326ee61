import { describe, expect, test } from "bun:test";
import {
	buildCatalog,
	listInstances,
	readTools,
} from "../../src/gateway/catalog.ts";

interface ListedTool {
	name: string;
	inputSchema: {
		type: string;
		properties: Record<string, { type: string; description: string }>;
	};
}
const build = (...tools: string[]): ListedTool[] =>
	JSON.parse(buildCatalog(tools)).tools;

test("without tools there is list_instances alone", () => {
	expect(JSON.parse(buildCatalog([]))).toEqual({ tools: [listInstances] });
});

test("list_instances is the last, and takes no instance", () => {
	const tools = build('{"name":"a"}', '{"name":"b"}');
	expect(tools.map(({ name }) => name)).toEqual(["a", "b", "list_instances"]);
	expect(listInstances.inputSchema).toEqual({
		type: "object",
		additionalProperties: false,
	});
});

describe("instance is added to every tool", () => {
	test.each([
		'{"name":"a","inputSchema":{"type":"object","properties":{"b":{"type":"string"}}}}',
		'{"name":"a","inputSchema":{"type":"object","properties":{}}}',
		'{"name":"a","inputSchema":{"type":"object"}}',
		'{"name":"a","inputSchema":{}}',
		'{"name":"a"}',
		'{"name":"a","inputSchema":null}',
		'{"name":"a","inputSchema":true}',
		'{"name":"a","inputSchema":{"type":"object","properties":null}}',
		'{"name":"a","inputSchema":{"type":"object","properties":[]}}',
		'{"name":"a","inputSchema":{"type":"object","properties":{"instance":{"type":"number"}}}}',
		'{"name":"a","inputSchema":{"type":"object","properties":{"inst\\u0061nce":{}}}}',
		'{"inputSchema" : {"properties"\n:\t{ } , "type":"object"} ,"name":"a" }',
	])("%s", (text) => {
		const [tool] = build(text);
		expect(tool?.name).toBe("a");
		const { instance } = tool?.inputSchema.properties ?? {};
		expect(instance?.type).toBe("string");
		expect(instance?.description).toContain("INSTANCES");
		expect(instance?.description).toContain("guild_id");
		expect(tool?.inputSchema.type ?? "object").toBe("object");
	});

	test("and is not required", () => {
		const [tool] = build(
			'{"name":"a","inputSchema":{"type":"object","properties":{"b":{}},"required":["b"]}}',
		);
		expect(tool?.inputSchema).toHaveProperty("required", ["b"]);
	});
});

test("all else of a tool stays byte for byte", () => {
	const text =
		'{ "name":"a","x":1e400,"annotations":{"n":12345678901234567890}, "inputSchema" : {"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"z":{"type":"integer","maximum":18446744073709551615,"minimum":1.0},"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"pattern":"^[\\u0061]\\\\d\\"}$"}},"additionalProperties":false,"allOf":[{}]},"outputSchema":{"properties":{}} }';
	const catalog = buildCatalog([text]);
	const added = /,"instance":\{[^}]*\}/;
	expect(catalog).toMatch(added);
	expect(catalog.replace(added, "")).toBe(
		`{"tools":[${text},${JSON.stringify(listInstances)}]}`,
	);
});

describe("readTools", () => {
	test("takes each tool as it is written", () => {
		const tools = ['{"name":"a","n":1.0}', '{"n\\u0061me":"b" }'];
		expect(
			readTools(
				`{"jsonrpc":"2.0","id":1,"result":{"x":[{"name":"no"}],"tools":[ ${tools.join(" ,\n")} ],"nextCursor":"c"}}`,
			),
		).toEqual(tools);
	});

	test("leaves out what is no tool, and a list_instances that is not ours", () => {
		expect(
			readTools(
				'{"result":{"tools":[null,1,"a",[],{},{"name":1},{"name":"list_instances"},{"name":"list\\u005finstances"},{"name":"a"}]}}',
			),
		).toEqual(['{"name":"a"}']);
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
		expect(readTools(text)).toEqual([]);
	});
});
