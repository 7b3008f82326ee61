// AutoMod rules: names for Discord's numbers, and conversion between Discord's form and named fields.
// https://discord.com/developers/docs/resources/auto-moderation

import {
	type APIAutoModerationAction,
	type APIAutoModerationRule,
	AutoModerationActionType,
	AutoModerationRuleEventType as Event,
	AutoModerationRuleKeywordPresetType as Preset,
	AutoModerationRuleTriggerType as Trigger,
} from "discord.js";
import { namesOf } from "./channel-kinds.ts";

export const wordFields = ["keyword_filter", "regex_patterns", "allow_list"] as const;

/** With Discord's trigger type and the fields that configure the trigger. */
export const triggers = {
	keyword: { type: Trigger.Keyword, fields: wordFields },
	spam: { type: Trigger.Spam, fields: [] },
	keyword_preset: { type: Trigger.KeywordPreset, fields: ["presets", "allow_list"] },
	mention_spam: { type: Trigger.MentionSpam, fields: ["mention_total_limit", "mention_raid_protection_enabled"] },
	member_profile: { type: Trigger.MemberProfile, fields: wordFields },
} as const satisfies Record<string, { type: Trigger; fields: readonly (keyof TriggerFields)[] }>;

export const actions = {
	block_message: AutoModerationActionType.BlockMessage,
	send_alert_message: AutoModerationActionType.SendAlertMessage,
	timeout: AutoModerationActionType.Timeout,
	block_member_interaction: AutoModerationActionType.BlockMemberInteraction,
} as const;

const presets = { profanity: Preset.Profanity, sexual_content: Preset.SexualContent, slurs: Preset.Slurs } as const;

export type TriggerName = keyof typeof triggers;
export type ActionName = keyof typeof actions;

export const triggerNames = Object.keys(triggers) as TriggerName[];
export const actionNames = namesOf(actions);
export const presetNames = namesOf(presets);

const emptyTrigger = {
	keyword_filter: [] as string[],
	regex_patterns: [] as string[],
	presets: [] as (keyof typeof presets)[],
	allow_list: [] as string[],
	mention_total_limit: 0,
	mention_raid_protection_enabled: false,
};

const emptyActions = { actions: [] as ActionName[], custom_message: "", alert_channel_id: "", duration_seconds: 0 };

/** Defaults of a new rule, as tool arguments. */
export const emptyRule = {
	name: "",
	enabled: true,
	exempt_role_ids: [] as string[],
	exempt_channel_ids: [] as string[],
	...emptyTrigger,
	...emptyActions,
};

export type TriggerFields = typeof emptyTrigger;
export type RuleFields = typeof emptyRule;

/** Undefined stays unchanged. */
export type GivenRuleFields = {
	[Field in keyof RuleFields]?: RuleFields[Field] | undefined;
};

/** Fields that configure a trigger, such as `presets`, exist only for some triggers. */
export function ruleFieldsWith(trigger: TriggerName) {
	const own: readonly string[] = triggers[trigger].fields;
	return (field: string) => own.includes(field) || !(field in emptyTrigger);
}

export const triggerFields = Object.keys(emptyTrigger) as (keyof TriggerFields)[];
const actionFields = Object.keys(emptyActions) as (keyof typeof emptyActions)[];
const ruleFields = Object.keys(emptyRule) as (keyof RuleFields)[];

/** The action that each of these fields configures. */
export const actionOf = {
	custom_message: "block_message",
	alert_channel_id: "send_alert_message",
	duration_seconds: "timeout",
} as const satisfies Partial<Record<keyof typeof emptyActions, ActionName>>;

export function triggerOf({ trigger_type }: APIAutoModerationRule) {
	return triggerNames.find((name) => triggers[name].type === trigger_type);
}

const namesIn = <Name extends string>(names: Readonly<Record<Name, number>>, values: readonly number[]) =>
	namesOf(names).filter((name) => values.includes(names[name]));

/** Fields that do not apply to the rule's trigger or actions are empty. */
export function ruleFieldsOf(rule: APIAutoModerationRule): RuleFields {
	const { trigger_metadata: trigger } = rule;
	const types = rule.actions.map(({ type }) => type);
	const metadata = (name: ActionName) => rule.actions.find(({ type }) => type === actions[name])?.metadata;
	return {
		name: rule.name,
		enabled: rule.enabled,
		exempt_role_ids: rule.exempt_roles,
		exempt_channel_ids: rule.exempt_channels,
		keyword_filter: trigger.keyword_filter ?? [],
		regex_patterns: trigger.regex_patterns ?? [],
		presets: namesIn(presets, trigger.presets ?? []),
		allow_list: trigger.allow_list ?? [],
		mention_total_limit: trigger.mention_total_limit ?? 0,
		mention_raid_protection_enabled: trigger.mention_raid_protection_enabled ?? false,
		actions: namesIn(actions, types),
		custom_message: metadata("block_message")?.custom_message ?? "",
		alert_channel_id: metadata("send_alert_message")?.channel_id ?? "",
		duration_seconds: metadata("timeout")?.duration_seconds ?? 0,
	};
}

export function changedRule(rule: RuleFields, given: GivenRuleFields): RuleFields {
	return { ...rule, ...Object.fromEntries(givenFields(given).map((field) => [field, given[field]])) };
}

export function givenFields(given: GivenRuleFields): (keyof RuleFields)[] {
	return ruleFields.filter((field) => given[field] !== undefined);
}

/** Sorts `presets` and `actions`, for comparing. */
export function inOrder(given: GivenRuleFields): GivenRuleFields {
	const { presets, actions } = given;
	return {
		...given,
		presets: presets && presetNames.filter((name) => presets.includes(name)),
		actions: actions && actionNames.filter((name) => actions.includes(name)),
	};
}

/** Creates a rule, or changes the fields `changed` of `before`. */
export function ruleBody(rule: RuleFields, changed: readonly (keyof RuleFields)[], before?: APIAutoModerationRule) {
	const changesAny = (fields: readonly (keyof RuleFields)[]) => fields.some((field) => changed.includes(field));
	const given = <Field extends keyof RuleFields>(field: Field) => (changed.includes(field) ? rule[field] : undefined);
	const values = { ...rule, presets: rule.presets.map((name) => presets[name]) };
	const metadata = Object.fromEntries(
		triggerFields.filter((field) => changed.includes(field)).map((field) => [field, values[field]]),
	);
	return {
		name: given("name"),
		enabled: given("enabled"),
		exempt_roles: given("exempt_role_ids"),
		exempt_channels: given("exempt_channel_ids"),
		// Discord replaces trigger_metadata and actions as a whole.
		trigger_metadata: changesAny(triggerFields) ? { ...before?.trigger_metadata, ...metadata } : undefined,
		actions: changesAny(actionFields) ? actionsBody(rule, changed, before?.actions ?? []) : undefined,
	};
}

function actionsBody(
	rule: RuleFields,
	changed: readonly (keyof RuleFields)[],
	before: readonly APIAutoModerationAction[],
): APIAutoModerationAction[] {
	const metadata: Partial<Record<number, object>> = {
		[actions.block_message]: { custom_message: rule.custom_message || undefined },
		[actions.send_alert_message]: { channel_id: rule.alert_channel_id },
		[actions.timeout]: { duration_seconds: rule.duration_seconds },
	};
	const types = changed.includes("actions")
		? rule.actions.map((name) => actions[name])
		: before.map(({ type }) => type);
	return types.map((type) => {
		const old = before.find((action) => action.type === type)?.metadata;
		return { type, metadata: { ...old, ...metadata[type] } };
	});
}

export function triggerBody(trigger: TriggerName) {
	return {
		trigger_type: triggers[trigger].type,
		event_type: trigger === "member_profile" ? Event.MemberUpdate : Event.MessageSend,
	};
}
