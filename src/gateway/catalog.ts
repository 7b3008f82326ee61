// The tools/list that clients see: the bots' tools, with `instance` added to each, and `list_instances`.
// Schemas are passed on as text, so that unknown keywords stay as they are.

import { shownName } from "../lib/text.ts";
import type { JsonObject } from "../mcp/json-rpc.ts";
import { findMember, readElements, readMembers } from "../mcp/json-text.ts";
import { readListedTool } from "./listed-tool.ts";

const instanceProperty = JSON.stringify({
	type: "string",
	description:
		"Bot instance to route to, a key of INSTANCES (see list_instances); by guild_id when omitted.",
});

/** The one tool that the gateway itself offers. */
export const listInstances = {
	name: "list_instances",
	title: "List instances",
	description:
		"List every bot instance behind this gateway: its name, whether it is online, and the guilds it serves. Use a name as `instance`, or a guild's id as `guild_id`, in any other tool.",
	inputSchema: { type: "object", additionalProperties: false },
	annotations: { readOnlyHint: true },
};

/** A tool in a bot's `tools/list`. */
export interface ListedTool {
	name: string;
	/** The JSON text of the tool as the bot wrote it. */
	text: string;
	/** Whether the bot gives it `readOnlyHint`. */
	readOnly: boolean;
}

/** A tool that a bot lists and the gateway does not, and why. */
export interface DroppedTool {
	/** The name of the tool, escaped and cut, for logs and clients. */
	name: string;
	reason: string;
}

/** A bot's tools, apart from those that clients would refuse. */
export interface OfferedTools {
	tools: readonly ListedTool[];
	dropped: readonly DroppedTool[];
}

/** A bot and its last known tools; undefined until its first response. */
export interface CatalogSource {
	name: string;
	tools: readonly ListedTool[] | undefined;
}

export interface Catalog {
	/** The result of `tools/list`, as JSON text. */
	list: string;
	names: ReadonlySet<string>;
	/** Differences between a bot's tools and the list, by the name of the bot. Bots without differences are absent. */
	skew: ReadonlyMap<string, Skew>;
}

/** The names of the listed tools that a bot lacks, and of those that it defines differently. */
export interface Skew {
	lacks: string[];
	differs: string[];
}

/**
 * The tools of all bots, merged. Where bots differ, the first bot's definition is listed, with the bots that lack the tool
 * named in its description.
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

/** The first `max` tools in a response to `tools/list`. Tools that clients would refuse are dropped, with the reason. */
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

/** The JSON text of each of the first `max` tools in a response to `tools/list`. */
function toolTexts(text: string, max: number): string[] {
	const result = findMember(readMembers(text), "result");
	if (!result || text[result.start] !== "{") return [];
	const tools = findMember(readMembers(text, result.start), "tools");
	if (!tools || text[tools.start] !== "[") return [];
	return readElements(text, tools.start, max).map(({ start, end }) =>
		text.slice(start, end),
	);
}

/** A tool's JSON text with the names of the instances that lack it added to its description. */
function withLack(tool: string, instances: readonly string[]): string {
	const { description } = JSON.parse(tool) as JsonObject;
	const own = typeof description === "string" ? `${description} ` : "";
	const text = `${own}(Not available on: ${instances.join(", ")}.)`;
	return setMember(tool, "description", () => JSON.stringify(text));
}

/** A tool's JSON text with `instance` added to the properties of its input schema. */
function withInstance(tool: string): string {
	return setMember(tool, "inputSchema", (schema) =>
		setMember(schema ?? '{"type":"object"}', "properties", (properties) =>
			setMember(properties ?? "{}", "instance", () => instanceProperty),
		),
	);
}

/** An object's JSON text with the member `key` replaced or added. `change` receives the old value if that is an object. */
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
