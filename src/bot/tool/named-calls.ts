// Tool calls with names in place of ids: they go on with ids, or end here with the candidates.

import { actAs } from "../../discord/acting-person.ts";
import { toToolError } from "../../discord/rest/errors.ts";
import { withinRun } from "../../discord/rest/rest.ts";
import { Deadlines } from "../../lib/deadlines.ts";
import { ToolError } from "../../lib/tool-error.ts";
import type { Caller, Selection, ToolSource } from "../../mcp/server.ts";
import { toolResponse } from "../../mcp/server.ts";
import { errorResult, readToolCall } from "../../mcp/tool.ts";
import { findGuild, personOf } from "./admission.ts";
import { namesIn, replaceNames, requireFewNames } from "./arguments/names.ts";
import type { BotContext } from "./context.ts";

const deadlines = new Deadlines(10_000);

/** `select` finds the tool as the source does. */
export function withNames(
	source: ToolSource,
	select: (principal: Caller["principal"]) => Selection<BotContext>,
): ToolSource {
	return {
		...source,
		async call(request, caller) {
			const { name, args: given } = readToolCall(request.params);
			const { set, context } = select(caller.principal);
			const { tool, args, refusal } = set.resolve(name, given);
			if (refusal !== undefined) return source.call(request, caller);
			const { inputSchema: schema } = tool.listing;
			const names = namesIn(schema, args);
			if (names.length === 0) return source.call(request, caller);
			const replace = async () => {
				requireFewNames(names);
				const guild = await findGuild(context, args, "read");
				const call = { schema, args, names, reads: tool.effect === "read" };
				return replaceNames(call, guild, context.connection);
			};
			const signal = deadlines.begin(caller.signal);
			const run = { signal, endsAt: signal.endsAt, reason: undefined, mayWrite: false };
			const work = () => withinRun(run, replace);
			const person = personOf(context.principal);
			const ids = await (person ? actAs(person, work) : work())
				.catch((error) => {
					const known = toToolError(error) ?? error;
					if (known instanceof ToolError) return known;
					throw error;
				})
				.finally(() => deadlines.end(signal));
			if (ids instanceof ToolError) return toolResponse(request.id, caller, errorResult(ids.message), "tool_error");
			const params = { ...request.params, name: tool.name, arguments: ids };
			caller.onNamed?.(params);
			return source.call({ ...request, params }, caller);
		},
	};
}
