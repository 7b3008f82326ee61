// Discord's error responses: an HTTP status with a JSON error code, and for invalid forms the path of each field.
// https://discord.com/developers/docs/topics/opcodes-and-status-codes#json

import { RESTJSONErrorCodes as Code } from "discord.js";

/** Ends a request with an error response. */
export class ApiError extends Error {
	override name = "ApiError";

	constructor(
		readonly status: number,
		readonly body: Readonly<Record<string, unknown>>,
		readonly headers: Readonly<Record<string, string>> = {},
	) {
		super(`${status} ${JSON.stringify(body)}`);
	}
}

// Programs rely on the codes. The messages are Discord's where they are known.
const statuses = new Map<number, readonly [status: number, message: string]>([
	[Code.UnknownApplication, [404, "Unknown Application"]],
	[Code.UnknownChannel, [404, "Unknown Channel"]],
	[Code.UnknownGuild, [404, "Unknown Guild"]],
	[Code.UnknownMember, [404, "Unknown Member"]],
	[Code.UnknownMessage, [404, "Unknown Message"]],
	[Code.UnknownPermissionOverwrite, [404, "Unknown Overwrite"]],
	[Code.UnknownRole, [404, "Unknown Role"]],
	[Code.UnknownUser, [404, "Unknown User"]],
	[Code.UnknownInvite, [404, "Unknown Invite"]],
	[Code.UnknownWebhook, [404, "Unknown Webhook"]],
	[Code.UnknownEmoji, [404, "Unknown Emoji"]],
	[Code.UnknownBan, [404, "Unknown Ban"]],
	[Code.UnknownVoiceState, [404, "Unknown Voice State"]],
	[Code.UnknownStageInstance, [404, "Unknown Stage Instance"]],
	[Code.UnknownInteraction, [404, "Unknown interaction"]],
	[Code.UnknownGuildScheduledEvent, [404, "Unknown Guild Scheduled Event"]],
	[Code.UnknownApplicationCommand, [404, "Unknown application command"]],
	[Code.BotsCannotUseThisEndpoint, [403, "Bots cannot use this endpoint"]],
	[Code.OnlyBotsCanUseThisEndpoint, [403, "Only bots can use this endpoint"]],
	[
		Code.NotAuthorizedToPerformThisActionOnThisApplication,
		[403, "You are not authorized to perform this action on this application"],
	],
	[
		Code.ActionCannotBePerformedDueToSlowmodeRateLimit,
		[429, "This action cannot be performed due to slowmode rate limit"],
	],
	[
		Code.ChannelWriteRateLimit,
		[429, "The write action you are performing has hit the write rate limit."],
	],
	[
		Code.MaximumNumberOfPinsReachedForTheChannel,
		[400, "Maximum number of pins reached for the channel (250)"],
	],
	[
		Code.MaximumNumberOfReactionsReached,
		[400, "Maximum number of reactions reached (20)"],
	],
	[
		Code.CannotExecuteActionOnSystemMessage,
		[403, "Cannot execute action on a system message"],
	],
	[
		Code.MaximumNumberOfWebhooksReached,
		[400, "Maximum number of webhooks reached (15)"],
	],
	[
		Code.MaximumNumberOfInvitesReached,
		[400, "Maximum number of invites reached (1000)"],
	],
	[
		Code.WebhooksPostedToForumChannelsMustHaveAThreadNameOrThreadId,
		[
			400,
			"Webhooks posted to forum channels must have a thread_name or thread_id",
		],
	],
	[
		Code.MaximumNumberOfGuildRolesReached,
		[400, "Maximum number of guild roles reached (250)"],
	],
	[
		Code.MaximumNumberOfGuildChannelsReached,
		[400, "Maximum number of server channels reached (500)"],
	],
	[
		Code.MaximumNumberOfUncompletedGuildScheduledEventsReached,
		[400, "Maximum number of uncompleted guild scheduled events reached (100)"],
	],
	[Code.CannotUpdateAFinishedEvent, [400, "Cannot update a finished event"]],
	[
		Code.MessageWasBlockedByAutomaticModeration,
		[400, "Message was blocked by automatic moderation"],
	],
	[
		Code.MaximumNumberOfApplicationCommandsReached,
		[400, "Maximum number of application commands reached (100)"],
	],
	[
		Code.MaximumNumberOfEmojisReached,
		[400, "Maximum number of emojis reached (50)"],
	],
	[
		Code.MaximumNumberOfAnimatedEmojisReached,
		[400, "Maximum number of animated emojis reached (50)"],
	],
	[
		Code.ThisMessageWasAlreadyCrossposted,
		[400, "This message has already been crossposted."],
	],
	[
		Code.CannotReferenceAMessageWithoutPermissionToReadMessageHistory,
		[
			403,
			"Cannot reference a message without permission to read message history",
		],
	],
	[
		Code.NSFWChannelMessageReferenceNotAllowed,
		[403, "NSFW channel message reference not allowed"],
	],
	[
		Code.CannotForwardMessageWithUnreadableContent,
		[403, "You cannot forward a message whose content you cannot read."],
	],
	[Code.PollExpired, [403, "Poll expired"]],
	[Code.CannotEditAPollMessage, [403, "Cannot edit a poll message"]],
	[
		Code.CannotUseAnEmojiIncludedWithThePoll,
		[403, "Cannot use an emoji included with the poll"],
	],
	[Code.CannotExpireANonPollMessage, [400, "Cannot expire a non-poll message"]],
	[Code.Unauthorized, [401, "Unauthorized"]],
	[Code.RequestEntityTooLarge, [413, "Request entity too large"]],
	[
		Code.OnlyOneChannelCanHaveAParentIdModifiedAtATime,
		[400, "Only one channel can have a parent modified at a time"],
	],
	[
		Code.TargetUserIsNotConnectedToVoice,
		[400, "Target user is not connected to voice."],
	],
	[Code.TheStageIsAlreadyOpen, [400, "The Stage is already open."]],
	[
		Code.InteractionHasAlreadyBeenAcknowledged,
		[400, "Interaction has already been acknowledged."],
	],
	[Code.MissingAccess, [403, "Missing Access"]],
	[
		Code.CannotExecuteActionOnDMChannel,
		[403, "Cannot execute action on a DM channel"],
	],
	[
		Code.CannotEditMessageAuthoredByAnotherUser,
		[403, "Cannot edit a message authored by another user"],
	],
	[Code.CannotSendAnEmptyMessage, [400, "Cannot send an empty message"]],
	[
		Code.CannotSendMessagesToThisUser,
		[403, "Cannot send messages to this user"],
	],
	[
		Code.CannotSendMessagesInNonTextChannel,
		[400, "Cannot send messages in a non-text channel"],
	],
	[Code.MissingPermissions, [403, "Missing Permissions"]],
	[
		Code.CannotExecuteActionOnThisChannelType,
		[400, "Cannot execute action on this channel type"],
	],
	[
		Code.InvalidActionOnArchivedThread,
		[400, "Tried to perform an operation on an archived thread"],
	],
	[
		Code.ThreadAlreadyCreatedForMessage,
		[400, "A thread has already been created for this message"],
	],
	[Code.ThreadLocked, [400, "Thread is locked"]],
	[
		Code.MaximumActiveThreads,
		[400, "Maximum number of active threads reached"],
	],
	[Code.UnknownTag, [404, "Unknown Tag"]],
	[Code.TagNamesMustBeUnique, [400, "Tag names must be unique"]],
	[
		Code.TagRequiredToCreateAForumPostInThisChannel,
		[400, "A tag is required to create a forum post in this channel"],
	],
	[Code.InvalidWebhookToken, [401, "Invalid Webhook Token"]],
	[Code.InvalidRole, [400, "Invalid Role"]],
	[
		Code.OneOfTheMessagesProvidedWasTooOldForBulkDelete,
		[400, "You can only bulk delete messages that are under 14 days old."],
	],
	[Code.InvalidFormBodyOrContentType, [400, "Invalid Form Body"]],
	[
		Code.RequestBodyContainsInvalidJSON,
		[400, "The request body contains invalid JSON."],
	],
	[
		Code.CannotDeleteChannelRequiredForCommunityGuilds,
		[400, "Cannot delete a channel required for Community guilds"],
	],
	[Code.FailedToBanUsers, [400, "Failed to ban users"]],
	[
		Code.CannotReplyWithoutPermissionToReadMessageHistory,
		[403, "Cannot reply without permission to read message history"],
	],
]);

/** Discord's error with this code. A code that is not in the table gets status 400 unless `given` has another. */
export function apiError(
	code: number,
	given: { status?: number | undefined; message?: string | undefined } = {},
): ApiError {
	const [status, message] = statuses.get(code) ?? [400, `Error ${code}`];
	return new ApiError(given.status ?? status, {
		message: given.message ?? message,
		code,
	});
}

/** An error without a JSON error code: 401, 405, 5xx. */
export function httpError(status: number, name: string): ApiError {
	return new ApiError(status, { message: `${status}: ${name}`, code: 0 });
}

/** A 429 response. */
export function rateLimited(
	retryAfterMs: number,
	{ global, scope }: { global: boolean; scope: string },
	headers: Readonly<Record<string, string>> = {},
): ApiError {
	const seconds = retryAfterMs / 1000;
	return new ApiError(
		429,
		{ message: "You are being rate limited.", retry_after: seconds, global },
		{
			...headers,
			"retry-after": String(Math.ceil(seconds)),
			"x-ratelimit-scope": scope,
			...(global ? { "x-ratelimit-global": "true" } : {}),
		},
	);
}

/** A feature that is not simulated: status 501, which Discord does not use. */
export function notSimulated(what: string): ApiError {
	return new ApiError(501, {
		message: `The simulator does not simulate ${what}.`,
		code: 0,
	});
}

/** The errors of a form by path. */
export interface FormErrors {
	[key: string]: FormErrors | readonly FieldError[];
}

interface FieldError {
	readonly code: string;
	readonly message: string;
}

/** An invalid value. Each field that contains it adds its name to the path. */
export class FormError extends Error {
	override name = "FieldFault";

	constructor(readonly tree: FormErrors) {
		super("Invalid Form Body");
	}
}

/** An error at the value itself, or at `path` below it. */
export function formError(
	code: string,
	message: string,
	...path: readonly (string | number)[]
): FormError {
	const leaf: FormErrors = { _errors: [{ code, message }] };
	return new FormError(
		path.reduceRight<FormErrors>((tree, key) => ({ [key]: tree }), leaf),
	);
}

/** Runs a check and puts its errors below `key`. */
export function atKey<T>(key: string, run: () => T): T {
	try {
		return run();
	} catch (error) {
		if (error instanceof FormError) throw new FormError({ [key]: error.tree });
		throw error;
	}
}

export function formErrorResponse(fault: FormError): ApiError {
	return new ApiError(400, {
		message: "Invalid Form Body",
		code: Code.InvalidFormBodyOrContentType,
		errors: fault.tree,
	});
}
