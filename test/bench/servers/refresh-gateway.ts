// The gateway, which refreshes its bots' tools and guilds whenever POST /refresh asks it to, and answers how many
// milliseconds that took. All else is the gateway as it is.

import { readConfig } from "../../../src/gateway/config/config.ts";
import { createGateway } from "../../../src/gateway/gateway.ts";
import { listen } from "../../../src/lib/program/listen.ts";
import { runProgram } from "../../../src/lib/program/program.ts";

await runProgram(
	() => readConfig(process.env),
	async (config, log) => {
		const gateway = createGateway(config, log);
		const refresh = async () => {
			const from = performance.now();
			await gateway.refresh();
			return new Response(String(performance.now() - from));
		};
		const listener = listen({
			hostname: config.bindAddress,
			port: config.port,
			settings: { hostname: "GATEWAY_BIND_ADDR", port: "GATEWAY_PORT" },
			fetch: (request, http) => (request.url.endsWith("/refresh") ? refresh() : gateway.fetch(request, http)),
			log,
		});
		return {
			drain: () => listener.drain(),
			async close() {
				await listener.close(0);
				await gateway.close();
			},
		};
	},
);
