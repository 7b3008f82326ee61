// A page of the messages in a channel, of a guild or direct, as lines of a result.

import { type APIMessage, Routes } from "discord.js";
import * as v from "valibot";
import { invalidParameters } from "../../mcp/tool.ts";
import { compareIds } from "../discord/ids.ts";
import { snowflake } from "../tool/arguments.ts";
import { hiddenContent } from "./content.ts";
import type { Place } from "./message-form.ts";
import { messageLine } from "./message-lines.ts";

/** Where a page begins or ends: at most one of the three. */
export const pageBorders = {
	before: v.optional(snowflake("message to read back from")),
	after: v.optional(snowflake("message to read on from")),
	around: v.optional(snowflake("message to read around")),
};

interface Page {
	limit: number;
	before?: string | undefined;
	after?: string | undefined;
	around?: string | undefined;
}

/** The messages of a page, newest first. */
export async function fetchPage(
	{ id, client }: Place,
	{ limit, ...borders }: Page,
): Promise<APIMessage[]> {
	const query = new URLSearchParams({ limit: String(limit) });
	for (const [name, border] of Object.entries(borders))
		if (border !== undefined) query.set(name, border);
	const path = Routes.channelMessages(id);
	const messages = (await client.rest.get(path, { query })) as APIMessage[];
	return messages.toSorted((a, b) => compareIds(b.id, a.id));
}

/** The same as lines, and how to go on. `where` is what the channel is called. */
export async function readPage(
	place: Place,
	where: string,
	{ limit, before, after, around }: Page,
): Promise<string[]> {
	const borders = { before, after, around };
	const given = Object.entries(borders).filter(([, id]) => id !== undefined);
	if (given.length > 1)
		throw invalidParameters([
			"before, after, around: expected at most one of these",
		]);
	const messages = await fetchPage(place, { limit, ...borders });
	const [newest] = messages;
	const oldest = messages.at(-1);
	const part = given.map(([name, id]) => ` ${name} ${id}`).join("");
	if (!newest || !oldest) return [`There are no messages${part} in ${where}.`];
	const full = messages.length === limit;
	return [
		`${messages.length} message(s)${part} in ${where}, newest first, times in UTC:`,
		...messages.map(messageLine),
		...hiddenContent(place.client, messages),
		...(around !== undefined || (full && after === undefined)
			? [`next_before=${oldest.id}`]
			: []),
		...(around !== undefined || (full && after !== undefined)
			? [`next_after=${newest.id}`]
			: []),
	];
}
