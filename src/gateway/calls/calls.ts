// Handles each `tools/call`: routing, forwarding, errors, its log line and its metrics.

import { type Deadlines, stopped, timeIsUp } from "../../lib/deadlines.ts";
import type { Log } from "../../lib/log.ts";
import { Overloaded } from "../../lib/semaphore.ts";
import type { Signal } from "../../lib/signal.ts";
import { shownName } from "../../lib/text.ts";
import type { TraceContext } from "../../lib/trace-context.ts";
import { pendingApproval } from "../../mcp/approval.ts";
import { ClientError, type ClientResponse, withId } from "../../mcp/client.ts";
import { isObject, type JsonObject, RpcError, type RpcRequest, type RpcResponse } from "../../mcp/json-rpc.ts";
import { findMember, readMembers } from "../../mcp/json-text.ts";
import { type Caller, toolResponse, withMembers } from "../../mcp/server.ts";
import { errorResult, readToolCall, textResult } from "../../mcp/tool.ts";
import type { Backend } from "../backends/backend.ts";
import type { ClientNames } from "../callers/client-names.ts";
import { accessNote } from "../callers/instructions.ts";
import type { Views } from "../callers/views.ts";
import { type Catalog, listInstances } from "../catalog/catalog.ts";
import type { See } from "../catalog/scoped-catalogs.ts";
import { describeInstances } from "../catalog/status.ts";
import type { GatewayConfig } from "../config/config.ts";
import { RouteError, type RouteErrorKind } from "../routing/routing.ts";
import type { FindTarget } from "../routing/target.ts";
import { type ApprovalTiming, afterApproval } from "./approvals.ts";
import { forwardedParams } from "./forward.ts";
import { type CallOutcome, type GatewayMetrics, outcomeOf } from "./metrics.ts";
import { type CallRecord, describePrincipal, type RecentCalls } from "./recent-calls.ts";
import type { Withdrawals } from "./withdrawals.ts";

export interface CallsOptions {
	config: GatewayConfig;
	backends: readonly Backend[];
	findTarget: FindTarget;
	views: Views;
	/** Returns the bots that a principal (caller) may see, and the tools that these bots list for it. */
	see: See;
	catalog(): Catalog;
	metrics: GatewayMetrics;
	log: Log;
	/** Aborts calls to bots when their timeout ends, when the client cancels them, and at shutdown. */
	deadlines: Deadlines;
	/** How long a tool call that needs a person's approval waits for the decision. */
	approvals: ApprovalTiming;
	clientNames: ClientNames;
	/** Keeps the finished tool calls for the console. */
	recent: RecentCalls;
	/** Withdraws waiting calls of ended keys and connections. Undefined without a database. */
	withdrawals: Withdrawals | undefined;
}

interface OpenCall extends CallRecord {
	backend: Backend | undefined;
}

const troubles = new Set<CallOutcome>(Object.values(outcomeOf));
troubles.delete("not_routed");

/**
 * Creates the function that handles `tools/call` requests of MCP clients. The function rejects with an RpcError for
 * an invalid call.
 */
export function createCalls(options: CallsOptions): (request: RpcRequest, caller: Caller) => Promise<RpcResponse> {
	const { config, backends, findTarget, catalog, metrics, log, deadlines } = options;
	const { approvals, views, see, recent, clientNames } = options;
	// A part of each request id that differs after each restart.
	const run = Math.random().toString(36).slice(2, 6);
	let count = 0;

	function failed(error: unknown, request: RpcRequest, caller: Caller, record: OpenCall, signal: Signal): RpcResponse {
		noteWaiting(record);
		if (caller.signal?.aborted && !(error instanceof RpcError)) {
			record.outcome = "given_up";
			// The client has disconnected and does not read this.
			return failure(request, caller, "The client disconnected.");
		}
		const routed = errorOf(error, record, signal);
		if (!(routed instanceof RouteError)) throw routed;
		record.outcome = outcomeOf[routed.kind];
		return failure(request, caller, routed.message);
	}

	function errorOf(error: unknown, { backend, tool, principal }: OpenCall, { reason: ended }: Signal): unknown {
		const instance = backend?.name ?? "";
		const routeError = (kind: RouteErrorKind, detail: string) =>
			new RouteError(kind, detail, principal ? views.now(principal) : backends);
		if (error instanceof Overloaded) {
			const busy = `${instance} is busy with other tool calls (${error.message}); nothing was done. Try again in a few seconds.`;
			return routeError("Overloaded", busy);
		}
		// Its deadline passed while it was still queued here.
		const waiting = error === ended;
		if (!(error instanceof ClientError) && !waiting) return error;
		const reason =
			ended === timeIsUp
				? `no answer within ${config.callTimeoutMs / 1000} s`
				: ended === stopped
					? "the gateway was stopped"
					: backend?.reasonOf(error);
		const reached = waiting ? "unsent" : (error as ClientError).reached;
		if (reached === "unsent") {
			const offline = `${instance} cannot be reached (${reason}); nothing was done. list_instances shows when it is online again.`;
			return routeError("BackendOffline", offline);
		}
		if (reached === "refused") {
			const refused = `${instance} refused the call (${reason}); nothing was done.`;
			return routeError("BackendError", refused);
		}
		if (backend?.isReadOnly(tool)) {
			const lost = `${instance} gave no answer to ${shownName(tool)} (${reason}). The tool only reads: nothing was changed. Try again.`;
			return routeError("NoAnswer", lost);
		}
		const unknown = `the outcome of ${shownName(tool)} on ${instance} is unknown: the call was sent, but no answer to it came back (${reason}). It may have been carried out. Before repeating it, check with a tool that reads whether its effect is there.`;
		return routeError("OutcomeUnknown", unknown);
	}

	function noteWaiting({ backend, principal }: OpenCall): void {
		if (!principal) return;
		backend?.noteWaiting(principal);
		options.withdrawals?.wake();
	}

	function note(record: OpenCall, seconds: number, trace: TraceContext | undefined): void {
		const { requestId, backend, outcome, principal } = record;
		record.ms = seconds * 1000;
		record.endedAt = Date.now();
		const known = catalog().names.has(record.tool);
		// The name of an unknown tool comes from the client and may be long or contain control characters.
		if (!known) record.tool = shownName(record.tool);
		recent.add(record);
		const instance = backend?.name ?? "";
		metrics.calls.add([instance, known ? record.tool : "other", outcome]);
		if (backend) metrics.callSeconds.observe([instance], seconds);
		if (outcome === "outcome_unknown") metrics.outcomeUnknown.add([instance]);
		log[troubles.has(outcome) ? "warn" : "info"]("MCP tool call finished", {
			request: requestId,
			trace: trace?.id,
			instance: backend?.name,
			tool: record.tool,
			outcome,
			ms: Math.round(seconds * 1000),
			...describePrincipal(principal),
		});
	}

	return async (request, caller) => {
		const from = performance.now();
		count++;
		const record: OpenCall = {
			requestId: `${run}-${count.toString(36)}`,
			tool: "",
			guild: undefined,
			backend: undefined,
			outcome: "invalid",
			principal: caller.principal,
			endedAt: 0,
			ms: 0,
		};
		const signal = deadlines.begin(caller.signal);
		try {
			// Before anything is read: it refuses duplicate keys, which parsers read in different ways.
			const params = forwardedParams(request);
			const { name, args } = readToolCall(request.params);
			record.tool = name;
			record.guild = guildOf(args);
			if (name === listInstances.name) {
				const { principal } = caller;
				const seen = principal && (await see(principal));
				const lines = await (seen
					? describeInstances(seen.views, () => seen.catalog)
					: describeInstances(backends, catalog));
				const limits = principal ? accessNote(config, principal) : "";
				if (limits !== "") lines.push(limits);
				record.outcome = "ok";
				return toolResponse(request.id, caller, textResult(lines), "ok");
			}
			const found = findTarget(args, signal, caller.principal);
			const backend = found instanceof Promise ? await found : found;
			record.backend = backend;
			const { requestId } = record;
			const response = await backend.call(
				{
					method: "tools/call",
					tool: name,
					params,
					requestId,
					principal: caller.principal,
					client: clientNames.of(caller, request.params),
					trace: caller.trace,
					elicits: caller.elicits,
				},
				signal,
			);
			if (!response.event && pendingApproval(response.message) !== undefined) {
				recent.approvalChanges++;
				noteWaiting(record);
			}
			// An event that was not parsed has no `_meta`.
			const final = response.event
				? response
				: await afterApproval(response, backend, caller.principal, signal, approvals);
			return forwarded(request, caller, final, record);
		} catch (error) {
			return failed(error, request, caller, record, signal);
		} finally {
			deadlines.end(signal);
			note(record, (performance.now() - from) / 1000, caller.trace);
		}
	};
}

function guildOf({ guild_id }: JsonObject): string | undefined {
	return typeof guild_id === "string" && guild_id.length <= 20 ? guild_id : undefined;
}

/** Returns the bot's response to a tool call, with the id of the client's request and otherwise unchanged. */
function forwarded(request: RpcRequest, caller: Caller, response: ClientResponse, record: OpenCall): RpcResponse {
	const headers = record.backend?.responseHeaders ?? {};
	if (response.event && !caller.modern) {
		const { event } = response;
		const outcome = event.isError ? "tool_error" : "ok";
		record.outcome = outcome;
		return { kind: "event", event: event.withId(request.id), outcome, headers };
	}
	const { text, message } = response;
	const code = isObject(message.error) && message.error.code;
	const isError = isObject(message.result) && message.result.isError === true;
	const failed = "error" in message && !("result" in message);
	const outcome = failed ? "rpc_error" : isError ? "tool_error" : "ok";
	record.outcome = outcome;
	const given = withId(text, request.id);
	return {
		kind: "text",
		text: caller.modern ? completed(given) : given,
		outcome,
		headers,
		...(typeof code === "number" && { errorCode: code }),
	};
}

function failure({ id }: RpcRequest, caller: Caller, message: string) {
	return toolResponse(id, caller, errorResult(message), "tool_error");
}

/**
 * Adds `resultType` to the JSON text of a tool call's response if it is missing. The stateless revision of MCP
 * requires it.
 */
function completed(response: string): string {
	const result = findMember(readMembers(response), "result");
	if (!result) return response;
	const text = response.slice(result.start, result.end);
	if (!text.startsWith("{") || findMember(readMembers(text), "resultType")) return response;
	const changed = withMembers({ resultType: "complete" }, text);
	return response.slice(0, result.start) + changed + response.slice(result.end);
}
