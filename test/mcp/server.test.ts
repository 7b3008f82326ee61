import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import { ToolError } from "../../src/lib/tool-error.ts";
import { ToolList } from "../../src/mcp/fast/tool-list.ts";
import { eventBytes } from "../../src/mcp/http-response.ts";
import { parseMessage, RpcError } from "../../src/mcp/json-rpc.ts";
import { briefSchema } from "../../src/mcp/json-schema.ts";
import { type Caller, createServer, promptSource, type Server, toolSet, toolSource } from "../../src/mcp/server.ts";
import { type Tool, tool } from "../../src/mcp/tool.ts";
import { recordLog } from "../support/log.ts";

const greet = tool<{ name: v.StringSchema<undefined> }, { greeting: string }>({
	name: "greet",
	title: "Greet",
	description: "Greet someone.",
	effect: "read",
	input: { name: v.string() },
	run({ name }, { greeting }) {
		if (name === "nobody") throw new ToolError("Nobody is there.");
		if (name === "bug") throw new Error("inside information");
		return `${greeting}, ${name}!`;
	},
});
const wave = tool<Record<never, never>, { greeting: string }>({
	name: "wave",
	title: "Wave",
	description: "Wave.",
	effect: "write",
	input: {},
	run: () => "o/",
});

const greetings = toolSet([greet, wave]);

function start() {
	const { log, lines } = recordLog();
	const server = createServer({
		info: { name: "test", title: "Test", version: "1.2.3" },
		instructions: "Begin anywhere.",
		prompts: promptSource(() => []),
		tools: toolSource(() => ({ set: greetings, context: { greeting: "Hello" } })),
		log,
	});
	return { server, lines };
}

/** A caller without a session, of the era that has them. */
const legacy: Caller = {
	modern: false,
	session: undefined,
	principal: undefined,
	elicits: false,
	signal: undefined,
	notify: undefined,
	requestId: undefined,
};

async function handle(
	server: Server,
	method: string,
	params?: unknown,
	id: string | number = 1,
): Promise<{ text: string; message: Record<string, unknown>; initialized: string | undefined }> {
	const request = parseMessage(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
	if (request.kind !== "request") throw new Error("not a request");
	const response = await server.handle(request, legacy);
	const event = new TextDecoder().decode(eventBytes(response));
	const text = event.replace(/^event: message\ndata: /, "").trimEnd();
	const initialized = response.kind === "text" ? response.initialized : undefined;
	return { text, message: JSON.parse(text), initialized };
}

test("tools/list shows the tools in their order", async () => {
	const { server } = start();
	const { message } = await handle(server, "tools/list");
	const brief = ({ listing: { title: _, ...listing } }: Tool<never>) => ({
		...listing,
		inputSchema: briefSchema(listing.inputSchema),
	});
	expect(message.result).toEqual({ tools: [greet, wave].map(brief) });
});

describe("tools/call", () => {
	const call = async (name: unknown, args?: unknown) => {
		const { server, lines } = start();
		const { message } = await handle(server, "tools/call", { name, arguments: args });
		return { ...message, lines };
	};

	test("runs the tool with its context", async () => {
		expect(await call("greet", { name: "Ada" })).toMatchObject({
			id: 1,
			result: { content: [{ type: "text", text: "Hello, Ada!" }] },
			lines: [],
		});
	});

	test("of a tool that there is not is -32601, naming it", async () => {
		expect(await call("grete", { name: "Ada" })).toMatchObject({
			error: { code: -32601, message: "Method not found: grete" },
			lines: [],
		});
		expect(await call("constructor")).toMatchObject({ error: { code: -32601 } });
	});

	test("with arguments that do not match is -32602, naming the field", async () => {
		expect(await call("greet", {})).toMatchObject({
			error: { code: -32602, message: "Invalid parameters: name: is required" },
			lines: [],
		});
	});

	test("that fails with a ToolError is a result", async () => {
		expect(await call("greet", { name: "nobody" })).toMatchObject({
			result: { isError: true, content: [{ text: "Nobody is there." }] },
			lines: [],
		});
	});

	test("that meets a bug is -32603, with the details in the log alone", async () => {
		const answer = await call("greet", { name: "bug" });
		expect(answer).toMatchObject({ error: { code: -32603, message: "Internal error" } });
		expect(answer.lines).toHaveLength(1);
		expect(answer.lines[0]).toContain("inside information");
	});
});

test("two tools of one name are a bug at the start", () => {
	expect(() => toolSet([wave, greet, wave])).toThrow(TypeError);
});

test("an RpcError of a tool source's is answered under the request's id", async () => {
	const server = createServer({
		info: { name: "t", title: "T", version: "1" },
		instructions: "",
		prompts: promptSource(() => []),
		tools: {
			list: () => new ToolList('{"tools":[]}'),
			ttlMs: () => 0,
			call: () => Promise.reject(new RpcError(-1, "no")),
		},
		log: recordLog().log,
	});
	expect((await handle(server, "tools/call", {}, "ünï")).text).toBe(
		'{"jsonrpc":"2.0","id":"ünï","error":{"code":-1,"message":"no"}}',
	);
});
