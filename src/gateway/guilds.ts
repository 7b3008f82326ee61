// The guilds in a bot's answer to `list_guilds`. Its text is an interface: a count line, then `<name> | ID: <id>` each.

import { onOneLine } from "../lib/text.ts";
import { isObject, type JsonObject } from "../mcp/json-rpc.ts";

/** `list_instances` shows the names: longer ones are cut. */
const maxNameLength = 100;

/** More are ignored. Discord allows at most 2,500 in a shard: https://discord.com/developers/docs/events/gateway#sharding */
const maxGuilds = 10_000;

/** Only the end of a line is parsed: a bot that is not ours may write lines of any length. */
const maxTailLength = 1_000;

/** Guild id → name, of the first 10,000 in a response. Throws if it is an error or has no content. */
export function readGuilds(message: JsonObject): Map<string, string> {
	const { result } = message;
	if (!isObject(result) || !Array.isArray(result.content))
		throw new Error(`list_guilds was answered ${JSON.stringify(message)}`);
	const texts = result.content
		.filter(isObject)
		.map(({ text }) => text)
		.filter((text) => typeof text === "string");
	if (result.isError === true) throw new Error(texts.join("\n"));
	const guilds = new Map<string, string>();
	for (const line of texts.join("\n").split(/\r?\n/)) {
		if (guilds.size === maxGuilds) break;
		const guild = readLine(line);
		if (guild && !guilds.has(guild.id)) guilds.set(guild.id, guild.name);
	}
	return guilds;
}

/** An id at the end of a line cannot be forged by a guild's name. Without one, the last long number is a guess. */
function readLine(line: string): { id: string; name: string } | undefined {
	const tail = line.slice(-maxTailLength);
	const match =
		/ID: (\d+)\s*$/.exec(tail) ?? [...tail.matchAll(/\b(\d{17,20})\b/g)].at(-1);
	const id = match?.[1];
	if (!match || id === undefined) return undefined;
	const before = line.slice(0, line.length - tail.length + match.index);
	const name = onOneLine(before, maxTailLength)
		.trim()
		.replace(/\|$/, "")
		.trim();
	return { id, name: name.slice(0, maxNameLength) || id };
}
