// The console's requests to the bots: for approvals, and for entries of their audit logs. The bots check the caller's
// rights.

import * as v from "valibot";
import { isObject, type JsonObject, parseJson } from "../../lib/json.ts";
import { Overloaded } from "../../lib/semaphore.ts";
import { onOneLine } from "../../lib/text.ts";
import { ClientError } from "../../mcp/client.ts";
import { consoleMethods, readConsoleResult } from "../../mcp/console.ts";
import { errorCode } from "../../mcp/json-rpc.ts";
import type { Backend } from "../backends/backend.ts";
import type { RecentCall, RecentCalls } from "../calls/recent-calls.ts";
import { ConsoleError, jsonResponse, readJson } from "./respond.ts";
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

class NoAnswer extends Error {
	override name = "NoAnswer";
	constructor(
		message: string,
		/** The approvals of the bot are off, or its version is older. */
		readonly isUnknownMethod = false,
	) {
		super(message);
	}
}

interface BotRoutesOptions {
	backends: readonly Backend[];
	state: Pick<ReturnType<typeof createState>, "botsFor" | "callsFor">;
	recent: Pick<RecentCalls, "approvalChanges">;
}

/** Approvals, decisions and the details of a call. */
export function createBotRoutes({ backends, state, recent }: BotRoutesOptions) {
	async function ask<Name extends keyof typeof consoleMethods>(
		backend: Backend,
		name: Name,
		params: JsonObject,
		{ person }: Viewer,
		timeoutMs: number,
	) {
		const request = { method: consoleMethods[name], params: JSON.stringify(params), principal: person };
		const signal = AbortSignal.timeout(timeoutMs);
		const { message } = await backend.read(request, signal).catch((error) => {
			const isKnown = error instanceof ClientError || error instanceof Overloaded || error === signal.reason;
			if (!isKnown) throw error;
			throw new NoAnswer(onOneLine(backend.reasonOf(error), maxReasonLength));
		});
		const { result, error } = message;
		if (isObject(error))
			throw new NoAnswer(onOneLine(String(error.message), maxReasonLength), error.code === errorCode.methodNotFound);
		const valid = readConsoleResult[name](result);
		if (valid) return valid as NonNullable<ReturnType<(typeof readConsoleResult)[Name]>>;
		throw new NoAnswer("the bot sent an unexpected response");
	}

	async function approvalsOf(backend: Backend, viewer: Viewer) {
		const instance = backend.name;
		try {
			const { approvals } = await ask(backend, "approvals", {}, viewer, listTimeoutMs);
			const shown = approvals.map(({ why, mayDeny, ...rest }) => ({
				instance,
				...rest,
				mayDeny,
				mayApprove: why === null,
				why,
			}));
			return { shown, unavailable: [] };
		} catch (error) {
			if (!(error instanceof NoAnswer)) throw error;
			// A bot whose approvals are off has nothing to list; this is no error.
			const reason = error.isUnknownMethod ? undefined : error.message;
			return { shown: [], unavailable: reason === undefined ? [] : [{ instance, reason }] };
		}
	}

	async function detailsOf({ id, at, instance }: RecentCall, viewer: Viewer) {
		const none = (reason: string) => ({ details: null, reason });
		const backend = backends.find(({ name }) => name === instance);
		if (!backend) return none("No bot received this call.");
		try {
			const params = { request: id, at };
			const { call } = await ask(backend, "auditedCall", params, viewer, listTimeoutMs);
			if (!call) return none("The bot's audit log does not contain this call.");
			const args = parseJson(call.arguments);
			const details = { ...call, arguments: isObject(args) ? args : {} };
			return { details, reason: null };
		} catch (error) {
			if (!(error instanceof NoAnswer)) throw error;
			return none(
				error.isUnknownMethod
					? "This bot does not offer its audit log: its version is too old, or it runs without MCP_AUTH_TOKEN."
					: `The bot did not answer: ${error.message}`,
			);
		}
	}

	return {
		async call(_: Request, viewer: Viewer, id: string): Promise<Response> {
			const call = state.callsFor(viewer).find((one) => one.id === id);
			if (!call)
				throw new ConsoleError(
					"not_found",
					"The gateway no longer keeps this call. Look for it in the bot's audit log.",
				);
			return jsonResponse({ call, ...(await detailsOf(call, viewer)) });
		},
		async approvals(_: Request, viewer: Viewer): Promise<Response> {
			const asked = (await state.botsFor(viewer)).filter(({ state }) => state.online);
			const answers = await Promise.all(asked.map((backend) => approvalsOf(backend, viewer)));
			return jsonResponse({
				approvals: answers.flatMap(({ shown }) => shown).sort((a, b) => a.createdAt - b.createdAt),
				unavailable: answers.flatMap(({ unavailable }) => unavailable),
			});
		},
		async decide(request: Request, viewer: Viewer): Promise<Response> {
			const { instance, ...params } = await readJson(request, given);
			const known = await state.botsFor(viewer);
			const backend = known.find(({ name }) => name === instance);
			if (!backend) throw new ConsoleError("not_found", "There is no bot of this name.");
			try {
				return jsonResponse(await ask(backend, "decide", params, viewer, decideTimeoutMs));
			} catch (error) {
				if (!(error instanceof NoAnswer)) throw error;
				throw new ConsoleError(
					"unavailable",
					`The bot did not answer (${error.message}). It is unknown whether the decision counted: reload the list of approvals.`,
				);
			} finally {
				recent.approvalChanges++;
			}
		},
	};
}
