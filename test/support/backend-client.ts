// What carries the gateway's requests to bots in tests: its own client, or with BACKEND_CLIENT=fetch what stands behind
// https: addresses. Nothing that a client can see may differ.

import { createFetchSend } from "../../src/lib/http.ts";

export const connect =
	process.env.BACKEND_CLIENT === "fetch" ? createFetchSend : undefined;
