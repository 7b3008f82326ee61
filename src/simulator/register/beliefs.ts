// Particular beliefs about Discord that the simulator rests on, beside what the documentation of its routes says: guesses, and
// what other sources say. src/simulator/README.md is generated from this. `bun run bot --probe-guild` tries the guesses.

export interface Sourced {
	readonly belief: string;
	/**
	 * The kind of source that confirms an assumption about Discord. "probe" means that `bun run bot --probe-guild`
	 * confirmed it by requests to Discord.
	 */
	readonly kind: "documentation" | "OpenAPI" | "library" | "probe";
	readonly source: string;
	/** The date (YYYY-MM-DD) of the version of the source (such as a documentation page) that was read. */
	readonly asOf: string;
}

export interface Guess {
	readonly belief: string;
	readonly kind: "guess";
	/**
	 * Why `bun run bot --probe-guild` cannot or should not check this guess about Discord. If undefined,
	 * src/bot/setup/probe/probes.ts has a check with the same id.
	 */
	readonly notProbed?: string;
}

const guess = (belief: string, notProbed?: string): Guess => ({
	belief,
	kind: "guess",
	...(notProbed && { notProbed }),
});

const sourced =
	(kind: Sourced["kind"], asOf: string) =>
	(belief: string, source: string): Sourced => ({ belief, kind, source, asOf });

const documented = sourced("documentation", "2026-08-06");
const inOpenApi = sourced("OpenAPI", "2026-07-18");
const observed = sourced("documentation", "2026-07-21");

/** Why `bun run bot --probe-guild` does not check guesses about Discord's OAuth2. */
const noSecret = "The probe has no client secret.";
const noBrowser = "It needs a person with a browser.";
/** Why `bun run bot --probe-guild` does not check guesses about joining a guild. */
const secondAccount = "It needs a person's account.";

/**
 * Assumptions of the simulator about Discord that Discord's documentation of the routes does not confirm, by id. Each
 * one is a guess or names its source.
 */
export const beliefs: Readonly<Record<string, Sourced | Guess>> = {
	"channel-obfuscation": sourced("documentation", "2026-08-12")(
		"Discord's Gateway sends a channel that a bot may not view as `___hidden___` with the flag 1 << 17 and one overwrite, by which @everyone lacks VIEW_CHANNEL; only `id`, `type`, `position` and `parent_id` are real. GET /guilds/:guild_id/channels leaves it out. A bot in a voice channel may view it, and a category if it may view a channel in it. A gain of sight sends CHANNEL_UPDATE with all data, also of the category.",
		"https://docs.discord.com/developers/resources/channel#channel-object-obfuscated-channels (discord-api-docs PR #8454)",
	),
	"channel-obfuscated-events": guess(
		"An obfuscated channel has the other fields of its type, with the values of a new channel. A loss of sight sends CHANNEL_UPDATE at once. CHANNEL_DELETE is obfuscated, too.",
		"The probe sends requests and does not listen to events.",
	),
	"channel-obfuscated-get": guess(
		"GET /channels/:channel_id of a channel that a bot may not view is refused with 50001, even of a category that Discord shows because of a channel in it.",
		"The probe needs a channel that the bot cannot see, and could not delete it.",
	),
	"autocomplete-choices": guess(
		"An option with both choices and autocompletion is refused with the code APPLICATION_COMMAND_AUTOCOMPLETE_CHOICES_INVALID.",
		"Only the name of the error in the response is unknown.",
	),
	"select-values": sourced("library", "2024-04-02")(
		"A select menu with the same value twice is refused with SELECT_COMPONENT_OPTION_VALUE_DUPLICATED.",
		"https://github.com/Sayrix/Ticket-Bot/issues/346",
	),
	"select-counts": guess(
		"A select menu whose max_values exceeds its options is refused with BASE_TYPE_BAD_LENGTH of the options; one whose min_values exceeds max_values with NUMBER_TYPE_MAX.",
		"Only the names of the errors in the response are unknown.",
	),
	"components-total": guess(
		"A message with more than 40 components, nested ones included, is refused with BASE_TYPE_MAX_LENGTH of `components`.",
		"Only the name of the error in the response is unknown.",
	),
	"components-legacy": sourced("library", "2026-07-09")(
		"Without IS_COMPONENTS_V2, components that need it are refused with UNION_TYPE_CHOICES.",
		"https://github.com/borhara/cordless/issues/2",
	),
	"components-text": sourced("documentation", "2026-08-20")(
		"A message with IS_COMPONENTS_V2 has at most 4000 characters of text.",
		"https://github.com/discord/discord-api-docs/issues/8554",
	),
	"embed-empty": sourced("documentation", "2020-06-25")(
		"An embed without any key is refused with LIST_ITEM_VALUE_REQUIRED.",
		"https://github.com/discord/discord-api-docs/issues/1765",
	),
	"embed-empty-parts": sourced("OpenAPI", "2026-07-18")(
		"The parts of an embed (footer, image, thumbnail, author) may be empty.",
		"RichEmbedFooter, RichEmbedImage, RichEmbedThumbnail, RichEmbedAuthor",
	),
	"embed-field-empty": sourced("library", "2025-02-08")(
		"The name and the value of an embed's field may be empty.",
		"https://github.com/discordjs/discord.js/issues/10744",
	),
	"modal-disabled": guess(
		"A disabled select menu in a modal is refused with the code COMPONENT_DISABLED_INVALID.",
		"Only the name of the error in the response is unknown.",
	),
	"modal-required": guess(
		"A select menu in a modal that must be filled, and whose min_values is 0, is refused with the code NUMBER_TYPE_MIN.",
		"Only the name of the error in the response is unknown.",
	),
	"modal-response-type": guess(
		"A response to a modal that a command opened has the type of a response to this command.",
		"It needs a person's client.",
	),
	"autocomplete-focused": sourced("documentation", "2026-07-21")(
		"The option that a person is typing has a text as its value, even if it is a number.",
		"https://docs.discord.food/interactions/receiving-and-responding#application-command-data-option-structure",
	),
	"interaction-archived-thread": documented(
		"Commands cannot be used in archived threads (50083). Buttons and select menus can.",
		"https://docs.discord.com/developers/topics/threads#active-archived-threads",
	),
	"interaction-locked-thread": sourced("documentation", "2022-10-15")(
		"A response to an interaction in a thread that is archived and locked is refused with 50083.",
		"https://github.com/discord/discord-api-docs/issues/5517",
	),
	"interaction-answer-types": sourced("documentation", "2024-05-06")(
		"A first response of a type that the interaction does not have is refused with BASE_TYPE_CHOICES.",
		"https://github.com/Cog-Creators/Red-DiscordBot/issues/6374",
	),
	"audit-count": sourced("documentation", "2023-03-10")(
		"Deletions of messages, moves in voice and disconnects by the same person are counted in one entry of the audit log, and only the first is an event.",
		"https://github.com/discord/discord-api-docs/issues/5911",
	),
	"audit-count-window": guess(
		"They are counted together within five minutes of the first, with the same target, channel and reason.",
		"It needs two people and minutes of waiting.",
	),
	"audit-unchanged": guess(
		"A member's edit that changes nothing, such as the timeout that is already set, has no entry in the audit log.",
		"It needs a second account to time out.",
	),
	"audit-bot-delete": sourced("documentation", "2025-09-23")(
		"A single message that a bot deletes is not in the audit log.",
		"https://github.com/discord/discord-api-docs/issues/7856",
	),
	"command-twice": sourced("documentation", "2021-09-29")(
		"A command that is registered globally and in a guild is shown twice in this guild.",
		"https://github.com/discord/discord-api-docs/issues/3885",
	),
	"command-creates-day": guess(
		"The limit of 200 new commands a day counts those of the last 24 hours.",
		"The probe would use up the bot's commands for a day.",
	),
	"command-limits": sourced("documentation", "2026-04-08")(
		"Replacing all commands takes at most 130 (50035), of which 100 may be slash commands (30032).",
		"https://github.com/chenhg5/cc-connect/issues/504",
	),
	"command-creates-error": sourced("documentation", "2023-05-31")(
		"A command beyond the daily limit is refused with 30034 and status 400.",
		"https://github.com/mishl-dev/Discord-AI-Chatbot/issues/113",
	),
	"command-menu-description": sourced("documentation", "2023-01-10")(
		"A command of a context menu with a description is refused with APPLICATION_COMMAND_CONTEXT_MENU_DESCRIPTION_INVALID; an empty one is accepted.",
		"https://github.com/discord/discord-api-docs/issues/5836",
	),
	"command-menu-options": sourced("documentation", "2026-09-02")(
		"A command of a context menu with options is refused with APPLICATION_COMMAND_CONTEXT_MENU_OPTIONS_INVALID.",
		"https://github.com/discord/discord-api-docs/issues/8574",
	),
	"webhook-everyone": guess("A webhook may mention everyone."),
	"webhook-other-message": guess("For a webhook, a message of another author is unknown (10008)."),
	"webhook-token-audit": sourced("documentation", "2020-05-27")(
		"Changes of a webhook by its token are in the audit log without a user (`user_id` is null) and without a reason.",
		"https://github.com/discord/discord-api-docs/issues/1685",
	),
	"webhook-category": sourced("library", "2022-08-24")(
		"A category has no webhooks. Its code, 50024, is that of actions that a type of channel lacks.",
		"https://github.com/discordjs/discord.js/pull/8531",
	),
	"invite-category": sourced("library", "2020-11-19")(
		"A category has no invites (404 and 10003).",
		"https://github.com/Rapptz/discord.py/pull/6063",
	),
	"invite-reuse": documented(
		"Without `unique`, creating an identical invite returns the bot's existing one.",
		"https://discord.com/developers/docs/resources/channel#create-channel-invite",
	),
	"invite-roles-audit": guess("The audit log does not have the roles of an invite."),
	"invite-expiry": sourced("documentation", "2024-11-02")(
		"No event is sent when an invite expires.",
		"https://github.com/discord/discord-api-docs/issues/7249",
	),
	"invite-paused": guess("While invites are paused, none is created, and the response is 204."),
	"invite-join-paused": sourced("documentation", "2025-03-01")(
		"While invites are paused, joining is refused with 40069.",
		"https://github.com/discord-userdoccers/discord-userdoccers/blob/18baa186/pages/datamining/errors.mdx",
	),
	"invite-join-again": guess(
		"A member who accepts an invite again changes nothing, and `new_member` is false.",
		secondAccount,
	),
	"invite-join-roles": guess("A member who joins with an invite has its roles from the start.", secondAccount),
	"invite-join-pending": observed(
		"With the feature MEMBER_VERIFICATION_GATE_ENABLED, new members are pending until they pass the gate.",
		"https://docs.discord.food/resources/guild#guild-features",
	),
	"slow-mode-scope": guess("The 429 of slow mode has the scope `user`.", "Slow mode does not affect bots."),
	"invite-age": inOpenApi("An invite lasts up to 60 days. The page says 7.", "create_channel_invite"),
	"invite-role-limit": inOpenApi("An invite can have 250 roles.", "create_channel_invite"),
	"invite-events": observed(
		"Only members who manage a channel receive the events of its invites.",
		"https://docs.discord.food/gateway/gateway-events#invite-create",
	),
	"thread-archive-duration": sourced("documentation", "2021-08-15")(
		"A thread without a duration gets 1440 minutes. The default of its channel is for Discord's own clients.",
		"https://github.com/discord/discord-api-docs/issues/3660",
	),
	"thread-locked": documented(
		"Sending in a locked thread without MANAGE_THREADS is refused. The code 160005 is `Thread is locked`.",
		"https://discord.com/developers/docs/topics/threads#locked-threads",
	),
	"message-undeletable": sourced("documentation", "2021-12-09")(
		"A bulk delete with a message that cannot be deleted is refused whole with 50021.",
		"https://github.com/discord/discord-api-docs/issues/4087",
	),
	"thread-notice-types": observed(
		"A message of type 1, 2 or 4 tells that someone added or removed a member of a thread or renamed it.",
		"https://docs.discord.food/resources/message#message-type",
	),
	"thread-notices": guess(
		"Notices of members and names count as messages, and neither reopen a thread nor make their author a member.",
		"The bot is a member of the threads that it creates.",
	),
	"thread-archived-limit": inOpenApi("A page of archived threads has 2 to 100.", "list_public_archived_threads"),
	"tag-unknown": guess("A post with an unknown tag is refused with 10087."),
	"tag-moderated": guess(
		"Setting a moderated tag without MANAGE_THREADS, which it needs (documented), is refused with 50013.",
	),
	"tag-deleted": guess("Posts keep the ids of deleted tags."),
	"stage-status": guess("A stage channel has no status (50024)."),
	"stage-audit": guess("The audit log has the topic and the privacy level of a new stage."),
	"voice-status-intent": documented(
		"VOICE_CHANNEL_STATUS_UPDATE needs the intent GUILDS.",
		"https://discord.com/developers/docs/events/gateway#list-of-intents",
	),
	"nonce-age": guess("An enforced nonce is remembered for 5 minutes.", "It would take minutes."),
	"nonce-channel": sourced("documentation", "2024-02-08")(
		"An enforced nonce counts per author and channel.",
		"https://github.com/discord/discord-api-docs/pull/6647",
	),
	"nonce-deleted": sourced("documentation", "2024-02-08")(
		"An enforced nonce whose message was deleted is refused with 10008.",
		"https://github.com/discord/discord-api-docs/pull/6647",
	),
	"all-members": documented(
		"A bot may request all members of a guild once in 30 seconds.",
		"https://discord.com/developers/docs/change-log#introducing-rate-limit-when-requesting-all-guild-members",
	),
	"timeout-limit": sourced("library", "2022-03-30")(
		"A timeout of more than 28 days is refused with INVALID_COMMUNICATION_DISABLED_TIMESTAMP.",
		"https://github.com/discord-jda/JDA/issues/2074",
	),
	"mfa-owner": documented(
		"Where `mfa_level` is 1, elevated permissions of a bot need two-factor authentication of its application's owner.",
		"https://discord.com/developers/docs/topics/oauth2#twofactor-authentication-requirement",
	),
	"mfa-code": sourced("library", "2022-07-31")(
		"Without it, what needs an elevated permission is refused with 403 and 60003.",
		"https://github.com/Pycord-Development/pycord/issues/1538",
	),
	"mfa-user": sourced("library", "2026-08-06")(
		"The `mfa_enabled` of a bot is that of its application's owner.",
		"https://discord.js.org/docs/packages/discord.js/14.28.1/ClientUser:Class#mfaEnabled",
	),
	"reaction-unused": guess("Removing one's reaction is refused with 10014 if nobody used the emoji."),
	"reaction-missing": guess(
		"Removing one's missing reaction has no effect (204) if others used the emoji.",
		"It needs the reaction of another account.",
	),
	"reaction-burst": guess(
		"Removing a user's reaction leaves their super reaction.",
		"Bots cannot add super reactions.",
	),
	"emoji-external": sourced("documentation", "2020-02-09")(
		"Reacting with another guild's emoji without USE_EXTERNAL_EMOJIS is refused with 10014.",
		"https://github.com/discord/discord-api-docs/issues/1350",
	),
	"emoji-image": guess("An invalid image is refused with 50035 at `image`."),
	"emoji-size": sourced("documentation", "2023-04-18")(
		"An image of more than 256 KiB is refused with 50045, one of more than 2048 KiB with BINARY_TYPE_MAX_SIZE at `image` (Mephisto5558/Teufelsbot, issue 233).",
		"https://github.com/discord/discord-api-docs/pull/6093",
	),
	"emoji-role": guess("An emoji for an unknown role is refused with 10011."),
	"cdn-gif": sourced("documentation", "2025-05-20")(
		"A picture that was not uploaded as a GIF cannot be requested as one (415).",
		"https://github.com/discord/discord-api-docs/issues/7567",
	),
	"cdn-avif": observed(
		"A picture that was uploaded as AVIF is served only as WebP.",
		"https://docs.discord.food/resources/emoji#emoji-formats",
	),
	"cdn-deleted": guess(
		"The CDN has the pictures of deleted emoji and former icons no more.",
		"The probe sends no requests to the CDN.",
	),
	"cdn-size": observed(
		"The CDN accepts more sizes than the documented powers of two, such as 100.",
		"https://docs.discord.food/reference#cdn-formatting",
	),
	"cdn-size-refused": guess("The CDN refuses an unlisted size with 400.", "The probe sends no requests to the CDN."),
	"icon-image": guess("An invalid icon is refused with 50035 at `icon`."),
	"icon-size": guess(
		"An icon of more than 10 MiB is refused with 50035 at `icon`.",
		"The bot could not restore the guild's icon exactly.",
	),
	"icon-hash": guess("Equal icons have the same hash.", "The bot could not restore the guild's icon exactly."),
	"icon-animated": guess(
		"Without ANIMATED_ICON, a GIF becomes a still icon.",
		"The bot could not restore the guild's icon exactly.",
	),
	"poll-other": sourced("library", "2024-04-20")(
		"Ending another's poll is refused with 50005.",
		"https://github.com/nyxx-discord/nyxx/pull/644",
	),
	"poll-answer": guess("Listing the voters of an answer that does not exist is refused with 50035."),
	"forward-system": guess("Forwarding a system message is refused with 50021."),
	"forward-poll": guess("Forwarding a poll is refused with 50021."),
	"forward-forward": guess("Forwarding a forward forwards the first message."),
	"forward-content": guess(
		"Without the Message Content intent, the snapshot of another's message is empty.",
		"It needs the message of another account.",
	),
	"search-content": guess(
		"Searching without the Message Content intent, which the route needs (documented), is refused with 50001.",
	),
	"search-channel": guess("Searching a channel without READ_MESSAGE_HISTORY is refused with 50001."),
	"search-all": guess("A search without filters finds all messages."),
	"search-has": guess("A search for several `has` finds messages with one."),
	"search-author": guess("A search for several values of `author_type` finds messages with one."),
	"search-relevance": guess("Sorted by relevance, messages with more of the words come first."),
	"event-channel": guess("An external event with a channel is refused with 50035 at `channel_id`."),
	"event-channel-type": guess("A voice event in a text channel is refused with 50024."),
	"event-end": guess("An event that ends before it starts is refused with 50035 at `scheduled_end_time`."),
	"event-status": guess(
		"Completing an event that has not started, no valid transition (documented), is refused with 50035 at `status`.",
	),
	"event-move": guess("Moving an event needs the permissions in the new channel, too (50013)."),
	"event-hidden": guess(
		"An event in a hidden channel is refused with 50001.",
		"The bot could not delete a channel that is hidden from it.",
	),
	"automod-event-type": guess("A rule with the wrong event type is refused with 50035 at `event_type`."),
	"automod-timeout": guess(
		"A timeout in a rule other than for keywords and mentions (documented) is refused with 50035 at the type of the action.",
	),
	"automod-block": observed(
		"Only rules for profiles block interactions, and need MODERATE_MEMBERS.",
		"https://docs.discord.food/resources/auto-moderation#automod-action-type",
	),
	"ban-query": sourced("library", "2026-07-22")(
		"A ban reads delete_message_seconds from the query, too.",
		"discord.py, http.py: ban",
	),
	"automod-name-limit": inOpenApi("The name of a rule has at most 100 characters.", "create_auto_moderation_rule"),
	"automod-action-limit": inOpenApi("A rule has at most 5 actions.", "create_auto_moderation_rule"),
	"automod-bots": sourced("documentation", "2023-05-07")(
		"Bots are exempt from AutoMod.",
		"https://support.discord.com/hc/en-us/articles/4421269296535-AutoMod-FAQ",
	),
	"automod-alert": observed(
		"An alert has an embed with the rule, the channel, the keyword and what it matched.",
		"https://docs.discord.food/resources/auto-moderation#automod-alert",
	),
	"incidents-partial": guess("Incident actions that are left out stay."),
	"incidents-audit": guess("Incident actions are not in the audit log."),
	"incidents-long": guess("Incident actions for more than a day are refused with 50035 at the field."),
	"community-requirement": guess("A community cannot go without verification: 50035 at `verification_level`."),
	"community-channels": sourced("documentation", "2023-03-23")(
		"Enabling COMMUNITY needs the channels for rules and updates in the same request (403 and 40006).",
		"https://github.com/discord/discord-api-docs/issues/6015",
	),
	"community-text": sourced("documentation", "2022-01-03")(
		"The channels for rules and updates cannot become announcement channels (50086).",
		"https://github.com/discord/discord-api-docs/pull/4302",
	),
	"community-level": guess(
		"Enabling COMMUNITY without verification, or with less than the strictest filter, is refused with 50035 at the field.",
		"It would make the guild a community.",
	),
	"community-removed": guess(
		"When COMMUNITY is removed, channels keep their types, and settings their values.",
		"It would end the community.",
	),
	discoverable: sourced("documentation", "2023-05-04")(
		"DISCOVERABLE is refused with 403 and 40006 if the guild does not meet its requirements.",
		"https://github.com/discord/discord-api-docs/issues/6015",
	),
	"invites-disabled": sourced("documentation", "2024-01-09")(
		"Without COMMUNITY, INVITES_DISABLED is refused with 403 and 50001, but can be removed.",
		"https://github.com/discord/discord-api-docs/issues/6613",
	),
	"features-fixed": sourced("library", "2023-02-19")(
		"Features that a request cannot change are ignored, whether it lists them or not.",
		"https://github.com/discord-net/Discord.Net/pull/2605",
	),
	"features-unknown": guess("An unknown feature is refused with 50035 at `features`."),
	"welcome-unset": sourced("library", "2021-04-17")(
		"A welcome screen that was never edited is unknown (10069).",
		"https://github.com/hikari-py/hikari/pull/548",
	),
	"welcome-empty": sourced("documentation", "2022-01-15")(
		"A welcome screen without channels counts as disabled.",
		"https://github.com/discord/discord-api-docs/pull/4344",
	),
	"welcome-types": sourced("library", "2026-03-31")(
		"A welcome screen can have text, announcement, forum and media channels.",
		"TwilightZebby/WelcomeEditor, README",
	),
	"welcome-limits": inOpenApi(
		"A welcome screen has 140 characters, and 50 for each channel.",
		"update_guild_welcome_screen",
	),
	"welcome-community": guess(
		"Editing the welcome screen without COMMUNITY is refused with 50001.",
		"Other probes need a community.",
	),
	"welcome-channel": guess(
		"An unknown channel in the welcome screen is refused with 10003, a voice channel with 50024.",
	),
	"welcome-audit": guess("An edited welcome screen is in the audit log as GUILD_UPDATE with the changed fields."),
	"onboarding-read": observed(
		"Reading onboarding needs MANAGE_GUILD while it is disabled.",
		"https://docs.discord.food/resources/guild#get-guild-onboarding",
	),
	"onboarding-events": observed(
		"Editing onboarding sends GUILD_UPDATE.",
		"https://docs.discord.food/resources/guild#modify-guild-onboarding",
	),
	"onboarding-limits": inOpenApi(
		"Onboarding has at most 15 prompts, each with at most 50 options.",
		"put_guilds_onboarding",
	),
	"onboarding-ids": sourced("documentation", "2023-07-24")(
		"A new prompt needs an id, too. Discord replaces it.",
		"https://github.com/discord/discord-api-docs/issues/6320",
	),
	"onboarding-edit": sourced("library", "2023-06-16")(
		"Onboarding can be edited without COMMUNITY.",
		"https://github.com/Pycord-Development/pycord/pull/2127",
	),
	"onboarding-readable": sourced("documentation", "2024-12-03")(
		"Hiding a channel of onboarding from @everyone is refused with 350003, also without COMMUNITY.",
		"https://github.com/discord/discord-api-docs/issues/7296",
	),
	"onboarding-channel-deleted": sourced("library", "2023-10-03")(
		"Channels of onboarding can be deleted. Only Discord's own client prevents it.",
		"https://github.com/Vendicated/Vencord/pull/1773",
	),
	"onboarding-prompt-deleted": sourced("documentation", "2024-05-25")(
		"A deleted prompt is in the audit log only as ONBOARDING_UPDATE.",
		"https://github.com/discord/discord-api-docs/issues/6892",
	),
	"onboarding-community": guess(
		"Enabling onboarding without COMMUNITY is refused with 350000.",
		"Other probes need a community.",
	),
	"onboarding-below": guess(
		"Editing enabled onboarding so that it lacks channels is refused with 350001, enabling it with 350000.",
		"It would enable onboarding.",
	),
	"onboarding-mode": guess(
		"In the mode ONBOARDING_ADVANCED, the option with the fewest channels counts for each required prompt.",
		"It would enable onboarding.",
	),
	"onboarding-role-events": guess(
		"A role that becomes part of a prompt gets the flag IN_PROMPT with a GUILD_ROLE_UPDATE.",
		"The probe sends requests and does not listen to events.",
	),
	"onboarding-hidden": guess("A channel hidden from @everyone is refused in onboarding with 350003."),
	"onboarding-unknown": guess("An unknown channel in onboarding is refused with 10003, an unknown role with 10011."),
	"onboarding-emoji": guess("An option with an unknown custom emoji is refused with 10014."),
	"onboarding-prompt-defaults": guess(
		"A prompt whose settings are omitted is optional, multiple choice and outside onboarding.",
	),
	"onboarding-deleted": guess("Deleted channels and roles disappear from the options of onboarding."),
	"onboarding-audit": guess(
		"Edited onboarding is in the audit log as ONBOARDING_UPDATE with the guild as target and the changed fields.",
	),
	"bulk-ban-none": documented(
		"A bulk ban that bans nobody is refused with 500000.",
		"https://discord.com/developers/docs/resources/guild#bulk-guild-ban",
	),
	"stage-community": sourced("library", "2021-05-09")(
		"A stage channel without COMMUNITY is refused with 50024.",
		"https://github.com/Rapptz/discord.py/issues/6883",
	),
	"announcement-community": sourced("library", "2024-05-21")(
		"An announcement channel without COMMUNITY or NEWS is refused with 50035 at `type`.",
		"https://github.com/Lucky3028/terraform-provider-discord/issues/149",
	),
	"forum-community": sourced("documentation", "2026-01-09")(
		"A forum does not need COMMUNITY.",
		"https://github.com/discord/discord-api-docs/issues/7133",
	),
	"spoiler-nsfw": guess(
		"A channel that would be age-restricted and a spoiler channel, which the documentation excludes, is refused with 50035 at `flags`.",
		"Only the name of the error in the response is unknown.",
	),
	"move-audit": sourced("documentation", "2022-06-08")(
		"Channel positions, and all moves by their endpoint, are not in the audit log.",
		"https://github.com/discord/discord-api-docs/pull/5036",
	),
	"move-position": guess(
		"Moving a channel within its category without MANAGE_CHANNELS is refused with 50013.",
		"The bot could not give itself the permission back.",
	),
	"move-lock": guess(
		"`lock_permissions` needs MANAGE_ROLES (https://github.com/discord/discord-api-docs/pull/8485): in the channel, whatever the category says; without it the answer is 50013.",
		"The bot could not give itself the permission back.",
	),
	"sync-events": sourced("library", "2021-07-02")(
		"A changed overwrite of a category changes its synced channels, too; their events come after the category's.",
		"https://github.com/discordjs/discord.js/issues/6004",
	),
	"sync-audit": guess("Channels that follow a changed overwrite of their category have no entries in the audit log."),
	"integration-id": guess("The integration of a bot has the id of the bot.", "Nothing depends on it."),
	"voice-regions": guess(
		"Discord has the voice regions that the simulator lists.",
		"They change, and nothing depends on them.",
	),
	"audit-target": inOpenApi("`target_id` filters the audit log.", "list_guild_audit_log_entries"),
	"prune-administrator": observed(
		"With PRUNE_REQUIRES_ADMIN, counting and pruning need ADMINISTRATOR.",
		"https://docs.discord.food/resources/guild#get-guild-prune",
	),
	"prune-rank": guess("A prune skips the owner and members above the bot.", "It would remove members."),
	"role-features": guess("A role icon or gradient without the guild's feature is refused with 50101."),
	"role-icon-size": guess(
		"A role icon of more than 256 KiB is refused with 50035 at `icon`.",
		"It needs a guild with ROLE_ICONS.",
	),
	"role-emoji": guess("A `unicode_emoji` that is no emoji is refused with 50035.", "It needs a guild with ROLE_ICONS."),
	"role-color": guess(
		"Setting `color` without `colors` ends a role's gradient.",
		"It needs a guild with ENHANCED_ROLE_COLORS.",
	),
	"role-holographic": documented(
		"With a tertiary color, Discord replaces the other colors by those of the holographic style.",
		"https://discord.com/developers/docs/topics/permissions#role-object-role-colors-object",
	),
	"role-overwrites": sourced("documentation", "2022-01-19")(
		"Deleting a role removes its overwrites.",
		"https://github.com/discord/discord-api-docs/issues/4303",
	),
	"role-everyone": guess("Moving @everyone is refused with 50028."),
	"reason-characters": sourced("library", "2026-07-20")(
		"An audit log reason is counted in characters before its URL encoding.",
		"twilight-validate, audit_reason",
	),
	"reason-length": sourced("library", "2021-04-29")(
		"An audit log reason of more than 512 characters is refused with 400.",
		"https://github.com/xelA/bucket/issues/5",
	),
	"token-unneeded": guess("An invalid token gets 401 even where none is needed."),
	"error-status": guess(
		"Each error code has one HTTP status, that in `rest/errors.ts`. Discord documents only the codes.",
		"The report has the statuses of the errors that the other probes meet.",
	),
	"rate-limits": guess(
		"Each route has the limits in `realisticLimits`. Discord publishes only the global one.",
		"Reaching limits on purpose is not harmless. The bot reads them from responses.",
	),
	"rename-limit": sourced("documentation", "2020-10-30")(
		"A channel's name can be changed twice in 10 minutes, and so can its topic; the headers do not announce it. Requests that contain both count for both.",
		"https://github.com/discord/discord-api-docs/issues/2190",
	),
	"oauth2-code-once": sourced("documentation", "2021-01-23")(
		"A code can be exchanged once, within 100 s.",
		"https://github.com/discord/discord-api-docs/issues/2526",
	),
	"oauth2-code": sourced("library", "2023-01-21")(
		"Another code is refused with `invalid_grant`. Until 2022 it was `invalid_request`.",
		"https://github.com/reboxer/discord-oauth2/issues/92",
	),
	"oauth2-client": sourced("library", "2021-11-04")(
		"A wrong client id or secret is refused with 401 and `invalid_client`.",
		"https://github.com/ValentinNeaga/Laravel-Discord-Authentication/issues/1",
	),
	"oauth2-grant-type": sourced("library", "2021-07-11")(
		"An unknown or missing grant type is refused with `unsupported_grant_type`, before the secret is checked.",
		"https://github.com/mattrasband/aiohttp-oauth2/issues/15",
	),
	"oauth2-not-a-form": sourced("documentation", "2022-07-26")(
		"A body that is not a form is refused like an empty one.",
		"https://github.com/discord/discord-api-docs/issues/5249",
	),
	"oauth2-missing-code": guess("A missing code is refused with `invalid_request`.", noSecret),
	"oauth2-redirect-uri": guess(
		"A redirect URI other than that of the authorization, or none, is refused with `invalid_grant`, and the code remains valid.",
		noSecret,
	),
	"oauth2-refresh": sourced("documentation", "2023-02-18")(
		"A refresh token can be used once; then it is refused with `invalid_grant`.",
		"https://github.com/discord/discord-api-docs/issues/5942",
	),
	"oauth2-refreshed": sourced("documentation", "2018-07-06")(
		"Refreshing ends the former access token.",
		"https://github.com/discord/discord-api-docs/pull/620",
	),
	"oauth2-pkce": observed(
		"PKCE works with S256; with a challenge, the verifier is needed.",
		"https://docs.discord.food/topics/oauth2#pkce",
	),
	"oauth2-pkce-method": sourced("documentation", "2024-08-01")(
		"Another method than S256 redirects with `invalid_request`.",
		"https://github.com/discord/discord-api-docs/pull/7046",
	),
	"oauth2-verifier": guess(
		"A verifier that does not belong to the challenge is refused with `invalid_grant`.",
		noSecret,
	),
	"oauth2-revoke": sourced("documentation", "2023-08-17")(
		"Revoking returns `{}`, and refuses an unknown `token_type_hint` with `unsupported_token_type`.",
		"https://github.com/discord/discord-api-docs/pull/6356",
	),
	"oauth2-revoke-unknown": guess("Revoking an unknown token returns `{}`, as RFC 7009 demands.", noSecret),
	"oauth2-denied": sourced("library", "2022-03-24")(
		"Canceling redirects with `access_denied`.",
		"https://github.com/nhost/hasura-auth/issues/125",
	),
	"oauth2-invalid-scope": sourced("library", "2020-10-11")(
		"An unknown scope redirects with `invalid_scope`, after the person has accepted.",
		"https://github.com/reboxer/discord-oauth2/issues/33",
	),
	"oauth2-scope": guess("A request without a scope redirects with `invalid_scope`.", noBrowser),
	"oauth2-error-page": guess(
		"An unknown application (404), an unregistered redirect URI and an unknown response type (400) get an error page.",
		noBrowser,
	),
	"oauth2-bot-token": sourced("documentation", "2021-10-10")(
		"A bot's token gets 401 from `GET /oauth2/@me`.",
		"https://github.com/discord/discord-api-docs/issues/3945",
	),
	"oauth2-bearer": sourced("documentation", "2019-11-30")(
		"An access token gets 401 from routes for bots.",
		"https://github.com/discord/discord-api-docs/issues/1221",
	),
	"oauth2-missing-scope": sourced("library", "2022-06-05")(
		"An access token without the needed scope gets 401.",
		"https://github.com/treeben77/discord-oauth2.py/issues/4",
	),
	"identify-refused": guess(
		"An Identify beyond `max_concurrency`, which gets op 9 (Gateway, Rate Limiting), counts as one of the 1,000 a day, has `false` as its data, and does not make the bot wait longer.",
		"It costs the bot logins.",
	),
	"identify-order": documented(
		"A bot must start its shards by buckets of `max_concurrency`, in order. What Discord does otherwise is unknown: the simulator accepts any order.",
		"https://discord.com/developers/docs/events/gateway#sharding-max-concurrency",
	),
	"members-other-shard": guess(
		"A request for the members of a guild that belongs to another shard is not answered.",
		"It needs a bot with several shards.",
	),
	"recommended-shards": guess(
		"One shard is recommended per 1,000 guilds.",
		"It needs a bot in more than 1,000 guilds.",
	),
};
