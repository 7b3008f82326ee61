// What must be so before a document can be carried out in a guild: its boost level, its features, and, because Discord only
// accepts scheduled events that have not begun, that those of an older document take place later.

import { GuildFeature } from "discord.js";
import type { GuildDocument } from "../../guild-document/format/document.ts";
import { channelsWithCategories } from "../../guild-document/format/references.ts";
import { bitrateLimits } from "../rest/routes/channels.ts";
import { emojiLimits } from "../rest/routes/emojis.ts";
import type { Guild } from "../world/state/entities.ts";

/** Of a guild whose roles have icons: https://support.discord.com/hc/en-us/articles/360028038352 */
const iconTier = 2;

/** The boost level and features that a document needs. `hasAnimatedIcon` is about the document's guild icon. */
export function requirementsOf(
	document: GuildDocument,
	hasAnimatedIcon = false,
): Pick<Guild, "premium_tier" | "features"> {
	const { roles = [], emojis = [], settings } = document;
	const channels = channelsWithCategories(document).map(({ channel }) => channel);
	const levelFor = (needed: number, limits: readonly number[]) => {
		const level = limits.findIndex((limit) => needed <= limit);
		return level === -1 ? limits.length - 1 : level;
	};
	const bitrates = channels.map((channel) => ("bitrate" in channel ? (channel.bitrate ?? 0) : 0));
	const animated = emojis.filter((emoji) => emoji.animated).length;
	const hasIcons = roles.some(({ icon }) => icon);
	const hasGradients = roles.some(({ color }) => color?.includes(" to "));
	const isCommunity =
		document.welcome_screen?.enabled ||
		document.onboarding?.enabled ||
		settings?.rules_channel ||
		channels.some((channel) => "kind" in channel && (channel.kind === "stage" || channel.kind === "announcement"));
	return {
		premium_tier: Math.max(
			levelFor(Math.max(0, ...bitrates), bitrateLimits),
			levelFor(Math.max(animated, emojis.length - animated), emojiLimits),
			hasIcons ? iconTier : 0,
		),
		features: [
			...(hasAnimatedIcon ? [GuildFeature.AnimatedIcon] : []),
			...(hasIcons ? [GuildFeature.RoleIcons] : []),
			...(hasGradients ? ["ENHANCED_ROLE_COLORS" as GuildFeature] : []),
			// A document with the settings of the guild says whether it is a community.
			...(isCommunity && settings?.community === undefined ? [GuildFeature.Community] : []),
		],
	};
}

const weekMs = 7 * 24 * 60 * 60 * 1000;
const marginMs = 60 * 60 * 1000;

/** Moves events that begin before `nowMs` + `marginMs` by whole weeks, with a line of text for each. */
export function withFutureEvents(document: GuildDocument, nowMs: number) {
	const notes: string[] = [];
	const events = document.events?.map((event) => {
		const { scheduled_start_time: at = "", scheduled_end_time: end } = event;
		const late = nowMs + marginMs - Date.parse(at);
		if (!(late > 0)) return event;
		const byMs = Math.ceil(late / weekMs) * weekMs;
		const later = (at: string) => new Date(Date.parse(at) + byMs).toISOString();
		const scheduled_start_time = later(at);
		notes.push(`event ${event.name}: it began on ${at}, and now begins on ${scheduled_start_time}`);
		return { ...event, scheduled_start_time, ...(end && { scheduled_end_time: later(end) }) };
	});
	return { document: { ...document, ...(events && { events }) }, notes };
}
