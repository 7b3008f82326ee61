// Access to channels in tool results: how permission overwrites change.

import { type Guild, PermissionFlagsBits } from "discord.js";
import { channelsFromTop } from "../../../discord/channel-order.ts";
import { channelLabel, memberName, roleName } from "../../../discord/describe.ts";
import { type Channel, isVoice } from "../../../discord/find.ts";
import { isObfuscated } from "../../../discord/obfuscation.ts";
import { describeChange, isInPrivateCategory, syncedWith } from "../../../discord/overwrites.ts";
import { botMember } from "../../../discord/permissions.ts";
import { oneField, resultLines } from "../../../discord/text.ts";
import { sample } from "../../tool/bulk.ts";
import type { Entries } from "./channel-access.ts";

/** A line for each changed role or member. */
export function changedEntries(guild: Guild, before: Entries, after: Entries): string[] {
	const none = { allow: 0n, deny: 0n };
	const ids = [...new Set([...after.keys(), ...before.keys()])];
	return ids.flatMap((id) => {
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
