// Which steps make a guild like a document, and which documents are refused.

import { describe, expect, test } from "bun:test";
import { ChannelType } from "discord.js";
import { InvalidDocument, readDocument } from "../../src/guild-document/format/document.ts";
import { exportDocument } from "../../src/guild-document/read/export.ts";
import { difference } from "../../src/guild-document/steps/difference.ts";
import type { BotSettings } from "../../src/guild-document/steps.ts";
import { type GivenState, guildId, guildState, idOf } from "./state.ts";

const category = ChannelType.GuildCategory;
const voice = ChannelType.GuildVoice;
const announcement = ChannelType.GuildAnnouncement;

/** Writes a step in one line: what it does and what changes. */
const line = (step: ReturnType<typeof difference>["steps"][number]) =>
	[
		step.id,
		...step.changes.map(
			({ field, before, after }) => `${field}: ${before === undefined ? "" : `${before} → `}${after}`,
		),
	].join(" | ");

/** Returns the steps and refusals in lines. */
function plan(given: GivenState, document: object, prune = false): string[] {
	const { steps, refusals } = difference(readDocument({ version: 1, ...document }), guildState(given), { prune });
	return [...steps.map(line), ...refusals.map(({ subject, reason }) => `! ${subject}: ${reason}`)];
}

function mistakes(given: GivenState, document: object): readonly string[] {
	try {
		plan(given, document);
	} catch (error) {
		if (error instanceof InvalidDocument) return error.issues;
		throw error;
	}
	return [];
}

const talk = [
	{ id: 50, name: "Talk", type: category },
	{ id: 51, name: "general", parent: 50 },
	{ id: 52, name: "memes", parent: 50 },
	{ id: 60, name: "Staff", type: category },
	{ id: 61, name: "mod-chat", parent: 60 },
	{ id: 70, name: "welcome" },
];
const roles = [
	{ id: 1, name: "Members" },
	{ id: 2, name: "Bot", managed: true },
	{ id: 3, name: "Mods" },
];
/** Settings of the bot. */
const ofBot = (stored: Record<string, unknown>): { bot: BotSettings } => ({
	bot: {
		stored,
		keys: new Map<string, "role" | "channel" | undefined>([
			["welcome.channel", "channel"],
			["welcome.message", undefined],
			["join_role.role", "role"],
			["spam.honeypots", "channel"],
		]),
		mistakesIn: (wanted) =>
			Object.entries(wanted).flatMap(([key, value]) => (value === "bad" ? [{ key, message: "is bad" }] : [])),
		check: (changed) => ({
			refused: Object.entries(changed).flatMap(([key, value]) =>
				value === idOf(2) || key === "no" ? [{ key, message: "ranks too high" }] : [],
			),
			warnings: [],
		}),
	},
});
const separators = [
	{ id: 1, name: "⸻", color: 1 },
	{ id: 2, name: "VIP" },
	{ id: 3, name: "⸻", color: 2 },
];

describe("an unchanged guild needs no step", () => {
	const states: Record<string, GivenState> = {
		"with roles and channels": { roles, channels: talk },
		"with equal positions": {
			roles: roles.map((role) => ({ ...role, position: 1 })),
			channels: talk.map((channel) => ({ ...channel, position: 0 })),
		},
		"with gaps between positions": {
			roles: roles.map((role, index) => ({ ...role, position: 7 * index + 3 })),
			channels: talk.map((one, index) => ({ ...one, position: 5 * index + 2 })),
		},
		"with voice channels among text channels": {
			channels: [
				{ id: 1, name: "Lounge", type: voice },
				{ id: 2, name: "general" },
				{ id: 3, name: "Music", type: voice },
				{ id: 4, name: "memes" },
			],
		},
		"with equal names": {
			roles: separators,
			channels: [
				...[50, 60].flatMap((id) => [
					{ id, name: "⸻", type: category },
					{ id: id + 1, name: "general", parent: id },
					{ id: id + 2, name: "general", parent: id },
				]),
				{ id: 70, name: "general" },
			],
			emojis: [1, 2].map((id) => ({ id: idOf(id), name: "same", roles: [] })),
		},
		"with overwrites for roles and members that are gone": {
			channels: [
				{
					id: 1,
					name: "general",
					permission_overwrites: [
						{ id: idOf(99), type: 0, allow: "0", deny: "1024" },
						{ id: idOf(98), type: 1, allow: "1024", deny: "0" },
						{ id: guildId, type: 0, allow: "0", deny: "0" },
					],
				},
			],
		},
		"with references to what is gone or elsewhere": {
			guild: { system_channel_id: idOf(99), features: ["COMMUNITY"] },
			channels: [
				{
					id: 1,
					name: "help",
					type: ChannelType.GuildForum,
					default_reaction_emoji: { emoji_id: idOf(98), emoji_name: null },
				},
			],
			webhooks: [
				{ id: idOf(5), type: 1, name: "Gone", channel_id: idOf(99) },
				{ id: idOf(6), type: 1, name: "News", channel_id: idOf(1) },
			],
			onboarding: { enabled: false, mode: 0, default_channel_ids: [idOf(99)], prompts: [] },
		},
		"with names that Discord would write otherwise today": {
			roles: [{ id: 1, name: " spaced " }],
			channels: [{ id: 1, name: "Old\u2003Name" }],
		},
		"with settings of the bot": {
			roles,
			channels: [...talk, { id: 62, name: "general", parent: 60 }],
			...ofBot({
				"welcome.channel": idOf(62),
				"join_role.role": idOf(98),
				"spam.honeypots": [idOf(70), idOf(99)],
				"welcome.message": "bad",
				"of a newer version": { a: idOf(1) },
			}),
		},
		"with an unknown locale and permission": {
			guild: { preferred_locale: "tlh" },
			everyone: ["VIEW_CHANNEL", "BIT_60"],
		},
	};
	test.each(Object.entries(states))("%s", (_, given) => {
		const state = guildState(given);
		const exported = exportDocument(state);
		expect(readDocument(JSON.parse(JSON.stringify(exported)))).toEqual(exported);
		for (const omitted of ["default", "keep"] as const) {
			const { steps, refusals } = difference({ ...exported, omitted }, guildState(given), { prune: true });
			expect([...steps.map(line), ...refusals]).toEqual([]);
		}
	});
});

test("exports are equal whatever the order in which Discord lists things", () => {
	const given = {
		roles,
		channels: talk,
		emojis: [1, 2, 3].map((id) => ({ id: idOf(id), name: "e1", roles: [] })),
		webhooks: [1, 2].map((id) => ({ id: idOf(id), type: 1, name: "Hook", channel_id: idOf(70) })),
		automod: [1, 2].map((id) => ({
			id: idOf(id),
			name: "Rule",
			trigger_type: 1,
			actions: [],
			enabled: true,
			exempt_roles: [idOf(3), idOf(1)],
			exempt_channels: [idOf(70), idOf(51)],
			trigger_metadata: { keyword_filter: ["b", "a"] },
		})),
		members: [1, 2].map((id) => ({ id: idOf(id), roles: [idOf(1), idOf(3)] })),
		bans: [1, 2].map((id) => ({ user: { id: idOf(id) }, reason: null })),
	};
	const state = guildState(given);
	const reversed = JSON.parse(JSON.stringify(state), (_, value) => (Array.isArray(value) ? value.reverse() : value));
	const text = JSON.stringify(exportDocument(state));
	expect(JSON.stringify(exportDocument({ ...reversed, pictures: new Map() }))).toBe(text);
});

describe("steps", () => {
	const rows: [string, GivenState, object, string[], prune?: boolean][] = [
		["a document that lists nothing changes nothing", { roles, channels: talk }, {}, [], true],
		[
			"a partial document changes only the fields that it has",
			{ roles: [{ id: 3, name: "Mods", color: 255, hoist: true }] },
			{ roles: [{ name: "Mods", mentionable: true }] },
			["edit role/100000000000000003 | mentionable: false → true"],
		],
		[
			"with omitted: default, other fields get their default value",
			{ roles: [{ id: 3, name: "Mods", color: 255, hoist: true }] },
			{ omitted: "default", roles: [{ name: "Mods", color: "#0000FF" }] },
			["edit role/100000000000000003 | hoist: true → false"],
		],
		[
			"a role is renamed by its id",
			{ roles },
			{ roles: [{ name: "Staff", id: idOf(3) }] },
			["edit role/100000000000000003 | name: Mods → Staff"],
		],
		[
			"an id of another guild is ignored",
			{ roles },
			{ roles: [{ name: "Mods", id: "999999999999999999", hoist: true }] },
			["edit role/100000000000000003 | hoist: false → true"],
		],
		[
			"the permissions of an integration's role change, its name does not",
			{ roles },
			{ roles: [{ name: "Bot", permissions: ["KICK_MEMBERS"] }] },
			["edit role/100000000000000002 | permissions:  → KICK_MEMBERS"],
		],
		[
			"an integration's role keeps its name if the document has it by id",
			{ roles },
			{ roles: [{ name: "Robot", id: idOf(2), hoist: true }] },
			["edit role/100000000000000002 | hoist: false → true"],
		],
		[
			"the role of an integration that is not here is never created",
			{ roles: [] },
			{ roles: [{ name: "Bot", managed: true }] },
			["! role Bot: an integration, such as a bot, owns it; Discord creates it when the integration is added"],
		],
		[
			"a role that an integration owns by now stays, and the document's is created",
			{ roles: [{ id: 3, name: "Mods", managed: true }] },
			{ roles: [{ name: "Mods", id: idOf(3), managed: false }] },
			["create role/Mods"],
		],
		[
			"permissions of @everyone",
			{ everyone: ["VIEW_CHANNEL"] },
			{ everyone: ["View Channels", "CONNECT"] },
			["edit everyone/100000000000000000 | permissions: VIEW_CHANNEL → VIEW_CHANNEL, CONNECT"],
		],
		[
			"@everyone in a role's permissions stands for those of @everyone",
			{ roles: [{ id: 1, name: "Members", permissions: ["VIEW_CHANNEL"] }] },
			{ roles: [{ name: "Members", permissions: ["@everyone"] }] },
			["edit role/100000000000000001 | permissions: VIEW_CHANNEL → VIEW_CHANNEL, SEND_MESSAGES"],
		],
		[
			"roles that the document does not list stay below their neighbors",
			{ roles: ["c", "b2", "b", "a"].map((name, id) => ({ id: id + 1, name })) },
			{ roles: [{ name: "c" }, { name: "b" }, { name: "a" }] },
			["order role/all | c: at the top, above b | a: below b2, at the bottom"],
		],
		[
			"roles that the document does not list do not move along with those that it does",
			{ roles: ["d", "c", "b", "a"].map((name, id) => ({ id: id + 1, name })) },
			{ roles: [{ name: "c" }, { name: "a" }] },
			["order role/all | c: at the top, above b | a: below b, above d"],
		],
		[
			"a single listed category stays where it is, and a new one comes below it",
			{ channels: talk },
			{ categories: [{ name: "Staff" }, { name: "New" }] },
			["create category/New"],
		],
		[
			"a new role at the bottom needs no ordering",
			{ roles },
			{ roles: [{ name: "Mods" }, { name: "Members" }, { name: "New" }] },
			["create role/New"],
		],
		[
			"a new role above others is ordered",
			{ roles },
			{ roles: [{ name: "New" }, { name: "Mods" }] },
			["create role/New", "order role/all | New: at the top, above Mods"],
		],
		[
			"prune deletes exactly what listed sections do not list",
			{ roles, channels: talk },
			{ categories: [{ name: "Talk", channels: [{ name: "general" }] }] },
			["delete channel/100000000000000052", "delete channel/100000000000000061", "delete category/100000000000000060"],
			true,
		],
		[
			"prune leaves the channels of a category that does not list them",
			{ channels: talk },
			{ categories: [{ name: "Talk" }, { name: "Staff" }] },
			[],
			true,
		],
		[
			"prune of roles leaves those of integrations",
			{ roles, channels: talk },
			{ roles: [{ name: "Mods" }] },
			["delete role/100000000000000001"],
			true,
		],
		[
			"a new category after one that is only named comes below it",
			{ channels: talk },
			{ categories: [{ name: "Talk" }, { name: "New" }] },
			["create category/New", "order channel/all | New: below Talk, above Staff"],
		],
		[
			"a new category after one that is listed for its content comes last",
			{ channels: talk },
			{ categories: [{ name: "Talk", channels: [{ name: "memes" }] }, { name: "New" }] },
			["create category/New"],
		],
		[
			"a new category between two others comes between them",
			{ channels: talk },
			{ categories: [{ name: "Talk", channels: [] }, { name: "New" }, { name: "Staff", channels: [] }] },
			["create category/New", "order channel/all | New: below Talk, above Staff"],
		],
		[
			"a new channel after one that is edited comes last",
			{ channels: talk },
			{ categories: [{ name: "Talk", channels: [{ name: "general", topic: "Hi" }, { name: "new" }] }] },
			[`edit channel/${idOf(51)} | topic:  → Hi`, "create channel/new | category: Talk"],
		],
		["without prune nothing is deleted", { roles, channels: talk }, { roles: [], channels: [], categories: [] }, []],
		[
			"webhooks and events are deleted before their channels",
			{ channels: [{ id: 70, name: "old" }], webhooks: [{ id: idOf(5), type: 1, name: "H", channel_id: idOf(70) }] },
			{ channels: [], webhooks: [] },
			["delete webhook/100000000000000005", "delete channel/100000000000000070"],
			true,
		],
		[
			"a channel is moved and renamed at once by its id",
			{ channels: talk },
			{ categories: [{ name: "Staff", channels: [{ name: "Mod Memes", id: idOf(52) }] }] },
			["edit channel/100000000000000052 | category: Talk → Staff | name: memes → mod-memes"],
		],
		[
			"a channel moves out of a category, with which it becomes private before",
			{ channels: talk },
			{
				categories: [
					{ name: "Talk", overwrites: [{ role: "@everyone", deny: ["VIEW_CHANNEL"] }] },
					{
						name: "Staff",
						overwrites: [{ role: "@everyone", deny: ["SEND_MESSAGES"] }],
						channels: [{ name: "memes", id: idOf(52) }],
					},
				],
			},
			[
				"edit category/100000000000000050 | access of @everyone: -VIEW_CHANNEL",
				"edit category/100000000000000060 | access of @everyone: -SEND_MESSAGES",
				"edit channel/100000000000000052 | category: Talk → Staff | access: keeps its own",
			],
		],
		[
			"a name that Discord writes the same way is no change",
			{ channels: talk },
			{ channels: [{ name: "Welcome", slowmode: "5s" }] },
			["edit channel/100000000000000070 | slowmode: 0s → 5s"],
		],
		[
			"a text channel becomes an announcement channel",
			{ guild: { features: ["COMMUNITY"] }, channels: [{ id: 70, name: "news", rate_limit_per_user: 5 }] },
			{ channels: [{ name: "news", kind: "announcement" }] },
			["edit channel/100000000000000070 | kind: text → announcement"],
		],
		[
			"a converted channel gets the settings of its new kind in the same step",
			{ channels: [{ id: 70, name: "news", type: announcement }] },
			{ channels: [{ name: "news", kind: "text", slowmode: "9s" }] },
			["edit channel/100000000000000070 | kind: announcement → text | slowmode: 0s → 9s"],
		],
		[
			"kinds come from the guild",
			{ channels: [{ id: 70, name: "Lounge", type: voice }] },
			{ channels: [{ name: "Lounge", user_limit: 5 }] },
			["edit channel/100000000000000070 | user_limit: 0 → 5"],
		],
		[
			"of a text and a voice channel the one with exactly this name is meant",
			{
				channels: [
					{ id: 70, name: "lounge" },
					{ id: 71, name: "Lounge", type: voice },
				],
			},
			{ channels: [{ name: "Lounge", user_limit: 5 }] },
			["edit channel/100000000000000071 | user_limit: 0 → 5"],
		],
		[
			"Community is enabled with both channels of the guild",
			{ guild: { rules_channel_id: idOf(70), public_updates_channel_id: idOf(51) }, channels: talk },
			{ settings: { community: true } },
			["edit settings/community | community: false → true"],
		],
		[
			"Community without its channels is refused",
			{ channels: talk },
			{ settings: { community: true, rules_channel: "welcome" } },
			[
				"! settings.community: Discord enables Community only with a rules_channel and a public_updates_channel; add both to settings",
			],
		],
		[
			"what only communities have follows after Community",
			{ channels: talk },
			{
				settings: { community: true, rules_channel: "rules", public_updates_channel: "welcome" },
				channels: [
					{ name: "rules", kind: "announcement" },
					{ name: "stage", kind: "stage" },
				],
				welcome_screen: { enabled: true, channels: [{ channel: "rules", description: "Read" }] },
			},
			[
				"create channel/rules | kind: announcement",
				"edit settings/community | community: false → true | rules_channel:  → rules | public_updates_channel:  → welcome",
				"create channel/stage | kind: stage",
				"edit welcome_screen/welcome_screen | enabled: false → true | channels:  → rules description Read",
			],
		],
		[
			"a reference may be the name of something with a key",
			{},
			{ roles: [{ name: "Supporters", key: "vip" }], channels: [{ name: "a", overwrites: [{ role: "Supporters" }] }] },
			["create role/vip", "create channel/a | access of Supporters (key vip): nothing allowed or denied"],
		],
		[
			"tags are named with their emoji",
			{ emojis: [{ id: idOf(61), name: "sprout" }] },
			{
				channels: [
					{
						name: "questions",
						kind: "forum",
						tags: [
							{ name: "Soil", emoji: ":sprout:" },
							{ name: "News", emoji: "🐛", moderated: true },
						],
					},
				],
			},
			["create channel/questions | kind: forum | tags: Soil emoji :sprout:, News emoji 🐛 moderated true"],
		],
		[
			"a reference may be an id",
			{ channels: talk },
			{ settings: { system_channel: idOf(51) } },
			["edit settings/channels | system_channel:  → general"],
		],
		[
			"members get roles, and never lose any",
			{ roles, members: [{ id: idOf(7), roles: [idOf(1)] }] },
			{
				members: [
					{ id: idOf(7), roles: ["Mods", "Bot"] },
					{ id: idOf(7), roles: ["Mods"] },
					{ id: idOf(8), roles: ["Mods"] },
				],
			},
			[
				"assign member/100000000000000007/100000000000000003 | role: Mods",
				"! role Bot of member 100000000000000007: an integration owns the role, and gives it itself",
				"! member 100000000000000008: is not in the guild",
			],
		],
		[
			"bans are added, and never lifted",
			{ bans: [{ user: { id: idOf(1) }, reason: null }] },
			{ bans: [{ id: idOf(2), reason: "spam" }, { id: idOf(2) }] },
			["ban ban/100000000000000002 | reason: spam"],
		],
		[
			"settings of the bot are changed at once, and last",
			{
				roles,
				channels: talk,
				...ofBot({ "welcome.channel": idOf(51), "welcome.message": "Hi", "spam.honeypots": [idOf(70)] }),
			},
			{
				bot: {
					"welcome.channel": "#new",
					"welcome.message": null,
					"join_role.role": "@Members",
					"spam.honeypots": ["Talk", "new"],
				},
				channels: [{ name: "new" }],
				categories: [{ name: "Talk" }, { name: "Staff" }],
			},
			[
				"create channel/new",
				"delete channel/100000000000000070",
				"edit bot/bot | welcome.channel: general → new | welcome.message: Hi → default | join_role.role: default → Members | spam.honeypots: welcome → Talk, new",
			],
			true,
		],
		[
			"a whole document resets settings of the bot, but those of a newer version",
			ofBot({ "welcome.message": "Hi", newer: 1 }),
			{ omitted: "default", bot: {} },
			["edit bot/bot | welcome.message: Hi → default"],
		],
		[
			"of settings of the bot, the rest is changed",
			{ roles, ...ofBot({}) },
			{ bot: { "join_role.role": "Bot", "welcome.message": "Hi" } },
			["edit bot/bot | welcome.message: default → Hi", "! bot.join_role.role: ranks too high"],
		],
		[
			"an emoji without picture is refused",
			{},
			{ emojis: [{ name: "party" }] },
			["! emoji party: the document does not say which picture it has"],
		],
	];
	test.each(rows)("%s", (_, given, document, expected, prune = false) => {
		expect(plan(given, document, prune)).toEqual(expected);
	});
});

describe("documents that are refused", () => {
	const rows: [string, GivenState, object, string[]][] = [
		[
			"a name that several have",
			{ roles: separators },
			{ roles: [{ name: "⸻", hoist: true }] },
			[
				`role "⸻": the name is ambiguous (in the document: 1; in the guild: 2, ids: ${idOf(3)}, ${idOf(1)}); in the document, give each role of this name its id from the guild`,
			],
		],
		[
			"a channel that is elsewhere",
			{ channels: talk },
			{ channels: [{ name: "general" }] },
			[
				`channel "general": the guild has a channel with this name elsewhere (in "Talk", id ${idOf(51)}); add this id to move the existing channel, or list the existing channel, too, to keep it and create another one`,
			],
		],
		[
			"a reference to nothing",
			{},
			{ settings: { afk_channel: "Nowhere" } },
			['channel "Nowhere": neither the document nor the guild has one with this name'],
		],
		[
			"a reference to one of several",
			{ channels: [...talk, { id: 62, name: "general", parent: 60 }] },
			{ settings: { system_channel: "general" } },
			[
				'channel "general": the guild has 2 channels with this name; refer to one of them by its key: "Talk/general", "Staff/general"',
			],
		],
		[
			"a reference to one of several in the document",
			{},
			{ channels: [{ name: "a" }, { name: "a" }], settings: { system_channel: "a" } },
			['channel "a": the document has 2 channels with this name; give each a key, and refer to it by its key'],
		],
		[
			"lock_permissions where it means nothing",
			{},
			{
				channels: [{ name: "a", lock_permissions: true }],
				categories: [
					{
						name: "Box",
						channels: [
							{ name: "b", overwrites: [], lock_permissions: true },
							{ name: "c", overwrites: [], lock_permissions: false },
						],
					},
				],
			},
			["a", "b"].map((name) => `channel "${name}": lock_permissions is for channels in a category, without overwrites`),
		],
		[
			"a kind that cannot be told",
			{
				channels: [
					{ id: 70, name: "lounge" },
					{ id: 71, name: "lounge", type: voice },
				],
			},
			{ channels: [{ name: "lounge" }] },
			[
				'channel "lounge": the guild has channels of different kinds with this name (text, voice); add the kind of the channel',
			],
		],
		[
			"an id that two have",
			{ roles },
			{ roles: [1, 2].map((n) => ({ name: `R${n}`, id: idOf(3) })) },
			["role 100000000000000003: the guild document has this id more than once"],
		],
		[
			"two overwrites for one role",
			{},
			{ channels: [{ name: "a", overwrites: [{ role: "@everyone" }, { role: "@everyone" }] }] },
			['channel "a": more than one overwrite for "@everyone"; merge them'],
		],
		[
			"settings of another kind of channel",
			{},
			{ channels: [{ name: "a", kind: "voice", topic: "b" }] },
			['channel "a": voice channels have no topic'],
		],
		[
			"wrong settings of the bot, with what else is wrong",
			ofBot({}),
			{ bot: { "welcome.message": "bad", "join_role.role": "Nobody" }, settings: { afk_channel: "Nowhere" } },
			[
				'channel "Nowhere": neither the document nor the guild has one with this name',
				'role "Nobody": neither the document nor the guild has one with this name',
				"bot.welcome.message: is bad",
			],
		],
		[
			"fields of another kind of rule",
			{},
			{ automod: [{ name: "a", trigger: "spam", keyword_filter: ["b"] }] },
			['AutoMod rule "a": spam rules have no keyword_filter'],
		],
	];
	test.each(rows)("%s", (_, given, document, expected) => {
		expect(mistakes(given, document)).toEqual(expected);
	});
});

test("hidden channels leave onboarding before they are hidden", () => {
	const channels = Array.from({ length: 8 }, (_, index) => ({ id: index + 1, name: `c${index + 1}` }));
	const given = {
		guild: { features: ["COMMUNITY"] },
		channels,
		onboarding: {
			enabled: true,
			mode: 0,
			prompts: [],
			default_channel_ids: channels.slice(0, 7).map(({ id }) => idOf(id)),
		},
	};
	expect(
		plan(given, {
			channels: [{ name: "c1", overwrites: [{ role: "@everyone", deny: ["VIEW_CHANNEL"] }] }],
			onboarding: { default_channels: ["c2", "c3", "c4", "c5", "c6", "c7", "c8"] },
		}),
	).toEqual([
		"edit onboarding/hidden channels | enabled: true → false | default_channels: c1, c2, c3, c4, c5, c6, c7 → c2, c3, c4, c5, c6, c7",
		"edit channel/100000000000000001 | access of @everyone: -VIEW_CHANNEL",
		"edit onboarding/onboarding | enabled: false → true | default_channels: c2, c3, c4, c5, c6, c7 → c2, c3, c4, c5, c6, c7, c8",
	]);
});

test("what only communities have is refused elsewhere, because Discord would ignore it", () => {
	const settings = { afk_timeout: "1m", rules_channel: "welcome", preferred_locale: "de", safety_alerts_channel: "" };
	const document = { settings, welcome_screen: { enabled: true }, channels: [{ name: "welcome" }] };
	const why =
		"only communities have this, and the guild is not one; an administrator can enable Community, or the document with settings.community";
	expect(plan({ channels: talk }, document)).toEqual([
		"edit settings/settings | afk_timeout: 5m → 1m",
		`! settings.rules_channel: ${why}`,
		`! settings.preferred_locale: ${why}`,
		`! welcome_screen: ${why}`,
	]);
});

test("onboarding is guarded by the roles that it newly gives", () => {
	const option = (title: string, roles: string[]) => ({ title, roles });
	const state = guildState({
		guild: { features: ["COMMUNITY"] },
		roles: [
			{ id: 1, name: "Old" },
			{ id: 2, name: "Staff" },
		],
		onboarding: {
			enabled: false,
			mode: 0,
			default_channel_ids: [],
			prompts: [
				{
					id: idOf(8),
					title: "Who?",
					type: 0,
					single_select: false,
					required: false,
					in_onboarding: true,
					options: [{ id: idOf(9), title: "A", role_ids: [idOf(1)], channel_ids: [] }],
				},
			],
		},
	});
	const { steps } = difference(
		readDocument({
			roles: [{ name: "New" }],
			onboarding: { prompts: [{ title: "Who?", options: [option("A", ["Old"]), option("B", ["Staff", "New"])] }] },
		}),
		state,
		{ prune: false },
	);
	expect(steps.find(({ kind }) => kind === "onboarding")?.guard.roleIds).toEqual([idOf(2), "+role/New"]);
});

test("a key that is not the name cannot pass for the name of another role", () => {
	const given = { roles: [{ id: 1, name: "Admins" }], channels: [{ id: 2, name: "staff" }] };
	const overwrites = [{ role: "Admins", allow: ["VIEW_CHANNEL"] }];
	const roles = [{ name: "Guests", key: "Admins" }];
	expect(plan(given, { roles, channels: [{ name: "staff", overwrites }] })).toContain(
		`edit channel/${idOf(2)} | access of Guests (key Admins): VIEW_CHANNEL`,
	);
});
