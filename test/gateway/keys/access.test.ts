// Keys at the gateway's endpoint: who gets in, and what is logged about them.

import { expect, test } from "bun:test";
import { createKey, revokeKey } from "../../../src/gateway/keys/keys.ts";
import { createToken, tokenPrefixes } from "../../../src/gateway/keys/token.ts";
import { principalCapability } from "../../../src/lib/principal.ts";
import type { Store } from "../../../src/lib/store/store.ts";
import { createGatewayClient, gatewayToken, startTestGateway } from "../../support/gateway.ts";
import { openGatewayStore } from "../../support/gateway-store.ts";
import { onBoth, onOwnPostgres } from "../../support/stores.ts";
import { startStubBackend } from "../../support/stub-backend.ts";
import { present, until } from "../../support/until.ts";

const guild = "100000000000000001";
const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

/** A bot that enforces principals, and a gateway in front of it. */
async function startWorld(store: Store) {
	const alpha = startStubBackend({ guilds: { [guild]: "A" }, experimental: [principalCapability] });
	const gateway = await startTestGateway({ alpha }, { options: { store } });
	return {
		alpha,
		gateway,
		/** The status of a request with this token. */
		status: async (token: string) => (await clientOf(gateway.url, token).post(ping)).status,
		[Symbol.asyncDispose]: gateway[Symbol.asyncDispose],
	};
}

const clientOf = (url: string, token: string) => createGatewayClient(`${url}/mcp`, token);

onBoth((databases) => {
	test("a key gets in; guesses, and keys of others, do not", async () => {
		await using opened = openGatewayStore(await databases.place());
		const { store } = opened;
		await using world = await startWorld(store);
		const secret = present(await createKey(store, "mods", { access: "all" }));
		expect(await world.status(secret)).toBe(200);
		const last = secret.at(-1) === "0" ? "1" : "0";
		for (const guess of [
			createToken("key"),
			createToken("access"),
			secret.slice(0, -1) + last,
			secret.replace(tokenPrefixes.key, ""),
			`${secret}x`,
		])
			expect(await world.status(guess)).toBe(401);
		// What concerns all bots is for the root key alone.
		for (const path of ["/status", "/metrics"]) {
			const headers = { Authorization: `Bearer ${secret}` };
			const { status } = await fetch(world.gateway.url + path, { headers });
			expect(status).toBe(401);
		}
	});

	test("a revoked key ends on every gateway that shares the database", async () => {
		const place = await databases.place();
		await using a = openGatewayStore(place);
		await using b = openGatewayStore(place);
		await using first = await startWorld(a.store);
		await using second = await startWorld(b.store);
		const secret = (await createKey(a.store, "mods", { access: "all" })) ?? "";
		expect(await first.status(secret)).toBe(200);
		expect(await second.status(secret)).toBe(200);
		await revokeKey(b.store, "mods");
		for (const { status } of [first, second]) await until("it has ended", async () => (await status(secret)) === 401);
		for (const { status } of [first, second]) expect(await status(secret)).toBe(401);
	});

	test("log lines of calls name the key and its person, and no secret", async () => {
		await using opened = openGatewayStore(await databases.place());
		const { store } = opened;
		await using world = await startWorld(store);
		const { gateway } = world;
		const person = "300000000000000003";
		const secret = (await createKey(store, "mods", { access: "all", person })) ?? "";
		await clientOf(gateway.url, secret).call("echo", { guild_id: guild });
		await gateway.call("echo", { guild_id: guild });
		const [byKey, byRoot] = gateway.recorded.entries("MCP tool call finished");
		expect(byKey).toMatchObject({ key: "mods", person });
		expect(byRoot).toBeDefined();
		expect(byRoot).not.toContainAnyKeys(["key", "person", "client"]);
		const logged = [...gateway.recorded.lines, ...opened.logged.lines].join();
		expect(logged).not.toContain(secret.slice(0, 30));
	});
});

onOwnPostgres((databases) => {
	test("while the database is away, keys get 503 and the root key works", async () => {
		await using opened = openGatewayStore(await databases.place());
		const { store } = opened;
		await using world = await startWorld(store);
		const secret = (await createKey(store, "mods", { access: "all" })) ?? "";
		expect(await world.status(secret)).toBe(200);
		await databases.postgres.kill();
		await until("what was known is forgotten", async () => (await world.status(secret)) === 503);
		const { status, headers } = await clientOf(world.gateway.url, createToken("key")).post(ping);
		expect([status, headers.get("retry-after")]).toEqual([503, "5"]);
		expect((await world.gateway.post(ping)).status).toBe(200);
		const monitor = async (path: string) =>
			(await fetch(world.gateway.url + path, { headers: { Authorization: `Bearer ${gatewayToken}` } })).text();
		expect(await monitor("/readyz")).toBe("degraded\n");
		expect(JSON.parse(await monitor("/status"))).toMatchObject({
			database: { state: "degraded", reason: expect.any(String) },
		});
		await databases.postgres.start();
		// Without a request that needs it.
		await until("it is open again", async () => (await monitor("/readyz")) === "ok\n");
		expect(JSON.parse(await monitor("/status"))).toMatchObject({ database: { state: "ready" } });
		expect(await world.status(secret)).toBe(200);
	});
});
