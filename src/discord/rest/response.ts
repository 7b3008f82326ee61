// Reads responses before discord.js sees them. What is not as Discord documents comes from something in front of its
// API, such as Cloudflare. https://docs.discord.com/developers/topics/rate-limits#exceeding-a-rate-limit

import { DiscordAPIError, type DiscordErrorData, type ResponseLike } from "discord.js";
import * as v from "valibot";
import { isObject, parseJson } from "../../lib/json.ts";
import { bytesAtMost } from "../../lib/program/listen.ts";
import { mayBeEmpty, responseSchemas, searchRoute } from "./response-schemas.ts";

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

/** Throws an UnusableResponse if the response is not as Discord documents it. `method` and `path` are the request's. */
export async function readResponse(response: Response, method: string, path: string): Promise<ResponseLike> {
	const { status } = response;
	const unusable = (problem: string) => new UnusableResponse(status, `the response (HTTP ${status}) ${problem}`);
	if (status >= 300 && status < 400) {
		await response.body?.cancel();
		throw unusable("is a redirect, which the bot does not follow");
	}
	const bytes = await bytesAtMost(response.body, maxBytes);
	if (bytes === "too long") throw unusable(`is larger than ${maxBytes / 1024 / 1024} MiB, so the bot did not read it`);
	const value = parseJson(bytes.toString());
	const headers = new Headers(response.headers);
	const notJson = "is not JSON: it comes from something in front of Discord's API, such as Cloudflare";
	if (status < 400) {
		const isEmpty = bytes.length === 0;
		const problem =
			value === undefined && !isEmpty ? notJson : problemOf(`${method} ${routePattern(path)}`, status, value);
		if (problem !== undefined) throw unusable(problem);
		return toApiResponse(response, headers, value);
	}

	const retryAfter = retryAfterSeconds(headers, value);
	const foreign = (problem: string) =>
		new ForeignResponse(
			status,
			`the response (HTTP ${status}) ${problem}`,
			retryAfter === undefined ? undefined : retryAfter * 1000,
		);
	if (!isObject(value)) throw foreign(notJson);
	if (status === 429) {
		// A block of the bot's address, https://github.com/discord/discord-api-docs/issues/5810
		if (retryAfter === undefined)
			throw foreign(`has no usable retry_after: ${value.message ? String(value.message) : "no message"}`);
		// discord.js reads only the headers, and without them retries at once.
		headers.set("retry-after", String(retryAfter));
		if (value.global === true) headers.set("x-ratelimit-global", "true");
	}
	return toApiResponse(response, headers, normalizeError(value, response));
}

/** `value`: undefined for an empty body. discord.js parses JSON by the Content-Type, and fails on an empty body. */
function toApiResponse({ status, statusText, ok }: Response, headers: Headers, value: unknown): ResponseLike {
	if (value === undefined) headers.delete("content-type");
	else headers.set("content-type", "application/json");
	return {
		status,
		statusText,
		ok,
		headers,
		body: null,
		bodyUsed: false,
		text: async () => JSON.stringify(value) ?? "",
		json: async () => value,
		arrayBuffer: async () => new ArrayBuffer(0),
	};
}

function routePattern(path: string): string {
	return path
		.replace(/\/reactions\/.+$/, "/reactions/:emoji")
		.replace(/^(\/(?:webhooks|interactions)\/\d+)\/[^/]+/, "$1/:token")
		.replace(/^\/invites\/.+$/, "/invites/:code")
		.replace(/\/answers\/\d+$/, "/answers/:answer")
		.replaceAll(/\/\d{15,20}(?=\/|$)/g, "/:id");
}

/** Of a 2xx response: undefined if it is valid. `body`: undefined if empty. */
function problemOf(route: string, status: number, body: unknown): string | undefined {
	if (![200, 201, 204].includes(status) && route !== searchRoute)
		return "has a status that Discord does not document for this request";
	const schema = responseSchemas[route];
	if (!schema && !route.startsWith("GET ")) return undefined;
	if (status === 204 && mayBeEmpty.has(route)) return undefined;
	const withoutJson = "does not contain the documented JSON";
	if (body === undefined) return withoutJson;
	const { issues } = schema ? v.safeParse(schema, body, { abortEarly: true }) : {};
	if (!issues) return undefined;
	const at = v.getDotPath(issues[0]);
	return at === null ? withoutJson : `lacks the field "${at}", or has it in another form than Discord documents`;
}

function retryAfterSeconds(headers: Headers, body: unknown) {
	const field = isObject(body) ? body.retry_after : undefined;
	return [field, ...["retry-after", "x-ratelimit-reset-after"].map((name) => headers.get(name)?.trim())]
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
