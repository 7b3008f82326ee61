// The HTTP client of the gateway in tests: its own, or with BACKEND_CLIENT=fetch the one for https: addresses. The tests
// must pass with both.

import { createFetchDispatch } from "../../src/lib/http.ts";

export const connect = process.env.BACKEND_CLIENT === "fetch" ? createFetchDispatch : undefined;
