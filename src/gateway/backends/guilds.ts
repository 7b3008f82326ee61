// The guilds in a bot's `list_guilds`, whose text the gateway relies on: a count line, then `<name> | ID: <id>` lines.

import { isObject, type JsonObject } from "../../lib/json.ts";
import { onOneLine } from "../../lib/text.ts";
import { textOf } from "../../mcp/tool.ts";

const maxNameLength = 100;

/** Discord allows 2,500 in a shard: https://discord.com/developers/docs/events/gateway#sharding */
const maxGuilds = 10_000;

const maxTailLength = 1_000;

/** Id → name, at most 10,000. Throws if the response is an error or has no content. */
export function readGuilds(message: JsonObject): Map<string, string> {
	const { result } = message;
	if (!isObject(result) || !Array.isArray(result.content))
		throw new Error(`the bot answered list_guilds with an unexpected result: ${JSON.stringify(message)}`);
	const text = textOf(result);
	if (result.isError === true) throw new Error(text);
	const guilds = new Map<string, string>();
	for (const line of text.split(/\r?\n/)) {
		if (guilds.size === maxGuilds) break;
		const guild = readLine(line);
		if (guild && !guilds.has(guild.id)) guilds.set(guild.id, guild.name);
	}
	return guilds;
}

/** In quotes if it contains separators such as a comma. */
export function shownGuildName(name: string): string {
	const isPlain = !/[,;()|"]/.test(name.normalize("NFKC"));
	return isPlain ? name : JSON.stringify(name);
}

function readLine(line: string): { id: string; name: string } | undefined {
	const tail = line.slice(-maxTailLength);
	const match = /ID: (\d+)\s*$/.exec(tail) ?? [...tail.matchAll(/\b(\d{17,20})\b/g)].at(-1);
	const id = match?.[1];
	if (!match || id === undefined) return undefined;
	const before = line.slice(0, line.length - tail.length + match.index);
	return { id, name: safeGuildName(id, before.trim().replace(/\|$/, "")) };
}

/** On one line, at most 100 characters; the id if the name is empty. */
export function safeGuildName(id: string, name: string): string {
	return onOneLine(name, maxTailLength).trim().slice(0, maxNameLength) || id;
}
