// The guilds in a bot's answer to `list_guilds`. Its text is an interface: a count line, then `<name> | ID: <id>` each.

import { isObject, type JsonObject } from "../mcp/json-rpc.ts";

/** Names are shown again in `list_instances`, so they are kept short. */
const maxNameLength = 100;

/** Guild id → name, from a response. Throws where it is an error or holds no text: then nothing is known. */
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
		const guild = readLine(line);
		if (guild && !guilds.has(guild.id)) guilds.set(guild.id, guild.name);
	}
	return guilds;
}

/** At the end of a line an id cannot be forged by a guild's name; elsewhere the last long number is the best guess. */
function readLine(line: string): { id: string; name: string } | undefined {
	// With the flag s, for a name may hold what "." takes for the end of a line.
	const match =
		/^(.*?)\s*\|?\s*ID: (\d+)\s*$/s.exec(line) ??
		/^(.*)\b(\d{17,20})\b(?!.*\b\d{17,20}\b)/s.exec(line);
	const [, name, id] = match ?? [];
	if (name === undefined || id === undefined) return undefined;
	const oneLine = name.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ");
	const shown = oneLine.trim().slice(0, maxNameLength);
	return { id, name: shown || id };
}
