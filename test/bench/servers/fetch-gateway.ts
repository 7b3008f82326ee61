// The gateway with plain `fetch` towards its bots, connections kept: what our own HTTP client is measured against. All
// else is the gateway as it is.

import { readConfig } from "../../../src/gateway/config/config.ts";
import { startGateway } from "../../../src/gateway/gateway.ts";
import { HttpFailure, type Send } from "../../../src/lib/http.ts";
import { runProgram } from "../../../src/lib/program/program.ts";
import { toAbortSignal } from "../../../src/lib/signal.ts";

function fetchSend(url: string): Send {
	return async ({ method, headers, requestId, body }, signal) => {
		const response = await fetch(url, {
			method,
			headers: requestId ? { ...headers, "X-Request-Id": requestId } : headers,
			body: body ?? null,
			signal: toAbortSignal(signal),
		}).catch((cause) => {
			throw new HttpFailure(String(cause), "sent", { cause });
		});
		return {
			status: response.status,
			headers: response.headers,
			body: readBody(response),
			whole: () => response.bytes(),
			discard() {},
		};
	};
}

async function* readBody({ body }: Response) {
	if (body) yield* body;
}

await runProgram(
	() => readConfig(process.env),
	(config, log) => startGateway(config, log, { connect: fetchSend }),
);
