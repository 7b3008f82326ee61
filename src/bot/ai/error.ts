// What can go wrong with an AI provider, in words for the people who wait for its answer.

/** What went wrong. */
export type AiErrorKind =
	/** None is set up. */
	| "none"
	/** Too many answers are being waited for already. */
	| "busy"
	/** It does not take the key, or the account has no money left. */
	| "key"
	/** It is asked too often. */
	| "limited"
	/** It does not want to speak of this. */
	| "refused"
	/** It takes issue with the request: its size, its fields, the model's name. */
	| "rejected"
	/** It cannot be reached, or is broken. */
	| "unavailable"
	/** It was silent for too long, or took too long in all. */
	| "timeout"
	/** Its answer broke off. */
	| "cut"
	/** What it sent is no answer. */
	| "nonsense";

const sentences: Readonly<Record<AiErrorKind, string>> = {
	none: "I cannot answer: no AI provider is set up for me.",
	busy: "I am answering too many people at once. Please try again in a moment.",
	key: "I cannot answer: my AI provider does not accept my key. Please tell those who run me.",
	limited: "My AI provider is asked too much at the moment.",
	refused: "My AI provider does not want to answer this.",
	rejected:
		"My AI provider cannot work with this request. It may be too long; if it is not, please tell those who run me.",
	unavailable:
		"My AI provider cannot be reached at the moment. Please try again later.",
	timeout: "My AI provider took too long. Please try again later.",
	cut: "My AI provider broke off. Please try again.",
	nonsense:
		"My AI provider sent something that is no answer. Please try again later.",
};

export interface AiErrorDetails {
	/** Why, for an operator: words of ours alone, never a provider's, which may quote what it was sent. */
	detail?: string;
	/** When to ask again, as the provider says. */
	retryAfterMs?: number | undefined;
	/** Whether pieces of an answer had come before. */
	midway?: boolean;
	cause?: unknown;
}

/** No answer, or no whole one. The message is for people. */
export class AiError extends Error {
	override name = "AiError";

	constructor(
		readonly kind: AiErrorKind,
		readonly details: AiErrorDetails = {},
	) {
		const { midway, retryAfterMs, cause } = details;
		const again =
			kind === "limited" ? ` Please try again ${when(retryAfterMs)}.` : "";
		super(
			`${midway ? "The answer broke off here. " : ""}${sentences[kind]}${again}`,
			{ cause },
		);
	}

	/** Pieces of an answer came before: what the caller has of it is all there will be. */
	get midway(): boolean {
		return this.details.midway ?? false;
	}

	get retryAfterMs(): number | undefined {
		return this.details.retryAfterMs;
	}
}

function when(ms: number | undefined): string {
	if (ms === undefined) return "later";
	const seconds = Math.max(1, Math.ceil(ms / 1_000));
	if (seconds === 1) return "in a second";
	if (seconds <= 90) return `in ${seconds} seconds`;
	return `in ${Math.ceil(seconds / 60)} minutes`;
}
