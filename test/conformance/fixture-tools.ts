// The tools that the official conformance suite asks a server for, behind our real servers. For tests only.

import type { BotTool } from "../../src/bot/tool/context.ts";
import { noPreview } from "../../src/bot/tool/review.ts";
import { ToolError } from "../../src/lib/tool-error.ts";
import { type ToolCall, textResult } from "../../src/mcp/tool.ts";
import { asBotTool } from "../support/both-servers.ts";

/** A pixel of red, and a tenth of a second of silence. */
export const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

const text = (text: string) => ({ type: "text", text });
const image = { type: "image", data: png, mimeType: "image/png" };

function fixture(
	name: string,
	content: (call: ToolCall) => unknown[] | Promise<unknown[]>,
	inputSchema: Record<string, unknown> = { type: "object", additionalProperties: false },
): BotTool {
	return asBotTool({
		name,
		effect: "write",
		listing: { name, description: `What the conformance suite expects of ${name}.`, inputSchema },
		async call(_args, _context, call) {
			try {
				return JSON.stringify({ content: await content(call) });
			} catch (error) {
				if (!(error instanceof ToolError)) throw error;
				return JSON.stringify({ content: [text(error.message)], isError: true });
			}
		},
	});
}

/** A tool whose calls the person at the client has to approve, as in the real bot. So it asks for that and nothing else. */
function approved(name: string): BotTool {
	const { listing } = fixture(name, () => []);
	return asBotTool({
		name,
		effect: "destructive",
		listing: { ...listing, annotations: { destructiveHint: true } },
		async call(_args, { review }) {
			await review?.(noPreview);
			return textResult("done");
		},
	});
}

export const fixtureTools: readonly BotTool[] = [
	approved("test_input_required_result_elicitation"),
	approved("test_input_required_result_tampered_state"),
	fixture("test_simple_text", () => [text("This is a simple text response for testing.")]),
	fixture("test_image_content", () => [image]),
	fixture("test_audio_content", () => [{ type: "audio", data: wav, mimeType: "audio/wav" }]),
	fixture("test_embedded_resource", () => [
		{
			type: "resource",
			resource: {
				uri: "test://embedded-resource",
				mimeType: "text/plain",
				text: "This is an embedded resource content.",
			},
		},
	]),
	fixture("test_multiple_content_types", () => [
		text("Multiple content types test:"),
		image,
		{
			type: "resource",
			resource: {
				uri: "test://mixed-content-resource",
				mimeType: "application/json",
				text: '{"test":"data","value":123}',
			},
		},
	]),
	fixture("test_error_handling", () => {
		throw new ToolError("This tool intentionally returns an error for testing");
	}),
	fixture("test_tool_with_progress", ({ reportProgress }) => {
		for (const progress of [0, 50, 100]) reportProgress(progress, 100);
		return [text("done")];
	}),
	// It answers without a word to the log, and without asking anything back: as every tool of ours does.
	fixture("test_logging_tool", () => [text("nothing was logged")]),
	fixture("test_streaming_elicitation", () => [text("nothing was asked")]),
	fixture("json_schema_2020_12_tool", () => [text("ok")], {
		$schema: "https://json-schema.org/draft/2020-12/schema",
		type: "object",
		$defs: {
			address: {
				$anchor: "addressDef",
				type: "object",
				properties: { street: { type: "string" }, city: { type: "string" } },
			},
		},
		properties: {
			name: { type: "string" },
			address: { $ref: "#/$defs/address" },
			contactMethod: { type: "string", enum: ["phone", "email"] },
			phone: { type: "string" },
			email: { type: "string" },
		},
		allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
		if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
		// biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
		then: { required: ["phone"] },
		else: { required: ["email"] },
		additionalProperties: false,
	}),
];
