import { describe, expect, test } from "bun:test";
import { buildCatalog, type CatalogSource, listInstances } from "../../../src/gateway/catalog/catalog.ts";

interface ListedTool {
	name: string;
	description?: string;
	inputSchema: { type: string; properties: Record<string, { type: string; description: string }> };
}
/** A bot with these tools, each as JSON text. */
const bot = (name: string, ...tools: string[]): CatalogSource => ({
	name,
	tools: tools.map((text) => ({ name: JSON.parse(text).name, text, readOnly: false })),
});
const build = (...tools: string[]): ListedTool[] => parse(bot("alpha", ...tools));
const parse = (...bots: CatalogSource[]): ListedTool[] => JSON.parse(buildCatalog(bots).list).tools;

test("without tools there is list_instances alone", () => {
	expect(JSON.parse(buildCatalog([]).list)).toEqual({ tools: [listInstances] });
});

test("list_instances is the last, and takes no instance", () => {
	const tools = build('{"name":"a"}', '{"name":"b"}');
	expect(tools.map(({ name }) => name)).toEqual(["a", "b", "list_instances"]);
	expect(listInstances.inputSchema).toEqual({ type: "object", additionalProperties: false });
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
		const [tool] = build('{"name":"a","inputSchema":{"type":"object","properties":{"b":{}},"required":["b"]}}');
		expect(tool?.inputSchema).toHaveProperty("required", ["b"]);
	});
});

describe("where bots annotate a tool differently, the list is as cautious as the most cautious of them", () => {
	const hints = [
		["readOnlyHint", false],
		["destructiveHint", true],
		["idempotentHint", false],
		["openWorldHint", true],
	] as const;
	const definition = (annotations: object | undefined, text: string) =>
		JSON.stringify({ name: "a", description: text, annotations });
	const listedHints = (...definitions: string[]) => {
		const bots = definitions.map((text, at) => bot(`bot${at}`, text));
		const [tool] = parse(...bots);
		return tool as ListedTool & { annotations?: Record<string, unknown> };
	};

	test.each(hints)("%s", (hint, cautious) => {
		const bold = definition({ title: "A", [hint]: !cautious }, "bold");
		const others = [
			definition({ [hint]: cautious }, "says so"),
			definition({}, "says nothing"),
			definition(undefined, "has none"),
		];
		for (const other of others)
			for (const order of [
				[bold, other],
				[other, bold],
				[bold, bold, other],
				[other, bold, bold],
			]) {
				const { annotations = {}, description } = listedHints(...order);
				expect(annotations[hint] ?? cautious).toBe(cautious);
				// All else is the first bot's.
				expect(description).toBe(JSON.parse(order[0] ?? "").description);
				expect(annotations.title).toBe(order[0] === bold ? "A" : undefined);
			}
		const agreed = definition({ [hint]: !cautious }, "agrees");
		expect(listedHints(bold, agreed).annotations?.[hint]).toBe(!cautious);
		expect(listedHints(bold).annotations?.[hint]).toBe(!cautious);
	});
});

test("all else of a tool stays byte for byte", () => {
	const text =
		'{ "name":"a","x":1e400,"annotations":{"n":12345678901234567890}, "inputSchema" : {"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"z":{"type":"integer","maximum":18446744073709551615,"minimum":1.0},"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"pattern":"^[\\u0061]\\\\d\\"}$"}},"additionalProperties":false,"allOf":[{}]},"outputSchema":{"properties":{}} }';
	const catalog = buildCatalog([bot("alpha", text)]).list;
	const added = /,"instance":\{[^}]*\}/;
	expect(catalog).toMatch(added);
	expect(catalog.replace(added, "")).toBe(`{"tools":[${text},${JSON.stringify(listInstances)}]}`);
});

describe("bots that differ", () => {
	const a = '{"name":"a","description":"Does a."}';
	const b = '{"name":"b","description":"Does b."}';
	const otherB = '{"name":"b","description":"Does b, newly."}';
	const bare = '{"name":"c"}';

	test("show the first one's tools, then what only later ones have, and who lacks what", () => {
		const { list, skew, size } = buildCatalog([
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
		expect(size).toBe(4);
	});

	test("name each that lacks a tool", () => {
		const [, second] = parse(bot("x", a, b), bot("y", a), bot("z", a));
		expect(second?.description).toBe("Does b. (Not available on: y, z.)");
	});

	test("are not those that are the same: that is one bot's list", () => {
		const alone = buildCatalog([bot("alpha", a, b)]);
		const three = buildCatalog([bot("alpha", a, b), bot("beta", b, a), { name: "gamma", tools: undefined }]);
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
		expect(parse(bot("alpha", a, a)).map(({ name }) => name)).toEqual(["a", "list_instances"]);
	});
});

/** The members that each tool has to have, for others after or before them. */
