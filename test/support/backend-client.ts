// What carries the gateway's requests to bots in tests: its own client, or with BACKEND_CLIENT=fetch what stands behind
// https: addresses. What they cannot know about a lost connection differs, and nothing else may.

import { createFetchSend } from "../../src/lib/http.ts";

export const connect =
	process.env.BACKEND_CLIENT === "fetch" ? createFetchSend : undefined;
