// Reads the message in the body of a POST, for all revisions of MCP.

import { errorCode, invalidRequest, MalformedMessage, parseMessage, type RpcMessage } from "./json-rpc.ts";

/**
 * Seconds for which an HTTP connection may be silent, such as during a long tool call, before Bun closes it. It is the
 * longest limit that Bun supports.
 */
export const maxQuietSeconds = 255;

export interface ReadOptions {
	/**
	 * Maximum size of an HTTP request body in bytes. A longer body gets HTTP 413, even if the request has no
	 * Content-Length.
	 */
	maxBodyBytes: number;
	/** Milliseconds in which a request body has to arrive completely. Default: 10,000. */
	bodyTimeoutMs?: number;
}

/** The data of the error response to a refused POST request: HTTP status and JSON-RPC error. */
export class Refusal {
	readonly kind = "refusal";
	constructor(
		readonly status: number,
		readonly error: MalformedMessage,
	) {}
}

/**
 * Returns the data of an error response if a POST request's Content-Type is not JSON. Otherwise raises the connection's
 * idle timeout, so that Bun does not close the connection during a long tool call, and returns undefined.
 */
export function admit(request: Request, http: Bun.Server<undefined>): Refusal | undefined {
	if (!isJson(request.headers.get("content-type"))) return refusal(415, "Content-Type is not application/json");
	// Bun closes connections that are silent for 10 s, even during a slow tool. The new limit stays with the connection.
	// Without any, a connection whose client has vanished would stay open forever.
	http.timeout(request, maxQuietSeconds);
	return undefined;
}

/**
 * Parses the MCP message in the body of an HTTP request. If the body is incomplete, too long or invalid, returns the
 * data of an error response instead.
 */
export function readMessage(body: Uint8Array | "late" | "too long", maxBodyBytes: number): RpcMessage | Refusal {
	if (body === "late") return refusal(408, "the request body did not arrive in time");
	if (body === "too long") return refusal(413, `the request body is longer than ${maxBodyBytes} bytes`);
	try {
		return parseMessage(decodeUtf8(body));
	} catch (error) {
		if (error instanceof MalformedMessage) return new Refusal(400, error);
		throw error;
	}
}

/**
 * Returns the data of an error response with this HTTP status and a JSON-RPC error "Invalid request" that names the
 * problem.
 */
export function refusal(status: number, problem: string, id?: string): Refusal {
	return new Refusal(status, invalidRequest(problem, id));
}

/** Returns the X-Request-Id header of a request if it is safe to write to the log, otherwise undefined. */
export function requestIdIn(headers: Headers): string | undefined {
	const id = headers.get("x-request-id");
	return id !== null && /^[\w.:-]{1,64}$/.test(id) ? id : undefined;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decodeUtf8(body: Uint8Array): string {
	try {
		return utf8.decode(body);
	} catch {
		// The error of the decoder has no more details.
		throw new MalformedMessage(errorCode.parse, "Parse error");
	}
}

const jsonType = "application/json";

function isJson(contentType: string | null): boolean {
	if (contentType === null || contentType === jsonType) return true;
	const mediaType = contentType.split(";", 1)[0] ?? "";
	return mediaType.trim().toLowerCase() === jsonType;
}
