// Whatever a guild is like, its export is a valid document, and needs no step.

import { expect, test } from "bun:test";
import { readDocument, toYaml } from "../../src/guild-document/format/document.ts";
import { exportDocument } from "../../src/guild-document/read/export.ts";
import { difference } from "../../src/guild-document/steps/difference.ts";
import { type Random, seeded } from "../support/random.ts";
import { type GivenState, guildId, guildState, idOf } from "./state.ts";

const pieces = [
	...["a", "B", " ", "  ", "-", "_", "⸻", "🎉", "ß", "İ", "\u3164", "\u2003"],
	...["\n", "\t", "\r", "'", '"', ":", "#", "{", "*", "&", "\u202e", "@everyone"],
	...["+role/a", "null", "~", "0x1", "---", "\u0085", "\u2028", "\ufeff", "\u0007"],
	...["<@1>", "\\", "%", "|", ">", "[", "]", "?", "!", "`", "𝒳", "yes", "1e3"],
];

/** Returns a random text of at most `max` characters, often of exactly so many. */
function text(random: Random, max: number, min = 1): string {
	const length = random.chance(0.1) ? max : min + random.below(Math.min(max, 12));
	const characters: string[] = [];
	while (characters.length < length) characters.push(...random.pick(pieces));
	const cut = characters.slice(0, length).join("");
	return cut.trim() === "" ? `x${cut}`.slice(0, max) : cut;
}

function some<T>(random: Random, items: readonly T[], max = 4): T[] {
	const count = random.below(max + 1);
	return [...new Set(Array.from({ length: count }, () => random.pick(items)))];
}

/** Returns the state of a random guild, with references to what it has and what it does not have. */
function randomState(random: Random) {
	const roleIds = Array.from({ length: random.below(9) }, (_, at) => at + 1);
	const channelIds = Array.from({ length: random.below(16) }, (_, at) => at + 50);
	const emojiIds = Array.from({ length: random.below(5) }, (_, at) => at + 90);
	const roleId = () => idOf(random.pick([...roleIds, 30]));
	const channelId = () => random.pick([null, idOf(random.pick([...channelIds, 31]))]);
	const roles = () => some(random, [...roleIds, 30].map(idOf), 20);
	const channels = () => some(random, [...channelIds, 31].map(idOf), 50);
	const emoji = () => {
		const id = random.pick([null, null, idOf(random.pick([...emojiIds, 32]))]);
		return { emoji_id: id, emoji_name: id ? null : random.pick([null, "👍"]) };
	};
	const bits = () => String(BigInt(random.below(2 ** 32)) * BigInt(random.below(2 ** 20)));
	const name = (max: number, min?: number) =>
		random.chance(0.4) ? random.pick(["same", "⸻"]) : text(random, max, min);
	const maybe = <T>(value: T) => random.pick([value, value, null, undefined]);
	const types = channelIds.map(() => random.pick([0, 0, 0, 2, 4, 5, 13, 15, 16, 14]));
	const categories = channelIds.filter((_, at) => types[at] === 4);
	const given: GivenState = {
		guild: {
			features: some(random, ["COMMUNITY", "WELCOME_SCREEN_ENABLED"]),
			name: text(random, 100, 2),
			description: maybe(text(random, 300)) ?? null,
			icon: random.pick([null, "abc"]),
			verification_level: random.below(6),
			explicit_content_filter: random.below(4),
			afk_timeout: random.pick([60, 300, 3600]),
			afk_channel_id: channelId(),
			system_channel_id: channelId(),
			rules_channel_id: channelId(),
			system_channel_flags: random.below(256),
			preferred_locale: random.pick(["de", "es-419", "zh-CN"]),
		},
		roles: roleIds.map((id) => ({
			id,
			name: name(100),
			position: random.below(10),
			managed: random.chance(0.2),
			color: random.below(2 ** 24),
			icon: random.pick([null, null, "def"]),
			unicode_emoji: random.pick([null, "👍"]),
			...(random.chance(0.5) && {
				colors: {
					primary_color: random.below(2 ** 24),
					secondary_color: random.pick([null, random.below(2 ** 24)]),
					tertiary_color: null,
				},
			}),
		})),
		channels: channelIds.map((id, at) => ({
			id,
			name: name(100),
			type: types[at] ?? 0,
			position: random.below(12),
			...(types[at] !== 4 && random.chance(0.7) && { parent: random.pick([...categories, 33]) }),
			permission_overwrites: [
				...some(random, [guildId, ...roles()]).map((one) => ({ id: one, type: 0 })),
				...some(random, [70, 71].map(idOf)).map((one) => ({ id: one, type: 1 })),
			].map((one) => ({ ...one, allow: bits(), deny: bits() })),
			topic: maybe(text(random, types[at] === 15 ? 4096 : 1024)),
			nsfw: maybe(random.chance(0.5)),
			rate_limit_per_user: maybe(random.below(21_601)),
			bitrate: maybe(8000 + random.below(376_001)),
			user_limit: maybe(random.below(100)),
			rtc_region: maybe("us-east"),
			video_quality_mode: maybe(random.below(4)),
			default_auto_archive_duration: maybe(random.pick([60, 1440, 4320, 10_080, 5])),
			flags: random.below(32) + random.pick([0, 1 << 21]),
			available_tags: maybe(
				Array.from({ length: random.below(21) }, (_, tag) => ({
					id: idOf(500 + tag),
					name: text(random, 20),
					moderated: false,
					...emoji(),
				})),
			),
			default_reaction_emoji: maybe(emoji()),
			default_sort_order: maybe(random.below(4)),
			default_forum_layout: maybe(random.below(4)),
		})),
		emojis: emojiIds.map((id) => ({
			id: idOf(id),
			name: random.pick(["same", "a_1", "E".repeat(32)]),
			animated: random.chance(0.5),
			managed: random.chance(0.2),
			roles: roles(),
		})),
		automod: Array.from({ length: random.below(4) }, (_, at) => ({
			id: idOf(200 + at),
			name: name(100),
			enabled: random.chance(0.5),
			trigger_type: random.pick([1, 3, 4, 5, 6, 9]),
			trigger_metadata: {
				keyword_filter: maybe(some(random, [text(random, 60), text(random, 60)])),
				regex_patterns: maybe([text(random, 260)]),
				presets: maybe(some(random, [1, 2, 3, 4])),
				allow_list: maybe([text(random, 60)]),
				mention_total_limit: maybe(random.below(51)),
			},
			actions: some(random, [
				{ type: 1, metadata: { custom_message: text(random, 150) } },
				{ type: 2, metadata: { channel_id: channelId() } },
				{ type: 3, metadata: { duration_seconds: random.below(2_419_201) } },
				{ type: 4, metadata: {} },
				{ type: 9, metadata: {} },
			]),
			exempt_roles: roles(),
			exempt_channels: channels(),
		})),
		events: Array.from({ length: random.below(4) }, (_, at) => ({
			id: idOf(220 + at),
			name: name(100),
			description: random.pick([null, text(random, 1000)]),
			entity_type: random.pick([1, 2, 3, 4]),
			channel_id: channelId(),
			entity_metadata: random.pick([null, { location: text(random, 100) }]),
			scheduled_start_time: `29${10 + at}-01-01T00:00:00+00:00`,
			scheduled_end_time: random.pick([null, "2999-01-01T00:00:00.123456+00:00"]),
			status: random.pick([1, 1, 2, 3, 4]),
		})),
		webhooks: Array.from({ length: random.below(4) }, (_, at) => ({
			id: idOf(240 + at),
			name: maybe(name(80)) ?? null,
			type: random.pick([1, 1, 2, 3]),
			channel_id: channelId(),
		})),
		welcomeScreen:
			maybe({
				description: random.pick([null, text(random, 140)]),
				welcome_channels: some(random, [...channelIds, 31], 5).map((id) => ({
					channel_id: idOf(id),
					description: text(random, 50),
					...emoji(),
				})),
			}) ?? undefined,
		onboarding:
			maybe({
				enabled: random.chance(0.5),
				mode: random.below(2),
				default_channel_ids: channels(),
				prompts: Array.from({ length: random.below(4) }, (_, at) => ({
					id: idOf(260 + at),
					title: text(random, 100),
					type: random.below(2),
					single_select: true,
					required: true,
					in_onboarding: random.chance(0.5),
					options: Array.from({ length: 1 + random.below(4) }, () => ({
						id: idOf(280),
						title: text(random, 50),
						description: random.pick([null, text(random, 100)]),
						emoji: random.pick([null, { id: idOf(32), name: null }, { id: null, name: "👍" }]),
						role_ids: roles(),
						channel_ids: channels(),
					})),
				})),
			}) ?? undefined,
		members: Array.from({ length: random.below(4) }, (_, at) => ({
			id: idOf(300 + at),
			roles: [...roles(), roleId()],
		})),
		bans: Array.from({ length: random.below(4) }, (_, at) => ({
			user: { id: idOf(320 + at) },
			reason: random.pick([null, "", text(random, 512)]),
		})),
		pictures: new Map([["abc", "0".repeat(32)]]),
	};
	return guildState(given);
}

test.each([1, 2, 3])("random guilds (seed %d)", (seed) => {
	const random = seeded(seed);
	for (let round = 0; round < 120; round++) {
		const state = randomState(random);
		const exported = exportDocument(state);
		expect(readDocument(JSON.stringify(exported))).toEqual(exported);
		expect(readDocument(toYaml(exported))).toEqual(exported);
		for (const omitted of ["default", "keep"] as const) {
			const { steps, refusals } = difference({ ...exported, omitted }, state, { prune: true });
			expect(steps.map(({ id, changes }) => `${id} ${JSON.stringify(changes)}`)).toEqual([]);
			expect(refusals).toEqual([]);
		}
	}
});
