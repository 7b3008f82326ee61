// The console's requests to the bots: for approvals, settings, and entries of their audit logs. The bots check the caller's
// rights.

import * as v from "valibot";
import { isObject, type JsonObject } from "../../lib/json.ts";
import { approvalCapability, type Principal } from "../../lib/principal.ts";
import { Overloaded } from "../../lib/semaphore.ts";
import { onOneLine } from "../../lib/text.ts";
import { ClientError } from "../../mcp/client.ts";
import { type AuditedCallDetails, consoleMethods, maxAuditedCalls, readConsoleResult } from "../../mcp/console.ts";
import { errorCode } from "../../mcp/json-rpc.ts";
import type { Backend } from "../backends/backend.ts";
import { declares } from "../backends/backend-session.ts";
import { kinds } from "../calls/metrics.ts";
import type { RecentCalls } from "../calls/recent-calls.ts";
import { conditionOf } from "../catalog/status.ts";
import { callTool, type ReadingToolsOptions } from "./reading-tools.ts";
import { ConsoleError, readJson } from "./respond.ts";
import type { createState } from "./state.ts";
import type { Viewer } from "./viewer.ts";

/** Milliseconds. `decideTimeoutMs` is longer, because deciding also runs the approved call. */
const listTimeoutMs = 5_000;
const decideTimeoutMs = 30_000;
const maxReasonLength = 300;

const given = v.strictObject({
	instance: v.string(),
	id: v.pipe(v.string(), v.maxLength(100)),
	token: v.pipe(v.string(), v.maxLength(100)),
	decision: v.picklist(["approve", "deny"]),
});

/** The bot checks the rest. */
const ofHistory = v.looseObject({
	instance: v.optional(v.string()),
	from: v.number(),
	before: v.number(),
	beforeId: v.optional(v.string(), ""),
	request: v.optional(v.string()),
	search: v.optional(v.string(), ""),
	kind: v.optional(v.string()),
	limit: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(maxAuditedCalls)),
});

const noAuditLog = "This bot does not offer its audit log: its version is too old, or it runs without MCP_AUTH_TOKEN.";

const guildOfBot = { instance: v.string(), guild_id: v.string() };

const ofForm = v.strictObject({
	...guildOfBot,
	values: v.optional(v.record(v.string(), v.unknown())),
	history: v.optional(v.boolean()),
});

const submitted = v.strictObject({ ...guildOfBot, call: v.string(), arguments: v.record(v.string(), v.unknown()) });

interface BotRoutesOptions extends Pick<ReadingToolsOptions, "calls" | "recent"> {
	state: Pick<ReturnType<typeof createState>, "botsFor">;
}

/**
 * Asks a bot. Resolves with its `answer`, or with why there is none; `isUnknownMethod`: the approvals of the bot are off, or
 * its version is older.
 */
async function ask<Name extends keyof typeof consoleMethods>(
	backend: Backend,
	name: Name,
	params: JsonObject,
	principal: Principal | undefined,
	timeoutMs = listTimeoutMs,
) {
	const none = (reason: string, isUnknownMethod = false) =>
		({ answer: undefined, reason: onOneLine(reason, maxReasonLength), isUnknownMethod }) as const;
	const request = { method: consoleMethods[name], params: JSON.stringify(params), principal };
	const signal = AbortSignal.timeout(timeoutMs);
	try {
		const { result, error } = (await backend.read(request, signal)).message;
		if (isObject(error)) return none(String(error.message), error.code === errorCode.methodNotFound);
		const answer = readConsoleResult[name](result);
		if (!answer) return none("the bot sent an unexpected response");
		return { answer: answer as NonNullable<ReturnType<(typeof readConsoleResult)[Name]>>, reason: null };
	} catch (error) {
		const isKnown = error instanceof ClientError || error instanceof Overloaded || error === signal.reason;
		if (!isKnown) throw error;
		return none(backend.reasonOf(error));
	}
}

/** How many calls waited when the operator was last shown them. */
const waitingAt = new WeakMap<Backend, number>();

async function approvalsOf(backend: Backend, { person }: Viewer) {
	const { name: instance, state, session } = backend;
	// A bot whose approvals are off has nothing to list; this is no error.
	const isOff = session.generation > 0 && !declares(session.server, approvalCapability);
	if (isOff && !state.online) return { shown: [], unavailable: [] };
	const asked = state.online ? await ask(backend, "approvals", {}, person) : undefined;
	const { approvals = [] } = asked?.answer ?? {};
	if (asked?.answer && !person) waitingAt.set(backend, approvals.length);
	const shown = approvals.map((one) => ({ instance, ...one, mayApprove: one.why === null }));
	if (asked && (asked.answer || asked.isUnknownMethod)) return { shown, unavailable: [] };
	const before = person ? undefined : waitingAt.get(backend);
	const last = before === undefined ? "" : ` When it was last asked, ${before} waited.`;
	const why = asked ? `did not answer (${asked.reason})` : `is ${conditionOf(backend)}`;
	const reason = `${why}: its approvals cannot be read.${last}`;
	return { shown, unavailable: [{ instance, reason }] };
}

const newestFirst = (a: Pick<AuditedCallDetails, "at" | "id">, b: typeof a) => b.at - a.at || (a.id < b.id ? 1 : -1);

/** Calls that reached no bot or, of one `request`, all that the gateway knows, as entries of an audit log. */
function ownCalls(recent: RecentCalls, { person }: Viewer, query: v.InferOutput<typeof ofHistory>) {
	const { instance, from, before, beforeId, request, search, kind } = query;
	const unknown = { effect: "", message: null, arguments: "{}", discord: null, approval: null, changes: [], names: {} };
	const known = [...recent.unreached(), ...(request === undefined ? [] : recent.since(0))].filter(
		(call) =>
			(instance === undefined || instance === (call.instance ?? "")) &&
			(!person || call.person === person.person.id) &&
			call.at >= from &&
			(call.at < before || (call.at === before && call.id < beforeId)) &&
			(!request || call.id === request || call.id.startsWith(`${request}.`)) &&
			(!kind || call.kind === kinds.get(kind)) &&
			Object.values(call).join("\n").toLowerCase().includes(search.toLowerCase()),
	);
	return known.map((call) => ({ ...call, ...unknown, request: call.id, answer: call.error }));
}

/** Approvals, decisions, history, and settings. */
export function createBotRoutes(options: BotRoutesOptions) {
	const { state, recent } = options;

	async function backendOf(viewer: Viewer, instance: string): Promise<Backend> {
		const backend = (await state.botsFor(viewer)).find(({ name }) => name === instance);
		if (backend) return backend;
		throw new ConsoleError("not_found", "There is no bot of this name.");
	}

	/** The form is asked for in the name that later submits it. */
	async function settingsOf(viewer: Viewer, instance: string, params: JsonObject) {
		const backend = await backendOf(viewer, instance);
		const asked = await ask(backend, "settings", params, viewer.person && viewer.writer);
		if (asked.answer) return asked.answer;
		const reason = asked.isUnknownMethod ? "it offers no settings" : asked.reason;
		throw new ConsoleError("unavailable", `${instance}: ${reason}`);
	}

	return {
		/** A bot's form for a guild's settings, or the check of what was entered. */
		async settings(request: Request, viewer: Viewer) {
			const { instance, ...params } = await readJson(request, ofForm);
			return await settingsOf(viewer, instance, params);
		},
		/** Calls a tool that the form names. */
		async submit(request: Request, viewer: Viewer) {
			const { instance, guild_id, call, arguments: given } = await readJson(request, submitted);
			const { calls } = await settingsOf(viewer, instance, { guild_id, values: {} });
			const name = Object.hasOwn(calls, call) ? calls[call] : undefined;
			if (name === undefined) throw new ConsoleError("not_found", "This bot does not offer that here.");
			const params = { name, arguments: { ...given, guild_id, instance } };
			return await callTool(options, viewer.writer, params, request.signal);
		},
		/** Of all bots, one or, for "", none. Each bot is asked for as many as are wanted. */
		async history(request: Request, viewer: Viewer) {
			const { instance, ...params } = await readJson(request, ofHistory);
			const asked = instance ? [await backendOf(viewer, instance)] : instance === "" ? [] : await state.botsFor(viewer);
			const answers = await Promise.all(
				asked.map(async (backend) => ({
					instance: backend.name,
					...(await ask(backend, "auditedCalls", params, viewer.person)),
				})),
			);
			const calls = answers.flatMap(
				({ instance, answer }) =>
					answer?.calls.map((one) => ({ instance, kind: kinds.get(one.outcome), ...one })) ?? [],
			);
			const unreached = ownCalls(recent, viewer, { instance, ...params });
			const hours = unreached.map(({ at, kind }) => {
				const isFailed = kind === "bad";
				return { hour: Math.floor(at / 3_600_000), calls: 1, refused: Number(!isFailed), failed: Number(isFailed) };
			});
			return {
				calls: [...calls, ...unreached].sort(newestFirst).slice(0, params.limit),
				hours: [...hours, ...answers.flatMap(({ answer }) => answer?.hours ?? [])],
				unreached: unreached.length,
				unavailable: answers.flatMap((one) =>
					one.answer ? [] : { instance: one.instance, reason: one.isUnknownMethod ? noAuditLog : one.reason },
				),
			};
		},
		async approvals(_: Request, viewer: Viewer) {
			const asked = await state.botsFor(viewer);
			const answers = await Promise.all(asked.map((backend) => approvalsOf(backend, viewer)));
			return {
				approvals: answers.flatMap(({ shown }) => shown).sort((a, b) => a.createdAt - b.createdAt),
				unavailable: answers.flatMap(({ unavailable }) => unavailable),
			};
		},
		async decide(request: Request, viewer: Viewer) {
			const { instance, ...params } = await readJson(request, given);
			const backend = await backendOf(viewer, instance);
			const asked = await ask(backend, "decide", params, viewer.person, decideTimeoutMs).finally(() => {
				recent.approvalChanges++;
			});
			if (asked.answer) return asked.answer;
			throw new ConsoleError(
				"unavailable",
				`The bot did not answer (${asked.reason}). It is unknown whether the decision counted: reload the list of approvals.`,
			);
		},
	};
}
