// HTTP routes for guild documents that are larger than the gateway's limit: POST /guild-document/export and so on, with JSON
// in and out. The caller has checked the Host header, the Origin and the token. Errors are JSON: {"error": "text"}.

import { isObject, type JsonObject } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import { type ListenOptions, maxQuietSeconds, methodNotAllowed, readBody } from "../../lib/program/listen.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { json } from "../../mcp/http-response.ts";

/** Such as `/guild-document/export`. */
export const routePrefix = "/guild-document/";

/** Bytes: enough for the largest picture in base64. */
const maxRequestBytes = 16 * 1024 * 1024;

const bodyTimeoutMs = 60_000;

const maxConcurrent = 4;

export interface DocumentRouteOptions {
	/** Undefined: there is no such request. */
	handle(name: string, input: unknown, signal: AbortSignal): Promise<unknown> | undefined;
	log: Log;
}

type Http = Parameters<ListenOptions["fetch"]>[1];

/** The paths begin with `routePrefix`. */
export function createDocumentRoute({ handle, log }: DocumentRouteOptions) {
	let running = 0;

	async function respond(path: string, request: Request): Promise<Response> {
		const body = await readBody(request, maxRequestBytes, bodyTimeoutMs);
		if (body === "too long") return refuse(413, `The request is larger than ${maxRequestBytes / 1024 / 1024} MiB.`);
		if (body === "late") return refuse(408, "The request body did not arrive in time.", { Connection: "close" });
		const input = parse(body);
		if (!input) return refuse(400, "The request body is not a JSON object.");
		const name = path.slice(routePrefix.length);
		try {
			const output = handle(name, input, request.signal);
			if (!output) return refuse(404, `The bot has no route ${path}.`);
			return json(200, JSON.stringify(await output), noStore);
		} catch (error) {
			if (error instanceof ToolError) return refuse(422, error.message);
			const fields = { request: name, error };
			log.error("could not handle a request to export, plan or change a guild: internal error", fields);
			return refuse(500, "Internal error: the log of the bot says why.");
		}
	}

	return async (request: Request, http: Http, path: string): Promise<Response> => {
		if (request.method !== "POST") return methodNotAllowed("POST");
		http.timeout(request, maxQuietSeconds);
		if (running >= maxConcurrent)
			return refuse(503, `The bot already carries out ${maxConcurrent} such requests. Try again in a moment.`);
		running += 1;
		try {
			return await respond(path, request);
		} finally {
			running -= 1;
		}
	};
}

const noStore = { "Cache-Control": "no-store" };
const utf8 = new TextDecoder("utf-8", { fatal: true });

function parse(body: Uint8Array): JsonObject | undefined {
	try {
		const value: unknown = JSON.parse(utf8.decode(body));
		return isObject(value) ? value : undefined;
	} catch {
		return undefined;
	}
}

function refuse(status: number, error: string, headers: Record<string, string> = {}): Response {
	return json(status, JSON.stringify({ error }), { ...noStore, ...headers });
}
