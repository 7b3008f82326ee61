// Guilds: the communities that the bot is in.

import * as v from "valibot";
import { tool } from "../context.ts";
import { oneLine } from "../text.ts";

export const listGuilds = tool({
	name: "list_guilds",
	toolset: "core",
	title: "List guilds",
	description:
		"List the guilds (Discord servers) that the bot is in: a count line, then one line per guild with its name and id.",
	effect: "read",
	input: v.strictObject({}),
	run(_, { discord, mayTouch }) {
		const guilds = [...discord.guilds.cache.values()].filter(({ id }) =>
			mayTouch(id),
		);
		// The gateway reads the id at the end of a line: nothing may follow it.
		return [
			`${guilds.length} guild(s):`,
			...guilds.map(({ name, id }) => `${oneLine(name)} | ID: ${id}`),
		];
	},
});
