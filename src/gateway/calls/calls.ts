// Handles each `tools/call`: routing, forwarding, errors, its log line and its metrics.

import { isObject, type JsonObject } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import { LruMap } from "../../lib/lru-map.ts";
import { type Access, neededAccess, type Principal, rootPrincipal } from "../../lib/principal.ts";
import { Overloaded } from "../../lib/semaphore.ts";
import { type Deadlines, type Signal, stopped, timeIsUp } from "../../lib/signal.ts";
import { shownName } from "../../lib/text.ts";
import { ToolError } from "../../lib/tool-error.ts";
import type { TraceContext } from "../../lib/trace-context.ts";
import { raceSignal } from "../../lib/wait.ts";
import { approvalOutcome, pendingApproval } from "../../mcp/approval.ts";
import { ClientError, type ClientResponse, withId } from "../../mcp/client.ts";
import type { FanOut, Source } from "../../mcp/fan-out.ts";
import { errorCode, RpcError, type RpcRequest, type RpcResponse } from "../../mcp/json-rpc.ts";
import { findMember, readMembers } from "../../mcp/json-text.ts";
import { clientName, modernClientName } from "../../mcp/modern.ts";
import { type Caller, toolCall, toolResponse, withMembers } from "../../mcp/server.ts";
import { errorResult, failureKey, readToolCall, type ToolCall, textResult } from "../../mcp/tool.ts";
import type { Backend, ForwardedCall } from "../backends/backend.ts";
import { shownGuildName } from "../backends/guilds.ts";
import { listInstances } from "../catalog/catalog.ts";
import type { Catalogs } from "../catalog/catalogs.ts";
import { describeInstances } from "../catalog/status.ts";
import type { GatewayConfig } from "../config/config.ts";
import { accessNote } from "../principals/instructions.ts";
import type { Views } from "../principals/views.ts";
import { RouteError, type RouteErrorKind, type Router, unknownGuild } from "../routing/routing.ts";
import { type ApprovalTiming, afterApproval } from "./approvals.ts";
import { type Answer, answerOf, combineAnswers, combineEqual, hasGuildIds, idIn, readGuildIds } from "./fan-out.ts";
import { forwardedParams } from "./forward.ts";
import { type CallOutcome, type GatewayMetrics, kinds, outcomeOf } from "./metrics.ts";
import { allOf, type ProgressTiming, relayProgress } from "./progress.ts";
import { type CallRecord, describePrincipal, type RecentCalls } from "./recent-calls.ts";
import type { Withdrawals } from "./withdrawals.ts";

interface CallsOptions {
	config: GatewayConfig;
	backends: readonly Backend[];
	router: Router;
	views: Views;
	catalogs: Catalogs;
	metrics: GatewayMetrics;
	log: Log;
	/** Aborts calls at a timeout, when the client cancels, and at shutdown. */
	deadlines: Deadlines;
	approvals: ApprovalTiming;
	progress: ProgressTiming;
	/** Resolves when the bots have been asked for the first time; undefined afterwards. */
	firstList(): Promise<unknown> | undefined;
	/** Undefined without a console. */
	recent: RecentCalls | undefined;
	/** Undefined without a database. */
	withdrawals: Withdrawals | undefined;
	/** The value of WWW-Authenticate for a call that needs this access. Undefined without sign-in. */
	stepUp: ((needed: Access, principal: Principal) => string) | undefined;
}

const maxPrincipals = 10_000;
const maxClients = 3;
const maxClientsLength = 200;

interface OpenCall extends CallRecord {
	backend: Backend | undefined;
	/** Arrival, in milliseconds of the monotonic clock. */
	from: number;
	/** Of a refusal that more access would lift. */
	challenge?: string | undefined;
}

const troubles = new Set<CallOutcome>(Object.values(outcomeOf).filter((one) => kinds.get(one) === "bad"));

export class Calls {
	/** Part of each request id; differs after each restart. */
	readonly #run = Math.random().toString(36).slice(2, 6);
	#count = 0;
	/** Names of the clients that have connected, by the id of a principal. */
	readonly #clients = new LruMap<string, string>(maxPrincipals);

	constructor(private readonly options: CallsOptions) {}

	/** With sessions, a client names itself only in `initialize`. Keeps all names: clients of one key look alike. */
	noteClient({ clientInfo }: JsonObject, { id } = rootPrincipal): void {
		const name = clientName(clientInfo);
		if (!name) return;
		const before = this.#clients.get(id)?.split(" or ") ?? [];
		const names = [name, ...before.filter((one) => one !== name)];
		this.#clients.set(id, names.slice(0, maxClients).join(" or ").slice(0, maxClientsLength));
	}

	/** Rejects with an RpcError for an invalid call. */
	async call(request: RpcRequest, caller: Caller): Promise<RpcResponse> {
		const from = performance.now();
		const { router, deadlines } = this.options;
		const { principal, notify } = caller;
		this.#count++;
		const requestId = `${this.#run}-${this.#count.toString(36)}`;
		const record: OpenCall = {
			requestId,
			tool: "",
			guild: undefined,
			backend: undefined,
			outcome: "invalid",
			error: undefined,
			parts: 0,
			principal,
			client: this.#clientOf(caller, request.params),
			from,
			endedAt: 0,
			ms: 0,
		};
		const signal = deadlines.begin(caller.signal);
		const progress = notify && relayProgress(notify, this.options.progress);
		try {
			// Before anything is read: it refuses duplicate keys, which parsers read in different ways.
			const params = forwardedParams(request, notify !== undefined);
			const { name, args } = readToolCall(request.params);
			record.tool = name;
			record.guild = guildOf(args);
			if (name === listInstances.name) {
				const lines = await this.#listInstances(principal);
				record.outcome = "done";
				return toolResponse(request.id, caller, textResult(lines), "done");
			}
			const { trace, elicits } = caller;
			const call: ForwardedCall = {
				method: "tools/call",
				tool: name,
				params,
				requestId,
				principal,
				client: record.client,
				trace,
				elicits,
				onNotification: progress?.relay,
			};
			if (args.guild_ids !== undefined || (!args.instance && !args.guild_id && this.#mayAskAll(name))) {
				const own = toolCall(request, { ...caller, notify: progress?.relay });
				const answer = await this.#fanOut(args, call, record, signal, own);
				if (answer) {
					const response = toolResponse(request.id, caller, answer.result, answer.isError ? "refused" : "done");
					return { ...response, challenge: record.challenge };
				}
			}
			const found = router.find(args, signal, principal);
			const backend = found instanceof Promise ? await found : found;
			record.backend = backend;
			const source = backend.tool(name)?.source;
			if (source && args[source.argument] != null)
				call.params = await this.#withSource(source, args, call, record, signal);
			if (backend.pins.barred.size > 0) this.#requireOwnGuilds(args, source, backend, principal);
			const response = await backend.call(call, signal);
			// An event that was not parsed has no `_meta`.
			const last = response.event ? response : await this.#afterApproval(response, record, backend, signal);
			if (last.event?.isError !== false && canStepUp(principal)) this.#noteChallenge([answerOf("", last)], record);
			return forwarded(request, caller, last, record);
		} catch (error) {
			return this.#failed(error, request, caller, record, signal);
		} finally {
			deadlines.end(signal);
			progress?.end();
			this.#note(record, caller.trace);
		}
	}

	async #listInstances(principal: Principal | undefined): Promise<string[]> {
		const { config, backends, catalogs } = this.options;
		if (!principal) return describeInstances(backends, () => catalogs.all, true);
		const { views, catalog } = await catalogs.see(principal);
		const lines = await describeInstances(views, () => catalog, false);
		const limits = accessNote(config, principal);
		return limits === "" ? lines : [...lines, limits];
	}

	/** Also while it is not known yet which tools the bots have. */
	#mayAskAll(tool: string): boolean {
		const { backends, firstList } = this.options;
		return firstList() !== undefined || backends.some((backend) => backend.tool(tool)?.everywhere);
	}

	/** One result of several calls, of a tool that is marked so; undefined for another call. */
	async #fanOut(args: JsonObject, call: ForwardedCall, record: OpenCall, signal: Signal, { reportProgress }: ToolCall) {
		const { backends, firstList } = this.options;
		const marked = (mark: keyof FanOut) => backends.filter((backend) => backend.tool(call.tool)?.[mark]);
		const mark = hasGuildIds(args) ? "guilds" : "everywhere";
		const starting = firstList();
		if (starting && marked(mark).length === 0) await raceSignal(starting, signal).catch(() => {});
		const answering = marked(mark);
		if (mark === "everywhere" && args.guild_ids !== undefined && marked("guilds").length > 0) {
			const { guild_ids: _, instance: __, ...rest } = args;
			call.params = JSON.stringify({ ...metaOf(call), name: call.tool, arguments: rest });
		}
		if (answering.length === 0 || (mark === "everywhere" && (args.instance || args.guild_id))) return undefined;
		const parts = await (mark === "guilds"
			? this.#callGuilds(args, call, record, signal)
			: this.#askAll(answering, call, record, signal));
		if (parts.length === 0) return undefined;
		const answers = await allOf(parts, reportProgress);
		if (canStepUp(record.principal)) this.#noteChallenge(answers, record);
		const answer = mark === "guilds" ? combineAnswers(answers) : combineEqual(answers);
		const isPartly = mark === "guilds" && !answer.isError && answers.some(({ isError }) => isError);
		record.outcome = isPartly ? "partly_done" : answer.isError ? "refused" : "done";
		if (answers.every(({ outcome }) => outcome)) record.outcome = answers[0]?.outcome ?? "refused";
		for (const one of ["waiting", "outcome_unknown"] as const)
			if (answers.some(({ outcome }) => outcome === one)) record.outcome = one;
		const lost = answers.filter(({ isError, outcome }) => isError && outcome);
		if (lost.length > 0) record.error = lost.map(({ from, text }) => `${from}: ${text}`).join("\n");
		record.parts = answers.length;
		return answer;
	}

	/** The parameters with the document of a guild of another bot, if the call names one. */
	async #withSource(source: Source, args: JsonObject, call: ForwardedCall, record: OpenCall, signal: Signal) {
		const { backend } = record;
		const given = args[source.argument];
		const asked: JsonObject = isObject(given) ? given : { guild_id: given };
		if (typeof asked.guild_id !== "string") return call.params;
		// Also for a guild of the same bot: it may be hidden from the caller.
		const other = await this.options.router.find({ guild_id: asked.guild_id }, signal, call.principal);
		if (other === backend) return call.params;
		const own = { ...record, backend: other, requestId: `${call.requestId}.0` };
		const asking: ForwardedCall = {
			...call,
			tool: source.tool,
			params: JSON.stringify({ name: source.tool, arguments: { ...picked(args, source.also), ...asked } }),
			requestId: own.requestId,
			elicits: false,
			onNotification: undefined,
		};
		const { text, isError, outcome } = await this.#answer(other.name, asking, own, signal);
		record.outcome = outcome ?? "refused";
		if (isError) throw new SourceError(`${source.argument}: ${other.name}: ${text}`);
		const { instance: _, ...rest } = args;
		return JSON.stringify({ name: call.tool, arguments: { ...rest, [source.argument]: { ...asked, document: text } } });
	}

	/**
	 * No argument may name a guild that is pinned to other bots, wherever it stands: some tools read a second guild, and some
	 * call other tools. What the gateway itself has fetched may.
	 */
	#requireOwnGuilds(args: JsonObject, source: Source | undefined, backend: Backend, principal: Principal | undefined) {
		const { [source?.argument ?? ""]: _, ...rest } = args;
		const id = idIn(rest, backend.pins.barred);
		if (id === undefined) return;
		if (principal) throw unknownGuild(id, this.options.views.now(principal));
		const text = `the guild ${id} is pinned to another instance, so ${backend.name} may not act in it. Nothing was done.`;
		throw new RouteError("GuildPinned", text, this.options.backends);
	}

	/** Each of these bots that the caller sees and that is online. */
	async #askAll(answering: readonly Backend[], call: ForwardedCall, record: OpenCall, signal: Signal) {
		const { principal } = call;
		const seen = (await this.options.views.load(principal, signal)).map(({ backend }) => backend);
		const asked = answering.filter((one) => (one.state.online || one.state.away) && seen.includes(one));
		const part = { ...call, onNotification: asked.length === 1 ? call.onNotification : undefined };
		return asked.map((backend) => this.#answer(backend.name, part, { ...record, backend }, signal));
	}

	#callGuilds(args: JsonObject, call: ForwardedCall, record: OpenCall, signal: Signal): Promise<Answer>[] {
		const { guild_ids: _, instance, ...rest } = args;
		const ids = readGuildIds(args);
		const [onNotification, meta] = ids.length === 1 ? [call.onNotification, metaOf(call)] : [];
		return ids.map(async (guild_id, at) => {
			const requestId = `${call.requestId}.${at + 1}`;
			const own = { ...record, requestId, guild: guild_id };
			try {
				const backend = await this.options.router.find({ instance, guild_id }, signal, call.principal);
				const params = JSON.stringify({ ...meta, name: call.tool, arguments: { ...rest, guild_id } });
				const from = `${shownGuildName(backend.guilds.get(guild_id) ?? "")} (ID: ${guild_id})`;
				const part = { ...call, params, requestId, elicits: false, onNotification };
				return await this.#answer(from, part, { ...own, backend }, signal);
			} catch (error) {
				if (!(error instanceof RouteError)) throw error;
				return this.#lost(`Guild ${shownName(guild_id)}`, error, own);
			}
		});
	}

	async #answer(
		from: string,
		call: ForwardedCall,
		record: OpenCall & { backend: Backend },
		signal: Signal,
	): Promise<Answer> {
		const { backend } = record;
		try {
			const response = await backend.call(call, signal);
			return answerOf(from, response.event ? response : await this.#afterApproval(response, record, backend, signal));
		} catch (error) {
			const routed = this.#errorOf(error, record, signal);
			if (!(routed instanceof RouteError)) throw routed;
			this.#noteWaiting(record);
			return this.#lost(from, routed, record);
		}
	}

	/** The answer of a part of a call for which there is none. */
	#lost(from: string, error: RouteError, part: OpenCall): Answer {
		part.outcome = outcomeAfter(error, part);
		part.error = error.message;
		part.endedAt = Date.now();
		part.ms = performance.now() - part.from;
		this.options.recent?.addPart(part);
		return { from, text: error.message, isError: true, outcome: part.outcome };
	}

	#afterApproval(response: ClientResponse, record: OpenCall, backend: Backend, signal: Signal) {
		const { recent, approvals } = this.options;
		if (pendingApproval(response.message) !== undefined) {
			if (recent) recent.approvalChanges++;
			this.#noteWaiting(record);
		}
		return afterApproval(response, backend, record.principal, signal, approvals);
	}

	/** If nothing was done, because the person has allowed the client too little. */
	#noteChallenge(answers: readonly Answer[], record: OpenCall): void {
		const { principal } = record;
		const [needed, ...others] = answers.map(({ text, isError }) => (isError ? neededAccess(text) : undefined));
		if (principal && needed && others.every((one) => one !== undefined))
			record.challenge = this.options.stepUp?.(needed, principal);
	}

	#clientOf({ modern, principal, headers }: Caller, params: JsonObject): string | undefined {
		if (principal?.client !== undefined) return principal.client;
		const named = modern ? modernClientName(params) : this.#clients.get((principal ?? rootPrincipal).id);
		return named ?? clientName({ name: headers?.get("user-agent") });
	}

	#failed(error: unknown, request: RpcRequest, caller: Caller, record: OpenCall, signal: Signal): RpcResponse {
		this.#noteWaiting(record);
		const fail = (outcome: CallOutcome, message: string) => {
			record.outcome = outcome;
			record.error = message;
			return toolResponse(request.id, caller, errorResult(message), "refused");
		};
		// The client has disconnected and does not read this.
		if (caller.signal?.aborted && !(error instanceof RpcError)) return fail("given_up", "The client disconnected.");
		if (error instanceof SourceError) return fail(record.outcome, error.message);
		const routed = this.#errorOf(error, record, signal);
		if (routed instanceof RouteError) return fail(outcomeAfter(routed, record), routed.message);
		if (routed instanceof RpcError) fail("invalid", routed.message);
		else fail("failed", "Internal error of the gateway; its log says more.");
		throw routed;
	}

	#errorOf(error: unknown, { backend, tool, principal }: OpenCall, { reason: ended }: Signal): unknown {
		const { config, views } = this.options;
		const instance = backend?.name ?? "";
		const routeError = (kind: RouteErrorKind, detail: string) => new RouteError(kind, detail, views.now(principal));
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
		if (reached === "refused")
			return routeError("BackendError", `${instance} refused the call (${reason}); nothing was done.`);
		if (backend?.isReadOnly(tool)) {
			const lost = `${instance} gave no answer to ${shownName(tool)} (${reason}). The tool only reads: nothing was changed. Try again.`;
			return routeError("NoAnswer", lost);
		}
		const unknown = `the outcome of ${shownName(tool)} on ${instance} is unknown: the call was sent, but no answer to it came back (${reason}). It may have been carried out. Before repeating it, check with a tool that reads whether its effect is there.`;
		return routeError("OutcomeUnknown", unknown);
	}

	#noteWaiting({ backend, principal }: OpenCall): void {
		if (!principal) return;
		backend?.noteWaiting(principal);
		this.options.withdrawals?.noteChange();
	}

	#note(record: OpenCall, trace: TraceContext | undefined): void {
		const { backends, recent, metrics, log } = this.options;
		const { requestId, tool, backend, outcome, principal } = record;
		record.ms = performance.now() - record.from;
		record.endedAt = Date.now();
		const isKnown =
			backend?.tool(tool) || tool === listInstances.name || backends.some((other) => other.tool(tool) !== undefined);
		// The name of an unknown tool comes from the client and may be long or contain control characters.
		if (!isKnown) record.tool = shownName(tool);
		recent?.add(record);
		const instance = backend?.name ?? "";
		metrics.calls.add([instance, isKnown ? tool : "other", outcome]);
		if (backend) metrics.callSeconds.observe([instance], record.ms / 1000);
		if (outcome === "outcome_unknown") metrics.outcomeUnknown.add([instance]);
		log[troubles.has(outcome) ? "warn" : "info"]("MCP tool call finished", {
			request: requestId,
			trace: trace?.id,
			instance: backend?.name,
			tool: record.tool,
			outcome,
			ms: Math.round(record.ms),
			...(principal && describePrincipal(principal)),
		});
	}
}

function outcomeAfter({ kind }: RouteError, { backend }: OpenCall): CallOutcome {
	const isStopped = kind === "BackendOffline" && backend?.health.process.halted === "stopped";
	return isStopped ? "stopped" : outcomeOf[kind];
}

/** By another consent of the person who has signed in. */
function canStepUp(principal: Principal | undefined): boolean {
	return principal?.access !== "all" && principal?.narrowed !== true && (principal?.id.startsWith("grant:") ?? false);
}

function picked(args: JsonObject, names: readonly string[] = []): JsonObject {
	return Object.fromEntries(names.flatMap((name) => (args[name] === undefined ? [] : [[name, args[name]]])));
}

const metaOf = ({ params }: Pick<ForwardedCall, "params">) => picked(JSON.parse(params), ["_meta"]);

/** Another bot did not give what a call needs from it. */
class SourceError extends ToolError {}

function guildOf({ guild_id }: JsonObject): string | undefined {
	return typeof guild_id === "string" && guild_id.length <= 20 ? guild_id : undefined;
}

/** With the id of the client's request, otherwise unchanged. */
function forwarded(request: RpcRequest, caller: Caller, response: ClientResponse, record: OpenCall): RpcResponse {
	const headers = record.backend?.responseHeaders ?? {};
	const { challenge } = record;
	if (response.event && !caller.modern && challenge === undefined) {
		const { event } = response;
		const outcome = event.isError ? "refused" : "done";
		record.outcome = outcome;
		return { kind: "event", event: event.withId(request.id), outcome, headers };
	}
	const { text, message } = response;
	const code = isObject(message.error) && message.error.code;
	const isError = isObject(message.result) && message.result.isError === true;
	const meta = isObject(message.result) && message.result._meta;
	const isRpcError = "error" in message && !("result" in message);
	const isFailure = isRpcError ? code === errorCode.internal : isError && isObject(meta) && meta[failureKey] === true;
	const outcome = isFailure ? "failed" : isRpcError ? "rpc_error" : isError ? "refused" : "done";
	record.outcome = approvalOutcome(message) ?? (outcome === "rpc_error" ? "refused" : outcome);
	const given = withId(text, request.id);
	return {
		kind: "text",
		text: caller.modern ? completed(given) : given,
		outcome,
		headers,
		challenge,
		...(typeof code === "number" && { errorCode: code }),
	};
}

/** The stateless revision of MCP requires `resultType`. */
function completed(response: string): string {
	const result = findMember(readMembers(response), "result");
	if (!result) return response;
	const text = response.slice(result.start, result.end);
	if (!text.startsWith("{") || findMember(readMembers(text), "resultType")) return response;
	const changed = withMembers({ resultType: "complete" }, text);
	return response.slice(0, result.start) + changed + response.slice(result.end);
}
