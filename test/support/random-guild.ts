// Random guild documents: odd names, equal names, deep overwrites.

import {
	type AutomodRule,
	type Channel,
	type GuildDocument,
	type Overwrite,
	type Role,
	readDocument,
} from "../../src/guild-document/format/document.ts";
import { keysOf } from "../../src/guild-document/format/references.ts";
import type { eventKinds } from "../../src/guild-document/names/scheduled-event.ts";
import { durationText } from "../../src/lib/times.ts";
import type { Random } from "./random.ts";

export interface RandomGuildOptions {
	roles: number;
	channels: number;
	/** Ids of users who have overwrites. */
	memberIds?: readonly string[];
	community?: boolean;
	/** Hashes of the pictures that emoji may have. */
	pictures?: readonly string[];
}

const odd = [
	"",
	"'\"",
	"🎉",
	"+role/x",
	"@everyone",
	"a: b #c",
	"__proto__",
	"constructor",
	"ß İ ǆ",
	"\u202e‮x",
	"- x",
	"null",
	"1e5",
	"{[",
	"<@1>",
	"&a *b",
	"!t |",
	"`%`",
	"⸻",
	"ﷺ",
];
const permissions = [
	"VIEW_CHANNEL",
	"SEND_MESSAGES",
	"ADD_REACTIONS",
	"CONNECT",
	"SPEAK",
	"MANAGE_MESSAGES",
	"ATTACH_FILES",
	"EMBED_LINKS",
	"READ_MESSAGE_HISTORY",
	"CREATE_PUBLIC_THREADS",
];

/** Returns a random guild as a document in which what has a default value may be left out. */
export function randomGuild(
	random: Random,
	{ roles: roleCount, channels: channelCount, memberIds = [], community = false, pictures = [] }: RandomGuildOptions,
): GuildDocument {
	const name = (what: string) => {
		const suffix = random.chance(0.4) ? random.pick(odd) : "";
		return `${what}${random.chance(0.8) ? random.below(1000) : ""}${suffix}`;
	};
	const some = <T>(items: readonly T[], max: number): T[] => {
		const count = random.below(Math.min(max, items.length) + 1);
		return [...new Set(Array.from({ length: count }, () => random.pick(items)))];
	};
	const maybe = <T extends object>(probability: number, value: T) => (random.chance(probability) ? value : {});
	const everyone = [...new Set(["VIEW_CHANNEL", ...some(permissions, 6)])];
	const roleNames = Array.from({ length: roleCount }, () => name("Role"));
	const roleKeys = keysOf(roleNames.map((one) => ({ name: one })));
	const roles = roleNames.map(
		(one, index): Role => ({
			name: one,
			...(roleKeys[index] !== one && { key: roleKeys[index] }),
			...maybe(0.5, { color: `#${(random.below(0xfffffe) + 1).toString(16).padStart(6, "0").toUpperCase()}` }),
			...maybe(0.3, { hoist: true }),
			...maybe(0.3, { mentionable: true }),
			...maybe(0.6, { permissions: random.chance(0.5) ? ["@everyone", "KICK_MEMBERS"] : some(permissions, 5) }),
		}),
	);
	const overwrites = (): Overwrite[] => {
		const targets: Overwrite[] = [
			...some(["@everyone", ...roleKeys], 6).map((role) => ({ role })),
			...some(memberIds, 3).map((member) => ({ member })),
		];
		return targets.map((target) => {
			const allow = some(permissions, 3);
			const deny = some(permissions, 3).filter((one) => !allow.includes(one));
			return { ...target, ...(allow.length > 0 && { allow }), ...(deny.length > 0 && { deny }) };
		});
	};
	const emojis = pictures.map((picture, index) => ({
		name: `emoji_${index % 3}${random.chance(0.7) ? index : ""}`,
		picture,
		...maybe(0.3, { roles: some(roleKeys, 3) }),
	}));
	const emojiKeys = keysOf(emojis);
	const emojiReference = () => random.pick(["👍", ...emojiKeys.map((key) => `:${key}:`)]);
	const kinds = [
		"text",
		"text",
		"text",
		"voice",
		"forum",
		...(community ? (["announcement", "stage"] as const) : []),
	] as const;
	const channel = (): Channel => {
		const kind = random.pick(kinds);
		const isText = kind === "text" || kind === "announcement";
		return {
			name: random.chance(0.3) ? random.pick(["general", "chat"]) : name("ch"),
			...(kind !== "text" && { kind }),
			...(kind !== "voice" && kind !== "stage" && maybe(0.5, { topic: name("About ") })),
			...(kind !== "announcement" && maybe(0.2, { slowmode: durationText(random.below(21_600)) })),
			...(kind === "stage" ? maybe(0.2, { nsfw: true }) : random.pick([{}, {}, {}, { nsfw: true }, { spoiler: true }])),
			...(kind === "voice" && maybe(0.5, { user_limit: random.below(99) })),
			...(kind === "voice" && maybe(0.3, { video_quality: "720p" as const })),
			...((isText || kind === "forum") && maybe(0.2, { auto_archive: "1d" })),
			...(kind === "forum" && {
				...maybe(0.5, {
					tags: [
						{ name: "Help", emoji: emojiReference() },
						{ name: name("T").slice(0, 20), moderated: true },
					],
				}),
				...maybe(0.3, { require_tag: true }),
				...maybe(0.3, { default_reaction: emojiReference() }),
				...maybe(0.3, { default_layout: "gallery" as const }),
				...maybe(0.3, { default_sort_order: "creation_date" as const }),
			}),
			...maybe(0.5, { overwrites: overwrites() }),
		};
	};
	const categoryCount = Math.ceil(channelCount / 12);
	const perPlace = Math.floor((channelCount - categoryCount) / (categoryCount + 1));
	const channels = (count: number) => Array.from({ length: count }, channel).sort(byKind);
	const document = {
		version: 1,
		omitted: "default",
		settings: {
			name: name("Guild"),
			...maybe(0.5, { afk_timeout: "15m" }),
			...maybe(0.5, { system_channel: "sys" }),
			...maybe(0.5, { system_channel_flags: ["SUPPRESS_JOIN_NOTIFICATIONS"] }),
			...(community
				? {
						community: true,
						verification_level: "MEDIUM",
						explicit_content_filter: "ALL_MEMBERS",
						rules_channel: "rules",
						public_updates_channel: "sys",
						preferred_locale: "de",
					}
				: maybe(0.5, { verification_level: "HIGH" })),
		},
		everyone,
		roles,
		emojis: emojis.map((emoji, index) => ({
			...emoji,
			...(emojiKeys[index] !== emoji.name && { key: emojiKeys[index] }),
		})),
		channels: [{ name: "sys", overwrites: [] }, { name: "rules", overwrites: [] }, ...channels(perPlace)],
		categories: Array.from({ length: categoryCount }, () => ({
			name: random.chance(0.2) ? "Category" : name("Cat"),
			overwrites: random.chance(0.5) ? overwrites() : [],
			channels: channels(perPlace),
		})),
		automod: Array.from(
			{ length: random.below(4) },
			(): AutomodRule => ({
				name: name("Rule"),
				trigger: "keyword",
				keyword_filter: ["bad", name("word")],
				actions: random.chance(0.5) ? ["block_message"] : ["block_message", "send_alert_message"],
				alert_channel: "sys",
				exempt_roles: some(roleKeys, 3),
				exempt_channels: ["rules"],
			}),
		).map((rule) => {
			const { alert_channel, ...rest } = rule;
			const alerts = rule.actions?.includes("send_alert_message");
			return alerts ? { ...rest, alert_channel } : rest;
		}),
		events: [
			{
				name: name("Event"),
				entity_type: "external" satisfies keyof typeof eventKinds,
				location: "Here",
				scheduled_start_time: "2999-01-01T00:00:00.000Z",
				scheduled_end_time: "2999-01-02T00:00:00.000Z",
			},
		],
		webhooks: [{ name: name("Hook"), channel: "sys" }],
	};
	return readDocument(document);
}

/** Discord's clients show voice and stage channels below the others. */
function byKind(a: Channel, b: Channel): number {
	const isBelow = ({ kind = "text" }: Channel) => Number(kind === "voice" || kind === "stage");
	return isBelow(a) - isBelow(b);
}
