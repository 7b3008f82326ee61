// Channel settings and permission overwrites in tool results: "slow mode: 0 → 10 s".

import { type Guild, PermissionFlagsBits } from "discord.js";
import { channelsFromTop } from "../../../discord/channel-order.ts";
import { channelLabel, channelName, memberName, roleName } from "../../../discord/describe.ts";
import { type Channel, isVoice } from "../../../discord/find.ts";
import { isObfuscated } from "../../../discord/obfuscation.ts";
import { describeChange, isInPrivateCategory, syncedWith } from "../../../discord/overwrites.ts";
import { botMember } from "../../../discord/permissions.ts";
import { oneField, resultLines } from "../../../discord/text.ts";
import { visibleChannel } from "../../../discord/visible-channels.ts";
import { emojiName } from "../../messages/emoji.ts";
import { sample } from "../../tool/bulk.ts";
import type { Entries } from "./channel-access.ts";
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
export function changedField(guild: Guild, field: keyof ChannelFields, before: FieldValue, after: FieldValue): string {
	const { name, unit = "" } = labels[field];
	return `${name}: ${shown(guild, field, before)} → ${shown(guild, field, after)}${unit}`;
}

/** Such as "slow mode: 10 s". */
export function fieldText(guild: Guild, field: keyof ChannelFields, value: FieldValue): string {
	const text = shown(guild, field, value);
	const { name, unit = "" } = labels[field];
	return `${name}: ${text}${typeof value === "number" ? unit : ""}`;
}

type FieldValue = ChannelFields[keyof ChannelFields];

function shown(guild: Guild, field: keyof ChannelFields, value: FieldValue): string {
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
		return emojiName({ id: value, name: guild.emojis.cache.get(value)?.name });
	}
	return oneField(value);
}

/** A line for each changed role or member. */
export function changedEntries(guild: Guild, before: Entries, after: Entries): string[] {
	const none = { allow: 0n, deny: 0n };
	return [...new Set([...after.keys(), ...before.keys()])].flatMap((id) => {
		const [old, now] = [before.get(id) ?? none, after.get(id) ?? none];
		const change = describeChange(old, now);
		return change === "" ? [] : `${subjectName(guild, id)}: ${change}`;
	});
}

/** "the bot", "@everyone", or name and id. */
export function subjectName(guild: Guild, id: string): string {
	if (id === botMember(guild).id) return "the bot";
	const role = guild.roles.cache.get(id);
	if (role) return id === guild.id ? "@everyone" : roleName(role);
	const member = guild.members.cache.get(id);
	return member ? memberName(member) : oneField(id);
}

const maxFollowers = 20;

/** Who follows the category and who does not; undefined if nobody. `changed`: changed by the call as well. */
export function describeFollowers(category: Channel, changed: readonly Channel[] = []): string | undefined {
	const inside = channelsFromTop(category.guild).filter(({ parentId }) => parentId === category.id);
	const synced = syncedWith(category);
	const unseen = inside.filter(isObfuscated);
	const others = inside.filter((channel) => ![...synced, ...changed, ...unseen].includes(channel));
	const named = (channels: readonly Channel[]) => sample(channels, maxFollowers, channelLabel).join(", ");
	const texts = [
		synced.length > 0 && `${synced.length} synced channel(s) follow: ${named(synced)}`,
		others.length > 0 && `${others.length} not synced, with permissions of their own, stay: ${named(others)}`,
		unseen.length > 0 &&
			`unknown for ${unseen.length} that the bot cannot see: ${unseen.map(({ id }) => id).join(", ")}`,
	].filter(Boolean);
	return texts.length > 0 ? texts.join("; ") : undefined;
}

/** "private" if @everyone does not see the channel, "read-only" if @everyone cannot write. */
export function accessForEveryone(channel: Channel): string[] {
	const { Connect, SendMessages, ViewChannel } = PermissionFlagsBits;
	const { bitfield } = channel.permissionsFor(channel.guild.roles.everyone);
	const has = (bits: bigint) => (bitfield & bits) === bits;
	if (!has(isVoice(channel) ? ViewChannel | Connect : ViewChannel)) return ["private"];
	return resultLines(isInPrivateCategory(channel) && "public, unlike its category", !has(SendMessages) && "read-only");
}
