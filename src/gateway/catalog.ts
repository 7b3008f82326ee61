// The tools/list that clients see: one bot's tools, `instance` added to each, and `list_instances`.
// Schemas are passed on as text: what we do not know in them stays as it is.

import { isObject } from "../mcp/json-rpc.ts";
import { findMember, readElements, readMembers } from "../mcp/json-text.ts";

const instanceProperty = JSON.stringify({
	type: "string",
	description:
		"Name of the bot instance to route this call to, a key of the gateway's INSTANCES; list_instances shows them. When omitted, the call is routed by guild_id.",
});

/** The one tool of the gateway's own. */
export const listInstances = {
	name: "list_instances",
	title: "List instances",
	description:
		"List every bot instance behind this gateway: its name, whether it is online, and the guilds it serves. Use a name as `instance`, or a guild's id as `guild_id`, in any other tool.",
	inputSchema: { type: "object", additionalProperties: false },
	annotations: {
		title: "List instances",
		readOnlyHint: true,
		destructiveHint: false,
		idempotentHint: true,
		openWorldHint: true,
	},
};

/** The result of `tools/list`, as JSON text, from a backend's tools, each as JSON text. */
export function buildCatalog(tools: readonly string[]): string {
	const listed = [...tools.map(withInstance), JSON.stringify(listInstances)];
	return `{"tools":[${listed.join(",")}]}`;
}

/**
 * The tools in a backend's answer to `tools/list`, each as JSON text. What is no tool is left out, and so is a
 * `list_instances`: that name is ours.
 */
export function readTools(text: string): string[] {
	const result = findMember(readMembers(text), "result");
	if (!result || text[result.start] !== "{") return [];
	const tools = findMember(readMembers(text, result.start), "tools");
	if (!tools || text[tools.start] !== "[") return [];
	return readElements(text, tools.start)
		.map(({ start, end }) => text.slice(start, end))
		.filter((element) => {
			const tool: unknown = JSON.parse(element);
			return (
				isObject(tool) &&
				typeof tool.name === "string" &&
				tool.name !== listInstances.name
			);
		});
}

/** A tool's text with `instance` among the properties of its input schema. */
function withInstance(tool: string): string {
	return setMember(tool, "inputSchema", (schema) =>
		setMember(schema ?? '{"type":"object"}', "properties", (properties) =>
			setMember(properties ?? "{}", "instance", () => instanceProperty),
		),
	);
}

/** An object's text with one member changed, or added at its end; `change` is given the member's value if that is an object. */
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
