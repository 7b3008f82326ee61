// Callers with limits, through a gateway to a real bot.

import { afterAll, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createKey, type KeyScope } from "../../src/gateway/keys/keys.ts";
import { createGatewayClient, gatewayToken, startTestGateway } from "../support/gateway.ts";
import { openGatewayStore } from "../support/gateway-store.ts";
import { memberNamed, startWorld } from "../support/world.ts";

const guildNamed = (name: string, members: string[]) => ({
	name,
	owner: "owner",
	bots: [{ username: "alpha", permissions: 8n }],
	roles: [],
	channels: [{ name: "general" }],
	members: members.map((username) => ({ username, roles: [] })),
});

async function start() {
	const world = await startWorld(
		{
			seed: {
				bots: [{ username: "alpha" }],
				users: [{ username: "owner" }, { username: "ada" }],
				guilds: [guildNamed("The Cooks", ["ada"]), guildNamed("The Bakers", [])],
			},
		},
		{ mcpToken: gatewayToken },
	);
	const directory = join(world.dataDirectory, "gateway");
	mkdirSync(directory);
	const opened = openGatewayStore({ settings: { databaseUrl: undefined, schema: undefined, directory } });
	const alpha = { url: new URL(world.bot.url).origin };
	const { store } = opened;
	const gateway = await startTestGateway({ alpha }, { options: { store } });
	const close = async () => {
		await gateway.close();
		await opened[Symbol.asyncDispose]();
		await world[Symbol.asyncDispose]();
	};
	return {
		world,
		gateway,
		close,
		cooks: world.simulator.guild("The Cooks").id,
		bakers: world.simulator.guild("The Bakers").id,
		ada: world.simulator.user("ada").id,
		async key(name: string, scope: KeyScope) {
			const secret = await createKey(store, name, scope);
			return createGatewayClient(`${gateway.url}/mcp`, secret);
		},
	};
}

const started = start();
afterAll(async () => (await started).close());
const unknown = "123456789012345678";

test("a key for one guild cannot tell another from one that does not exist", async () => {
	const { key, cooks, bakers } = await started;
	const client = await key("cooks", { access: "all", guilds: [cooks] });
	const listed = await client.text("list_instances");
	expect(listed).toContain(`1 guild(s): The Cooks (${cooks})`);
	expect(listed).not.toContain(bakers);
	expect(await client.text("list_guilds", { instance: "alpha" })).toStartWith("1 guild(s):");
	for (const more of [{}, { instance: "alpha" }]) {
		const answer = async (guild_id: string) => {
			const text = JSON.stringify(await client.call("list_roles", { guild_id, ...more }));
			return text.replaceAll(guild_id, "ID");
		};
		expect(await answer(bakers)).toBe(await answer(unknown));
		expect(await answer(cooks)).toContain("@everyone");
	}
	const second = [
		(id: string) => ["compare_guilds", { with: id }],
		(id: string) => ["plan_guild", { copy_from: { guild_id: id, parts: ["roles"] } }],
		(id: string) => ["use_reading_tool", { name: "compare_guilds", arguments: { with: id } }],
	] as const;
	for (const asked of second) {
		const answer = async (id: string) => {
			const [name, args] = asked(id);
			return (await client.text(String(name), { guild_id: cooks, ...Object(args) })).replaceAll(id, "ID");
		};
		expect(await answer(bakers)).toStartWith("ERROR ");
		expect(await answer(bakers)).toBe(await answer(unknown));
	}
});

test("a reader is told why a tool that changes something is refused, and how to raise the access", async () => {
	const { gateway, cooks, key } = await started;
	const reader = await key("reader", { access: "read" });
	const readOnly = createGatewayClient(`${gateway.url}/mcp/readonly`);
	for (const [client, how] of [
		[reader, "creates a key with --access"],
		[readOnly, "The client limits itself"],
	] as const) {
		const listed = await client.toolNames();
		expect(listed).toContain("list_roles");
		expect(listed).toContain("list_instances");
		expect(listed).not.toContain("ban");
		const unknown = await client.call("no_such_tool", { guild_id: cooks });
		expect(unknown.error).toEqual({ code: -32601, message: "Method not found: no_such_tool" });
		for (const name of ["ban", "send_message"]) {
			const text = await client.text(name, { guild_id: cooks });
			expect(text).toContain(' was not run: it needs the access "');
			expect(text).toContain('this connection has only "read"');
			expect(text).toContain(how);
		}
		const instances = await client.text("list_instances");
		expect(instances).toContain("This connection may only read:");
		expect(instances).toContain(how);
		// Without a target, too: all bots answer, within the limits of the caller.
		const found = await client.text("find_tools", { query: "ban a member" });
		expect(found).toContain("get_bans");
		expect(found).toStartWith('ban (needs the access "all", and this connection has only "read"): ');
	}
	const { error } = await gateway.call("ban", { guild_id: cooks });
	expect(error?.code).toBe(-32602);
});

test("a client that names toolsets gets exactly these", async () => {
	const { gateway } = await started;
	const answer = await gateway.post(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }), {
		"X-MCP-Toolsets": "roles",
		"X-MCP-Readonly": "true",
	});
	const tools = answer.message().result?.tools as { name: string }[];
	expect(tools.map(({ name }) => name)).toEqual(["list_roles", "list_instances"]);
});

test("a person sees and reaches only their guilds, until they leave", async () => {
	const { world, key, cooks, bakers, ada } = await started;
	const client = await key("ada", { access: "read", person: ada });
	const listed = await client.text("list_instances");
	expect(listed).toContain(cooks);
	expect(listed).not.toContain(bakers);
	const read = (guild_id: string) => client.text("list_roles", { guild_id });
	expect(await read(cooks)).toContain("@everyone");
	expect((await read(bakers)).replaceAll(bakers, "ID")).toBe((await read(unknown)).replaceAll(unknown, "ID"));
	const { simulator, guild } = world;
	simulator.world.members.remove(guild, memberNamed(world, "ada"));
	await world.heard();
	expect(await read(cooks)).not.toContain("@everyone");
});
