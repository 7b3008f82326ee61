import { describe, expect, test } from "bun:test";
import {
	buildCatalog,
	type CatalogSource,
	listInstances,
	readTools,
} from "../../../src/gateway/catalog/catalog.ts";

interface ListedTool {
	name: string;
	description?: string;
	inputSchema: {
		type: string;
		properties: Record<string, { type: string; description: string }>;
	};
}
/** A bot with these tools, each as JSON text. */
const bot = (name: string, ...tools: string[]): CatalogSource => ({
	name,
	tools: tools.map((text) => ({
		name: JSON.parse(text).name,
		text,
		readOnly: false,
	})),
});
const build = (...tools: string[]): ListedTool[] =>
	parse(bot("alpha", ...tools));
const parse = (...bots: CatalogSource[]): ListedTool[] =>
	JSON.parse(buildCatalog(bots).list).tools;

test("without tools there is list_instances alone", () => {
	expect(JSON.parse(buildCatalog([]).list)).toEqual({ tools: [listInstances] });
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
	const catalog = buildCatalog([bot("alpha", text)]).list;
	const added = /,"instance":\{[^}]*\}/;
	expect(catalog).toMatch(added);
	expect(catalog.replace(added, "")).toBe(
		`{"tools":[${text},${JSON.stringify(listInstances)}]}`,
	);
});

describe("bots that differ", () => {
	const a = '{"name":"a","description":"Does a."}';
	const b = '{"name":"b","description":"Does b."}';
	const otherB = '{"name":"b","description":"Does b, newly."}';
	const bare = '{"name":"c"}';

	test("show the first one's tools, then what only later ones have, and who lacks what", () => {
		const { list, skew, names } = buildCatalog([
			bot("alpha", b, a),
			bot("beta", bare, otherB),
			{ name: "gamma", tools: undefined },
			bot("delta", a, b, bare),
		]);
		const tools: ListedTool[] = JSON.parse(list).tools;
		expect(tools.map(({ name, description }) => [name, description])).toEqual([
			["b", "Does b."],
			["a", "Does a. (Not available on: beta.)"],
			["c", "(Not available on: alpha.)"],
			["list_instances", listInstances.description],
		]);
		expect([...skew]).toEqual([
			["alpha", { lacks: ["c"], differs: [] }],
			["beta", { lacks: ["a"], differs: ["b"] }],
		]);
		expect([...names]).toEqual(["b", "a", "c", "list_instances"]);
	});

	test("name each that lacks a tool", () => {
		const [, second] = parse(bot("x", a, b), bot("y", a), bot("z", a));
		expect(second?.description).toBe("Does b. (Not available on: y, z.)");
	});

	test("are not those that are the same: that is one bot's list", () => {
		const alone = buildCatalog([bot("alpha", a, b)]);
		const three = buildCatalog([
			bot("alpha", a, b),
			bot("beta", b, a),
			{ name: "gamma", tools: undefined },
		]);
		expect(three.list).toBe(alone.list);
		expect(three.skew.size).toBe(0);
	});

	test("keep every other byte of a tool that some lack", () => {
		const text = '{"n":1e400, "description":"\\u00e9\\n","name":"d","x":{ }}';
		const { list } = buildCatalog([bot("alpha", a), bot("beta", a, text)]);
		expect(list).toContain(
			'{"n":1e400, "description":"é\\n (Not available on: alpha.)","name":"d","x":{ },"inputSchema"',
		);
	});

	test("that list a tool twice list it once", () => {
		expect(parse(bot("alpha", a, a)).map(({ name }) => name)).toEqual([
			"a",
			"list_instances",
		]);
	});
});

/** The members that each tool has to have, for others after or before them. */
const named = '"name":"a","inputSchema":{"type":"object"}';
const read = (...tools: string[]) =>
	readTools(
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[${tools.join(",")}]}}`,
		500,
	);

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
				3,
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

	const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
	const schema = (inputSchema: string) =>
		`{"name":"a","inputSchema":${inputSchema}}`;
	test.each<[tool: string, reason: string | RegExp, name?: string]>([
		["null", "expected an object", "tool 1"],
		["[]", "expected an object", "tool 1"],
		['"a"', "expected an object", "tool 1"],
		["{}", /^name: /, "tool 1"],
		['{"name":1}', /^name: /, "tool 1"],
		...["", "a b", "a.b", "a/b", "ä", "a\\n", "x".repeat(65)].map(
			(name): [string, string, string] => [
				named.replace('"a"', `"${name}"`).replace(/.*/, "{$&}"),
				'name: expected 1 to 64 letters, digits, "_" and "-"',
				/^[a-z.]+$/.test(name) ? name : `"${name}"`,
			],
		),
		['{"name":"a"}', /^inputSchema: /],
		[schema("null"), /^inputSchema: /],
		[schema("true"), /^inputSchema: /],
		[schema("[]"), /^inputSchema: /],
		[schema("{}"), /^inputSchema.type: /],
		[schema('{"type":"string"}'), /^inputSchema.type: /],
		[schema('{"type":["object"]}'), /^inputSchema.type: /],
		[schema('{"type":"object","properties":[]}'), /^inputSchema.properties: /],
		[
			schema('{"type":"object","properties":null}'),
			/^inputSchema.properties: /,
		],
		[
			schema('{"type":"object","properties":{"b":true}}'),
			/^inputSchema.properties.b: /,
		],
		...["constructor", "prototype", "__proto__"].map(
			(key): [string, string] => [
				schema(`{"type":"object","properties":{"${key}":1}}`),
				`inputSchema.properties.${key}: expected an object`,
			],
		),
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
		[
			`{${named},"annotations":{"readOnlyHint":"true"}}`,
			/^annotations.readOnlyHint: /,
		],
		[
			`{${named},"annotations":{"destructiveHint":1}}`,
			/^annotations.destructiveHint: /,
		],
		[`{${named},"annotations":{"title":1}}`, /^annotations.title: /],
		[`{${named},"icons":{}}`, /^icons: /],
		[`{${named},"icons":[{}]}`, /^icons.0.src: /],
		[`{${named},"icons":[{"src":"x","theme":"red"}]}`, /^icons.0.theme: /],
		[
			`{${named},"execution":{"taskSupport":"yes"}}`,
			/^execution.taskSupport: /,
		],
		[`{${named},"_meta":[]}`, /^_meta: /],
		[`{${named},"n\\u0061me":"b"}`, "has a duplicate key", "b"],
		[
			`{${named},"annotations":{"title":"a","title":"b"}}`,
			"has a duplicate key",
		],
		[`{${named},"x":"\\ud800"}`, "has a lone surrogate"],
		[`{${named},"constructor":1e400}`, "has a number that exceeds a double"],
		[`{${named},"x":{"\\udc00":1}}`, "has a lone surrogate"],
		[`{${named},"x":[1e400]}`, "has a number that exceeds a double"],
		[`{${named},"x":${"9".repeat(400)}}`, "has a number that exceeds a double"],
		[`{${named},"x":${nested(64)}}`, "is nested deeper than 64"],
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
	])(
		"drops %s, which clients refuse, and no other",
		(tool, reason, name = "a") => {
			const good = '{"name":"b","inputSchema":{"type":"object"}}';
			const { tools, dropped } = read(tool, good);
			expect(tools.map(({ text }) => text)).toEqual([good]);
			expect(dropped).toEqual([
				{
					name,
					reason:
						typeof reason === "string" ? reason : expect.stringMatching(reason),
				},
			]);
		},
	);

	test("looks at no more tools than it is asked for, good or not", () => {
		const text = `{"result":{"tools":[0,{${named}},{}]}}`;
		const { tools, dropped } = readTools(text, 2);
		expect([tools.length, dropped.length]).toEqual([1, 1]);
	});

	test("takes what is nested as deeply as may be", () => {
		expect(read(`{${named},"x":${nested(63)}}`).tools).toHaveLength(1);
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
		expect(readTools(text, 1)).toEqual({ tools: [], dropped: [] });
	});
});
