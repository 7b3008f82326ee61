import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import {
	briefSchema,
	type JsonSchema,
	listedAs,
	published,
	publishedAs,
	toJsonSchema,
} from "../../src/mcp/json-schema.ts";

const constructs: [name: string, schema: v.GenericSchema, json: unknown][] = [
	["string", v.string(), { type: "string" }],
	["number", v.number(), { type: "number" }],
	["boolean", v.boolean(), { type: "boolean" }],
	["picklist", v.picklist(["a", "b"]), { type: "string", enum: ["a", "b"] }],
	["picklist of numbers", v.picklist([60, 1440]), { type: "integer", enum: [60, 1440] }],
	["array", v.array(v.picklist(["a"])), { type: "array", items: { type: "string", enum: ["a"] } }],
	[
		"union",
		v.union([v.picklist(["a"]), v.pipe(v.number(), v.integer())]),
		{ anyOf: [{ type: "string", enum: ["a"] }, { type: "integer" }] },
	],
	["optional", v.optional(v.string()), { type: "string" }],
	["default", v.optional(v.number(), 10), { type: "number", default: 10 }],
	["falsy default", v.optional(v.number(), 0), { type: "number", default: 0 }],
	[
		"integer in a range",
		v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(50)),
		{ type: "integer", minimum: 1, maximum: 50 },
	],
	[
		"text of a length",
		v.pipe(v.string(), v.minLength(1), v.maxLength(9)),
		{ type: "string", minLength: 1, maxLength: 9 },
	],
	[
		"list of a length",
		v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(9)),
		{ type: "array", items: { type: "string" }, minItems: 1, maxItems: 9 },
	],
	["pattern", v.pipe(v.string(), v.regex(/^\d{17,20}$/)), { type: "string", pattern: "^\\d{17,20}$" }],
	["a literal", v.literal("a"), { const: "a" }],
	["words", v.pipe(v.string(), v.title("T"), v.description("D")), { type: "string", title: "T", description: "D" }],
	[
		"a pipe of a pipe",
		v.pipe(v.pipe(v.string(), v.minLength(2)), v.description("D")),
		{ type: "string", minLength: 2, description: "D" },
	],
	[
		"an optional with a description, either way round",
		v.strictObject({
			inner: v.optional(v.pipe(v.string(), v.description("D"))),
			outer: v.pipe(v.optional(v.string()), v.description("D")),
		}),
		{
			type: "object",
			properties: { inner: { type: "string", description: "D" }, outer: { type: "string", description: "D" } },
			additionalProperties: false,
		},
	],
	[
		"transformation and check",
		v.pipe(
			v.string(),
			v.check((text) => text !== "x"),
			v.transform(Number),
		),
		{ type: "string" },
	],
	[
		"published keywords",
		v.pipe(
			v.number(),
			v.transform((n) => Math.max(n, 1)),
			published({ type: "integer", minimum: 1 }),
		),
		{ type: "integer", minimum: 1 },
	],
	[
		"what is published in place of it",
		v.strictObject({
			a: v.pipe(v.strictObject({ b: v.string() }), publishedAs({ type: "object", description: "With b." })),
		}),
		{
			type: "object",
			properties: { a: { type: "object", description: "With b." } },
			required: ["a"],
			additionalProperties: false,
		},
	],
	[
		"object",
		v.strictObject({ a: v.string(), b: v.optional(v.string()), c: v.strictObject({ d: v.array(v.boolean()) }) }),
		{
			type: "object",
			properties: {
				a: { type: "string" },
				b: { type: "string" },
				c: {
					type: "object",
					properties: { d: { type: "array", items: { type: "boolean" } } },
					required: ["d"],
					additionalProperties: false,
				},
			},
			required: ["a", "c"],
			additionalProperties: false,
		},
	],
	["object without entries", v.strictObject({}), { type: "object", properties: {}, additionalProperties: false }],
];

test.each(constructs)("%s becomes JSON Schema", (_, schema, json) => {
	expect(toJsonSchema(schema)).toEqual(json as JsonSchema);
});

test("the same schema converted twice is the same, and itself unchanged", () => {
	const shared = v.pipe(v.string(), v.minLength(1));
	const schema = v.strictObject({ a: v.pipe(shared, v.description("A")), b: v.pipe(shared, v.description("B")) });
	const first = toJsonSchema(schema);
	expect(toJsonSchema(schema)).toEqual(first);
	expect(toJsonSchema(shared)).toEqual({ type: "string", minLength: 1 });
});

describe("what has no JSON Schema here throws, naming it", () => {
	test.each<[string, v.GenericSchema]>([
		["variant", v.variant("type", [])],
		["object", v.object({})],
		["loose_object", v.looseObject({})],
		["nullable", v.nullable(v.string())],
		["any", v.any()],
		["map", v.map(v.string(), v.string())],
		["bigint", v.bigint()],
		["email", v.pipe(v.string(), v.email())],
		["trim", v.pipe(v.string(), v.trim())],
		["url", v.strictObject({ a: v.optional(v.pipe(v.string(), v.url())) })],
	])("%s", (type, schema) => {
		expect(() => toJsonSchema(schema)).toThrow(`Valibot's ${type} cannot be converted to JSON Schema`);
	});

	test("a default that is computed", () => {
		expect(() => toJsonSchema(v.optional(v.number(), () => Date.now()))).toThrow(TypeError);
	});

	test("a pattern with flags, which JSON Schema has not", () => {
		expect(() => toJsonSchema(v.pipe(v.string(), v.regex(/^a$/i)))).toThrow(TypeError);
	});
});

test("a brief schema leaves out patterns and defaults that models can do without", () => {
	expect(
		briefSchema({
			type: "object",
			properties: {
				pattern: { type: "string", pattern: "^a", description: "A." },
				ids: {
					type: "array",
					description: "Ids.",
					items: { type: "string", pattern: "^b", description: "An id." },
					minItems: 1,
					maxItems: 9,
				},
				text: { type: "string", minLength: 1, maxLength: 1 },
				dry_run: { type: "boolean", default: false },
				limit: { type: "integer", default: 0 },
			},
			required: ["ids"],
			additionalProperties: false,
		}),
	).toEqual({
		type: "object",
		properties: {
			pattern: { type: "string", description: "A." },
			ids: { type: "array", description: "Ids.", items: { type: "string" } },
			text: { type: "string" },
			dry_run: { type: "boolean" },
			limit: { type: "integer", default: 0 },
		},
		required: ["ids"],
	});
});

test("a brief schema shows what an argument is listed as", () => {
	const shown = { type: "array", description: "Ids." };
	const ids = v.array(v.pipe(v.string(), v.regex(/^a$/)));
	const schema = v.strictObject({ ids: v.pipe(ids, listedAs(shown)) });
	expect(v.is(schema, { ids: ["b"] })).toBe(false);
	const full = toJsonSchema(schema);
	expect(full.properties).toMatchObject({ ids: { items: { type: "string", pattern: "^a$" } } });
	expect(briefSchema(full).properties).toEqual({ ids: shown });
});

test("a description added to what is published does not change it elsewhere", () => {
	const list = v.pipe(v.array(v.string()), publishedAs({ type: "array", description: "Kinds." }));
	expect(toJsonSchema(v.pipe(list, v.description("As there.")))).toEqual({ type: "array", description: "As there." });
	expect(toJsonSchema(list)).toEqual({ type: "array", description: "Kinds." });
});
