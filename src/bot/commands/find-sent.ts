// Finds a message that the bot may have sent: the response to its request was lost, or the bot was killed before.

import type { APIMessage, Client } from "discord.js";
import { lowestIdAt } from "../../guild-document/names/ids.ts";
import { fetchPage } from "../messages/message-pages.ts";

/** How far Discord's clock may be behind. */
const clockSkewMs = 60_000;
const maxPages = 20;

/** Of the bot's messages in the channel since then (epoch milliseconds). */
export async function findSent(
	client: Client<true>,
	channelId: string,
	sinceMs: number,
	isThis: (message: APIMessage) => boolean,
): Promise<APIMessage | undefined> {
	let after = String(lowestIdAt(sinceMs - clockSkewMs));
	for (let pages = 0; pages < maxPages; pages += 1) {
		const page = await fetchPage({ id: channelId, client }, { limit: 100, after });
		const found = page.find((one) => one.author.id === client.user.id && isThis(one));
		if (found || page.length < 100) return found;
		after = page[0]?.id ?? after;
	}
	return undefined;
}
