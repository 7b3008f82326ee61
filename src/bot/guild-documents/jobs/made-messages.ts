// Messages and forum posts of jobs: what is sent for them, and finding one whose response was lost.

import {
	type APIMessage,
	type APIThreadChannel,
	type Guild,
	MessageFlags,
	MessageType,
	makeURLSearchParams,
	Routes,
	SnowflakeUtil,
} from "discord.js";
import { earliestAfter, mayBeAfter } from "../../../discord/ids.ts";
import { menuComponents } from "../../../discord/role-menu.ts";
import { compareIds } from "../../../guild-document/names/ids.ts";
import type { SentMenu } from "../../../guild-document/steps/message-steps.ts";
import type { ApiRequest } from "../../../guild-document/steps.ts";
import { sayIn } from "../../../texts/texts.ts";

interface MessageBody extends Partial<Pick<APIMessage, "content" | "embeds" | "components" | "poll">> {
	role_menu?: SentMenu;
	/** Of a post, with its name. */
	message?: MessageBody;
	name?: string;
}

/** With the components of a role menu and, for a new message, the nonce by which Discord creates it only once. */
export function messageBody({ method, path, body, record }: ApiRequest, guild: Guild, nonce: string): unknown {
	if (!record) return body;
	const sent = withMenu(body as MessageBody, guild, method === "POST");
	return path.endsWith("/messages") ? { ...sent, nonce } : sent;
}

function withMenu({ role_menu: menu, message, ...body }: MessageBody, guild: Guild, isNew: boolean): MessageBody {
	if (message) return { ...body, message: withMenu(message, guild, isNew) };
	if (!menu) return body;
	const { style, entries, ...rules } = menu;
	const say = sayIn(guild.preferredLocale);
	const fresh = isNew && { content: say("menu.content"), flags: MessageFlags.SuppressEmbeds };
	return Object.assign({ ...fresh, ...body }, { components: menuComponents(style, entries, rules, say) });
}

/** What a message says, for comparing: Discord trims texts, and adds embeds for links. */
function textOf({ content = "", embeds = [], poll, components = [] }: MessageBody): string {
	const own = embeds.filter(({ type = "rich" }) => type === "rich");
	const texts = own.flatMap(({ title, description, fields = [] }) => [
		[title, description],
		...fields.map(({ name, value }) => [name, value]),
	]);
	const buttons = JSON.stringify(components).match(/"custom_id":"[^"]*"/g);
	return JSON.stringify([content, poll?.question.text, ...texts.flat(), ...(buttons ?? [])].map((one) => one?.trim()));
}

const pageSize = 100;
const maxPages = 20;

/**
 * The id of what the request has created since the snowflake `afterId`, by what it says. `known`: ids of others. "unknown"
 * if there is too much to search, or something that may be it.
 */
export async function findMessage(
	guild: Guild,
	{ path, body }: ApiRequest,
	afterId: string,
	known: ReadonlySet<string>,
): Promise<string | "unknown" | undefined> {
	const [, , channelId = "", kind] = path.split("/");
	const wanted = withMenu(body as MessageBody, guild, true);
	const isNew = ({ id }: { id: string }) => !known.has(id) && mayBeAfter(id, afterId);
	return kind === "threads"
		? findPost(guild, channelId, wanted.name?.trim(), afterId, isNew)
		: findText(guild, channelId, wanted, afterId, isNew);
}

type IsNew = (one: { id: string }) => boolean;

async function findText({ client }: Guild, channelId: string, wanted: MessageBody, afterId: string, isNew: IsNew) {
	let after = earliestAfter(afterId);
	for (let pages = 0; pages < maxPages; pages += 1) {
		const query = makeURLSearchParams({ limit: pageSize, after });
		const messages = (await client.rest.get(Routes.channelMessages(channelId), { query })) as APIMessage[];
		// A message about a pin is the bot's, too, and says nothing.
		const own = messages.filter(
			(one) => one.type === MessageType.Default && one.author.id === client.user.id && isNew(one),
		);
		const found = own.findLast((one) => textOf(one) === textOf(wanted));
		if (found) return found.id;
		if (own.some(({ content }) => content === (wanted.content ?? "").trim())) return "unknown";
		if (messages.length < pageSize) return undefined;
		after = messages.reduce((newest, { id }) => (compareIds(id, newest) > 0 ? id : newest), after);
	}
	return "unknown";
}

async function findPost({ client, id }: Guild, forumId: string, name = "", afterId: string, isNew: IsNew) {
	const isOwn = (one: APIThreadChannel) =>
		one.owner_id === client.user.id && one.parent_id === forumId && one.name === name && isNew(one);
	const read = async (path: `/${string}`, before?: string) => {
		const query = before && makeURLSearchParams({ limit: pageSize, before });
		return (await client.rest.get(path, query ? { query } : {})) as { threads: APIThreadChannel[]; has_more?: boolean };
	};
	let { threads, has_more } = await read(Routes.guildActiveThreads(id));
	let archivedAt: string | undefined;
	for (let pages = 0; pages < maxPages; pages += 1) {
		const found = threads.find(isOwn);
		if (found) return found.id;
		// The latest archived is first, and none is archived before it is made.
		if (
			pages > 0 &&
			(!has_more || !archivedAt || Date.parse(archivedAt) < SnowflakeUtil.timestampFrom(earliestAfter(afterId)))
		)
			return undefined;
		({ threads, has_more } = await read(Routes.channelThreads(forumId, "public"), archivedAt));
		archivedAt = threads.at(-1)?.thread_metadata?.archive_timestamp;
	}
	return "unknown";
}
