// Arguments of a tool call as the audit log keeps them. What people and models write becomes its length; what the tool's
// schema lets be nothing but an id, a number, a flag or a choice stays.

import type { JsonSchema } from "../../mcp/json-schema.ts";
import { permissionNames } from "../discord/permissions.ts";

/** Patterns that leave room for ids and bit fields alone. Digits of another length may be a code, and a secret. */
const harmlessPatterns = new Set([
	"^\\d{17,20}$",
	"^(\\d{17,20})?$",
	"^\\d{1,20}$",
]);
/** Discord's names of permissions. Arguments that take lists of them, such as allow_names, take any text. */
const knownPermissions = new Set(permissionNames((1n << 64n) - 1n));
const maxItems = 50;
const maxLength = 4_000;

/**
 * JSON text of at most 4,000 characters: `args` with everything replaced that `schema`, a tool's input schema, does not
 * show to be harmless. They need not match the schema.
 */
export function redact(
	schema: JsonSchema,
	args: Readonly<Record<string, unknown>>,
): string {
	const text = JSON.stringify(redactObject(schema, args));
	return text.length <= maxLength
		? text
		: JSON.stringify({ "…": `${text.length} characters` });
}

function redactObject(schema: JsonSchema, given: object): object {
	const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
	const kept = Object.entries(properties)
		.filter(([name]) => Object.hasOwn(given, name))
		.map(([name, property]) => {
			const value = (given as Record<string, unknown>)[name];
			const allows = rules.find(([ending]) => name.endsWith(ending))?.[1];
			return [name, redactValue(property, value, allows ?? isHarmless)];
		});
	// A key that the tool does not know may itself be a text.
	const unknown = Object.keys(given).length - kept.length;
	if (unknown > 0) kept.push(["…", `${unknown} unknown`]);
	return Object.fromEntries(kept);
}

function redactValue(
	schema: JsonSchema | undefined,
	value: unknown,
	allows: (text: string, schema: JsonSchema | undefined) => boolean,
): unknown {
	if (value === null || typeof value === "boolean") return value;
	if (typeof value === "number")
		return isExpected(schema, value) ? value : "[a number]";
	if (typeof value === "string")
		return allows(value, schema) ? value : `[${[...value].length} characters]`;
	if (Array.isArray(value)) {
		if (schema?.type !== "array") return `[${value.length} items]`;
		const items = schema.items as JsonSchema;
		const shown = value
			.slice(0, maxItems)
			.map((item) => redactValue(items, item, allows));
		return value.length > maxItems
			? [...shown, `[${value.length - maxItems} more]`]
			: shown;
	}
	if (typeof value === "object" && schema?.type === "object")
		return redactObject(schema, value);
	return `[${typeof value}]`;
}

/** What a name promises, by its ending; every id need not publish its pattern. */
const rules: readonly [ending: string, allows: (text: string) => boolean][] = [
	["_names", isPermission],
	["_id", isId],
	["_ids", isId],
];

function isId(text: string): boolean {
	return /^(\d{17,20})?$/.test(text);
}

function isPermission(text: string): boolean {
	return knownPermissions.has(text.toUpperCase());
}

/** Whether the schema leaves no room for anything but ids, bit fields and choices, and the text is one. */
function isHarmless(text: string, schema: JsonSchema | undefined): boolean {
	if (schema?.type !== "string") return false;
	if (Array.isArray(schema.enum)) return schema.enum.includes(text);
	const { pattern } = schema;
	return (
		typeof pattern === "string" &&
		harmlessPatterns.has(pattern) &&
		new RegExp(pattern).test(text)
	);
}

/** A number where none belongs, or beyond what belongs there, may be anything, such as a code. */
function isExpected(schema: JsonSchema | undefined, value: number): boolean {
	if (schema?.type !== "number" && schema?.type !== "integer") return false;
	if (Array.isArray(schema.enum)) return schema.enum.includes(value);
	const {
		minimum = Number.NEGATIVE_INFINITY,
		maximum = Number.POSITIVE_INFINITY,
	} = schema as { minimum?: number; maximum?: number };
	return value >= minimum && value <= maximum;
}
