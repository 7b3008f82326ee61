// The least that a server of tools/list on Bun.serve can do: reads a request's body, and responds with bytes that are ready,
// with one id for all. No checks, no ids: the yardstick for the gateway.
//
//   bun test/bench/servers/bare-list.ts PORT FILE   packed for those who ask for it; ends with its stdin

import { gzipSync } from "node:zlib";

const [port, file = ""] = process.argv.slice(2);
const plain = await Bun.file(file).bytes();
const packed = gzipSync(plain);
const headers = { "Content-Type": "text/event-stream" };
const plainInit = { headers: new Headers(headers) };
const packedInit = { headers: new Headers({ ...headers, "Content-Encoding": "gzip" }) };

const server = Bun.serve({
	hostname: "127.0.0.1",
	port: Number(port),
	async fetch(request) {
		await request.text();
		return request.headers.get("accept-encoding") === "gzip"
			? new Response(packed, packedInit)
			: new Response(plain, plainInit);
	},
});
for await (const _ of Bun.stdin.stream());
await server.stop(true);
process.exit(0);
