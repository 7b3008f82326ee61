// From entries of Discord's audit log to what has to be set back: for each thing the fields as they were before the first
// change, and as the last change left them. Which keys entries have: https://docs.discord.com/developers/resources/audit-log

import { type APIAuditLogEntry, type APIOverwrite, AuditLogEvent, ChannelType, type Guild } from "discord.js";
import { oneField } from "../../../discord/text.ts";
import { visibleChannel } from "../../../discord/visible-channels.ts";
import type { GuildDocument } from "../../../guild-document/format/document.ts";
import { channelsWithCategories } from "../../../guild-document/format/references.ts";
import { compareIds } from "../../../guild-document/names/ids.ts";
import { isBelowText } from "../../../guild-document/read/from-api.ts";
import type { Restore, RestoredField, RestoreItem } from "../../../guild-document/restore.ts";
import { isSame } from "../../../guild-document/steps/restore-steps.ts";
import type { Refusal, StepKind } from "../../../guild-document/steps.ts";
import { type Change, changesOf, type NameOf } from "./changes.ts";
import { actionOf } from "./lines.ts";

type Fields = Record<string, RestoredField>;
type Items = Map<string, RestoreItem & { fields: Fields }>;

const keysOf = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** The fields that a request can set to the value in the audit log. */
const editable: Partial<Record<StepKind, ReadonlySet<string>>> = {
	settings: keysOf(
		"name description afk_channel_id afk_timeout system_channel_id system_channel_flags rules_channel_id public_updates_channel_id safety_alerts_channel_id preferred_locale premium_progress_bar_enabled verification_level default_message_notifications explicit_content_filter",
	),
	channel: keysOf(
		"name type topic nsfw bitrate user_limit rate_limit_per_user parent_id rtc_region video_quality_mode default_auto_archive_duration default_thread_rate_limit_per_user flags",
	),
	role: keysOf("name permissions color hoist mentionable unicode_emoji"),
	person: keysOf("nick communication_disabled_until"),
	emoji: keysOf("name"),
	webhook: keysOf("name channel_id"),
	event: keysOf("name description scheduled_start_time scheduled_end_time"),
	automod: keysOf("name enabled event_type trigger_metadata actions exempt_roles exempt_channels"),
};
/** Without a meaning for people, or the same as another field. */
const ignored = keysOf("id guild_id managed tags creator_id version");

const kinds: readonly [event: RegExp, kind: StepKind][] = [
	[/^GuildUpdate$/, "settings"],
	[/^Channel(Overwrite)?(Create|Update|Delete)$/, "channel"],
	[/^Role(Create|Update|Delete)$/, "role"],
	[/^MemberRoleUpdate$/, "member"],
	[/^MemberUpdate$|^BotAdd$/, "person"],
	[/^MemberBan(Add|Remove)$/, "ban"],
	[/^InviteCreate$/, "invite"],
	[/^Webhook(Create|Update)$/, "webhook"],
	[/^Emoji(Create|Update)$/, "emoji"],
	[/^AutoModerationRule(Create|Update|Delete)$/, "automod"],
	[/^GuildScheduledEvent(Create|Update)$/, "event"],
];

const lost: Partial<Record<AuditLogEvent, string>> = {
	[AuditLogEvent.MessageDelete]: "deleted messages do not come back",
	[AuditLogEvent.MessageBulkDelete]: "deleted messages do not come back",
	[AuditLogEvent.MemberKick]: "they have to rejoin; invite them",
	[AuditLogEvent.MemberPrune]: "they have to rejoin; the audit log does not say who they are",
	[AuditLogEvent.EmojiDelete]: "its picture is lost, unless a backup has it (plan_guild)",
};

/**
 * `entries`: the newest first. `others`: what other accounts did, the newest first. `callIdOf`: of the bot's call that made an
 * entry. `backup`: of before, for what the audit log does not have.
 */
export function restoreItems(
	entries: readonly APIAuditLogEntry[],
	others: readonly APIAuditLogEntry[],
	guild: Guild,
	nameOf: NameOf,
	callIdOf: (entry: APIAuditLogEntry) => string | undefined,
	backup: GuildDocument | undefined,
): Pick<Restore, "items" | "impossible" | "kept"> {
	const items: Items = new Map();
	const impossible: Refusal[] = [];
	const kept: string[] = [];
	for (const entry of entries) {
		const event = AuditLogEvent[entry.action_type] ?? "";
		const kind = kindOf(event, entry, guild);
		const textOf = (key: string) => {
			const change = changesOf(entry).find((one) => one.key === key);
			return String(change?.new_value ?? change?.old_value ?? "");
		};
		const id = kind === "invite" ? textOf("code") : (entry.target_id ?? "");
		const label = nameOf(id);
		const isThing = kind && !["ban", "person", "member"].includes(kind);
		const thing = guild.roles.cache.get(id) ?? visibleChannel(guild, id) ?? guild.emojis.cache.get(id);
		const plain = (isThing && thing?.name) || textOf("name") || label.replace(/ \(ID: \d+\)$|^ID: /, "");
		const name = kind === "settings" ? kind : isThing ? plain : label.replace("ID: ", "");
		const ids = [entry.id, callIdOf(entry) ?? []].flat();
		if (!kind) {
			const { verb, noun } = actionOf(entry.action_type);
			const ofThread = event.startsWith("Thread") ? noStep("threads") : undefined;
			const reason = lost[entry.action_type] ?? ofThread ?? "there is no way back for this; make it anew by hand";
			impossible.push({ subject: `${verb} ${noun} ${entry.target_id ? name : ""}`.trim(), reason });
			kept.push(...ids);
			continue;
		}
		add(items, { kind, id, name, fields: fieldsOf(event, kind, entry, ids) });
	}
	for (const entry of others) addDecision(items, entry, guild, nameOf);
	if (backup) complete(items, backup, guild);
	return { items: [...items.values()].filter(({ fields }) => isLeft(fields)), impossible, kept };
}

/** With the later changes of the same thing, if it has some. */
function add(items: Items, { kind, id, name, fields }: RestoreItem): void {
	const known = items.get(`${kind} ${id}`) ?? { kind, id, name, fields: {} };
	items.set(`${kind} ${id}`, known);
	for (const [field, values] of Object.entries(fields)) {
		const later = known.fields[field];
		// What others did in between is what has to stay.
		if (!later) known.fields[field] = { ...values };
		else if (isSame(later.before, values.after)) later.before = values.before;
		if (later) later.entries = [...later.entries, ...values.entries];
	}
}

/** Bans and roles that others gave or took later. Of other fields their values show it. */
function addDecision(items: Items, entry: APIAuditLogEntry, guild: Guild, nameOf: NameOf): void {
	const event = AuditLogEvent[entry.action_type] ?? "";
	const kind = kindOf(event, entry, guild);
	const fields = items.get(`${kind} ${entry.target_id}`)?.fields ?? {};
	for (const field of kind ? Object.keys(fieldsOf(event, kind, entry, [])) : []) {
		const own = fields[field];
		if (own && compareIds(entry.id, own.entries[0] ?? "0") > 0) own.since ??= nameOf(entry.user_id ?? "");
	}
}

/** Without what was created and deleted, or changed back. */
function isLeft(fields: Fields): boolean {
	const { exists } = fields;
	if (exists) return exists.before !== exists.after;
	return Object.values(fields).some(({ before, after, impossible }) => impossible || !isSame(before, after));
}

function kindOf(event: string, entry: APIAuditLogEntry, guild: Guild): StepKind | undefined {
	const kind = kinds.find(([pattern]) => pattern.test(event))?.[1];
	if (kind === "role" && entry.target_id === guild.id) return "everyone";
	if (kind !== "channel") return kind;
	const known = visibleChannel(guild, entry.target_id ?? "")?.type;
	const type = event.includes("Overwrite") ? undefined : changesOf(entry).find(({ key }) => key === "type");
	return (known ?? type?.old_value ?? type?.new_value) === ChannelType.GuildCategory ? "category" : "channel";
}

const noStep = (of: string) => `cannot be undone, because there is no step for ${of}`;

function whyImpossible({ key, new_value, old_value }: Change): string | undefined {
	if (key === "position") return noStep("the order of roles and channels");
	if (key !== "colors") return "the audit log does not have the value before";
	const isGradient = [new_value, old_value].some((one) => Object(one).secondary_color || Object(one).tertiary_color);
	return isGradient ? noStep("gradients") : undefined;
}

const overwritesIn = (changes: readonly Change[]): APIOverwrite[] =>
	Object(changes.find(({ key }) => key === "permission_overwrites")).old_value ?? [];

/** `entries`: the ids of the entry and of its call. */
function fieldsOf(event: string, kind: StepKind, entry: APIAuditLogEntry, entries: readonly string[]): Fields {
	const changes = changesOf(entry);
	const fields: Fields = {};
	const set = (field: string, before: unknown = null, after: unknown = null) => {
		fields[field] = { before, after, entries };
	};
	const isNew = /(Create|BotAdd|BanAdd)$/.test(event);
	const isGone = /(Delete|BanRemove)$/.test(event);
	const { id = "", type = "0" } = (entry.options ?? {}) as Record<string, string>;
	for (const part of event.startsWith("ChannelOverwrite") ? ["allow", "deny"] : []) {
		const change = changes.find(({ key }) => key === part);
		const [old, now] = [change?.old_value ?? "0", change?.new_value ?? "0"].map(String);
		if (change || isNew || isGone) set(`${part}:${type}:${id}`, isNew ? null : old, isGone ? null : now);
	}
	if (event.startsWith("ChannelOverwrite")) return fields;
	for (const { key, new_value } of kind === "member" ? changes : [])
		for (const role of Array.isArray(new_value) ? new_value : [])
			set(`role:${Object(role).id}`, key !== "$add", key === "$add");
	if (isNew || isGone) set("exists", isGone, isNew);
	if (isNew || kind === "member") return fields;
	for (const one of isGone ? overwritesIn(changes) : [])
		for (const part of ["allow", "deny"] as const) set(`${part}:${one.type}:${one.id}`, String(one[part]));
	const known = editable[kind === "everyone" ? "role" : kind === "category" ? "channel" : kind];
	for (const change of changes) {
		const { key, old_value, new_value } = change;
		const impossible = ignored.has(key) || isGone ? undefined : whyImpossible(change);
		if (known?.has(key) || (isGone && key === "trigger_type")) set(key, old_value, new_value);
		else if (impossible) fields[key] = { before: null, after: null, entries, impossible };
	}
	return fields;
}

/** Adds who had deleted roles, and the topics, categories and places of deleted channels, which come in their order. */
function complete(items: Items, document: GuildDocument, guild: Guild): void {
	const roles = new Map(document.roles?.map(({ key, name, id = "" }) => [key ?? name, id]));
	const deleted = (kind: StepKind, id = "") => {
		const item = items.get(`${kind} ${id}`);
		return item?.fields.exists?.before === true ? item : undefined;
	};
	for (const { id, roles: keys } of document.members ?? [])
		for (const key of keys) {
			const role = deleted("role", roles.get(key));
			const name = guild.members.cache.get(id)?.user.username;
			const entries = role?.fields.exists?.entries ?? [];
			const fields = { [`role:${role?.id}`]: { before: true, after: false, entries } };
			if (role && name) add(items, { kind: "member", id, name: `@${name} (${id})`, fields });
		}
	for (const { channel, category } of channelsWithCategories(document)) {
		const { id = "", name } = channel;
		const current = visibleChannel(guild, id);
		const parent = deleted("category", category?.id);
		const gone = deleted("channel", id) ?? deleted("category", id);
		const entries = (gone ?? parent)?.fields.exists?.entries ?? [];
		const parent_id = { before: category?.id ?? null, after: null, entries };
		if (gone && "topic" in channel) gone.fields.topic = { before: channel.topic, after: null, entries };
		if (gone) {
			const { channels = [], categories = [] } = document;
			const siblings = category ? (category.channels ?? []) : gone.kind === "category" ? categories : channels;
			const before = positionAmong(siblings, id, Number(gone.fields.type?.before), guild);
			Object.assign(gone.fields, { parent_id, position: { before, after: null, entries } });
			items.delete(`${gone.kind} ${id}`);
			items.set(`${gone.kind} ${id}`, gone);
		} else if (parent && current && !current.isThread() && current.parentId === null)
			add(items, { kind: "channel", id, name, fields: { parent_id } });
	}
}

/**
 * After the nearest one above that is still there: of the same position, the newest channel is the last.
 * https://docs.discord.com/developers/resources/guild#create-guild-channel-json-params
 */
function positionAmong(siblings: readonly { id?: string | undefined }[], own: string, type: ChannelType, guild: Guild) {
	const index = siblings.findIndex(({ id }) => id === own);
	const positions = siblings.map(({ id = "" }) => {
		const channel = visibleChannel(guild, id);
		return channel && !channel.isThread() && isBelowText(channel.type) === isBelowText(type) ? channel.rawPosition : [];
	});
	const [above, below] = [positions.slice(0, index).flat().at(-1), positions.slice(index).flat()[0]];
	return above ?? Math.max(0, (below ?? 0) - 1);
}

/** Who cannot get back their roles before they rejoin. */
export function rolesOfGone(people: ReadonlyMap<string, string>, document: GuildDocument | undefined): string[] {
	return (document?.members ?? []).flatMap(({ id, roles }) => {
		const name = people.get(id);
		return name && roles.length > 0 ? [`${name} had ${roles.map(oneField).join(", ")}`] : [];
	});
}
