// What is recorded of a tool call beside its arguments and outcome: what only the running tool knows.

import type { JsonObject } from "../../lib/json.ts";
import type { Tool, ToolCall } from "../../mcp/tool.ts";
import type { AuditedCall } from "./audit.ts";
import type { BotContext } from "./context.ts";
import { isDryRun } from "./toolsets.ts";

type Hooks = Pick<ToolCall, "onDestructive" | "onMessage">;

/** Collects what a running tool says by `hooks`, and passes it on to `others`. */
export function callFacts(others: Hooks = {}) {
	let isDestructive = false;
	let messageId: string | undefined;
	return {
		hooks: {
			onDestructive() {
				isDestructive = true;
				others.onDestructive?.();
			},
			onMessage(id: string) {
				messageId = id;
				others.onMessage?.(id);
			},
		},
		recorded(
			tool: Tool<BotContext> | undefined,
			args: JsonObject,
		): Pick<AuditedCall, "effect" | "messageId" | "title"> {
			const effect = isDestructive ? "destructive" : tool?.effect;
			const isRead = !tool || !effect || isDryRun(tool, args);
			const title = tool?.listing.title;
			return { effect: isRead ? "read" : effect, messageId, ...(typeof title === "string" && { title }) };
		},
	};
}
