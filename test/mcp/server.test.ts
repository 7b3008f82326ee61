import { expect, test } from "bun:test";
import * as v from "valibot";
import { eventBytes } from "../../src/mcp/http-response.ts";
import { parseMessage, RpcError } from "../../src/mcp/json-rpc.ts";
import { type Caller, createServer, promptMethods, type Server, toolSource } from "../../src/mcp/server.ts";
import { tool } from "../../src/mcp/tool.ts";
import { ToolList } from "../../src/mcp/tool-list.ts";
import { recordLog } from "../support/log.ts";
import { toolSet } from "../support/tool-set.ts";

const greet = tool<{ name: v.StringSchema<undefined> }, object>({
	name: "greet",
	title: "Greet",
	description: "Greet someone.",
	effect: "read",
	input: { name: v.string() },
	run() {
		throw new Error("inside information");
	},
});

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

/** The message in the response to a call. */
async function handle(server: Server, params: object, id: string | number = 1): Promise<string> {
	const request = parseMessage(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }));
	if (request.kind !== "request") throw new Error("not a request");
	const event = new TextDecoder().decode(eventBytes(await server.handle(request, legacy)));
	return event.replace(/^event: message\ndata: /, "").trimEnd();
}

test("a call that meets a bug is -32603, with the details in the log alone", async () => {
	const { log, lines } = recordLog();
	const server = createServer({
		info: { name: "test", title: "Test", version: "1.2.3" },
		instructions: "",
		prompts: promptMethods(() => []),
		tools: toolSource(() => ({ set: toolSet([greet]), context: {} })),
		log,
	});
	const { error } = JSON.parse(await handle(server, { name: "greet", arguments: { name: "Ada" } }));
	expect(error).toMatchObject({ code: -32603, message: "Internal error" });
	expect(lines).toHaveLength(1);
	expect(lines[0]).toContain("inside information");
});

test("an RpcError of a tool source's is answered under the request's id", async () => {
	const server = createServer({
		info: { name: "t", title: "T", version: "1" },
		instructions: "",
		prompts: promptMethods(() => []),
		tools: {
			list: () => new ToolList('{"tools":[]}'),
			ttlMs: () => 0,
			call: () => Promise.reject(new RpcError(-1, "no")),
		},
		log: recordLog().log,
	});
	expect(await handle(server, {}, "ünï")).toBe('{"jsonrpc":"2.0","id":"ünï","error":{"code":-1,"message":"no"}}');
});
