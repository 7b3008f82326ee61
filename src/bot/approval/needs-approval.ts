// Which tool calls a person has to approve.

import { type Principal, rootPrincipal } from "../../lib/principal.ts";
import { isObject, type JsonObject } from "../../mcp/json-rpc.ts";
import type { Tool } from "../../mcp/tool.ts";
import type { TomlSettings } from "../config/settings.ts";
import type { BotContext } from "../tool/context.ts";
import { isDryRun, isReadOnly } from "../tool/toolsets.ts";

/** The settings of approval, from the section [mcp] of config.toml. */
export type ApprovalSettings = Pick<
	TomlSettings["mcp"],
	| "approval"
	| "approval_by"
	| "approval_channel"
	| "approval_roles"
	| "approval_for_root"
	| "approval_self"
>;

/** Whether a person has to approve a call of `tool`, which the principal makes with these unvalidated arguments. */
export function needsApproval(
	{ approval, approval_for_root }: ApprovalSettings,
	tool: Tool<BotContext>,
	args: JsonObject,
	principal: Principal | undefined,
): boolean {
	if (approval === "off") return false;
	if (!approval_for_root && idOf(principal) === rootPrincipal.id) return false;
	if (isReadOnly(tool) || isDryRun(tool, args)) return false;
	const { annotations } = tool.listing;
	const isDestructive =
		isObject(annotations) && annotations.destructiveHint === true;
	return approval === "write" || isDestructive;
}

/** Returns the id of a principal. */
export function idOf(principal: Principal | undefined): string {
	return principal?.id ?? rootPrincipal.id;
}
