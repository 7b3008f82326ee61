// An AutoMod rule as result lines.

import type {
	APIAutoModerationAction,
	APIAutoModerationRule,
	Guild,
} from "discord.js";
import { fieldLine, oneField, oneLine } from "../discord/text.ts";
import {
	actionNames,
	actions,
	fieldsOf,
	triggerOf,
	wordFields,
} from "./automod.ts";

export function ruleName(rule: Pick<APIAutoModerationRule, "name" | "id">) {
	return `"${oneField(rule.name)}" (ID: ${rule.id})`;
}

const sampleSize = 5;

/** Describes an AutoMod rule in one line, with the first few of its words. */
export function ruleLine(guild: Guild, rule: APIAutoModerationRule): string {
	const fields = fieldsOf(rule);
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
		named("exempt roles", fields.exempt_role_ids),
		named("exempt channels", fields.exempt_channel_ids),
		`by: ${rule.creator_id}`,
	);
}

/** Lists all words of an AutoMod rule, one on each line. */
export function wordLines(rule: APIAutoModerationRule): string[] {
	const fields = fieldsOf(rule);
	return wordFields.flatMap((field) => {
		const words = fields[field].map(oneLine);
		if (words.length === 0) return [];
		return [`${words.length} in ${field}, one on each line:`, ...words];
	});
}

function sample(name: string, words: readonly string[]): string {
	if (words.length === 0) return "";
	const first = words
		.slice(0, sampleSize)
		.map((word) => `"${oneField(word)}"`)
		.join(", ");
	const more = words.length > sampleSize ? ", …" : "";
	return `${name}: ${words.length}, ${first}${more}`;
}

function named(name: string, ids: readonly string[]): string {
	return ids.length > 0 ? `${name}: ${ids.join(", ")}` : "";
}

function actionText(
	guild: Guild,
	{ type, metadata = {} }: APIAutoModerationAction,
): string {
	const name = actionNames.find((action) => actions[action] === type);
	const { channel_id, custom_message, duration_seconds } = metadata;
	if (name === "timeout") return `timeout for ${duration_seconds} s`;
	if (name === "block_message" && custom_message)
		return `block_message saying "${oneField(custom_message)}"`;
	if (name !== "send_alert_message" || !channel_id) return name ?? `${type}`;
	const channel = guild.channels.cache.get(channel_id);
	const where = channel ? `#${oneField(channel.name)} ` : "";
	return `send_alert_message in ${where}(ID: ${channel_id})`;
}
