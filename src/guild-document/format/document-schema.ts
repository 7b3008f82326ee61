// The format of the guild document: its fields with their descriptions and limits. The limits are Discord's, so that each
// guild has a valid document. https://discord.com/developers/docs/reference

import * as v from "valibot";
import { durationText, secondsOf } from "../../lib/times.ts";
import { actionNames, presetNames, triggerNames } from "../names/automod-rule.ts";
import { type EditedKind, editedKinds, layouts, namesOf, sortOrders, videoQualities } from "../names/channel-kinds.ts";
import { bitOf, bitsByName } from "../names/permission-names.ts";
import { eventKinds } from "../names/scheduled-event.ts";
import { afkTimeouts, levels, noticeFlags } from "../names/setting-names.ts";

/** Value of a document's field `version`. */
export const documentVersion = 1;

/** The default role, which all members have. */
export const everyone = "@everyone";

const withText = <S extends v.GenericSchema>(schema: S, description: string) =>
	v.pipe(schema, v.description(description)) as unknown as S;

const published = <T>(jsonSchema: Record<string, unknown>) =>
	v.metadata<T, { jsonSchema: Record<string, unknown> }>({ jsonSchema });

const text = (min: number, max: number, description: string) =>
	withText(
		v.pipe(
			v.string("expected a text; put numbers in quotes"),
			v.check(
				(input) => {
					// Most texts are short enough without counting.
					if (input.length >= min * 2 && input.length <= max) return true;
					const { length } = [...input];
					return length >= min && length <= max;
				},
				`expected ${min > 0 ? `${min} to` : "at most"} ${max} characters`,
			),
			v.check(
				(input) => input.isWellFormed() && !input.includes("\0"),
				"expected a text without NUL characters and lone surrogates",
			),
			published({ ...(min > 0 && { minLength: min }), maxLength: max }),
		),
		description,
	);
const integer = (min: number, max: number, description: string) => {
	const message = `expected an integer from ${min} to ${max}`;
	return withText(
		v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message)),
		description,
	);
};
/** As in tools; "off" is 0. Documents have it as `durationText` writes it. `allowed`: the most, or all. */
const duration = (what: string, allowed: string | readonly string[]) => {
	const isMost = typeof allowed === "string";
	const isAllowed = (text: string) => (isMost ? secondsOf(text) <= secondsOf(allowed) : allowed.includes(text));
	const range = isMost ? `up to ${allowed}` : `one of ${allowed.join(", ")}`;
	return withText(
		v.pipe(
			v.string("expected a duration such as 30s"),
			v.transform((input) => durationText(secondsOf(input === "off" ? "0s" : input))),
			v.check(isAllowed, `expected a duration: ${range}`),
			v.metadata({ notation: "duration" } satisfies Marks),
		),
		`${what}: ${range}.`,
	);
};
const flag = (description: string) => withText(v.boolean("expected true or false"), description);
const choice = <const Names extends readonly string[]>(names: Names, description: string) =>
	withText(v.picklist(names, `expected one of ${names.join(", ")}`), description);
const list = <S extends v.GenericSchema>(item: S, max: number, description: string) =>
	withText(v.pipe(v.array(item, "expected a list"), v.maxLength(max, `expected at most ${max} entries`)), description);
const optional = v.optional;

/** What a field means beside its values: see fields.ts. */
export interface Marks {
	default?: unknown;
	ref?: "role" | "channel" | "emoji";
	/** Of a new thing. An existing one has it already. */
	isNeeded?: boolean;
	/** Without it, its thing is nothing. */
	isIdentity?: true;
	/** How its text is written, if not freely: what the format's description calls it. */
	notation?: "user" | "time" | "permission" | "color" | "duration";
}
const marked = <S extends v.GenericSchema>(schema: S, marks: Marks) =>
	v.pipe(schema, v.metadata({ ...marks })) as unknown as S;
/** A field that may be left out: exports do so if it has its default value. */
const defaulted = <S extends v.GenericSchema>(value: NoInfer<v.InferInput<S>>, schema: S) =>
	v.optional(marked(schema, { default: value }));
/** A field that only new things need. */
const needed = <S extends v.GenericSchema>(schema: S) => v.optional(marked(schema, { isNeeded: true }));

export const id = withText(
	v.pipe(
		v.string("expected an id in quotes, because it is too long for a number"),
		v.regex(/^\d{17,20}$/, "expected a Discord id of 17 to 20 digits"),
	),
	"Discord's id. A hint: it is compared first, then the name.",
);
const userId = marked(withText(id, "Id or @username of the user."), { notation: "user" });
const maxKey = 220;
export const key = text(
	1,
	maxKey,
	"How the rest of the document refers to this. Only needed where several have the same name. Default: its name.",
);
const keyOf = (ref: "role" | "channel", description: string, marks: Marks = {}) =>
	marked(text(1, maxKey, description), { ref, ...marks });
const reference = (what: string) => defaulted("", marked(text(0, maxKey, `${what}; "" for none.`), { ref: "channel" }));
const roles = (description: string, max = 250) => list(keyOf("role", "Key of a role."), max, description);
const channels = (description: string) => list(keyOf("channel", "Key of a channel."), 500, description);
const picture = (what: string) =>
	withText(
		v.pipe(v.string("expected a text"), v.regex(/^([0-9a-f]{32})?$/, 'expected 32 hexadecimal digits, or "" for none')),
		`${what}: the first 32 hexadecimal digits of its SHA-256; "" for none, zeros if it was not loaded. Backups keep the file.`,
	);
const emojiReference = (what: string) =>
	marked(text(0, maxKey, `${what}: an emoji such as 👍, :name: for a custom emoji of the guild, or "" for none.`), {
		ref: "emoji",
	});
const permission = v.pipe(
	v.string("expected a permission such as VIEW_CHANNEL"),
	v.check((name) => permissionName(name) !== undefined, "expected a permission such as VIEW_CHANNEL"),
	v.transform((name) => permissionName(name) ?? name),
	v.metadata({ notation: "permission" } satisfies Marks),
);

const namesByBit = new Map([...bitsByName].map(([name, bit]) => [bit, name]));

/** Any spelling, such as "View Channel"; "BIT_53" for a bit without a name, and "@everyone". */
function permissionName(name: string): string | undefined {
	if (name === everyone || bitsByName.has(name)) return name;
	const [, number] = /^BIT_(\d|[1-5]\d|6[0-2])$/.exec(name) ?? [];
	if (number !== undefined) return namesByBit.get(1n << BigInt(number)) ?? name;
	return namesByBit.get(bitOf(name) ?? 0n);
}

const permissions = (description: string) => list(permission, 100, description);

export const overwrite = v.strictObject({
	role: optional(keyOf("role", "Key of the role; @everyone for all members.", { isIdentity: true })),
	member: optional(userId),
	allow: optional(permissions("Allowed permissions.")),
	deny: optional(permissions("Denied permissions.")),
});
const overwrites = list(
	v.pipe(
		overwrite,
		v.check(({ role, member }) => (role === undefined) !== (member === undefined), "expected either role or member"),
		published({ oneOf: [{ required: ["role"] }, { required: ["member"] }] }),
	),
	1000,
	"Default: those of the category.",
);

export const settings = v.strictObject({
	name: optional(text(2, 100, "Name of the guild.")),
	description: defaulted("", text(0, 300, "Shown in discovery.")),
	icon: defaulted("", picture("Icon")),
	community: defaulted(false, flag("Whether Community is enabled.")),
	verification_level: defaulted("NONE", choice(levels.verification_level, "What members need to write.")),
	default_message_notifications: defaulted(
		"ALL_MESSAGES",
		choice(levels.default_message_notifications, "Members' default."),
	),
	explicit_content_filter: defaulted("DISABLED", choice(levels.explicit_content_filter, "Whose media are scanned.")),
	afk_channel: reference("Voice channel for idle members"),
	afk_timeout: defaulted("5m", duration("Idle time until members are moved to the AFK channel", afkTimeouts)),
	system_channel: reference("Channel for notices of joins and boosts"),
	system_channel_flags: defaulted(
		[],
		list(choice([...noticeFlags.keys()], "A notice."), noticeFlags.size, "The notices that are off."),
	),
	rules_channel: reference("Channel with the rules; communities only"),
	public_updates_channel: reference("Channel for Discord's notices to moderators; communities only"),
	safety_alerts_channel: reference("Channel for safety alerts; communities only"),
	preferred_locale: defaulted("en-US", text(2, 20, "Language, such as en-US or de; communities only.")),
	premium_progress_bar_enabled: defaulted(false, flag("Show the boost progress.")),
});

const hexColors = (text: string) => text.split(" to ").map((one) => one && Bun.color(one, "HEX"));

const color = withText(
	v.pipe(
		v.string('expected a color in quotes, such as "#8E44AD"'),
		v.regex(
			/^((#[0-9A-Fa-f]{6}|[a-z]{3,20})( to (#[0-9A-Fa-f]{6}|[a-z]{3,20})){0,2})?$/,
			'expected a color such as "#8E44AD" or purple',
		),
		v.check((input) => input === "" || hexColors(input).every(Boolean), "expected the name of a CSS color"),
		v.transform((input) => hexColors(input).join(" to ")),
		// Discord stores black as 0, which means no color.
		v.transform((input) => (input === "#000000" ? "" : input)),
		v.metadata({ notation: "color" } satisfies Marks),
	),
	'Color such as "#8E44AD" or purple, or a gradient: "#8E44AD to #11806A"; "" for none.',
);

export const role = v.strictObject({
	name: text(1, 100, "Name of the role."),
	id: optional(id),
	key: optional(key),
	managed: defaulted(
		false,
		flag("Whether an integration, such as a bot, owns the role. Such a role is never created or deleted."),
	),
	color: defaulted("", color),
	hoist: defaulted(false, flag("List its members separately.")),
	mentionable: defaulted(false, flag("Let everyone mention it.")),
	icon: defaulted(
		"",
		text(0, 100, 'Emoji beside names, or the hash of a picture; "" for none, zeros for one that was not loaded.'),
	),
	permissions: defaulted([], permissions("Permissions. @everyone: all those that @everyone has.")),
});

export const tag = v.strictObject({
	name: text(1, 50, "Name of the tag."),
	emoji: defaulted("", emojiReference("Emoji")),
	moderated: defaulted(false, flag("Only moderators may add it.")),
});

// Limits: https://discord.com/developers/docs/resources/message
export const poll = v.strictObject({
	question: text(1, 300, "The question."),
	answers: list(text(1, 55, "An answer."), 10, "The answers."),
	duration: optional(
		v.pipe(
			duration("Time until it ends, in whole hours; default 24h", "32d"),
			v.check((text) => secondsOf(text) > 0 && secondsOf(text) % 3600 === 0, "expected whole hours"),
		),
	),
	allow_multiselect: optional(flag("Several answers per user.")),
});

export const roleMenu = v.strictObject({
	roles: roles("The roles that members can give themselves.", 25),
	style: optional(choice(["buttons", "select"], "Its form. Default: buttons.")),
	max: optional(integer(1, 25, "Per member; 1: a choice replaces the last. Default: all.")),
	requires: optional(keyOf("role", "Key of a role that its users need.")),
	labels: optional(list(text(0, 80, "A label."), 25, 'One per role, "" for its name.')),
	emojis: optional(list(emojiReference("One"), 25, "One per role.")),
});

const embed = v.record(v.string(), v.unknown(), "expected an object");

export const message = v.strictObject({
	key: optional(withText(key, "A name of your own, such as intro, by which later documents find the message.")),
	channel: optional(
		keyOf("channel", "Key of the channel, if the message is not in its channel.", { isIdentity: true }),
	),
	name: optional(text(1, 100, "Title of a forum post; also its key, if it has none.")),
	content: optional(text(1, 2000, "Markdown with @Role, #channel and, in plan_guild, @username.")),
	embeds: optional(list(embed, 10, "Discord's; a color may be #8E44AD.")),
	mentions: optional(choice(["none", "users", "roles", "everyone"], "Who is pinged, cumulatively. Default: none.")),
	pin: optional(flag("Whether it is pinned.")),
	tags: optional(list(text(1, 50, "A tag."), 5, "Tags of a forum post, by name.")),
	poll: optional(withText(poll, "A poll, which cannot be changed later.")),
	role_menu: optional(withText(roleMenu, "With which members give themselves roles.")),
});
const messages = optional(list(message, 100, "Messages of the bot, or posts of a forum."));

const kindNames = (Object.keys(editedKinds) as EditedKind[]).filter((kind) => kind !== "category");

/** "0s" is Discord's default. */
export const archiveTimes = ["0s", "1h", "1d", "3d", "7d"];

const unseen = flag("The bot could not see the channel, whose name is unknown. It is left as it is.");

export const channel = v.strictObject({
	name: text(1, 100, "Name of the channel."),
	id: optional(id),
	key: optional(key),
	unseen: optional(unseen),
	kind: defaulted("text", choice(kindNames as Exclude<EditedKind, "category">[], "Kind of channel. Default: text.")),
	topic: defaulted("", text(0, 4096, "Topic, or a forum's guidelines.")),
	nsfw: defaulted(false, flag("Age-restricted.")),
	spoiler: defaulted(false, flag("People opt in to see its content. Not if age-restricted.")),
	slowmode: defaulted("0s", duration("Time between a user's messages", "6h")),
	bitrate: defaulted(64_000, integer(8000, 384_000, "Bits per second of a voice or stage channel.")),
	user_limit: defaulted(0, integer(0, 10_000, "Maximum users of a voice or stage channel; 0: none.")),
	rtc_region: defaulted("", text(0, 32, 'Voice region; "" for automatic.')),
	video_quality: defaulted("auto", choice(namesOf(videoQualities), "Camera quality.")),
	thread_slowmode: defaulted("0s", duration("Slow mode of new threads", "6h")),
	auto_archive: defaulted("0s", duration("Idle time of new threads (0s: Discord's default)", archiveTimes)),
	tags: defaulted([], list(tag, 20, "Tags of a forum, in order.")),
	require_tag: defaulted(false, flag("Posts of the forum need a tag.")),
	default_reaction: defaulted("", emojiReference("Reaction for posts of the forum")),
	default_sort_order: defaulted("", choice(["", ...namesOf(sortOrders)], "Order of a forum's posts.")),
	default_layout: defaulted("", choice(["", ...namesOf(layouts)], "Layout of a forum.")),
	overwrites: optional(overwrites),
	messages,
	posts: messages,
	lock_permissions: optional(
		flag(
			"Of a channel without overwrites here: true: it gets the access of its category, also if somebody gains access by that; false: it keeps its own when it moves.",
		),
	),
});

export const category = v.strictObject({
	name: text(1, 100, "Name of the category."),
	id: optional(id),
	key: optional(key),
	unseen: optional(unseen),
	overwrites: optional(overwrites),
	channels: defaulted([], list(channel, 50, "Its channels, from the top.")),
});

// Limits: https://discord.com/developers/docs/resources/auto-moderation#auto-moderation-rule-object-trigger-metadata
const words = (description: string) => list(text(1, 60, "A word; * stands for any characters."), 1000, description);

export const automod = v.strictObject({
	name: text(1, 100, "Name of the rule."),
	id: optional(id),
	trigger: needed(choice(triggerNames, "What the rule looks for. Required if new.")),
	enabled: defaulted(true, flag("Whether the rule is on. Default: true.")),
	keyword_filter: defaulted([], words("Blocked words.")),
	regex_patterns: defaulted([], list(text(1, 260, "A pattern."), 10, "Blocked regular expressions.")),
	presets: defaulted([], list(choice(presetNames, "A word list."), 3, "Word lists of Discord.")),
	allow_list: defaulted([], words("Allowed words.")),
	mention_total_limit: defaulted(0, integer(0, 50, "Mentions per message.")),
	mention_raid_protection_enabled: defaulted(false, flag("Detect mention raids.")),
	actions: defaulted([], list(choice(actionNames, "An action."), 4, "Actions.")),
	custom_message: defaulted("", text(0, 150, "Shown to the author.")),
	alert_channel: reference("Channel for alerts"),
	duration: defaulted("0s", duration("Length of the timeout", "28d")),
	exempt_roles: defaulted([], roles("Roles to which the rule does not apply.")),
	exempt_channels: defaulted([], channels("Channels without the rule.")),
});

const instant = (description: string) =>
	withText(
		v.pipe(
			v.string("expected a time such as 2030-01-31T18:00:00.000Z"),
			v.check(
				(input) => input === "" || !Number.isNaN(Date.parse(input)),
				"expected a time such as 2030-01-31T18:00:00.000Z",
			),
			v.transform((input) => (input === "" ? "" : new Date(input).toISOString())),
			v.metadata({ notation: "time" } satisfies Marks),
		),
		description,
	);

export const scheduledEvent = v.strictObject({
	name: text(1, 100, "Name of the event."),
	id: optional(id),
	description: defaulted("", text(0, 1000, "Description.")),
	entity_type: optional(
		choice(Object.keys(eventKinds) as (keyof typeof eventKinds)[], "Default: as its channel or location says."),
	),
	channel: reference("Stage or voice channel"),
	location: defaulted("", text(0, 100, "Of an external event, which also needs an end.")),
	scheduled_start_time: needed(
		instant("With another one it is another event, unless it has an `id`. Required if new."),
	),
	scheduled_end_time: defaulted("", instant('End in UTC; "" for none.')),
});

export const emoji = v.strictObject({
	name: text(1, 32, "Name of the emoji."),
	id: optional(id),
	key: optional(key),
	animated: defaulted(false, flag("Whether it moves.")),
	picture: defaulted("", picture("Picture")),
	roles: defaulted([], roles("Only these roles may use it. Default: everyone.")),
});

export const webhook = v.strictObject({
	name: text(1, 80, "Name of the webhook."),
	id: optional(id),
	channel: keyOf("channel", "Key of the channel it posts in.", { isIdentity: true }),
});

export const welcomeChannel = v.strictObject({
	channel: keyOf("channel", "Key of the channel.", { isIdentity: true }),
	description: text(0, 50, "Text beside the channel."),
	emoji: defaulted("", emojiReference("Emoji")),
});

export const welcomeScreen = v.strictObject({
	enabled: defaulted(false, flag("Whether new members see it.")),
	description: defaulted("", text(0, 140, "Text of the welcome screen.")),
	channels: defaulted([], list(welcomeChannel, 5, "Channels shown to new members.")),
});

export const onboardingOption = v.strictObject({
	title: text(1, 50, "Text of the option."),
	description: defaulted("", text(0, 100, "Description.")),
	emoji: defaulted("", emojiReference("Emoji")),
	roles: defaulted([], roles("Roles that members get who choose it.")),
	channels: defaulted([], channels("Channels that members get who choose it.")),
});

export const prompt = v.strictObject({
	title: text(1, 100, "The question."),
	kind: defaulted("multiple_choice", choice(["multiple_choice", "dropdown"], "How it looks.")),
	single_select: defaulted(false, flag("Only one option can be chosen.")),
	required: defaulted(false, flag("Members must choose.")),
	in_onboarding: defaulted(true, flag("Asked when joining. Default: true.")),
	options: list(onboardingOption, 50, "What can be chosen."),
});

export const onboarding = v.strictObject({
	enabled: defaulted(false, flag("Whether new members see it.")),
	mode: defaulted("default", choice(["default", "advanced"], "What counts for Discord's minimum.")),
	default_channels: defaulted([], channels("Channels that all new members get.")),
	prompts: defaulted([], list(prompt, 50, "Questions to new members.")),
});

export const member = v.strictObject({ id: userId, roles: roles("Roles that the member has.") });

export const ban = v.strictObject({ id: userId, reason: optional(text(0, 512, "Reason of the ban.")) });

export const documentSchema = v.strictObject({
	version: v.optional(
		withText(v.picklist([documentVersion], `expected ${documentVersion}`), "Version of the format."),
		documentVersion,
	),
	omitted: optional(
		choice(
			["default", "keep"],
			"Fields that a listed thing leaves out: keep (the default): they stay as they are; default, as in exports: they get their default value.",
		),
	),
	keep_bot_access: optional(
		flag("Whether the bot gets an overwrite in channels that the document would hide from it. Default: true."),
	),
	repost: optional(list(text(1, maxKey, "A key."), 100, "Keys of deleted messages to post again.")),
	id: optional(id),
	settings: optional(withText(settings, "Settings of the guild.")),
	everyone: optional(permissions("Permissions of all members (@everyone).")),
	roles: optional(list(role, 250, "Without @everyone, the highest first.")),
	emojis: optional(list(emoji, 500, "Custom emoji.")),
	channels: optional(list(channel, 500, "Outside of categories, from the top.")),
	categories: optional(list(category, 500, "Categories with their channels, from the top.")),
	automod: optional(list(automod, 50, "AutoMod rules.")),
	events: optional(list(scheduledEvent, 100, "Scheduled events that are not over.")),
	webhooks: optional(list(webhook, 7500, "Webhooks, without their tokens.")),
	welcome_screen: optional(withText(welcomeScreen, "The welcome screen.")),
	onboarding: optional(withText(onboarding, "Questions to new members.")),
	bot: optional(
		withText(
			v.record(v.string(), v.unknown(), "expected an object"),
			"The bot's own settings by key, as in get_settings; null: the default.",
		),
	),
	messages: optional(list(message, 1000, "The messages and posts of channels, if they are not in their channels.")),
	members: optional(list(member, 1_000_000, "Their roles. None are taken away.")),
	bans: optional(list(ban, 1_000_000, "Banned users. None are unbanned.")),
});
