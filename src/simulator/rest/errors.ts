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
const messages: Readonly<Record<number, Readonly<Record<number, string>>>> = {
	400: {
		[Code.MaximumNumberOfPinsReachedForTheChannel]:
			"Maximum number of pins reached for the channel (250)",
		[Code.MaximumNumberOfReactionsReached]:
			"Maximum number of reactions reached (20)",
		[Code.MaximumNumberOfWebhooksReached]:
			"Maximum number of webhooks reached (15)",
		[Code.MaximumNumberOfInvitesReached]:
			"Maximum number of invites reached (1000)",
		[Code.WebhooksPostedToForumChannelsMustHaveAThreadNameOrThreadId]:
			"Webhooks posted to forum channels must have a thread_name or thread_id",
		[Code.MaximumNumberOfGuildRolesReached]:
			"Maximum number of guild roles reached (250)",
		[Code.MaximumNumberOfGuildChannelsReached]:
			"Maximum number of server channels reached (500)",
		[Code.MaximumNumberOfUncompletedGuildScheduledEventsReached]:
			"Maximum number of uncompleted guild scheduled events reached (100)",
		[Code.CannotUpdateAFinishedEvent]: "Cannot update a finished event",
		[Code.MessageWasBlockedByAutomaticModeration]:
			"Message was blocked by automatic moderation",
		[Code.MaximumNumberOfApplicationCommandsReached]:
			"Maximum number of application commands reached (100)",
		[Code.MaximumNumberOfEmojisReached]:
			"Maximum number of emojis reached (50)",
		[Code.MaximumNumberOfAnimatedEmojisReached]:
			"Maximum number of animated emojis reached (50)",
		[Code.ThisMessageWasAlreadyCrossposted]:
			"This message has already been crossposted.",
		[Code.CannotExpireANonPollMessage]: "Cannot expire a non-poll message",
		[Code.OnlyOneChannelCanHaveAParentIdModifiedAtATime]:
			"Only one channel can have a parent modified at a time",
		[Code.TargetUserIsNotConnectedToVoice]:
			"Target user is not connected to voice.",
		[Code.TheStageIsAlreadyOpen]: "The Stage is already open.",
		[Code.InteractionHasAlreadyBeenAcknowledged]:
			"Interaction has already been acknowledged.",
		[Code.CannotSendAnEmptyMessage]: "Cannot send an empty message",
		[Code.CannotSendMessagesInNonTextChannel]:
			"Cannot send messages in a non-text channel",
		[Code.CannotExecuteActionOnThisChannelType]:
			"Cannot execute action on this channel type",
		[Code.InvalidActionOnArchivedThread]:
			"Tried to perform an operation on an archived thread",
		[Code.ThreadAlreadyCreatedForMessage]:
			"A thread has already been created for this message",
		[Code.ThreadLocked]: "Thread is locked",
		[Code.MaximumActiveThreads]: "Maximum number of active threads reached",
		[Code.TagNamesMustBeUnique]: "Tag names must be unique",
		[Code.TagRequiredToCreateAForumPostInThisChannel]:
			"A tag is required to create a forum post in this channel",
		[Code.InvalidRole]: "Invalid Role",
		[Code.OneOfTheMessagesProvidedWasTooOldForBulkDelete]:
			"You can only bulk delete messages that are under 14 days old.",
		[Code.InvalidFormBodyOrContentType]: "Invalid Form Body",
		[Code.RequestBodyContainsInvalidJSON]:
			"The request body contains invalid JSON.",
		[Code.CannotDeleteChannelRequiredForCommunityGuilds]:
			"Cannot delete a channel required for Community guilds",
		[Code.FailedToBanUsers]: "Failed to ban users",
	},
	401: {
		[Code.Unauthorized]: "Unauthorized",
		[Code.InvalidWebhookToken]: "Invalid Webhook Token",
	},
	403: {
		[Code.BotsCannotUseThisEndpoint]: "Bots cannot use this endpoint",
		[Code.OnlyBotsCanUseThisEndpoint]: "Only bots can use this endpoint",
		[Code.NotAuthorizedToPerformThisActionOnThisApplication]:
			"You are not authorized to perform this action on this application",
		[Code.CannotExecuteActionOnSystemMessage]:
			"Cannot execute action on a system message",
		[Code.CannotReferenceAMessageWithoutPermissionToReadMessageHistory]:
			"Cannot reference a message without permission to read message history",
		[Code.NSFWChannelMessageReferenceNotAllowed]:
			"NSFW channel message reference not allowed",
		[Code.CannotForwardMessageWithUnreadableContent]:
			"You cannot forward a message whose content you cannot read.",
		[Code.PollExpired]: "Poll expired",
		[Code.CannotEditAPollMessage]: "Cannot edit a poll message",
		[Code.CannotUseAnEmojiIncludedWithThePoll]:
			"Cannot use an emoji included with the poll",
		[Code.MissingAccess]: "Missing Access",
		[Code.CannotExecuteActionOnDMChannel]:
			"Cannot execute action on a DM channel",
		[Code.CannotEditMessageAuthoredByAnotherUser]:
			"Cannot edit a message authored by another user",
		[Code.CannotSendMessagesToThisUser]: "Cannot send messages to this user",
		[Code.MissingPermissions]: "Missing Permissions",
		[Code.CannotReplyWithoutPermissionToReadMessageHistory]:
			"Cannot reply without permission to read message history",
	},
	404: {
		[Code.UnknownApplication]: "Unknown Application",
		[Code.UnknownChannel]: "Unknown Channel",
		[Code.UnknownGuild]: "Unknown Guild",
		[Code.UnknownMember]: "Unknown Member",
		[Code.UnknownMessage]: "Unknown Message",
		[Code.UnknownPermissionOverwrite]: "Unknown Overwrite",
		[Code.UnknownRole]: "Unknown Role",
		[Code.UnknownUser]: "Unknown User",
		[Code.UnknownInvite]: "Unknown Invite",
		[Code.UnknownWebhook]: "Unknown Webhook",
		[Code.UnknownEmoji]: "Unknown Emoji",
		[Code.UnknownBan]: "Unknown Ban",
		[Code.UnknownVoiceState]: "Unknown Voice State",
		[Code.UnknownStageInstance]: "Unknown Stage Instance",
		[Code.UnknownInteraction]: "Unknown interaction",
		[Code.UnknownGuildScheduledEvent]: "Unknown Guild Scheduled Event",
		[Code.UnknownApplicationCommand]: "Unknown application command",
		[Code.UnknownTag]: "Unknown Tag",
	},
	413: {
		[Code.RequestEntityTooLarge]: "Request entity too large",
	},
	429: {
		[Code.ActionCannotBePerformedDueToSlowmodeRateLimit]:
			"This action cannot be performed due to slowmode rate limit",
		[Code.ChannelWriteRateLimit]:
			"The write action you are performing has hit the write rate limit.",
	},
};

const byCode = new Map(
	Object.entries(messages).flatMap(([status, codes]) =>
		Object.entries(codes).map(
			([code, message]) => [Number(code), [Number(status), message]] as const,
		),
	),
);

/** Discord's error with this code. A code that is not in the table gets status 400 unless `given` has another. */
export function apiError(
	code: number,
	given: { status?: number | undefined; message?: string | undefined } = {},
): ApiError {
	const [status, message] = byCode.get(code) ?? [400, `Error ${code}`];
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
	override name = "FormError";

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

export function formErrorResponse(error: FormError): ApiError {
	return new ApiError(400, {
		message: "Invalid Form Body",
		code: Code.InvalidFormBodyOrContentType,
		errors: error.tree,
	});
}
