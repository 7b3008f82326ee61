// Approval by the person at the MCP client: the call is answered with a question, and repeated with the answer and its
// requestState. An answer is stored before the call runs, so each approval works once; before it, nothing is.
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import * as v from "valibot";
import type { Sql } from "../../lib/store/statement.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { inputRequired } from "../../mcp/elicitation.ts";
import type { RpcRequest, RpcResponse } from "../../mcp/json-rpc.ts";
import { type Caller, toolCall } from "../../mcp/server.ts";
import { errorResult, invalidParameters } from "../../mcp/tool.ts";
import { approvalRows, countDenials, loadSecret } from "../store/tables/approvals.ts";
import { StoreUnavailable } from "../store/unavailable.ts";
import { noPreview, type Preview } from "../tool/review.ts";
import { canonicalJson, digest, previewCall } from "./call-preview.ts";
import type { DecidingOptions } from "./deciding.ts";
import { idOf } from "./needs-approval.ts";
import { decisionIn, questionAbout, questionName } from "./question.ts";
import { deniedResult, finalResult, notBegunResult, tooLongText, usedResult } from "./request-text.ts";
import { guildIdOf, logFields, newId, type RequestedCall } from "./requests.ts";

/** For answering the question. */
const answerMs = 600_000;
/** Of one caller, within the time for an answer. A stored denial has up to 32 KB. */
const maxDenials = 10;

/** In a form that the MCP client shows (elicitation). */
export class ClientApproval {
	readonly #sql: Sql;
	readonly #now: () => number;
	#loading: Promise<string> | undefined;

	constructor(private readonly options: DecidingOptions) {
		this.#sql = options.store.sql;
		this.#now = options.now ?? Date.now;
	}

	/** Authenticates `requestState`; stored, so that it stays valid after a restart. */
	#loadKey(): Promise<string> {
		const load = () => loadSecret(this.#sql, "approval by the client", randomBytes(32).toString("hex"));
		this.#loading ??= load().catch((error) => {
			this.#loading = undefined;
			throw error;
		});
		return this.#loading;
	}

	#decidedRow(call: RequestedCall, { id, expiresAt, plan }: RequestState, state: "running" | "denied") {
		const at = this.#now();
		return this.options.requests.newRow(call, noPreview, {
			id,
			hash: plan,
			state,
			shown_state: state,
			created_at: expiresAt - answerMs,
			expires_at: expiresAt,
			decided_at: at,
			ended_at: state === "denied" ? at : null,
		});
	}

	/** An error result as JSON if the question is too long to be shown. */
	#ask(
		{ id: requestId }: RpcRequest,
		call: RequestedCall,
		key: string,
		{ id = newId(), preview }: { id?: string | undefined; preview: Preview },
		hasChanged = false,
	): RpcResponse | string {
		const expiresAt = this.#now() + answerMs;
		const row = this.options.requests.newRow(call, preview, { id, expires_at: expiresAt });
		const question = questionAbout(row, {
			botName: call.context.self.name,
			guildName: this.options.connection.guild(row.guild_id ?? "")?.name,
			hasChanged,
		});
		if (!question) return errorResult(tooLongText(row.tool));
		this.options.log.info("the person at the client is asked to approve a tool call", logFields(row));
		this.options.requests.note(row, hasChanged ? "asked again at the client" : "asked at the client");
		const state = { id, expiresAt, call: hashOfCall(call), plan: row.hash };
		return inputRequired(requestId, { [questionName]: question }, sealState(key, state));
	}

	async #deny(call: RequestedCall, state: RequestState, isCancelled: boolean): Promise<string> {
		const row = this.#decidedRow(call, state, "denied");
		const store = () => approvalRows.add(this.#sql, [row]);
		let isStored = true;
		try {
			isStored = await store();
		} catch (error) {
			if (!(error instanceof StoreUnavailable)) throw error;
			this.options.requests.withdraw(row.id, store);
		}
		if (!isStored) return usedResult(row);
		this.options.requests.settle(row);
		return deniedResult(row, isCancelled);
	}

	/** Asks again if the call would no longer do what the question showed. */
	async #run(
		request: RpcRequest,
		caller: Caller,
		call: RequestedCall,
		key: string,
		state: RequestState,
	): Promise<RpcResponse | string> {
		const { tool, args, context } = call;
		const row = this.#decidedRow(call, state, "running");
		const end = await this.options.requests.hold(row.id, () =>
			this.options.requests.carryOut(
				row,
				{ tool, args, context },
				{
					// False if it is stored already: an answer is used once.
					begin: (plan) => approvalRows.add(this.#sql, [{ ...row, plan }]),
					isStored: false,
					call: toolCall(request, caller),
				},
			),
		);
		if (end.kind === "ended") return finalResult(end.row);
		if (end.kind === "refused")
			// Such as by what the same approval has done meanwhile.
			return (await approvalRows.first(this.#sql, row)) ? usedResult(row) : end.result;
		if (end.kind === "changed") return this.#ask(request, call, key, { id: row.id, preview: end.changed }, true);
		if (!end.failure) return usedResult(row);
		const { message, mayHaveRun } = end.failure;
		if (!mayHaveRun) return notBegunResult(row, message);
		const result = notBegunResult(row, "The bot's database did not confirm it.");
		// It may be stored as running all the same.
		this.options.requests.withdraw(row.id, () => this.options.requests.end(row, ["running"], "failed", result));
		return result;
	}

	async #handle(request: RpcRequest, caller: Caller, call: RequestedCall): Promise<RpcResponse | string> {
		const key = await this.#loadKey();
		const { requestState } = request.params;
		const state = requestState === undefined ? undefined : readState(key, requestState, call);
		if (state) {
			const used = await approvalRows.first(this.#sql, state);
			if (used?.state === "unknown") return finalResult(used);
			if (used || this.options.requests.withdrawn.has(state.id))
				return usedResult({ id: state.id, tool: call.tool.name });
			if (state.expiresAt <= this.#now())
				return errorResult(
					`The question about ${call.tool.name} has expired: it had to be answered within 10 minutes. Nothing was done. Call again without requestState to ask anew.`,
				);
			const decision = decisionIn(request.params);
			if (decision === "approved") return this.#run(request, caller, call, key, state);
			if (decision) return this.#deny(call, state, decision === "cancelled");
		}
		const { tool, args, context, signal } = call;
		if ((await countDenials(this.#sql, idOf(context.principal), this.#now(), maxDenials)) >= maxDenials)
			return errorResult(
				`The person at the MCP client denied ${maxDenials} calls in the last 10 minutes, so ${tool.name} was not asked about, and not run. Do something else, or wait 10 minutes.`,
			);
		const preview = await previewCall(tool, args, context, signal);
		if ("result" in preview) return preview.result;
		return this.#ask(request, call, key, { id: state?.id, preview });
	}

	/** Rejects with an RpcError for an invalid call. */
	answer(request: RpcRequest, caller: Caller, call: RequestedCall): Promise<RpcResponse | string> {
		return this.#handle(request, caller, call).catch((error) => {
			if (!(error instanceof ToolError)) throw error;
			return notBegunResult({ tool: call.tool.name }, error.message);
		});
	}
}

function hashOfCall({ tool, args, context }: RequestedCall): string {
	const { principal } = context;
	const guildId = guildIdOf(tool, args, context) ?? null;
	const parts = [idOf(principal), principal?.person?.id ?? null, tool.name, guildId, canonicalJson(args)];
	return digest(parts);
}

function readState(key: string, given: unknown, call: RequestedCall): RequestState {
	const state = typeof given === "string" ? openState(key, given) : undefined;
	if (!state)
		throw invalidParameters([
			"requestState: it was not made by this bot, or was changed. Nothing was done. Call again without it",
		]);
	if (state.call !== hashOfCall(call))
		throw invalidParameters([
			"requestState: it belongs to another caller, tool, or other arguments. Nothing was done. Call again without it",
		]);
	return state;
}

/** Which call was asked about, and what was shown. The client can read it: it holds hashes only. */
const stateSchema = v.strictObject({
	id: v.pipe(v.string(), v.regex(/^[0-9a-f]{12}$/)),
	expiresAt: v.number(),
	call: v.string(),
	plan: v.string(),
});

type RequestState = v.InferOutput<typeof stateSchema>;

const maxStateLength = 2_000;

/** With a message authentication code, so that only holders of `key` can create it. */
function sealState(key: string, state: RequestState): string {
	const payload = Buffer.from(JSON.stringify(state)).toString("base64url");
	return `${payload}.${codeOf(key, payload)}`;
}

/** Undefined if it was not sealed with `key`. */
function openState(key: string, text: string): RequestState | undefined {
	if (text.length > maxStateLength) return undefined;
	const at = text.indexOf(".");
	const payload = text.slice(0, Math.max(at, 0));
	const given = Buffer.from(text.slice(at + 1));
	const expected = Buffer.from(codeOf(key, payload));
	if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
	const json: unknown = JSON.parse(Buffer.from(payload, "base64url").toString());
	const parsed = v.safeParse(stateSchema, json);
	return parsed.success ? parsed.output : undefined;
}

function codeOf(key: string, payload: string): string {
	return createHmac("sha256", key).update(`approval by the client: ${payload}`).digest("base64url");
}
