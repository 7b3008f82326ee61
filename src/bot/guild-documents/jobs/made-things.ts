// Finds what a request created whose response was lost: by the mark in its reason in Discord's audit log, or by its name.
// For messages and forum posts also what is sent.

import {
	type APIMessage,
	type APIThreadChannel,
	AuditLogEvent,
	type Guild,
	MessageFlags,
	MessageType,
	makeURLSearchParams,
	Routes,
	SnowflakeUtil,
} from "discord.js";
import { readAuditLog } from "../../../discord/audit-log.ts";
import { menuComponents } from "../../../discord/role-menu.ts";
import { jobReasonStart } from "../../../discord/text.ts";
import { compareIds, earliestAfter, mayBeAfter } from "../../../guild-document/names/ids.ts";
import { thingsOf } from "../../../guild-document/read/from-api.ts";
import type { SentMenu } from "../../../guild-document/steps/message-steps.ts";
import type { ApiRequest, GuildState, StepKind } from "../../../guild-document/steps.ts";
import { sayIn } from "../../../texts/texts.ts";

const createActions: Partial<Record<StepKind, AuditLogEvent>> = {
	role: AuditLogEvent.RoleCreate,
	category: AuditLogEvent.ChannelCreate,
	channel: AuditLogEvent.ChannelCreate,
	emoji: AuditLogEvent.EmojiCreate,
	webhook: AuditLogEvent.WebhookCreate,
	automod: AuditLogEvent.AutoModerationRuleCreate,
	event: AuditLogEvent.GuildScheduledEventCreate,
};

/** `mark` identifies the request within the job. */
export function markedReason(jobId: string, mark: string, reason: string): string {
	return `${jobReasonStart}${jobId} ${mark}: ${reason}`;
}

/** In the audit log since the snowflake `afterId`. Finds nothing if the bot may not read it. */
export async function readCreations(guild: Guild, kind: StepKind, afterId: string) {
	const action = createActions[kind];
	const entries = action === undefined ? [] : await readAuditLog(guild, action, afterId);
	const self = guild.client.user.id;
	return {
		/** The id of what the request with this `mark` created; undefined without an entry. */
		madeBy: (jobId: string, mark: string) =>
			entries.find(({ user_id, reason }) => user_id === self && reason?.startsWith(markedReason(jobId, mark, "")))
				?.target_id ?? undefined,
		/** If `madeBy` found nothing before, someone else or another request of this bot created it. */
		isOther: (id: string) => entries.some(({ target_id }) => target_id === id),
	};
}

const createdKinds = Object.keys(createActions) as StepKind[];

/** The highest snowflake of a guild and its things. */
export function newestId(state: GuildState): string {
	const last = state.channels.map((channel) => String(Object(channel).last_message_id ?? "0"));
	return createdKinds
		.flatMap((kind) => thingsOf(state, kind) ?? [])
		.map(({ id }) => id)
		.concat(last)
		.reduce((newest, id) => (compareIds(id, newest) > 0 ? id : newest), state.guild.id);
}

/** A guess (channel-names): Discord changes case and spaces in the names of text channels. */
export const comparable = (name: string) => name.toLowerCase().replaceAll(/[\s_-]+/g, "-");

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
