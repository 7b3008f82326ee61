// The console's requests to the bots: for approvals, settings, and entries of their audit logs. The bots check the caller's
// rights.

import * as v from "valibot";
import { isObject, type JsonObject, parseJson } from "../../lib/json.ts";
import type { Principal } from "../../lib/principal.ts";
import { Overloaded } from "../../lib/semaphore.ts";
import { onOneLine } from "../../lib/text.ts";
import { ClientError } from "../../mcp/client.ts";
import { consoleMethods, readConsoleResult } from "../../mcp/console.ts";
import { errorCode } from "../../mcp/json-rpc.ts";
import type { Backend } from "../backends/backend.ts";
import type { RecentCall } from "../calls/recent-calls.ts";
import { callTool, type ReadingToolsOptions } from "./reading-tools.ts";
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

const guildOfBot = { instance: v.string(), guild_id: v.string() };

const ofForm = v.strictObject({
	...guildOfBot,
	values: v.optional(v.record(v.string(), v.unknown())),
	history: v.optional(v.boolean()),
});

const submitted = v.strictObject({ ...guildOfBot, call: v.string(), arguments: v.record(v.string(), v.unknown()) });

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

interface BotRoutesOptions extends Pick<ReadingToolsOptions, "calls" | "recent"> {
	backends: readonly Backend[];
	state: Pick<ReturnType<typeof createState>, "botsFor" | "callsFor">;
}

/** Approvals, decisions, the details of a call, and settings. */
export function createBotRoutes(options: BotRoutesOptions) {
	const { backends, state, recent } = options;

	async function ask<Name extends keyof typeof consoleMethods>(
		backend: Backend,
		name: Name,
		params: JsonObject,
		principal: Principal | undefined,
		timeoutMs: number,
	) {
		const request = { method: consoleMethods[name], params: JSON.stringify(params), principal };
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

	async function backendOf(viewer: Viewer, instance: string): Promise<Backend> {
		const backend = (await state.botsFor(viewer)).find(({ name }) => name === instance);
		if (backend) return backend;
		throw new ConsoleError("not_found", "There is no bot of this name.");
	}

	/** The form is asked for in the name that later submits it. */
	async function settingsOf(viewer: Viewer, instance: string, params: JsonObject) {
		const backend = await backendOf(viewer, instance);
		try {
			return await ask(backend, "settings", params, viewer.person && viewer.writer, listTimeoutMs);
		} catch (error) {
			if (!(error instanceof NoAnswer)) throw error;
			const reason = error.isUnknownMethod ? "it offers no settings" : error.message;
			throw new ConsoleError("unavailable", `${instance}: ${reason}`);
		}
	}

	async function approvalsOf(backend: Backend, viewer: Viewer) {
		const instance = backend.name;
		try {
			const { approvals } = await ask(backend, "approvals", {}, viewer.person, listTimeoutMs);
			const shown = approvals.map((one) => ({ instance, ...one, mayApprove: one.why === null }));
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
			const { call } = await ask(backend, "auditedCall", params, viewer.person, listTimeoutMs);
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
		/** A bot's form for a guild's settings, or the check of what was entered. */
		async settings(request: Request, viewer: Viewer): Promise<Response> {
			const { instance, ...params } = await readJson(request, ofForm);
			return jsonResponse(await settingsOf(viewer, instance, params));
		},
		/** Calls a tool that the form names. */
		async submit(request: Request, viewer: Viewer): Promise<Response> {
			const { instance, guild_id, call, arguments: given } = await readJson(request, submitted);
			const { calls } = await settingsOf(viewer, instance, { guild_id, values: {} });
			const name = Object.hasOwn(calls, call) ? calls[call] : undefined;
			if (name === undefined) throw new ConsoleError("not_found", "This bot does not offer that here.");
			const params = { name, arguments: { ...given, guild_id, instance } };
			return jsonResponse(await callTool(options, viewer.writer, params, request.signal));
		},
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
			const backend = await backendOf(viewer, instance);
			try {
				return jsonResponse(await ask(backend, "decide", params, viewer.person, decideTimeoutMs));
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
