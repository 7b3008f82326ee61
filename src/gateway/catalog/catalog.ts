// The tools/list that clients see: the bots' tools, with `instance` added to each, and `list_instances`.
// Schemas are passed on as text, so that unknown keywords stay as they are.

import { shownName } from "../../lib/text.ts";
import type { JsonObject } from "../../mcp/json-rpc.ts";
import { findMember, readElements, readMembers } from "../../mcp/json-text.ts";
import { readListedTool } from "../backends/listed-tools.ts";

const instanceProperty = JSON.stringify({
	type: "string",
	description: "Bot to route to (key of INSTANCES); if omitted, give guild_id.",
});

/** Definition of `list_instances`, the only tool that the gateway itself offers. */
export const listInstances = {
	name: "list_instances",
	title: "List instances",
	description:
		"List the bots: name, online or not, guilds with ids. Each call needs `instance`, a name, or `guild_id`.",
	inputSchema: { type: "object", additionalProperties: false },
	annotations: { readOnlyHint: true },
};

/** A tool as a bot lists it in its response to `tools/list`. */
export interface ListedTool {
	name: string;
	/** The tool's definition as JSON text, exactly as the bot sent it. */
	text: string;
	/** Whether the bot marks the tool with `readOnlyHint`: the tool changes nothing. */
	readOnly: boolean;
}

/** A tool that a bot lists but the gateway leaves out of its own tools/list, with the reason. */
export interface DroppedTool {
	/** Name of the tool, escaped and truncated, for logs and clients. */
	name: string;
	reason: string;
}

/**
 * The tools in a bot's tools/list: those that the gateway passes on to clients, and those that it drops because
 * clients would refuse them.
 */
export interface OfferedTools {
	tools: readonly ListedTool[];
	dropped: readonly DroppedTool[];
}

/**
 * Input of the merged tools/list: a bot and its last known tools. `tools` is undefined until the bot's first
 * response.
 */
export interface CatalogSource {
	name: string;
	tools: readonly ListedTool[] | undefined;
}

export interface Catalog {
	/** JSON text of the gateway's result of `tools/list`. */
	list: string;
	names: ReadonlySet<string>;
	/**
	 * For each bot name: how the bot's tools differ from the tools that the gateway lists. Bots without differences are
	 * absent.
	 */
	skew: ReadonlyMap<string, Skew>;
}

/**
 * How a bot's tools differ from the tools that the gateway lists: names of tools that the bot lacks, and of tools
 * that it defines differently.
 */
export interface Skew {
	lacks: string[];
	differs: string[];
}

/**
 * Merges the tools of all bots into one tools/list. Where bots define a tool differently, the first bot's definition
 * is used. The description of a tool names the bots that lack it.
 */
export function buildCatalog(sources: readonly CatalogSource[]): Catalog {
	const known = sources.map(({ name, tools }) => ({
		name,
		byName: tools && new Map(tools.map((tool) => [tool.name, tool])),
	}));
	const listed = new Map<string, ListedTool>();
	for (const { byName } of known)
		for (const [name, tool] of byName ?? [])
			if (!listed.has(name)) listed.set(name, tool);

	const skew = new Map<string, Skew>();
	const lackedBy = new Map<string, string[]>();
	for (const { name: source, byName } of known) {
		// The tools of a bot that has never responded are unknown.
		if (!byName) continue;
		const lacks: string[] = [];
		const differs: string[] = [];
		for (const [name, { text }] of listed) {
			const own = byName.get(name);
			if (own && own.text !== text) differs.push(name);
			if (own) continue;
			lacks.push(name);
			lackedBy.set(name, [...(lackedBy.get(name) ?? []), source]);
		}
		if (lacks.length + differs.length > 0) skew.set(source, { lacks, differs });
	}

	const tools = [...listed.values()].map(({ name, text }) => {
		const without = lackedBy.get(name);
		return withInstance(without ? withLack(text, without) : text);
	});
	return {
		list: `{"tools":[${[...tools, JSON.stringify(listInstances)].join(",")}]}`,
		names: new Set([...listed.keys(), listInstances.name]),
		skew,
	};
}

/**
 * Reads the first `max` tools from a bot's response to `tools/list`. Returns tools that MCP clients would refuse as
 * `dropped`, each with the reason.
 */
export function readTools(text: string, max: number): OfferedTools {
	const tools: ListedTool[] = [];
	const dropped: DroppedTool[] = [];
	for (const [index, element] of toolTexts(text, max).entries()) {
		const read = readListedTool(element);
		if ("issue" in read) {
			const { name, issue } = read;
			dropped.push({
				name: typeof name === "string" ? shownName(name) : `tool ${index + 1}`,
				reason: issue,
			});
		} else if (read.name === listInstances.name)
			dropped.push({
				name: read.name,
				reason: "the gateway has a tool of this name",
			});
		else tools.push({ ...read, text: element });
	}
	return { tools, dropped };
}

/** Returns the JSON text of each of the first `max` tools in a response to `tools/list`. */
function toolTexts(text: string, max: number): string[] {
	const result = findMember(readMembers(text), "result");
	if (!result || text[result.start] !== "{") return [];
	const tools = findMember(readMembers(text, result.start), "tools");
	if (!tools || text[tools.start] !== "[") return [];
	return readElements(text, tools.start, max).map(({ start, end }) =>
		text.slice(start, end),
	);
}

/** Extends the description in a tool's JSON text by a note. The note names the bots that lack the tool. */
function withLack(tool: string, instances: readonly string[]): string {
	const { description } = JSON.parse(tool) as JsonObject;
	const own = typeof description === "string" ? `${description} ` : "";
	const text = `${own}(Not available on: ${instances.join(", ")}.)`;
	return setMember(tool, "description", () => JSON.stringify(text));
}

/** Adds the argument `instance`, which selects a bot, to the input schema in a tool's JSON text. */
function withInstance(tool: string): string {
	return setMember(tool, "inputSchema", (schema) =>
		setMember(schema ?? '{"type":"object"}', "properties", (properties) =>
			setMember(properties ?? "{}", "instance", () => instanceProperty),
		),
	);
}

/**
 * Replaces or adds the member `key` in the JSON text of an object. `change` gets the old value as JSON text (undefined
 * if it is absent or not an object) and returns the new value.
 */
function setMember(
	object: string,
	key: string,
	change: (value: string | undefined) => string,
): string {
	const members = readMembers(object);
	const member = findMember(members, key);
	if (!member) {
		const end = object.lastIndexOf("}");
		const comma = members.length > 0 ? "," : "";
		return `${object.slice(0, end)}${comma}"${key}":${change(undefined)}}`;
	}
	const value = object.slice(member.start, member.end);
	const changed = change(value.startsWith("{") ? value : undefined);
	return object.slice(0, member.start) + changed + object.slice(member.end);
}
