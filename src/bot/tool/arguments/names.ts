// Names in place of ids in the arguments of tool calls: "@username", "@Role", "#channel", and mentions. They become ids
// before anything else reads the call, so that approval, audit log and locks see ids only.

import type { Guild } from "discord.js";
import { guildName } from "../../../discord/describe.ts";
import type { MemberState } from "../../../discord/find.ts";
import { oneLine } from "../../../discord/text.ts";
import { isObject, type JsonObject } from "../../../lib/json.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import type { JsonSchema } from "../../../mcp/json-schema.ts";
import {
	describeNamed,
	membersNamed,
	type Name,
	type Named,
	type NamedKind,
	thingsNamed,
	thingsNamedLike,
} from "./find-by-name.ts";

// By the end of the argument's name.
const kinds: readonly [path: RegExp, kind: NamedKind][] = [
	[/(^|_)user_ids?$|^moderator_id$|^mentions$|^(members|bans)\.id$|(^|\.)overwrites\.member$/, "user"],
	[/(^|_)role_ids?$/, "role"],
	[/(^|_)channel_ids?$/, "channel"],
	[/^category_id$/, "category"],
	[/^thread_id$/, "thread"],
	[/^target_ids?$|^permission_overwrites\.id$/, "user or role"],
];

const idPattern = "\\d{17,20}";
const mention = /^<(?:@[!&]?|#)(\d{17,20})>$/;
const maxCandidates = 10;
const maxNames = 100;
const maxProblems = 10;

function kindOf({ pattern }: JsonSchema, path: string) {
	return String(pattern).includes(idPattern) ? kinds.find(([end]) => end.test(path))?.[1] : undefined;
}

/** The JSON Schema of arguments, with names where ids of users, roles and channels are expected. */
export function allowNames(schema: JsonSchema, path = ""): JsonSchema {
	const { properties, items, pattern } = schema;
	if (properties) {
		const changed = Object.entries(properties).map(([key, one]) => [key, allowNames(one, within(path, key))]);
		return { ...schema, properties: Object.fromEntries(changed) };
	}
	if (items) return { ...schema, items: allowNames(items as JsonSchema, path) };
	if (!kindOf(schema, path)) return schema;
	return { ...schema, pattern: String(pattern).replace(idPattern, `([@#<].+|${idPattern})`) };
}

export function namesIn(schema: JsonSchema, args: JsonObject): Name[] {
	const names: Name[] = [];
	mapNames(schema, args, (name) => {
		names.push(name);
		return name.text;
	});
	return names;
}

/** Throws a ToolError for more names than one call may have. Mentions need no look-up. */
export function requireFewNames(names: readonly Name[]): void {
	const { length } = names.filter(({ text }) => !mention.test(text));
	if (length > maxNames)
		throw new ToolError(`${length} names in one call: at most ${maxNames}. Give ids. Nothing was done.`);
}

interface NamedCall {
	schema: JsonSchema;
	args: JsonObject;
	/** Those in `args`. */
	names: readonly Name[];
	/** The tool changes nothing. */
	reads: boolean;
}

/** `args` with ids instead of names. Throws a ToolError for unknown and ambiguous ones. */
export async function replaceNames(
	{ schema, args, names, reads }: NamedCall,
	guild: Guild,
	connection: MemberState,
): Promise<JsonObject> {
	const members = await membersNamed(guild, names, connection);
	const problems = new Map<string, () => string>();
	const replaced = mapNames(schema, args, (name, path) => {
		const id = mention.exec(name.text)?.[1];
		if (id !== undefined) return id;
		const { only, all } = thingsNamed(guild, name, members, reads);
		if (only) return only.id;
		problems.set(`${path}: ${name.text}`, () => `${path}: ${problemOf(guild, name, all)}`);
		return name.text;
	});
	if (problems.size === 0) return replaced as JsonObject;
	const lines = [...problems.values()].slice(0, maxProblems).map((describe) => describe());
	const more = problems.size - lines.length;
	if (more > 0) lines.push(`and ${more} more unknown names`);
	throw new ToolError([...lines, "Nothing was done."].join("\n"));
}

function problemOf(guild: Guild, name: Name, found: readonly Named[]): string {
	const shown = oneLine(JSON.stringify(name.text));
	const candidates = found.length > 0 ? found.slice(0, maxCandidates) : thingsNamedLike(guild, name, maxCandidates);
	const list = candidates.map(describeNamed).join("; ");
	if (found.length > 1) return `${found.length} have the name ${shown}. Give an id: ${list}.`;
	if (found.length === 1) return `${shown} is a display name, but a change needs a username. Give an id: ${list}.`;
	const hint = name.kind === "user" ? " Give the id of someone who is not a member." : "";
	return `${guildName(guild)} has no ${name.kind} ${shown}.${hint}${list && ` Similar: ${list}.`}`;
}

/** Replaces each name, at any depth. */
function mapNames(
	schema: JsonSchema | undefined,
	value: unknown,
	replace: (name: Name, path: string) => string,
	path = "",
): unknown {
	if (!schema) return value;
	if (Array.isArray(value))
		return value.map((item) => mapNames((schema.items ?? schema) as JsonSchema, item, replace, path));
	const { properties } = schema as { properties?: Record<string, JsonSchema> };
	if (properties && isObject(value))
		return Object.fromEntries(
			Object.entries(value).map(([key, one]) => {
				const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
				return [key, mapNames(property, one, replace, within(path, key))];
			}),
		);
	if (typeof value !== "string" || value === "" || /^\d{17,20}$/.test(value)) return value;
	// A list may be given as its only item.
	const kind = kindOf((schema.items ?? schema) as JsonSchema, path);
	return kind && (/^[@#]./s.test(value) || mention.test(value)) ? replace({ kind, text: value }, path) : value;
}

function within(path: string, key: string): string {
	return path === "" ? key : `${path}.${key}`;
}
