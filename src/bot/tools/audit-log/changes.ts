// The changes of an audit log entry in words: "slow mode 0 → 10 s", "+BAN_MEMBERS". Numbers that stand for words are shown
// as words, and objects by the fields that changed.
// https://docs.discord.com/developers/resources/audit-log#audit-log-change-object

import {
	type APIAuditLogEntry,
	AuditLogEvent,
	AutoModerationRuleEventType,
	AutoModerationRuleTriggerType,
	ChannelFlags,
	ChannelType,
	ForumLayoutType,
	GuildDefaultMessageNotifications,
	GuildExplicitContentFilter,
	GuildMemberFlags,
	GuildMFALevel,
	GuildNSFWLevel,
	GuildPremiumTier,
	GuildScheduledEventEntityType,
	GuildScheduledEventStatus,
	GuildSystemChannelFlags,
	GuildVerificationLevel,
	SortOrderType,
	VideoQualityMode,
} from "discord.js";
import { time } from "../../../discord/describe.ts";
import { officialName, permissionNames } from "../../../discord/permissions.ts";
import { lengthOf, oneField, truncate } from "../../../discord/text.ts";
import { isObject } from "../../../lib/json.ts";
import { listFirst } from "../../../lib/text.ts";

/** With the id, of a user, role and so on. */
export type NameOf = (id: string) => string;

export interface Change {
	key: string;
	old_value?: unknown;
	new_value?: unknown;
}

interface Context {
	action: AuditLogEvent;
	nameOf: NameOf;
	isWhole: boolean;
}

const maxChanges = 12;
const maxValueLength = 80;
const maxListed = 8;

/** Of no interest, or shown elsewhere. */
const unshown = new Set([
	"id",
	"guild_id",
	"application_id",
	"source_guild_id",
	"privacy_level",
	"position",
	"managed",
	"tags",
	"format_type",
	"asset",
	"available",
	"creator_id",
	"inviter_id",
	"uses",
	"version",
	"unicode_emoji",
	"sku_ids",
]);

const labels: Readonly<Record<string, string>> = {
	rate_limit_per_user: "slow mode",
	default_thread_rate_limit_per_user: "slow mode of threads",
	nsfw: "age-restricted",
	parent_id: "category",
	communication_disabled_until: "timeout until",
	nick: "nickname",
	mute: "server mute",
	deaf: "server deafen",
	hoist: "shown separately",
	auto_archive_duration: "auto-archive after",
	default_auto_archive_duration: "auto-archive after",
	max_age: "expires after",
	premium_progress_bar_enabled: "boost progress bar",
	rtc_region: "voice region",
};

const secondsIn = new Map([
	["rate_limit_per_user", 1],
	["default_thread_rate_limit_per_user", 1],
	["afk_timeout", 1],
	["max_age", 1],
	["duration_seconds", 1],
	["auto_archive_duration", 60],
	["default_auto_archive_duration", 60],
]);

type Enum = Readonly<Record<number | string, unknown>>;

const enums: Readonly<Record<string, Enum>> = {
	verification_level: GuildVerificationLevel,
	default_message_notifications: GuildDefaultMessageNotifications,
	explicit_content_filter: GuildExplicitContentFilter,
	mfa_level: GuildMFALevel,
	nsfw_level: GuildNSFWLevel,
	premium_tier: GuildPremiumTier,
	video_quality_mode: VideoQualityMode,
	default_sort_order: SortOrderType,
	default_forum_layout: ForumLayoutType,
	trigger_type: AutoModerationRuleTriggerType,
	event_type: AutoModerationRuleEventType,
	entity_type: GuildScheduledEventEntityType,
};

const isOfChannel = (action: AuditLogEvent) => /^(Channel|Thread)/.test(AuditLogEvent[action] ?? "");

function enumOf(key: string, action: AuditLogEvent): Enum | undefined {
	if (key === "type") return isOfChannel(action) ? ChannelType : undefined;
	if (key === "status")
		return /^GuildScheduledEvent/.test(AuditLogEvent[action] ?? "") ? GuildScheduledEventStatus : undefined;
	return enums[key];
}

function flagsOf(key: string, action: AuditLogEvent): Enum {
	if (key === "system_channel_flags") return GuildSystemChannelFlags;
	if (isOfChannel(action)) return ChannelFlags;
	return action === AuditLogEvent.MemberUpdate ? GuildMemberFlags : {};
}

/** Converts the name of an enum value in discord.js to words: "GuildStageVoice" → "stage". */
function words(name: string): string {
	const text = officialName(name).toLowerCase().replaceAll("_", " ");
	return text.replace(/^guild /, "").replace(/^stage voice$/, "stage");
}

/** Also fields that discord.js does not know. */
export function changesOf(entry: APIAuditLogEntry): readonly Change[] {
	return (entry.changes ?? []) as readonly Change[];
}

/** Without secrets such as tokens. Of a created or deleted object its fields except its name and default values. */
export function describeChanges(entry: APIAuditLogEntry, nameOf: NameOf): string[] {
	const action = entry.action_type;
	const isWhole = /(Create|Delete)$/.test(AuditLogEvent[action] ?? "");
	const context = { action, nameOf, isWhole };
	const changes = changesOf(entry).filter(
		({ key, old_value, new_value }) =>
			!unshown.has(key) &&
			// Of other objects than channels, types are numbers without a meaning for readers.
			(key !== "type" || isOfChannel(action)) &&
			!(isWhole && (key === "name" || key === "code")) &&
			!(isDefault(old_value) && isDefault(new_value)),
	);
	const overwrite = overwriteChange(changes);
	const texts = [
		...(overwrite ? [overwrite] : []),
		...changes
			.filter(({ key }) => !overwrite || !overwriteKeys.includes(key))
			.flatMap((change) => describeChange(change, context)),
	];
	const more = texts.length - maxChanges;
	return more > 0 ? [...texts.slice(0, maxChanges), `and ${more} more`] : texts;
}

function isDefault(value: unknown): boolean {
	return !value || value === "0" || (Array.isArray(value) && value.length === 0);
}

const overwriteKeys = ["allow", "deny", "type"];

/** In decimal. 0 if the value is absent, undefined if it is invalid. */
export function bitsOf(value: unknown): bigint | undefined {
	if (value === undefined || value === null) return 0n;
	return /^\d{1,20}$/.test(String(value)) ? BigInt(String(value)) : undefined;
}

function overwriteChange(changes: readonly Change[]): string | undefined {
	const of = (key: string): Change => changes.find((change) => change.key === key) ?? { key };
	const [allow, deny] = [of("allow"), of("deny")];
	const before = [bitsOf(allow.old_value), bitsOf(deny.old_value)];
	const bits = [...before, ...[bitsOf(allow.new_value), bitsOf(deny.new_value)]].map((value) => value ?? 0n);
	const [oldAllow = 0n, oldDeny = 0n, newAllow = 0n, newDeny = 0n] = bits;
	const [old, now] = [oldAllow | oldDeny, newAllow | newDeny];
	if ((old | now) === 0n) return undefined;
	// A deleted overwrite is shown as it was.
	if (now === 0n) return `was ${signed(oldAllow, oldDeny)}`;
	const reset = permissionNames(old & ~now).map((name) => `${name} reset`);
	const set = signed(newAllow & ~oldAllow, newDeny & ~oldDeny);
	return [...(set ? [set] : []), ...reset].join(", ");
}

const signed = (plus: bigint, minus: bigint) => withSigns(permissionNames(plus), permissionNames(minus)).join(", ");

const withSigns = (plus: readonly string[], minus: readonly string[]) => [
	...plus.map((one) => `+${one}`),
	...minus.map((one) => `−${one}`),
];

function describeChange(change: Change, context: Context): string[] {
	const { key, old_value, new_value } = change;
	const { nameOf, isWhole } = context;
	const label = labels[key] ?? oneField(key).replace(/_id$/, "").replaceAll("_", " ");
	// Permissions of a command: the key is the id of a role, channel or user.
	if (isId(key)) {
		const [before, after] = [old_value, new_value].map((value) =>
			isObject(value) ? (value.permission ? "allowed" : "denied") : "default",
		);
		return [`${nameOf(key)} ${before} → ${after}`];
	}
	if (key === "$add") return withSigns(listOf(new_value), []);
	if (key === "$remove") return withSigns([], listOf(new_value));
	if (/token|secret|password/i.test(key)) return [`${label} changed, not shown`];
	if (/(_hash|^(icon|avatar|splash|banner|image))$/.test(key))
		return [isWhole ? `with ${label.replace(/ hash$/, "")}` : `${label.replace(/ hash$/, "")} changed`];
	if (key === "permissions") {
		const [before, after] = [bitsOf(old_value), bitsOf(new_value)];
		if (before === undefined || after === undefined) return [`${label} changed`];
		if (isWhole) return [permissionNames(before | after).join(", ")];
		return [signed(after & ~before, before & ~after)];
	}
	if (key === "permission_overwrites" && isWhole) return overwritesIn(old_value ?? new_value, nameOf);
	if (key.endsWith("flags")) {
		const [before, after] = [bitsOf(old_value) ?? 0n, bitsOf(new_value) ?? 0n];
		const flags = flagsOf(key, context.action);
		const named = withSigns(flagNames(flags, after & ~before), flagNames(flags, before & ~after));
		return [named.length > 0 ? `${label} ${named.join(", ")}` : `${label} changed`];
	}
	if (Array.isArray(old_value) || Array.isArray(new_value)) return [describeLists(label, change, context)];
	if (isObject(old_value) || isObject(new_value)) {
		const [before, after] = [Object(old_value), Object(new_value)];
		return [...new Set([...Object.keys(before), ...Object.keys(after)])]
			.filter((inner) => !Bun.deepEquals(before[inner], after[inner]))
			.flatMap((inner) => describeChange({ key: inner, old_value: before[inner], new_value: after[inner] }, context));
	}
	const format = (value: unknown) => formatValue(key, value, context);
	if (!isWhole) return [`${label} ${format(old_value)} → ${format(new_value)}`];
	const value = new_value ?? old_value;
	return [value === true ? label : `${label} ${format(value)}`];
}

function flagNames(flags: Enum, bits: bigint): string[] {
	return Object.entries(flags)
		.filter(([, bit]) => typeof bit === "number" && (bits & BigInt(bit)) !== 0n)
		.map(([name]) => words(name));
}

function describeLists(label: string, { old_value, new_value }: Change, { nameOf }: Context): string {
	const [before, after] = [old_value, new_value].map((value) => listOf(value, nameOf)) as [string[], string[]];
	const changes = withSigns(
		after.filter((item) => !before.includes(item)),
		before.filter((item) => !after.includes(item)),
	);
	if (changes.length === 0) return `${label} changed`;
	return `${label} ${listFirst(changes, maxListed, ", and ")}`;
}

function listOf(value: unknown, nameOf?: NameOf): string[] {
	const items: unknown[] = Array.isArray(value) ? value : [];
	return items.flatMap((item) => {
		if (isObject(item)) {
			if (typeof item.name !== "string") return [];
			const name = oneField(cut(item.name));
			return [nameOf ? name : `@${name.replace(/^@/, "")} (ID: ${oneField(String(item.id))})`];
		}
		const text = String(item);
		return [nameOf && isId(text) ? nameOf(text) : oneField(cut(text))];
	});
}

/** Such as "@Mod (ID: 1) +VIEW_CHANNEL". */
function overwritesIn(value: unknown, nameOf: NameOf): string[] {
	const items: unknown[] = Array.isArray(value) ? value : [];
	return items.filter(isObject).flatMap(({ id, allow, deny }) => {
		const bits = signed(bitsOf(allow) ?? 0n, bitsOf(deny) ?? 0n);
		return bits ? [`${nameOf(oneField(String(id)))} ${bits}`] : [];
	});
}

const isId = (text: string) => /^\d{17,20}$/.test(text);

function formatValue(key: string, value: unknown, { action, nameOf }: Context): string {
	if (value === undefined || value === null || value === "") return "none";
	if (typeof value === "boolean") return value ? "on" : "off";
	const named = Object.entries(enumOf(key, action) ?? {}).find(([, number]) => number === value);
	if (named) return words(named[0]);
	if (typeof value === "number") {
		const seconds = secondsIn.get(key);
		if (seconds !== undefined) return duration(value * seconds);
		if (key === "bitrate") return `${value / 1000} kbit/s`;
		if (key.endsWith("color")) return value === 0 ? "none" : String(Bun.color(value, "HEX"));
		return String(value);
	}
	const text = String(value);
	if (key.endsWith("_id") && isId(text)) return nameOf(text);
	if (/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text)) return time(new Date(text));
	return `"${oneField(cut(text))}"`;
}

function duration(seconds: number): string {
	if (seconds === 0) return "0";
	for (const [unit, size] of [
		["d", 86_400],
		["h", 3600],
		["min", 60],
	] as const)
		if (seconds % size === 0) return `${seconds / size} ${unit}`;
	return `${seconds} s`;
}

export function cut(text: string, max = maxValueLength): string {
	return truncate(text, max, lengthOf);
}
