// The real bot with the suite's fixture tools, the real gateway in front of it, and, because the suite can send no
// token, a proxy that adds one. For tests, and to run the suite by hand: `bun test/conformance/servers.ts`.

import { startBothServers, token } from "../support/both-servers.ts";
import { fixturePrompts } from "./fixture-prompts.ts";
import { fixtureTools } from "./fixture-tools.ts";

export interface Servers extends AsyncDisposable {
	bot: string;
	gateway: string;
}

export async function startServers(): Promise<Servers> {
	await using stack = new AsyncDisposableStack();
	const servers = stack.use(
		await startBothServers({
			tools: fixtureTools,
			prompts: fixturePrompts,
			toml: { mcp: { approval: "destructive", approval_by: "client", approval_for_root: true } },
		}),
	);
	const proxy = (target: string) => {
		const http = startProxy(target);
		stack.defer(() => http.stop(true));
		return `http://localhost:${http.port}/mcp`;
	};
	const bot = proxy(servers.bot);
	const gateway = proxy(servers.gateway);
	const running = stack.move();
	return { bot, gateway, [Symbol.asyncDispose]: () => running.disposeAsync() };
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
			if (headers.get("origin") === `http://${own}`) headers.set("Origin", `http://${host}`);
			return fetch(target, {
				method: request.method,
				headers,
				body: request.body,
				signal: request.signal,
				redirect: "manual",
				// What is packed stays so, as its headers say.
				decompress: false,
			});
		},
	});
}

if (import.meta.main) {
	const { bot, gateway } = await startServers();
	console.log(`bot      ${bot}\ngateway  ${gateway}`);
}
