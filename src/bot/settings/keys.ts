// The keys of a guild's settings. What belongs to the operator (secrets, ports, providers, limits) is in config.toml.
// Their descriptions are the texts "setting.<key>".

import * as v from "valibot";
import type { PrivilegedIntent } from "../../discord/intents.ts";
import type { Permission } from "../../discord/permissions.ts";
import { expected, text, whole } from "../../lib/config.ts";
import { escalationRules, tellable } from "../config/escalation.ts";
import { greetingPlaceholders, summaryPlaceholders } from "../config/placeholders.ts";
import { duration, durationFrom, flag, joinRate, link, snowflake, tagName, templateOf } from "../config/values.ts";
import { type ModeratorAction, moderatorActions } from "./grants.ts";

interface Key {
	/** Of the JSON value. Without a default the key is unset. */
	value: v.GenericSchema<unknown, unknown>;
	/** What its id, or each of its ids or of its values, belongs to. A "given role" is one that the bot gives to members. */
	to?: "channel" | "role" | "given role";
	/** What the bot needs in the channel, besides VIEW_CHANNEL and SEND_MESSAGES. */
	needs?: readonly Permission[];
	/**
	 * What a person must have on Discord to change it, because it gives others power: a grant does not count. Nobody else can, no
	 * assistant and no token, unless it is a grant.
	 */
	power?: readonly Permission[];
	/** Without it, the setting has no effect. */
	intent?: PrivilegedIntent;
}

const rolesByName = v.pipe(v.record(text(100), snowflake), v.maxEntries(100, expected("at most 100 names")));
// The last 50 versions of the settings have all of them.
const isShort = (all: Record<string, string>) => Object.entries(all).flat().join("").length <= 32_000;
const tags = v.pipe(
	v.record(tagName, text(2_000)),
	v.maxEntries(100, "expected at most 100 tags"),
	v.check(isShort, "expected at most 32000 characters in all"),
);
const administrator = ["Administrator"] as const;
const files = ["EmbedLinks", "AttachFiles"] as const;
const channel = { value: v.optional(snowflake), to: "channel" } as const;
const channels = { value: v.optional(v.array(snowflake), []), to: "channel" } as const;
const givenRole = { value: v.optional(snowflake), to: "given role" } as const;
const roles = { value: v.optional(v.array(snowflake), []), to: "role" } as const;
const tokens = { value: v.optional(whole(1, 1_000_000_000_000)) } as const;

/** Discord's AutoMod blocks these. */
export const automodPresets = ["invites", "scam_links", "mass_mentions"] as const;
/** The bot treats these as spam. */
const spamPresets = ["caps", "short_floods", "floods", "new_account_links"] as const;

export const keys = {
	"welcome.channel": { ...channel, intent: "GuildMembers" },
	"welcome.message": { value: v.optional(templateOf(greetingPlaceholders)) },
	"welcome.summary": { value: v.optional(templateOf(summaryPlaceholders)) },
	"welcome.ai": { value: flag(true) },
	"join_role.role": { ...givenRole, intent: "GuildMembers" },
	"auto_role.from_role": givenRole,
	"auto_role.to_role": { ...givenRole, intent: "GuildMembers" },
	"auto_role.min_age": { value: v.optional(duration) },
	"auto_role.min_messages": { value: v.optional(whole(0, 1_000_000)) },
	"auto_role.require_all": { value: flag(true) },
	tags: { value: v.optional(tags, {}) },
	"moderation.log_channel": { ...channel, needs: ["EmbedLinks"] },
	"moderation.tell": { value: v.optional(v.array(v.picklist(tellable)), ["warn", "temp_ban", "spam"]) },
	"moderation.appeal": { value: v.optional(text(500)) },
	"moderation.escalate": { value: v.optional(escalationRules, []) },
	"moderation.reports": { ...channel, needs: ["EmbedLinks", "ReadMessageHistory"] },
	"moderation.raid": { value: v.optional(joinRate), intent: "GuildMembers" },
	"night.raid": { value: flag(false), intent: "GuildMembers" },
	"night.raid_for": { value: v.optional(durationFrom("10m", "7d"), "1h") },
	"night.strip": { value: flag(false), power: administrator },
	"night.ping_role": { value: v.optional(snowflake), to: "role" },
	"log.messages": { ...channel, needs: files, intent: "MessageContent" },
	"log.evidence": { value: flag(false), intent: "MessageContent" },
	"log.images": channels,
	"log.ignored": channels,
	"log.without_bots": { value: flag(false) },
	"log.joins": logOf(["GuildMembers"]),
	"log.names": logOf(["GuildMembers"]),
	"log.member_roles": logOf(),
	"log.timeouts": logOf(),
	"log.channels": logOf(),
	"log.roles": logOf(),
	"log.webhooks": logOf(),
	"spam.on": { value: flag(false), intent: "MessageContent" },
	"spam.dry": { value: flag(false) },
	"spam.honeypots": { ...channels, needs: ["ManageMessages"] },
	"spam.channels": { value: v.optional(whole(2, 50), 4) },
	"spam.times": { value: v.optional(whole(3, 50), 5) },
	"spam.window": { value: v.optional(durationFrom("5s", "5m"), "15s") },
	"spam.links": { value: v.optional(v.pipe(v.array(link), v.maxLength(500, expected("at most 500 links"))), []) },
	"spam.timeout": { value: v.optional(durationFrom("1m", "28d"), "1d") },
	"spam.exempt_roles": roles,
	"automod.log": { value: flag(false) },
	"automod.counts": { value: flag(false) },
	"automod.presets": { value: v.optional(v.array(v.picklist([...automodPresets, ...spamPresets])), []) },
	"keep.cases_days": { value: v.optional(whole(1, 3_650)) },
	"keep.reports_days": { value: v.optional(whole(1, 3_650), 180) },
	"keep.calls_days": { value: v.optional(whole(1, 3_650)) },
	"audit.channel": { ...channel, needs: ["EmbedLinks"], power: administrator },
	"approval.channel": { ...channel, needs: files, power: administrator },
	"approval.roles": { ...roles, power: administrator },
	"sign_in.roles": { ...roles, power: administrator },
	"may.warn": mayUse("warn"),
	"may.timeout": mayUse("timeout"),
	"may.kick": mayUse("kick"),
	"may.ban": mayUse("ban"),
	"may.purge": mayUse("purge"),
	"may.lock": mayUse("lock"),
	"may.raid_mode": mayUse("raid_mode"),
	"may.cases": mayUse("cases"),
	"may.settings": { ...mayUse("settings"), power: administrator },
	"may.tags": mayUse("tags"),
	"chat.tools": { value: flag(false) },
	"chat.channels": channels,
	"chat.roles": roles,
	"chat.questions_a_minute": { value: v.optional(whole(1, 100), 10) },
	"chat.questions_a_day": { value: v.optional(whole(1, 10_000)) },
	"chat.tokens_a_day": tokens,
	"chat.tokens_a_month": tokens,
	"chat.person_tokens_a_day": tokens,
	"chat.person_tokens_a_month": tokens,
	"game.donator_sync": { value: flag(false) },
	"game.tiers": { value: v.optional(rolesByName, {}), to: "given role" },
	"game.chargeback": { value: flag(false) },
	"game.restricted_role": givenRole,
	"game.staff_channel": { ...channel, needs: ["EmbedLinks", "ReadMessageHistory"] },
	"game.staff_roles": { ...roles, power: ["BanMembers"] },
} as const satisfies Record<string, Key>;

function logOf([intent]: readonly PrivilegedIntent[] = []) {
	return { ...channel, needs: ["EmbedLinks"], ...(intent && { intent }) } as const;
}

function mayUse(action: ModeratorAction) {
	return { ...roles, power: moderatorActions[action] } as const;
}

export type SettingKey = keyof typeof keys;

/** Parsed, with default values. */
export type Values = { readonly [K in SettingKey]: v.InferOutput<(typeof keys)[K]["value"]> };

export const allKeys = Object.keys(keys) as readonly SettingKey[];

/** Why settings that are valid have no effect, by key. */
export function withoutEffect(values: Values): readonly (readonly [SettingKey, string])[] {
	const { "auto_role.to_role": to, "auto_role.from_role": from } = values;
	const hasCondition = Boolean(values["auto_role.min_age"] || values["auto_role.min_messages"]);
	const found: [SettingKey, string][] = [];
	const note = (key: SettingKey, why: string) => found.push([key, `has no effect${why}`]);
	if (to !== undefined && to === from) note("auto_role.to_role", ": it is also auto_role.from_role");
	if (to !== undefined && !hasCondition)
		note("auto_role.to_role", " without auto_role.min_age or auto_role.min_messages");
	if (values["night.raid"] && !values["moderation.raid"]) note("night.raid", " without moderation.raid");
	if (values["game.donator_sync"] && Object.keys(values["game.tiers"]).length === 0)
		note("game.donator_sync", " without game.tiers");
	if (values["game.chargeback"] && !chargebackSettings(values))
		note("game.chargeback", " without game.restricted_role, game.staff_channel and game.staff_roles");
	if (values["automod.counts"] && !values["automod.log"]) note("automod.counts", " without automod.log");
	const presets: readonly string[] = values["automod.presets"];
	const ofSpam = spamPresets.filter((preset) => presets.includes(preset));
	if (ofSpam.length > 0 && !values["spam.on"]) note("automod.presets", ` without spam.on (${ofSpam.join(", ")})`);
	if (presets.includes("scam_links") && values["spam.links"].length === 0)
		note("automod.presets", " without spam.links (scam_links)");
	return found;
}

/** What chargebacks need, once `game.chargeback` is on; undefined if it is off or incomplete. */
export function chargebackSettings(values: Values) {
	const { "game.restricted_role": restrictedRole, "game.staff_channel": staffChannel } = values;
	const staffRoles = values["game.staff_roles"];
	if (!values["game.chargeback"] || !restrictedRole || !staffChannel || staffRoles.length === 0) return undefined;
	return { restrictedRole, staffChannel, staffRoles };
}

/** The kinds of events with a channel of their own. */
export const serverLogs = ["joins", "names", "member_roles", "timeouts", "channels", "roles", "webhooks"] as const;

export type ServerLog = (typeof serverLogs)[number];

function isServerLog(key: string): key is `log.${ServerLog}` {
	return serverLogs.some((kind) => key === `log.${kind}`);
}

/** What the bot must be allowed in the guild, to do on its own what a setting asks for. */
export function actingPermissions(values: Values): readonly (readonly [SettingKey, readonly Permission[]])[] {
	const forRules = { timeout: "ModerateMembers", kick: "KickMembers", ban: "BanMembers" } as const;
	return [
		["moderation.escalate", values["moderation.escalate"].map(({ action }) => forRules[action])],
		["moderation.raid", values["moderation.raid"] ? ["ManageGuild", "ManageChannels"] : []],
		["game.chargeback", values["game.chargeback"] ? ["BanMembers", "ManageRoles"] : []],
		["log.evidence", values["log.evidence"] ? ["AttachFiles"] : []],
		...allKeys.flatMap((key) => (isServerLog(key) && values[key] ? [[key, ["ViewAuditLog"]] as const] : [])),
		["night.strip", values["night.strip"] ? ["ViewAuditLog", "ManageRoles", "ManageWebhooks", "KickMembers"] : []],
		["spam.on", values["spam.on"] && !values["spam.dry"] ? ["ModerateMembers"] : []],
		["automod.log", values["automod.log"] ? ["ManageGuild"] : []],
		["automod.presets", automodPresets.some((one) => values["automod.presets"].includes(one)) ? ["ManageGuild"] : []],
	];
}

/** Of the operator's `features`: without it, the section has no effect. */
const featureOf: Readonly<Record<string, "moderation" | "chat" | "game">> = {
	moderation: "moderation",
	log: "moderation",
	spam: "moderation",
	night: "moderation",
	automod: "moderation",
	chat: "chat",
	game: "game",
};

/** The one that the operator's `features` have switched off; undefined: the key can be set. */
export function featureOff(key: SettingKey, features: Readonly<Partial<Record<string, boolean>>>): string | undefined {
	const feature = featureOf[sectionOf(key)];
	return feature !== undefined && features[feature] === false ? feature : undefined;
}

export function isKey(text: string): text is SettingKey {
	return Object.hasOwn(keys, text);
}

export function keyOf(key: SettingKey): Key {
	return keys[key];
}

interface SchemaParts {
	type: string;
	wrapped?: SchemaParts;
	item?: SchemaParts & { options?: readonly string[] };
}

function schemaOf(key: SettingKey): SchemaParts {
	const schema = keyOf(key).value as unknown as SchemaParts;
	return schema.wrapped ?? schema;
}

/** How a person gives the value. "lines": a text with one item in each line; "named roles": such as gold: @Gold. */
export function kindOf(key: SettingKey) {
	const { to } = keyOf(key);
	const { type, item } = schemaOf(key);
	if (type === "record") return to ? "named roles" : "named texts";
	if (to) return `${to === "channel" ? "channel" : "role"}${type === "array" ? "s" : ""}` as const;
	if (type === "boolean") return "flag";
	if (type === "number") return "number";
	if (type !== "array") return "text";
	return item?.options ? "choices" : "lines";
}

/** Of a key of the kind "choices". */
export function choicesOf(key: SettingKey): readonly string[] {
	return schemaOf(key).item?.options ?? [];
}

/** The part before the dot. */
export function sectionOf(key: SettingKey): string {
	return key.split(".")[0] ?? "";
}

/** Lets its roles take an action of moderators. */
export const isGrant = (key: string): boolean => isKey(key) && sectionOf(key) === "may";

export const sectionsIn = (all: readonly SettingKey[]): readonly string[] => [...new Set(all.map(sectionOf))];
