// What is counted, logged and kept of every MCP request, by wrapping the server that answers it. Of a call's arguments
// the log has the guild's id, and the audit what is no text.

import type { Log } from "../../lib/log.ts";
import { quoted } from "../../lib/text.ts";
import {
	errorCode,
	isObject,
	type JsonObject,
	type RpcRequest,
} from "../../mcp/json-rpc.ts";
import type { JsonSchema } from "../../mcp/json-schema.ts";
import { countRequest } from "../../mcp/metrics.ts";
import { modernClientName } from "../../mcp/modern.ts";
import {
	type Caller,
	countedMethod,
	type RpcResponse,
	type Server,
} from "../../mcp/server.ts";
import type { Tool } from "../../mcp/tool.ts";
import type { AuditedCall } from "../tool/audit.ts";
import type { BotContext } from "../tool/context.ts";
import { redact } from "../tool/redact.ts";
import type { BotMetrics } from "./metrics.ts";

export interface ObserverOptions {
	/** The tools that there are. */
	tools: readonly Tool<BotContext>[];
	/** The guild that a call means that names none. */
	guildId: string | undefined;
	metrics: BotMetrics;
	log: Log;
	/** Is told of every call that has ended; `changes`: it was to change something. */
	audit(call: AuditedCall, changes: boolean): void;
}

export interface ObservedServer extends Server {
	/** Tool calls that are being answered. */
	readonly callsInFlight: number;
}

/** `server`, with every request counted, and every tool call and every refusal logged under an id. */
export function observe(
	server: Server,
	{ tools, guildId, metrics, log, audit }: ObserverOptions,
): ObservedServer {
	const byName = new Map(
		tools.flatMap((tool) =>
			[tool.name, ...(tool.aliases ?? [])].map((name) => [name, tool] as const),
		),
	);
	let callsInFlight = 0;

	async function handleCall(
		request: RpcRequest,
		given: Caller,
	): Promise<RpcResponse> {
		const caller = withId(given);
		const from = performance.now();
		callsInFlight += 1;
		const answer = await server.handle(request, caller);
		callsInFlight -= 1;
		countRequest(metrics, request, answer);
		const ms = performance.now() - from;
		const { name } = request.params;
		const args = isObject(request.params.arguments)
			? request.params.arguments
			: {};
		const tool = typeof name === "string" ? byName.get(name) : undefined;
		const shown = tool?.name ?? unknownName(name);
		const label = tool?.name ?? "other";
		metrics.toolCalls.add([label, answer.outcome]);
		metrics.toolCallSeconds.observe([label], ms / 1000);
		log.info("call", {
			...whoAsked(caller),
			tool: shown,
			guild_id: namedGuild(args),
			...result(answer),
			ms: Math.round(ms),
		});
		// A gateway asks for the guilds every few minutes, and names every call that it passes on.
		const refreshes = !given.requestId && tool?.name === "list_guilds";
		if (refreshes && auditedOutcome(answer) === "done") return answer;
		audit(
			{
				at: new Date(Date.now() - ms),
				requestId: caller.requestId,
				client:
					caller.session?.clientName ?? modernClientName(request.params) ?? "",
				tool: shown,
				guildId: namedGuild(args) ?? guildId,
				arguments: redact(tool?.listing.inputSchema ?? {}, {
					...args,
					...(isDryRun(tool, args) && { dry_run: true }),
				}),
				outcome: auditedOutcome(answer),
				milliseconds: ms,
			},
			changes(tool, args),
		);
		return answer;
	}

	async function handleOther(
		request: RpcRequest,
		given: Caller,
	): Promise<RpcResponse> {
		const caller = withId(given);
		const answer = await server.handle(request, caller);
		countRequest(metrics, request, answer);
		const level = answer.errorCode === undefined ? "debug" : "info";
		log[level]("request", {
			...whoAsked(caller),
			method:
				countedMethod(request) === request.method
					? request.method
					: unknownName(request.method),
			...result(answer),
		});
		return answer;
	}

	return {
		get callsInFlight() {
			return callsInFlight;
		},
		handle: (request, caller) =>
			request.method === "tools/call"
				? handleCall(request, caller)
				: handleOther(request, caller),
	};
}

/** Whoever gives a request no id is given one for it. */
function withId(caller: Caller): Caller & { requestId: string } {
	return {
		...caller,
		requestId: caller.requestId ?? crypto.randomUUID().slice(0, 8),
	};
}

function whoAsked({ requestId, session }: Caller) {
	return { request: requestId, client: session?.clientName };
}

function result({ outcome, errorCode: code }: RpcResponse) {
	return { outcome, code };
}

/** What was called and does not exist, in quotation marks and not at any length. */
function unknownName(name: unknown): string {
	return typeof name === "string"
		? quoted(name)
		: `a name of type ${typeof name}`;
}

/** The guild that a call names, if it looks like one. */
function namedGuild({ guild_id: id }: JsonObject): string | undefined {
	return typeof id === "string" && /^\d{17,20}$/.test(id) ? id : undefined;
}

function auditedOutcome({ errorCode: code, outcome }: RpcResponse) {
	if (code === errorCode.internal) return "error";
	if (code !== undefined) return "refused";
	return outcome === "tool_error" ? "failed" : "done";
}

/** Whether a call is to change something. */
function changes(
	tool: Tool<BotContext> | undefined,
	args: JsonObject,
): boolean {
	if (!tool) return false;
	const { annotations } = tool.listing;
	const reads = isObject(annotations) && annotations.readOnlyHint === true;
	return !reads && !isDryRun(tool, args);
}

/** Whether a call is only to say what it would do, as some do unless they are told otherwise. */
function isDryRun(
	tool: Tool<BotContext> | undefined,
	args: JsonObject,
): boolean {
	const properties = tool?.listing.inputSchema.properties ?? {};
	const { dry_run } = properties as Record<string, JsonSchema>;
	return dry_run !== undefined && (args.dry_run ?? dry_run.default) === true;
}
