// An event of each type that discord.js reads, with all the fields that Discord documents for it and that it reads.
// https://discord.com/developers/docs/events/gateway-events

/** Whom and what the samples are about. */
export interface Place {
	guildId: string;
	channelId: string;
	/** Somebody who is a member. */
	userId: string;
	botId: string;
}

const time = "2026-01-01T00:00:00.000000+00:00";
/** Of things that are nowhere else. */
const id = (number: number) =>
	`1400000000000000${String(number).padStart(3, "0")}`;

const user = (userId: string, more: object = {}) => ({
	id: userId,
	username: "someone",
	discriminator: "0",
	global_name: "Someone",
	avatar: null,
	bot: false,
	public_flags: 0,
	banner: null,
	accent_color: null,
	avatar_decoration_data: { asset: "a", sku_id: id(1) },
	primary_guild: {
		identity_guild_id: id(2),
		identity_enabled: true,
		tag: "T",
		badge: "b",
	},
	collectibles: {
		nameplate: { sku_id: id(3), asset: "a", label: "l", palette: "p" },
	},
	...more,
});

const member = (more: object = {}) => ({
	nick: null,
	avatar: null,
	banner: null,
	roles: [] as string[],
	joined_at: time,
	premium_since: null,
	deaf: false,
	mute: false,
	flags: 0,
	pending: false,
	permissions: "8",
	communication_disabled_until: null,
	avatar_decoration_data: null,
	...more,
});

const emoji = {
	id: id(4),
	name: "blob",
	animated: false,
	roles: [id(5)],
	managed: false,
	available: true,
	require_colons: true,
	user: user(id(6)),
};

const role = (roleId: string) => ({
	id: roleId,
	name: "Sample",
	color: 0,
	colors: { primary_color: 1, secondary_color: null, tertiary_color: null },
	hoist: false,
	icon: null,
	unicode_emoji: null,
	position: 1,
	permissions: "0",
	managed: false,
	mentionable: false,
	flags: 0,
	tags: {
		bot_id: id(7),
		integration_id: id(8),
		premium_subscriber: null,
		subscription_listing_id: id(9),
		available_for_purchase: null,
		guild_connections: null,
	},
});

const overwrite = { id: id(5), type: 0, allow: "0", deny: "0" };

const textChannel = (guildId: string, channelId: string) => ({
	id: channelId,
	guild_id: guildId,
	type: 0,
	name: "sample",
	position: 1,
	parent_id: null,
	topic: null,
	nsfw: false,
	last_message_id: null,
	last_pin_timestamp: time,
	rate_limit_per_user: 0,
	default_auto_archive_duration: 60,
	default_thread_rate_limit_per_user: 0,
	flags: 0,
	permission_overwrites: [overwrite],
});

const forum = (guildId: string) => ({
	...textChannel(guildId, id(10)),
	type: 15,
	available_tags: [
		{
			id: id(11),
			name: "tag",
			moderated: false,
			emoji_id: null,
			emoji_name: "x",
		},
	],
	default_reaction_emoji: { emoji_id: null, emoji_name: "x" },
	default_sort_order: 0,
	default_forum_layout: 0,
});

const voiceChannel = (guildId: string) => ({
	...textChannel(guildId, id(12)),
	type: 2,
	bitrate: 64_000,
	user_limit: 0,
	rtc_region: null,
	video_quality_mode: 1,
});

const thread = ({ guildId, channelId, userId }: Place) => ({
	id: id(13),
	guild_id: guildId,
	type: 11,
	name: "thread",
	parent_id: channelId,
	owner_id: userId,
	message_count: 0,
	member_count: 1,
	total_message_sent: 0,
	rate_limit_per_user: 0,
	last_message_id: null,
	last_pin_timestamp: time,
	flags: 0,
	applied_tags: [id(11)],
	thread_metadata: {
		archived: false,
		auto_archive_duration: 60,
		archive_timestamp: time,
		locked: false,
		invitable: true,
		create_timestamp: time,
	},
	member: { id: id(13), user_id: userId, join_timestamp: time, flags: 0 },
});

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
				emoji: { id: null, name: "x" },
				disabled: false,
			},
			{
				type: 3,
				id: 3,
				custom_id: "y",
				placeholder: "p",
				min_values: 1,
				max_values: 1,
				disabled: false,
				options: [
					{
						label: "l",
						value: "v",
						description: "d",
						emoji: { id: null, name: "x" },
						default: false,
					},
				],
			},
		],
	},
	{
		type: 17,
		id: 4,
		accent_color: 1,
		spoiler: false,
		components: [
			{ type: 10, id: 5, content: "text" },
			{
				type: 9,
				id: 6,
				components: [{ type: 10, id: 7, content: "text" }],
				accessory: {
					type: 11,
					id: 8,
					media: {
						url: "https://example.com/a.png",
						proxy_url: "p",
						height: 1,
						width: 1,
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
				items: [
					{
						media: { url: "https://example.com/a.png" },
						description: "d",
						spoiler: false,
					},
				],
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
	footer: { text: "f", icon_url: "u", proxy_icon_url: "u" },
	image: { url: "u", proxy_url: "u", height: 1, width: 1 },
	thumbnail: { url: "u" },
	video: { url: "u" },
	provider: { name: "n", url: "u" },
	author: { name: "a", url: "u", icon_url: "u" },
	fields: [{ name: "n", value: "v", inline: true }],
};

const attachment = {
	id: id(20),
	filename: "a.png",
	title: "t",
	description: "d",
	content_type: "image/png",
	size: 1,
	url: "u",
	proxy_url: "u",
	height: 1,
	width: 1,
	ephemeral: false,
	duration_secs: 1,
	waveform: "w",
	flags: 0,
};

const poll = {
	question: { text: "q" },
	answers: [
		{ answer_id: 1, poll_media: { text: "a", emoji: { id: null, name: "x" } } },
	],
	expiry: time,
	allow_multiselect: false,
	layout_type: 1,
	results: {
		is_finalized: false,
		answer_counts: [{ id: 1, count: 1, me_voted: false }],
	},
};

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
	install_params: { scopes: ["bot"], permissions: "0" },
	integration_types_config: {
		"0": { oauth2_install_params: { scopes: ["bot"], permissions: "0" } },
	},
	owner: user(id(21)),
	team: {
		id: id(22),
		name: "team",
		icon: null,
		owner_user_id: id(21),
		members: [
			{
				team_id: id(22),
				membership_state: 2,
				role: "admin",
				user: user(id(21)),
			},
		],
	},
});

const message = (
	{ guildId, channelId, userId, botId }: Place,
	messageId: string,
) => ({
	id: messageId,
	channel_id: channelId,
	guild_id: guildId,
	author: user(userId),
	member: member(),
	content: "<@1> hello",
	timestamp: time,
	edited_timestamp: time,
	tts: false,
	mention_everyone: false,
	mentions: [{ ...user(id(23)), member: member() }],
	mention_roles: [id(5)],
	mention_channels: [{ id: id(10), guild_id: guildId, type: 0, name: "n" }],
	attachments: [attachment],
	embeds: [embed],
	reactions: [
		{
			count: 1,
			count_details: { burst: 0, normal: 1 },
			me: false,
			me_burst: false,
			emoji: { id: null, name: "x" },
			burst_colors: ["#000000"],
		},
	],
	nonce: "n",
	pinned: false,
	type: 0,
	activity: { type: 1, party_id: "p" },
	application: application(botId),
	application_id: botId,
	message_reference: {
		type: 1,
		message_id: id(24),
		channel_id: channelId,
		guild_id: guildId,
	},
	flags: 0,
	referenced_message: {
		id: id(25),
		channel_id: channelId,
		author: user(id(23)),
		content: "",
		timestamp: time,
		edited_timestamp: null,
		tts: false,
		mention_everyone: false,
		mentions: [],
		mention_roles: [],
		attachments: [],
		embeds: [],
		pinned: false,
		type: 0,
		components,
	},
	message_snapshots: [
		{
			message: {
				type: 0,
				content: "forwarded",
				mentions: [],
				mention_roles: [],
				attachments: [attachment],
				embeds: [embed],
				timestamp: time,
				edited_timestamp: null,
				flags: 0,
				components,
				sticker_items: [{ id: id(26), name: "s", format_type: 1 }],
			},
		},
	],
	interaction_metadata: {
		id: id(27),
		type: 2,
		user: user(id(23)),
		authorizing_integration_owners: { "0": guildId },
		original_response_message_id: id(25),
		target_user: user(id(23)),
		target_message_id: id(25),
	},
	interaction: {
		id: id(27),
		type: 2,
		name: "n",
		user: user(id(23)),
		member: member(),
	},
	components,
	sticker_items: [{ id: id(26), name: "s", format_type: 1 }],
	position: 1,
	role_subscription_data: {
		role_subscription_listing_id: id(28),
		tier_name: "t",
		total_months_subscribed: 1,
		is_renewal: false,
	},
	resolved: { users: {}, members: {}, roles: {}, channels: {} },
	poll,
	call: { participants: [userId], ended_timestamp: time },
	webhook_id: null,
});

/** The one that a button or a select menu is on. */
const plainMessage = ({ channelId, botId }: Place) => ({
	id: id(47),
	channel_id: channelId,
	author: user(botId),
	content: "",
	timestamp: time,
	components,
});

const interaction = (place: Place, data: object, type: number) => ({
	id: id(30),
	application_id: place.botId,
	type,
	data,
	guild: { id: place.guildId, locale: "en-US", features: [] },
	guild_id: place.guildId,
	channel: { ...textChannel(place.guildId, place.channelId), permissions: "8" },
	channel_id: place.channelId,
	member: { ...member(), user: user(place.userId) },
	token: "t",
	version: 1,
	app_permissions: "8",
	locale: "en-US",
	guild_locale: "en-US",
	entitlements: [
		{
			id: id(31),
			sku_id: id(32),
			user_id: place.userId,
			guild_id: place.guildId,
			application_id: place.botId,
			type: 1,
			deleted: false,
			starts_at: time,
			ends_at: time,
			consumed: false,
		},
	],
	authorizing_integration_owners: { "0": place.guildId },
	context: 0,
	attachment_size_limit: 1,
});

const scheduledEvent = ({ guildId, userId }: Place) => ({
	id: id(33),
	guild_id: guildId,
	channel_id: null,
	creator_id: userId,
	name: "n",
	description: "d",
	image: null,
	scheduled_start_time: time,
	scheduled_end_time: time,
	privacy_level: 2,
	status: 1,
	entity_type: 3,
	entity_id: null,
	entity_metadata: { location: "l" },
	creator: user(userId),
	user_count: 1,
	recurrence_rule: {
		start: time,
		end: null,
		frequency: 1,
		interval: 1,
		by_weekday: [1],
		by_n_weekday: [{ n: 1, day: 1 }],
		by_month: [1],
		by_month_day: [1],
		by_year_day: [1],
		count: 1,
	},
});

const rule = ({ guildId, userId, channelId }: Place) => ({
	id: id(34),
	guild_id: guildId,
	name: "n",
	creator_id: userId,
	event_type: 1,
	trigger_type: 1,
	trigger_metadata: {
		keyword_filter: ["k"],
		regex_patterns: ["r"],
		presets: [1],
		allow_list: ["a"],
		mention_total_limit: 5,
		mention_raid_protection_enabled: false,
	},
	actions: [
		{
			type: 2,
			metadata: {
				channel_id: channelId,
				duration_seconds: 60,
				custom_message: "m",
			},
		},
	],
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
	format_type: 1,
	available: true,
	guild_id: id(2),
	user: user(id(6)),
	sort_value: 1,
};

const voiceState = ({ guildId, userId }: Place) => ({
	guild_id: guildId,
	channel_id: id(12),
	user_id: userId,
	member: { ...member(), user: user(userId) },
	session_id: "s",
	deaf: false,
	mute: false,
	self_deaf: false,
	self_mute: false,
	self_stream: false,
	self_video: false,
	suppress: false,
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
			emoji: { name: "x", id: null },
			party: { id: "p", size: [1, 2] },
			assets: {
				large_image: "i",
				large_text: "t",
				small_image: "i",
				small_text: "t",
			},
			flags: 0,
			buttons: ["b"],
			secrets: { join: "j" },
			sync_id: "s",
		},
	],
});

const reaction = ({ guildId, channelId, userId }: Place) => ({
	user_id: userId,
	channel_id: channelId,
	message_id: id(40),
	guild_id: guildId,
	member: { ...member(), user: user(userId) },
	emoji: { id: null, name: "x", animated: false },
	message_author_id: userId,
	burst: false,
	burst_colors: ["#000000"],
	type: 0,
});

/** A guild of the bot's that is nowhere else. */
const guild = (place: Place, guildId: string) => ({
	id: guildId,
	name: "Sampled",
	icon: null,
	splash: null,
	discovery_splash: null,
	owner_id: place.userId,
	afk_channel_id: null,
	afk_timeout: 60,
	widget_enabled: false,
	widget_channel_id: null,
	verification_level: 0,
	default_message_notifications: 0,
	explicit_content_filter: 0,
	roles: [{ ...role(guildId), name: "@everyone" }, role(id(5))],
	emojis: [emoji],
	features: ["COMMUNITY"],
	mfa_level: 0,
	application_id: null,
	system_channel_id: null,
	system_channel_flags: 0,
	rules_channel_id: null,
	max_presences: null,
	max_members: 1,
	vanity_url_code: null,
	description: null,
	banner: null,
	premium_tier: 0,
	premium_subscription_count: 0,
	preferred_locale: "en-US",
	public_updates_channel_id: null,
	max_video_channel_users: 1,
	max_stage_video_channel_users: 1,
	approximate_member_count: 1,
	approximate_presence_count: 1,
	nsfw_level: 0,
	stickers: [sticker],
	premium_progress_bar_enabled: false,
	safety_alerts_channel_id: null,
	joined_at: time,
	large: false,
	unavailable: false,
	member_count: 2,
	incidents_data: {
		invites_disabled_until: time,
		dms_disabled_until: null,
		dm_spam_detected_at: null,
		raid_detected_at: null,
	},
	welcome_screen: { description: "d", welcome_channels: [] },
	voice_states: [voiceState({ ...place, guildId })],
	members: [{ ...member(), user: user(place.botId) }],
	channels: [
		textChannel(guildId, id(14)),
		forum(guildId),
		voiceChannel(guildId),
	],
	threads: [thread({ ...place, guildId, channelId: id(14) })],
	presences: [presence({ ...place, guildId })],
	stage_instances: [stage({ ...place, guildId })],
	guild_scheduled_events: [scheduledEvent({ ...place, guildId })],
	soundboard_sounds: [sound(guildId)],
});

/** By type; where one has several forms, the type stands several times. */
export function eventSamples(place: Place): [type: string, data: object][] {
	const { guildId, channelId, userId } = place;
	const other = id(15);
	return [
		["GUILD_CREATE", guild(place, other)],
		["GUILD_UPDATE", guild(place, other)],
		["GUILD_ROLE_CREATE", { guild_id: guildId, role: role(id(5)) }],
		["GUILD_ROLE_UPDATE", { guild_id: guildId, role: role(id(5)) }],
		["GUILD_EMOJIS_UPDATE", { guild_id: guildId, emojis: [emoji] }],
		["GUILD_STICKERS_UPDATE", { guild_id: guildId, stickers: [sticker] }],
		["CHANNEL_CREATE", textChannel(guildId, id(14))],
		["CHANNEL_CREATE", forum(guildId)],
		["CHANNEL_UPDATE", voiceChannel(guildId)],
		[
			"CHANNEL_PINS_UPDATE",
			{ guild_id: guildId, channel_id: channelId, last_pin_timestamp: time },
		],
		["THREAD_CREATE", { ...thread(place), newly_created: true }],
		["THREAD_UPDATE", thread(place)],
		[
			"THREAD_LIST_SYNC",
			{
				guild_id: guildId,
				channel_ids: [channelId],
				threads: [thread(place)],
				members: [
					{
						id: id(13),
						user_id: userId,
						join_timestamp: time,
						flags: 0,
						member: { ...member(), user: user(userId) },
					},
				],
			},
		],
		[
			"THREAD_MEMBERS_UPDATE",
			{
				id: id(13),
				guild_id: guildId,
				member_count: 1,
				added_members: [
					{
						id: id(13),
						user_id: userId,
						join_timestamp: time,
						flags: 0,
						member: { ...member(), user: user(userId) },
						presence: presence(place),
					},
				],
				removed_member_ids: [id(23)],
			},
		],
		[
			"GUILD_MEMBER_ADD",
			{ ...member(), guild_id: guildId, user: user(id(41)) },
		],
		[
			"GUILD_MEMBER_UPDATE",
			{
				...member(),
				guild_id: guildId,
				user: user(id(41), { username: "other" }),
			},
		],
		[
			"GUILD_MEMBERS_CHUNK",
			{
				guild_id: guildId,
				members: [{ ...member(), user: user(id(42)) }],
				chunk_index: 0,
				chunk_count: 1,
				not_found: [id(43)],
				presences: [presence(place)],
				nonce: "1",
			},
		],
		["PRESENCE_UPDATE", presence(place)],
		["USER_UPDATE", user(place.botId, { username: "alpha" })],
		["GUILD_BAN_ADD", { guild_id: guildId, user: user(id(44)) }],
		["GUILD_BAN_REMOVE", { guild_id: guildId, user: user(id(44)) }],
		[
			"GUILD_AUDIT_LOG_ENTRY_CREATE",
			{
				guild_id: guildId,
				id: id(45),
				user_id: userId,
				target_id: userId,
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
		["MESSAGE_CREATE", message(place, id(40))],
		["MESSAGE_UPDATE", message(place, id(40))],
		["MESSAGE_REACTION_ADD", reaction(place)],
		["MESSAGE_REACTION_REMOVE", reaction(place)],
		[
			"MESSAGE_REACTION_REMOVE_EMOJI",
			{
				channel_id: channelId,
				guild_id: guildId,
				message_id: id(40),
				emoji: { id: null, name: "x" },
			},
		],
		[
			"MESSAGE_REACTION_REMOVE_ALL",
			{ channel_id: channelId, guild_id: guildId, message_id: id(40) },
		],
		[
			"MESSAGE_POLL_VOTE_ADD",
			{
				user_id: userId,
				channel_id: channelId,
				message_id: id(40),
				guild_id: guildId,
				answer_id: 1,
			},
		],
		[
			"MESSAGE_POLL_VOTE_REMOVE",
			{
				user_id: userId,
				channel_id: channelId,
				message_id: id(40),
				guild_id: guildId,
				answer_id: 1,
			},
		],
		[
			"MESSAGE_DELETE",
			{ id: id(40), channel_id: channelId, guild_id: guildId },
		],
		[
			"MESSAGE_DELETE_BULK",
			{ ids: [id(40)], channel_id: channelId, guild_id: guildId },
		],
		[
			"INTERACTION_CREATE",
			interaction(
				place,
				{
					id: id(46),
					name: "unknown",
					type: 1,
					resolved: {
						users: { [userId]: user(userId) },
						members: { [userId]: member() },
						roles: { [id(5)]: role(id(5)) },
						channels: { [channelId]: textChannel(guildId, channelId) },
						attachments: { [id(20)]: attachment },
					},
					options: [{ name: "o", type: 3, value: "v", focused: false }],
					guild_id: guildId,
					target_id: userId,
				},
				2,
			),
		],
		[
			"INTERACTION_CREATE",
			{
				...interaction(place, { custom_id: "x", component_type: 2, id: 1 }, 3),
				message: plainMessage(place),
			},
		],
		[
			"INTERACTION_CREATE",
			{
				...interaction(
					place,
					{ custom_id: "x", component_type: 3, values: ["v"] },
					3,
				),
				message: plainMessage(place),
			},
		],
		[
			"INTERACTION_CREATE",
			interaction(
				place,
				{
					custom_id: "x",
					components: [
						{ type: 1, components: [{ type: 4, custom_id: "t", value: "v" }] },
					],
				},
				5,
			),
		],
		[
			"INVITE_CREATE",
			{
				channel_id: channelId,
				code: "c",
				created_at: time,
				guild_id: guildId,
				inviter: user(userId),
				max_age: 1,
				max_uses: 1,
				target_type: 2,
				target_user: user(userId),
				target_application: application(place.botId),
				temporary: false,
				uses: 0,
				expires_at: time,
			},
		],
		["INVITE_DELETE", { channel_id: channelId, guild_id: guildId, code: "c" }],
		["GUILD_SCHEDULED_EVENT_CREATE", scheduledEvent(place)],
		["GUILD_SCHEDULED_EVENT_UPDATE", scheduledEvent(place)],
		[
			"GUILD_SCHEDULED_EVENT_USER_ADD",
			{ guild_scheduled_event_id: id(33), user_id: userId, guild_id: guildId },
		],
		["GUILD_SCHEDULED_EVENT_DELETE", scheduledEvent(place)],
		["AUTO_MODERATION_RULE_CREATE", rule(place)],
		["AUTO_MODERATION_RULE_UPDATE", rule(place)],
		[
			"AUTO_MODERATION_ACTION_EXECUTION",
			{
				guild_id: guildId,
				action: {
					type: 1,
					metadata: {
						channel_id: channelId,
						duration_seconds: 1,
						custom_message: "m",
					},
				},
				rule_id: id(34),
				rule_trigger_type: 1,
				user_id: userId,
				channel_id: channelId,
				message_id: id(40),
				alert_system_message_id: id(48),
				content: "c",
				matched_keyword: "k",
				matched_content: "c",
			},
		],
		["AUTO_MODERATION_RULE_DELETE", rule(place)],
		["STAGE_INSTANCE_CREATE", stage(place)],
		["STAGE_INSTANCE_UPDATE", stage(place)],
		["STAGE_INSTANCE_DELETE", stage(place)],
		["GUILD_SOUNDBOARD_SOUND_CREATE", sound(guildId)],
		["VOICE_STATE_UPDATE", voiceState(place)],
		["WEBHOOKS_UPDATE", { guild_id: guildId, channel_id: channelId }],
		[
			"TYPING_START",
			{
				channel_id: channelId,
				guild_id: guildId,
				user_id: userId,
				timestamp: 1,
				member: { ...member(), user: user(userId) },
			},
		],
		[
			"THREAD_DELETE",
			{ id: id(13), guild_id: guildId, parent_id: channelId, type: 11 },
		],
		["GUILD_ROLE_DELETE", { guild_id: guildId, role_id: id(5) }],
		["CHANNEL_DELETE", textChannel(guildId, id(14))],
		["GUILD_MEMBER_REMOVE", { guild_id: guildId, user: user(id(41)) }],
		["GUILD_DELETE", { id: other, unavailable: false }],
	];
}

/** The event with each of its fields, at any depth, null, absent and of another type; of a list its first item. */
export function* broken(data: unknown): Generator<unknown> {
	if (typeof data !== "object" || data === null) return;
	for (const [key, value] of Array.isArray(data)
		? [...data.entries()].slice(0, 1)
		: Object.entries(data)) {
		const put = (given: unknown) =>
			Array.isArray(data)
				? data.with(Number(key), given)
				: { ...data, [key]: given };
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
