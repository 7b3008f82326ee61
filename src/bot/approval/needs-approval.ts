// Which tool calls a person has to approve.

import type { JsonObject } from "../../lib/json.ts";
import { type Principal, rootPrincipal } from "../../lib/principal.ts";
import type { Effect, Tool } from "../../mcp/tool.ts";
import type { TomlSettings } from "../config/settings.ts";
import { isDryRun } from "../tool/audit.ts";
import type { BotContext } from "../tool/context.ts";

export type ApprovalRules = Pick<
	TomlSettings["mcp"],
	"approval" | "approval_by" | "approval_for_root" | "approval_self"
>;

/** If the call has the given effect. The arguments need not be valid. */
export function needsApproval(
	{ approval, approval_for_root }: ApprovalRules,
	tool: Tool<BotContext>,
	args: JsonObject,
	principal: Principal | undefined,
	effect: Effect = tool.effect,
): boolean {
	if (approval === "off") return false;
	if (!approval_for_root && idOf(principal) === rootPrincipal.id) return false;
	if (tool.effect === "read" || isDryRun(tool, args)) return false;
	return approval === "write" || effect === "destructive";
}

/** "root" for undefined, the holder of the root key. */
export function idOf(principal: Principal | undefined): string {
	return principal?.id ?? rootPrincipal.id;
}
