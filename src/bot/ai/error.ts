// Errors of AI providers, with messages for the people in chat.

/** Messages by kind. The kinds are label values of metrics. */
const sentences = {
	none: "I cannot answer: no AI provider is configured.",
	busy: "I am answering too many people at once. Please try again in a moment.",
	/** The key is invalid, or the account has no balance. */
	key: "I cannot answer: my AI provider does not accept my key. Please tell the people who run this bot.",
	limited: "My AI provider is limiting my requests at the moment.",
	/** The provider's content filter refused the request. */
	refused: "My AI provider does not want to answer this.",
	/** Invalid request: size, fields, or model name. */
	rejected:
		"My AI provider rejected this request. It may be too long; if it is not, please tell the people who run this bot.",
	unavailable:
		"My AI provider cannot be reached at the moment. Please try again later.",
	timeout: "My AI provider took too long. Please try again later.",
	cut: "My AI provider closed the connection. Please try again.",
	nonsense: "My AI provider sent an invalid response. Please try again later.",
} as const;

export type AiErrorKind = keyof typeof sentences;

export interface AiErrorDetails {
	/** For the operator. Never the provider's own text, which may quote the request. */
	detail?: string;
	/** The provider's Retry-After. */
	retryAfterMs?: number | undefined;
	/** Whether parts of the answer had arrived. */
	midway?: boolean;
	cause?: unknown;
}

/** No answer, or an incomplete one. `message` is for people in chat. */
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

	/** Whether parts of the answer had arrived. There will be no more. */
	get midway(): boolean {
		return this.details.midway ?? false;
	}
}

function when(ms: number | undefined): string {
	if (ms === undefined) return "later";
	const seconds = Math.max(1, Math.ceil(ms / 1_000));
	if (seconds === 1) return "in a second";
	if (seconds <= 90) return `in ${seconds} seconds`;
	return `in ${Math.ceil(seconds / 60)} minutes`;
}
