// The pages of a tool that lists.

import type { McpCaller } from "./mcp.ts";

/** The results of a tool page by page: each call passes on the cursor of the last result, such as `next_after`. */
export async function pagesOf(call: McpCaller["call"], tool: string, args: Record<string, unknown>): Promise<string[]> {
	const pages: string[] = [];
	let cursor: Record<string, string> | undefined = {};
	while (cursor && pages.length < 20) {
		const { text } = await call(tool, { ...args, ...cursor });
		pages.push(text);
		const [, name, value = ""] = /^next_(\w+)=(\S+)$/m.exec(text) ?? [];
		cursor = name ? { [name]: value } : undefined;
	}
	return pages;
}
