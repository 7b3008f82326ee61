// The tools in a bot's tools/list, without those that clients refuse: official clients validate the whole list at once.
// - Claude, names: https://github.com/modelcontextprotocol/modelcontextprotocol/issues/1063
//   and names of arguments: https://github.com/freee/freee-mcp/issues/15
// - the TypeScript SDK (ToolSchema in src/types.ts of 1.29) and the Python SDK (Tool in mcp/types.py), the members
// https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool

import * as v from "valibot";
import { isObject, type JsonObject } from "../../lib/json.ts";
import { LruMap } from "../../lib/lru-map.ts";
import { listFirst, onOneLine, shownName } from "../../lib/text.ts";
import { type FanOut, readFanOut } from "../../mcp/fan-out.ts";
import { findMember, readElements, readMembers } from "../../mcp/json-text.ts";

/** The gateway's only own tool. A bot's tool of this name is dropped. */
export const ownToolName = "list_instances";

/** Further tools are only counted. */
export const maxNames = 40;

export interface ListedTool extends FanOut {
	name: string;
	/** JSON text, exactly as the bot sent it. */
	text: string;
	/** By `readOnlyHint`: the tool changes nothing. */
	readOnly: boolean;
}

/** Left out of the gateway's tools/list. */
export interface DroppedTool {
	/** Escaped and truncated, for logs and clients. */
	name: string;
	reason: string;
}

/** `dropped`: clients would refuse them. */
export interface OfferedTools {
	tools: readonly ListedTool[];
	dropped: readonly DroppedTool[];
}

const anyObject = v.custom<JsonObject>(isObject, "expected an object");
const object = <Entries extends v.ObjectEntries>(entries: Entries) => v.pipe(anyObject, v.looseObject(entries));
const text = v.optional(v.string());
const flag = v.optional(v.boolean());
const texts = v.optional(v.array(v.string()));
const oneOf = (...words: string[]) => v.optional(v.picklist(words));

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
	object({ type: v.literal("object"), properties: v.optional(objects(name)), required: texts, $schema: text });

const listedTool = object({
	name: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,64}$/, 'expected 1 to 64 letters, digits, "_" and "-"')),
	title: text,
	description: text,
	inputSchema: schema(argumentName),
	outputSchema: v.optional(schema(anyName)),
	annotations: v.optional(
		object({ title: text, readOnlyHint: flag, destructiveHint: flag, idempotentHint: flag, openWorldHint: flag }),
	),
	icons: v.optional(v.array(object({ src: v.string(), mimeType: text, sizes: texts, theme: oneOf("light", "dark") }))),
	execution: v.optional(object({ taskSupport: oneOf("forbidden", "optional", "required") })),
	_meta: v.optional(object({})),
});

/** Of one bot. Further tools are dropped, and those that are not listed count as well: each is parsed and named. */
export const maxTools = 500;

/** At most one more than `maxTools`; those that clients would refuse are `dropped`. */
export function readTools(text: string): OfferedTools {
	const tools: ListedTool[] = [];
	const dropped: DroppedTool[] = [];
	for (const [index, element] of toolTexts(text).entries()) {
		const read = readListedTool(element);
		if ("issue" in read) {
			const { name, issue } = read;
			dropped.push({ name: typeof name === "string" ? shownName(name) : `tool ${index + 1}`, reason: issue });
		} else if (read.name === ownToolName)
			dropped.push({ name: read.name, reason: "the gateway has a tool of this name" });
		else tools.push({ ...read, text: element });
	}
	return { tools, dropped };
}

const plainStart = /^\{"jsonrpc":"2\.0","id":\d{1,15},"result":/;

/** Remembers the last lists, since bots of one version send the same bytes. Equal lists give the same object. */
export class ToolsReader {
	readonly #known: LruMap<string, OfferedTools>;

	/** `maxLists` different lists are remembered. */
	constructor(maxLists: number) {
		this.#known = new LruMap(maxLists);
	}

	read(text: string): OfferedTools {
		const start = plainStart.exec(text)?.[0];
		return start === undefined
			? readTools(text)
			: this.#known.getOrMake(text.slice(start.length), () => readTools(text));
	}
}

function toolTexts(text: string): string[] {
	const result = findMember(readMembers(text), "result");
	if (!result || text[result.start] !== "{") return [];
	const tools = findMember(readMembers(text, result.start), "tools");
	if (!tools || text[tools.start] !== "[") return [];
	return readElements(text, tools.start, maxTools + 1).map(({ start, end }) => text.slice(start, end));
}

/** `issue`: why MCP clients would refuse the tool. */
function readListedTool(json: string): Omit<ListedTool, "text"> | { name: unknown; issue: string } {
	const value: unknown = JSON.parse(json);
	const name = isObject(value) ? value.name : undefined;
	const { success, output, issues } = v.safeParse(listedTool, value, { abortEarly: true });
	if (!success) return { name, issue: describeIssue(issues[0]) };
	const readOnly = output.annotations?.readOnlyHint === true;
	const { everywhere, ...fanOut } = readFanOut(output._meta);
	return { name: output.name, readOnly, ...fanOut, ...(readOnly && everywhere && { everywhere }) };
}

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

/** Empty if there are none. */
export function describeDropped(dropped: readonly DroppedTool[]): string {
	return listFirst(
		dropped.map(({ name, reason }) => `${name} (${reason})`),
		maxNames,
	);
}
