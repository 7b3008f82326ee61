// Channel settings in tool results: "slow mode: 0 → 10 s".

import type { Guild } from "discord.js";
import { channelName } from "../../../discord/describe.ts";
import { oneField } from "../../../discord/text.ts";
import { visibleChannel } from "../../../discord/visible-channels.ts";
import { emojiName } from "../../messages/emoji.ts";
import type { ChannelFields } from "./channel-fields.ts";

const maxTopicLength = 80;

/** At most 80 characters. */
export function topicStart(topic: string): string {
	const characters = [...topic];
	const start = oneField(characters.slice(0, maxTopicLength).join(""));
	return characters.length > maxTopicLength ? `${start}…` : start;
}

const labels: Record<keyof ChannelFields, { name: string; unit?: string; empty?: string }> = {
	name: { name: "name" },
	channel_type: { name: "kind" },
	topic: { name: "topic" },
	nsfw: { name: "age-restricted" },
	spoiler: { name: "spoiler" },
	slowmode: { name: "slow mode", unit: " s" },
	bitrate: { name: "bitrate", unit: " bit/s", empty: "unknown" },
	user_limit: { name: "user limit" },
	rtc_region: { name: "region", empty: "automatic" },
	video_quality: { name: "video quality" },
	category_id: { name: "category" },
	require_tag: { name: "posts need a tag" },
	default_reaction: { name: "default reaction" },
	default_sort_order: { name: "sort order", empty: "not set" },
	default_layout: { name: "layout", empty: "not set" },
	thread_slowmode_seconds: { name: "slow mode of new threads", unit: " s" },
	auto_archive_minutes: { name: "auto-archive of new threads", unit: " min", empty: "not set" },
};

/** Such as "slow mode: 0 → 10 s". */
export function changedField<Field extends keyof ChannelFields>(
	guild: Guild,
	field: Field,
	before: ChannelFields[Field],
	after: ChannelFields[Field],
): string {
	const { name, unit = "" } = labels[field];
	return `${name}: ${shown(guild, field, before)} → ${shown(guild, field, after)}${unit}`;
}

/** Such as "slow mode: 10 s". */
export function fieldText<Field extends keyof ChannelFields>(
	guild: Guild,
	field: Field,
	value: ChannelFields[Field],
): string {
	const text = shown(guild, field, value);
	const { name, unit = "" } = labels[field];
	return `${name}: ${text}${typeof value === "number" ? unit : ""}`;
}

function shown(guild: Guild, field: keyof ChannelFields, value: ChannelFields[keyof ChannelFields]): string {
	const { empty = "none" } = labels[field];
	if (value === undefined || value === "") return empty;
	if (typeof value === "boolean") return value ? "yes" : "no";
	if (typeof value === "number") return field === "user_limit" && value === 0 ? empty : String(value);
	if (field === "topic") return topicStart(value);
	if (field === "category_id") {
		const category = visibleChannel(guild, value);
		return category ? channelName(category) : value;
	}
	if (field === "default_reaction" && /^\d{17,20}$/.test(value)) {
		const known = guild.emojis.cache.get(value);
		return emojiName({ id: value, name: known?.name });
	}
	return oneField(value);
}
