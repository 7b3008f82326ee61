// The gateway as the program that an operator starts.

import { expect, test } from "bun:test";
import { readConfig } from "../../src/gateway/config/config.ts";
import { startGateway } from "../../src/gateway/gateway.ts";
import { clock } from "../support/clock.ts";
import { createGatewayClient, gatewayToken } from "../support/gateway.ts";
import { recordLog } from "../support/log.ts";
import { result, stall, startStubBackend } from "../support/stub-backend.ts";
import { until } from "../support/until.ts";

function spawnGateway(env: Record<string, string>) {
	return Bun.spawn({
		cmd: [process.execPath, `${import.meta.dir}/../../src/gateway/main.ts`],
		env: { PATH: process.env.PATH ?? "", ...clock, ...env },
		stdin: "pipe",
		stdout: "pipe",
		stderr: "pipe",
	});
}

/** The configuration for these instances, with a port of its own. */
function configOf(instances: Record<string, { url: string }>) {
	return readConfig({
		INSTANCES: Object.entries(instances)
			.map(([name, { url }]) => `${name}=${url}`)
			.join(","),
		MCP_AUTH_TOKEN: gatewayToken,
		GATEWAY_PORT: "0",
		GATEWAY_BIND_ADDR: "127.0.0.1",
	});
}

test("without an environment it prints every issue on stderr and exits 1", async () => {
	await using child = spawnGateway({ GATEWAY_PORT: "x" });
	expect(await child.exited).toBe(1);
	expect(await child.stdout.text()).toBe("");
	expect(await child.stderr.text()).toBe(
		[
			"the environment has 3 errors:",
			"  INSTANCES: is required",
			"  MCP_AUTH_TOKEN: is required",
			'  GATEWAY_PORT: expected a whole number from 0 to 65535, received "x"',
			"",
		].join("\n"),
	);
});

test("a port in use is an error that names the setting", async () => {
	const hostname = "127.0.0.1";
	await using bot = startStubBackend({ hostname });
	await using child = spawnGateway({
		INSTANCES: `alpha=${bot.url}`,
		MCP_AUTH_TOKEN: gatewayToken,
		GATEWAY_BIND_ADDR: hostname,
		GATEWAY_PORT: String(bot.port),
	});
	expect(await child.exited).toBe(1);
	expect(await child.stderr.text()).toContain("GATEWAY_PORT: ");
});

test("it starts with a bot away, warns of a short token, serves, and ends its sessions on SIGTERM", async () => {
	await using bot = startStubBackend({ guilds: { "300": "C" } });
	const away = startStubBackend();
	await away.stop();
	const token = "short-of-16";
	await using child = spawnGateway({
		INSTANCES: `alpha=${bot.url}/, beta=${away.url}/mcp`,
		MCP_AUTH_TOKEN: token,
		GATEWAY_BIND_ADDR: "127.0.0.1",
		GATEWAY_PORT: "0",
	});
	let stdout = "";
	let served = false;
	const decoder = new TextDecoder();
	for await (const chunk of child.stdout) {
		stdout += decoder.decode(chunk, { stream: true });
		const [, url] = /"gateway is listening for MCP requests","url":"(http:[^"]+)"/.exec(stdout) ?? [];
		if (!url || served) continue;
		served = true;
		const response = await fetch(url, {
			method: "POST",
			headers: { Authorization: `Bearer ${token}` },
			body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"guild_id":"300"}}}',
		});
		expect(await response.text()).toContain("ran echo");
		child.kill("SIGTERM");
	}
	expect(await child.exited).toBe(0);
	expect(await child.stderr.text()).toBe("");
	expect(bot.received("DELETE")).toHaveLength(1);
	expect(stdout).toContain(`"route":"alpha -> ${bot.url}/"`);
	expect(stdout).toContain(`"route":"beta -> ${away.url}/mcp"`);
	expect(stdout).toContain("MCP_AUTH_TOKEN has fewer than 16 characters");
	expect(stdout).not.toContain(token);
});

test("its first lines name each instance with its url, and tell what each serves", async () => {
	await using alpha = startStubBackend({ guilds: { "300": "C", "400": "D" } });
	const away = startStubBackend();
	await away.stop();
	const { log, entries, messages } = recordLog();
	const gateway = await startGateway(configOf({ alpha, beta: away }), log);
	const hasLogged = (message: string) => entries(message).length > 0;
	await until(
		"each has answered",
		() => hasLogged("refreshed the guilds and tools of a bot") && hasLogged("bot is offline"),
	);
	await gateway.close();
	expect(messages().slice(0, 4)).toEqual([
		"gateway is starting",
		"read a bot from the gateway's configuration",
		"read a bot from the gateway's configuration",
		"gateway is listening for MCP requests",
	]);
	expect(entries("gateway is starting")).toMatchObject([{ instances: 2 }]);
	expect(entries("read a bot from the gateway's configuration")).toMatchObject([
		{ instance: "alpha", route: `alpha -> ${alpha.url}` },
		{ instance: "beta", route: `beta -> ${away.url}` },
	]);
	expect(entries("gateway is listening for MCP requests")).toMatchObject([{ url: gateway.url }]);
	expect(messages().slice(4).sort()).toEqual([
		"bot is offline",
		"bot is online",
		"refreshed the guilds and tools of a bot",
	]);
	expect(entries("bot is online")).toMatchObject([{ instance: "alpha" }]);
	expect(entries("refreshed the guilds and tools of a bot")).toMatchObject([{ instance: "alpha", guilds: 2 }]);
	expect(entries("bot is offline")).toMatchObject([{ instance: "beta", reason: expect.stringMatching(/.+/) }]);
});

test("while one bot stalls it serves the others: calls, tools, and guilds that it is just learning about", async () => {
	const release = Promise.withResolvers<void>();
	await using quick = startStubBackend({
		guilds: { "300": "C" },
		on: {
			list_guilds: async () => {
				await release.promise;
				return undefined;
			},
		},
	});
	await using stalled = startStubBackend({ on: { initialize: stall } });
	const { log } = recordLog();
	const gateway = await startGateway(configOf({ stalled, quick }), log);
	const client = createGatewayClient(gateway.url);
	const tools = client.tools();
	const byGuild = client.text("echo", { guild_id: "300" });
	expect(await client.text("echo", { instance: "quick" })).toBe("ran echo");
	await quick.arrived("list_guilds");
	release.resolve();
	expect(await byGuild).toBe("ran echo");
	expect((await tools).map(({ name }) => name)).toEqual(["echo", "list_instances"]);
	// The stalled one is still being waited for: its handshake has 5 s.
	const [handshake] = stalled.received("initialize");
	expect(handshake?.signal.aborted).toBe(false);
	await stalled.stop();
	await gateway.close();
});

test("the first tools/list waits for the tools of one bot, not of all", async () => {
	const release = Promise.withResolvers<undefined>();
	await using quick = startStubBackend({ on: { "tools/list": () => release.promise } });
	await using stalled = startStubBackend({ on: { initialize: stall } });
	const { log } = recordLog();
	const config = configOf({ stalled, quick });
	const gateway = await startGateway(config, log, { firstAnswersMs: 0 });
	const tools = createGatewayClient(gateway.url).tools();
	await quick.arrived("tools/list");
	release.resolve(undefined);
	expect((await tools).map(({ name }) => name)).toContain("echo");
	await stalled.stop();
	await gateway.close();
});

test("a call that is still in flight after SHUTDOWN_SECONDS is answered all the same, and the exit is clean", async () => {
	await using bot = startStubBackend({ on: { echo: stall } });
	await using child = spawnGateway({
		INSTANCES: `alpha=${bot.url}`,
		MCP_AUTH_TOKEN: gatewayToken,
		GATEWAY_BIND_ADDR: "127.0.0.1",
		GATEWAY_PORT: "0",
		SHUTDOWN_SECONDS: "1",
	});
	let stdout = "";
	let answer: Promise<string> | undefined;
	const decoder = new TextDecoder();
	for await (const chunk of child.stdout) {
		stdout += decoder.decode(chunk, { stream: true });
		const [, url] = /"gateway is listening for MCP requests","url":"(http:[^"]+)"/.exec(stdout) ?? [];
		if (!url || answer) continue;
		answer = createGatewayClient(url).text("echo", { instance: "alpha" });
		await bot.arrived("echo");
		child.kill("SIGTERM");
	}
	expect(await answer).toStartWith(
		"ERROR Gateway error: OutcomeUnknown: the outcome of echo on alpha is unknown: the call was sent, but no answer to it came back (the gateway was stopped).",
	);
	expect(await child.exited).toBe(0);
	expect(stdout).toContain('"outcome":"outcome_unknown"');
	expect(bot.received("DELETE")).toHaveLength(1);
});

test("SIGTERM waits for calls in flight, and accepts nothing more", async () => {
	const release = Promise.withResolvers<void>();
	await using bot = startStubBackend({
		on: {
			echo: async () => {
				await release.promise;
				return undefined;
			},
		},
	});
	await using child = spawnGateway({
		INSTANCES: `alpha=${bot.url}`,
		MCP_AUTH_TOKEN: gatewayToken,
		GATEWAY_BIND_ADDR: "127.0.0.1",
		GATEWAY_PORT: "0",
	});
	let stdout = "";
	let answer: Promise<string> | undefined;
	for await (const chunk of child.stdout) {
		stdout += new TextDecoder().decode(chunk);
		const [, url] = /"gateway is listening for MCP requests","url":"(http:[^"]+)"/.exec(stdout) ?? [];
		if (url && !answer) {
			answer = createGatewayClient(url).text("echo", { instance: "alpha" });
			await bot.arrived("echo");
			child.kill("SIGTERM");
		}
		if (!url || !stdout.includes('"cause":"SIGTERM"')) continue;
		await until("nothing more is accepted", () =>
			fetch(url).then(
				() => false,
				() => true,
			),
		);
		release.resolve();
	}
	expect(await answer).toBe("ran echo");
	expect(await child.exited).toBe(0);
	expect(bot.received("DELETE")).toHaveLength(1);
});

test("a bot that comes up later is served after the next refresh, which comes by itself", async () => {
	const away = startStubBackend();
	await away.stop();
	const config = { ...configOf({ alpha: away }), refreshIntervalMs: 5 };
	const { log } = recordLog();
	const gateway = await startGateway(config, log);
	await using alpha = startStubBackend({ port: away.port, guilds: { "300": "C" } });
	// The refresh after the first that reached it has seen the end of that one.
	await alpha.arrived("list_guilds", 2);
	const client = createGatewayClient(gateway.url);
	expect(await client.text("echo", { guild_id: "300" })).toBe("ran echo");
	expect(await client.toolNames()).toEqual(["echo", "list_instances"]);
	await gateway.close();
});

test("after its end no refresh comes, though one was under way", async () => {
	await using alpha = startStubBackend();
	const config = { ...configOf({ alpha }), refreshIntervalMs: 1 };
	const gateway = await startGateway(config, recordLog().log);
	const held = Promise.withResolvers<void>();
	const release = Promise.withResolvers<void>();
	alpha.on["tools/list"] = async ({ id }) => {
		held.resolve();
		await release.promise;
		return result(id, '{"tools":[]}');
	};
	await held.promise;
	await gateway.close();
	const before = alpha.requests.length;
	release.resolve();
	// Time for many more refreshes than the one that must not come.
	for (let count = 0; count < 50; count++) await fetch(alpha.url);
	const since = alpha.requests.slice(before);
	expect(since.filter(({ method }) => method !== "GET")).toEqual([]);
});
