import { expect, test } from "bun:test";
import { readHealthAddress as botAddress } from "../../../src/bot/config/config.ts";
import { readHealthAddress as gatewayAddress } from "../../../src/gateway/config/config.ts";
import { askHealth } from "../../../src/lib/program/health.ts";

/** A server that answers `/ready` as `answer` does. */
function serve(answer: (request: Request) => Response | Promise<Response>, hostname = "127.0.0.1") {
	const server = Bun.serve({ hostname, port: 0, fetch: answer });
	const port = server.port ?? 0;
	return {
		port,
		ask: (as = hostname, timeout?: number) => {
			const at = { hostname: as, port, path: "/ready", portSetting: "PORT" };
			return askHealth(at, timeout);
		},
		[Symbol.asyncDispose]: () => server.stop(true),
	};
}

test.each([
	[200, "ready", true],
	[204, "", true],
	[302, "elsewhere", false],
	[403, "Host header is not allowed", false],
	[503, "no backend is online", false],
] as const)("an answer %i %j is told", async (status, text, ready) => {
	const headers = { Location: "/elsewhere" };
	await using server = serve(({ url }) =>
		url.endsWith("/ready")
			? new Response(status === 204 ? null : `${text}\n`, { status, headers })
			: new Response("ready"),
	);
	expect(await server.ask()).toEqual({
		ready,
		line: `${ready ? "ready" : "not ready"}: http://127.0.0.1:${server.port}/ready: answers ${status} "${text}"`,
	});
});

test("a program that listens on all interfaces is asked on the loopback address", async () => {
	await using server = serve(({ url, headers }) => {
		return new Response(`${new URL(url).pathname} ${headers.get("host")}`);
	}, "0.0.0.0");
	for (const hostname of ["0.0.0.0", "::", "127.0.0.1", "localhost"]) {
		const { ready, line } = await server.ask(hostname);
		expect(line).toEndWith(`answers 200 "/ready localhost:${server.port}"`);
		expect(ready).toBe(true);
	}
});

test("a refused connection and a late answer are not ready", async () => {
	const never = Promise.withResolvers<Response>();
	const silent = serve(() => never.promise);
	expect(await silent.ask("127.0.0.1", 20)).toEqual({
		ready: false,
		line: `not ready: http://127.0.0.1:${silent.port}/ready: no answer within 0.02 s`,
	});
	await silent[Symbol.asyncDispose]();
	expect(await silent.ask()).toEqual({
		ready: false,
		line: `not ready: http://127.0.0.1:${silent.port}/ready: the connection was refused`,
	});
});

test("an answer that does not end is not ready, and one that is long is one short line", async () => {
	await using stuck = serve(() => new Response(new ReadableStream({ start() {} })));
	expect((await stuck.ask("127.0.0.1", 100)).ready).toBe(false);
	await using long = serve(() => new Response("x\u2028\u001b[2J ".repeat(100_000)));
	const { line } = await long.ask();
	expect(line).not.toMatch(/[\p{Cc}\p{Zl}]/u);
	expect(line.length).toBeLessThan(250);
});

test("port 0 is an error, because the actual port is unknown", async () => {
	const address = gatewayAddress({ GATEWAY_PORT: "0" });
	await expect(askHealth(address)).rejects.toThrow("GATEWAY_PORT: is 0");
	await expect(askHealth(botAddress({ MCP_PORT: "0" }))).rejects.toThrow("MCP_PORT: is 0");
});

test("only the address is read, and an issue in it is reported", () => {
	expect(gatewayAddress({})).toMatchObject({ hostname: "0.0.0.0", port: 9100, path: "/readyz" });
	expect(botAddress({ MCP_BIND_ADDR: "0.0.0.0" })).toMatchObject({ hostname: "0.0.0.0", port: 9090, path: "/mcp" });
	expect(() => gatewayAddress({ GATEWAY_PORT: "high" })).toThrow("GATEWAY_PORT: expected a whole number");
	expect(() => botAddress({ MCP_PORT: "-1" })).toThrow("MCP_PORT: expected a whole number");
});
