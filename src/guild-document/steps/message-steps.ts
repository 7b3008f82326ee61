// Steps that post, edit and pin messages and forum posts of the bot. Each is found again by its channel and key.

import { ChannelFlags } from "discord.js";
import { secondsOf } from "../../lib/times.ts";
import type { Channel, GuildDocument, Message } from "../format/document.ts";
import { channelsWithCategories } from "../format/references.ts";
import { apiChannels } from "../read/from-api.ts";
import type { FieldChange, KnownMessage } from "../steps.ts";
import type { StepList } from "./step-list.ts";
import { emojiFields, fillPlaceholders, mentionOf, textWith } from "./to-api.ts";
import { describeValue } from "./values.ts";

/** What a message pings, by its field `mentions`. */
export const mentionTypes = {
	none: [],
	users: ["users"],
	roles: ["users", "roles"],
	everyone: ["users", "roles", "everyone"],
} as const;

export function addMessages(list: StepList): void {
	const { wanted, ids } = list;
	const mentions = mentionsIn(list);
	for (const message of list.state.messages ? (wanted.messages ?? []) : []) {
		const placed = place(list, message, mentions);
		const { key, isPost, known, old } = placed;
		const isMade = ids.has(placed.placeholder);
		const isGone = !old && (known !== undefined || isMade);
		const isChanged = old?.posted !== textWith(placed.posted, ids);
		const problem = [
			isPost && message.name === undefined && "a post of a forum needs a name",
			!isPost && message.name !== undefined && "only posts of forums have a name",
			known?.why,
			isGone && isMade && "it was created, and someone has deleted it since",
			isGone &&
				!wanted.repost?.includes(key) &&
				`someone has deleted it, so it is left alone; plan_guild with this plan_hash and changes ${JSON.stringify({ repost: [key] })} posts it again`,
			old && isChanged && message.poll && "Discord cannot change polls; with another key it is posted anew",
		].find(Boolean);
		if (problem) list.refuse(`message ${placed.name}`, problem);
		else if (!old) createMessage(list, placed);
		else if (isChanged) editMessage(list, placed, old);
		if (!problem) pinMessage(list, placed);
	}
}

export function keyOfMessage({ key, name = "" }: Message): string {
	return key ?? name;
}

type Placed = ReturnType<typeof place>;

function place(list: StepList, message: Message, mentions: ReadonlyMap<string, string | undefined>) {
	const { wanted, current, state } = list;
	// `mentions` counts only for a new message, and Discord says what is pinned.
	const { channel: channelId = "", mentions: _, pin: __, ...fields } = message;
	const { content, embeds, role_menu } = fields;
	const key = keyOfMessage(message);
	const places = [wanted, current].flatMap(channelsWithCategories);
	const channel = places.find(({ channel }) => channel.id === channelId)?.channel as Channel | undefined;
	const known = state.messages?.find((one) => one.channelId === channelId && one.key === key);
	const where = list.withPlaceholders(channelId);
	const forum = apiChannels(state).find(({ id }) => id === channelId);
	const shown = { ...fields, ...(content && { content: withMentions(content, mentions) }) };
	/** What is sent, also for an edit. */
	const text = {
		content: shown.content,
		...(embeds && { embeds: embeds.map(withColor) }),
		...(role_menu && { role_menu: menuOf(list, role_menu) }),
	};
	return {
		message,
		key,
		name: `#${list.nameOf(channelId)}/${key}`,
		isPost: channel?.kind === "forum" || channel?.kind === "media",
		placeholder: `+message/${where}/${key}`,
		known,
		old: known?.content === undefined ? undefined : known,
		text,
		// Of a forum that is new or gets new tags: the guild is read again before.
		tags: message.tags?.map(
			(tag) => forum?.available_tags?.find(({ name }) => name === tag)?.id ?? `+tag/${where}/${tag}`,
		),
		/** For comparing, since Discord's copy differs. */
		posted: Object.fromEntries(Object.entries(shown).sort()),
	};
}

function createMessage(list: StepList, { message, key, name, isPost, placeholder, text, tags, posted }: Placed): void {
	const { channel: channelId = "", mentions = "none", poll } = message;
	const pinged = pingsOf(list, text.content ?? "", mentionTypes[mentions]);
	const shown = {
		...(message.name !== key && { name: message.name }),
		content: message.content,
		pinged: pinged.names.join(", "),
		poll:
			poll &&
			`${poll.question}: ${poll.answers.join(", ")}; ${poll.duration ?? "24h"}, ${poll.allow_multiselect ? "several answers" : "one answer"}`,
		role_menu: message.role_menu?.roles.map(list.nameOf).join(", "),
		tags: message.tags?.join(", "),
	};
	const body = {
		...text,
		allowed_mentions: { parse: mentionTypes[mentions] },
		poll: poll && {
			question: { text: poll.question },
			answers: poll.answers.map((text) => ({ poll_media: { text } })),
			duration: secondsOf(poll.duration ?? "24h") / 3600,
			allow_multiselect: poll.allow_multiselect,
		},
	};
	list.add("messages", {
		action: "create",
		kind: isPost ? "post" : "message",
		name,
		placeholder,
		changes: [
			...Object.entries(shown).flatMap(([field, after]) => (after ? { field, after: String(after) } : [])),
			...embedChanges(message),
		],
		guard: { channelId, pingsMany: pinged.isMany },
		path: (idOf) => `/channels/${idOf(channelId)}/${isPost ? "threads" : "messages"}`,
		body: isPost ? { name: message.name, applied_tags: tags, message: body } : body,
		record: { key, text: posted },
	});
}

function editMessage(
	list: StepList,
	{ message, key, name, isPost, text, tags, posted }: Placed,
	old: KnownMessage,
): void {
	const { channel: channelId = "", content: after } = message;
	const { id, content: before } = old;
	const isSame =
		after === undefined || before === Object(fillPlaceholders(text, (one) => list.ids.get(one))).content?.trim();
	const embeds = embedChanges(message, JSON.parse(old.posted));
	const changes = [
		...(isSame ? [] : [{ field: "content", before, after }]),
		...(isSame && embeds.length === 0 ? [{ field: "text", after: "as in the document" }] : embeds),
	];
	const step = { action: "edit", name, targetId: id, changes, guard: { channelId } } as const;
	// An archived post cannot be edited.
	const body = { name: message.name, applied_tags: tags, archived: false };
	if (isPost) list.add("messages", { ...step, kind: "post", path: `/channels/${id}`, body });
	list.add("messages", {
		...step,
		kind: "message",
		path: `/channels/${isPost ? id : channelId}/messages/${id}`,
		body: { ...text, allowed_mentions: { parse: [] } },
		record: { key, text: posted },
	});
}

/** With all their texts, which people approve. */
function embedChanges({ embeds = [] }: Pick<Message, "embeds">, old: Pick<Message, "embeds"> = {}): FieldChange[] {
	const textOf = (embed: unknown) => describeValue(embed, (text) => text);
	const before = (old.embeds ?? []).map(textOf);
	const changes = embeds.map((embed, index) => ({ field: "embed", before: before[index], after: textOf(embed) }));
	return changes.filter((one) => one.before !== one.after);
}

function pinMessage(
	list: StepList,
	{ message: { channel: channelId = "", pin }, name, isPost, placeholder, old }: Placed,
): void {
	if (pin === undefined || pin === (old?.isPinned ?? false)) return;
	const id = old?.id ?? placeholder;
	list.add("messages", {
		action: "edit",
		kind: "pin",
		name,
		// The same step before and after the message is posted.
		targetId: `pin${placeholder}`,
		changes: [{ field: "pinned", after: String(pin) }],
		guard: { channelId },
		needs: [id],
		...(!isPost && { method: pin ? "PUT" : "DELETE" }),
		path: (idOf) => (isPost ? `/channels/${idOf(id)}` : `/channels/${idOf(channelId)}/messages/pins/${idOf(id)}`),
		body: isPost ? { flags: pin ? ChannelFlags.Pinned : 0 } : undefined,
	});
}

function withColor({ color, ...embed }: Record<string, unknown>) {
	return { ...embed, color: typeof color === "string" ? Number.parseInt(color.replace("#", ""), 16) : color };
}

/** Components are made of it when it is sent, in the language of the guild. */
export type SentMenu = ReturnType<typeof menuOf>;

function menuOf({ nameOf }: StepList, { roles, style = "buttons", max, ...menu }: NonNullable<Message["role_menu"]>) {
	const entries = roles.map((roleId, index) => {
		const { emoji_id, emoji_name } = emojiFields(menu.emojis?.[index]);
		const emoji = emoji_id ? { id: emoji_id } : emoji_name ? { name: emoji_name } : undefined;
		const own = menu.labels?.[index];
		return { roleId, label: own || nameOf(roleId).slice(0, 80).toWellFormed(), isNamed: !own, emoji };
	});
	return { style, entries, max: max !== undefined && max < roles.length ? max : undefined, requires: menu.requires };
}

/** By texts such as "@mods", in lower case; those of what the document lists go first. Undefined: several have it. */
function mentionsIn({ wanted, current, nameOf }: StepList): Map<string, string | undefined> {
	const of = (document: GuildDocument) => {
		const found = new Map<string, string | undefined>();
		const add = (mark: "@&" | "#", things: readonly { id?: string | undefined; name: string }[] = []) => {
			for (const { id = "", name } of things)
				for (const one of new Set([name, nameOf(id)].map((name) => `${mark.slice(0, 1)}${name.toLowerCase()}`)))
					found.set(one, found.has(one) ? undefined : mentionOf(mark, id));
		};
		add("@&", document.roles);
		const channels = channelsWithCategories(document).map(({ channel }) => channel);
		add("#", channels);
		return found;
	};
	return new Map([...of(current), ...of(wanted)]);
}

/** Longer names go first; code stays as it is. */
function withMentions(content: string, mentions: ReadonlyMap<string, string | undefined>): string {
	const names = [...mentions.keys()].map((text) => text.replaceAll(/[^\w\s@]/g, "\\$&"));
	names.sort((a, b) => b.length - a.length);
	const pattern = new RegExp(`(\`{1,3})[^]*?\\1|(?<![\\w<@#&/])(?:${names.join("|")})(?![\\w-])`, "gi");
	return content.replaceAll(pattern, (text) => mentions.get(text.toLowerCase()) ?? text);
}

/** `@username` in messages as a mention. `roles`: the guild's; names of roles become mentions later. */
export function withUserMentions(
	document: Record<string, unknown>,
	users: readonly { id: string; username: string }[],
	roles: Iterable<{ name: string }>,
): Record<string, unknown> {
	const text = JSON.stringify(document);
	const used = new Set(text.toLowerCase().match(/@[\w.]*\w/g));
	const mentions = new Map<string, string | undefined>();
	for (const { id, username } of users) if (used.has(`@${username}`)) mentions.set(`@${username}`, `<@${id}>`);
	for (const role of [...roles, ...[document.roles ?? []].flat()])
		mentions.set(`@${Object(role).name}`.toLowerCase(), undefined);
	return JSON.parse(text, (key, value) =>
		key === "content" && typeof value === "string" ? withMentions(value, mentions) : value,
	);
}

/** Names for people. `isMany`: they are pinged only with MENTION_EVERYONE. */
function pingsOf({ wanted, current, nameOf }: StepList, text: string, types: readonly string[]) {
	const found = (type: string, pattern: RegExp) =>
		types.includes(type) ? Array.from(new Set(text.match(pattern))) : [];
	const everyone = found("everyone", /@(?:everyone|here)/g);
	const roles = new Map(
		[current, wanted].flatMap(({ roles = [] }) => roles.map((one) => [mentionOf("@&", one.id ?? ""), one])),
	);
	const pinged = found("roles", /<@&[^>]+>/g).flatMap((mention) => roles.get(mention) ?? []);
	const names = [...everyone, ...pinged.map(({ id = "" }) => `@${nameOf(id)}`), ...found("users", /<@!?\d+>/g)];
	return { names, isMany: everyone.length > 0 || pinged.some(({ mentionable }) => !mentionable) };
}
