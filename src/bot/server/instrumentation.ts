// Wraps the MCP server with metrics, logs and the audit log. Of a call's arguments, only the guild id is logged, and only
// redacted values are audited.

import { isObject, type JsonObject } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import type { Principal } from "../../lib/principal.ts";
import { quoted } from "../../lib/text.ts";
import { errorCode, RpcError, type RpcRequest, type RpcResponse } from "../../mcp/json-rpc.ts";
import { modernClientName } from "../../mcp/modern.ts";
import { type Caller, countedMethod, type Server, type ToolSet } from "../../mcp/server.ts";
import { ownGuildId } from "../tool/admission.ts";
import type { AuditedCall } from "../tool/audit.ts";
import { callFacts } from "../tool/call-facts.ts";
import type { BotContext } from "../tool/context.ts";
import { redact } from "../tool/redact.ts";
import { isDryRun } from "../tool/toolsets.ts";
import type { BotMetrics } from "./metrics.ts";

interface ObserverOptions {
	/** `set` finds the tool as the MCP server does; `context` has the guild of calls without `guild_id`. */
	select(principal: Principal | undefined): {
		set: Pick<ToolSet<BotContext>, "resolve">;
		context: Parameters<typeof ownGuildId>[0];
	};
	metrics: BotMetrics;
	log: Log;
	audit(call: AuditedCall): void;
	/** By approval, given the JSON-RPC response. If true, `audit` is not called. */
	isRecorded?: ((text: string) => boolean) | undefined;
}

interface ObservedServer extends Server {
	readonly callsInFlight: number;
	idle(): Promise<void>;
}

/** Counts every request; logs every tool call and every refused request. */
export function observe(server: Server, { select, metrics, log, audit, isRecorded }: ObserverOptions): ObservedServer {
	let callsInFlight = 0;
	let idle: PromiseWithResolvers<void> | undefined;

	async function handleCall(request: RpcRequest, originalCaller: Caller): Promise<RpcResponse> {
		const facts = callFacts(originalCaller);
		let { params } = request;
		const onNamed = (named: JsonObject) => {
			params = named;
		};
		const caller = { ...withId(originalCaller), ...facts.hooks, onNamed };
		const from = performance.now();
		callsInFlight += 1;
		const response = await server.handle(request, caller);
		callsInFlight -= 1;
		if (callsInFlight === 0) {
			idle?.resolve();
			idle = undefined;
		}
		metrics.requests.add([countedMethod(request), response.outcome]);
		const ms = performance.now() - from;
		const { set, context } = select(caller.principal);
		const { tool, args } = resolveOrUnknown(params, set);
		const toolName = tool?.name ?? quoteUnknownName(request.params.name);
		const label = tool?.name ?? "other";
		const recorded = facts.recorded(tool, args);
		metrics.toolCalls.add([label, response.outcome]);
		metrics.toolCallSeconds.observe([label], ms / 1000);
		log.info("MCP tool call finished", {
			...callerFields(caller),
			tool: toolName,
			effect: recorded.effect,
			guild_id: guildIdOf(args),
			...responseFields(response),
			ms: Math.round(ms),
		});
		// Gateways refresh the guild list every few minutes, without a request id. These calls are not audited.
		const isRefresh = !originalCaller.requestId && tool?.name === "list_guilds";
		if (isRefresh && auditedOutcome(response) === "done") return response;
		if (response.kind === "text" && isRecorded?.(response.text)) return response;
		audit({
			at: new Date(Date.now() - ms),
			requestId: caller.requestId,
			client: caller.principal?.client ?? caller.session?.clientName ?? modernClientName(request.params) ?? "",
			principal: caller.principal,
			tool: toolName,
			guildId: guildIdOf(args) ?? ownGuildId(context),
			arguments: redact(tool?.listing.inputSchema ?? {}, {
				...args,
				...(tool && isDryRun(tool, args) && { dry_run: true }),
			}),
			outcome: auditedOutcome(response),
			milliseconds: ms,
			...recorded,
		});
		return response;
	}

	function resolveOrUnknown(params: JsonObject, { resolve }: Pick<ToolSet<BotContext>, "resolve">) {
		const args = isObject(params.arguments) ? params.arguments : {};
		const { name } = params;
		if (typeof name !== "string") return { tool: undefined, args };
		try {
			return resolve(name, args);
		} catch (error) {
			if (!(error instanceof RpcError)) throw error;
			return { tool: undefined, args };
		}
	}

	async function handleOther(request: RpcRequest, originalCaller: Caller): Promise<RpcResponse> {
		const caller = withId(originalCaller);
		const response = await server.handle(request, caller);
		metrics.requests.add([countedMethod(request), response.outcome]);
		const level = response.errorCode === undefined ? "debug" : "info";
		log[level]("MCP request finished", {
			...callerFields(caller),
			method: countedMethod(request) === request.method ? request.method : quoteUnknownName(request.method),
			...responseFields(response),
		});
		return response;
	}

	return {
		get callsInFlight() {
			return callsInFlight;
		},
		async idle() {
			if (callsInFlight === 0) return;
			idle ??= Promise.withResolvers();
			await idle.promise;
		},
		handle: (request, caller) =>
			request.method === "tools/call" ? handleCall(request, caller) : handleOther(request, caller),
	};
}

function withId(caller: Caller): Caller & { requestId: string } {
	return { ...caller, requestId: caller.requestId ?? crypto.randomUUID().slice(0, 8) };
}

function callerFields({ requestId, session, principal, trace }: Caller) {
	return {
		request: requestId,
		trace: trace?.id,
		client: principal?.client ?? session?.clientName,
		key: principal?.id,
		person: principal?.person?.id,
	};
}

function responseFields({ outcome, errorCode: code }: RpcResponse) {
	return { outcome, code };
}

function quoteUnknownName(name: unknown): string {
	return typeof name === "string" ? quoted(name) : `a name of type ${typeof name}`;
}

function guildIdOf({ guild_id: id }: JsonObject): string | undefined {
	return typeof id === "string" && /^\d{17,20}$/.test(id) ? id : undefined;
}

function auditedOutcome({ errorCode: code, outcome }: RpcResponse) {
	if (code === errorCode.internal) return "error";
	if (code !== undefined) return "refused";
	return outcome === "tool_error" ? "failed" : "done";
}
