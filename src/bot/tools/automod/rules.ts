// AutoMod rules: fetching one, converting between Discord's form and the tools' fields, and validating fields.
// https://discord.com/developers/docs/resources/auto-moderation

import { type APIAutoModerationRule, type Guild, Routes } from "discord.js";
import { unlessUnknown } from "../../../discord/find.ts";
import { bitsIn, requirePermissions } from "../../../discord/permissions.ts";
import {
	type ActionName,
	actionOf,
	type GivenRuleFields,
	type RuleFields,
	type TriggerFields,
	type TriggerName,
	triggerFields,
	triggers,
} from "../../../guild-document/names/automod-rule.ts";
import { ToolError } from "../../../lib/tool-error.ts";
import { invalidParameters } from "../../../mcp/tool.ts";

/**
 * The AutoMod actions that need MODERATE_MEMBERS, with the triggers that allow them. Sources:
 * https://discord.com/developers/docs/resources/auto-moderation#auto-moderation-action-object-action-types; for
 * block_member_interaction discord-userdoccers, where it is called QUARANTINE_USER.
 */
const triggersWith: Partial<Record<ActionName, readonly TriggerName[]>> = {
	timeout: ["keyword", "mention_spam"],
	block_member_interaction: ["member_profile"],
};

/** Whether Discord requires MODERATE_MEMBERS for an AutoMod rule with these actions. */
export function moderatesMembers(actions: readonly ActionName[] = []): boolean {
	return actions.some((action) => triggersWith[action]);
}

/**
 * Fetches an AutoMod rule from Discord. Throws a ToolError if the rule does not exist or the bot lacks MANAGE_GUILD.
 */
export async function automodRule(guild: Guild, id: string): Promise<APIAutoModerationRule> {
	requirePermissions(guild, undefined, bitsIn(undefined, ["ManageGuild"]));
	const found = await unlessUnknown(() => guild.client.rest.get(Routes.guildAutoModerationRule(guild.id, id)));
	if (found) return found as APIAutoModerationRule;
	throw new ToolError(`There is no AutoMod rule ${id} in the guild ${guild.id}. list_automod_rules lists them.`);
}

/**
 * Throws an RpcError if changed fields of an AutoMod rule do not fit its trigger or its other fields. `rule` is the
 * rule after the changes.
 */
export function validateRule(trigger: TriggerName, rule: RuleFields, changes: GivenRuleFields): void {
	const own: readonly string[] = triggers[trigger].fields;
	const issues = triggerFields
		.filter((field) => changes[field] !== undefined && !own.includes(field))
		.map((field) => `${field}: ${trigger} rules do not have this field`);
	if (
		(changes.keyword_filter ?? changes.regex_patterns) &&
		rule.keyword_filter.length + rule.regex_patterns.length === 0
	)
		issues.push(missingWords(trigger));
	if (own.includes("regex_patterns") && (changes.allow_list?.length ?? 0) > 100)
		issues.push(`allow_list: expected at most 100 words in ${trigger} rules`);
	issues.push(...actionIssues(trigger, rule, changes));
	if (issues.length > 0) throw invalidParameters(issues);
}

/** Throws an RpcError if a new AutoMod rule lacks the fields that its trigger needs. */
export function requireTriggerFields(trigger: TriggerName, given: GivenRuleFields): void {
	const own: readonly string[] = triggers[trigger].fields;
	const isMissing = (field: keyof TriggerFields) => own.includes(field) && given[field] === undefined;
	if (isMissing("keyword_filter") && isMissing("regex_patterns")) throw invalidParameters([missingWords(trigger)]);
	for (const field of ["presets", "mention_total_limit"] as const)
		if (isMissing(field)) throw invalidParameters([`${field}: is required in ${trigger} rules`]);
}

function missingWords(trigger: TriggerName): string {
	return `keyword_filter: ${trigger} rules need keyword_filter or regex_patterns`;
}

function actionIssues(trigger: TriggerName, rule: RuleFields, changes: GivenRuleFields): string[] {
	const issues: string[] = [];
	const fields = Object.keys(actionOf) as (keyof typeof actionOf)[];
	for (const field of fields) {
		const action = actionOf[field];
		const name = field.replace("_seconds", "");
		if (changes[field] !== undefined && !rule.actions.includes(action))
			issues.push(`${name}: only rules with the action ${action} have this field`);
		const isNew = changes.actions?.includes(action);
		if (isNew && field !== "custom_message" && !rule[field])
			issues.push(`${name}: is required for the action ${action}`);
	}
	for (const action of changes.actions ?? []) {
		const triggers = triggersWith[action];
		if (triggers && !triggers.includes(trigger))
			issues.push(`actions: only ${triggers.join(" and ")} rules can have ${action}`);
	}
	return issues;
}
