// How each guess of the simulator is tried on Discord. The ids and sentences are those of its register of beliefs.

import {
	AuditLogEvent,
	AutoModerationActionType,
	AutoModerationRuleEventType,
	AutoModerationRuleTriggerType,
	ChannelType,
	RESTJSONErrorCodes as codes,
	DiscordAPIError,
	GuildScheduledEventEntityType as EventKind,
	GuildFeature,
	GuildScheduledEventStatus,
	MessageFlags,
	MessageType,
	PermissionFlagsBits as Permission,
	RequestMethod,
	type RouteLike,
	Routes,
} from "discord.js";
import { isObject } from "../../../mcp/json-rpc.ts";
import { isSwitchedOn, privilegedIntents } from "../../discord/intents.ts";
import { oneLine } from "../../discord/text.ts";
import { idOf, type Json, NotTried, overwrite, type Workspace } from "./workspace.ts";

/** Result of a test of Discord's behaviour: what Discord did, and whether that confirms the tested assumption. */
export interface Finding {
	confirmed: boolean;
	discord: string;
}

export interface Probe {
	/** Id of the tested assumption about Discord's behaviour. */
	id: string;
	belief: string;
	/**
	 * Tests an assumption about Discord's behaviour. Rejects with a NotTried or another error if the test was not
	 * possible.
	 */
	run(work: Workspace): Promise<Finding>;
}

const { Get, Put, Patch, Delete } = RequestMethod;

const nothing = "1000000000000000000";

const hourMs = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * hourMs).toISOString();

const aboutTheBot = new Set<unknown>([
	codes.MissingAccess,
	codes.MissingPermissions,
	codes.TwoFactorAuthenticationIsRequired,
]);

/**
 * Tests whether Discord refuses `request` with the error code `code`. If `field` is given, the error must also be about
 * this field of the request body.
 */
async function refused(request: Promise<unknown>, code: number, field?: string): Promise<Finding> {
	try {
		await request;
	} catch (error) {
		if (!(error instanceof DiscordAPIError)) throw error;
		const discord = oneLine(`${error.status}, code ${error.code}: ${error.message.replaceAll("\n", "; ")}`);
		if (error.code !== code && aboutTheBot.has(error.code)) throw new NotTried(discord);
		const at = "errors" in error.rawError ? error.rawError.errors : undefined;
		const isThere = field === undefined || (isObject(at) && field in at);
		return { confirmed: error.code === code && isThere, discord };
	}
	return { confirmed: false, discord: "accepted it" };
}

function compare(name: string, actual: unknown, expected: unknown): Finding {
	const discord = `${name}: ${oneLine(JSON.stringify(actual) ?? "absent")}`;
	return { confirmed: actual === expected, discord };
}

function list(value: unknown): Json[] {
	return Array.isArray(value) ? value.filter(isObject) : [];
}

function listAt(json: Json, key: string): Json[] {
	return list(json[key]);
}

// Functions that create channels, messages and other things which several probes use.

const textChannel = (work: Workspace) => work.createChannel({ type: ChannelType.GuildText });

const category = (work: Workspace) => work.createChannel({ type: ChannelType.GuildCategory });

const voiceChannel = (work: Workspace) => work.createChannel({ type: ChannelType.GuildVoice });

async function stageChannel(work: Workspace): Promise<string> {
	requireCommunity(work);
	return work.createChannel({ type: ChannelType.GuildStageVoice });
}

function requireCommunity({ guild }: Workspace): void {
	if (!guild.features.includes(GuildFeature.Community))
		throw new NotTried("this test needs a guild that is a community");
}

async function message(work: Workspace): Promise<string> {
	const channel = await work.shared(textChannel);
	return idOf(await work.post(Routes.channelMessages(channel), { content: "1" }), "send a message");
}

async function poll(work: Workspace): Promise<string> {
	const channel = await work.shared(textChannel);
	const answers = [{ poll_media: { text: "1" } }];
	const poll = { question: { text: "?" }, answers, duration: 1 };
	return idOf(await work.post(Routes.channelMessages(channel), { poll }), "send a poll");
}

async function thread(work: Workspace): Promise<Json> {
	const channel = await work.shared(textChannel);
	const type = ChannelType.PublicThread;
	return work.post(Routes.threads(channel), { name: work.name, type });
}

async function webhook(work: Workspace) {
	const channel = await work.shared(textChannel);
	const { id, token } = await work.create("webhook", Routes.channelWebhooks(channel), { name: work.word }, (id) =>
		Routes.webhook(id),
	);
	return { id, route: Routes.webhook(id, String(token)) };
}

function postByWebhook(work: Workspace, route: RouteLike, body: Json) {
	const query = new URLSearchParams({ wait: "true" });
	return work.post(route, body, { auth: false, query });
}

async function role(work: Workspace): Promise<string> {
	const { id: guildId } = work.guild;
	const body = { name: work.name, permissions: "0" };
	const { id } = await work.create("role", Routes.guildRoles(guildId), body, (id) => Routes.guildRole(guildId, id));
	return id;
}

function requireNoAdministrator({ guild }: Workspace): void {
	if (guild.members.me?.permissions.has(Permission.Administrator))
		throw new NotTried(
			"this test denies the bot a permission in a channel, which has no effect on a bot with ADMINISTRATOR",
		);
}

async function limitedChannel(work: Workspace) {
	requireNoAdministrator(work);
	const channel = await work.createChannel({ type: ChannelType.GuildText });
	const type = ChannelType.PublicThread;
	const made = await work.post(Routes.threads(channel), {
		name: work.name,
		type,
	});
	const threadId = idOf(made, "create a thread");
	await work.send(Patch, Routes.channel(threadId), { body: { locked: true } });
	const denied = Permission.ReadMessageHistory | Permission.ManageThreads;
	const route = Routes.channelPermission(channel, work.botId);
	const body = overwrite(work.botId, 1, Permission.ViewChannel, denied);
	await work.send(Put, route, { body });
	return { channel, threadId };
}

const tagNames = ["free", "moderated"];

async function forum(work: Workspace) {
	requireNoAdministrator(work);
	const available_tags = tagNames.map((name) => ({
		name,
		moderated: name === "moderated",
	}));
	const type = ChannelType.GuildForum;
	const body = { type, available_tags };
	const id = await work.createChannel(body, Permission.ManageThreads);
	const tags = listAt(await work.get(Routes.channel(id)), "available_tags");
	const tag = (name: string) => idOf(tags.find((one) => one.name === name) ?? {}, `read the forum tag ${name}`);
	return { id, tag };
}

type Forum = Awaited<ReturnType<typeof forum>>;

async function post(work: Workspace, tag: (made: Forum) => string) {
	const made = await work.shared(forum);
	return work.post(Routes.threads(made.id), {
		name: work.name,
		message: { content: "1" },
		applied_tags: [tag(made)],
	});
}

function invite(work: Workspace, channel: string, body: Json = {}) {
	return work.create("invite", Routes.channelInvites(channel), body, (code) => Routes.invite(code));
}

function emoji(work: Workspace, image: Buffer, roles: readonly string[] = []) {
	const { id: guildId } = work.guild;
	return work.create(
		"emoji",
		Routes.guildEmojis(guildId),
		{
			name: work.word,
			image: `data:image/png;base64,${image.toString("base64")}`,
			roles,
		},
		(id) => Routes.guildEmoji(guildId, id),
	);
}

function editGuild(work: Workspace, body: Json): Promise<Json> {
	return work.send(Patch, Routes.guild(work.guild.id), { body });
}

const pixel = Buffer.from(
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
	"base64",
);

async function forward(work: Workspace, messageId: string): Promise<Json> {
	const channel = await work.shared(textChannel);
	const message_reference = {
		type: 1,
		channel_id: channel,
		message_id: messageId,
	};
	return work.post(Routes.channelMessages(channel), { message_reference });
}

function event(work: Workspace, body: Json) {
	const { id: guildId } = work.guild;
	return work.create(
		"event",
		Routes.guildScheduledEvents(guildId),
		{
			name: work.name,
			privacy_level: 2,
			scheduled_start_time: inHours(24),
			...body,
		},
		(id) => Routes.guildScheduledEvent(guildId, id),
	);
}

const externalEvent = () => ({
	entity_type: EventKind.External,
	entity_metadata: { location: "1" },
	scheduled_end_time: inHours(25),
});

function rule(work: Workspace, body: Json) {
	const { id: guildId } = work.guild;
	return work.create(
		"AutoMod rule",
		Routes.guildAutoModerationRules(guildId),
		{ name: work.name, enabled: false, ...body },
		(id) => Routes.guildAutoModerationRule(guildId, id),
	);
}

function audited(work: Workspace, type: AuditLogEvent, fits: (entry: Json) => boolean): Promise<Json[]> {
	const query = new URLSearchParams({
		user_id: work.botId,
		action_type: String(type),
		limit: "10",
	});
	return work.eventually("the entry in the audit log", async () => {
		const log = await work.get(Routes.guildAuditLog(work.guild.id), query);
		const entries = listAt(log, "audit_log_entries").filter(fits);
		return entries.length > 0 ? entries : undefined;
	});
}

function keysOf(entry: Json | undefined): string[] {
	return listAt(entry ?? {}, "changes").map(({ key }) => String(key));
}

async function incidents(work: Workspace): Promise<Json> {
	const { id } = work.guild;
	const { incidents_data: before } = await work.get(Routes.guild(id));
	const former = (field: string) => {
		const until = isObject(before) ? before[field] : undefined;
		const isOver = typeof until === "string" && Date.parse(until) < Date.now();
		return isOver ? null : (until ?? null);
	};
	const body = {
		invites_disabled_until: former("invites_disabled_until"),
		dms_disabled_until: former("dms_disabled_until"),
	};
	work.onCleanUp("incident actions", () => work.send(Put, Routes.guildIncidentActions(id), { body }));
	return setIncidents(work, { invites_disabled_until: inHours(1) });
}

function setIncidents(work: Workspace, body: Json): Promise<Json> {
	const route = Routes.guildIncidentActions(work.guild.id);
	return work.send(Put, route, { body });
}

async function onboarding(work: Workspace) {
	const route = Routes.guildOnboarding(work.guild.id);
	const before = await work.get(route);
	const prompts = listAt(before, "prompts").map((prompt) => ({
		...prompt,
		options: listAt(prompt, "options").map(({ emoji, ...option }) => ({
			...option,
			emoji_id: isObject(emoji) ? emoji.id : null,
			emoji_name: isObject(emoji) ? emoji.name : null,
		})),
	}));
	const { default_channel_ids } = before;
	work.onCleanUp("onboarding", () => work.send(Put, route, { body: { prompts, default_channel_ids } }));
	return prompts;
}

async function editOnboarding(work: Workspace, body: Json): Promise<Json> {
	await work.shared(onboarding);
	return work.send(Put, Routes.guildOnboarding(work.guild.id), { body });
}

async function addPrompt(work: Workspace, option: Json = {}): Promise<Json> {
	const prompts = await work.shared(onboarding);
	const options = [{ title: "1", ...option }];
	// A new prompt needs an id, which Discord replaces.
	const added = { id: "1", title: work.name, options };
	return editOnboarding(work, { prompts: [...prompts, added] });
}

/** Stores the guild's welcome screen, so that the welcome screen can be restored at the end of the tests. */
async function welcomeScreen(work: Workspace): Promise<void> {
	requireCommunity(work);
	const route = Routes.guildWelcomeScreen(work.guild.id);
	const none = { description: null, welcome_channels: [] };
	const before = await work.get(route).catch((error: unknown) => {
		// A guild that never had one.
		if (error instanceof DiscordAPIError) return none;
		throw error;
	});
	const { description, welcome_channels } = before;
	work.onCleanUp("welcome screen", () => work.send(Patch, route, { body: { description, welcome_channels } }));
}

async function editWelcomeScreen(work: Workspace, body: Json): Promise<Json> {
	await work.shared(welcomeScreen);
	return work.send(Patch, Routes.guildWelcomeScreen(work.guild.id), { body });
}

function search(work: Workspace, query: readonly [string, string][] = []): Promise<Json> {
	const route = Routes.guildMessagesSearch(work.guild.id);
	const params = new URLSearchParams(query);
	return work.eventually("the search index", async () => {
		const result = await work.get(route, params);
		return "messages" in result ? result : undefined;
	});
}

const searchWord = (work: Workspace) => `${work.word}search`;

async function searchable(work: Workspace): Promise<string> {
	const word = searchWord(work);
	const route = Routes.channelMessages(await work.shared(textChannel));
	const hook = await work.shared(webhook);
	const content = `${word} ${word} https://example.com`;
	const first = idOf(await work.post(route, { content }), "send a message");
	const files = [{ name: "1.txt", data: Buffer.from("1") }];
	await work.post(route, { content: word }, { files });
	await postByWebhook(work, hook.route, { content: word });
	await work.eventually("new messages in the search index", async () => {
		const { total_results } = await search(work, [["content", word]]);
		return total_results === 3 ? true : undefined;
	});
	return first;
}

async function countFound(work: Workspace, name: string, values: readonly string[]): Promise<unknown> {
	await work.shared(searchable);
	const { total_results } = await search(work, [
		["content", searchWord(work)],
		...values.map((value): [string, string] => [name, value]),
	]);
	return total_results;
}

export const probes: readonly Probe[] = [
	{
		id: "webhook-everyone",
		belief: "A webhook may mention everyone.",
		async run(work) {
			const { route } = await work.shared(webhook);
			const { mention_everyone } = await postByWebhook(work, route, {
				content: "@everyone",
				allowed_mentions: { parse: ["everyone"] },
				flags: MessageFlags.SuppressNotifications,
			});
			return compare("mention_everyone", mention_everyone, true);
		},
	},
	{
		id: "webhook-other-message",
		belief: "For a webhook, a message of another author is unknown (10008).",
		async run(work) {
			const { route } = await work.shared(webhook);
			const path: RouteLike = `${route}/messages/${await work.shared(message)}`;
			const request = work.send(Get, path, { auth: false });
			return refused(request, codes.UnknownMessage);
		},
	},
	{
		id: "invite-roles-audit",
		belief: "The audit log does not have the roles of an invite.",
		async run(work) {
			const channel = await work.shared(textChannel);
			const role_ids = [await work.shared(role)];
			const { id } = await invite(work, channel, { role_ids, unique: true });
			const [entry] = await audited(work, AuditLogEvent.InviteCreate, (one) =>
				listAt(one, "changes").some(({ new_value }) => new_value === id),
			);
			const keys = keysOf(entry);
			return {
				confirmed: !keys.some((key) => key.includes("role")),
				discord: `changes: ${keys.join(", ")}`,
			};
		},
	},
	{
		id: "tag-unknown",
		belief: "A post with an unknown tag is refused with 10087.",
		run: (work) =>
			refused(
				post(work, () => nothing),
				codes.UnknownTag,
			),
	},
	{
		id: "tag-moderated",
		belief: "Setting a moderated tag without MANAGE_THREADS, which it needs (documented), is refused with 50013.",
		run: (work) =>
			refused(
				post(work, ({ tag }) => tag("moderated")),
				codes.MissingPermissions,
			),
	},
	{
		id: "tag-deleted",
		belief: "Posts keep the ids of deleted tags.",
		async run(work) {
			const made = await work.shared(forum);
			const created = await post(work, ({ tag }) => tag("free"));
			const route = Routes.channel(made.id);
			await work.send(Patch, route, { body: { available_tags: [] } });
			const now = await work.get(Routes.channel(idOf(created, "create a post")));
			const { applied_tags: kept } = now;
			return compare("tags", Array.isArray(kept) && kept.length, 1);
		},
	},
	{
		id: "stage-status",
		belief: "A stage channel has no status (50024).",
		async run(work) {
			const route: RouteLike = `/channels/${await work.shared(stageChannel)}/voice-status`;
			return refused(work.send(Put, route, { body: { status: "1" } }), codes.CannotExecuteActionOnThisChannelType);
		},
	},
	{
		id: "stage-audit",
		belief: "The audit log has the topic and the privacy level of a new stage.",
		async run(work) {
			const channel_id = await work.shared(stageChannel);
			const body = { channel_id, topic: work.word };
			await work.post(Routes.stageInstances(), body);
			const [entry] = await audited(work, AuditLogEvent.StageInstanceCreate, (one) =>
				listAt(one, "changes").some(({ new_value }) => new_value === work.word),
			);
			const keys = keysOf(entry).sort().join(", ");
			return compare("changes", keys, "privacy_level, topic");
		},
	},
	{
		id: "reaction-unused",
		belief: "Removing one's reaction is refused with 10014 if nobody used the emoji.",
		async run(work) {
			const route = Routes.channelMessageOwnReaction(
				await work.shared(textChannel),
				await work.shared(message),
				encodeURIComponent("👍"),
			);
			return refused(work.send(Delete, route), codes.UnknownEmoji);
		},
	},
	{
		id: "emoji-image",
		belief: "An invalid image is refused with 50035 at `image`.",
		run: (work) => refused(emoji(work, Buffer.from("no image")), codes.InvalidFormBodyOrContentType, "image"),
	},
	{
		id: "emoji-role",
		belief: "An emoji for an unknown role is refused with 10011.",
		run: (work) => refused(emoji(work, pixel, [nothing]), codes.UnknownRole),
	},
	{
		id: "icon-image",
		belief: "An invalid icon is refused with 50035 at `icon`.",
		run: (work) =>
			refused(editGuild(work, { icon: "data:image/png;base64,AAAA" }), codes.InvalidFormBodyOrContentType, "icon"),
	},
	{
		id: "features-unknown",
		belief: "An unknown feature is refused with 50035 at `features`.",
		run: (work) =>
			refused(
				editGuild(work, { features: [...work.guild.features, work.word] }),
				codes.InvalidFormBodyOrContentType,
				"features",
			),
	},
	{
		id: "role-features",
		belief: "A role icon or gradient without the guild's feature is refused with 50101.",
		async run(work) {
			const { id, features } = work.guild;
			if (features.includes(GuildFeature.RoleIcons))
				throw new NotTried("this test needs a guild without the feature ROLE_ICONS");
			const body = { name: work.name, unicode_emoji: "👍" };
			return refused(
				work.create("role", Routes.guildRoles(id), body, (role) => Routes.guildRole(id, role)),
				codes.ServerNeedsMoreBoostsToPerformThisAction,
			);
		},
	},
	{
		id: "poll-answer",
		belief: "Listing the voters of an answer that does not exist is refused with 50035.",
		async run(work) {
			const channel = await work.shared(textChannel);
			const route = Routes.pollAnswerVoters(channel, await work.shared(poll), 9);
			return refused(work.get(route), codes.InvalidFormBodyOrContentType);
		},
	},
	{
		id: "forward-system",
		belief: "Forwarding a system message is refused with 50021.",
		async run(work) {
			await work.shared(thread);
			const channel = await work.shared(textChannel);
			const { all } = await work.get(Routes.channelMessages(channel));
			const notice = list(all).find(({ type }) => type === MessageType.ThreadCreated);
			return refused(
				forward(work, idOf(notice ?? {}, "read the system message about a thread")),
				codes.CannotExecuteActionOnSystemMessage,
			);
		},
	},
	{
		id: "forward-poll",
		belief: "Forwarding a poll is refused with 50021.",
		run: async (work) => refused(forward(work, await work.shared(poll)), codes.CannotExecuteActionOnSystemMessage),
	},
	{
		id: "forward-forward",
		belief: "Forwarding a forward forwards the first message.",
		async run(work) {
			const first = await forward(work, await work.shared(message));
			const second = await forward(work, idOf(first, "forward a message"));
			const [snapshot] = listAt(second, "message_snapshots");
			const content = isObject(snapshot?.message) && snapshot.message.content;
			return compare("content", content, "1");
		},
	},
	{
		id: "search-content",
		belief: "Searching without the Message Content intent, which the route needs (documented), is refused with 50001.",
		run(work) {
			if (isSwitchedOn(work.guild.client, privilegedIntents.MessageContent))
				throw new NotTried("this test needs a bot without the Message Content intent");
			return refused(search(work), codes.MissingAccess);
		},
	},
	{
		id: "search-channel",
		belief: "Searching a channel without READ_MESSAGE_HISTORY is refused with 50001.",
		async run(work) {
			const { channel } = await work.shared(limitedChannel);
			const query = search(work, [["channel_id", channel]]);
			return refused(query, codes.MissingAccess);
		},
	},
	{
		id: "search-all",
		belief: "A search without filters finds all messages.",
		async run(work) {
			await work.shared(searchable);
			const { total_results } = await search(work);
			const discord = `${total_results} found`;
			return { confirmed: Number(total_results) >= 3, discord };
		},
	},
	{
		id: "search-has",
		belief: "A search for several `has` finds messages with one.",
		run: async (work) => compare("found", await countFound(work, "has", ["link", "file"]), 2),
	},
	{
		id: "search-author",
		belief: "A search for several values of `author_type` finds messages with one.",
		run: async (work) => compare("found", await countFound(work, "author_type", ["bot", "webhook"]), 3),
	},
	{
		id: "search-relevance",
		belief: "Sorted by relevance, messages with more of the words come first.",
		async run(work) {
			const id = await work.shared(searchable);
			const { messages } = await search(work, [
				["content", searchWord(work)],
				["sort_by", "relevance"],
			]);
			const [first] = Array.isArray(messages) ? list(messages[0]) : [];
			return compare("the best match first", first?.id === id, true);
		},
	},
	{
		id: "event-channel",
		belief: "An external event with a channel is refused with 50035 at `channel_id`.",
		async run(work) {
			const channel_id = await work.shared(voiceChannel);
			return refused(event(work, { ...externalEvent(), channel_id }), codes.InvalidFormBodyOrContentType, "channel_id");
		},
	},
	{
		id: "event-channel-type",
		belief: "A voice event in a text channel is refused with 50024.",
		async run(work) {
			const channel_id = await work.shared(textChannel);
			return refused(
				event(work, { entity_type: EventKind.Voice, channel_id }),
				codes.CannotExecuteActionOnThisChannelType,
			);
		},
	},
	{
		id: "event-end",
		belief: "An event that ends before it starts is refused with 50035 at `scheduled_end_time`.",
		run: (work) =>
			refused(
				event(work, { ...externalEvent(), scheduled_end_time: inHours(23) }),
				codes.InvalidFormBodyOrContentType,
				"scheduled_end_time",
			),
	},
	{
		id: "event-status",
		belief:
			"Completing an event that has not started, no valid transition (documented), is refused with 50035 at `status`.",
		async run(work) {
			const { id } = await event(work, externalEvent());
			const body = { status: GuildScheduledEventStatus.Completed };
			const route = Routes.guildScheduledEvent(work.guild.id, id);
			return refused(work.send(Patch, route, { body }), codes.InvalidFormBodyOrContentType, "status");
		},
	},
	{
		id: "event-move",
		belief: "Moving an event needs the permissions in the new channel, too (50013).",
		async run(work) {
			requireNoAdministrator(work);
			const channel_id = await work.shared(voiceChannel);
			const { id } = await event(work, {
				entity_type: EventKind.Voice,
				channel_id,
			});
			const denied = await work.createChannel(
				{ type: ChannelType.GuildVoice },
				Permission.ManageEvents | Permission.CreateEvents,
			);
			const route = Routes.guildScheduledEvent(work.guild.id, id);
			return refused(work.send(Patch, route, { body: { channel_id: denied } }), codes.MissingPermissions);
		},
	},
	{
		id: "automod-event-type",
		belief: "A rule with the wrong event type is refused with 50035 at `event_type`.",
		run: (work) =>
			refused(
				rule(work, {
					event_type: AutoModerationRuleEventType.MemberUpdate,
					trigger_type: AutoModerationRuleTriggerType.Keyword,
					trigger_metadata: { keyword_filter: [work.word] },
					actions: [{ type: AutoModerationActionType.BlockMessage }],
				}),
				codes.InvalidFormBodyOrContentType,
				"event_type",
			),
	},
	{
		id: "automod-timeout",
		belief:
			"A timeout in a rule other than for keywords and mentions (documented) is refused with 50035 at the type of the action.",
		run: (work) =>
			refused(
				rule(work, {
					event_type: AutoModerationRuleEventType.MessageSend,
					trigger_type: AutoModerationRuleTriggerType.Spam,
					actions: [
						{
							type: AutoModerationActionType.Timeout,
							metadata: { duration_seconds: 60 },
						},
					],
				}),
				codes.InvalidFormBodyOrContentType,
				"actions",
			),
	},
	{
		id: "community-requirement",
		belief: "A community cannot go without verification: 50035 at `verification_level`.",
		async run(work) {
			const { guild } = work;
			requireCommunity(work);
			const route = Routes.guild(guild.id);
			const set = (verification_level: number) => work.send(Patch, route, { body: { verification_level } });
			const { verificationLevel } = guild;
			work.onCleanUp(`verification level ${verificationLevel}`, () => set(verificationLevel));
			return refused(set(0), codes.InvalidFormBodyOrContentType, "verification_level");
		},
	},
	{
		id: "welcome-channel",
		belief: "An unknown channel in the welcome screen is refused with 10003, a voice channel with 50024.",
		async run(work) {
			const withChannel = (channel_id: string) =>
				editWelcomeScreen(work, {
					welcome_channels: [{ channel_id, description: "1" }],
				});
			const unknown = await refused(withChannel(nothing), codes.UnknownChannel);
			if (!unknown.confirmed) return unknown;
			return refused(withChannel(await work.shared(voiceChannel)), codes.CannotExecuteActionOnThisChannelType);
		},
	},
	{
		id: "welcome-audit",
		belief: "An edited welcome screen is in the audit log as GUILD_UPDATE with the changed fields.",
		async run(work) {
			await editWelcomeScreen(work, { description: work.word });
			const isOwn = (entry: Json) =>
				listAt(entry, "changes").some(({ key, new_value }) => key === "description" && new_value === work.word);
			const type = AuditLogEvent.GuildUpdate;
			const { length } = await audited(work, type, isOwn);
			return compare("entries", length, 1);
		},
	},
	{
		id: "onboarding-hidden",
		belief: "A channel hidden from @everyone is refused in onboarding with 350003.",
		async run(work) {
			const default_channel_ids = [await work.shared(textChannel)];
			return refused(editOnboarding(work, { default_channel_ids }), 350003);
		},
	},
	{
		id: "onboarding-unknown",
		belief: "An unknown channel in onboarding is refused with 10003, an unknown role with 10011.",
		async run(work) {
			const ofChannel = await refused(editOnboarding(work, { default_channel_ids: [nothing] }), codes.UnknownChannel);
			if (!ofChannel.confirmed) return ofChannel;
			return refused(addPrompt(work, { role_ids: [nothing] }), codes.UnknownRole);
		},
	},
	{
		id: "onboarding-emoji",
		belief: "An option with an unknown custom emoji is refused with 10014.",
		run: (work) => refused(addPrompt(work, { emoji_id: nothing }), codes.UnknownEmoji),
	},
	{
		id: "onboarding-prompt-defaults",
		belief: "A prompt whose settings are omitted is optional, multiple choice and outside onboarding.",
		async run(work) {
			const prompt = listAt(await addPrompt(work), "prompts").at(-1) ?? {};
			const { required, single_select, type, in_onboarding } = prompt;
			const settings = [required, single_select, type, in_onboarding];
			return compare("required, single_select, type, in_onboarding", settings.join(", "), "false, false, 0, false");
		},
	},
	{
		id: "onboarding-audit",
		belief:
			"Edited onboarding is in the audit log as ONBOARDING_UPDATE with the guild as target and the changed fields.",
		async run(work) {
			const title = `${work.word}audit`;
			await addPrompt(work, { title });
			const { id } = work.guild;
			const isOwn = (entry: Json) => entry.target_id === id && JSON.stringify(entry).includes(title);
			const type = AuditLogEvent.OnboardingUpdate;
			const { length } = await audited(work, type, isOwn);
			return compare("entries", length, 1);
		},
	},
	{
		id: "onboarding-deleted",
		belief: "Deleted channels and roles disappear from the options of onboarding.",
		async run(work) {
			const id = await role(work);
			await addPrompt(work, { role_ids: [id] });
			await work.send(Delete, Routes.guildRole(work.guild.id, id));
			const now = await work.get(Routes.guildOnboarding(work.guild.id));
			const [option] = listAt(listAt(now, "prompts").at(-1) ?? {}, "options");
			return compare("role_ids", JSON.stringify(option?.role_ids), "[]");
		},
	},
	{
		id: "role-everyone",
		belief: "Moving @everyone is refused with 50028.",
		run(work) {
			const { id } = work.guild;
			const body = [{ id, position: 1 }];
			return refused(work.send(Patch, Routes.guildRoles(id), { body }), codes.InvalidRole);
		},
	},
	{
		id: "token-unneeded",
		belief: "An invalid token gets 401 even where none is needed.",
		async run(work) {
			const headers = { authorization: "Bot invalid" };
			const request = work.send(Get, Routes.gateway(), {
				auth: false,
				headers,
			});
			return refused(request, 0);
		},
	},
	// From here on, invites are paused.
	{
		id: "incidents-partial",
		belief: "Incident actions that are left out stay.",
		async run(work) {
			const { invites_disabled_until: before } = await work.shared(incidents);
			const now = await setIncidents(work, { dms_disabled_until: inHours(1) });
			return compare("invites", now.invites_disabled_until, before);
		},
	},
	{
		id: "incidents-long",
		belief: "Incident actions for more than a day are refused with 50035 at the field.",
		async run(work) {
			await work.shared(incidents);
			return refused(
				setIncidents(work, { dms_disabled_until: inHours(48) }),
				codes.InvalidFormBodyOrContentType,
				"dms_disabled_until",
			);
		},
	},
	{
		id: "incidents-audit",
		belief: "Incident actions are not in the audit log.",
		async run(work) {
			await work.shared(incidents);
			// A later entry, since the log may lag behind.
			const channel = await work.createChannel({ type: ChannelType.GuildText });
			const isOwn = (entry: Json) => entry.target_id === channel;
			await audited(work, AuditLogEvent.ChannelCreate, isOwn);
			const route = Routes.guildAuditLog(work.guild.id);
			const log = await work.get(route, new URLSearchParams({ limit: "100" }));
			const keys = listAt(log, "audit_log_entries").flatMap(keysOf);
			const about = keys.filter((key) => /incident|disabled_until/.test(key));
			return compare("entries", about.length, 0);
		},
	},
	{
		id: "sync-audit",
		belief: "Channels that follow a changed overwrite of their category have no entries in the audit log.",
		async run(work) {
			const { botId } = work;
			const parent = await category(work);
			const child = await work.createChannel({
				...{ type: ChannelType.GuildText, parent_id: parent },
			});
			const denied = Permission.AddReactions;
			const body = overwrite(botId, 1, Permission.ViewChannel, denied);
			const route = Routes.channelPermission(parent, botId);
			await work.send(Put, route, { body });
			await work.eventually("the change in the synced channel", async () => {
				const channel = await work.get(Routes.channel(child));
				const deny = listAt(channel, "permission_overwrites").find(({ id }) => id === botId)?.deny;
				return deny === String(denied) || undefined;
			});
			const isOf = (id: string) => (entry: Json) => entry.target_id === id;
			const type = AuditLogEvent.ChannelOverwriteUpdate;
			await audited(work, type, isOf(parent));
			const log = await work.get(Routes.guildAuditLog(work.guild.id), new URLSearchParams({ limit: "100" }));
			const { length } = listAt(log, "audit_log_entries").filter(isOf(child));
			return compare("entries with that of its creation", length, 1);
		},
	},
	{
		id: "invite-paused",
		belief: "While invites are paused, none is created, and the response is 204.",
		async run(work) {
			await work.shared(incidents);
			const channel = await work.shared(textChannel);
			const made = await work.post(Routes.channelInvites(channel), {});
			const { code } = made;
			if (code !== undefined) work.onCleanUp(`invite ${code}`, () => work.send(Delete, Routes.invite(String(code))));
			return compare("code", code, undefined);
		},
	},
];
