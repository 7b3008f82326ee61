// Converts the Valibot schemas of tool arguments to JSON Schema 2020-12. Throws a TypeError for what it cannot convert, so
// that the program does not start with an incomplete schema.
// https://json-schema.org/draft/2020-12

import * as v from "valibot";

export type JsonSchema = Record<string, unknown>;

/** Of the input; transformations are ignored. Throws a TypeError for what it cannot convert. */
export function toJsonSchema(schema: v.GenericSchema): JsonSchema {
	return convert(schema as unknown as Node);
}

/** Adds keywords, such as limits, to the generated JSON Schema. */
export function published<T>(keywords: JsonSchema) {
	return v.metadata<T, { jsonSchema: JsonSchema }>({ jsonSchema: keywords });
}

/** Replaces the generated JSON Schema, to save clients tokens. `schema` must allow all valid values. */
export function publishedAs<T>(schema: JsonSchema) {
	return v.metadata<T, { whole: JsonSchema }>({ whole: schema });
}

/** Only `tools/list` shows it, to save clients tokens. `shown` must allow all valid values. */
export function listedAs<T>(shown: JsonSchema) {
	return published<T>({ listedAs: shown });
}

const dispensable = ["pattern", "maxItems", "minLength", "maxLength", "additionalProperties"];

/** Accepts all that `schema` does. Leaves out keywords that the server checks anyway, to save clients tokens. */
export function briefSchema(schema: JsonSchema): JsonSchema {
	if (schema.listedAs) return schema.listedAs as JsonSchema;
	const kept = Object.entries(schema).filter(
		([key, value]) =>
			!dispensable.includes(key) &&
			!(value === false && key === "default") &&
			!((value === 0 || value === 1) && key.startsWith("min")),
	);
	return Object.fromEntries(
		kept.map(([key, value]) => {
			if (key === "items") return [key, briefItems(value as JsonSchema)];
			if (key !== "properties") return [key, value];
			const properties = Object.entries(value as Record<string, JsonSchema>);
			return [key, Object.fromEntries(properties.map(([name, one]) => [name, briefSchema(one)]))];
		}),
	);
}

function briefItems(schema: JsonSchema): JsonSchema {
	const { description, ...rest } = schema;
	return briefSchema(schema.type === "string" ? rest : schema);
}

interface Node {
	kind: "schema" | "validation" | "transformation" | "metadata";
	type: string;
	pipe?: readonly Node[];
	/** This and the following are members of some types only. */
	wrapped: Node;
	default?: unknown;
	entries: Record<string, Node>;
	item: Node;
	options: readonly unknown[];
	literal?: unknown;
	requirement?: unknown;
	description?: string;
	title?: string;
	metadata?: { jsonSchema?: JsonSchema; whole?: JsonSchema };
}

function convert(schema: Node): JsonSchema {
	if (!schema.pipe) return convertOne(schema);
	const [first, ...rest] = schema.pipe;
	if (!first) throw new TypeError("a Valibot pipe must begin with a schema");
	const whole = rest.find(({ metadata }) => metadata?.whole)?.metadata?.whole;
	// A copy: an outer pipe adds to it.
	if (whole) return { ...whole };
	// The first item may itself be a schema with a pipe.
	const base = convert(first);
	const unit = base.type === "array" ? "Items" : "Length";
	return Object.assign(base, ...rest.map((action) => refine(action, unit)));
}

function convertOne(schema: Node): JsonSchema {
	switch (schema.type) {
		case "string":
		case "number":
		case "boolean":
			return { type: schema.type };
		case "literal":
			return { const: schema.literal };
		case "picklist":
			return { type: typeOf(schema.options), enum: schema.options };
		case "union":
			return { anyOf: schema.options.map((one) => convert(one as Node)) };
		case "array":
			return { type: "array", items: convert(schema.item) };
		case "optional": {
			const wrapped = convert(schema.wrapped);
			if (typeof schema.default === "function")
				throw new TypeError("the default value of a Valibot schema is a function, which JSON Schema cannot express");
			return schema.default === undefined ? wrapped : { ...wrapped, default: schema.default };
		}
		case "strict_object": {
			const entries = Object.entries(schema.entries);
			const required = entries.filter(([, entry]) => entry.type !== "optional").map(([key]) => key);
			return {
				type: "object",
				properties: Object.fromEntries(entries.map(([key, entry]) => [key, convert(entry)])),
				...(required.length > 0 && { required }),
				additionalProperties: false,
			};
		}
		case "record":
			return { type: "object" };
		default:
			throw unknown(schema);
	}
}

function typeOf(options: readonly unknown[]): "string" | "integer" {
	if (options.every((one) => typeof one === "string")) return "string";
	if (options.every(Number.isInteger)) return "integer";
	throw new TypeError("a Valibot picklist must contain only strings or only integers");
}

function refine(action: Node, unit: "Items" | "Length"): JsonSchema {
	if (action.kind === "schema") return convert(action);
	switch (action.type) {
		case "description":
			return action.description ? { description: action.description } : {};
		case "title":
			return { title: action.title };
		case "metadata":
			return action.metadata?.jsonSchema ?? {};
		case "min_length":
			return action.requirement === 0 ? {} : { [`min${unit}`]: action.requirement };
		case "max_length":
			return { [`max${unit}`]: action.requirement };
		case "min_value":
			return { minimum: action.requirement };
		case "max_value":
			return { maximum: action.requirement };
		case "integer":
			return { type: "integer" };
		case "regex": {
			const { source, flags } = action.requirement as RegExp;
			if (flags.replace("u", "") !== "")
				throw new TypeError(`the regular expression /${source}/${flags} cannot be converted to JSON Schema`);
			return { pattern: source };
		}
		case "transform":
		case "raw_transform":
		case "check":
			return {};
		default:
			throw unknown(action);
	}
}

function unknown(node: Node): TypeError {
	return new TypeError(`Valibot's ${node.type} cannot be converted to JSON Schema`);
}
