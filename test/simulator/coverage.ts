// Which test uses each route and each event of the simulator: its file, and its name.

import type { EventType } from "../../src/simulator/world/state/events.ts";

const rest = (name: string) => ["rest/router.test.ts", name] as const;
const messages = (name: string) =>
	["rest/routes/messages.test.ts", name] as const;
const moderation = (name: string) =>
	["rest/routes/moderation.test.ts", name] as const;
const discordJs = (name: string) =>
	["socket/discord-js.test.ts", name] as const;
const socket = (name: string) => ["socket/socket.test.ts", name] as const;

const voice = (name: string) => ["rest/routes/voice.test.ts", name] as const;
const commands = (name: string) =>
	["rest/routes/commands.test.ts", name] as const;
const interactions = (name: string) =>
	["interactions/interactions.test.ts", name] as const;

const reactions = (name: string) =>
	["rest/routes/reactions.test.ts", name] as const;
const stages = (name: string) => ["rest/routes/stages.test.ts", name] as const;
const search = (name: string) => ["rest/routes/search.test.ts", name] as const;
const guilds = (name: string) => ["rest/routes/guilds.test.ts", name] as const;
const bulkBan = (name: string) =>
	["rest/routes/bulk-ban.test.ts", name] as const;
const prune = (name: string) => ["rest/routes/prune.test.ts", name] as const;
const webhooks = (name: string) =>
	["rest/routes/webhooks.test.ts", name] as const;
const invites = (name: string) =>
	["rest/routes/invites.test.ts", name] as const;
const scheduled = (name: string) =>
	["rest/routes/scheduled-events.test.ts", name] as const;
const incidents = (name: string) =>
	["rest/routes/incidents.test.ts", name] as const;
const automod = (name: string) =>
	["rest/routes/automod.test.ts", name] as const;
const pins = (name: string) => ["rest/routes/pins.test.ts", name] as const;
const emojis = (name: string) => ["rest/routes/emojis.test.ts", name] as const;
const polls = (name: string) => ["rest/routes/polls.test.ts", name] as const;
const forwards = (name: string) =>
	["rest/routes/forwards.test.ts", name] as const;

const threads = (name: string) =>
	["rest/routes/threads.test.ts", name] as const;

type Test = readonly [file: string, name: string];

const ownFacts =
	"its application, its own guilds and the Gateway's address can be asked for";
const channelTools =
	"channels are created, edited, closed to a role and deleted";
const memberTools =
	"members are listed, found, silenced, kicked, banned and unbanned";
const roleLife = "a role is made at the bottom, changed and deleted";
const commandLife =
	"discord.js registers, lists, edits and deletes commands, everywhere and in a guild";
const setTwice =
	"setting all of them twice changes nothing, and removes what is not among them";
const reactionLife =
	"discord.js puts an emoji on a message and takes it off, and is told so";
const managedReactions =
	"others' reactions are taken off by those who manage messages";
const pruneLife =
	"discord.js counts and removes those who are away and have no role, and the log has how many";
const pinLife =
	"discord.js pins a message and unpins it, and both are told and logged";
const stageLife =
	"discord.js opens a stage, changes its topic and closes it, and all of it is told and logged";
const voiceStatus =
	"a voice channel gets a status and loses it, which is told and logged";
const webhookLife =
	"discord.js makes, moves and deletes a webhook, and all is told and logged";
const webhookWriting =
	"discord.js writes, edits and deletes by a webhook's token";
const webhookByToken =
	"a webhook is shown, renamed and deleted by its token, without its maker";
const inviteLife =
	"discord.js makes, lists, shows and deletes an invite, and both are told and logged";
const eventLife =
	"discord.js makes, edits and deletes an event, and all of it is told and logged";
const interested =
	"who is interested is told, counted, and listed in the order of ids, a page at a time";
const ruleLife =
	"discord.js makes, lists, edits and deletes a rule, and those who manage the guild are told";
const emojiLife =
	"discord.js makes an emoji, renames and deletes it, and all are told and logged";
const pollLife =
	"discord.js asks, people vote, and the author ends it: all are told";
const threadLife =
	"discord.js starts a thread from a message, changes it and deletes it, and all is told and logged";
const threadLists =
	"active threads are listed from the newest, archived ones by when they were archived, page by page";
const threadMembers =
	"members join, are brought, leave and are put out, and are told so";
const replies = "replies and follow-ups are fetched, edited and deleted";
const commandTold =
	"a command is told with its options, its place and who runs it";
const guildChanges =
	"changes of roles, channels, members, bans and the guild are told";

export const routeTests: Readonly<Record<string, Test>> = {
	"GET /gateway": discordJs(ownFacts),
	"GET /gateway/bot": discordJs(ownFacts),
	"GET /applications/@me": discordJs(ownFacts),
	"GET /oauth2/applications/@me": discordJs(ownFacts),
	"GET /users/@me": discordJs(ownFacts),
	"GET /users/:user_id": rest(
		"what does not exist has Discord's number for its kind",
	),
	"GET /users/@me/guilds": moderation(
		"a bot leaves a guild, and an owner cannot",
	),
	"DELETE /users/@me/guilds/:guild_id": moderation(
		"a bot leaves a guild, and an owner cannot",
	),
	"POST /users/@me/channels": messages(
		"a bot writes to whom it shares a guild with, and to nobody else",
	),
	"GET /guilds/:guild_id": discordJs(ownFacts),
	"PATCH /guilds/:guild_id": guilds(
		"discord.js edits a guild, is told so, and the audit log has what changed",
	),
	"POST /guilds/:guild_id/bulk-ban": bulkBan(
		"discord.js bans many at once; who is banned already, ranks above or does not exist has failed",
	),
	"GET /guilds/:guild_id/prune": prune(pruneLife),
	"POST /guilds/:guild_id/prune": prune(pruneLife),
	"GET /guilds/:guild_id/channels": moderation(
		"a hidden channel is refused, and missing from a person's list",
	),
	"POST /guilds/:guild_id/channels": discordJs(channelTools),
	"PATCH /guilds/:guild_id/channels": moderation(
		"positions are set in one request, and at most one parent",
	),
	"GET /channels/:channel_id": moderation(
		"a hidden channel is refused, and missing from a person's list",
	),
	"PATCH /channels/:channel_id": discordJs(channelTools),
	"DELETE /channels/:channel_id": discordJs(channelTools),
	"PUT /channels/:channel_id/permissions/:overwrite_id":
		discordJs(channelTools),
	"DELETE /channels/:channel_id/permissions/:overwrite_id":
		discordJs(channelTools),
	"POST /channels/:channel_id/typing": discordJs(
		"editing, deleting and typing are told",
	),
	"GET /channels/:channel_id/messages": messages(
		"pages are newest first, and before, after and around cut them",
	),
	"GET /channels/:channel_id/messages/:message_id": messages(
		"pages are newest first, and before, after and around cut them",
	),
	"POST /channels/:channel_id/messages": messages(
		"a message is stored, answered and in the transcript",
	),
	"PATCH /channels/:channel_id/messages/:message_id": messages(
		"one edits one's own messages only",
	),
	"DELETE /channels/:channel_id/messages/:message_id": messages(
		"others' messages are deleted by those who manage messages",
	),
	"PUT /channels/:channel_id/messages/:message_id/reactions/:emoji/@me":
		reactions(reactionLife),
	"DELETE /channels/:channel_id/messages/:message_id/reactions/:emoji/@me":
		reactions(reactionLife),
	"DELETE /channels/:channel_id/messages/:message_id/reactions/:emoji/:user_id":
		reactions(managedReactions),
	"GET /channels/:channel_id/messages/:message_id/reactions/:emoji": reactions(
		"who reacted is listed in the order of ids, a page at a time",
	),
	"DELETE /channels/:channel_id/messages/:message_id/reactions":
		reactions(managedReactions),
	"DELETE /channels/:channel_id/messages/:message_id/reactions/:emoji":
		reactions(managedReactions),
	"GET /channels/:channel_id/messages/pins": pins(
		"pins are listed from the latest on, a page at a time",
	),
	"POST /channels/:channel_id/messages/:message_id/crosspost": forwards(
		"a message of an announcement channel is published once",
	),
	"GET /channels/:channel_id/polls/:message_id/answers/:answer_id": polls(
		"who voted is listed in the order of ids, a page at a time",
	),
	"POST /channels/:channel_id/polls/:message_id/expire": polls(pollLife),
	"GET /guilds/:guild_id/emojis": emojis(
		"who made an emoji is shown to those who may make or manage them",
	),
	"GET /guilds/:guild_id/emojis/:emoji_id": emojis(
		"who made an emoji is shown to those who may make or manage them",
	),
	"POST /guilds/:guild_id/emojis": emojis(emojiLife),
	"PATCH /guilds/:guild_id/emojis/:emoji_id": emojis(emojiLife),
	"DELETE /guilds/:guild_id/emojis/:emoji_id": emojis(emojiLife),
	"PUT /channels/:channel_id/messages/pins/:message_id": pins(pinLife),
	"DELETE /channels/:channel_id/messages/pins/:message_id": pins(pinLife),
	"POST /channels/:channel_id/messages/bulk-delete": messages(
		"many are deleted at once, if there are two to a hundred and none is old",
	),
	"POST /channels/:channel_id/messages/:message_id/threads":
		threads(threadLife),
	"POST /channels/:channel_id/threads": threads(
		"a thread without a message is told of in its channel, a private one is not",
	),
	"GET /guilds/:guild_id/threads/active": threads(threadLists),
	"GET /channels/:channel_id/threads/archived/public": threads(threadLists),
	"GET /channels/:channel_id/threads/archived/private": threads(threadLists),
	"GET /channels/:channel_id/users/@me/threads/archived/private":
		threads(threadLists),
	"PUT /channels/:channel_id/thread-members/@me": threads(threadMembers),
	"PUT /channels/:channel_id/thread-members/:user_id": threads(threadMembers),
	"DELETE /channels/:channel_id/thread-members/@me": threads(threadMembers),
	"DELETE /channels/:channel_id/thread-members/:user_id":
		threads(threadMembers),
	"GET /channels/:channel_id/thread-members/:user_id": threads(threadMembers),
	"GET /channels/:channel_id/thread-members": threads(threadMembers),
	"GET /guilds/:guild_id/members": moderation(
		"the list is ordered by id and goes on after one",
	),
	"GET /guilds/:guild_id/members/search": moderation(
		"a search finds beginnings of names, whatever their case",
	),
	"GET /guilds/:guild_id/members/:user_id": moderation(
		"nicknames, roles and time-outs are changed in one request",
	),
	"PATCH /guilds/:guild_id/members/@me": moderation(
		"nicknames, roles and time-outs are changed in one request",
	),
	"PATCH /guilds/:guild_id/members/:user_id": moderation(
		"nicknames, roles and time-outs are changed in one request",
	),
	"DELETE /guilds/:guild_id/members/:user_id": discordJs(memberTools),
	"GET /guilds/:guild_id/voice-states/:user_id": voice(
		"where a member is can be asked for; who is nowhere has no voice state",
	),
	"PUT /channels/:channel_id/voice-status": stages(voiceStatus),
	"POST /stage-instances": stages(stageLife),
	"GET /stage-instances/:channel_id": stages(
		"a stage is open once, and what is closed is not there",
	),
	"PATCH /stage-instances/:channel_id": stages(stageLife),
	"DELETE /stage-instances/:channel_id": stages(stageLife),
	"PUT /guilds/:guild_id/members/:user_id/roles/:role_id": discordJs(
		"roles are created, edited, given, taken and deleted",
	),
	"DELETE /guilds/:guild_id/members/:user_id/roles/:role_id": discordJs(
		"roles are created, edited, given, taken and deleted",
	),
	"GET /guilds/:guild_id/roles": moderation(roleLife),
	"GET /guilds/:guild_id/roles/:role_id": moderation(roleLife),
	"POST /guilds/:guild_id/roles": moderation(roleLife),
	"PATCH /guilds/:guild_id/roles": moderation(
		"roles are put in order as far as one reaches",
	),
	"PATCH /guilds/:guild_id/roles/:role_id": moderation(roleLife),
	"DELETE /guilds/:guild_id/roles/:role_id": moderation(roleLife),
	"GET /guilds/:guild_id/bans": moderation(
		"those who are no members are banned too, and the list has pages",
	),
	"GET /guilds/:guild_id/bans/:user_id": moderation(
		"a member is banned with a reason, and their last messages go",
	),
	"PUT /guilds/:guild_id/bans/:user_id": discordJs(memberTools),
	"DELETE /guilds/:guild_id/bans/:user_id": discordJs(memberTools),
	...Object.fromEntries(
		[
			"/applications/:application_id/commands",
			"/applications/:application_id/guilds/:guild_id/commands",
		].flatMap((path) => [
			[`GET ${path}`, commands(commandLife)],
			[`POST ${path}`, commands(commandLife)],
			[`PUT ${path}`, commands(setTwice)],
			[`GET ${path}/:command_id`, commands(commandLife)],
			[`PATCH ${path}/:command_id`, commands(commandLife)],
			[`DELETE ${path}/:command_id`, commands(commandLife)],
		]),
	),
	"POST /interactions": interactions(commandTold),
	"POST /interactions/:interaction_id/:interaction_token/callback":
		interactions(commandTold),
	...Object.fromEntries(
		["@original", ":message_id"].flatMap((message) =>
			["GET", "PATCH", "DELETE"].map((method) => [
				`${method} /webhooks/:application_id/:interaction_token/messages/${message}`,
				interactions(replies),
			]),
		),
	),
	"POST /webhooks/:application_id/:interaction_token": interactions(replies),
	"GET /guilds/:guild_id/webhooks": webhooks(webhookLife),
	"GET /channels/:channel_id/webhooks": webhooks(webhookLife),
	"POST /channels/:channel_id/webhooks": webhooks(webhookLife),
	"GET /webhooks/:webhook_id": webhooks(webhookLife),
	"PATCH /webhooks/:webhook_id": webhooks(webhookLife),
	"DELETE /webhooks/:webhook_id": webhooks(webhookLife),
	"GET /webhooks/:webhook_id/:webhook_token": webhooks(webhookByToken),
	"PATCH /webhooks/:webhook_id/:webhook_token": webhooks(webhookByToken),
	"DELETE /webhooks/:webhook_id/:webhook_token": webhooks(webhookByToken),
	...Object.fromEntries(
		[
			"POST /webhooks/:webhook_id/:webhook_token",
			...["GET", "PATCH", "DELETE"].map(
				(method) =>
					`${method} /webhooks/:webhook_id/:webhook_token/messages/:message_id`,
			),
		].map((route) => [route, webhooks(webhookWriting)]),
	),
	"GET /guilds/:guild_id/invites": invites(inviteLife),
	"GET /channels/:channel_id/invites": invites(inviteLife),
	"POST /channels/:channel_id/invites": invites(inviteLife),
	"GET /invites/:invite_code": invites(inviteLife),
	"DELETE /invites/:invite_code": invites(inviteLife),
	"GET /guilds/:guild_id/scheduled-events": scheduled(eventLife),
	"POST /guilds/:guild_id/scheduled-events": scheduled(eventLife),
	"GET /guilds/:guild_id/scheduled-events/:event_id": scheduled(eventLife),
	"PATCH /guilds/:guild_id/scheduled-events/:event_id": scheduled(eventLife),
	"DELETE /guilds/:guild_id/scheduled-events/:event_id": scheduled(eventLife),
	"GET /guilds/:guild_id/scheduled-events/:event_id/users":
		scheduled(interested),
	"PUT /guilds/:guild_id/incident-actions": incidents(
		"discord.js pauses invites and private messages, and the guild is told as changed",
	),
	"GET /guilds/:guild_id/auto-moderation/rules": automod(ruleLife),
	"POST /guilds/:guild_id/auto-moderation/rules": automod(ruleLife),
	"GET /guilds/:guild_id/auto-moderation/rules/:rule_id": automod(ruleLife),
	"PATCH /guilds/:guild_id/auto-moderation/rules/:rule_id": automod(ruleLife),
	"DELETE /guilds/:guild_id/auto-moderation/rules/:rule_id": automod(ruleLife),
	"GET /guilds/:guild_id/audit-logs": moderation(
		"the audit log tells who did what to whom, and why",
	),
	"GET /guilds/:guild_id/messages/search": search(
		"the words of a text are found in all channels, the latest message first",
	),
};

export const eventTests: Readonly<Record<EventType, Test>> = {
	GUILD_CREATE: discordJs("a bot that joins or leaves a guild is told so"),
	GUILD_UPDATE: discordJs(guildChanges),
	GUILD_DELETE: discordJs("a bot that joins or leaves a guild is told so"),
	GUILD_ROLE_CREATE: discordJs(guildChanges),
	GUILD_ROLE_UPDATE: discordJs(guildChanges),
	GUILD_ROLE_DELETE: discordJs(guildChanges),
	CHANNEL_CREATE: discordJs(guildChanges),
	CHANNEL_UPDATE: discordJs(guildChanges),
	CHANNEL_DELETE: discordJs(guildChanges),
	THREAD_CREATE: threads(threadLife),
	THREAD_UPDATE: threads(threadLife),
	THREAD_DELETE: threads(threadLife),
	THREAD_LIST_SYNC: threads(
		"a bot hears of the threads in a channel that opens to it",
	),
	THREAD_MEMBERS_UPDATE: threads(threadMembers),
	GUILD_MEMBER_ADD: discordJs(guildChanges),
	GUILD_MEMBER_UPDATE: discordJs(guildChanges),
	GUILD_MEMBER_REMOVE: discordJs(guildChanges),
	VOICE_STATE_UPDATE: voice(
		"who joins, is moved, muted, leaves or is kicked is told, and in GUILD_CREATE who is there",
	),
	STAGE_INSTANCE_CREATE: stages(stageLife),
	STAGE_INSTANCE_UPDATE: stages(stageLife),
	STAGE_INSTANCE_DELETE: stages(stageLife),
	VOICE_CHANNEL_STATUS_UPDATE: stages(voiceStatus),
	GUILD_BAN_ADD: discordJs(guildChanges),
	GUILD_BAN_REMOVE: discordJs(guildChanges),
	GUILD_AUDIT_LOG_ENTRY_CREATE: discordJs(guildChanges),
	MESSAGE_CREATE: discordJs(
		"a message from a person arrives with its author, member and mentions",
	),
	MESSAGE_UPDATE: discordJs("editing, deleting and typing are told"),
	MESSAGE_DELETE: discordJs("editing, deleting and typing are told"),
	MESSAGE_DELETE_BULK: discordJs("editing, deleting and typing are told"),
	MESSAGE_REACTION_ADD: reactions(reactionLife),
	MESSAGE_REACTION_REMOVE: reactions(reactionLife),
	MESSAGE_REACTION_REMOVE_ALL: reactions(managedReactions),
	MESSAGE_REACTION_REMOVE_EMOJI: reactions(managedReactions),
	GUILD_EMOJIS_UPDATE: emojis(emojiLife),
	MESSAGE_POLL_VOTE_ADD: polls(pollLife),
	MESSAGE_POLL_VOTE_REMOVE: polls(pollLife),
	CHANNEL_PINS_UPDATE: pins(pinLife),
	WEBHOOKS_UPDATE: webhooks(webhookLife),
	INVITE_CREATE: invites(inviteLife),
	INVITE_DELETE: invites(inviteLife),
	GUILD_SCHEDULED_EVENT_CREATE: scheduled(eventLife),
	GUILD_SCHEDULED_EVENT_UPDATE: scheduled(eventLife),
	GUILD_SCHEDULED_EVENT_DELETE: scheduled(eventLife),
	GUILD_SCHEDULED_EVENT_USER_ADD: scheduled(interested),
	GUILD_SCHEDULED_EVENT_USER_REMOVE: scheduled(interested),
	AUTO_MODERATION_RULE_CREATE: automod(ruleLife),
	AUTO_MODERATION_RULE_UPDATE: automod(ruleLife),
	AUTO_MODERATION_RULE_DELETE: automod(ruleLife),
	AUTO_MODERATION_ACTION_EXECUTION: automod(
		"a blocked message is nowhere, what it said is in an alert, and its author is timed out",
	),
	TYPING_START: discordJs("editing, deleting and typing are told"),
	INTERACTION_CREATE: interactions(commandTold),
	READY: socket(
		"READY lists guilds as unavailable, and says where to come back",
	),
	RESUMED: socket("what was missed is replayed, then RESUMED"),
	GUILD_MEMBERS_CHUNK: socket("all members take the intent; a few do not"),
};
