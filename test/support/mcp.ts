// An MCP client for tests: what it is told, it returns; what is refused, too.

import { createFetchSend } from "../../src/lib/http.ts";
import { type ClientSession, createClient } from "../../src/mcp/client.ts";
import { isObject } from "../../src/mcp/json-rpc.ts";

/** What a tool call came to: a text, or a JSON-RPC error. */
export interface Outcome {
	text: string;
	isError: boolean;
	/** The code of a JSON-RPC error; then `text` is its message. */
	code?: number;
}

export interface McpCaller {
	session: ClientSession;
	call(tool: string, args?: Record<string, unknown>): Promise<Outcome>;
	listTools(): Promise<{ name: string; [key: string]: unknown }[]>;
}

/** Opens a session with an MCP server. */
export async function connectTo(
	url: string,
	token?: string,
): Promise<McpCaller> {
	const client = createClient({
		send: createFetchSend(url),
		...(token !== undefined && { token }),
		info: { name: "test", version: "0" },
	});
	const session = await client.connect(AbortSignal.timeout(90_000));
	const request = async (method: string, params: unknown) =>
		(
			await client.request(
				session,
				method,
				JSON.stringify(params),
				AbortSignal.timeout(90_000),
			)
		).message;
	return {
		session,
		async call(name, args = {}) {
			const { result, error } = await request("tools/call", {
				name,
				arguments: args,
			});
			if (isObject(error))
				return {
					text: String(error.message),
					isError: true,
					code: Number(error.code),
				};
			const { content, isError } = result as {
				content: { type: string; text: string }[];
				isError?: boolean;
			};
			const text = content.map((item) => item.text).join("\n");
			return { text, isError: isError ?? false };
		},
		async listTools() {
			const { result } = await request("tools/list", {});
			return (result as { tools: { name: string }[] }).tools;
		},
	};
}
