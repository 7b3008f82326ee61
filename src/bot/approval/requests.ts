// Requests for approval: stored, posted in Discord, decided there, and run. A request is a row before anything is posted,
// and each change of its state is one conditional statement, so an approved call runs at most once. What is left after a
// kill is found by a scan: a call that had begun is "unknown" and never runs again.

import { randomBytes } from "node:crypto";
import { type Client, DiscordAPIError, type SendableChannels } from "discord.js";
import { onSessionOrGuild } from "../../discord/connection/session-events.ts";
import { channelName } from "../../discord/describe.ts";
import { bitsIn, describeBits, missingPermissions } from "../../discord/permissions.ts";
import { toToolError } from "../../discord/rest/errors.ts";
import type { JsonObject } from "../../lib/json.ts";
import { type Principal, rootPrincipal } from "../../lib/principal.ts";
import type { Signal } from "../../lib/signal.ts";
import type { Sql } from "../../lib/store/statement.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { within } from "../../lib/wait.ts";
import { maxApprovalBytes } from "../../mcp/console.ts";
import { errorCode, RpcError } from "../../mcp/json-rpc.ts";
import type { Selection } from "../../mcp/server.ts";
import { errorResult, isErrorResult, type Tool, type ToolCall, textIn } from "../../mcp/tool.ts";
import { type Language, languageOf, render, type Said, said, type Text } from "../../texts/texts.ts";
import { forModels, forPeople } from "../results/result.ts";
import { Durable, type DurableOptions, NotNow } from "../store/durable.ts";
import type { Store } from "../store/store.ts";
import {
	type ApprovalRow,
	type ApprovalState,
	approvalRows,
	changeApproval,
	insertApproval,
	selectUnfinishedApprovals,
	withdrawApprovals,
} from "../store/tables/approvals.ts";
import { ignoreUnavailable, StoreUnavailable } from "../store/unavailable.ts";
import { ownGuildId, withPersonName } from "../tool/admission.ts";
import { type AuditedCall, callFacts } from "../tool/audit.ts";
import { type Ended, endOf, saidOf } from "../tool/call-as.ts";
import type { BotContext } from "../tool/context.ts";
import { resolveOrUnknown } from "../tool/named-calls.ts";
import { redact } from "../tool/redact.ts";
import type { Preview } from "../tool/review.ts";
import { toolTitle } from "../tool/titles.ts";
import { CallStopped, canonicalJson, digest, previewCall, quiet } from "./call-preview.ts";
import { type ApprovalRules, idOf } from "./needs-approval.ts";
import {
	endedMessage,
	namesHeading,
	needsFile,
	principalOf,
	replacedMessage,
	requestMessage,
	type ShownRequest,
	shownBytes,
} from "./request-message.ts";
import { notPostedResult, tooLongText, unknownResult } from "./request-text.ts";

/** Of one principal. */
const maxOpen = 10;
const expiryMs = 86_400_000;
const maxPostMs = 12_000;
/** Only for requests whose call has certainly changed nothing. */
const undecided = { state: "pending", decided_by: null, decided_at: null } as const;

export interface RequestsOptions
	extends Pick<DurableOptions, "log" | "backOffMs">,
		Pick<BotContext, "settings" | "connection"> {
	store: Pick<Store, "sql" | "transaction">;
	rules: ApprovalRules;
	/** What the principal may call, and the context for it. */
	select(principal: Principal | undefined): Selection<BotContext>;
	/** Also events of requests, in the log of tool calls. */
	record(call: AuditedCall): void;
	now?: () => number;
}

export interface RequestedCall {
	tool: Tool<BotContext>;
	args: JsonObject;
	context: BotContext;
	signal: Parameters<typeof previewCall>[3];
	/** Of the MCP client; "" if unknown. */
	client: string;
	requestId: string | undefined;
}

/** With a new token for the message that shows the plan. */
type ShownPlan = Pick<ApprovalRow, "plan" | "summary" | "hash" | "token">;

interface Execution {
	/** The last step before the call may change something. False: do not continue, such as if the approval was used. */
	begin(plan: string): Promise<boolean>;
	isStored: boolean;
	call: ToolCall;
	/** For the audit log; undefined if the user of the MCP client approved. */
	approvedBy?: string;
}

type CallEnd =
	/** Run, successfully or not. `result` (JSON) is being stored. */
	| { kind: "ended"; row: ApprovalRow; result: string; people: Said | undefined }
	/** Refused before anything was stored or changed. `result` is JSON. */
	| { kind: "refused"; result: string; people: Said | undefined }
	/** Not run, as it would do something else: `changed`. */
	| { kind: "changed"; changed: Preview }
	/** Not run: the start could not be stored (`failure`), or the approval is no longer valid. */
	| { kind: "not begun"; failure: StoreUnavailable | undefined };

/** For who decided. `people`: in Discord, instead of a message that quotes a result for models. */
export interface Answer {
	message: Said;
	people?: Said | undefined;
}

interface ResolvedCall {
	tool: Tool<BotContext> | undefined;
	refusal?: string | undefined;
	args: JsonObject;
	context: BotContext;
}

/** Only the person in whose name it is made, and the operator, decide on it, at the gateway's console. It is not posted. */
export const isAtConsole = ({ channel_id }: Pick<ApprovalRow, "channel_id">) => channel_id === "";

export class Requests {
	readonly #sql: Sql;
	readonly #now: () => number;
	readonly #work: Durable;
	#isStopped = false;
	/** Their calls must not be run any more, although this may not be stored yet. */
	readonly withdrawn = new Set<string>();
	readonly #endings = new Map<string, PromiseWithResolvers<ApprovalRow | undefined>>();
	#lastStatement = 0;

	constructor(private readonly options: RequestsOptions) {
		this.#sql = options.store.sql;
		this.#now = options.now ?? Date.now;
		this.#work = new Durable({
			...options,
			name: "requests for approval",
			maxConcurrent: 3,
			scan: async () => {
				const at = this.#now();
				return (await selectUnfinishedApprovals(this.#sql)).map((row) => ({
					key: row.id,
					inMs: row.state === "pending" && (row.message_id !== null || isAtConsole(row)) ? row.expires_at - at : 0,
					failure: "could not update a request for approval",
					fields: { approval: row.id },
					run: () => this.#advance(row),
				}));
			},
		});
	}

	/** For a request that this process is not handling. */
	async #advance(row: ApprovalRow): Promise<unknown> {
		const { id, state } = row;
		if (state === "approved") return changeApproval(this.#sql, row, undecided, ["approved"]);
		if (state === "running") return this.end(row, ["running"], "unknown", unknownResult);
		if (row.ended_at !== null) return this.#showEnd(row);
		if (row.expires_at <= this.#now()) return this.end(row, ["pending"], "expired", null);
		// It may have been posted since the scan.
		const { message_id = null } = (await approvalRows.first(this.#sql, { id })) ?? {};
		return message_id === null && this.end(row, ["pending"], "failed", notPostedResult);
	}

	/** Meanwhile a scan takes no step for the request. */
	hold<T>(id: string, work: () => Promise<T>): Promise<T> {
		return this.#work.hold(id, work);
	}

	/** Until it succeeds or the bot is closed. */
	#persist(id: string, statement: () => Promise<unknown>): Promise<void> {
		this.#lastStatement += 1;
		const step = {
			key: `${id} ${this.#lastStatement}`,
			lane: "statements",
			failure: "could not store the state of a request for approval",
			fields: { approval: id },
			run: statement,
		};
		return this.#work.hold(id, () => this.#work.add(step));
	}

	async end(
		request: Pick<ApprovalRow, "id" | "token">,
		from: readonly ApprovalState[],
		state: ApprovalState,
		result: string | null,
	): Promise<ApprovalRow | undefined> {
		const row = await changeApproval(this.#sql, request, { state, result, ended_at: this.#now() }, from);
		if (row) this.settle(row);
		return row;
	}

	settle(row: ApprovalRow): void {
		this.options.log.info("a request for approval has ended", {
			approval: row.id,
			tool: row.tool,
			state: row.state,
			decided_by: row.decided_by ?? undefined,
		});
		this.note(row, row.state);
		this.#endings.get(row.id)?.resolve(row);
	}

	note(row: ApprovalRow, event: string): void {
		const { id, tool, decided_by } = row;
		const by = decided_by ?? undefined;
		const call = this.resolve(row);
		const of = call.tool && JSON.parse(redact(call.tool.listing.inputSchema, call.args));
		this.options.record({
			...callerOf(row),
			at: new Date(this.#now()),
			tool: "approval",
			arguments: JSON.stringify({ approval_id: id, event, tool, by, of }),
			outcome: "done",
			milliseconds: 0,
			effect: "read",
		});
	}

	#channelFor(row: ApprovalRow): SendableChannels {
		const channel = this.options.connection.discord.channels.cache.get(row.channel_id);
		if (!channel || channel.isDMBased() || !channel.isSendable())
			throw new ToolError(
				`The channel ${row.channel_id} (approval.channel in the settings), in which people approve calls, does not exist or cannot hold messages.`,
			);
		const missing = missingPermissions(
			channel.guild,
			channel,
			bitsIn(channel, [
				"ViewChannel",
				"SendMessages",
				"EmbedLinks",
				...(needsFile(row) ? (["AttachFiles"] as const) : []),
			]),
		);
		if (missing === 0n) return channel;
		throw new ToolError(
			`The bot lacks ${describeBits(missing)} in ${channelName(channel)} (approval.channel in the settings), in which people approve calls.`,
		);
	}

	#shown(row: ApprovalRow): ShownRequest {
		return {
			row,
			title: render(this.titleOf(row), this.#languageFor(row)),
			guildName: this.options.connection.guild(row.guild_id ?? "")?.name,
			language: this.#languageFor(row),
		};
	}

	/** Of the tool, for people. */
	titleOf(row: ApprovalRow): Text {
		return toolTitle(row.tool, this.resolve(row).tool?.listing.title);
	}

	/** Of what a dry run has for people. */
	#summaryOf({ shown = [] }: Preview, row: Partial<ApprovalRow>): string {
		const ofPeople = [shown].flat().filter((part) => typeof part === "object");
		return forPeople(ofPeople, this.#languageFor(row));
	}

	#languageFor({ channel_id = "" }: Partial<ApprovalRow>): Language {
		// A request without a channel needs no connection to Discord.
		const channel = channel_id === "" ? undefined : this.options.connection.discord.channels.cache.get(channel_id);
		return languageOf(channel && !channel.isDMBased() ? channel.guild.preferredLocale : undefined);
	}

	/** On failure ends the request with a ToolError: the message may exist nevertheless, and its buttons must not work. */
	async #post(row: ApprovalRow): Promise<void> {
		try {
			const channel = this.#channelFor(row);
			const { "approval.roles": approvers } = this.options.settings.of("guildId" in channel ? channel.guildId : "");
			const message = await channel.send(requestMessage(this.#shown(row), approvers));
			void this.#persist(row.id, () => changeApproval(this.#sql, row, { message_id: message.id }));
		} catch (error) {
			const known = error instanceof ToolError ? error : toToolError(error);
			const text = `The request for approval could not be posted in Discord: ${known?.message ?? "Internal error."} ${row.tool} was not run.`;
			if (!known) this.options.log.error("could not post a request for approval", { error });
			this.withdraw(row.id, () => this.end(row, ["pending"], "failed", errorResult(text)));
			throw new ToolError(text, { cause: error });
		}
	}

	async #showEnd(row: ApprovalRow): Promise<void> {
		if (!this.options.connection.ready) throw new NotNow();
		if (row.message_id !== null) await this.#editMessage(row, row.message_id, endedMessage(this.#shown(row)));
		await changeApproval(this.#sql, row, { shown_state: row.state });
	}

	/** Only warns if Discord refuses, for example because the message was deleted. */
	async #editMessage(
		{ id, channel_id }: ApprovalRow,
		messageId: string,
		changes: ReturnType<typeof endedMessage>,
	): Promise<void> {
		const channel = this.options.connection.discord.channels.cache.get(channel_id);
		try {
			if (channel?.isTextBased()) await channel.messages.edit(messageId, changes);
		} catch (error) {
			if (!(error instanceof DiscordAPIError)) throw error;
			this.options.log.warn("could not edit the message of a request for approval", {
				approval: id,
				reason: error.message,
			});
		}
	}

	/** An error result as JSON if impossible. RpcError for invalid arguments, or without a channel for approvals. */
	async request(call: RequestedCall): Promise<ApprovalRow | string> {
		const { tool, args, context } = call;
		// First: who may not make the call learns nothing of the guild.
		const preview = await previewCall(tool, args, context, call.signal);
		if ("result" in preview) return preview.result;
		// A client that cannot ask its user gives them a link.
		const atConsole = this.options.rules.approval_by === "client" && context.principal?.decidesAt !== undefined;
		let channelId: string | undefined = atConsole ? "" : undefined;
		try {
			await this.options.settings.ready();
			// Of a call that is about no guild, in the bot's own.
			const guildId = guildIdOf(tool, args, context) ?? ownGuildId(context) ?? "";
			channelId ??= this.options.settings.of(guildId)["approval.channel"];
		} catch (error) {
			return impossibleResult(tool, error);
		}
		if (channelId === undefined) return this.#withoutChannel(call);
		const row = this.newRow(call, preview, { channel_id: channelId });
		return this.hold(row.id, async () => {
			try {
				if (!atConsole) this.#channelFor(row);
				else if (shownBytes(row) > maxApprovalBytes) return errorResult(tooLongText(tool.name));
				const isStored = await this.options.store.transaction((sql) => insertApproval(sql, row, maxOpen));
				if (!isStored)
					return errorResult(
						`${maxOpen} requests of this caller wait for approval already, and no more are possible. ${tool.name} was not run. list_approvals shows them; continue when people have decided.`,
					);
			} catch (error) {
				return impossibleResult(tool, error);
			}
			this.options.log.info("a tool call waits for approval", logFields(row));
			this.note(row, "requested");
			if (atConsole) return row;
			try {
				await within(
					maxPostMs,
					this.hold(row.id, () => this.#post(row)),
				);
				return row;
			} catch (error) {
				if (!(error instanceof ToolError)) throw error;
				return errorResult(error.message);
			}
		});
	}

	/** An error result as JSON, or an RpcError. */
	#withoutChannel({ tool: { name } }: RequestedCall): string {
		const how =
			"In the guild, an administrator can set one with /settings on Discord (approval.channel). For a call that names no guild it is the guild in GUILD_ID, or the bot's only one.";
		if (this.options.rules.approval_by === "discord")
			return errorResult(
				`${name} needs the approval of a person, and there is no channel for approvals in Discord. ${how} ${name} was not run.`,
			);
		throw new RpcError(
			errorCode.missingCapability,
			`${name} needs the approval of the person who uses this MCP client, and the client cannot ask: it does not support elicitation in the MCP revision 2026-07-28. There is no channel for approvals in Discord either. ${how} ${name} was not run.`,
			{ data: { requiredCapabilities: { elicitation: {} } } },
		);
	}

	newRow(
		{ tool, args, context, client, requestId }: RequestedCall,
		preview: Preview,
		more: Partial<ApprovalRow>,
	): ApprovalRow {
		const principal = withPersonName(context);
		const at = this.#now();
		return {
			id: newId(),
			principal_id: idOf(principal),
			principal: principal ? JSON.stringify(principal) : null,
			client: client.slice(0, 200).toWellFormed().replaceAll("\0", "\u{fffd}"),
			request_id: requestId ?? null,
			tool: tool.name,
			guild_id: guildIdOf(tool, args, context) ?? null,
			arguments: canonicalJson(args),
			...planOf(tool, args, context, preview),
			summary: this.#summaryOf(preview, more),
			state: "pending",
			channel_id: "",
			message_id: null,
			shown_state: "pending",
			decided_by: null,
			created_at: at,
			expires_at: at + expiryMs,
			decided_at: null,
			ended_at: null,
			result: null,
			...more,
		};
	}

	withdraw(id: string, statement: () => Promise<unknown>): void {
		this.withdrawn.add(id);
		void this.#persist(id, statement).then(() => this.withdrawn.delete(id));
	}

	async carryOut(
		row: ApprovalRow,
		{ tool, args, context, refusal }: ResolvedCall,
		{ begin, isStored, call, approvedBy }: Execution,
	): Promise<CallEnd> {
		const stopped = new CallStopped();
		const startedAt = this.#now();
		const from = performance.now();
		let changed: Preview | undefined;
		let failure: StoreUnavailable | undefined;
		let beginning: Promise<boolean> | undefined;
		let isOver = false;
		const review = async (preview: Preview) => {
			const plan = tool && planOf(tool, args, context, preview);
			if (!plan || plan.hash !== row.hash) {
				changed = preview;
				throw stopped;
			}
			let hasBegun = false;
			try {
				beginning = begin(plan.plan);
				hasBegun = await beginning;
			} catch (error) {
				if (error instanceof StoreUnavailable) failure = error;
				else throw error;
			}
			// The call may have timed out meanwhile.
			if (!hasBegun || isOver) throw stopped;
		};
		const facts = callFacts(call);
		const called: Ended =
			tool && refusal === undefined
				? await endOf(tool, args, { ...context, review, approvedBy }, call, facts)
				: { outcome: "refused", error: new ToolError(refusal ?? "") };
		isOver = true;
		const { outcome, error } = called;
		if (error === stopped) return changed ? { kind: "changed", changed } : { kind: "not begun", failure };
		if (outcome === "error")
			this.options.log.error("an approved tool call failed: internal error", {
				approval: row.id,
				tool: row.tool,
				error,
			});
		const why = outcome === "error" ? "Internal error." : (error as Error | undefined)?.message;
		const { result = errorResult(why ?? "") } = called;
		const people = saidOf(called);
		if (!isStored && !beginning) return { kind: "refused", result, people };
		const isFailed = isErrorResult(result);
		this.options.record({
			...callerOf(row),
			at: new Date(startedAt),
			tool: row.tool,
			outcome,
			answer: () => textIn(result),
			milliseconds: performance.now() - from,
			...facts.recorded(tool, args),
		});
		const end = { state: isFailed ? ("failed" as const) : ("done" as const), result, ended_at: this.#now() };
		const ended = { ...row, ...end };
		this.settle(ended);
		// The call was run: this must be stored, whatever the state of the database is now.
		const saved = this.#persist(row.id, async () => {
			// A call that timed out may still be storing that it begins.
			await beginning?.catch(() => {});
			await changeApproval(this.#sql, row, end, ["approved", "running"]);
		});
		await within(1_000, saved);
		return { kind: "ended", row: ended, result, people };
	}

	async run(row: ApprovalRow, approvedBy: string): Promise<Answer> {
		const resolved = this.resolve(row);
		const end = await this.carryOut(row, resolved, {
			begin: async () => (await changeApproval(this.#sql, row, { state: "running" }, ["approved"])) !== undefined,
			isStored: true,
			call: quiet(),
			approvedBy,
		});
		if ("result" in end) {
			const values = { tool: this.titleOf(row), result: textIn(end.result) };
			const isFailed = isErrorResult(end.result);
			const key = isFailed ? "approval.run.failed" : "approval.run.done";
			if (end.people) return { message: said(key, values), people: said(key, { ...values, result: end.people }) };
			return {
				message: said(key, values),
				people: isFailed ? undefined : said("approval.run.done-for-models", values),
			};
		}
		const { tool, args, context } = resolved;
		if (end.kind === "changed" && tool) {
			const summary = this.#summaryOf(end.changed, row);
			return { message: await this.#replace(row, { ...planOf(tool, args, context, end.changed), summary }) };
		}
		void this.#persist(row.id, () => changeApproval(this.#sql, row, undecided, ["approved", "running"]));
		const why = end.kind === "not begun" ? end.failure?.said : undefined;
		const values = { why: why ?? said("approval.run.not-approved"), tool: this.titleOf(row) };
		return { message: said("approval.run.again", values) };
	}

	/** In the name of `person`, or of its caller. */
	resolve(row: ApprovalRow, person?: Principal["person"]): ResolvedCall {
		const caller = principalOf(row);
		const selection = this.options.select(person ? { ...(caller ?? rootPrincipal), person } : caller);
		const { context } = selection;
		return { ...resolveOrUnknown({ name: row.tool, arguments: JSON.parse(row.arguments) }, selection), context };
	}

	/** The call would do something else by now (`plan`). Returns a text for who approved the old plan. */
	async #replace(row: ApprovalRow, plan: ShownPlan): Promise<Said> {
		let replaced: ApprovalRow | undefined;
		try {
			replaced = await changeApproval(this.#sql, row, { ...undecided, ...plan, message_id: null }, ["approved"]);
		} catch (error) {
			if (!(error instanceof StoreUnavailable)) throw error;
			void this.#persist(row.id, () => changeApproval(this.#sql, row, undecided, ["approved"]));
			return said("approval.run.not", { why: error.said, tool: this.titleOf(row) });
		}
		if (!replaced || isAtConsole(row)) return said("approval.run.changed", { tool: this.titleOf(row) });
		this.note(replaced, "posted again");
		const { message_id } = row;
		try {
			await this.#post(replaced);
		} catch (error) {
			if (error instanceof ToolError) return said("approval.run.not-posted", { why: error.message });
			throw error;
		} finally {
			if (message_id !== null) await this.retire(row, message_id).catch(() => {});
		}
		return said("approval.run.reposted", { tool: this.titleOf(row) });
	}

	retire(row: ApprovalRow, messageId: string): Promise<void> {
		return this.#editMessage(row, messageId, replacedMessage(this.#languageFor(row)));
	}

	async withdrawOf(principalIds: readonly string[]): Promise<string[]> {
		if (principalIds.length > 0)
			for (const row of await withdrawApprovals(this.#sql, principalIds, this.#now())) this.settle(row);
		this.#work.wake();
		const rows = await selectUnfinishedApprovals(this.#sql);
		const open = rows.filter(({ ended_at }) => ended_at === null);
		return [...new Set(open.map(({ principal_id }) => principal_id))];
	}

	async ended({ id }: ApprovalRow, ms: number, signal: Signal | undefined): Promise<ApprovalRow | undefined> {
		const ending = Promise.withResolvers<ApprovalRow | undefined>();
		const giveUp = () => ending.resolve(undefined);
		this.#endings.set(id, ending);
		signal?.addEventListener("abort", giveUp);
		try {
			// It may have ended before.
			const row = await approvalRows.first(this.#sql, { id });
			if (row?.ended_at != null) return row;
			if (this.#isStopped || signal?.aborted) return undefined;
			const ended = await within(Math.max(0, ms), ending.promise);
			return ended === "late" ? undefined : ended;
		} catch (error) {
			return ignoreUnavailable(error);
		} finally {
			this.#endings.delete(id);
			signal?.removeEventListener("abort", giveUp);
		}
	}

	attach(client: Client): void {
		onSessionOrGuild(client, this.#work.retryAll);
	}

	start(): void {
		this.#work.wake();
	}

	stop(): void {
		this.#isStopped = true;
		for (const { resolve } of this.#endings.values()) resolve(undefined);
	}

	close(): Promise<void> {
		this.stop();
		return this.#work.close();
	}
}

/** Throws internal errors. */
function impossibleResult({ name }: Tool<BotContext>, error: unknown): string {
	const known = error instanceof ToolError ? error : toToolError(error);
	if (!known) throw error;
	return errorResult(
		`${name} needs the approval of a person, and that is not possible: ${known.message} ${name} was not run.`,
	);
}

export function logFields(row: ApprovalRow) {
	return {
		approval: row.id,
		tool: row.tool,
		guild_id: row.guild_id ?? undefined,
		principal: row.principal_id,
		request: row.request_id ?? undefined,
	};
}

export function newId(): string {
	return randomBytes(6).toString("hex");
}

function planOf(
	tool: Tool<BotContext>,
	args: JsonObject,
	context: BotContext,
	preview: Preview,
): Omit<ShownPlan, "summary"> {
	const parts = [tool.name, canonicalJson(args), guildIdOf(tool, args, context) ?? null, preview.basis];
	return {
		plan: JSON.stringify(preview.lines ?? named(preview)),
		// What a person approves.
		hash: digest(parts),
		token: randomBytes(8).toString("hex"),
	};
}

function named({ names = [], shown = [] }: Preview): readonly string[] | null {
	const lines = [...(names.length > 0 ? [namesHeading, ...names] : []), ...forModels(shown)];
	return lines.length === 0 ? null : lines;
}

/** The argument or the setting GUILD_ID; undefined if the tool has no argument `guild_id`. */
export function guildIdOf(
	{ listing }: Tool<BotContext>,
	{ guild_id }: JsonObject,
	{ guildId }: BotContext,
): string | undefined {
	if (!("guild_id" in Object(listing.inputSchema.properties))) return undefined;
	return typeof guild_id === "string" && guild_id !== "" ? guild_id : guildId;
}

function callerOf(row: ApprovalRow) {
	return {
		requestId: row.request_id ?? undefined,
		client: row.client,
		principal: principalOf(row),
		guildId: row.guild_id ?? undefined,
	};
}
