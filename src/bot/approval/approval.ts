// Approval: calls that change something run only when a person has approved them, in Discord or at the MCP client. It
// guards against a model's slip, not against a client: see SECURITY.md.

import type { Client } from "discord.js";
import type { JsonObject } from "../../lib/json.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { type ApprovalAnswer, approvalMethod } from "../../mcp/approval.ts";
import { errorCode, RpcError, type RpcRequest, type RpcResponse } from "../../mcp/json-rpc.ts";
import { modernClientName } from "../../mcp/modern.ts";
import { type Caller, type OtherMethod, type ToolSource, toolResponse } from "../../mcp/server.ts";
import { invalidParameters, outcomeIn, readToolCall } from "../../mcp/tool.ts";
import { approvalRows } from "../store/tables/approvals.ts";
import { createApprovalButtons } from "./approval-buttons.ts";
import { CallStopped } from "./call-preview.ts";
import { ClientApproval } from "./client-approval.ts";
import { createConsoleApprovals } from "./console-approvals.ts";
import { createDeciding } from "./deciding.ts";
import { idOf, needsApproval } from "./needs-approval.ts";
import { finalResult, pendingResult } from "./request-text.ts";
import { isAtConsole, type RequestedCall, Requests, type RequestsOptions } from "./requests.ts";

/** Default wait of an MCP client. Calls through a gateway do not wait: it asks later. */
const decisionWaitMs = 10_000;
const callTimeMs = 24_000;

export interface ApprovalOptions extends RequestsOptions {
	/** How long a call waits for the decision, in milliseconds. Default: 10 s. */
	waitMs?: number | undefined;
	/** The gateway may withdraw, list and decide. False without a token, where anyone could send such a request. */
	hasConsole?: boolean | undefined;
}

export type Approval = ReturnType<typeof createApproval>;

export function createApproval(options: ApprovalOptions) {
	const { rules, select, waitMs = decisionWaitMs } = options;
	const requests = new Requests(options);
	const deciding = createDeciding({ ...options, requests });
	const parts = { ...options, requests, deciding };
	const askClient = new ClientApproval(parts);

	async function requestApproval(call: RequestedCall, caller: Caller): Promise<string> {
		const from = performance.now();
		const row = await requests.request(call);
		if (typeof row === "string") return row;
		// A gateway asks with its method, so that the call holds nothing meanwhile.
		if (caller.principal) return pendingResult(row, isAtConsole(row) ? caller.principal.decidesAt : undefined);
		const spentMs = performance.now() - from;
		const ended = await requests.ended(row, Math.min(waitMs, callTimeMs - spentMs), caller.signal);
		return ended ? finalResult(ended) : pendingResult(row);
	}

	async function answer(
		request: RpcRequest,
		caller: Caller,
		call: Pick<RequestedCall, "tool" | "args" | "context">,
	): Promise<RpcResponse> {
		const requested: RequestedCall = {
			...call,
			signal: caller.signal,
			// The gateway's own session says nothing of the client behind it.
			client:
				(caller.principal
					? caller.principal.client
					: (caller.session?.clientName ?? modernClientName(request.params))) ?? "",
			requestId: caller.requestId,
		};
		const asksClient = rules.approval_by === "client" && caller.elicits;
		const result = await (asksClient
			? askClient.answer(request, caller, requested)
			: requestApproval(requested, caller));
		if (typeof result !== "string") return result;
		return toolResponse(request.id, caller, result, outcomeIn(result));
	}

	async function decisionOf(id: unknown, caller: Caller): Promise<ApprovalAnswer> {
		if (typeof id !== "string") throw invalidParameters(["id: expected a string"]);
		const own = { id, principal_id: idOf(caller.principal) };
		const [row] = await approvalRows.all(options.store.sql, own).catch((error) => {
			if (!(error instanceof ToolError)) throw error;
			throw new RpcError(errorCode.internal, error.message);
		});
		if (!row) throw invalidParameters(["id: there is no such request for approval"]);
		return row.ended_at === null ? { status: "pending" } : { status: "decided", result: JSON.parse(finalResult(row)) };
	}

	return {
		/** For calls that come from no MCP client. */
		needs: needsApproval.bind(undefined, rules),
		/** A request that was posted, or an error result as JSON. */
		request: (call: RequestedCall) => requests.request(call),
		/** Calls that need approval run only after it. */
		guard: (source: ToolSource): ToolSource => ({
			...source,
			async call(request, caller) {
				const { name, args: given } = readToolCall(request.params);
				const { set, context } = select(caller.principal);
				const { tool, args, refusal } = set.resolve(name, given);
				if (refusal !== undefined) return source.call(request, caller);
				const needs = (effect?: "destructive") => needsApproval(rules, tool, args, caller.principal, effect);
				const ask = () => answer(request, caller, { tool, args, context });
				if (needs()) return ask();
				if (!needs("destructive")) return source.call(request, caller);
				// What was asked about before must not run because it has become harmless: the answer may be no.
				if (request.params.requestState !== undefined) return ask();
				const stopped = new CallStopped();
				const onDestructive = () => {
					caller.onDestructive?.();
					throw stopped;
				};
				return source.call(request, { ...caller, onDestructive }).catch((error) => {
					if (error !== stopped) throw error;
					return ask();
				});
			},
		}),
		/** MCP methods: with one a gateway asks for the decision, the others are for its console. */
		methods: {
			[approvalMethod]: async ({ id }: JsonObject, caller: Caller) => JSON.stringify(await decisionOf(id, caller)),
			...(options.hasConsole && createConsoleApprovals(parts)),
		} as Readonly<Record<string, OtherMethod>>,
		components: [createApprovalButtons(parts)],
		attach: (client: Client) => requests.attach(client),
		start: () => requests.start(),
		/** Calls that wait for a decision respond at once. Call it before the MCP server is closed. */
		stop: () => requests.stop(),
		close: () => requests.close(),
	};
}
