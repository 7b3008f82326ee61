// Errors of AI providers, with messages for the people in chat.

const sentences = {
	none: "I cannot answer: no AI provider is configured.",
	busy: "I am answering too many people at once. Please try again in a moment.",
	key: "I cannot answer: my AI provider does not accept my key. Please tell the people who run this bot.",
	limited: "My AI provider is limiting my requests at the moment.",
	refused: "My AI provider does not want to answer this.",
	rejected:
		"My AI provider rejected this request. It may be too long; if it is not, please tell the people who run this bot.",
	unavailable: "My AI provider cannot be reached at the moment. Please try again later.",
	timeout: "My AI provider took too long. Please try again later.",
	cut: "My AI provider closed the connection. Please try again.",
	nonsense: "My AI provider sent an invalid response. Please try again later.",
} as const;

export type AiErrorKind = keyof typeof sentences;

interface AiErrorDetails {
	/** For the operator. Never contains the provider's own text, which may quote the request. */
	detail?: string;
	/** Milliseconds until a new try, from the Retry-After header or the bot's own cooldown for the provider. */
	retryAfterMs?: number | undefined;
	midway?: boolean;
	cause?: unknown;
}

/** An answer is missing or incomplete. `message` is what the bot shows to people in the chat. */
export class AiError extends Error {
	override name = "AiError";

	constructor(
		readonly kind: AiErrorKind,
		readonly details: AiErrorDetails = {},
	) {
		const { midway, retryAfterMs, cause } = details;
		const again = kind === "limited" ? ` Please try again ${when(retryAfterMs)}.` : "";
		super(`${midway ? "The answer broke off here. " : ""}${sentences[kind]}${again}`, { cause });
	}

	/** Whether part of the AI's answer had arrived before the error. The rest of the answer will not arrive. */
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
