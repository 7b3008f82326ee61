// The prompts in a bot's prompts/list. What clients could refuse is left out.
// https://modelcontextprotocol.io/specification/2025-11-25/server/prompts#prompt

import * as v from "valibot";

const maxPrompts = 100;

const name = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_.-]{1,64}$/));
const text = v.optional(v.pipe(v.string(), v.maxLength(1_000)));
const listedPrompt = v.object({
	name,
	title: text,
	description: text,
	arguments: v.optional(
		v.pipe(v.array(v.object({ name, description: text, required: v.optional(v.boolean()) })), v.maxLength(50)),
		[],
	),
});

export type ListedPrompt = v.InferOutput<typeof listedPrompt>;

/** Leaves out prompts that clients could refuse. */
export function readPrompts(result: unknown): ListedPrompt[] {
	const { prompts } = Object(result) as { prompts?: unknown };
	if (!Array.isArray(prompts)) return [];
	return prompts.slice(0, maxPrompts).flatMap((prompt) => {
		const read = v.safeParse(listedPrompt, prompt);
		return read.success ? [read.output] : [];
	});
}
