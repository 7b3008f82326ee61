// Waits a short time for the approval that a tool call needs, without a place among the bot's calls in flight. The first
// result of the call names the approval, so a client that gets it can ask again later.

import type { Principal } from "../../lib/principal.ts";
import { Overloaded } from "../../lib/semaphore.ts";
import type { Signal } from "../../lib/signal.ts";
import { raceSignal } from "../../lib/wait.ts";
import { approvalMethod, decidedResult, decidesAtKey, pendingApproval } from "../../mcp/approval.ts";
import { ClientError, type ClientResponse } from "../../mcp/client.ts";
import type { Backend } from "../backends/backend.ts";

/** Milliseconds: `waitMs` for a decision, asked for every `pollMs`. */
export interface ApprovalTiming {
	waitMs: number;
	pollMs: number;
}

export const approvalTiming: ApprovalTiming = { waitMs: 10_000, pollMs: 500 };

/** Returns the `response` unchanged if the call needs no approval, or if nobody decides in time. */
export async function afterApproval(
	response: ClientResponse,
	backend: Backend,
	principal: Principal | undefined,
	signal: Signal,
	{ waitMs, pollMs }: ApprovalTiming,
): Promise<ClientResponse> {
	const id = pendingApproval(response.message);
	if (id === undefined || decidesAtKey in Object(Object(response.message.result)._meta)) return response;
	const params = JSON.stringify({ id });
	try {
		for (let waited = 0; waited < waitMs; waited += pollMs) {
			await raceSignal(Bun.sleep(pollMs), signal);
			const answer = await backend.read({ method: approvalMethod, params, principal }, signal).catch((error) => {
				if (!(error instanceof Overloaded)) throw error;
			});
			const result = answer && decidedResult(answer.message);
			if (!result) continue;
			const message = { jsonrpc: "2.0", id: response.message.id, result };
			return { message, text: JSON.stringify(message) };
		}
	} catch (error) {
		// The first result names the approval, so the client can ask for the decision itself.
		if (!signal.aborted && !(error instanceof ClientError)) throw error;
	}
	return response;
}
