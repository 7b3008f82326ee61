import { describe, expect, test } from "bun:test";
import * as v from "valibot";
import type { JsonObject } from "../../src/lib/json.ts";
import { ToolError } from "../../src/lib/tool-error.ts";
import { RpcError } from "../../src/mcp/json-rpc.ts";
import {
	type Effect,
	errorResult,
	invalidParameters,
	privilegedHint,
	readToolCall,
	type ToolCall,
	type ToolOutput,
	textResult,
	tool,
} from "../../src/mcp/tool.ts";

/** A tool that answers with the arguments it was given, as JSON. */
const echo = tool({
	name: "echo",
	title: "Echo",
	description: "Echo the arguments.",
	effect: "read",
	input: {
		text: v.pipe(v.string(), v.minLength(1, "expected some text")),
		limit: v.optional(v.pipe(v.number(), v.integer()), 10),
		tags: v.optional(v.array(v.string())),
		where: v.optional(v.strictObject({ id: v.string() })),
	},
	run: (args) => JSON.stringify(args),
});

/** A call by someone who waits and asks for no progress. */
const quiet: ToolCall = { signal: undefined, reportProgress: () => {} };

async function call(args: Record<string, unknown>): Promise<unknown> {
	const { content } = JSON.parse(await echo.call(args, undefined, quiet));
	return JSON.parse(content[0].text);
}

function tell(run: () => ToolOutput | Promise<ToolOutput>) {
	return tool({ name: "tell", title: "Tell", description: "Tell.", effect: "read", input: {}, run }).call(
		{},
		undefined,
		quiet,
	);
}

describe("arguments", () => {
	test("absent optional ones get their default or stay absent", async () => {
		expect(await call({ text: "a" })).toEqual({ text: "a", limit: 10 });
	});

	test("null in an optional one means absent", async () => {
		expect(await call({ text: "a", limit: null, tags: null, where: null })).toEqual({ text: "a", limit: 10 });
	});

	test.each<[args: Record<string, unknown>, message: string]>([
		[{}, "text: is required"],
		[{ text: null }, "text: expected string, received null"],
		[{ text: 5 }, "text: expected string, received 5"],
		[{ text: "" }, "text: expected some text"],
		[{ text: "a", limit: "5" }, 'limit: expected number, received "5"'],
		[{ text: "a", tags: ["a", 1] }, "tags.1: expected string, received 1"],
		[{ text: "a", where: {} }, "where.id: is required"],
		[{ text: "a", where: { id: null } }, "where.id: expected string, received null"],
		[{ text: "a", stray: 1 }, "stray: this tool has no such parameter, but text, limit, tags, where"],
		[{ text: "a", stray: null }, "stray: this tool has no such parameter, but text, limit, tags, where"],
		[
			{ text: 1, stray: 1, other: 2 },
			"text: expected string, received 1; stray: this tool has no such parameter; other: this tool has no such parameter, but text, limit, tags, where",
		],
		[{ text: "a", toString: 1 }, "toString: this tool has no such parameter, but text, limit, tags, where"],
		[{ text: 1, limit: true }, "text: expected string, received 1; limit: expected number, received true"],
	])("%j are refused: %s", async (args, message) => {
		const error = await echo.call(args, undefined, quiet).catch((error) => error);
		expect(error).toBeInstanceOf(RpcError);
		expect(error.code).toBe(-32602);
		expect(error.message).toBe(`Invalid parameters: ${message}`);
	});

	test.each(["__proto__", "constructor", "toString"])("a parameter called %s is no parameter", async (key) => {
		const args = JSON.parse(`{"text":"a","${key}":{"limit":3}}`);
		const outcome = await call(args).then(JSON.stringify, String);
		// Refused or dropped, but never looked into.
		expect([
			'{"text":"a","limit":10}',
			`RpcError: Invalid parameters: ${key}: this tool has no such parameter, but text, limit, tags, where`,
		]).toContain(outcome);
	});
});

describe("the result", () => {
	test("is one text item, of a text or of lines", async () => {
		expect(JSON.parse(await tell(() => "a"))).toEqual({ content: [{ type: "text", text: "a" }] });
		expect(await tell(async () => ["a", "b"])).toBe(textResult("a\nb"));
	});

	test("of a ToolError is its message, with isError", async () => {
		const outcome = await tell(() => {
			throw new ToolError("no such channel");
		});
		expect(outcome).toBe(errorResult("no such channel"));
		expect(JSON.parse(outcome)).toEqual({ content: [{ type: "text", text: "no such channel" }], isError: true });
	});

	test("of any other error is that error: it is for the log", async () => {
		const bug = new RangeError("a bug");
		await expect(
			tell(async () => {
				throw bug;
			}),
		).rejects.toBe(bug);
	});
});

describe("a result too long for a client", () => {
	/** What is read of it: an event of a client's limit, less what stands around the text. */
	const maxBytes = 1024 * 1024 - 4096;
	const around = textResult("").length;
	const textOf = (output: ToolOutput) => {
		const result = textResult(output);
		expect(Buffer.byteLength(result)).toBeLessThanOrEqual(maxBytes);
		return String(JSON.parse(result).content[0].text);
	};
	const note = (text: string) =>
		`[Cut here: the whole answer has ${text.length} characters. Ask for less at a time, with a smaller limit, and go on from the last id shown, with after or before.]`;

	test("is cut by nothing while it fits to the byte", () => {
		const fits = "x".repeat(maxBytes - around);
		expect(textOf(fits)).toBe(fits);
		expect(textOf(`${fits}x`)).toEndWith(note(`${fits}x`));
	});

	test.each([
		["of plain lines", () => "x", 0.99],
		["of lines that take more bytes than characters", () => "ü", 0.99],
		["of lines that are escaped", () => "\u0001", 0.99],
		// How much fits is estimated from the whole.
		["with more bytes at its end", (n) => (n < 9_000 ? "x" : "\u0001"), 0.25],
	] as [string, (n: number) => string, number][])(
		"%s ends with a whole line, and is not much shorter than may be",
		(_, character, part) => {
			const lines = Array.from({ length: 20_000 }, (_, n) => `${n}: ${character(n).repeat(60)}`);
			const shown = textOf(lines).split("\n");
			expect(shown.at(-1)).toBe(note(lines.join("\n")));
			expect(shown.slice(0, -1)).toEqual(lines.slice(0, shown.length - 1));
			const bytes = Buffer.byteLength(textResult(shown));
			expect(bytes).toBeGreaterThan(maxBytes * part);
		},
	);

	test.each(["", "\n"])("after %j of one line is cut within it", (before) => {
		const text = before + "👍".repeat(400_000);
		const [shown = "", end] = textOf(text).slice(before.length).split("\n");
		expect(end).toBe(note(text));
		expect(shown.length).toBeGreaterThan(200_000);
		expect(shown).toMatch(/^(👍)+\ufffd?$/u);
	});
});

describe("the listing", () => {
	const list = (effect: Effect, idempotent?: boolean) =>
		tool({
			name: "do_it",
			title: "Do it",
			description: "Do it.",
			effect,
			...(idempotent !== undefined && { idempotent }),
			input: {},
			run: () => "",
		}).listing;

	test.each<[Effect, boolean | undefined, string, object]>([
		["read", undefined, "Do it.", { readOnlyHint: true }],
		["write", undefined, `${privilegedHint} Do it.`, { destructiveHint: true }],
		["write", true, `${privilegedHint} Do it.`, { destructiveHint: true, idempotentHint: true }],
		["destructive", undefined, `${privilegedHint} Do it.`, { destructiveHint: true }],
		["destructive", true, `${privilegedHint} Do it.`, { destructiveHint: true, idempotentHint: true }],
	])("of effect %s, idempotent %j", (effect, idempotent, description, hints) => {
		expect(list(effect, idempotent)).toEqual({
			name: "do_it",
			title: "Do it",
			description,
			inputSchema: { type: "object", properties: {}, additionalProperties: false },
			annotations: hints,
		});
	});

	test("says only of a tool that can do nothing but add that it is not destructive", () => {
		const adding = tool({
			name: "add",
			title: "Add",
			description: "Add.",
			effect: "write",
			additive: true,
			input: {},
			run: () => "",
		});
		expect(adding.listing.annotations).toEqual({ destructiveHint: false });
	});

	test("the hint for what changes something is the specification's", () => {
		expect(privilegedHint).toStartWith("PRIVILEGED — recommend manual approval");
	});
});

describe("readToolCall", () => {
	test.each<[params: JsonObject, args: JsonObject]>([
		[{ name: "a" }, {}],
		[{ name: "a", arguments: null }, {}],
		[{ name: "a", arguments: {} }, {}],
		[{ name: "a", arguments: { b: 1 }, other: 2 }, { b: 1 }],
	])("%j has a name and arguments", (params, args) => {
		expect(readToolCall(params)).toEqual({ name: "a", args });
	});

	test.each<[params: Record<string, unknown>, field: string]>([
		[{}, "name"],
		[{ name: 1 }, "name"],
		[{ name: null }, "name"],
		[{ name: ["a"] }, "name"],
		[{ name: "a", arguments: [] }, "arguments"],
		[{ name: "a", arguments: "x" }, "arguments"],
		[{ name: "a", arguments: 0 }, "arguments"],
		[{ name: "a", arguments: false }, "arguments"],
	])("%j is refused, naming %s", (params, field) => {
		expect(() => readToolCall(params)).toThrow(`Invalid parameters: ${field}: expected`);
	});
});

test("invalidParameters names every issue", () => {
	expect(invalidParameters(["a: x", "b: y"])).toMatchObject({
		code: -32602,
		message: "Invalid parameters: a: x; b: y",
	});
});
