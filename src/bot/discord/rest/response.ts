// What Discord's API answered, before discord.js sees it. An answer has a limited size, an error is a JSON object with a
// code and a message, and a 429 says how long to wait. Anything else comes from something in front of the API, such as
// Cloudflare. https://docs.discord.com/developers/topics/rate-limits#exceeding-a-rate-limit

import { DiscordAPIError, type DiscordErrorData } from "discord.js";
import { parseJson } from "../../../lib/json.ts";
import { isObject } from "../../../mcp/json-rpc.ts";

/** A page of 100 long messages, each forwarding another, stays below this. */
const maxBytes = 16 * 1024 * 1024;

/** An answer that discord.js cannot use, in words for a model; `message` starts with the status. */
export class UnusableAnswer extends Error {
	override name = "UnusableAnswer";
	constructor(
		readonly status: number,
		what: string,
	) {
		super(`${status} ${what}`);
	}
}

/** An answer that is not the API's: whatever blocks or replaces the API will answer the next request the same way. */
export class ForeignAnswer extends UnusableAnswer {
	override name = "ForeignAnswer";
	/** For how long the bot sends nothing because of it. */
	pauseMs = 0;

	constructor(
		status: number,
		what: string,
		/** The pause that it asks for, if it does. */
		readonly retryAfterMs: number | undefined,
	) {
		super(status, what);
	}
}

/** An answer that has arrived in full. */
export interface Answer {
	readonly status: number;
	readonly statusText: string;
	readonly ok: boolean;
	readonly headers: Headers;
	readonly body: null;
	readonly bodyUsed: boolean;
	text(): Promise<string>;
	json(): Promise<unknown>;
	arrayBuffer(): Promise<ArrayBuffer>;
}

/** Reads a response to its end. Throws an UnusableAnswer for what is not an answer of Discord's API. */
export async function readAnswer(response: Response): Promise<Answer> {
	const { status } = response;
	if (status >= 300 && status < 400) {
		await response.body?.cancel();
		throw new UnusableAnswer(status, "and a redirect, which is not followed");
	}
	const bytes = await readAtMost(response);
	if (status < 400) {
		const headers = new Headers(response.headers);
		// discord.js reads JSON wherever the header says so, and fails on an answer that is empty by right.
		if (bytes.length === 0) headers.delete("content-type");
		return answerOf(response, headers, bytes);
	}

	const error = parseJson(bytes.toString());
	const headers = new Headers(response.headers);
	const retryAfter = secondsToWait(headers, error);
	const foreign = (what: string) =>
		new ForeignAnswer(
			status,
			what,
			retryAfter === undefined ? undefined : retryAfter * 1000,
		);
	if (!isObject(error))
		throw foreign(
			"without JSON: this comes from something in front of Discord's API, such as Cloudflare",
		);
	if (status === 429) {
		// A block of the bot's address, https://github.com/discord/discord-api-docs/issues/5810
		if (retryAfter === undefined)
			throw foreign(`without a time to wait: ${String(error.message)}`);
		// discord.js reads the headers alone, and repeats at once without them.
		headers.set("retry-after", String(retryAfter));
		if (error.global === true) headers.set("x-ratelimit-global", "true");
	}
	headers.set("content-type", "application/json");
	const shown = Buffer.from(JSON.stringify(readable(error, response)));
	return answerOf(response, headers, shown);
}

function answerOf(
	{ status, statusText, ok }: Response,
	headers: Headers,
	bytes: Buffer,
): Answer {
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
			throw new UnusableAnswer(status, "without valid JSON");
		},
		arrayBuffer: async () => new Uint8Array(bytes).buffer,
	};
}

/** The body. Its announced length is not that of what it unpacks to. */
async function readAtMost({ status, body }: Response): Promise<Buffer> {
	const chunks: Uint8Array[] = [];
	let length = 0;
	for await (const chunk of body ?? []) {
		length += chunk.length;
		if (length > maxBytes)
			throw new UnusableAnswer(
				status,
				`and more than ${maxBytes / 1024 / 1024} MiB, which is not read`,
			);
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}

/** The wait that a refusal asks for, in seconds: the header is rounded up, the field is not. */
function secondsToWait(headers: Headers, body: unknown): number | undefined {
	const field = isObject(body) ? body.retry_after : undefined;
	const named = ["retry-after", "x-ratelimit-reset-after"].map((name) =>
		headers.get(name)?.trim(),
	);
	const given = [field, ...named].filter((one) => one != null && one !== "");
	return given.map(Number).find((one) => Number.isFinite(one) && one >= 0);
}

/** An error as discord.js reads it: with a code, a message, and faults of fields that have the documented form. */
function readable(
	error: Record<string, unknown>,
	{ status, statusText }: Response,
): DiscordErrorData {
	const { code, message, errors } = error;
	const known = {
		code: typeof code === "number" ? code : 0,
		message:
			typeof message === "string" && message !== ""
				? message
				: `${status} ${statusText}`.trim(),
	};
	const full = { ...known, errors } as DiscordErrorData;
	try {
		new DiscordAPIError(full, known.code, status, "", "", {});
		return full;
	} catch {
		// What is wrong with which field is lost; that the request was refused is not.
		return known;
	}
}
