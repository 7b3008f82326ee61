// `fetch` as an exchange of ours. How far a request got is held against real servers in test/mcp/client.test.ts.

import { expect, test } from "bun:test";
import { createFetchDispatch, HttpFailure } from "../../src/lib/http.ts";
import { sendBy } from "../support/send.ts";

test("a request that is given up before it begins was not sent", async () => {
	let requests = 0;
	await using server = Bun.serve({
		port: 0,
		fetch() {
			requests += 1;
			return new Response();
		},
	});
	const send = sendBy(createFetchDispatch(server.url.href));
	const error = await send({ method: "POST", headers: {}, body: "hello" }, AbortSignal.abort("nobody waits")).catch(
		(error) => error,
	);
	expect(error).toBeInstanceOf(HttpFailure);
	expect(error.progress).toBe("unsent");
	expect(requests).toBe(0);
});
