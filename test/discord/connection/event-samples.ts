// An event of each type that discord.js reads, with all the fields that Discord documents for it and that it reads.
// https://discord.com/developers/docs/events/gateway-events

/** The objects of the simulator that the samples refer to. */
export interface Place {
	guildId: string;
	channelId: string;
	/** A member of the guild. */
	userId: string;
	botId: string;
}

const time = "2026-01-01T00:00:00.000000+00:00";
/** The id of an object that exists nowhere else. */
const id = (number: number) => `1400000000000000${String(number).padStart(3, "0")}`;

/** An object with the same value in each of these fields. */
const each = <T>(value: T, fields: string): Record<string, T> =>
	Object.fromEntries(fields.split(" ").map((field) => [field, value]));

const unicodeEmoji = { id: null, name: "x" };

const user = (userId: string, username = "someone") => ({
	id: userId,
	username,
	discriminator: "0",
	global_name: "Someone",
	bot: false,
	public_flags: 0,
	...each(null, "avatar banner accent_color"),
	avatar_decoration_data: { asset: "a", sku_id: id(1) },
	primary_guild: { identity_guild_id: id(2), identity_enabled: true, tag: "T", badge: "b" },
	collectibles: { nameplate: { sku_id: id(3), asset: "a", label: "l", palette: "p" } },
});

const member = {
	roles: [],
	joined_at: time,
	flags: 0,
	permissions: "8",
	...each(null, "nick avatar banner premium_since avatar_decoration_data"),
	communication_disabled_until: null,
	...each(false, "deaf mute pending"),
};

const memberWith = (userId: string, username?: string) => ({ ...member, user: user(userId, username) });

const emoji = {
	id: id(4),
	name: "blob",
	roles: [id(5)],
	...each(false, "animated managed"),
	...each(true, "available require_colons"),
	user: user(id(6)),
};

const role = (roleId: string) => ({
	id: roleId,
	name: "Sample",
	colors: { primary_color: 1, secondary_color: null, tertiary_color: null },
	position: 1,
	permissions: "0",
	...each(0, "color flags"),
	...each(null, "icon unicode_emoji"),
	...each(false, "hoist managed mentionable"),
	tags: {
		bot_id: id(7),
		integration_id: id(8),
		subscription_listing_id: id(9),
		...each(null, "premium_subscriber available_for_purchase guild_connections"),
	},
});

const textChannel = (guildId: string, channelId: string) => ({
	id: channelId,
	guild_id: guildId,
	name: "sample",
	position: 1,
	nsfw: false,
	last_pin_timestamp: time,
	default_auto_archive_duration: 60,
	...each(null, "parent_id topic last_message_id"),
	...each(0, "type rate_limit_per_user default_thread_rate_limit_per_user flags"),
	permission_overwrites: [{ id: id(5), type: 0, allow: "0", deny: "0" }],
});

const forum = (guildId: string) => ({
	...textChannel(guildId, id(10)),
	type: 15,
	available_tags: [{ id: id(11), name: "tag", moderated: false, emoji_id: null, emoji_name: "x" }],
	default_reaction_emoji: { emoji_id: null, emoji_name: "x" },
	...each(0, "default_sort_order default_forum_layout"),
});

const voiceChannel = (guildId: string) => ({
	...textChannel(guildId, id(12)),
	type: 2,
	bitrate: 64_000,
	user_limit: 0,
	rtc_region: null,
	video_quality_mode: 1,
});

const threadMember = (userId: string) => ({ id: id(13), user_id: userId, join_timestamp: time, flags: 0 });

const thread = ({ guildId, channelId, userId }: Place) => ({
	id: id(13),
	guild_id: guildId,
	type: 11,
	name: "thread",
	parent_id: channelId,
	owner_id: userId,
	member_count: 1,
	...each(0, "message_count total_message_sent rate_limit_per_user flags"),
	last_message_id: null,
	last_pin_timestamp: time,
	applied_tags: [id(11)],
	thread_metadata: {
		auto_archive_duration: 60,
		invitable: true,
		...each(false, "archived locked"),
		...each(time, "archive_timestamp create_timestamp"),
	},
	member: threadMember(userId),
});

const text = { type: 10, id: 5, content: "text" };

const components = [
	{
		type: 1,
		id: 1,
		components: [
			{
				type: 2,
				id: 2,
				style: 1,
				label: "Press",
				custom_id: "x",
				emoji: unicodeEmoji,
				disabled: false,
			},
			{
				type: 3,
				id: 3,
				custom_id: "y",
				placeholder: "p",
				...each(1, "min_values max_values"),
				disabled: false,
				options: [{ label: "l", value: "v", description: "d", emoji: unicodeEmoji, default: false }],
			},
		],
	},
	{
		type: 17,
		id: 4,
		accent_color: 1,
		spoiler: false,
		components: [
			text,
			{
				type: 9,
				id: 6,
				components: [{ ...text, id: 7 }],
				accessory: {
					type: 11,
					id: 8,
					media: {
						url: "https://example.com/a.png",
						proxy_url: "p",
						...each(1, "height width"),
						content_type: "image/png",
						attachment_id: id(20),
					},
					description: "d",
					spoiler: false,
				},
			},
			{
				type: 12,
				id: 9,
				items: [{ media: { url: "https://example.com/a.png" }, description: "d", spoiler: false }],
			},
			{
				type: 13,
				id: 10,
				file: { url: "attachment://a" },
				spoiler: false,
				name: "n",
				size: 1,
			},
			{ type: 14, id: 11, divider: true, spacing: 1 },
		],
	},
];

const embed = {
	title: "t",
	type: "rich",
	description: "d",
	url: "https://example.com",
	timestamp: time,
	color: 1,
	footer: { text: "f", ...each("u", "icon_url proxy_icon_url") },
	image: { ...each("u", "url proxy_url"), ...each(1, "height width") },
	thumbnail: { url: "u" },
	video: { url: "u" },
	provider: { name: "n", url: "u" },
	author: { name: "a", ...each("u", "url icon_url") },
	fields: [{ name: "n", value: "v", inline: true }],
};

const attachment = {
	id: id(20),
	filename: "a.png",
	title: "t",
	description: "d",
	content_type: "image/png",
	...each("u", "url proxy_url"),
	...each(1, "size height width duration_secs"),
	ephemeral: false,
	waveform: "w",
	flags: 0,
};

const poll = {
	question: { text: "q" },
	answers: [{ answer_id: 1, poll_media: { text: "a", emoji: unicodeEmoji } }],
	expiry: time,
	allow_multiselect: false,
	layout_type: 1,
	results: { is_finalized: false, answer_counts: [{ id: 1, count: 1, me_voted: false }] },
};

const installParams = { scopes: ["bot"], permissions: "0" };

const application = (botId: string) => ({
	id: botId,
	name: "app",
	icon: null,
	description: "d",
	summary: "",
	flags: 0,
	bot_public: true,
	verify_key: "k",
	tags: ["t"],
	install_params: installParams,
	integration_types_config: { "0": { oauth2_install_params: installParams } },
	owner: user(id(21)),
	team: {
		id: id(22),
		name: "team",
		icon: null,
		owner_user_id: id(21),
		members: [{ team_id: id(22), membership_state: 2, role: "admin", user: user(id(21)) }],
	},
});

const stickerItems = [{ id: id(26), name: "s", format_type: 1 }];

/** What messages, forwarded messages and replied-to messages have in common. */
const messageContent = (content: string) => ({
	type: 0,
	content,
	timestamp: time,
	...each([] as object[], "mentions mention_roles attachments embeds"),
	components,
});

const message = ({ guildId, channelId, userId, botId }: Place) => ({
	...messageContent("<@1> hello"),
	id: id(40),
	channel_id: channelId,
	guild_id: guildId,
	author: user(userId),
	member,
	edited_timestamp: time,
	...each(false, "tts mention_everyone pinned"),
	mentions: [{ ...user(id(23)), member }],
	mention_roles: [id(5)],
	mention_channels: [{ id: id(10), guild_id: guildId, type: 0, name: "n" }],
	attachments: [attachment],
	embeds: [embed],
	reactions: [
		{
			count: 1,
			count_details: { burst: 0, normal: 1 },
			...each(false, "me me_burst"),
			emoji: unicodeEmoji,
			burst_colors: ["#000000"],
		},
	],
	nonce: "n",
	activity: { type: 1, party_id: "p" },
	application: application(botId),
	application_id: botId,
	message_reference: { type: 1, message_id: id(24), channel_id: channelId, guild_id: guildId },
	flags: 0,
	referenced_message: {
		...messageContent(""),
		id: id(25),
		channel_id: channelId,
		author: user(id(23)),
		edited_timestamp: null,
		...each(false, "tts mention_everyone pinned"),
	},
	message_snapshots: [
		{
			message: {
				...messageContent("forwarded"),
				attachments: [attachment],
				embeds: [embed],
				edited_timestamp: null,
				flags: 0,
				sticker_items: stickerItems,
			},
		},
	],
	interaction_metadata: {
		id: id(27),
		type: 2,
		user: user(id(23)),
		authorizing_integration_owners: { "0": guildId },
		...each(id(25), "original_response_message_id target_message_id"),
		target_user: user(id(23)),
	},
	interaction: { id: id(27), type: 2, name: "n", user: user(id(23)), member },
	sticker_items: stickerItems,
	position: 1,
	role_subscription_data: {
		role_subscription_listing_id: id(28),
		tier_name: "t",
		total_months_subscribed: 1,
		is_renewal: false,
	},
	resolved: each({}, "users members roles channels"),
	poll,
	call: { participants: [userId], ended_timestamp: time },
	webhook_id: null,
});

/** The message that a button or a select menu is on. */
const plainMessage = ({ channelId, botId }: Place) => ({
	id: id(47),
	channel_id: channelId,
	author: user(botId),
	content: "",
	timestamp: time,
	components,
});

const interaction = (place: Place, type: number, data: object) => ({
	id: id(30),
	application_id: place.botId,
	type,
	data,
	guild: { id: place.guildId, locale: "en-US", features: [] },
	guild_id: place.guildId,
	channel: { ...textChannel(place.guildId, place.channelId), permissions: "8" },
	channel_id: place.channelId,
	member: memberWith(place.userId),
	token: "t",
	app_permissions: "8",
	...each("en-US", "locale guild_locale"),
	entitlements: [
		{
			id: id(31),
			sku_id: id(32),
			user_id: place.userId,
			guild_id: place.guildId,
			application_id: place.botId,
			type: 1,
			...each(false, "deleted consumed"),
			...each(time, "starts_at ends_at"),
		},
	],
	authorizing_integration_owners: { "0": place.guildId },
	context: 0,
	...each(1, "version attachment_size_limit"),
});

const scheduledEvent = ({ guildId, userId }: Place) => ({
	id: id(33),
	guild_id: guildId,
	creator_id: userId,
	name: "n",
	description: "d",
	...each(null, "channel_id image entity_id"),
	...each(time, "scheduled_start_time scheduled_end_time"),
	...each(1, "status user_count"),
	privacy_level: 2,
	entity_type: 3,
	entity_metadata: { location: "l" },
	creator: user(userId),
	recurrence_rule: {
		start: time,
		end: null,
		...each(1, "frequency interval count"),
		...each([1], "by_weekday by_month by_month_day by_year_day"),
		by_n_weekday: [{ n: 1, day: 1 }],
	},
});

const rule = ({ guildId, userId, channelId }: Place) => ({
	id: id(34),
	guild_id: guildId,
	name: "n",
	creator_id: userId,
	...each(1, "event_type trigger_type"),
	trigger_metadata: {
		keyword_filter: ["k"],
		regex_patterns: ["r"],
		presets: [1],
		allow_list: ["a"],
		mention_total_limit: 5,
		mention_raid_protection_enabled: false,
	},
	actions: [{ type: 2, metadata: { channel_id: channelId, duration_seconds: 60, custom_message: "m" } }],
	enabled: true,
	exempt_roles: [id(5)],
	exempt_channels: [channelId],
});

const stage = ({ guildId }: Place) => ({
	id: id(35),
	guild_id: guildId,
	channel_id: id(12),
	topic: "t",
	privacy_level: 2,
	discoverable_disabled: false,
	guild_scheduled_event_id: id(33),
});

const sound = (guildId: string) => ({
	name: "n",
	sound_id: id(36),
	volume: 1,
	emoji_id: null,
	emoji_name: "x",
	guild_id: guildId,
	available: true,
	user: user(id(6)),
});

const sticker = {
	id: id(26),
	pack_id: id(37),
	name: "s",
	description: "d",
	tags: "t",
	type: 2,
	available: true,
	guild_id: id(2),
	user: user(id(6)),
	...each(1, "format_type sort_value"),
};

const voiceState = ({ guildId, userId }: Place) => ({
	guild_id: guildId,
	channel_id: id(12),
	user_id: userId,
	member: memberWith(userId),
	session_id: "s",
	...each(false, "deaf mute self_deaf self_mute self_stream self_video suppress"),
	request_to_speak_timestamp: time,
});

const presence = ({ guildId, userId }: Place) => ({
	guild_id: guildId,
	user: user(userId),
	status: "online",
	client_status: { desktop: "online" },
	activities: [
		{
			name: "n",
			type: 0,
			url: null,
			created_at: 1,
			timestamps: { start: 1, end: 2 },
			application_id: id(7),
			details: "d",
			state: "s",
			emoji: unicodeEmoji,
			party: { id: "p", size: [1, 2] },
			assets: { ...each("i", "large_image small_image"), ...each("t", "large_text small_text") },
			flags: 0,
			buttons: ["b"],
			secrets: { join: "j" },
			sync_id: "s",
		},
	],
});

/** A guild of the bot's that exists nowhere else. */
const guild = (place: Place, guildId: string) => ({
	id: guildId,
	name: "Sampled",
	owner_id: place.userId,
	afk_timeout: 60,
	...each(null, "icon splash discovery_splash banner description"),
	...each(null, "afk_channel_id widget_channel_id system_channel_id"),
	...each(null, "rules_channel_id public_updates_channel_id"),
	...each(null, "safety_alerts_channel_id application_id vanity_url_code"),
	...each(null, "max_presences"),
	...each(false, "widget_enabled premium_progress_bar_enabled large unavailable"),
	...each(0, "verification_level default_message_notifications mfa_level"),
	...each(0, "explicit_content_filter system_channel_flags nsfw_level"),
	...each(0, "premium_tier premium_subscription_count"),
	...each(1, "max_members max_video_channel_users"),
	...each(1, "max_stage_video_channel_users"),
	...each(1, "approximate_member_count approximate_presence_count"),
	roles: [{ ...role(guildId), name: "@everyone" }, role(id(5))],
	emojis: [emoji],
	features: ["COMMUNITY"],
	preferred_locale: "en-US",
	stickers: [sticker],
	joined_at: time,
	member_count: 2,
	incidents_data: {
		invites_disabled_until: time,
		...each(null, "dms_disabled_until dm_spam_detected_at raid_detected_at"),
	},
	welcome_screen: { description: "d", welcome_channels: [] },
	voice_states: [voiceState({ ...place, guildId })],
	members: [memberWith(place.botId)],
	channels: [textChannel(guildId, id(14)), forum(guildId), voiceChannel(guildId)],
	threads: [thread({ ...place, guildId, channelId: id(14) })],
	presences: [presence({ ...place, guildId })],
	stage_instances: [stage({ ...place, guildId })],
	guild_scheduled_events: [scheduledEvent({ ...place, guildId })],
	soundboard_sounds: [sound(guildId)],
});

/** By type; a type with several forms has several samples. */
export function eventSamples(place: Place): [type: string, data: object][] {
	const { guildId, channelId, userId } = place;
	const other = id(15);
	const inGuild = { guild_id: guildId };
	const inChannel = { guild_id: guildId, channel_id: channelId };
	const onMessage = { ...inChannel, message_id: id(40) };
	const vote = { ...onMessage, user_id: userId, answer_id: 1 };
	const ban = { ...inGuild, user: user(id(44)) };
	const reaction = {
		...onMessage,
		user_id: userId,
		member: memberWith(userId),
		emoji: { ...unicodeEmoji, animated: false },
		message_author_id: userId,
		burst: false,
		burst_colors: ["#000000"],
		type: 0,
	};
	return [
		["GUILD_CREATE", guild(place, other)],
		["GUILD_UPDATE", guild(place, other)],
		["GUILD_ROLE_CREATE", { ...inGuild, role: role(id(5)) }],
		["GUILD_ROLE_UPDATE", { ...inGuild, role: role(id(5)) }],
		["GUILD_EMOJIS_UPDATE", { ...inGuild, emojis: [emoji] }],
		["GUILD_STICKERS_UPDATE", { ...inGuild, stickers: [sticker] }],
		["CHANNEL_CREATE", textChannel(guildId, id(14))],
		["CHANNEL_CREATE", forum(guildId)],
		["CHANNEL_UPDATE", voiceChannel(guildId)],
		["CHANNEL_PINS_UPDATE", { ...inChannel, last_pin_timestamp: time }],
		["THREAD_CREATE", { ...thread(place), newly_created: true }],
		["THREAD_UPDATE", thread(place)],
		[
			"THREAD_LIST_SYNC",
			{
				...inGuild,
				channel_ids: [channelId],
				threads: [thread(place)],
				members: [{ ...threadMember(userId), member: memberWith(userId) }],
			},
		],
		[
			"THREAD_MEMBERS_UPDATE",
			{
				...inGuild,
				id: id(13),
				member_count: 1,
				added_members: [{ ...threadMember(userId), member: memberWith(userId), presence: presence(place) }],
				removed_member_ids: [id(23)],
			},
		],
		["GUILD_MEMBER_ADD", { ...memberWith(id(41)), ...inGuild }],
		["GUILD_MEMBER_UPDATE", { ...memberWith(id(41), "other"), ...inGuild }],
		[
			"GUILD_MEMBERS_CHUNK",
			{
				...inGuild,
				members: [memberWith(id(42))],
				chunk_index: 0,
				chunk_count: 1,
				not_found: [id(43)],
				presences: [presence(place)],
				nonce: "1",
			},
		],
		["PRESENCE_UPDATE", presence(place)],
		["USER_UPDATE", user(place.botId, "alpha")],
		["GUILD_BAN_ADD", ban],
		["GUILD_BAN_REMOVE", ban],
		[
			"GUILD_AUDIT_LOG_ENTRY_CREATE",
			{
				...inGuild,
				id: id(45),
				...each(userId, "user_id target_id"),
				action_type: 24,
				reason: "r",
				changes: [{ key: "nick", old_value: "a", new_value: "b" }],
				options: {
					role_name: "r",
					type: "0",
					id: id(5),
					count: "1",
					channel_id: channelId,
					message_id: id(40),
					auto_moderation_rule_name: "n",
					auto_moderation_rule_trigger_type: "1",
					integration_type: "discord",
				},
			},
		],
		["MESSAGE_CREATE", message(place)],
		["MESSAGE_UPDATE", message(place)],
		["MESSAGE_REACTION_ADD", reaction],
		["MESSAGE_REACTION_REMOVE", reaction],
		["MESSAGE_REACTION_REMOVE_EMOJI", { ...onMessage, emoji: unicodeEmoji }],
		["MESSAGE_REACTION_REMOVE_ALL", onMessage],
		["MESSAGE_POLL_VOTE_ADD", vote],
		["MESSAGE_POLL_VOTE_REMOVE", vote],
		["MESSAGE_DELETE", { ...inChannel, id: id(40) }],
		["MESSAGE_DELETE_BULK", { ...inChannel, ids: [id(40)] }],
		[
			"INTERACTION_CREATE",
			interaction(place, 2, {
				id: id(46),
				name: "unknown",
				type: 1,
				resolved: {
					users: { [userId]: user(userId) },
					members: { [userId]: member },
					roles: { [id(5)]: role(id(5)) },
					channels: { [channelId]: textChannel(guildId, channelId) },
					attachments: { [id(20)]: attachment },
				},
				options: [{ name: "o", type: 3, value: "v", focused: false }],
				guild_id: guildId,
				target_id: userId,
			}),
		],
		[
			"INTERACTION_CREATE",
			{
				...interaction(place, 3, { custom_id: "x", component_type: 2, id: 1 }),
				message: plainMessage(place),
			},
		],
		[
			"INTERACTION_CREATE",
			{
				...interaction(place, 3, { custom_id: "x", component_type: 3, values: ["v"] }),
				message: plainMessage(place),
			},
		],
		[
			"INTERACTION_CREATE",
			interaction(place, 5, {
				custom_id: "x",
				components: [{ type: 1, components: [{ type: 4, custom_id: "t", value: "v" }] }],
			}),
		],
		[
			"INVITE_CREATE",
			{
				...inChannel,
				code: "c",
				...each(time, "created_at expires_at"),
				...each(user(userId), "inviter target_user"),
				...each(1, "max_age max_uses"),
				target_type: 2,
				target_application: application(place.botId),
				temporary: false,
				uses: 0,
			},
		],
		["INVITE_DELETE", { ...inChannel, code: "c" }],
		["GUILD_SCHEDULED_EVENT_CREATE", scheduledEvent(place)],
		["GUILD_SCHEDULED_EVENT_UPDATE", scheduledEvent(place)],
		["GUILD_SCHEDULED_EVENT_USER_ADD", { ...inGuild, guild_scheduled_event_id: id(33), user_id: userId }],
		["GUILD_SCHEDULED_EVENT_DELETE", scheduledEvent(place)],
		["AUTO_MODERATION_RULE_CREATE", rule(place)],
		["AUTO_MODERATION_RULE_UPDATE", rule(place)],
		[
			"AUTO_MODERATION_ACTION_EXECUTION",
			{
				...onMessage,
				action: { type: 1, metadata: { channel_id: channelId, duration_seconds: 1, custom_message: "m" } },
				rule_id: id(34),
				rule_trigger_type: 1,
				user_id: userId,
				alert_system_message_id: id(48),
				...each("c", "content matched_content"),
				matched_keyword: "k",
			},
		],
		["AUTO_MODERATION_RULE_DELETE", rule(place)],
		["STAGE_INSTANCE_CREATE", stage(place)],
		["STAGE_INSTANCE_UPDATE", stage(place)],
		["STAGE_INSTANCE_DELETE", stage(place)],
		["GUILD_SOUNDBOARD_SOUND_CREATE", sound(guildId)],
		["VOICE_STATE_UPDATE", voiceState(place)],
		["WEBHOOKS_UPDATE", inChannel],
		["TYPING_START", { ...inChannel, user_id: userId, timestamp: 1, member: memberWith(userId) }],
		["THREAD_DELETE", { ...inGuild, id: id(13), parent_id: channelId, type: 11 }],
		["GUILD_ROLE_DELETE", { ...inGuild, role_id: id(5) }],
		["CHANNEL_DELETE", textChannel(guildId, id(14))],
		["GUILD_MEMBER_REMOVE", { ...inGuild, user: user(id(41)) }],
		["GUILD_DELETE", { id: other, unavailable: false }],
	];
}

/** The event with one field null, absent or of another type: each field at any depth; of a list, only its first item. */
export function* broken(data: unknown): Generator<unknown> {
	if (typeof data !== "object" || data === null) return;
	for (const [key, value] of Array.isArray(data) ? [...data.entries()].slice(0, 1) : Object.entries(data)) {
		const put = (given: unknown) => (Array.isArray(data) ? data.with(Number(key), given) : { ...data, [key]: given });
		yield put(null);
		yield put(undefined);
		yield put(ofAnotherType(value));
		for (const inner of broken(value)) yield put(inner);
	}
}

function ofAnotherType(value: unknown): unknown {
	if (typeof value === "string") return 7;
	if (typeof value === "number") return "x";
	if (typeof value === "boolean") return "x";
	if (Array.isArray(value)) return { "0": "x" };
	return value === null ? { x: [1] } : ["x"];
}
