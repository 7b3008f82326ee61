// The default values of a document's fields: exports leave them out.

import { ruleFieldsWith } from "../names/automod-rule.ts";
import { editedKinds } from "../names/channel-kinds.ts";
import type {
	AutomodRule,
	Category,
	Channel,
	ChannelKind,
	Emoji,
	GuildDocument,
	Onboarding,
	Role,
	ScheduledEvent,
	Settings,
	WelcomeScreen,
} from "./document.ts";
import { mapDocument } from "./map-document.ts";

type Tag = NonNullable<Channel["tags"]>[number];
type Prompt = NonNullable<Onboarding["prompts"]>[number];
type Defaults<T> = { readonly [Field in keyof T]?: T[Field] };

const settings: Defaults<Settings> = {
	description: "",
	icon: "",
	community: false,
	verification_level: "NONE",
	default_message_notifications: "ALL_MESSAGES",
	explicit_content_filter: "DISABLED",
	afk_channel: "",
	afk_timeout: 300,
	system_channel: "",
	system_channel_flags: [],
	rules_channel: "",
	public_updates_channel: "",
	safety_alerts_channel: "",
	preferred_locale: "en-US",
	premium_progress_bar_enabled: false,
};
const role: Defaults<Role> = { managed: false, color: "", hoist: false, mentionable: false, icon: "", permissions: [] };
const channel: Defaults<Channel> = {
	kind: "text",
	topic: "",
	nsfw: false,
	spoiler: false,
	slowmode_seconds: 0,
	bitrate: 64_000,
	user_limit: 0,
	rtc_region: "",
	video_quality: "auto",
	thread_slowmode_seconds: 0,
	auto_archive_minutes: 0,
	tags: [],
	require_tag: false,
	default_reaction: "",
	default_sort_order: "",
	default_layout: "",
};
const automod: Defaults<AutomodRule> = {
	enabled: true,
	keyword_filter: [],
	regex_patterns: [],
	presets: [],
	allow_list: [],
	mention_total_limit: 0,
	mention_raid_protection_enabled: false,
	actions: [],
	custom_message: "",
	alert_channel: "",
	duration_seconds: 0,
	exempt_roles: [],
	exempt_channels: [],
};
const event: Defaults<ScheduledEvent> = { description: "", channel: "", location: "", end: "" };
const emoji: Defaults<Emoji> = { animated: false, picture: "", roles: [] };
const welcomeScreen: Defaults<WelcomeScreen> = { enabled: false, description: "", channels: [] };
const onboarding: Defaults<Onboarding> = { enabled: false, mode: "default", default_channels: [], prompts: [] };

const tag: Defaults<Tag> = { emoji: "", moderated: false };
const welcomeChannel = { emoji: "" };
const prompt: Defaults<Prompt> = {
	kind: "multiple_choice",
	single_select: false,
	required: false,
	in_onboarding: true,
};
const option = { description: "", emoji: "", roles: [], channels: [] };

export const defaultsOf = { settings, role, channel, tag, automod, event, emoji, welcomeChannel, prompt, option };

/** The default welcome screen and onboarding, which a guild has when it becomes a community. */
export const welcomeDefaults = { welcome_screen: welcomeScreen, onboarding };

export function channelDefaults(kind: ChannelKind): Partial<Channel> {
	const own: readonly string[] = ["kind", ...editedKinds[kind].fields];
	return only(channel, (field) => own.includes(field));
}

function only<T extends object>(defaults: T, isOwn: (field: string) => boolean): Partial<T> {
	return Object.fromEntries(Object.entries(defaults).filter(([field]) => isOwn(field))) as Partial<T>;
}

type Change = <T extends object>(thing: T, defaults: Defaults<T>) => T;

const leaveOut: Change = (thing, defaults) =>
	Object.fromEntries(
		Object.entries(thing).filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(Object(defaults)[field])),
	) as typeof thing;

const fillIn: Change = (thing, defaults) => ({ ...defaults, ...thing });

/** Keeps permission overwrites. */
export const withoutDefaults = (document: GuildDocument) => changeAll(document, leaveOut);

/** Adds no permission overwrites and no whole sections such as `roles`. */
export const withDefaults = (document: GuildDocument) => changeAll(document, fillIn);

/** Completes the items of nested lists, such as tags of a forum, since these are compared and replaced as a whole. */
export const withItemDefaults = (document: GuildDocument) => changeAll(document, (thing) => thing, fillIn);

function changeAll(document: GuildDocument, change: Change, changeItem = change): GuildDocument {
	const all =
		<T extends object>(defaults: Defaults<T>) =>
		(thing: T) =>
			change(thing, defaults);
	return mapDocument(document, {
		settings: all(settings),
		roles: all(role),
		emojis: all(emoji),
		channels: (given) =>
			withParts(change(given, channelDefaults(given.kind ?? "text")), "tags", (one) => changeItem(one, tag)),
		categories: all<Category>({ channels: [] }),
		automod: (rule) => change(rule, only(automod, ruleFieldsWith(rule.trigger))),
		events: all(event),
		welcome_screen: (screen) =>
			withParts(change(screen, welcomeScreen), "channels", (shown) => changeItem(shown, welcomeChannel)),
		onboarding: (asked) =>
			withParts(change(asked, onboarding), "prompts", (one) => ({
				...changeItem(one, prompt),
				options: one.options.map((one) => changeItem(one, option)),
			})),
	});
}

function withParts<
	T extends object,
	Field extends keyof T,
	Item extends T[Field] extends (infer One)[] | undefined ? One : never,
>(thing: T, field: Field, convert: (item: Item) => Item): T {
	const items = thing[field] as Item[] | undefined;
	return items ? { ...thing, [field]: items.map(convert) } : thing;
}
