// Which of a bot's tools can be listed. Official clients validate the whole list at once, so a single tool that they
// refuse would hide the tools of all bots. What they refuse is checked here:
// - Claude, names: https://github.com/modelcontextprotocol/modelcontextprotocol/issues/1063
//   and names of arguments: https://github.com/freee/freee-mcp/issues/15
// - the TypeScript SDK (ToolSchema in src/types.ts of 1.29) and the Python SDK (Tool in mcp/types.py), the members
// - parsers of other languages: numbers beyond a double, lone surrogates, deep nesting, repeated keys
// https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool

import * as v from "valibot";
import { onOneLine } from "../../lib/text.ts";
import { isObject, type JsonObject } from "../../mcp/json-rpc.ts";
import { readMembers } from "../../mcp/json-text.ts";

/**
 * Maximum nesting depth of the JSON of a tool that a bot lists. Some JSON parsers of MCP clients refuse more than 128
 * levels, and the rest of the tools/list response needs some levels, too.
 */
const maxDepth = 64;

const anyObject = v.custom<JsonObject>(isObject, "expected an object");
const object = <Entries extends v.ObjectEntries>(entries: Entries) =>
	v.pipe(anyObject, v.looseObject(entries));
const text = v.optional(v.string());
const flag = v.optional(v.boolean());
const texts = v.optional(v.array(v.string()));
const oneOf = (...words: string[]) => v.optional(v.picklist(words));

/**
 * Returns a Valibot schema for an object whose keys match `name` and whose values are objects. Unlike v.record, it also
 * checks the keys "constructor", "prototype" and "__proto__".
 */
const objects = (name: RegExp) =>
	v.pipe(
		anyObject,
		v.rawCheck<JsonObject>(({ dataset, addIssue }) => {
			if (!dataset.typed) return;
			const { value: input } = dataset;
			for (const [key, value] of Object.entries(input)) {
				const message = !name.test(key)
					? 'expected 1 to 64 letters, digits, "_", "." and "-"'
					: isObject(value)
						? undefined
						: "expected an object";
				if (!message) continue;
				const path = { type: "object", origin: "value", input, key, value };
				return addIssue({ message, path: [path as v.ObjectPathItem] });
			}
		}),
	);

const anyName = /^/;
const argumentName = /^[A-Za-z0-9_.-]{1,64}$/;

const schema = (name: RegExp) =>
	object({
		type: v.literal("object"),
		properties: v.optional(objects(name)),
		required: texts,
		$schema: text,
	});

const listedTool = object({
	name: v.pipe(
		v.string(),
		v.regex(
			/^[A-Za-z0-9_-]{1,64}$/,
			'expected 1 to 64 letters, digits, "_" and "-"',
		),
	),
	title: text,
	description: text,
	inputSchema: schema(argumentName),
	outputSchema: v.optional(schema(anyName)),
	annotations: v.optional(
		object({
			title: text,
			readOnlyHint: flag,
			destructiveHint: flag,
			idempotentHint: flag,
			openWorldHint: flag,
		}),
	),
	icons: v.optional(
		v.array(
			object({
				src: v.string(),
				mimeType: text,
				sizes: texts,
				theme: oneOf("light", "dark"),
			}),
		),
	),
	execution: v.optional(
		object({ taskSupport: oneOf("forbidden", "optional", "required") }),
	),
	_meta: v.optional(object({})),
});

/**
 * Reads the name and `readOnlyHint` from a tool's JSON text. If MCP clients would refuse the tool, returns the reason
 * as `issue`.
 */
export function readListedTool(
	json: string,
): { name: string; readOnly: boolean } | { name: unknown; issue: string } {
	const value: unknown = JSON.parse(json);
	const name = isObject(value) ? value.name : undefined;
	const options = { abortEarly: true };
	const { success, output, issues } = v.safeParse(listedTool, value, options);
	if (!success) return { name, issue: describeIssue(issues[0]) };
	if (repeatsKey(json)) return { name, issue: "has a duplicate key" };
	const issue = valueIssue(value, maxDepth);
	if (issue) return { name, issue };
	const readOnly = output.annotations?.readOnlyHint === true;
	return { name: output.name, readOnly };
}

/**
 * Describes why a tool's definition is invalid. Quotes nothing that the bot sent except the name of the invalid
 * property.
 */
function describeIssue(issue: v.BaseIssue<unknown>): string {
	const text =
		issue.received === "undefined"
			? "is missing"
			: issue.kind === "schema" && issue.type !== "custom"
				? `expected ${issue.expected}`
				: issue.message;
	const path = v.getDotPath(issue);
	return path ? `${onOneLine(path, 100)}: ${text}` : text;
}

/**
 * Whether the JSON text of a tool has a duplicate key in the tool itself or in an object directly in it. Deeper objects
 * are not checked.
 */
function repeatsKey(json: string, isTool = true): boolean {
	const members = readMembers(json);
	if (new Set(members.map(({ key }) => key)).size < members.length) return true;
	const values = members.map(({ start, end }) => json.slice(start, end));
	const repeats = (text: string) => text[0] === "{" && repeatsKey(text, false);
	return isTool && values.some(repeats);
}

/**
 * Returns the reason why some JSON parsers would refuse `value` or a value nested in it; undefined if there is no such
 * reason.
 */
function valueIssue(value: unknown, depthLeft: number): string | undefined {
	if (typeof value === "string" && !value.isWellFormed())
		return "has a lone surrogate";
	if (typeof value === "number" && !Number.isFinite(value))
		return "has a number that exceeds a double";
	if (typeof value !== "object" || value === null) return undefined;
	if (depthLeft === 0) return `is nested deeper than ${maxDepth}`;
	for (const [key, member] of Object.entries(value)) {
		const issue = valueIssue(key, 0) ?? valueIssue(member, depthLeft - 1);
		if (issue) return issue;
	}
	return undefined;
}
