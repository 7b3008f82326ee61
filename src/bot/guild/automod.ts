// AutoMod rules: fetching one, converting between Discord's form and the tools' fields, and validating fields.
// https://discord.com/developers/docs/resources/auto-moderation

import {
	type APIAutoModerationAction,
	type APIAutoModerationRule,
	AutoModerationActionType,
	AutoModerationRuleEventType as Event,
	type Guild,
	AutoModerationRuleKeywordPresetType as Preset,
	Routes,
	AutoModerationRuleTriggerType as Trigger,
} from "discord.js";
import { invalidParameters, ToolError } from "../../mcp/tool.ts";
import { unlessUnknown } from "../discord/find.ts";
import { bitsIn, requirePermissions } from "../discord/permissions.ts";

/** The fields that are lists of words. */
export const wordFields = [
	"keyword_filter",
	"regex_patterns",
	"allow_list",
] as const;

/** The triggers, with the trigger fields that each has. */
const triggers = {
	keyword: { type: Trigger.Keyword, fields: wordFields },
	spam: { type: Trigger.Spam, fields: [] },
	keyword_preset: {
		type: Trigger.KeywordPreset,
		fields: ["presets", "allow_list"],
	},
	mention_spam: {
		type: Trigger.MentionSpam,
		fields: ["mention_total_limit", "mention_raid_protection_enabled"],
	},
	member_profile: { type: Trigger.MemberProfile, fields: wordFields },
} as const satisfies Record<
	string,
	{ type: Trigger; fields: readonly (keyof TriggerFields)[] }
>;

/** The actions of a rule. */
export const actions = {
	block_message: AutoModerationActionType.BlockMessage,
	send_alert_message: AutoModerationActionType.SendAlertMessage,
	timeout: AutoModerationActionType.Timeout,
	block_member_interaction: AutoModerationActionType.BlockMemberInteraction,
} as const;

const presets = {
	profanity: Preset.Profanity,
	sexual_content: Preset.SexualContent,
	slurs: Preset.Slurs,
} as const;

export type TriggerName = keyof typeof triggers;
export type ActionName = keyof typeof actions;
export type PresetName = keyof typeof presets;

export const triggerNames = Object.keys(triggers) as TriggerName[];
export const actionNames = Object.keys(actions) as ActionName[];
export const presetNames = Object.keys(presets) as PresetName[];

/** The fields that configure a trigger. */
interface TriggerFields {
	keyword_filter: string[];
	regex_patterns: string[];
	presets: PresetName[];
	allow_list: string[];
	mention_total_limit: number;
	mention_raid_protection_enabled: boolean;
}

/** The actions, and fields that each configure one action. */
interface ActionFields {
	actions: ActionName[];
	custom_message: string;
	alert_channel_id: string;
	duration_seconds: number;
}

/** A rule's fields, named and valued as in the tools' arguments. */
export interface RuleFields extends TriggerFields, ActionFields {
	name: string;
	enabled: boolean;
	exempt_role_ids: string[];
	exempt_channel_ids: string[];
}

/** The requested fields; undefined leaves a field as it is. */
export type GivenRuleFields = {
	[Field in keyof RuleFields]?: RuleFields[Field] | undefined;
};

const triggerFields = [
	...wordFields,
	"presets",
	"mention_total_limit",
	"mention_raid_protection_enabled",
] as const satisfies (keyof TriggerFields)[];

const actionFields = [
	"actions",
	"custom_message",
	"alert_channel_id",
	"duration_seconds",
] as const satisfies (keyof ActionFields)[];

/** The action that a field configures. */
const actionOf = {
	custom_message: "block_message",
	alert_channel_id: "send_alert_message",
	duration_seconds: "timeout",
} as const satisfies Partial<Record<keyof ActionFields, ActionName>>;

/** Fetches a rule. Throws a ToolError if it does not exist. */
export async function automodRule(
	guild: Guild,
	id: string,
): Promise<APIAutoModerationRule> {
	requirePermissions(guild, undefined, bitsIn(undefined, ["ManageGuild"]));
	const found = await unlessUnknown(() =>
		guild.client.rest.get(Routes.guildAutoModerationRule(guild.id, id)),
	);
	if (found) return found as APIAutoModerationRule;
	throw new ToolError(
		`There is no AutoMod rule ${id} in the guild ${guild.id}. list_automod_rules lists them.`,
	);
}

export function triggerOf({ trigger_type }: APIAutoModerationRule) {
	return triggerNames.find((name) => triggers[name].type === trigger_type);
}

function namesOf<Name extends string>(
	names: Readonly<Record<Name, number>>,
	values: readonly number[],
): Name[] {
	return (Object.keys(names) as Name[]).filter((name) =>
		values.includes(names[name]),
	);
}

/** A rule's fields; fields that its trigger or actions lack are empty. */
export function fieldsOf(rule: APIAutoModerationRule): RuleFields {
	const { trigger_metadata: trigger } = rule;
	const metadata = (name: ActionName) =>
		rule.actions.find(({ type }) => type === actions[name])?.metadata;
	return {
		name: rule.name,
		enabled: rule.enabled,
		exempt_role_ids: rule.exempt_roles,
		exempt_channel_ids: rule.exempt_channels,
		keyword_filter: trigger.keyword_filter ?? [],
		regex_patterns: trigger.regex_patterns ?? [],
		presets: namesOf(presets, trigger.presets ?? []),
		allow_list: trigger.allow_list ?? [],
		mention_total_limit: trigger.mention_total_limit ?? 0,
		mention_raid_protection_enabled:
			trigger.mention_raid_protection_enabled ?? false,
		actions: namesOf(
			actions,
			rule.actions.map(({ type }) => type),
		),
		custom_message: metadata("block_message")?.custom_message ?? "",
		alert_channel_id: metadata("send_alert_message")?.channel_id ?? "",
		duration_seconds: metadata("timeout")?.duration_seconds ?? 0,
	};
}

/** The defaults of a new rule. */
export const emptyRule: RuleFields = {
	name: "",
	enabled: true,
	exempt_role_ids: [],
	exempt_channel_ids: [],
	keyword_filter: [],
	regex_patterns: [],
	presets: [],
	allow_list: [],
	mention_total_limit: 0,
	mention_raid_protection_enabled: false,
	actions: [],
	custom_message: "",
	alert_channel_id: "",
	duration_seconds: 0,
};

/** The rule after the given changes. */
export function changedRule(
	rule: RuleFields,
	given: GivenRuleFields,
): RuleFields {
	const changes = givenFields(given).map((field) => [field, given[field]]);
	return { ...rule, ...Object.fromEntries(changes) };
}

/** The names of the given fields. */
export function givenFields(given: GivenRuleFields): (keyof RuleFields)[] {
	return (Object.keys(emptyRule) as (keyof RuleFields)[]).filter(
		(field) => given[field] !== undefined,
	);
}

/** The given fields with every other field as undefined, and `presets` and `actions` in the order of fieldsOf. */
export function withAllFields(given: GivenRuleFields): {
	[Field in keyof RuleFields]: RuleFields[Field] | undefined;
} {
	const all = Object.keys(emptyRule) as (keyof RuleFields)[];
	const { presets, actions } = given;
	return {
		...(Object.fromEntries(
			all.map((field) => [field, given[field]]),
		) as ReturnType<typeof withAllFields>),
		presets: presets && presetNames.filter((name) => presets.includes(name)),
		actions: actions && actionNames.filter((name) => actions.includes(name)),
	};
}

/** Throws an RpcError if changes do not fit the trigger or the resulting rule. Checks only what changes. */
export function validateRule(
	trigger: TriggerName,
	rule: RuleFields,
	changes: GivenRuleFields,
): void {
	const own: readonly string[] = triggers[trigger].fields;
	const issues = triggerFields
		.filter((field) => changes[field] !== undefined && !own.includes(field))
		.map((field) => `${field}: ${trigger} rules have none`);
	if (
		(changes.keyword_filter ?? changes.regex_patterns) &&
		rule.keyword_filter.length + rule.regex_patterns.length === 0
	)
		issues.push(missingWords(trigger));
	if (own.includes("regex_patterns") && (changes.allow_list?.length ?? 0) > 100)
		issues.push(`allow_list: expected at most 100 in ${trigger} rules`);
	issues.push(...actionIssues(trigger, rule, changes));
	if (issues.length > 0) throw invalidParameters(issues);
}

/** Throws an RpcError if a new rule lacks the fields that its trigger needs. */
export function requireTriggerFields(
	trigger: TriggerName,
	given: GivenRuleFields,
): void {
	const own: readonly string[] = triggers[trigger].fields;
	const isMissing = (field: keyof TriggerFields) =>
		own.includes(field) && given[field] === undefined;
	if (isMissing("keyword_filter") && isMissing("regex_patterns"))
		throw invalidParameters([missingWords(trigger)]);
	for (const field of ["presets", "mention_total_limit"] as const)
		if (isMissing(field))
			throw invalidParameters([`${field}: is required in ${trigger} rules`]);
}

function missingWords(trigger: TriggerName): string {
	return `keyword_filter: ${trigger} rules need keyword_filter or regex_patterns`;
}

function actionIssues(
	trigger: TriggerName,
	rule: RuleFields,
	changes: GivenRuleFields,
): string[] {
	const issues: string[] = [];
	for (const [field, action] of Object.entries(actionOf) as [
		keyof typeof actionOf,
		ActionName,
	][]) {
		if (changes[field] !== undefined && !rule.actions.includes(action))
			issues.push(`${field}: only for the action ${action}`);
		const isNew = changes.actions?.includes(action);
		if (isNew && field !== "custom_message" && !rule[field])
			issues.push(`${field}: required by the action ${action}`);
	}
	if (
		changes.actions?.includes("timeout") &&
		trigger !== "keyword" &&
		trigger !== "mention_spam"
	)
		issues.push("actions: only keyword and mention_spam rules can time out");
	return issues;
}

/** The request body that creates a rule, or changes the `changed` fields of an existing one. */
export function ruleBody(
	rule: RuleFields,
	changed: readonly (keyof RuleFields)[],
	before?: APIAutoModerationRule,
) {
	const changesAny = (fields: readonly (keyof RuleFields)[]) =>
		fields.some((field) => changed.includes(field));
	const given = <Field extends keyof RuleFields>(field: Field) =>
		changed.includes(field) ? rule[field] : undefined;
	const metadata = Object.fromEntries(
		triggerFields
			.filter((field) => changed.includes(field))
			.map((field) => [
				field,
				field === "presets"
					? rule.presets.map((name) => presets[name])
					: rule[field],
			]),
	);
	return {
		name: given("name"),
		enabled: given("enabled"),
		exempt_roles: given("exempt_role_ids"),
		exempt_channels: given("exempt_channel_ids"),
		// Discord replaces each of these as a whole.
		trigger_metadata: changesAny(triggerFields)
			? { ...before?.trigger_metadata, ...metadata }
			: undefined,
		actions: changesAny(actionFields)
			? actionsBody(rule, changed, before?.actions ?? [])
			: undefined,
	};
}

function actionsBody(
	rule: RuleFields,
	changed: readonly (keyof RuleFields)[],
	before: readonly APIAutoModerationAction[],
): APIAutoModerationAction[] {
	const metadata: Partial<Record<number, object>> = {
		[actions.block_message]: {
			custom_message: rule.custom_message || undefined,
		},
		[actions.send_alert_message]: { channel_id: rule.alert_channel_id },
		[actions.timeout]: { duration_seconds: rule.duration_seconds },
	};
	const types = changed.includes("actions")
		? rule.actions.map((name) => actions[name])
		: before.map(({ type }) => type);
	return types.map((type) => ({
		type,
		metadata: {
			...before.find((action) => action.type === type)?.metadata,
			...metadata[type],
		},
	}));
}

/** The trigger and its event type in Discord's form. */
export function triggerBody(trigger: TriggerName) {
	return {
		trigger_type: triggers[trigger].type,
		event_type:
			trigger === "member_profile" ? Event.MemberUpdate : Event.MessageSend,
	};
}
