// Redacts tool arguments for the audit log. Free text is replaced by its length, except names and reasons. Ids, numbers, flags
// and choices are kept if the tool's schema allows nothing else there.

import { permissionNames } from "../../discord/permissions.ts";
import type { JsonObject } from "../../lib/json.ts";
import { listFirst } from "../../lib/text.ts";
import type { JsonSchema } from "../../mcp/json-schema.ts";
import { durationPattern, hexColorPattern } from "./arguments/arguments.ts";

const harmless = ["^\\d{17,20}$", "^(\\d{17,20})?$", "^\\d{1,20}$", hexColorPattern, durationPattern, "^[0-9a-f]{32}$"];
const knownPermissions = new Set(permissionNames((1n << 64n) - 1n));
const maxItems = 50;
const maxNames = 10;
const maxLength = 4_000;
/** Shorter texts are also parts of usual words. */
const minHidden = 4;

/** At most 4,000 characters of JSON, without what may be secret by `schema`. `args` need not match the schema. */
export function redact(schema: JsonSchema, args: JsonObject, keepsTexts = false): string {
	const text = JSON.stringify(keepsTexts ? args : redactObject(schema, args));
	return text.length <= maxLength ? text : JSON.stringify({ "…": `${text.length} characters` });
}

/** `text`, such as an error, without what people wrote in the arguments. Wrong ids and choices stay in it. */
export function hide(text: string, schema: JsonSchema, args: JsonObject): string {
	const hidden = writtenIn(schema, args).filter(({ length }) => length >= minHidden);
	return hidden.reduce((rest, one) => rest.replaceAll(one, `[${one.length} characters]`), text);
}

function writtenIn(schema: JsonSchema | undefined, value: unknown, key = ""): string[] {
	if (typeof value === "string")
		return schema?.enum || schema?.pattern || rules.some(([ending]) => ending.test(key)) ? [] : [value];
	if (Array.isArray(value)) return value.flatMap((item) => writtenIn(schema?.items as JsonSchema, item, key));
	if (typeof value !== "object" || value === null) return [];
	const properties = (schema?.properties ?? {}) as Record<string, JsonSchema>;
	return Object.entries(value).flatMap(([name, item]) => writtenIn(properties[name], item, name));
}

function redactObject(schema: JsonSchema, args: object): object {
	const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
	const kept = Object.entries(properties)
		.filter(([name]) => Object.hasOwn(args, name))
		.map(([name, property]) => {
			const value = (args as Record<string, unknown>)[name];
			if (name === "settings" && typeof value === "object" && value !== null)
				return [
					name,
					Object.fromEntries(Object.entries(value).map(([key, one]) => [redactKey(key), redactSettings(one)])),
				];
			const allows = rules.find(([ending]) => ending.test(name))?.[1];
			return [name, redactValue(property, value, allows ?? isHarmless)];
		});
	const unknown = Object.keys(args).filter((name) => !Object.hasOwn(properties, name));
	if (unknown.length > 0) kept.push(["…", `unknown: ${listFirst(unknown.map(redactKey), maxNames)}`]);
	return Object.fromEntries(kept);
}

/** Other texts than names are no slips of the pen, but what somebody wrote. */
const redactKey = (name: string) => (/^[\w.-]{1,40}$/.test(name) ? name : `[${name.length} characters]`);

/** Of settings by their keys, what has the form of an id, a time or a choice is kept. */
function redactSettings(value: unknown, isItem = false): unknown {
	if (Array.isArray(value)) return value.map((item) => redactSettings(item, true));
	if (typeof value === "object" && value !== null) return "[named texts]";
	if (typeof value !== "string" || timeForm.test(value) || (isItem && /^[a-z_]{1,20}$/.test(value))) return value;
	return `[${[...value].length} characters]`;
}

function redactValue(
	schema: JsonSchema | undefined,
	value: unknown,
	allows: (text: string, schema: JsonSchema | undefined) => boolean,
): unknown {
	if (value === null || typeof value === "boolean") return value;
	if (typeof value === "number") {
		const { type, enum: choices = [value], minimum = -Infinity, maximum = Infinity } = schema ?? {};
		const isExpected = (choices as unknown[]).includes(value) && value >= Number(minimum) && value <= Number(maximum);
		return isExpected && (type === "number" || type === "integer") ? value : "[a number]";
	}
	if (typeof value === "string") return allows(value, schema) ? value : `[${[...value].length} characters]`;
	if (Array.isArray(value)) {
		if (![schema?.type].flat().includes("array")) return `[${value.length} items]`;
		const items = schema?.items as JsonSchema;
		const redacted = value.slice(0, maxItems).map((item) => redactValue(items, item, allows));
		return value.length > maxItems ? [...redacted, `[${value.length - maxItems} more]`] : redacted;
	}
	if (typeof value === "object" && schema?.type === "object") return redactObject(schema, value);
	return `[${typeof value}]`;
}

/** A duration, a rate, a date, a time or an id. */
const timeForm =
	/^(now|off|none|forever|\d{1,20}|(in |[+-])?(\d{1,9} ?[a-z]{1,7} ?)+|\d{1,4} joins in \d{1,6}[smhd]|\d{4}-\d\d-\d\d(T[\d:.]{5,15}(Z|[+-]\d\d:?\d\d)?)?)$/i;

const rules: readonly [ending: RegExp, allows: (text: string) => boolean][] = [
	[
		/_names$|permissions$|^(allow|deny|neutral)$/,
		(text) => knownPermissions.has(text.toUpperCase()) || /^\d{1,20}$/.test(text),
	],
	// Their patterns are those of the beginning of a time.
	[/(^|_)(duration|time)$/, (text) => timeForm.test(text)],
	[/^(job|approval)_id$/, (text) => /^[0-9a-f]{12}$/.test(text)],
	// Some tools take a message as "channel_id/message_id".
	[/(^|_)ids?$/, (text) => /^((\d{17,20}\/)?\d{17,20})?$/.test(text)],
	// Discord's audit log has them, too. A reason has at most 512 characters.
	[/^(name|nickname|reason|topic|emoji)$/, (text) => text.length <= 512],
];

function isHarmless(text: string, schema: JsonSchema | undefined): boolean {
	if (schema?.type !== "string") return false;
	if (Array.isArray(schema.enum)) return schema.enum.includes(text);
	const { pattern } = schema;
	return typeof pattern === "string" && harmless.includes(pattern) && new RegExp(pattern).test(text);
}
