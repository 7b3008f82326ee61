// What is counted and logged of every MCP request, by wrapping the server that answers it. Of a call's arguments only
// the guild's id is looked at.

import type { Log } from "../lib/log.ts";
import { isObject, type JsonObject, type RpcRequest } from "../mcp/json-rpc.ts";
import { countRequests } from "../mcp/metrics.ts";
import {
	type Answer,
	type Caller,
	countedMethod,
	outcomeOf,
	type Server,
} from "../mcp/server.ts";
import type { BotMetrics } from "./metrics.ts";

export interface ObserverOptions {
	/** The tools that there are. */
	toolNames: ReadonlySet<string>;
	metrics: BotMetrics;
	log: Log;
}

export interface ObservedServer extends Server {
	/** Tool calls that are being answered. */
	readonly callsInFlight: number;
}

/** `server`, with every request counted, and every tool call and every refusal logged under an id. */
export function observe(
	server: Server,
	{ toolNames, metrics, log }: ObserverOptions,
): ObservedServer {
	const counted = countRequests(server, metrics);
	let callsInFlight = 0;

	/** `caller` has an id for the request. */
	async function handleCall(
		request: RpcRequest,
		caller: Caller,
	): Promise<Answer> {
		const from = performance.now();
		callsInFlight += 1;
		const answer = await counted.handle(request, caller);
		callsInFlight -= 1;
		const ms = performance.now() - from;
		const { name } = request.params;
		const known = typeof name === "string" && toolNames.has(name);
		const tool = known ? name : "other";
		metrics.toolCalls.add([tool, outcomeOf(answer)]);
		metrics.toolCallSeconds.observe([tool], ms / 1000);
		log.info("call", {
			...whoAsked(caller),
			tool: known ? name : unknownName(name),
			guild_id: guildId(request.params),
			...result(answer),
			ms: Math.round(ms),
		});
		return answer;
	}

	async function handleOther(
		request: RpcRequest,
		caller: Caller,
	): Promise<Answer> {
		const answer = await counted.handle(request, caller);
		const level = answer.errorCode === undefined ? "debug" : "info";
		log[level]("request", {
			...whoAsked(caller),
			method:
				countedMethod(request) === request.method
					? request.method
					: unknownName(request.method),
			...result(answer),
		});
		return answer;
	}

	return {
		get callsInFlight() {
			return callsInFlight;
		},
		async handle(request, given) {
			const requestId = given.requestId ?? crypto.randomUUID().slice(0, 8);
			const caller = { ...given, requestId };
			const handle = request.method === "tools/call" ? handleCall : handleOther;
			return handle(request, caller);
		},
	};
}

function whoAsked({ requestId, session }: Caller) {
	return { request: requestId, client: session?.clientName };
}

function result(answer: Answer) {
	return { outcome: outcomeOf(answer), code: answer.errorCode };
}

/** What was called and does not exist, in quotation marks and not at any length. */
function unknownName(name: unknown): string {
	return typeof name === "string"
		? JSON.stringify(name.slice(0, 60))
		: `a name of type ${typeof name}`;
}

/** The guild that a call names, if it looks like one. */
function guildId(params: JsonObject): string | undefined {
	const args = params.arguments;
	const id = isObject(args) ? args.guild_id : undefined;
	return typeof id === "string" && /^\d{17,20}$/.test(id) ? id : undefined;
}
