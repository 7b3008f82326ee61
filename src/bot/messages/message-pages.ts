// Pages of messages in a guild channel or a DM channel.

import { type APIMessage, makeURLSearchParams, Routes } from "discord.js";
import * as v from "valibot";
import { resultLines } from "../../discord/text.ts";
import { compareIds } from "../../guild-document/names/ids.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { snowflake } from "../tool/arguments/arguments.ts";
import type { MessageChannel } from "./message-arguments.ts";
import { hiddenContent } from "./message-content.ts";
import { messageLine } from "./message-lines.ts";

/** At most one of them. */
export const pageArguments = {
	before: v.optional(snowflake("message to read before")),
	after: v.optional(snowflake("message to read after")),
	around: v.optional(snowflake("message to read around")),
};

type PageArguments = { limit: number } & {
	[Cursor in keyof typeof pageArguments]?: string | undefined;
};

/** Newest first. */
export async function fetchPage(
	{ id, client }: Pick<MessageChannel, "id" | "client">,
	{ limit, ...cursors }: PageArguments,
): Promise<APIMessage[]> {
	const query = makeURLSearchParams({ limit, ...cursors });
	const messages = (await client.rest.get(Routes.channelMessages(id), { query })) as APIMessage[];
	return messages.toSorted((a, b) => compareIds(b.id, a.id));
}

/** The last line has the cursor of the next page. `channelLabel` names the channel. */
export async function readPage(
	channel: MessageChannel,
	channelLabel: string,
	{ limit, before, after, around }: PageArguments,
): Promise<string[]> {
	const cursors = { before, after, around };
	const given = Object.entries(cursors).filter(([, id]) => id !== undefined);
	if (given.length > 1) throw invalidParameters(["before, after, around: expected at most one of these"]);
	const messages = await fetchPage(channel, { limit, ...cursors });
	const [newest] = messages;
	const oldest = messages.at(-1);
	const part = given.map(([name, id]) => ` ${name} ${id}`).join("");
	if (!newest || !oldest) return [`There are no messages${part} in ${channelLabel}.`];
	const isFull = messages.length === limit;
	const isAround = around !== undefined;
	return resultLines(
		`${messages.length} message(s)${part} in ${channelLabel}, newest first, times in UTC:`,
		messages.map(messageLine),
		hiddenContent(channel.client, messages),
		(isAround || (isFull && !after)) && `next_before=${oldest.id}`,
		(isAround || (isFull && after)) && `next_after=${newest.id}`,
	);
}
