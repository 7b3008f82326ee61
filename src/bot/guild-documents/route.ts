// HTTP routes for guild documents that are larger than the gateway's limit: POST /guild-document/export and so on, with JSON
// in and out. The caller has checked the Host header, the Origin and the token. Errors are JSON: {"error": "text"}.

import { isObject, type JsonObject } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import { type ListenOptions, maxQuietSeconds, methodNotAllowed, readBody } from "../../lib/program/listen.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { json } from "../../mcp/http-response.ts";
import { type DocumentRequest, isDocumentRequest, maxRequestBytes, routePrefix } from "./request-schemas.ts";

const bodyTimeoutMs = 60_000;

const maxConcurrent = 4;

export interface DocumentRouteOptions {
	handle(name: DocumentRequest, input: unknown, signal: AbortSignal): Promise<unknown>;
	log: Log;
}

/** The paths begin with `routePrefix`. */
export function createDocumentRoute({
	handle,
	log,
}: DocumentRouteOptions): (
	request: Request,
	http: Parameters<ListenOptions["fetch"]>[1],
	path: string,
) => Promise<Response> {
	let running = 0;

	async function respond(name: DocumentRequest, request: Request): Promise<Response> {
		const body = await readBody(request, maxRequestBytes, bodyTimeoutMs);
		if (body === "too long") return refuse(413, `The request is larger than ${maxRequestBytes / 1024 / 1024} MiB.`);
		if (body === "late") return refuse(408, "The request body did not arrive in time.", { Connection: "close" });
		const input = parse(body);
		if (!input) return refuse(400, "The request body is not a JSON object.");
		try {
			const output = await handle(name, input, request.signal);
			return json(200, JSON.stringify(output), noStore);
		} catch (error) {
			if (error instanceof ToolError) return refuse(422, error.message);
			log.error("could not handle a request to export, plan or change a guild: internal error", {
				request: name,
				error,
			});
			return refuse(500, "Internal error: the log of the bot says why.");
		}
	}

	return async (request, http, path) => {
		const name = path.slice(routePrefix.length);
		if (!isDocumentRequest(name)) return refuse(404, `The bot has no route ${path}.`);
		if (request.method !== "POST") return methodNotAllowed("POST");
		// A web page can send other types without asking first.
		const type = request.headers.get("content-type")?.split(";", 1)[0];
		if (type?.trim().toLowerCase() !== "application/json") return refuse(415, "Content-Type is not application/json.");
		http.timeout(request, maxQuietSeconds);
		if (running >= maxConcurrent)
			return refuse(
				503,
				`The bot already carries out ${maxConcurrent} requests to export, plan or change guilds. Try again in a moment.`,
			);
		running += 1;
		try {
			return await respond(name, request);
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
