// Prompts and the completion of their arguments, by a server without a transport.

import { describe, expect, test } from "bun:test";
import { parseMessage } from "../../src/mcp/json-rpc.ts";
import type { Prompt } from "../../src/mcp/prompts.ts";
import { createServer, promptMethods, toolSource } from "../../src/mcp/server.ts";
import { recordLog } from "../support/log.ts";
import { toolSet } from "../support/tool-set.ts";

const greet: Prompt = {
	name: "greet",
	title: "Greet",
	description: "Greet a person.",
	arguments: [
		{ name: "person", description: "Who.", required: true },
		{ name: "tone", description: "How." },
	],
	get: ({ person, tone = "kind" }) => `Greet ${person}, ${tone}.`,
	complete: (argument, typed) => (argument === "tone" ? Array.from({ length: 120 }, (_, n) => `${typed}-${n}`) : []),
};

const noTools = toolSet([]);

async function ask(method: string, params: object, modern = false) {
	const server = createServer({
		info: { name: "test", title: "Test", version: "0" },
		instructions: "",
		tools: toolSource(() => ({ set: noTools, context: {} })),
		prompts: promptMethods(() => [greet]),
		log: recordLog().log,
	});
	const text = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
	const request = parseMessage(text);
	if (request.kind !== "request") throw new Error("expected a request");
	const response = await server.handle(request, {
		...{ modern, session: undefined, principal: undefined, elicits: false, signal: undefined, notify: undefined },
		requestId: undefined,
	});
	if (response.kind !== "text") throw new Error("expected text");
	return JSON.parse(response.text);
}

test("the server says that it has prompts and completes their arguments", async () => {
	const { result } = await ask("initialize", { protocolVersion: "2025-11-25" });
	expect(result.capabilities).toEqual({ tools: {}, prompts: {}, completions: {} });
});

test("prompts/list has what people choose from", async () => {
	const listed = { name: "greet", title: "Greet", description: "Greet a person.", arguments: [...greet.arguments] };
	expect((await ask("prompts/list", {})).result).toEqual({ prompts: [listed] });
	const { result } = await ask("prompts/list", {}, true);
	expect(result).toMatchObject({ resultType: "complete", cacheScope: "private", ttlMs: 300_000, prompts: [listed] });
	const { error } = await ask("prompts/list", { cursor: "x" });
	expect(error.message).toBe(
		"Invalid parameters: cursor: prompts/list returns all items on one page and accepts no cursor",
	);
});

test("prompts/get gives the text for the model", async () => {
	const args = { person: "Ada", tone: " " };
	const params = { name: "greet", arguments: args };
	const result = {
		description: "Greet a person.",
		messages: [{ role: "user", content: { type: "text", text: "Greet Ada, kind." } }],
	};
	expect((await ask("prompts/get", params)).result).toEqual(result);
	expect((await ask("prompts/get", params, true)).result).toEqual({ resultType: "complete", ...result });
});

describe("an invalid request is refused with what was expected", () => {
	test.each([
		["prompts/get", {}, "Invalid parameters: name: expected the name of a prompt"],
		["prompts/get", { name: "gret" }, "Unknown prompt: gret; did you mean greet?"],
		["prompts/get", { name: "greet" }, "Invalid parameters: person: is required"],
		["prompts/get", { name: "greet", arguments: { person: "" } }, "Invalid parameters: person: is required"],
		[
			"prompts/get",
			{ name: "greet", arguments: { person: 3 } },
			"Invalid parameters: arguments.person: expected a string",
		],
		["prompts/get", { name: "greet", arguments: [] }, "Invalid parameters: arguments: expected an object"],
		[
			"prompts/get",
			{ name: "greet", arguments: { person: "Ada", mood: "x" } },
			"Invalid parameters: mood: this prompt has no such argument",
		],
		[
			"completion/complete",
			{ ref: { type: "ref/resource", uri: "x:" } },
			'Invalid parameters: ref: expected {"type": "ref/prompt", "name": …}; only arguments of prompts can be completed',
		],
		[
			"completion/complete",
			{ ref: { type: "ref/prompt", name: "greet" }, argument: { name: "tone" } },
			"Invalid parameters: argument: expected an object with the name and value of the argument that is to be completed",
		],
		[
			"completion/complete",
			{ ref: { type: "ref/prompt", name: "greet" }, argument: { name: "mood", value: "" } },
			"Invalid parameters: argument.name: the prompt greet has no argument mood",
		],
	])("%s with %j", async (method, params, message) => {
		expect((await ask(method, params)).error).toEqual({ code: -32602, message });
	});
});

test("completion/complete gives at most 100 values, and how many there are", async () => {
	const complete = async (name: string) => {
		const { result } = await ask("completion/complete", {
			ref: { type: "ref/prompt", name: "greet" },
			argument: { name, value: "k" },
		});
		return result.completion;
	};
	const { values, total, hasMore } = await complete("tone");
	expect(values).toHaveLength(100);
	expect(values[0]).toBe("k-0");
	expect({ total, hasMore }).toEqual({ total: 120, hasMore: true });
	expect(await complete("person")).toEqual({ values: [], total: 0, hasMore: false });
});
