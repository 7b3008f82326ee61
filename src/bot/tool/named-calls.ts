// Calls with names in place of ids: the names become ids before the tool runs.

import { actAs } from "../../discord/acting-person.ts";
import { toToolError } from "../../discord/rest/errors.ts";
import { withinRun } from "../../discord/rest/rest.ts";
import { isObject, type JsonObject } from "../../lib/json.ts";
import { Deadlines } from "../../lib/signal.ts";
import { RpcError } from "../../mcp/json-rpc.ts";
import type { Caller, Selection } from "../../mcp/server.ts";
import type { Tool } from "../../mcp/tool.ts";
import { findGuild, personOf } from "./admission.ts";
import { namesIn, replaceNames, requireFewNames } from "./arguments/names.ts";
import type { BotContext } from "./context.ts";

const nameDeadlines = new Deadlines(10_000);

/** `tool` is undefined if the call names none: `refusal` then says why. */
export function resolveOrUnknown({ name, arguments: given }: JsonObject, { set }: Selection<BotContext>) {
	const args = isObject(given) ? given : {};
	try {
		return set.resolve(String(name), args);
	} catch (error) {
		if (!(error instanceof RpcError)) throw error;
		return { tool: undefined, args, refusal: error.message };
	}
}

/** The params of a call with ids in place of names. Throws a ToolError for unknown and ambiguous ones. */
export async function idsFor(
	params: JsonObject,
	caller: Pick<Caller, "signal">,
	selection: Selection<BotContext>,
): Promise<JsonObject> {
	const { tool, args, refusal } = resolveOrUnknown(params, selection);
	if (!tool || refusal !== undefined) return params;
	const ids = await withoutNames(tool, args, selection.context, caller.signal);
	return ids === args ? params : { ...params, name: tool.name, arguments: ids };
}

/** The arguments with ids in place of names: the same object if there are none. Throws a ToolError. */
export async function withoutNames(
	tool: Tool<BotContext>,
	args: JsonObject,
	context: BotContext,
	caller: Caller["signal"],
): Promise<JsonObject> {
	const { inputSchema: schema } = tool.listing;
	const names = namesIn(schema, args);
	if (names.length === 0) return args;
	const replace = async () => {
		requireFewNames(names);
		const guild = await findGuild(context, args, "read");
		return replaceNames({ schema, args, names, reads: tool.effect === "read" }, guild, context.connection);
	};
	const signal = nameDeadlines.begin(caller);
	const run = { caller: context.principal?.id, signal, endsAt: signal.endsAt, reason: undefined, mayWrite: false };
	const work = () => withinRun(run, replace);
	const person = personOf(context.principal);
	try {
		return await (person ? actAs(person, work) : work());
	} catch (error) {
		throw toToolError(error) ?? error;
	} finally {
		nameDeadlines.end(signal);
	}
}
