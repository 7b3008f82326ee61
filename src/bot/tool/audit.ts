// The audit log: every tool call becomes a row. Calls never wait for the database: rows are queued, up to a limit, while it
// is unavailable.

import { type DiscordAnswer, type OnRequest, observeRequests } from "../../discord/rest/rest.ts";
import { withoutTokens } from "../../discord/text.ts";
import { backOffMs } from "../../lib/back-off.ts";
import type { JsonObject } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import type { Principal } from "../../lib/principal.ts";
import { within } from "../../lib/wait.ts";
import type { Outcome as McpOutcome } from "../../mcp/json-rpc.ts";
import type { JsonSchema } from "../../mcp/json-schema.ts";
import type { Effect, Tool, ToolCall } from "../../mcp/tool.ts";
import type { Store } from "../store/store.ts";
import {
	type CallsOfHour,
	countToolCalls,
	type Outcome,
	selectToolCalls,
	type ToolCallFilter,
	type ToolCallRow,
	toolCallRows,
} from "../store/tables/tool-calls.ts";
import { StoreUnavailable } from "../store/unavailable.ts";
import { hide, redact } from "./redact.ts";

export interface AuditedCall extends Pick<ToolCallRow, "client" | "tool" | "outcome" | "milliseconds"> {
	at: Date;
	requestId: string | undefined;
	guildId: string | undefined;
	/** What may not be kept is removed from arguments with their schema. JSON is kept as it is. */
	arguments: string | { schema: JsonSchema; args: JsonObject };
	/** Text of the result or error. */
	answer?: (() => string) | undefined;
	/** JSON, see `DiscordWork`. */
	discord?: string | undefined;
	/** Of the tool, if there is such a tool. */
	title?: string | undefined;
	/** Undefined for the holder of the root key. */
	principal?: Principal | undefined;
	/** "read" for dry runs and unknown tools. */
	effect: Effect;
	/** The message that the call sent. */
	messageId?: string | undefined;
}

export interface AuditOptions {
	log: Log;
	/** Gets each call that changes something. `id`: of its row, if it is stored. */
	announce?: ((call: AuditedCall, id: string | undefined) => void) | undefined;
	/** Whether texts in arguments, and what calls that change something return, are kept. */
	keepsTexts?: boolean | undefined;
	/** Never kept. */
	secrets?: readonly (string | undefined)[];
	/** Calls waiting to be written; further ones are not logged. Default: 10,000. */
	maxQueued?: number;
	/** First and maximum wait in milliseconds before a failed write is retried. */
	backOffMs?: readonly [number, number];
	/** Milliseconds for which calls are collected for one write. */
	batchDelayMs?: number;
}

const writeBatch = 250;
const maxNameLength = 200;
const maxAnswerLength = 2_000;

export class Audit {
	readonly #queue: ToolCallRow[] = [];
	#isClosed = false;
	#dropped = 0;
	#isFull = false;
	#writing: Promise<void> | undefined;
	#nextWrite: Timer | undefined;
	#failures = 0;

	constructor(
		private readonly store: Pick<Store, "sql">,
		private readonly options: AuditOptions,
	) {}

	get queued(): number {
		return this.#queue.length;
	}

	/** Calls not logged because the queue was full or the database rejected them. */
	get dropped(): number {
		return this.#dropped;
	}

	readonly record = (call: AuditedCall): void => {
		const id = this.#add(call);
		if (call.effect !== "read") this.options.announce?.(call, id);
	};

	/** The id of its row; undefined if it will not be stored. */
	#add(call: AuditedCall): string | undefined {
		const { maxQueued = 10_000, log } = this.options;
		const { queued } = this;
		if (this.#isClosed || queued >= maxQueued) {
			this.#dropped += 1;
			if (this.#isClosed || this.#isFull) return undefined;
			this.#isFull = true;
			log.error("tool calls not recorded in the bot's audit log: queue full", { queued });
			return undefined;
		}
		const row = toRow(call, this.options);
		this.#queue.push(row);
		// Calls are collected for a batch: SQLite blocks the process at every commit, which is most of the cost of a call.
		this.#writeIn(this.options.batchDelayMs ?? 50);
		return row.id;
	}

	/** Rejects with StoreUnavailable. */
	async find(id: string): Promise<ToolCallRow | undefined> {
		return this.#queue.find((row) => row.id === id) ?? toolCallRows.first(this.store.sql, { id });
	}

	/** Newest first. Rejects with StoreUnavailable. */
	async recent(filter: ToolCallFilter): Promise<ToolCallRow[]> {
		// Include the current batch: the store runs statements in order.
		void this.#writeNow();
		return selectToolCalls(this.store.sql, filter);
	}

	/** Of the calls that match. Rejects with StoreUnavailable. */
	async hours(filter: Omit<ToolCallFilter, "limit">): Promise<CallsOfHour[]> {
		void this.#writeNow();
		return countToolCalls(this.store.sql, { ...filter, limit: 0 });
	}

	#writeIn(ms: number): void {
		if (!this.#isClosed) this.#nextWrite ??= setTimeout(() => void this.#writeNow(), ms);
	}

	#writeNow(): Promise<void> {
		clearTimeout(this.#nextWrite);
		this.#nextWrite = undefined;
		this.#writing ??= this.#write().finally(() => {
			this.#writing = undefined;
		});
		return this.#writing;
	}

	async #write(): Promise<void> {
		const { log, backOffMs: range = [500, 5_000] } = this.options;
		let size = writeBatch;
		while (this.queued > 0) {
			const batch = this.#queue.slice(0, size);
			try {
				await toolCallRows.add(this.store.sql, batch);
			} catch (error) {
				if (error instanceof StoreUnavailable) return this.#writeIn(backOffMs(this.#failures++, range));
				// Write one by one, so that only the rejected row is lost.
				if (batch.length > 1) {
					size = 1;
					continue;
				}
				log.error("could not record a tool call in the bot's audit log", { error });
				this.#dropped += 1;
			}
			this.#queue.splice(0, batch.length);
			this.#failures = 0;
			if (this.#isFull && this.queued === 0) {
				log.warn("the bot's audit log works again after it could not record some tool calls", {
					dropped: this.#dropped,
				});
				this.#isFull = false;
			}
		}
	}

	/** Writes the queued calls, for at most `graceMs` milliseconds. Call it before closing the store. */
	async close(graceMs = 2_000): Promise<void> {
		this.#isClosed = true;
		await within(graceMs, this.#writeNow());
		if (this.queued > 0)
			this.options.log.error("the program stopped before all tool calls were stored in the bot's audit log", {
				missing: this.queued,
			});
	}
}

function toRow(call: AuditedCall, { keepsTexts = false, secrets = [] }: AuditOptions): ToolCallRow {
	const { arguments: given, outcome, effect, answer } = call;
	const isPlain = typeof given === "string";
	const safe = (text: string) =>
		secrets.reduce<string>((rest, one) => (one ? rest.replaceAll(one, "[secret]") : rest), withoutTokens(text));
	const isAnswerKept = outcome !== "done" || (keepsTexts && effect !== "read");
	const text = isAnswerKept ? answer?.() : undefined;
	const shown = text === undefined || isPlain || keepsTexts ? text : hide(text, given.schema, given.args);
	return {
		id: Bun.randomUUIDv7(),
		at: call.at.getTime(),
		request_id: call.requestId ? toStorable(call.requestId) : null,
		client: toStorable(call.client),
		tool: toStorable(call.tool),
		guild_id: call.guildId ?? null,
		arguments: safe(isPlain ? given : redact(given.schema, given.args, keepsTexts)),
		outcome,
		milliseconds: Math.round(call.milliseconds),
		person: call.principal?.person?.id ?? null,
		key: call.principal ? toStorable(call.principal.id) : null,
		effect,
		message_id: call.messageId ?? null,
		answer: shown === undefined ? null : toStorable(safe(shown), maxAnswerLength),
		discord: call.discord ?? null,
	};
}

// PostgreSQL rejects NUL and lone surrogates.
function toStorable(text: string, maxLength = maxNameLength): string {
	return text.slice(0, maxLength).toWellFormed().replaceAll("\0", "\u{fffd}");
}

type Hooks = Pick<ToolCall, "onDestructive" | "onMessage">;

/** The requests of a call to Discord. */
export interface DiscordWork {
	/** In which at least one was not answered yet. */
	milliseconds: number;
	count: number;
	/** The first that changed something or failed. */
	requests: ({ method: string; path: string; milliseconds: number } & DiscordAnswer)[];
}

const maxRequests = 20;

/** Collects what only the running tool knows of a call, as it says by `hooks`, and passes it on to `others`. */
export function callFacts(others: Hooks = {}) {
	let isDestructive = false;
	let messageId: string | undefined;
	let hasChanged = false;
	let open = 0;
	let openSince = 0;
	const work: DiscordWork = { milliseconds: 0, count: 0, requests: [] };
	const onRequest: OnRequest = ({ method, path }) => {
		const from = performance.now();
		if (open++ === 0) openSince = from;
		work.count += 1;
		return (answer) => {
			const now = performance.now();
			if (--open === 0) work.milliseconds += now - openSince;
			const isDone = answer.status !== undefined && answer.status < 400;
			if (isDone && method === "GET") return;
			hasChanged ||= isDone;
			const milliseconds = Math.round(now - from);
			if (work.requests.length < maxRequests)
				work.requests.push({ method, path: withoutSecrets(path), milliseconds, ...answer });
		};
	};
	return {
		hooks: {
			onDestructive() {
				isDestructive = true;
				others.onDestructive?.();
			},
			onMessage(id: string) {
				messageId = id;
				others.onMessage?.(id);
			},
		},
		/** Notes the requests of `call` to Discord. */
		observe: <T>(call: () => Promise<T>) => observeRequests(onRequest, call),
		/** After an error: "refused" if nothing is broken and nothing was changed. */
		endOf(outcome: Exclude<McpOutcome, "rpc_error">): Outcome {
			if (outcome === "done") return "done";
			return outcome === "failed" || hasChanged ? "failed" : "refused";
		},
		recorded(
			tool: Pick<Tool<never>, "effect" | "listing"> | undefined,
			args: JsonObject,
		): Pick<AuditedCall, "arguments" | "effect" | "messageId" | "title" | "discord"> {
			const effect = isDestructive ? "destructive" : tool?.effect;
			const isDry = tool !== undefined && isDryRun(tool, args);
			const title = tool?.listing.title;
			return {
				arguments: { schema: tool?.listing.inputSchema ?? {}, args: isDry ? { ...args, dry_run: true } : args },
				effect: !effect || isDry ? "read" : effect,
				messageId,
				...(typeof title === "string" && { title }),
				discord:
					work.count === 0 ? undefined : JSON.stringify({ ...work, milliseconds: Math.round(work.milliseconds) }),
			};
		},
	};
}

/** Tokens of webhooks and interactions, and codes of invites and templates. */
function withoutSecrets(path: string): string {
	return path
		.replace(/^(\/(?:webhooks|interactions)\/\d+\/)[^/]+/, "$1…")
		.replace(/^((?:\/guilds\/\d+)?\/(?:invites|templates)\/)[^/]+/, "$1…")
		.slice(0, 300);
}

/** `dry_run` is true, or absent and true by default. */
export function isDryRun({ listing }: Pick<Tool<never>, "listing">, args: JsonObject): boolean {
	const { dry_run } = (listing.inputSchema.properties ?? {}) as Record<string, JsonSchema>;
	return dry_run !== undefined && (args.dry_run ?? dry_run.default) === true;
}
