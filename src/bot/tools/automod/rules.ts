// AutoMod rules: fetching one, and which fields fit together.
// https://discord.com/developers/docs/resources/auto-moderation

import { type APIAutoModerationRule, type Guild, Routes } from "discord.js";
import { absentIf } from "../../../discord/find.ts";
import { bitsIn, requirePermissions } from "../../../discord/permissions.ts";
import {
	type ActionName,
	actionOf,
	type GivenRuleFields,
	type RuleFields,
	type TriggerName,
	triggerFields,
	triggers,
} from "../../../guild-document/names/automod-rule.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { invalidParameters } from "../../../mcp/tool.ts";

export function moderatesMembers(actions: readonly ActionName[] = []): boolean {
	return actions.includes("timeout") || actions.includes("block_member_interaction");
}

export async function automodRule(guild: Guild, id: string): Promise<APIAutoModerationRule> {
	requirePermissions(guild, undefined, bitsIn(undefined, ["ManageGuild"]));
	const found = await absentIf([404], () => guild.client.rest.get(Routes.guildAutoModerationRule(guild.id, id)));
	if (found) return found as APIAutoModerationRule;
	throw new ToolError(`There is no AutoMod rule ${id} in the guild ${guild.id}. list_automod_rules lists them.`);
}

/** Throws an RpcError for fields that Discord would ignore. `rule`: after the changes. */
export function validateRule(trigger: TriggerName, rule: RuleFields, changes: GivenRuleFields): void {
	const own: readonly string[] = triggers[trigger].fields;
	const ofActions = Object.keys(actionOf) as (keyof typeof actionOf)[];
	const issues = [
		...triggerFields
			.filter((field) => changes[field] !== undefined && !own.includes(field))
			.map((field) => `${field}: ${trigger} rules do not have this field`),
		...ofActions
			.filter((field) => changes[field] !== undefined && !rule.actions.includes(actionOf[field]))
			.map(
				(field) => `${field.replace("_seconds", "")}: only rules with the action ${actionOf[field]} have this field`,
			),
	];
	if (issues.length > 0) throw invalidParameters(issues);
}
