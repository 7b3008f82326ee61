// Reads the one message of a POST, the same for both eras.

import { readBody } from "../lib/body.ts";
import {
	errorCode,
	MalformedMessage,
	parseMessage,
	RpcError,
	type RpcMessage,
} from "./json-rpc.ts";

/** How long a call may be quiet, and a connection without one: the longest limit that Bun has, other than none. */
export const maxQuietSeconds = 255;

export interface ReadOptions {
	/** A longer body is refused with 413, whether or not its length was announced. */
	maxBodyBytes: number;
	/** How long a body may take to arrive. Default 10,000. */
	bodyTimeoutMs?: number;
}

/** A POST without a usable message, and how to answer it. */
export class Refusal {
	readonly kind = "refusal";

	constructor(
		readonly status: number,
		readonly error: RpcError,
		/** JSON text; "null" if none could be read. */
		readonly id = "null",
		/** Whether the connection has to be closed: the rest of the body may still come. */
		readonly closesConnection = false,
	) {}
}

export async function readMessage(
	request: Request,
	http: Bun.Server<undefined>,
	{ maxBodyBytes, bodyTimeoutMs = 10_000 }: ReadOptions,
): Promise<RpcMessage | Refusal> {
	if (!isJson(request.headers.get("content-type")))
		return new Refusal(
			415,
			invalidRequest("Content-Type is not application/json"),
		);
	// Bun closes connections that are quiet for 10 s, also during a slow tool. This holds for the connection from now on;
	// without an end, one whose client has vanished would stay for ever.
	http.timeout(request, maxQuietSeconds);
	const body = await readBody(request, {
		maxBytes: maxBodyBytes,
		timeoutMs: bodyTimeoutMs,
	});
	if (body === "late")
		return new Refusal(
			408,
			invalidRequest("the body came too slowly"),
			"null",
			true,
		);
	if (body === "too long")
		return new Refusal(
			413,
			invalidRequest(`the body is longer than ${maxBodyBytes} bytes`),
		);
	try {
		return parseMessage(decodeUtf8(body));
	} catch (error) {
		if (error instanceof MalformedMessage)
			return new Refusal(400, error, error.id);
		throw error;
	}
}

export function invalidRequest(problem: string): RpcError {
	return new RpcError(errorCode.invalidRequest, `Invalid request: ${problem}`);
}

/** The client's own id for this request, if it can stand in a log. */
export function requestIdIn(headers: Headers): string | undefined {
	const id = headers.get("x-request-id");
	return id !== null && /^[\w.:-]{1,64}$/.test(id) ? id : undefined;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decodeUtf8(body: Uint8Array): string {
	try {
		return utf8.decode(body);
	} catch {
		// The decoder's own message says no more than this.
		throw new MalformedMessage(errorCode.parse, "Parse error");
	}
}

/** A missing type counts as JSON: the simplest clients send none. */
function isJson(contentType: string | null): boolean {
	if (contentType === null) return true;
	const mediaType = contentType.split(";", 1)[0] ?? "";
	return mediaType.trim().toLowerCase() === "application/json";
}
