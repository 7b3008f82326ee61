import { expect, test } from "bun:test";
import { readTools, ToolsReader } from "../../../src/gateway/backends/listed-tools.ts";
import { stagger } from "../../../src/lib/stagger.ts";
import { createTestBackend } from "../../support/gateway.ts";
import { stall, startStubBackend } from "../../support/stub-backend.ts";

const tool = (name: string) => `{"name":"${name}","inputSchema":{"type":"object"}}`;
const response = (id: number, ...names: string[]) =>
	`{"jsonrpc":"2.0","id":${id},"result":{"tools":[${names.map(tool).join(",")}]}}`;

test("a list that was read before gives the same object, whatever the id", () => {
	const reader = new ToolsReader(2);
	const first = reader.read(response(1, "a", "b"));
	expect(first).toEqual(readTools(response(1, "a", "b")));
	expect(reader.read(response(234, "a", "b"))).toBe(first);
	expect(reader.read(response(1, "a"))).toEqual(readTools(response(1, "a")));
});

test("no more lists are remembered than it is made for", () => {
	const reader = new ToolsReader(2);
	const first = reader.read(response(1, "a"));
	reader.read(response(1, "b"));
	reader.read(response(1, "c"));
	const again = reader.read(response(1, "a"));
	expect(again).toEqual(first);
	expect(again).not.toBe(first);
});

test("responses that differ before their result are never taken for each other", () => {
	const reader = new ToolsReader(9);
	const shadowed = `{"jsonrpc":"2.0","id":1,"r\\u0065sult":{"tools":[${tool("z")}]},"x":{"id":1,"result":{"tools":[${tool("a")}]}}}`;
	expect(reader.read(shadowed)).toEqual(readTools(shadowed));
	expect(reader.read(response(1, "a")).tools[0]?.name).toBe("a");
	expect(reader.read(shadowed).tools[0]?.name).toBe("z");
});

test("a bot whose tools and guilds have not changed keeps them as the same objects", async () => {
	await using stub = startStubBackend({ tools: [tool("a")], guilds: { "300": "C" } });
	const { backend } = createTestBackend({ url: stub.url });
	await backend.refresh();
	const { tools, guilds } = backend;
	expect(guilds.get("300")).toBe("C");
	await backend.refresh();
	expect(backend.tools).toBe(tools);
	expect(backend.guilds).toBe(guilds);
	stub.guilds = { "300": "D" };
	stub.tools = [tool("a"), tool("b")];
	await backend.refresh();
	expect(backend.guilds.get("300")).toBe("D");
	expect(backend.tools?.map(({ name }) => name)).toEqual(["a", "b"]);
	stub.tools = [tool("a")];
	await backend.refresh();
	expect(backend.tools).toHaveLength(1);
	await backend.close();
});

test("bots that do not answer do not delay the refresh of the others", async () => {
	await using stalled = startStubBackend({ on: { initialize: stall } });
	await using quick = startStubBackend({ guilds: { "300": "C" } });
	const bots = [...Array.from({ length: 12 }, () => stalled), ...Array.from({ length: 8 }, () => quick)].map(
		({ url }) => createTestBackend({ url }).backend,
	);
	const refreshed = stagger(bots, (backend) => backend.refresh());
	await Promise.all(refreshed.slice(12));
	for (const bot of bots.slice(12)) expect(bot.guilds.has("300")).toBe(true);
	for (const bot of bots) void bot.close();
});
