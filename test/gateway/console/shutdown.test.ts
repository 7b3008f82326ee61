// The console does not delay the end of the gateway, and its calls may take longer than Bun's idle timeout.

import { expect, test } from "bun:test";
import { readConfig } from "../../../src/gateway/config/config.ts";
import { createGateway, startGateway } from "../../../src/gateway/gateway.ts";
import { gatewayToken } from "../../support/gateway.ts";
import { recordLog } from "../../support/log.ts";
import { startStubBackend } from "../../support/stub-backend.ts";
import { ConsoleClient, signedIn } from "./console-client.ts";

test("an open event stream ends when the gateway stops", async () => {
	await using bot = startStubBackend();
	const config = readConfig({
		INSTANCES: `alpha=${bot.url}`,
		MCP_AUTH_TOKEN: gatewayToken,
		GATEWAY_PORT: "0",
		GATEWAY_BIND_ADDR: "127.0.0.1",
		// The gateway would wait this long if it did not end the stream.
		SHUTDOWN_SECONDS: "3600",
	});
	const gateway = await startGateway(config, recordLog().log);
	const client = await signedIn(gateway.url.replace("/mcp", ""));
	const stream = await client.request("/api/events");
	await gateway.close();
	expect(await stream.text()).toEndWith('event: end\ndata: {"reason":"stopping"}\n\n');
});

test("a change may take a minute", async () => {
	const config = readConfig({ INSTANCES: "alpha=http://127.0.0.1:1", MCP_AUTH_TOKEN: gatewayToken });
	const gateway = createGateway(config, recordLog().log);
	const timeouts: number[] = [];
	const http = { requestIP: () => null, timeout: (_: Request, seconds: number) => timeouts.push(seconds) };
	const server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		fetch: (request) => gateway.fetch(request, http as never),
	});
	try {
		const client = new ConsoleClient(server.url.origin);
		await client.signIn();
		await client.get("state");
		// A request without a session does not get the longer timeout.
		expect(timeouts).toEqual([]);
		await client.post("tools/call", { name: "none" });
		expect(timeouts).toEqual([60]);
	} finally {
		await server.stop(true);
		await gateway.close();
	}
});
