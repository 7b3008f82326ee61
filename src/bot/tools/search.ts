// Searching one channel by reading it page by page, newest first.

import type { APIMessage, Guild } from "discord.js";
import * as v from "valibot";
import { channelName, time } from "../discord/describe.ts";
import { compareIds } from "../discord/ids.ts";
import { toToolError } from "../discord/rest/errors.ts";
import { fold } from "../discord/text.ts";
import { inChannel } from "../messages/message-arguments.ts";
import { hiddenContent } from "../messages/message-content.ts";
import { messageLine, messageTexts } from "../messages/message-lines.ts";
import { fetchPage } from "../messages/message-pages.ts";
import { limit, moment, snowflake, text } from "../tool/arguments.ts";
import { readTool } from "../tool/define.ts";

const pageSize = 100;
/**
 * How long after the start of a tool call another page of messages may be requested, in milliseconds: a request may
 * take 10 s, and a tool call 25 s.
 */
const lastStartMs = 14_000;

export const searchMessages = readTool({
	name: "search_messages",
	toolset: "messages",
	title: "Search messages",
	description:
		"Search one channel, newest first from `before` (or now) back to `after`, for messages that match all filters. Reads 100 per page for about 15 s and says how far it got.",
	permissions: ["ReadMessageHistory"],
	intents: ["MessageContent"],
	input: v.strictObject({
		...inChannel,
		author_id: v.optional(snowflake("author")),
		author_name: v.optional(
			text(1, 100, "Part of the author's name, ignoring case and accents."),
		),
		content: v.optional(
			text(
				1,
				200,
				"Part of the text, an embed or a file name, ignoring case and accents.",
			),
		),
		after: v.optional(moment("Only messages after this")),
		before: v.optional(moment("Only messages before this")),
		limit: limit(1000, 100),
		max_pages: limit(100, 20, "Maximum pages to read."),
	}),
	async run(args, { discord, guild, channel }, { reportProgress }) {
		const { limit, max_pages } = args;
		const after = args.after?.lastBefore;
		const startedAt = performance.now();
		const searched: APIMessage[] = [];
		const matches: APIMessage[] = [];
		let before = args.before?.first;
		let stopped: string | undefined;
		let pages = 0;
		search: for (;;) {
			if (pages === max_pages) stopped = `${pages} page(s) were read`;
			else if (performance.now() - startedAt > lastStartMs)
				stopped = "the time for one call is up";
			if (stopped !== undefined) break;
			let page: APIMessage[];
			try {
				page = await fetchPage(channel, { limit: pageSize, before });
			} catch (error) {
				const refusal = toToolError(error);
				// Return what was found so far along with the refusal.
				if (searched.length === 0 || !refusal) throw error;
				stopped = refusal.message;
				break;
			}
			pages += 1;
			reportProgress(pages, max_pages);
			for (const message of page) {
				if (after !== undefined && compareIds(message.id, after) <= 0)
					break search;
				if (matches.length === limit) {
					stopped = `${limit} matches were found`;
					break search;
				}
				searched.push(message);
				before = message.id;
				if (isMatch(message, args, guild)) matches.push(message);
			}
			if (page.length < pageSize) break;
		}
		const where = channelName(channel);
		const oldest = searched.at(-1);
		if (!oldest) return `There are no messages in this range of ${where}.`;
		const range = `${searched.length} message(s) of ${where}, back to ${time(new Date(oldest.timestamp))}`;
		return [
			matches.length > 0
				? `${matches.length} match(es) among ${range}, newest first, times in UTC:`
				: `No match among ${range}.`,
			...matches.map(messageLine),
			...hiddenContent(discord, searched),
			...(stopped === undefined
				? ["The whole range was searched."]
				: [
						`Older messages were not searched, because ${stopped}`.replace(
							/\.?$/,
							".",
						),
						`next_before=${before}`,
					]),
		];
	},
});

interface Filter {
	author_id?: string | undefined;
	author_name?: string | undefined;
	content?: string | undefined;
}

function isMatch(
	message: APIMessage,
	{ author_id, author_name, content }: Filter,
	guild: Guild,
): boolean {
	const { author } = message;
	if (author_id !== undefined && author.id !== author_id) return false;
	const nickname = guild.members.cache.get(author.id)?.nickname;
	const names = [author.username, author.global_name, nickname];
	return (
		contains(names, author_name) && contains(messageTexts(message), content)
	);
}

function contains(
	texts: readonly (string | null | undefined)[],
	part: string | undefined,
): boolean {
	if (part === undefined) return true;
	const folded = fold(part);
	return texts.some((text) => text && fold(text).includes(folded));
}
