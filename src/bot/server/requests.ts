// How the bot takes MCP requests: a call waits for the first login to Discord, names in it become ids, and it is counted,
// logged and recorded. Of its arguments, only the guild id is logged, and only redacted values are audited.

import type { JsonObject } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import type { Principal } from "../../lib/principal.ts";
import { shownName } from "../../lib/text.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { raceSignal, within } from "../../lib/wait.ts";
import { consoleMethods } from "../../mcp/console.ts";
import { errorCode, type RpcRequest, type RpcResponse } from "../../mcp/json-rpc.ts";
import { modernClientName } from "../../mcp/modern.ts";
import { rightsMethod } from "../../mcp/rights.ts";
import { type Caller, countedMethod, failed, type Selection, type Server, toolResponse } from "../../mcp/server.ts";
import { errorResult, textIn } from "../../mcp/tool.ts";
import { ownGuildId } from "../tool/admission.ts";
import { type AuditedCall, callFacts } from "../tool/audit.ts";
import type { BotContext } from "../tool/context.ts";
import { idsFor, resolveOrUnknown } from "../tool/named-calls.ts";
import type { BotMetrics } from "./metrics.ts";

const startDefaults = { maxWaitMs: 5_000, startMs: 10_000 };

export type StartLimits = typeof startDefaults;

interface ReceiverOptions {
	/** `set` finds the tool as the MCP server does; `context` has the guild of calls without `guild_id`. */
	select(principal: Principal | undefined): Selection<BotContext>;
	/** Settles when the first login has succeeded or failed. */
	login: Promise<unknown>;
	start?: StartLimits | undefined;
	metrics: BotMetrics;
	log: Log;
	audit(call: AuditedCall): void;
	/** By approval, given the JSON-RPC response. If true, `audit` is not called. */
	isRecorded?: ((text: string) => boolean) | undefined;
}

interface Receiver extends Server {
	readonly callsInFlight: number;
	/** From now on calls and new sessions are refused. Resolves when none is in flight. */
	drain(): Promise<void>;
}

/** Counts every request; logs every tool call and every refused request. */
export function receiveRequests(server: Server, options: ReceiverOptions): Receiver {
	const { select, metrics, log, audit, isRecorded } = options;
	const untilLogin = loginGate(options.login, options.start);
	let callsInFlight = 0;
	let isDraining = false;
	let idle: PromiseWithResolvers<void> | undefined;

	async function handleCall(request: RpcRequest, originalCaller: Caller): Promise<RpcResponse> {
		const facts = callFacts(originalCaller);
		const caller = { ...withId(originalCaller), ...facts.hooks };
		const from = performance.now();
		callsInFlight += 1;
		await untilLogin(request, originalCaller);
		const selection = select(caller.principal);
		const { params, end } = await named(request, caller, selection);
		const response = end ?? (await facts.observe(() => server.handle({ ...request, params }, caller)));
		callsInFlight -= 1;
		if (callsInFlight === 0) {
			idle?.resolve();
			idle = undefined;
		}
		metrics.requests.add([countedMethod(request), response.outcome]);
		const ms = performance.now() - from;
		const { tool, args } = resolveOrUnknown(params, selection);
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
			outcome: response.outcome,
			code: response.errorCode,
			ms: Math.round(ms),
		});
		// Gateways refresh the guild list, without a request id. Nobody made these calls, so they are not audited.
		if (!originalCaller.requestId && tool?.name === "list_guilds") return response;
		if (response.kind === "text" && isRecorded?.(response.text)) return response;
		audit({
			at: new Date(Date.now() - ms),
			requestId: caller.requestId,
			client: caller.principal?.client ?? caller.session?.clientName ?? modernClientName(request.params) ?? "",
			principal: caller.principal,
			tool: toolName,
			guildId: guildIdOf(args) ?? ownGuildId(selection.context),
			...endOf(response, facts),
			milliseconds: ms,
			...recorded,
		});
		return response;
	}

	/** With ids in place of names. `end`: the call ends with it, such as with the candidates for an ambiguous name. */
	async function named(request: RpcRequest, caller: Caller, selection: Selection<BotContext>) {
		const { params } = request;
		try {
			return { params: await idsFor(params, caller, selection) };
		} catch (error) {
			if (!(error instanceof ToolError)) return { params, end: failed(error, request, caller, log) };
			return { params, end: toolResponse(request.id, caller, errorResult(error.message), "refused") };
		}
	}

	async function handleOther(request: RpcRequest, originalCaller: Caller): Promise<RpcResponse> {
		const caller = withId(originalCaller);
		await untilLogin(request, originalCaller);
		const response = await server.handle(request, caller);
		metrics.requests.add([countedMethod(request), response.outcome]);
		const level = response.errorCode === undefined ? "debug" : "info";
		log[level]("MCP request finished", {
			...callerFields(caller),
			method: countedMethod(request) === request.method ? request.method : quoteUnknownName(request.method),
			outcome: response.outcome,
			code: response.errorCode,
		});
		return response;
	}

	return {
		get callsInFlight() {
			return callsInFlight;
		},
		get isDraining() {
			return isDraining;
		},
		async drain() {
			isDraining = true;
			if (callsInFlight === 0) return;
			idle ??= Promise.withResolvers();
			await idle.promise;
		},
		handle: (request, caller) =>
			request.method === "tools/call" ? handleCall(request, caller) : handleOther(request, caller),
	};
}

/**
 * Within 10 s of the start, requests wait for `login`, at most 5 s each. Otherwise, calls that the gateway held during a
 * restart of the bot would fail.
 */
export function loginGate(login: Promise<unknown>, { maxWaitMs, startMs }: StartLimits = startDefaults) {
	let starting: Promise<unknown> | undefined = within(startMs, login)
		.catch(() => {})
		.finally(() => {
			starting = undefined;
		});
	return (request: RpcRequest, { requestId, signal }: Caller): Promise<unknown> | undefined => {
		if (!starting || !needsDiscord(request, requestId)) return undefined;
		const waited = within(maxWaitMs, starting);
		return signal ? raceSignal(waited, signal).catch(() => {}) : waited;
	};
}

function needsDiscord({ method, params: { name } }: RpcRequest, requestId: string | undefined): boolean {
	if (method === rightsMethod || method === consoleMethods.settings || method.startsWith("resources/")) return true;
	// A gateway that refreshes its list of guilds sends no request id and repeats the request soon. Its tools/list must
	// not wait for the login.
	const isRefresh = name === "list_guilds" && requestId === undefined;
	return method === "tools/call" && !isRefresh;
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

function quoteUnknownName(name: unknown): string {
	return typeof name === "string" ? shownName(name) : `a name of type ${typeof name}`;
}

function guildIdOf({ guild_id: id }: JsonObject): string | undefined {
	return typeof id === "string" && /^\d{17,20}$/.test(id) ? id : undefined;
}

function endOf(response: RpcResponse, facts: ReturnType<typeof callFacts>): Pick<AuditedCall, "outcome" | "answer"> {
	const { errorCode: code, outcome } = response;
	const answer = () => {
		const { result, error } = JSON.parse(response.kind === "text" ? response.text : "{}");
		return error ? String(error.message) : textIn(JSON.stringify(result ?? {}));
	};
	if (outcome === "rpc_error") return { outcome: code === errorCode.internal ? "error" : "refused", answer };
	return { outcome: facts.endOf(outcome), answer };
}
