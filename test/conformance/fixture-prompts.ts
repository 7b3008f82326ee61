// The prompts that the official conformance suite asks a server for. For tests only.

import type { Prompt, PromptArgument } from "../../src/mcp/prompts.ts";
import { png } from "./fixture-tools.ts";

const argument = (name: string): PromptArgument => ({ name, description: `The suite's ${name}.`, required: true });

function fixture(name: string, names: readonly string[], get: Prompt["get"]): Prompt {
	return {
		name,
		title: name,
		description: `What the conformance suite expects of ${name}.`,
		arguments: names.map(argument),
		get,
		complete: (_argument, typed) => ["paris", "park", "party"].filter((value) => value.startsWith(typed)),
	};
}

const user = (content: Record<string, unknown>) => [{ role: "user" as const, content }];

export const fixturePrompts: readonly Prompt[] = [
	fixture("test_simple_prompt", [], () => "This is a simple prompt for testing."),
	fixture(
		"test_prompt_with_arguments",
		["arg1", "arg2"],
		({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
	),
	fixture("test_prompt_with_embedded_resource", ["resourceUri"], ({ resourceUri }) => [
		...user({
			type: "resource",
			resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." },
		}),
		...user({ type: "text", text: "Please process the embedded resource above." }),
	]),
	fixture("test_prompt_with_image", [], () => [
		...user({ type: "image", data: png, mimeType: "image/png" }),
		...user({ type: "text", text: "Please analyze the image above." }),
	]),
];
