// Discord's error responses: an HTTP status with a JSON error code, and for invalid forms the path of each field.
// https://discord.com/developers/docs/topics/opcodes-and-status-codes#json

import { RESTJSONErrorCodes as Code } from "discord.js";

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

type ErrorName = keyof typeof Code;

// Programs rely on the codes. The messages are Discord's where they are known. A guess (error-status): the statuses. Errors that
// are not listed have the words of their names, with status 404 if something is unknown, else 400.
const messages: Record<number, Partial<Record<ErrorName, string>>> = {
	400: {
		MaximumNumberOfPinsReachedForTheChannel: "Maximum number of pins reached for the channel (250)",
		MaximumNumberOfReactionsReached: "Maximum number of reactions reached (20)",
		MaximumNumberOfWebhooksReached: "Maximum number of webhooks reached (15)",
		MaximumNumberOfInvitesReached: "Maximum number of invites reached (1000)",
		WebhooksPostedToForumChannelsMustHaveAThreadNameOrThreadId:
			"Webhooks posted to forum channels must have a thread_name or thread_id",
		MaximumNumberOfGuildRolesReached: "Maximum number of guild roles reached (250)",
		MaximumNumberOfGuildChannelsReached: "Maximum number of server channels reached (500)",
		MaximumNumberOfUncompletedGuildScheduledEventsReached:
			"Maximum number of uncompleted guild scheduled events reached (100)",
		MaximumNumberOfApplicationCommandsReached: "Maximum number of application commands reached (100)",
		MaximumNumberOfEmojisReached: "Maximum number of emojis reached (50)",
		MaximumNumberOfAnimatedEmojisReached: "Maximum number of animated emojis reached (50)",
		ThisMessageWasAlreadyCrossposted: "This message has already been crossposted.",
		CannotExpireANonPollMessage: "Cannot expire a non-poll message",
		OnlyOneChannelCanHaveAParentIdModifiedAtATime: "Only one channel can have a parent modified at a time",
		TargetUserIsNotConnectedToVoice: "Target user is not connected to voice.",
		TheStageIsAlreadyOpen: "The Stage is already open.",
		InteractionHasAlreadyBeenAcknowledged: "Interaction has already been acknowledged.",
		CannotSendMessagesInNonTextChannel: "Cannot send messages in a non-text channel",
		InvalidActionOnArchivedThread: "Tried to perform an operation on an archived thread",
		ThreadAlreadyCreatedForMessage: "A thread has already been created for this message",
		ThreadLocked: "Thread is locked",
		MaximumActiveThreads: "Maximum number of active threads reached",
		MaximumThreadParticipantsReached: "Maximum number of thread participants has been reached (1000)",
		TagRequiredToCreateAForumPostInThisChannel: "A tag is required to create a forum post in this channel",
		InvalidRole: "Invalid Role",
		OneOfTheMessagesProvidedWasTooOldForBulkDelete: "You can only bulk delete messages that are under 14 days old.",
		InvalidFormBodyOrContentType: "Invalid Form Body",
		RequestBodyContainsInvalidJSON: "The request body contains invalid JSON.",
		CannotDeleteChannelRequiredForCommunityGuilds: "Cannot delete a channel required for Community guilds",
		ServerNeedsMoreBoostsToPerformThisAction: "This server needs more boosts to perform this action",
		CannotEnableOnboardingRequirementsAreNotMet: "Cannot enable onboarding, requirements are not met",
	},
	401: { Unauthorized: "Unauthorized", InvalidWebhookToken: "Invalid Webhook Token" },
	403: {
		FeatureTemporarilyDisabledServerSide: "This feature has been temporarily disabled",
		UserBannedFromThisGuild: "The user is banned from this guild.",
		BotsCannotUseThisEndpoint: "Bots cannot use this endpoint",
		OnlyBotsCanUseThisEndpoint: "Only bots can use this endpoint",
		NotAuthorizedToPerformThisActionOnThisApplication:
			"You are not authorized to perform this action on this application",
		CannotExecuteActionOnSystemMessage: "Cannot execute action on a system message",
		CannotReferenceAMessageWithoutPermissionToReadMessageHistory:
			"Cannot reference a message without permission to read message history",
		NSFWChannelMessageReferenceNotAllowed: "NSFW channel message reference not allowed",
		CannotForwardMessageWithUnreadableContent: "You cannot forward a message whose content you cannot read.",
		PollExpired: "Poll expired",
		CannotEditAPollMessage: "Cannot edit a poll message",
		CannotUseAnEmojiIncludedWithThePoll: "Cannot use an emoji included with the poll",
		MissingAccess: "Missing Access",
		CannotExecuteActionOnDMChannel: "Cannot execute action on a DM channel",
		CannotEditMessageAuthoredByAnotherUser: "Cannot edit a message authored by another user",
		CannotSendMessagesToThisUser: "Cannot send messages to this user",
		CannotSendMessagesToThisUserDueToHavingNoMutualGuilds:
			"Cannot send messages to this user due to having no mutual guilds",
		OpeningDirectMessagesTooFast: "You are opening direct messages too fast",
		TwoFactorAuthenticationIsRequired: "Two factor is required for this operation",
		MissingPermissions: "Missing Permissions",
		CannotReplyWithoutPermissionToReadMessageHistory: "Cannot reply without permission to read message history",
	},
	404: {
		UnknownPermissionOverwrite: "Unknown Overwrite",
		UnknownInteraction: "Unknown interaction",
		UnknownApplicationCommand: "Unknown application command",
	},
	413: { RequestEntityTooLarge: "Request entity too large" },
	429: {
		ActionCannotBePerformedDueToSlowmodeRateLimit: "This action cannot be performed due to slowmode rate limit",
		ChannelWriteRateLimit: "The write action you are performing has hit the write rate limit.",
	},
};

const byCode = new Map<number, [status: number, message: string]>();
for (const [status, errors] of Object.entries(messages))
	for (const [name, message] of Object.entries(errors)) byCode.set(Code[name as ErrorName], [Number(status), message]);

function byName(name: string): [status: number, message: string] {
	const words = name.replaceAll(/(?<=[a-z])(?=[A-Z\d])/g, " ");
	return name.startsWith("Unknown") ? [404, words] : [400, words.slice(0, 1) + words.slice(1).toLowerCase()];
}

/** `given` can replace the HTTP status and message of the code. The default status of an unknown code is 400. */
export function apiError(
	error: ErrorName | number,
	given: { status?: number | undefined; message?: string | undefined } = {},
): ApiError {
	const code = typeof error === "string" ? Code[error] : error;
	const [status, message] = byCode.get(code) ?? byName(Code[code] ?? `Error${code}`);
	return new ApiError(given.status ?? status, { message: given.message ?? message, code });
}

export function found<T>(entity: T | undefined, error: ErrorName): T {
	if (entity === undefined) throw apiError(error);
	return entity;
}

export function httpError(status: number, name: string): ApiError {
	return new ApiError(status, { message: `${status}: ${name}`, code: 0 });
}

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
			...(global && { "x-ratelimit-global": "true" }),
		},
	);
}

/** For what the simulator does not implement: status 501, which Discord does not use. */
export function notSimulated(what: string): ApiError {
	return new ApiError(501, { message: `The simulator does not simulate ${what}.`, code: 0 });
}

export interface FormErrors {
	[key: string]: FormErrors | readonly { code: string; message: string }[];
}

export class FormError extends ApiError {
	constructor(readonly tree: FormErrors) {
		super(400, { message: "Invalid Form Body", code: Code.InvalidFormBodyOrContentType, errors: tree });
	}
}

/** For an invalid value in a request body; `path` leads to the nested part that is invalid. */
export function formError(code: string, message: string, ...path: readonly (string | number)[]): FormError {
	const leaf: FormErrors = { _errors: [{ code, message }] };
	return new FormError(path.reduceRight<FormErrors>((tree, key) => ({ [key]: tree }), leaf));
}

export function missingField(...path: readonly (string | number)[]): FormError {
	return formError("BASE_TYPE_REQUIRED", "This field is required", ...path);
}

/** If `run` throws a FormError, puts `key` in front of the paths of its errors. */
export function atKey<T>(key: string, run: () => T): T {
	try {
		return run();
	} catch (error) {
		if (error instanceof FormError) throw new FormError({ [key]: error.tree });
		throw error;
	}
}
