import { RESTJSONErrorCodes as codes, DiscordAPIError, escapeMarkdown } from "discord.js";
import { SaidError } from "../../texts/said-error.ts";
import { type Said, said } from "../../texts/texts.ts";
import { oneLine } from "../text.ts";
import { twoFactorAdvice } from "../two-factor.ts";
import { ForeignResponse } from "./response.ts";
import { type Outcome, PlatformBusy, PlatformFailure, PlatformTimeout, wasNotDone } from "./rest.ts";

const emojisFull = "list_emojis shows the emoji, and delete_emoji makes room for another one.";

/** From the names of Discord's error codes. */
function byCode<T>(texts: { readonly [Name in keyof typeof codes]?: T }): ReadonlyMap<unknown, T> {
	return new Map(Object.entries(texts).map(([name, text]) => [codes[name as keyof typeof codes], text as T]));
}

/** https://discord.com/developers/docs/topics/opcodes-and-status-codes */
const advice = byCode({
	UnknownChannel: "Use list_channels to find channels.",
	UnknownGuild: "Use list_guilds to find the bot's guilds.",
	UnknownMember: "This person is not a member of the guild. Use lookup_user_by_name to find members.",
	UnknownMessage:
		"There is no such message in this channel. Use get_recent_messages (read_private_messages for a direct one) to find messages.",
	UnknownEmoji:
		"There is no such emoji, nobody has reacted with it, or it is of another guild and the bot lacks Use External Emoji in the channel. Use get_message to see the reactions of a message.",
	UnknownWebhook: "Use list_webhooks to find webhooks.",
	UnknownInvite: "Use list_invites to find invites.",
	UnknownBan: "This user is not banned. Use get_bans to find bans.",
	UnknownRole: "Use list_roles to find roles.",
	UnknownUser: "Use lookup_user_by_name to find members.",
	UnknownGuildScheduledEvent: "There is no such event in this guild. Use list_scheduled_events to find events.",
	UnknownStageInstance: "This stage channel is not live; set_stage with a topic starts it.",
	UnknownTag: "Use get_channel to find the tags of a forum.",
	MaximumNumberOfWebhooksReached:
		"list_webhooks shows the webhooks of the channel, and delete_webhook makes room for another one.",
	MaximumNumberOfInvitesReached: "list_invites shows the invites, and delete_invite makes room for another one.",
	MaximumNumberOfEmojisReached: emojisFull,
	MaximumNumberOfAnimatedEmojisReached: emojisFull,
	MaximumNumberOfPinsReachedForTheChannel:
		"list_pins shows the pinned messages, and pin_message with pinned = false unpins one.",
	MaximumNumberOfReactionsReached: "remove_reaction with everyone = true makes room for another emoji.",
	MaximumNumberOfUncompletedGuildScheduledEventsReached:
		"list_scheduled_events shows the events, and delete_scheduled_event makes room for another one.",
	MaximumNumberOfGuildChannelsReached:
		"list_channels shows the channels, and delete_channel makes room for another one.",
	MaximumNumberOfGuildRolesReached: "list_roles shows the roles, and delete_role makes room for another one.",
	MaximumActiveThreads: "list_threads shows the active threads, and edit_thread can archive one.",
	MaximumThreadParticipantsReached:
		"list_thread_members shows the members of the thread, and edit_thread_members with remove_user_ids removes some.",
	MaximumNumberOfNonGuildMemberBansHasBeenExceeded:
		"Discord limits bans of users who are not members. Members can still be banned; ban the others later.",
	MaximumNumberOfEditsToMessagesOlderThanOneHourReached:
		"Discord limits edits of messages older than an hour. Send a new message, or edit this one later.",
	OpeningDirectMessagesTooFast:
		"Nothing was sent. Wait some minutes before writing to others: Discord limits new direct messages.",
	ServerNeedsMoreBoostsToPerformThisAction:
		"get_guild_info shows the boost level, which limits files, emoji, bitrates and role icons.",
	InvalidWebhookToken: "The webhook's token has changed. Nothing was done; call again.",
	CannotExecuteActionOnThisChannelType:
		"Channels of this type do not support this request. list_channels shows the types of channels.",
	FailedToResizeAssetBelowTheMaximumSize: "Use a smaller image: Discord shows emoji in 128 by 128 pixels.",
	ThisMessageWasAlreadyCrossposted: "The message was already published to the channel's followers. Nothing was done.",
	CannotForwardMessageWithUnreadableContent:
		'The bot may not read the messages of others; the operator of the bot can switch on "Message Content Intent" in the developer portal (Bot). Nothing was done.',
	NSFWChannelMessageReferenceNotAllowed:
		"Messages of an age-restricted channel can only be forwarded to another one. Use list_channels to find those.",
	PollExpired: "Use get_message to see the result of the poll.",
	CannotEditAPollMessage: "Use end_poll to end the poll, and create_poll to create another one.",
	CannotUseAnEmojiIncludedWithThePoll: "Use a Unicode emoji, or one that list_emojis shows.",
	ReactionWasBlocked: "The author of the message blocks the bot.",
	CannotExecuteActionOnSystemMessage: "The message is a system message of Discord; get_message shows its type.",
	CannotUpdateAFinishedEvent: "Use create_scheduled_event to create another event.",
	MissingAccess:
		"The bot cannot see this channel or guild. An administrator has to give the bot's role View Channel there.",
	MissingPermissions:
		"The bot lacks a permission for this, or the target ranks above it. An administrator has to change the bot's role.",
	InvalidFormBodyOrContentType: "Correct the named fields and call again.",
	TargetUserIsNotConnectedToVoice:
		"This person is in no voice channel. Use list_voice_members to find members who are.",
	TheStageIsAlreadyOpen: "The stage is already live; set_stage changes its topic.",
	CannotDeleteChannelRequiredForCommunityGuilds: "Use edit_guild to choose another channel for rules or updates first.",
	CommunityServerChannelsMustBeTextChannels: "Use edit_guild to choose another channel for rules or updates first.",
	FeatureTemporarilyDisabledServerSide:
		"Discord also sends this error if COMMUNITY is enabled without channels for rules and updates. Nothing was done.",
	FailedToBanUsers:
		"None of the users was banned: they are already banned, rank above the bot, or do not exist. Use get_bans to find bans.",
	InvalidActionOnArchivedThread: "The thread is archived; edit_thread with archived = false reopens it.",
	ThreadLocked: "The thread is locked: only members with MANAGE_THREADS can write in it. Use edit_thread to unlock it.",
	ThreadAlreadyCreatedForMessage:
		"The message has a thread already, with the id of the message. Use get_message to see it.",
	TagRequiredToCreateAForumPostInThisChannel:
		"Every post of this forum needs a tag; use get_channel to find the tags of the forum.",
	CannotSendAnEmptyMessage: "Set content.",
	CannotSendMessagesToThisUser: "This person does not accept direct messages from the bot.",
	CannotSendMessagesToThisUserDueToHavingNoMutualGuilds:
		"The bot can only write to people who share a guild with it. Nothing was sent.",
	TwoFactorAuthenticationIsRequired: `${twoFactorAdvice} Nothing was done.`,
});

const outcomeNotes: Record<Outcome, string> = {
	"not sent": "The bot did not send the request to Discord: nothing was done. Try again later.",
	refused: "Discord did not accept the request: nothing was done. Try again later.",
	read: "The request only reads from Discord: nothing was changed. Try again later.",
	unknown: "The bot had sent the request to Discord: whether it took effect is unknown. Check before repeating it.",
};

const waitedTooLong =
	"The request waited so long to be sent to Discord that the bot dropped it: nothing was done. Try again later.";

const busyTexts: Record<PlatformBusy["why"], (seconds: number) => string> = {
	"rate limit": (seconds) => `Discord's rate limit allows this request again in ${seconds} s.`,
	"invalid requests": (seconds) =>
		`Discord has refused so many of the bot's requests that the bot sends none for ${seconds} s, to avoid an IP ban.`,
	"foreign response": (seconds) =>
		`Something in front of Discord's API, such as Cloudflare, blocks the bot or fails, so the bot sends no requests for ${seconds} s.`,
};

const problems = byCode<Said>({
	MissingAccess: said("discord.no_access"),
	MissingPermissions: said("discord.no_permission"),
	UnknownChannel: said("discord.no_channel"),
	UnknownMessage: said("discord.no_message"),
	UnknownMember: said("discord.no_member"),
	UnknownUser: said("discord.no_user"),
	UnknownRole: said("discord.no_role"),
	UnknownBan: said("discord.no_ban"),
	CannotSendMessagesToThisUser: said("discord.no_direct_messages"),
	InvalidActionOnArchivedThread: said("discord.archived"),
	MaximumNumberOfNonGuildMemberBansHasBeenExceeded: said("discord.too_many_bans"),
	TwoFactorAuthenticationIsRequired: said("discord.two_factor"),
});

const logAdvice = byCode({
	MissingPermissions: ": the bot lacks a permission, or its role is too low",
	TwoFactorAuthenticationIsRequired: ". The account that owns the bot's application has to enable it",
});

/** `models` has a final period, the others have none. Undefined for an error that is not Discord's or of its connection. */
function describe(error: unknown): { models: string; log: string; people: Said } | undefined {
	if (error instanceof PlatformTimeout) {
		const note = error.outcome === "not sent" ? waitedTooLong : outcomeNotes[error.outcome];
		const models = `Discord API request timed out. ${note}`;
		return { models, log: "Discord did not answer in time", people: said("discord.timeout") };
	}
	if (error instanceof PlatformBusy) {
		const count = Math.ceil(error.retryAfterMs / 1000);
		const models = `Discord API error: ${busyTexts[error.why](count)} Nothing was done. Call again after this time, not before.`;
		const people = said("discord.busy", { wait: said("result.seconds", { count }) });
		return { models, log: "Discord asks the bot to wait", people };
	}
	if (error instanceof PlatformFailure) {
		const { message, outcome, cause } = error;
		const isForeign = cause instanceof ForeignResponse;
		const pause = isForeign ? ` Requests are paused for ${Math.ceil(cause.pauseMs / 1000)} s.` : "";
		const models = `Discord API error: ${oneLine(message)}. ${outcomeNotes[outcome]}${pause}`;
		return { models, log: `Discord could not be reached: ${message}`, people: said("discord.unreachable") };
	}
	if (!(error instanceof DiscordAPIError)) return undefined;
	const { code, status } = error;
	// The message has one line per invalid field.
	const message = error.message.trim().replace(/\s*[\r\n]+\s*/g, "; ");
	const log = `Discord refuses: ${message} (code ${code})${logAdvice.get(code) ?? ""}`;
	if (status === 401 && code !== codes.InvalidWebhookToken) {
		const models =
			"Discord API error: 401 Unauthorized. Discord refused the bot's token; the bot's operator has to replace it. Nothing was done.";
		return { models, log, people: said("discord.token") };
	}
	const models = `Discord API error: ${oneLine(message)} (code ${code}). ${advice.get(code) ?? "Nothing was done."}`;
	const problem = escapeMarkdown(oneLine(message));
	return { models, log, people: problems.get(code) ?? said("discord.refused", { problem, code: String(code) }) };
}

/** For models, and for people in their language. Undefined for any other error. */
export function toToolError(error: unknown): SaidError | undefined {
	const described = describe(error);
	if (!described) return undefined;
	const { models, people: problem } = described;
	const people = wasNotDone(error)
		? said("refusal.nothing_done", { why: said("discord.failed", { problem }) })
		: said("discord.unknown", { problem });
	const isRefusal = error instanceof DiscordAPIError && error.status !== 401;
	return new SaidError(people, { models, cause: error, isFailure: !isRefusal });
}

/** For logs, without a final period; undefined for any other error. */
export function describePlatformError(error: unknown): string | undefined {
	return describe(error)?.log;
}

/** For people in their language, without a final period; undefined for any other error. */
export function saidPlatformError(error: unknown): Said | undefined {
	return describe(error)?.people;
}

/** As `saidPlatformError`, also of an error with a message for people. */
export function saidProblem(error: unknown): Said | undefined {
	return error instanceof SaidError ? error.why : saidPlatformError(error);
}
