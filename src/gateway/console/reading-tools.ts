// Trying tools in the console: only tools that read, and with the rights of the viewer.

import { isObject, type JsonObject, parseJson } from "../../lib/json.ts";
import type { Principal } from "../../lib/principal.ts";
import type { Signal } from "../../lib/signal.ts";
import { pendingApproval } from "../../mcp/approval.ts";
import { parseMessage, RpcError } from "../../mcp/json-rpc.ts";
import { adviceKey, textOf } from "../../mcp/tool.ts";
import type { Calls } from "../calls/calls.ts";
import type { RecentCalls } from "../calls/recent-calls.ts";
import { listInstances } from "../catalog/catalog.ts";
import type { Catalogs } from "../catalog/catalogs.ts";
import { ConsoleError, readJson } from "./respond.ts";
import type { Viewer } from "./viewer.ts";

export interface ReadingToolsOptions {
	catalogs: Catalogs;
	calls: Calls;
	recent: RecentCalls;
}

/** Only tools that read. `onStep` gets what a long call reports. */
export function createReadingTools(options: ReadingToolsOptions, onStep: (viewer: Viewer, step: string) => void) {
	const { catalogs } = options;

	async function listFor({ reader }: Viewer) {
		const { catalog, views } = await catalogs.see(reader);
		const all = views.map(({ name }) => name);
		const { tools } = JSON.parse(catalog.list) as { tools: JsonObject[] };
		return tools
			.filter(({ annotations }) => isObject(annotations) && annotations.readOnlyHint === true)
			.map(({ name, title, description, inputSchema }) => ({
				name,
				title: title ?? name,
				description: description ?? "",
				inputSchema,
				instances: all.filter(
					(instance) =>
						name === listInstances.name || catalog.offers.get(instance)?.tools.some((one) => one.name === name),
				),
			}));
	}

	return {
		async list(_: Request, viewer: Viewer) {
			return { tools: await listFor(viewer) };
		},
		async call(request: Request, viewer: Viewer) {
			const { name, arguments: args = {} } = await readJson(request);
			if (typeof name !== "string" || !isObject(args))
				throw new ConsoleError("invalid", "Send the name of a tool and its arguments.");
			const tools = await listFor(viewer);
			if (!tools.some((tool) => tool.name === name))
				throw new ConsoleError("not_found", "No read-only tool has this name.");
			const notify = (event: string) => {
				const { message } = Object(Object(parseJson(event)).params);
				if (typeof message === "string") onStep(viewer, message);
			};
			return await callTool(options, viewer.reader, { name, arguments: args }, request.signal, notify);
		},
	};
}

/** `principal`: an object of this request alone. Rejects with a ConsoleError for an invalid call. */
export async function callTool(
	{ calls, recent }: Pick<ReadingToolsOptions, "calls" | "recent">,
	principal: Principal,
	params: { name: string; arguments: JsonObject },
	signal: Signal,
	notify?: (event: string) => void,
) {
	const given = { ...params, _meta: { progressToken: 1 } };
	const request = parseMessage(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: given }));
	if (request.kind !== "request") throw new Error("not a request");
	const caller = {
		// With this the response is JSON text.
		modern: true,
		session: undefined,
		signal,
		notify,
		principal,
		elicits: false,
		requestId: undefined,
	};
	const response = await calls.call(request, caller).catch((error) => {
		if (error instanceof RpcError) throw new ConsoleError("invalid", error.message);
		throw error;
	});
	if (response.kind !== "text") throw new Error("not a text");
	const answer = Object(parseJson(response.text)) as JsonObject;
	const { result, error } = answer;
	const known = recent.of(principal);
	return {
		id: known?.id ?? null,
		outcome: known?.outcome ?? response.outcome,
		isError: response.outcome !== "done",
		isWaiting: pendingApproval(answer) !== undefined,
		/** An `Advice`, or undefined. */
		advice: Object(Object(result)._meta)[adviceKey],
		text: isObject(error) ? String(error.message) : textOf(result),
	};
}
