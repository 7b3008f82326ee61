import { methodNotFound, type ToolSet } from "../../src/mcp/server.ts";
import type { Tool } from "../../src/mcp/tool.ts";

/** Lists all, and finds a tool by its name. */
export function toolSet<Context>(listed: readonly Tool<Context>[]): ToolSet<Context> {
	return {
		listed,
		resolve(name, args) {
			const tool = listed.find((one) => one.name === name);
			if (!tool) throw methodNotFound(name);
			return { tool, args };
		},
	};
}
