// Which test uses each route and each event of the simulator.

/** A test file, its tests, and the routes and events that each uses. */
const table = `
interactions/interactions.test.ts
	an interaction has the command's options, place and user
		POST /interactions
		POST /interactions/:interaction_id/:interaction_token/callback
		INTERACTION_CREATE
	replies and follow-ups are fetched, edited and deleted
		GET PATCH DELETE /webhooks/:application_id/:interaction_token/messages/@original
		GET PATCH DELETE /webhooks/:application_id/:interaction_token/messages/:message_id
		POST /webhooks/:application_id/:interaction_token
rest/router.test.ts
	an unknown entity gets Discord's code for its type
		GET /users/:user_id
rest/routes/automod.test.ts
	discord.js creates, lists, edits and deletes a rule, with events and audit log entries
		GET POST /guilds/:guild_id/auto-moderation/rules
		GET PATCH DELETE /guilds/:guild_id/auto-moderation/rules/:rule_id
		AUTO_MODERATION_RULE_CREATE AUTO_MODERATION_RULE_UPDATE AUTO_MODERATION_RULE_DELETE
	a message is blocked, reported in an alert, and its author timed out
		AUTO_MODERATION_ACTION_EXECUTION
rest/routes/bulk-ban.test.ts
	discord.js bans many at once; users who are banned, above the bot or unknown fail
		POST /guilds/:guild_id/bulk-ban
rest/routes/commands.test.ts
	discord.js registers, lists and deletes commands, everywhere and in a guild
		GET POST /applications/:application_id/commands
		DELETE /applications/:application_id/commands/:command_id
		GET POST /applications/:application_id/guilds/:guild_id/commands
		DELETE /applications/:application_id/guilds/:guild_id/commands/:command_id
	replacing all commands keeps identical ones and removes others
		PUT /applications/:application_id/commands
		PUT /applications/:application_id/guilds/:guild_id/commands
rest/routes/emojis.test.ts
	the creator of an emoji is shown to those who can create or manage emoji
		GET /guilds/:guild_id/emojis
		GET /guilds/:guild_id/emojis/:emoji_id
	discord.js creates, edits and deletes an emoji, with events and audit log entries
		POST /guilds/:guild_id/emojis
		PATCH DELETE /guilds/:guild_id/emojis/:emoji_id
		GUILD_EMOJIS_UPDATE
rest/routes/forwards.test.ts
	a message of an announcement channel is published once
		POST /channels/:channel_id/messages/:message_id/crosspost
rest/routes/guilds.test.ts
	discord.js edits a guild, with an event and an audit log entry
		PATCH /guilds/:guild_id
	a bot's highest role stays above the roles it orders, and @everyone below all
		PATCH /guilds/:guild_id/roles
rest/routes/incidents.test.ts
	discord.js disables invites and DMs, with a GUILD_UPDATE event
		PUT /guilds/:guild_id/incident-actions
rest/routes/invites.test.ts
	discord.js creates, lists, fetches and deletes an invite, with events and audit log entries
		GET /guilds/:guild_id/invites
		GET POST /channels/:channel_id/invites
		GET DELETE /invites/:invite_code
		INVITE_CREATE INVITE_DELETE
	a person joins by invite and leaves, with events
		POST /invites/:invite_code
rest/routes/messages.test.ts
	a bot can send DMs only to users in a shared guild
		POST /users/@me/channels
	pages of messages are newest first, with before, after and around
		GET /channels/:channel_id/messages
		GET /channels/:channel_id/messages/:message_id
	a message is stored, returned and in the transcript
		POST /channels/:channel_id/messages
	only own messages can be edited
		PATCH /channels/:channel_id/messages/:message_id
	deleting others' messages needs MANAGE_MESSAGES
		DELETE /channels/:channel_id/messages/:message_id
	2 to 100 messages are deleted at once, if none is older than 14 days
		POST /channels/:channel_id/messages/bulk-delete
rest/routes/moderation.test.ts
	a bot can leave a guild, its owner cannot
		GET /users/@me/guilds
		DELETE /users/@me/guilds/:guild_id
	a hidden channel gets 50001, and is not in a person's list
		GET /guilds/:guild_id/channels
		GET /channels/:channel_id
	one request sets many positions and at most one parent
		PATCH /guilds/:guild_id/channels
	members are listed in pages, ordered by id
		GET /guilds/:guild_id/members
	a member search finds prefixes of names in any case
		GET /guilds/:guild_id/members/search
	nickname, roles and timeout are changed in one request
		GET PATCH /guilds/:guild_id/members/:user_id
		PATCH /guilds/:guild_id/members/@me
	a role is created at the bottom, edited and deleted
		GET POST /guilds/:guild_id/roles
		GET PATCH DELETE /guilds/:guild_id/roles/:role_id
	users who are not members can be banned, and bans are listed in pages
		GET /guilds/:guild_id/bans
	a member is banned with a reason, and their last messages are deleted
		GET /guilds/:guild_id/bans/:user_id
	the audit log has user, action, target, changes and reason
		GET /guilds/:guild_id/audit-logs
rest/routes/oauth2.test.ts
	discord.js exchanges, uses and revokes a token
		POST /oauth2/token
		POST /oauth2/token/revoke
rest/routes/onboarding.test.ts
	discord.js edits and fetches onboarding, with events and audit log entries
		GET PUT /guilds/:guild_id/onboarding
rest/routes/pins.test.ts
	pins are listed in pages, latest first
		GET /channels/:channel_id/messages/pins
	discord.js pins and unpins a message, with events and audit log entries
		PUT DELETE /channels/:channel_id/messages/pins/:message_id
		CHANNEL_PINS_UPDATE
rest/routes/polls.test.ts
	voters are listed in pages, ordered by id
		GET /channels/:channel_id/polls/:message_id/answers/:answer_id
	discord.js creates and ends a poll and people vote, with events
		POST /channels/:channel_id/polls/:message_id/expire
		MESSAGE_POLL_VOTE_ADD MESSAGE_POLL_VOTE_REMOVE
rest/routes/prune.test.ts
	discord.js counts and prunes inactive members without roles, and the audit log has the count
		GET POST /guilds/:guild_id/prune
rest/routes/reactions.test.ts
	discord.js adds and removes a reaction, with events
		PUT DELETE /channels/:channel_id/messages/:message_id/reactions/:emoji/@me
		MESSAGE_REACTION_ADD MESSAGE_REACTION_REMOVE
	removing others' reactions needs MANAGE_MESSAGES
		DELETE /channels/:channel_id/messages/:message_id/reactions/:emoji/:user_id
		DELETE /channels/:channel_id/messages/:message_id/reactions
		DELETE /channels/:channel_id/messages/:message_id/reactions/:emoji
		MESSAGE_REACTION_REMOVE_ALL MESSAGE_REACTION_REMOVE_EMOJI
	users who reacted are listed in pages, ordered by id
		GET /channels/:channel_id/messages/:message_id/reactions/:emoji
rest/routes/scheduled-events.test.ts
	discord.js creates, edits and deletes a scheduled event, with events and audit log entries
		GET POST /guilds/:guild_id/scheduled-events
		GET PATCH DELETE /guilds/:guild_id/scheduled-events/:event_id
		GUILD_SCHEDULED_EVENT_CREATE GUILD_SCHEDULED_EVENT_UPDATE GUILD_SCHEDULED_EVENT_DELETE
	interested users are counted and listed in pages, ordered by id, with events
		GET /guilds/:guild_id/scheduled-events/:event_id/users
		GUILD_SCHEDULED_EVENT_USER_ADD GUILD_SCHEDULED_EVENT_USER_REMOVE
rest/routes/search.test.ts
	words are found in all channels, latest message first
		GET /guilds/:guild_id/messages/search
rest/routes/stages.test.ts
	a voice channel status is set and removed, with events and audit log entries
		PUT /channels/:channel_id/voice-status
		VOICE_CHANNEL_STATUS_UPDATE
	discord.js starts, edits and ends a stage, with events and audit log entries
		POST /stage-instances
		PATCH DELETE /stage-instances/:channel_id
		STAGE_INSTANCE_CREATE STAGE_INSTANCE_UPDATE STAGE_INSTANCE_DELETE
	a stage can be started once, and does not exist after its end
		GET /stage-instances/:channel_id
rest/routes/threads.test.ts
	discord.js starts a thread from a message, edits and deletes it, with events and audit log entries
		POST /channels/:channel_id/messages/:message_id/threads
		THREAD_CREATE THREAD_UPDATE THREAD_DELETE
	a new public thread has a system message in its channel, a private one has none
		POST /channels/:channel_id/threads
	active threads are listed newest first, archived ones in pages by archive time
		GET /guilds/:guild_id/threads/active
		GET /channels/:channel_id/threads/archived/public
		GET /channels/:channel_id/threads/archived/private
		GET /channels/:channel_id/users/@me/threads/archived/private
	thread members join, are added, leave and are removed, with events
		PUT DELETE /channels/:channel_id/thread-members/@me
		PUT DELETE GET /channels/:channel_id/thread-members/:user_id
		GET /channels/:channel_id/thread-members
		THREAD_MEMBERS_UPDATE
	a bot receives the threads of a channel that it can now view
		THREAD_LIST_SYNC
rest/routes/voice.test.ts
	a voice state can be fetched, and gets 10065 if the member is not connected
		GET /guilds/:guild_id/voice-states/:user_id
	voice states are in GUILD_CREATE, and their changes are events
		VOICE_STATE_UPDATE
rest/routes/webhooks.test.ts
	discord.js creates, moves and deletes a webhook, with events and audit log entries
		GET /guilds/:guild_id/webhooks
		GET POST /channels/:channel_id/webhooks
		GET PATCH DELETE /webhooks/:webhook_id
		WEBHOOKS_UPDATE
	discord.js sends, edits and deletes messages by a webhook's token
		POST /webhooks/:webhook_id/:webhook_token
		GET PATCH DELETE /webhooks/:webhook_id/:webhook_token/messages/:message_id
rest/routes/welcome-screens.test.ts
	discord.js edits and fetches a welcome screen, with an event and an audit log entry
		GET PATCH /guilds/:guild_id/welcome-screen
socket/discord-js.test.ts
	its application, its guilds and the Gateway's URL can be fetched
		GET /gateway
		GET /gateway/bot
		GET /applications/@me
		GET /oauth2/applications/@me
		GET /users/@me
		GET /guilds/:guild_id
	channels are created, edited, closed to a role and deleted
		POST /guilds/:guild_id/channels
		PATCH DELETE /channels/:channel_id
		PUT DELETE /channels/:channel_id/permissions/:overwrite_id
	editing, deleting and typing are dispatched
		POST /channels/:channel_id/typing
		MESSAGE_UPDATE MESSAGE_DELETE MESSAGE_DELETE_BULK TYPING_START
	members are listed, found, silenced, kicked, banned and unbanned
		DELETE /guilds/:guild_id/members/:user_id
		PUT DELETE /guilds/:guild_id/bans/:user_id
	roles are created, edited, given, taken and deleted
		PUT DELETE /guilds/:guild_id/members/:user_id/roles/:role_id
	a bot that joins or leaves a guild receives GUILD_CREATE or GUILD_DELETE
		GUILD_CREATE GUILD_DELETE
	changes of roles, channels, members, bans and the guild are dispatched
		GUILD_UPDATE GUILD_ROLE_CREATE GUILD_ROLE_UPDATE GUILD_ROLE_DELETE CHANNEL_CREATE CHANNEL_UPDATE
		CHANNEL_DELETE GUILD_MEMBER_ADD GUILD_MEMBER_UPDATE GUILD_MEMBER_REMOVE GUILD_BAN_ADD GUILD_BAN_REMOVE
		GUILD_AUDIT_LOG_ENTRY_CREATE
	a message from a person arrives with its author, member and mentions
		MESSAGE_CREATE
socket/socket.test.ts
	READY lists guilds as unavailable, with the URL to resume
		READY
	missed events are replayed, then RESUMED
		RESUMED
	all members of a guild can be requested once in 30 seconds
		RATE_LIMITED
	requesting all members needs the intent, requesting a few does not
		GUILD_MEMBERS_CHUNK
`;

/** Each route and event with the file and the name of its test. Throws if one is listed twice. */
export function readCoverage(): Map<string, { file: string; name: string }> {
	const tests = new Map<string, { file: string; name: string }>();
	let [file, name] = ["", ""];
	for (const line of table.trim().split("\n")) {
		const text = line.trim();
		const depth = line.lastIndexOf("\t") + 1;
		if (depth === 0) file = text;
		else if (depth === 1) name = text;
		else {
			const [path, ...methods] = text.split(" ").reverse();
			const isRoute = path?.startsWith("/");
			const used = isRoute ? methods.map((method) => `${method} ${path}`) : text.split(" ");
			for (const one of used) {
				if (tests.has(one)) throw new Error(`${one} is listed twice`);
				tests.set(one, { file, name });
			}
		}
	}
	return tests;
}
