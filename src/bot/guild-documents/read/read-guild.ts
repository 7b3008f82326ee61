// Reads a guild from Discord for a guild document. Everything but the members comes fresh over REST, not from the cache.

import {
	type APIAutoModerationRule,
	type APIBan,
	type APIGuild,
	type APIGuildMember,
	type APIGuildOnboarding,
	type APIGuildScheduledEvent,
	type APIGuildWelcomeScreen,
	type APIMessage,
	type APIThreadChannel,
	type APIWebhook,
	ChannelFlags,
	ChannelType,
	DiscordAPIError,
	type Guild,
	GuildFeature,
	makeURLSearchParams,
	RESTJSONErrorCodes,
	Routes,
	WebhookType,
} from "discord.js";
import { absentIf, type MemberState, requireKnownMembers } from "../../../discord/find.ts";
import { roleIds } from "../../../discord/members/member-filter.ts";
import { fetchGuildChannels, isObfuscated } from "../../../discord/obfuscation.ts";
import { bitsIn, describeBits, missingPermissions, type Permission } from "../../../discord/permissions.ts";
import { emojiPicture, guildIcon, type PictureReference, roleIcon } from "../../../discord/rest/pictures.ts";
import type { Part } from "../../../guild-document/format/document.ts";
import type { Restore } from "../../../guild-document/restore.ts";
import type { BotSettings, GuildState, KnownMessage, StepKind } from "../../../guild-document/steps.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import type { GuildMessageRow } from "../../store/tables/guild-jobs.ts";
import { StoreUnavailable } from "../../store/unavailable.ts";

export interface PictureHashes {
	/** By emoji id or by Discord's hash of the icon. */
	hashes: ReadonlyMap<string, string>;
	/** Why some could not be loaded, for people; without those that the CDN does not have. */
	missing?: string | undefined;
}

export interface ReadOptions {
	/** Whether the cache holds all members, without which `members` cannot be read. */
	connection: MemberState;
	/** Undefined: the state has no hashes, and pictures are not compared. */
	pictures?: { hashesOf(references: readonly PictureReference[]): Promise<PictureHashes> } | undefined;
	/** What documents have posted. Undefined: not known. */
	messages?: ((guildId: string) => Promise<readonly GuildMessageRow[]>) | undefined;
	/** Undefined: the bot has none. */
	ownSettings?: OwnSettings | undefined;
}

/** The bot's own settings of its guilds. Both reject with StoreUnavailable. */
export interface OwnSettings {
	/** Checks what the acting person may set, if there is one. */
	read(guild: Guild): Promise<BotSettings>;
	/** At once; null: to the default. `by`: id of the person who asked for it. Why not, if they may not or the bot cannot. */
	change(guild: Guild, wanted: BotSettings["stored"], by: string | undefined): Promise<string | undefined>;
}

/** A part that could not be read, and why, for people. */
export interface Unreadable {
	part: Part;
	why: string;
}

export interface ReadGuild {
	state: GuildState;
	/** Undefined in `state`; if pictures failed, only their hashes are missing there. */
	unreadable: readonly Unreadable[];
}

const maxBansPerRequest = 1_000;
const maxBanPages = 1_000;

/**
 * Always reads the guild, roles, emoji and channels. Without Community, welcome screen and onboarding are undefined.
 * ToolError for `members` before the cache holds all.
 */
export async function readGuildState(
	guild: Guild,
	parts: readonly Part[],
	{ connection, pictures, messages, ownSettings }: ReadOptions,
): Promise<ReadGuild> {
	const { rest } = guild.client;
	const unreadable: Unreadable[] = [];
	const get = async <T>(path: `/${string}`) => (await rest.get(path)) as T;

	async function readPart<T>(
		part: Part,
		needed: readonly Permission[],
		read: () => Promise<T>,
	): Promise<T | undefined> {
		if (!parts.includes(part)) return undefined;
		const missing = missingPermissions(guild, undefined, bitsIn(undefined, needed));
		if (missing !== 0n) {
			unreadable.push({ part, why: `the bot lacks ${describeBits(missing)}` });
			return undefined;
		}
		try {
			return await read();
		} catch (error) {
			const isStore = part === "bot" && error instanceof StoreUnavailable;
			if (!isStore && !(error instanceof DiscordAPIError && error.status === 403)) throw error;
			unreadable.push({ part, why: isStore ? error.message : "Discord does not let the bot read it" });
			return undefined;
		}
	}

	const readMembers = () => {
		if (!parts.includes("members")) return undefined;
		requireKnownMembers(guild, connection);
		return [...guild.members.cache.values()].map((member) => ({
			id: member.id,
			roles: member[roleIds].filter((role) => guild.roles.cache.has(role)),
		}));
	};
	// Before the requests, and again when it is read: the connection may be lost meanwhile.
	readMembers();
	const current = await get<APIGuild>(Routes.guild(guild.id));
	const isCommunity = current.features.includes(GuildFeature.Community);
	const references = picturesOf(current, parts);
	const screenIsOn = current.features.includes(GuildFeature.WelcomeScreenEnabled);
	const [channels, automod, events, webhooks, welcomeScreen, onboarding, bans, found] = await Promise.all([
		fetchGuildChannels(guild),
		readPart("automod", ["ManageGuild"], () => get<APIAutoModerationRule[]>(Routes.guildAutoModerationRules(guild.id))),
		readPart("events", [], () => get<APIGuildScheduledEvent[]>(Routes.guildScheduledEvents(guild.id))),
		readPart("webhooks", ["ManageWebhooks"], async () =>
			withoutSecrets(await get<APIWebhook[]>(Routes.guildWebhooks(guild.id))),
		),
		isCommunity
			? readPart("welcome_screen", screenIsOn ? [] : ["ManageGuild"], () => readWelcomeScreen(guild))
			: undefined,
		isCommunity
			? readPart("onboarding", [], () => get<APIGuildOnboarding>(Routes.guildOnboarding(guild.id)))
			: undefined,
		readPart("bans", ["BanMembers"], () => readBans(guild)),
		references.length > 0 ? pictures?.hashesOf(references) : undefined,
	]);
	if (found?.missing !== undefined)
		unreadable.push({ part: parts.includes("emojis") ? "emojis" : "settings", why: found.missing });
	const bot = await readPart("bot", [], async () => ownSettings?.read(guild));
	const posted = parts.includes("messages") ? await messages?.(guild.id) : undefined;
	const state = {
		messages: posted && (await readMessages(guild, posted, channels)),
		guild: current,
		channels,
		automod,
		events,
		webhooks,
		welcomeScreen,
		onboarding,
		bot,
		bans,
		members: readMembers(),
		pictures: found?.hashes ?? new Map(),
	};
	return { state, unreadable };
}

/** Who and which invites of a restore there are. */
export async function readRestored(
	{ client: { rest }, id }: Guild,
	{ items, actors }: Restore,
): Promise<Pick<GuildState, "people" | "invites">> {
	const idsOf = (...kinds: StepKind[]) => items.filter(({ kind }) => kinds.includes(kind)).map(({ id }) => id);
	const { UnknownMember, UnknownUser, UnknownInvite } = RESTJSONErrorCodes;
	const people = [...new Set([...idsOf("person", "member"), ...actors])].map(async (user) => {
		const member = await absentIf([UnknownMember, UnknownUser], () => rest.get(Routes.guildMember(id, user)));
		return [user, member as APIGuildMember | undefined] as const;
	});
	const invites = idsOf("invite").map(async (code) =>
		(await absentIf([UnknownInvite], () => rest.get(Routes.invite(code)))) ? [code] : [],
	);
	return { people: new Map(await Promise.all(people)), invites: new Set((await Promise.all(invites)).flat()) };
}

/** Channels that the bot cannot see, of which an export has only ids, kinds and places. */
export function unseenIn({ channels }: GuildState): Unreadable[] {
	const ids = channels.filter(isObfuscated).map(({ id }) => id);
	const why = `the bot cannot see ${ids.length} of its channels, and knows only their kind and place (IDs: ${ids.join(", ")})`;
	return ids.length > 0 ? [{ part: "channels", why }] : [];
}

/** Only incoming webhooks, without tokens and URLs, with which anyone could post messages. */
function withoutSecrets(webhooks: readonly APIWebhook[]): APIWebhook[] {
	return webhooks
		.filter(({ type }) => type === WebhookType.Incoming)
		.map(({ token: _, url: __, ...webhook }) => webhook);
}

async function readWelcomeScreen({ client, id }: Guild): Promise<APIGuildWelcomeScreen> {
	const { UnknownGuildWelcomeScreen } = RESTJSONErrorCodes;
	const screen = await absentIf([UnknownGuildWelcomeScreen], () => client.rest.get(Routes.guildWelcomeScreen(id)));
	const empty = { description: null, welcome_channels: [] };
	return (screen as APIGuildWelcomeScreen | undefined) ?? empty;
}

/** Without those of deleted channels. */
async function readMessages({ client }: Guild, rows: readonly GuildMessageRow[], channels: GuildState["channels"]) {
	const { UnknownChannel, UnknownMessage } = RESTJSONErrorCodes;
	const get = (path: `/${string}`) => absentIf([UnknownChannel, UnknownMessage], () => client.rest.get(path));
	const read = async ({
		channel_id,
		key,
		message_id: id,
		content: posted,
	}: GuildMessageRow): Promise<KnownMessage[]> => {
		const type = channels.find((one) => one.id === channel_id)?.type;
		const known = { channelId: channel_id, key, id, posted, content: undefined, isPinned: false };
		const isPost = type === ChannelType.GuildForum || type === ChannelType.GuildMedia;
		if (type === undefined) return [];
		try {
			const message = (await get(Routes.channelMessage(isPost ? id : channel_id, id))) as APIMessage | undefined;
			if (!message) return [known];
			const thread = isPost ? ((await get(Routes.channel(id))) as APIThreadChannel | undefined) : undefined;
			const isPinned = thread ? ((thread.flags ?? 0) & ChannelFlags.Pinned) !== 0 : message.pinned;
			const why = message.author.id === client.user.id ? undefined : "it is not a message of this bot";
			return [{ ...known, content: message.content, isPinned, why }];
		} catch (error) {
			if (!(error instanceof DiscordAPIError) || error.status !== 403) throw error;
			return [{ ...known, why: "the bot may not read the messages of its channel" }];
		}
	};
	return (await Promise.all(rows.map(read))).flat();
}

async function readBans({ client, id }: Guild): Promise<APIBan[]> {
	const bans: APIBan[] = [];
	for (let pages = 0; pages < maxBanPages; pages += 1) {
		const after = bans.at(-1)?.user.id;
		const query = makeURLSearchParams({ limit: maxBansPerRequest, after });
		const page = (await client.rest.get(Routes.guildBans(id), { query })) as APIBan[];
		bans.push(...page);
		if (page.length < maxBansPerRequest) return bans;
	}
	throw new ToolError(
		`The guild ${id} has more than ${maxBansPerRequest * maxBanPages} bans, more than the bot exports to a guild document. To export the guild without its bans, leave "bans" out of the list in the argument "parts".`,
	);
}

function picturesOf({ id, icon, roles, emojis }: APIGuild, parts: readonly Part[]): PictureReference[] {
	const references: PictureReference[] = [];
	if (parts.includes("settings") && icon) references.push(guildIcon(id, icon));
	if (parts.includes("roles"))
		for (const { id: roleId, icon } of roles) if (icon) references.push(roleIcon(roleId, icon));
	if (parts.includes("emojis"))
		for (const { id, animated = false } of emojis) if (id) references.push(emojiPicture(id, animated));
	return references;
}
