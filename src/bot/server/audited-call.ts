// Answers the MCP request guildhall/audited-call, with which the gateway's console reads one tool call from the bot's
// audit log.

import { type AuditedCallDetails, consoleMethods } from "../../mcp/console.ts";
import { errorCode, RpcError } from "../../mcp/json-rpc.ts";
import { methodNotFound, type OtherMethod } from "../../mcp/server.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import type { ToolCallRow } from "../store/tables/tool-calls.ts";
import { StoreUnavailable } from "../store/unavailable.ts";
import type { Audit } from "../tool/audit.ts";

// Around the gateway's time, because clocks may differ. Without a time, the query is slow: the only index is by time.
const windowMs = 120_000;
const maxEntries = 10;

/** By request id: any call for the holder of the root key, for a person only their own. */
export function createAuditedCall(audit: Pick<Audit, "recent">): OtherMethod {
	return async ({ request, at }, { principal }) => {
		if (principal && !principal.person?.signedIn) throw methodNotFound(consoleMethods.auditedCall);
		if (typeof request !== "string" || request.length > 200)
			throw invalidParameters(["request: expected a request id"]);
		if (typeof at !== "number" || !Number.isSafeInteger(at)) throw invalidParameters(["at: expected a time"]);
		const rows = await audit
			.recent({
				requestId: request,
				from: new Date(at - windowMs),
				before: { at: new Date(at + windowMs) },
				limit: maxEntries,
			})
			.catch((error) => {
				if (!(error instanceof StoreUnavailable)) throw error;
				throw new RpcError(errorCode.internal, error.message);
			});
		const own = principal ? rows.filter(({ person }) => person === principal.person?.id) : rows;
		// The outcome of the call's approval has the same request id.
		const row = own.find(({ tool }) => tool !== "approval") ?? own[0];
		return JSON.stringify({ call: row ? describe(row) : null });
	};
}

function describe(row: ToolCallRow): AuditedCallDetails {
	const { tool, outcome, milliseconds, client, key, person } = row;
	return {
		...{ tool, outcome, client, key, person },
		at: Number(row.at),
		milliseconds: Number(milliseconds),
		guild: row.guild_id,
		arguments: row.arguments,
	};
}
