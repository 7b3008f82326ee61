// The tools/list that clients see: the bots' tools, with `instance` added to each, and `list_instances`.
// Schemas are passed on as text, so that unknown keywords stay as they are.

import type { JsonObject } from "../../lib/json.ts";
import { isFanOutKey } from "../../mcp/fan-out.ts";
import { findMember, readMembers, rewriteObject } from "../../mcp/json-text.ts";
import { type ListedTool, ownToolName } from "../backends/listed-tools.ts";

const instanceProperty = JSON.stringify({ type: "string", description: "Bot in INSTANCES; else by guild_id." });

const guildsProperty = JSON.stringify({ type: "array", items: { type: "string" } });

export const listInstances = {
	name: ownToolName,
	title: "List instances",
	description: "List the bots: name, online or not, guilds with ids. `instance`, a name, or `guild_id` selects one.",
	inputSchema: { type: "object", additionalProperties: false },
	annotations: { readOnlyHint: true },
};

/** `tools` is undefined until the bot's first response. */
export interface CatalogSource {
	name: string;
	tools: readonly ListedTool[] | undefined;
}

export interface Catalog {
	/** JSON text of the result of `tools/list`. */
	list: string;
	size: number;
	/** By bot name, without bots that have no differences. */
	skew: ReadonlyMap<string, Skew>;
}

/** Names of tools that the bot lacks, and of those that it defines differently. */
interface Skew {
	lacks: string[];
	differs: string[];
}

/** The first bot's definition wins, with the strictest annotations of all; the description names bots that lack it. */
export function buildCatalog(sources: readonly CatalogSource[]): Catalog {
	// Bots of one version have the same list, and often the same object.
	const maps = new Map<readonly ListedTool[], Map<string, ListedTool>>();
	for (const { tools } of sources)
		if (tools && !maps.has(tools)) maps.set(tools, new Map(tools.map((tool) => [tool.name, tool])));
	const known = sources.map(({ name, tools }) => ({ name, byName: tools && maps.get(tools) }));
	const listed = new Map<string, ListedTool>();
	for (const byName of maps.values()) for (const [name, tool] of byName) if (!listed.has(name)) listed.set(name, tool);

	const [first] = maps.values();
	const skew = new Map<string, Skew>();
	const lackedBy = new Map<string, string[]>();
	for (const { name: source, byName } of known) {
		// The tools of a bot that has never responded are unknown.
		if (!byName) continue;
		// It has every listed tool, and its own definitions are used.
		if (byName === first && byName.size === listed.size) continue;
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

	const tools = [...listed.values()].map(({ name, text, guilds }) => {
		const without = lackedBy.get(name);
		const others = [...maps.values()].flatMap((tools) => {
			const other = tools.get(name)?.text;
			return other === undefined || other === text ? [] : other;
		});
		const strict = withStrictestHints(text, others);
		const own = without ? withLack(strict, without) : strict;
		return withProperties(own, { ...(guilds && { guild_ids: guildsProperty }), instance: instanceProperty });
	});
	return { list: `{"tools":[${[...tools, JSON.stringify(listInstances)].join(",")}]}`, size: tools.length + 1, skew };
}

/** Also the value of a missing hint: https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations */
const cautious = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true };

/** Unless all definitions agree: a client may run a call unasked because of a hint, on any of the bots. */
function withStrictestHints(tool: string, others: readonly string[]): string {
	const hintsOf = (text: string) => {
		const { annotations } = JSON.parse(text) as JsonObject;
		return { ...cautious, ...(annotations as object) };
	};
	if (others.length === 0) return tool;
	const own = hintsOf(tool);
	const all = others.map(hintsOf);
	const names = Object.keys(cautious) as (keyof typeof cautious)[];
	const changed = names.filter(
		(name) => own[name] !== cautious[name] && all.some((hints) => hints[name] === cautious[name]),
	);
	if (changed.length === 0) return tool;
	return setMember(tool, "annotations", (annotations = "{}") =>
		changed.reduce((text, name) => setMember(text, name, () => String(cautious[name])), annotations),
	);
}

function withLack(tool: string, instances: readonly string[]): string {
	const { description } = JSON.parse(tool) as JsonObject;
	const own = typeof description === "string" ? `${description} ` : "";
	const text = `${own}(Not available on: ${instances.join(", ")}.)`;
	return setMember(tool, "description", () => JSON.stringify(text));
}

/** Also without what only the gateway reads in `_meta`. */
function withProperties(tool: string, added: Record<string, string>): string {
	const changed = setMember(tool, "inputSchema", (schema) =>
		setMember(schema ?? '{"type":"object"}', "properties", (properties) =>
			Object.entries(added).reduce(
				(text, [name, property]) => setMember(text, name, () => property),
				properties ?? "{}",
			),
		),
	);
	const members = readMembers(changed);
	const meta = findMember(members, "_meta");
	const marks = meta && changed.startsWith("{", meta.start) ? readMembers(changed, meta.start) : [];
	if (!marks.some(({ key }) => isFanOutKey(key))) return changed;
	const rest = rewriteObject(changed, marks, isFanOutKey);
	return rewriteObject(changed, members, (key) => key === "_meta", rest === "{}" ? [] : [`"_meta":${rest}`]);
}

function setMember(object: string, key: string, change: (value: string | undefined) => string): string {
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
