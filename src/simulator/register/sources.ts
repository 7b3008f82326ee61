// Where the behaviour of each route and each event comes from. src/simulator/README.md is generated from this.

/** The section of Discord's documentation that describes a route or event. */
export interface Source {
	readonly url: string;
	/** The date (YYYY-MM-DD) of the version of Discord's documentation page that was read. */
	readonly asOf: string;
}

const table = `
events/gateway 2026-08-06
	GET /gateway get-gateway
	GET /gateway/bot get-gateway-bot
resources/application 2026-08-06
	GET /applications/@me get-current-application
topics/oauth2 2026-08-06
	GET /oauth2/applications/@me get-current-bot-application-information
	GET /oauth2/@me get-current-authorization-information
	POST /oauth2/token authorization-code-grant-access-token-exchange-example
	POST /oauth2/token/revoke authorization-code-grant-token-revocation-example
resources/user 2026-08-06
	GET /users/@me get-current-user
	PATCH /users/@me modify-current-user
	GET /users/:user_id get-user
	GET /users/@me/guilds get-current-user-guilds
	DELETE /users/@me/guilds/:guild_id leave-guild
	POST /users/@me/channels create-dm
resources/guild 2026-08-06
	GET /guilds/:guild_id get-guild
	PATCH /guilds/:guild_id modify-guild
	GET /guilds/:guild_id/preview get-guild-preview
	GET /guilds/:guild_id/integrations get-guild-integrations
	GET /guilds/:guild_id/widget get-guild-widget-settings
	PATCH /guilds/:guild_id/widget modify-guild-widget
	GET /guilds/:guild_id/vanity-url get-guild-vanity-url
	GET /guilds/:guild_id/regions get-guild-voice-regions
	GET /guilds/:guild_id/roles/member-counts get-guild-role-member-counts
	PATCH /guilds/:guild_id/members/@me/nick modify-current-user-nick
	GET /guilds/:guild_id/welcome-screen get-guild-welcome-screen
	PATCH /guilds/:guild_id/welcome-screen modify-guild-welcome-screen
	GET /guilds/:guild_id/onboarding get-guild-onboarding
	PUT /guilds/:guild_id/onboarding modify-guild-onboarding
	GET /guilds/:guild_id/channels get-guild-channels
	POST /guilds/:guild_id/channels create-guild-channel
	PATCH /guilds/:guild_id/channels modify-guild-channel-positions
	GET /guilds/:guild_id/threads/active list-active-guild-threads
	GET /guilds/:guild_id/members list-guild-members
	GET /guilds/:guild_id/members/search search-guild-members
	GET /guilds/:guild_id/members/:user_id get-guild-member
	PATCH /guilds/:guild_id/members/@me modify-current-member
	PATCH /guilds/:guild_id/members/:user_id modify-guild-member
	DELETE /guilds/:guild_id/members/:user_id remove-guild-member
	PUT /guilds/:guild_id/members/:user_id/roles/:role_id add-guild-member-role
	DELETE /guilds/:guild_id/members/:user_id/roles/:role_id remove-guild-member-role
	GET /guilds/:guild_id/roles get-guild-roles
	GET /guilds/:guild_id/roles/:role_id get-guild-role
	POST /guilds/:guild_id/roles create-guild-role
	PATCH /guilds/:guild_id/roles modify-guild-role-positions
	PATCH /guilds/:guild_id/roles/:role_id modify-guild-role
	DELETE /guilds/:guild_id/roles/:role_id delete-guild-role
	GET /guilds/:guild_id/bans get-guild-bans
	GET /guilds/:guild_id/bans/:user_id get-guild-ban
	PUT /guilds/:guild_id/bans/:user_id create-guild-ban
	POST /guilds/:guild_id/bulk-ban bulk-guild-ban
	DELETE /guilds/:guild_id/bans/:user_id remove-guild-ban
	GET /guilds/:guild_id/prune get-guild-prune-count
	POST /guilds/:guild_id/prune begin-guild-prune
	PUT /guilds/:guild_id/incident-actions modify-guild-incident-actions
	GET /guilds/:guild_id/invites get-guild-invites
resources/channel 2026-08-06
	GET /channels/:channel_id get-channel
	PATCH /channels/:channel_id modify-channel
	DELETE /channels/:channel_id deleteclose-channel
	POST /channels/:channel_id/typing trigger-typing-indicator
	PUT /channels/:channel_id/permissions/:overwrite_id edit-channel-permissions
	DELETE /channels/:channel_id/permissions/:overwrite_id delete-channel-permission
	POST /channels/:channel_id/messages/:message_id/threads start-thread-from-message
	POST /channels/:channel_id/threads start-thread-without-message
	GET /channels/:channel_id/threads/archived/public list-public-archived-threads
	GET /channels/:channel_id/threads/archived/private list-private-archived-threads
	GET /channels/:channel_id/users/@me/threads/archived/private list-joined-private-archived-threads
	PUT /channels/:channel_id/thread-members/@me join-thread
	PUT /channels/:channel_id/thread-members/:user_id add-thread-member
	DELETE /channels/:channel_id/thread-members/@me leave-thread
	DELETE /channels/:channel_id/thread-members/:user_id remove-thread-member
	GET /channels/:channel_id/thread-members/:user_id get-thread-member
	GET /channels/:channel_id/thread-members list-thread-members
	PUT /channels/:channel_id/voice-status set-voice-channel-status
	GET /channels/:channel_id/invites get-channel-invites
	POST /channels/:channel_id/invites create-channel-invite
resources/message 2026-08-06
	GET /channels/:channel_id/messages get-channel-messages
	GET /channels/:channel_id/messages/:message_id get-channel-message
	POST /channels/:channel_id/messages create-message
	POST /channels/:channel_id/messages/:message_id/crosspost crosspost-message
	PATCH /channels/:channel_id/messages/:message_id edit-message
	DELETE /channels/:channel_id/messages/:message_id delete-message
	POST /channels/:channel_id/messages/bulk-delete bulk-delete-messages
	GET /guilds/:guild_id/messages/search search-guild-messages
	PUT /channels/:channel_id/messages/:message_id/reactions/:emoji/@me create-reaction
	DELETE /channels/:channel_id/messages/:message_id/reactions/:emoji/@me delete-own-reaction
	DELETE /channels/:channel_id/messages/:message_id/reactions/:emoji/:user_id delete-user-reaction
	GET /channels/:channel_id/messages/:message_id/reactions/:emoji get-reactions
	DELETE /channels/:channel_id/messages/:message_id/reactions delete-all-reactions
	DELETE /channels/:channel_id/messages/:message_id/reactions/:emoji delete-all-reactions-for-emoji
	GET /channels/:channel_id/messages/pins get-channel-pins
	PUT /channels/:channel_id/messages/pins/:message_id pin-message
	DELETE /channels/:channel_id/messages/pins/:message_id unpin-message
	GET /channels/:channel_id/pins get-pinned-messages-deprecated
	PUT /channels/:channel_id/pins/:message_id pin-message-deprecated
	DELETE /channels/:channel_id/pins/:message_id unpin-message-deprecated
resources/poll 2026-08-06
	GET /channels/:channel_id/polls/:message_id/answers/:answer_id get-answer-voters
	POST /channels/:channel_id/polls/:message_id/expire end-poll
resources/sticker 2026-08-06
	GET /stickers/:sticker_id get-sticker
	GET /guilds/:guild_id/stickers list-guild-stickers
	GET /guilds/:guild_id/stickers/:sticker_id get-guild-sticker
resources/guild-template 2026-08-06
	GET /guilds/templates/:template_code get-guild-template
	GET /guilds/:guild_id/templates get-guild-templates
resources/voice 2026-08-06
	GET /voice/regions list-voice-regions
	GET /guilds/:guild_id/voice-states/:user_id get-user-voice-state
resources/stage-instance 2026-08-06
	POST /stage-instances create-stage-instance
	GET /stage-instances/:channel_id get-stage-instance
	PATCH /stage-instances/:channel_id modify-stage-instance
	DELETE /stage-instances/:channel_id delete-stage-instance
resources/emoji 2026-08-06
	GET /guilds/:guild_id/emojis list-guild-emojis
	GET /guilds/:guild_id/emojis/:emoji_id get-guild-emoji
	POST /guilds/:guild_id/emojis create-guild-emoji
	PATCH /guilds/:guild_id/emojis/:emoji_id modify-guild-emoji
	DELETE /guilds/:guild_id/emojis/:emoji_id delete-guild-emoji
resources/audit-log 2026-08-06
	GET /guilds/:guild_id/audit-logs get-guild-audit-log
resources/guild-scheduled-event 2026-08-06
	GET /guilds/:guild_id/scheduled-events list-scheduled-events-for-guild
	POST /guilds/:guild_id/scheduled-events create-guild-scheduled-event
	GET /guilds/:guild_id/scheduled-events/:event_id get-guild-scheduled-event
	PATCH /guilds/:guild_id/scheduled-events/:event_id modify-guild-scheduled-event
	DELETE /guilds/:guild_id/scheduled-events/:event_id delete-guild-scheduled-event
	GET /guilds/:guild_id/scheduled-events/:event_id/users get-guild-scheduled-event-users
resources/auto-moderation 2026-08-06
	GET /guilds/:guild_id/auto-moderation/rules list-auto-moderation-rules-for-guild
	POST /guilds/:guild_id/auto-moderation/rules create-auto-moderation-rule
	GET /guilds/:guild_id/auto-moderation/rules/:rule_id get-auto-moderation-rule
	PATCH /guilds/:guild_id/auto-moderation/rules/:rule_id modify-auto-moderation-rule
	DELETE /guilds/:guild_id/auto-moderation/rules/:rule_id delete-auto-moderation-rule
interactions/application-commands 2026-08-06
	GET /applications/:application_id/commands get-global-application-commands
	POST /applications/:application_id/commands create-global-application-command
	PUT /applications/:application_id/commands bulk-overwrite-global-application-commands
	GET /applications/:application_id/commands/:command_id get-global-application-command
	PATCH /applications/:application_id/commands/:command_id edit-global-application-command
	DELETE /applications/:application_id/commands/:command_id delete-global-application-command
	GET /applications/:application_id/guilds/:guild_id/commands get-guild-application-commands
	POST /applications/:application_id/guilds/:guild_id/commands create-guild-application-command
	PUT /applications/:application_id/guilds/:guild_id/commands bulk-overwrite-guild-application-commands
	GET /applications/:application_id/guilds/:guild_id/commands/:command_id get-guild-application-command
	PATCH /applications/:application_id/guilds/:guild_id/commands/:command_id edit-guild-application-command
	DELETE /applications/:application_id/guilds/:guild_id/commands/:command_id delete-guild-application-command
interactions/receiving-and-responding 2026-08-06
	POST /interactions/:interaction_id/:interaction_token/callback create-interaction-response
	GET /webhooks/:application_id/:interaction_token/messages/@original get-original-interaction-response
	PATCH /webhooks/:application_id/:interaction_token/messages/@original edit-original-interaction-response
	DELETE /webhooks/:application_id/:interaction_token/messages/@original delete-original-interaction-response
	GET /webhooks/:application_id/:interaction_token/messages/:message_id get-followup-message
	PATCH /webhooks/:application_id/:interaction_token/messages/:message_id edit-followup-message
	DELETE /webhooks/:application_id/:interaction_token/messages/:message_id delete-followup-message
	POST /webhooks/:application_id/:interaction_token create-followup-message
resources/webhook 2026-08-06
	GET /guilds/:guild_id/webhooks get-guild-webhooks
	GET /channels/:channel_id/webhooks get-channel-webhooks
	POST /channels/:channel_id/webhooks create-webhook
	GET /webhooks/:webhook_id get-webhook
	PATCH /webhooks/:webhook_id modify-webhook
	DELETE /webhooks/:webhook_id delete-webhook
	GET /webhooks/:webhook_id/:webhook_token get-webhook-with-token
	PATCH /webhooks/:webhook_id/:webhook_token modify-webhook-with-token
	DELETE /webhooks/:webhook_id/:webhook_token delete-webhook-with-token
	POST /webhooks/:webhook_id/:webhook_token execute-webhook
	GET /webhooks/:webhook_id/:webhook_token/messages/:message_id get-webhook-message
	PATCH /webhooks/:webhook_id/:webhook_token/messages/:message_id edit-webhook-message
	DELETE /webhooks/:webhook_id/:webhook_token/messages/:message_id delete-webhook-message
resources/invite 2026-08-06
	GET /invites/:invite_code get-invite
	DELETE /invites/:invite_code delete-invite
events/gateway-events 2026-08-06
	GUILD_CREATE GUILD_UPDATE GUILD_DELETE GUILD_ROLE_CREATE GUILD_ROLE_UPDATE GUILD_ROLE_DELETE CHANNEL_CREATE
	CHANNEL_UPDATE CHANNEL_DELETE THREAD_CREATE THREAD_UPDATE THREAD_DELETE THREAD_LIST_SYNC
	THREAD_MEMBERS_UPDATE GUILD_MEMBER_ADD GUILD_MEMBER_UPDATE GUILD_MEMBER_REMOVE STAGE_INSTANCE_CREATE
	STAGE_INSTANCE_UPDATE STAGE_INSTANCE_DELETE VOICE_CHANNEL_STATUS_UPDATE VOICE_STATE_UPDATE GUILD_BAN_ADD
	GUILD_BAN_REMOVE GUILD_EMOJIS_UPDATE GUILD_AUDIT_LOG_ENTRY_CREATE MESSAGE_CREATE MESSAGE_UPDATE
	MESSAGE_DELETE MESSAGE_DELETE_BULK MESSAGE_REACTION_ADD MESSAGE_REACTION_REMOVE MESSAGE_REACTION_REMOVE_ALL
	MESSAGE_REACTION_REMOVE_EMOJI MESSAGE_POLL_VOTE_ADD MESSAGE_POLL_VOTE_REMOVE CHANNEL_PINS_UPDATE
	WEBHOOKS_UPDATE INVITE_CREATE INVITE_DELETE GUILD_SCHEDULED_EVENT_CREATE GUILD_SCHEDULED_EVENT_UPDATE
	GUILD_SCHEDULED_EVENT_DELETE GUILD_SCHEDULED_EVENT_USER_ADD GUILD_SCHEDULED_EVENT_USER_REMOVE
	AUTO_MODERATION_RULE_CREATE AUTO_MODERATION_RULE_UPDATE AUTO_MODERATION_RULE_DELETE
	AUTO_MODERATION_ACTION_EXECUTION READY RESUMED GUILD_MEMBERS_CHUNK RATE_LIMITED INTERACTION_CREATE TYPING_START USER_UPDATE
https://docs.discord.food/resources/invite 2026-07-21
	POST /invites/:invite_code accept-invite
https://docs.discord.food/interactions/receiving-and-responding 2026-07-21
	POST /interactions create-interaction
`;

const documentation = "https://discord.com/developers/docs/";

/** Returns the documentation of each simulated route and event, by name. Throws if a name is listed twice. */
export function readSources(): Map<string, Source> {
	const sources = new Map<string, Source>();
	let [page, asOf] = ["", ""];
	const add = (name: string, section: string) => {
		if (sources.has(name))
			throw new Error(`the simulator's table of Discord's documentation pages lists the route or event ${name} twice`);
		sources.set(name, { url: `${page}#${section}`, asOf });
	};
	for (const line of table.trim().split("\n")) {
		const [first = "", second = "", ...rest] = line.trim().split(" ");
		if (!line.startsWith("\t")) {
			page = URL.canParse(first) ? first : documentation + first;
			asOf = second;
		} else if (second.startsWith("/")) add(`${first} ${second}`, rest.join(" "));
		else for (const event of line.trim().split(" ")) add(event, event.toLowerCase().replaceAll("_", "-"));
	}
	return sources;
}
