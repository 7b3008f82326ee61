// Errors of AI providers. What people in chat read of them: ../texts.

export type AiErrorKind =
	/** No provider is configured. */
	| "none"
	/** Too many requests of this process. */
	| "busy"
	| "key"
	| "limited"
	| "refused"
	| "rejected"
	| "unavailable"
	| "timeout"
	| "cut"
	| "nonsense";

interface AiErrorDetails {
	/** For the operator. Never contains the provider's own text, which may quote the request. */
	detail?: string;
	/** Milliseconds until a new try, from the Retry-After header or the bot's own cooldown for the provider. */
	retryAfterMs?: number | undefined;
	midway?: boolean;
	cause?: unknown;
}

/** An answer is missing or incomplete. */
export class AiError extends Error {
	override name = "AiError";

	constructor(
		readonly kind: AiErrorKind,
		readonly details: AiErrorDetails = {},
	) {
		super(`no answer of an AI provider: ${kind}`, { cause: details.cause });
	}

	/** Whether part of the AI's answer had arrived before the error. The rest of the answer will not arrive. */
	get midway(): boolean {
		return this.details.midway ?? false;
	}
}
