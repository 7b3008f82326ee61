// Converts errors of Discord's API for models and people, with a table of advice by error code.

import { RESTJSONErrorCodes as codes, DiscordAPIError } from "discord.js";
import { ToolError } from "../../../mcp/tool.ts";
import { oneLine } from "../text.ts";
import { ForeignResponse } from "./response.ts";
import {
	type Outcome,
	PlatformBusy,
	PlatformFailure,
	PlatformTimeout,
	wasNotDone,
} from "./rest.ts";

/** Advice by Discord's error code. https://discord.com/developers/docs/topics/opcodes-and-status-codes */
const advice = new Map<number | string, string>([
	[
		codes.UnknownChannel,
		"There is no such channel; list_channels shows those there are.",
	],
	[
		codes.UnknownGuild,
		"There is no such guild for this bot; list_guilds shows its guilds.",
	],
	[
		codes.UnknownMember,
		"This person is not a member of the guild; lookup_user_by_name finds members.",
	],
	[
		codes.UnknownMessage,
		"There is no such message in this channel. Use get_recent_messages (read_private_messages for a direct one) to find messages.",
	],
	[
		codes.UnknownEmoji,
		"There is no such emoji, or nobody has reacted with it; get_message shows the reactions of a message.",
	],
	[
		codes.UnknownWebhook,
		"There is no such webhook any more. Use list_webhooks to find webhooks.",
	],
	[
		codes.UnknownInvite,
		"There is no such invite any more. Use list_invites to find invites.",
	],
	[
		codes.MaximumNumberOfWebhooksReached,
		"list_webhooks shows those of the channel, and delete_webhook makes room.",
	],
	[
		codes.MaximumNumberOfInvitesReached,
		"list_invites shows them, and delete_invite makes room.",
	],
	[
		codes.InvalidWebhookToken,
		"The webhook has another token by now. Nothing was done; call again.",
	],
	[
		codes.CannotExecuteActionOnThisChannelType,
		"Channels of this kind do not take it; list_channels shows the kinds.",
	],
	[
		codes.MaximumNumberOfEmojisReached,
		"list_emojis shows them, and delete_emoji makes room.",
	],
	[
		codes.MaximumNumberOfAnimatedEmojisReached,
		"list_emojis shows them, and delete_emoji makes room.",
	],
	[
		codes.FailedToResizeAssetBelowTheMaximumSize,
		"Take a smaller picture: Discord shows emoji in 128 by 128 pixels.",
	],
	[
		codes.ThisMessageWasAlreadyCrossposted,
		"Everyone who follows the channel has it. Nothing was done.",
	],
	[
		codes.CannotForwardMessageWithUnreadableContent,
		'The bot may not read what others write; its operator can switch on "Message Content Intent" in the developer portal (Bot). Nothing was done.',
	],
	[
		codes.NSFWChannelMessageReferenceNotAllowed,
		"Messages of an age-restricted channel can only be forwarded to another one. Use list_channels to find those.",
	],
	[codes.PollExpired, "The poll has ended; get_message shows its result."],
	[
		codes.CannotEditAPollMessage,
		"A poll cannot be edited. Use end_poll to end it, and create_poll to create another one.",
	],
	[
		codes.CannotUseAnEmojiIncludedWithThePoll,
		"Take an emoji itself, or one of the guild; list_emojis shows them.",
	],
	[codes.UnknownBan, "This user is not banned; get_bans lists who is."],
	[
		codes.MaximumNumberOfPinsReachedForTheChannel,
		"list_pins shows them, and unpin_message makes room.",
	],
	[
		codes.MaximumNumberOfReactionsReached,
		"clear_reactions makes room for another emoji.",
	],
	[
		codes.ReactionWasBlocked,
		"The author of the message does not let the bot react to it.",
	],
	[
		codes.CannotExecuteActionOnSystemMessage,
		"This is a message of Discord's own; get_message shows its kind.",
	],
	[
		codes.UnknownRole,
		"There is no such role in this guild; list_roles shows its roles.",
	],
	[
		codes.UnknownUser,
		"There is no such user; lookup_user_by_name finds members.",
	],
	[
		codes.UnknownGuildScheduledEvent,
		"There is no such event in this guild. Use list_scheduled_events to find events.",
	],
	[
		codes.MaximumNumberOfUncompletedGuildScheduledEventsReached,
		"list_scheduled_events shows them, and delete_scheduled_event makes room.",
	],
	[
		codes.CannotUpdateAFinishedEvent,
		"The event is over; create_scheduled_event makes a new one.",
	],
	[
		codes.MissingAccess,
		"The bot cannot see this; an administrator has to give its role View Channel there.",
	],
	[
		codes.MissingPermissions,
		"The bot lacks a permission for this, or the target ranks above it; an administrator has to change the bot's role.",
	],
	[
		codes.InvalidFormBodyOrContentType,
		"Correct the named fields and call again.",
	],
	[
		codes.TargetUserIsNotConnectedToVoice,
		"This person is in no voice channel; list_voice_members shows who is in one.",
	],
	[
		codes.UnknownStageInstance,
		"This stage channel is not live; start_stage starts it.",
	],
	[
		codes.TheStageIsAlreadyOpen,
		"This stage channel is live already; edit_stage changes its topic.",
	],
	[
		codes.MaximumNumberOfGuildChannelsReached,
		"The guild is full of channels; delete_channel makes room.",
	],
	[
		codes.MaximumNumberOfGuildRolesReached,
		"The guild is full of roles; delete_role makes room.",
	],
	[
		codes.CannotDeleteChannelRequiredForCommunityGuilds,
		"A community needs this channel: edit_guild has to name another one first.",
	],
	[
		codes.FailedToBanUsers,
		"None of them was banned: they are banned already, rank above the bot, or are no users; get_bans lists who is banned.",
	],
	[
		codes.InvalidActionOnArchivedThread,
		"The thread is archived; edit_thread with archived = false reopens it.",
	],
	[
		codes.ThreadLocked,
		"The thread is locked, and only members with MANAGE_THREADS can write in it; edit_thread unlocks it.",
	],
	[
		codes.ThreadAlreadyCreatedForMessage,
		"The message has a thread already, whose id is the message's; get_message shows it.",
	],
	[
		codes.MaximumActiveThreads,
		"The guild is full of active threads; edit_thread archives one.",
	],
	[
		codes.TagRequiredToCreateAForumPostInThisChannel,
		"Every post there needs a tag; use list_forum_tags to find tags.",
	],
	[codes.UnknownTag, "list_forum_tags shows the tags of a forum."],
	[
		codes.CannotSendAnEmptyMessage,
		"The message would be empty; give it content.",
	],
	[
		codes.CannotSendMessagesToThisUser,
		"This person does not accept direct messages from the bot.",
	],
]);

/** Texts for `Outcome`. */
const outcomeNotes: Record<Outcome, string> = {
	"not sent": "The request was not sent: nothing was done. Try again later.",
	refused: "The request was turned away: nothing was done. Try again later.",
	read: "It only reads: nothing was changed. Try again later.",
	unknown:
		"The request had been sent: whether it took effect is unknown. Look before repeating it.",
};

/** The error to show to a model; undefined if it is not an error of Discord's API. */
export function toToolError(error: unknown): ToolError | undefined {
	if (error instanceof PlatformTimeout)
		return new ToolError(
			`Discord API request timed out. ${outcomeNotes[error.outcome]}`,
			{
				cause: error,
			},
		);
	if (error instanceof PlatformBusy) return busyError(error);
	if (error instanceof PlatformFailure)
		return apiError(
			`${oneLine(error.message)}. ${outcomeNotes[error.outcome]}${pauseAfter(error)}`,
			error,
		);
	if (!(error instanceof DiscordAPIError)) return undefined;
	if (error.status === 401 && error.code !== codes.InvalidWebhookToken)
		return apiError(
			"401 Unauthorized. Discord refused the bot's token; its operator has been told. Nothing was done.",
			error,
		);
	// The message has one line per invalid field.
	const message = oneLine(error.message.replaceAll("\n", "; "));
	const next = advice.get(error.code) ?? "Nothing was done.";
	return apiError(`${message} (code ${error.code}). ${next}`, error);
}

/** An error of Discord's API as the beginning of a sentence for people; undefined for any other error. */
export function describePlatformError(error: unknown): string | undefined {
	if (error instanceof PlatformTimeout) return "Discord did not answer in time";
	if (error instanceof PlatformBusy) return "Discord asks the bot to wait";
	if (error instanceof PlatformFailure)
		return `Discord could not be reached: ${error.message}`;
	if (!(error instanceof DiscordAPIError)) return undefined;
	const advice =
		error.code === codes.MissingPermissions
			? ": the bot lacks a permission, or its role is too low"
			: "";
	const message = error.message.trim().replace(/\s*[\r\n]+\s*/g, "; ");
	return `Discord refuses: ${message} (code ${error.code})${advice}`;
}

/** The text to show to a person who used a command; undefined for a bug. */
export function describeErrorForPeople(error: unknown): string | undefined {
	if (error instanceof ToolError) return error.message;
	const problem = describePlatformError(error);
	if (problem === undefined) return undefined;
	return `${problem}. ${
		wasNotDone(error)
			? "Nothing was done."
			: "Whether it was done is not known: look before you repeat it."
	}`;
}

/** Texts for `PlatformBusy.why`; "in N s" follows. */
const busyTexts: Record<PlatformBusy["why"], string> = {
	"rate limit": "Discord's rate limit takes this request again",
	"invalid requests":
		"Discord has refused so many of the bot's requests that requests are paused to avoid an IP ban; the next one can go",
	"foreign answer":
		"Something in front of Discord's API, such as Cloudflare, blocks the bot or fails, and requests are paused; the next one can go",
};

function pauseAfter({ cause }: PlatformFailure): string {
	if (!(cause instanceof ForeignResponse)) return "";
	return ` Requests are paused for ${Math.ceil(cause.pauseMs / 1000)} s.`;
}

function busyError(error: PlatformBusy): ToolError {
	const seconds = Math.ceil(error.retryAfterMs / 1000);
	return apiError(
		`${busyTexts[error.why]} in ${seconds} s. The request was not sent: nothing was done. Call again after that, not before.`,
		error,
	);
}

function apiError(text: string, cause: Error): ToolError {
	return new ToolError(`Discord API error: ${text}`, { cause });
}
