// Messages and forum posts of jobs: what is sent for them, and finding one whose response was lost.

import {
	type APIMessage,
	type APIThreadChannel,
	type Guild,
	MessageFlags,
	makeURLSearchParams,
	Routes,
} from "discord.js";
import { mayBeAfter } from "../../../discord/ids.ts";
import { menuComponents } from "../../../discord/role-menu.ts";
import type { SentMenu } from "../../../guild-document/steps/message-steps.ts";
import type { ApiRequest } from "../../../guild-document/steps.ts";
import { sayIn } from "../../../texts/texts.ts";

interface MessageBody extends Partial<Pick<APIMessage, "content" | "poll">> {
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

/** The id of what the request has created since the snowflake `afterId`, by what it says. `known`: ids of others. */
export async function findMessage(
	guild: Guild,
	{ path, body }: ApiRequest,
	afterId: string,
	known: ReadonlySet<string>,
): Promise<string | undefined> {
	const { rest, user } = guild.client;
	const [, , channelId = "", kind] = path.split("/");
	const { name = "", content = "", poll } = withMenu(body as MessageBody, guild, true);
	const query = makeURLSearchParams({ limit: 100 });
	const isNew = ({ id }: { id: string }) => !known.has(id) && mayBeAfter(id, afterId);
	if (kind === "messages") {
		const messages = (await rest.get(Routes.channelMessages(channelId), { query })) as APIMessage[];
		const own = messages.filter((one) => one.author.id === user.id && one.content === content.trim() && isNew(one));
		return own.findLast((one) => one.poll?.question.text === poll?.question.text?.trim())?.id;
	}
	const { threads } = (await rest.get(Routes.guildActiveThreads(guild.id))) as { threads: APIThreadChannel[] };
	const own = threads.filter((one) => one.owner_id === user.id && one.name === name.trim() && isNew(one));
	return own.find((one) => one.parent_id === channelId)?.id;
}
