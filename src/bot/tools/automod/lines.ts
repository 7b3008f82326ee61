// An AutoMod rule as result lines.

import type { APIAutoModerationAction, APIAutoModerationRule, Guild } from "discord.js";
import { channelLabel, channelName, memberName, roleName } from "../../../discord/describe.ts";
import { fieldLine, oneField, oneLine } from "../../../discord/text.ts";
import { visibleChannel } from "../../../discord/visible-channels.ts";
import {
	actionNames,
	actions,
	type RuleFields,
	ruleFieldsOf,
	triggerOf,
	wordFields,
} from "../../../guild-document/names/automod-rule.ts";

export function ruleName(rule: Pick<APIAutoModerationRule, "name" | "id">) {
	return `"${oneField(rule.name)}" (ID: ${rule.id})`;
}

const sampleSize = 5;

export function ruleLine(guild: Guild, rule: APIAutoModerationRule): string {
	const fields = ruleFieldsOf(rule);
	const trigger = triggerOf(rule) ?? `trigger ${rule.trigger_type}`;
	const isSpam = trigger === "mention_spam";
	const raids = fields.mention_raid_protection_enabled ? "on" : "off";
	return fieldLine(
		oneField(rule.name),
		`ID: ${rule.id}`,
		trigger,
		fields.enabled ? "on" : "off",
		...wordFields.map((field) => sample(field, fields[field])),
		named("presets", fields.presets),
		isSpam && `mentions: at most ${fields.mention_total_limit}`,
		isSpam && `raid protection: ${raids}`,
		`actions: ${rule.actions.map((action) => actionText(guild, action)).join(", ")}`,
		named("exempt roles", namesOf(guild, fields.exempt_role_ids)),
		named("exempt channels", namesOf(guild, fields.exempt_channel_ids)),
		`by: ${namesOf(guild, [rule.creator_id]).join("")}`,
	);
}

export function wordLines(rule: APIAutoModerationRule): string[] {
	const fields = ruleFieldsOf(rule);
	return wordFields.flatMap((field) => {
		const words = fields[field].map(oneLine);
		if (words.length === 0) return [];
		return [`${words.length} in ${field}, one on each line:`, ...words];
	});
}

function sample(name: string, words: readonly string[]): string {
	if (words.length === 0) return "";
	const first = words.slice(0, sampleSize).map(quoted).join(", ");
	const more = words.length > sampleSize ? ", …" : "";
	return `${name}: ${words.length}, ${first}${more}`;
}

function namesOf(guild: Guild, ids: readonly string[]): string[] {
	return ids.map((id) => {
		const role = guild.roles.cache.get(id);
		const channel = visibleChannel(guild, id);
		const member = guild.members.cache.get(id);
		if (role) return roleName(role);
		if (channel) return channelName(channel);
		return member ? memberName(member) : `ID: ${id}`;
	});
}

export function changeTexts(
	guild: Guild,
	before: RuleFields,
	after: RuleFields,
	fields: readonly (keyof RuleFields)[],
): string[] {
	return fields.map((field) => {
		const [old, now] = [before[field], after[field]];
		if (!Array.isArray(old) || !Array.isArray(now))
			return `${field}: ${valueText(guild, old)} → ${valueText(guild, now)}`;
		const text = (items: readonly string[]) => (field.endsWith("_ids") ? namesOf(guild, items) : items.map(quoted));
		const [had, has]: string[][] = [old, now];
		return `${field}: ${fieldLine(
			changed("added", text((has ?? []).filter((one) => !had?.includes(one)))),
			changed("removed", text((had ?? []).filter((one) => !has?.includes(one)))),
		)}`;
	});
}

function changed(what: string, items: readonly string[]): string {
	if (items.length === 0) return "";
	const more = items.length > sampleSize ? ", …" : "";
	return `${what} ${items.length}, ${items.slice(0, sampleSize).join(", ")}${more}`;
}

function valueText(guild: Guild, value: unknown): string {
	if (value === "" || value === 0) return "none";
	if (typeof value !== "string") return String(value);
	const channel = visibleChannel(guild, value);
	return channel ? channelName(channel) : quoted(value);
}

function quoted(text: string): string {
	return `"${oneField(text)}"`;
}

function named(name: string, ids: readonly string[]): string {
	return ids.length > 0 ? `${name}: ${ids.join(", ")}` : "";
}

function actionText(guild: Guild, { type, metadata = {} }: APIAutoModerationAction): string {
	const name = actionNames.find((action) => actions[action] === type);
	const { channel_id, custom_message, duration_seconds } = metadata;
	if (name === "timeout") return `timeout for ${duration_seconds} s`;
	if (name === "block_message" && custom_message) return `block_message saying "${oneField(custom_message)}"`;
	if (name !== "send_alert_message" || !channel_id) return name ?? `${type}`;
	const channel = visibleChannel(guild, channel_id);
	const where = channel ? `${channelLabel(channel)} ` : "";
	return `send_alert_message in ${where}(ID: ${channel_id})`;
}
