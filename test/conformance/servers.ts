// The real bot with the suite's fixture tools, the real gateway in front of it, and, because the suite can send no
// token, a proxy that adds one. For tests, and to run the suite by hand: `bun test/conformance/servers.ts`.

import { startBot } from "../../src/bot/bot.ts";
import { readConfig } from "../../src/gateway/config.ts";
import { startGateway } from "../../src/gateway/gateway.ts";
import { createLog } from "../../src/lib/log.ts";
import { fixtureTools } from "./fixture-tools.ts";

const token = "a-token-of-enough-length";
const log = createLog("text", () => {});

export interface Servers extends AsyncDisposable {
	bot: string;
	gateway: string;
}

export async function startServers(): Promise<Servers> {
	await using stack = new AsyncDisposableStack();
	const bot = startBot(
		{
			botName: "Fixture",
			command: "!m",
			discordToken: "token",
			// Nothing is there: the fixture tools need no Discord.
			discordApiUrl: "http://127.0.0.1:1/api",
			guildId: undefined,
			mcpPort: 0,
			mcpBindAddress: "127.0.0.1",
			mcpToken: token,
			allowedHosts: [],
			allowedOrigins: [],
		},
		log,
		fixtureTools,
	);
	stack.defer(() => bot.close());
	const gateway = await startGateway(
		readConfig({
			INSTANCES: `fixture=${new URL(bot.url).origin}`,
			MCP_AUTH_TOKEN: token,
			GATEWAY_PORT: "0",
			GATEWAY_BIND_ADDR: "127.0.0.1",
			DEFAULT_INSTANCE: "fixture",
		}),
		log,
	);
	stack.defer(() => gateway.close());
	const proxies = [bot.url, gateway.url].map(startProxy);
	for (const proxy of proxies) stack.defer(() => proxy.stop(true));
	const [botProxy, gatewayProxy] = proxies.map(
		({ port }) => `http://localhost:${port}/mcp`,
	);
	const running = stack.move();
	return {
		bot: botProxy ?? "",
		gateway: gatewayProxy ?? "",
		[Symbol.asyncDispose]: () => running.disposeAsync(),
	};
}

/** Passes everything on with the token added. Host and Origin are changed only where they name the proxy: a forged one stays. */
function startProxy(target: string) {
	return Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		idleTimeout: 0,
		fetch(request, server) {
			const headers = new Headers(request.headers);
			headers.set("Authorization", `Bearer ${token}`);
			const own = `localhost:${server.port}`;
			const { host } = new URL(target);
			if (headers.get("host") === own) headers.set("Host", host);
			if (headers.get("origin") === `http://${own}`)
				headers.set("Origin", `http://${host}`);
			return fetch(target, {
				method: request.method,
				headers,
				body: request.body,
				signal: request.signal,
				redirect: "manual",
			});
		},
	});
}

if (import.meta.main) {
	const { bot, gateway } = await startServers();
	console.log(`bot      ${bot}\ngateway  ${gateway}`);
}
