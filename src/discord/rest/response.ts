// Reads responses before discord.js sees them. What is not as Discord documents comes from something in front of its
// API, such as Cloudflare. https://docs.discord.com/developers/topics/rate-limits#exceeding-a-rate-limit

import { DiscordAPIError, type DiscordErrorData, type ResponseLike } from "discord.js";
import { isObject, parseJson } from "../../lib/json.ts";
import { bytesAtMost } from "../../lib/program/listen.ts";

const maxBytes = 16 * 1024 * 1024;

/** `message` starts with the HTTP status and is shown to AI models. */
export class UnusableResponse extends Error {
	override name = "UnusableResponse";
	constructor(
		readonly status: number,
		message: string,
	) {
		super(message);
	}
}

/** Of something in front of Discord's API. Later requests will probably fail, too. */
export class ForeignResponse extends UnusableResponse {
	override name = "ForeignResponse";
	/** How long all requests pause. */
	pauseMs = 0;

	constructor(
		status: number,
		message: string,
		readonly retryAfterMs: number | undefined,
	) {
		super(status, message);
	}
}

/** Throws an UnusableResponse if the response is not from Discord's API, a redirect, or too long. */
export async function readResponse(response: Response): Promise<ResponseLike> {
	const { status } = response;
	if (status >= 300 && status < 400) {
		await response.body?.cancel();
		throw new UnusableResponse(status, `the response (HTTP ${status}) is a redirect, which the bot does not follow`);
	}
	const bytes = await readAtMost(response);
	if (status < 400) {
		const headers = new Headers(response.headers);
		// discord.js parses JSON by this header and fails on a valid empty response.
		if (bytes.length === 0) headers.delete("content-type");
		return toApiResponse(response, headers, bytes);
	}

	const error = parseJson(bytes.toString());
	const headers = new Headers(response.headers);
	const retryAfter = retryAfterSeconds(headers, error);
	const foreign = (message: string) =>
		new ForeignResponse(status, message, retryAfter === undefined ? undefined : retryAfter * 1000);
	if (!isObject(error))
		throw foreign(
			`the response (HTTP ${status}) is not JSON: it comes from something in front of Discord's API, such as Cloudflare`,
		);
	if (status === 429) {
		// A block of the bot's address, https://github.com/discord/discord-api-docs/issues/5810
		if (retryAfter === undefined)
			throw foreign(
				`the response (HTTP ${status}) has no usable retry_after: ${error.message ? String(error.message) : "no message"}`,
			);
		// discord.js reads only the headers, and without them retries at once.
		headers.set("retry-after", String(retryAfter));
		if (error.global === true) headers.set("x-ratelimit-global", "true");
	}
	headers.set("content-type", "application/json");
	const body = Buffer.from(JSON.stringify(normalizeError(error, response)));
	return toApiResponse(response, headers, body);
}

function toApiResponse({ status, statusText, ok }: Response, headers: Headers, bytes: Buffer): ResponseLike {
	return {
		status,
		statusText,
		ok,
		headers,
		body: null,
		bodyUsed: false,
		text: async () => bytes.toString(),
		async json() {
			const value = parseJson(bytes.toString());
			if (value !== undefined) return value;
			throw new UnusableResponse(status, `the response (HTTP ${status}) is not valid JSON`);
		},
		arrayBuffer: async () => new Uint8Array(bytes).buffer,
	};
}

/** Content-Length is the compressed length. */
async function readAtMost({ status, body }: Response): Promise<Buffer> {
	const bytes = await bytesAtMost(body, maxBytes);
	if (bytes !== "too long") return bytes;
	throw new UnusableResponse(
		status,
		`the response (HTTP ${status}) is larger than ${maxBytes / 1024 / 1024} MiB, so the bot did not read it`,
	);
}

function retryAfterSeconds(headers: Headers, body: unknown) {
	const field = isObject(body) ? body.retry_after : undefined;
	const names = ["retry-after", "x-ratelimit-reset-after"];
	return [field, ...names.map((name) => headers.get(name)?.trim())]
		.filter((value) => value != null && value !== "")
		.map(Number)
		.find((value) => Number.isFinite(value) && value >= 0);
}

/** With those field errors that have the documented form. */
function normalizeError(error: Record<string, unknown>, { status, statusText }: Response): DiscordErrorData {
	const { code, message, errors } = error;
	const known = {
		code: typeof code === "number" ? code : 0,
		message: typeof message === "string" && message !== "" ? message : `${status} ${statusText}`.trim(),
	};
	const withFieldErrors = { ...known, errors } as DiscordErrorData;
	try {
		new DiscordAPIError(withFieldErrors, known.code, status, "", "", {});
		return withFieldErrors;
	} catch {
		// Drop the malformed field errors, keep the rest.
		return known;
	}
}
