// Rules of Discord's auto-moderation: finding one, its fields as tools take them, what each kind has, and what makes or changes one.
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

/** The fields that hold words. */
export const wordFields = [
	"keyword_filter",
	"regex_patterns",
	"allow_list",
] as const;

/** What sets a rule off, and which of the fields that say what a rule looks for each kind has. */
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
	{ type: Trigger; fields: readonly (keyof Sought)[] }
>;

/** What it can do about it. */
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

/** What a rule looks for, as tools take it. */
interface Sought {
	keyword_filter: string[];
	regex_patterns: string[];
	presets: PresetName[];
	allow_list: string[];
	mention_total_limit: number;
	mention_raid_protection_enabled: boolean;
}

/** What it does about it; the others belong to one action each. */
interface Done {
	actions: ActionName[];
	custom_message: string;
	alert_channel_id: string;
	duration_seconds: number;
}

/** A rule's fields as tools take them. */
export interface RuleFields extends Sought, Done {
	name: string;
	enabled: boolean;
	exempt_role_ids: string[];
	exempt_channel_ids: string[];
}

/** What is asked for of them. */
export type GivenRuleFields = {
	[Field in keyof RuleFields]?: RuleFields[Field] | undefined;
};

const soughtFields = [
	...wordFields,
	"presets",
	"mention_total_limit",
	"mention_raid_protection_enabled",
] as const satisfies (keyof Sought)[];

const doneFields = [
	"actions",
	"custom_message",
	"alert_channel_id",
	"duration_seconds",
] as const satisfies (keyof Done)[];

/** The action that a field belongs to. */
const actionOf = {
	custom_message: "block_message",
	alert_channel_id: "send_alert_message",
	duration_seconds: "timeout",
} as const satisfies Partial<Record<keyof Done, ActionName>>;

/** A rule as it is now, asked for. */
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
		`There is no AutoMod rule ${id} in the guild ${guild.id}. list_automod_rules shows those that there are.`,
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

/** A rule's fields; those that it does not have are empty. */
export function fieldsOf(rule: APIAutoModerationRule): RuleFields {
	const { trigger_metadata: sought } = rule;
	const metadata = (name: ActionName) =>
		rule.actions.find(({ type }) => type === actions[name])?.metadata;
	return {
		name: rule.name,
		enabled: rule.enabled,
		exempt_role_ids: rule.exempt_roles,
		exempt_channel_ids: rule.exempt_channels,
		keyword_filter: sought.keyword_filter ?? [],
		regex_patterns: sought.regex_patterns ?? [],
		presets: namesOf(presets, sought.presets ?? []),
		allow_list: sought.allow_list ?? [],
		mention_total_limit: sought.mention_total_limit ?? 0,
		mention_raid_protection_enabled:
			sought.mention_raid_protection_enabled ?? false,
		actions: namesOf(
			actions,
			rule.actions.map(({ type }) => type),
		),
		custom_message: metadata("block_message")?.custom_message ?? "",
		alert_channel_id: metadata("send_alert_message")?.channel_id ?? "",
		duration_seconds: metadata("timeout")?.duration_seconds ?? 0,
	};
}

/** A rule without anything. */
export const noFields: RuleFields = {
	...{ name: "", enabled: true, exempt_role_ids: [], exempt_channel_ids: [] },
	...{ keyword_filter: [], regex_patterns: [], presets: [], allow_list: [] },
	...{ mention_total_limit: 0, mention_raid_protection_enabled: false },
	...{ actions: [], custom_message: "", alert_channel_id: "" },
	duration_seconds: 0,
};

/** The rule that it becomes with what is given. */
export function changedRule(
	rule: RuleFields,
	given: GivenRuleFields,
): RuleFields {
	const changes = fieldsIn(given).map((field) => [field, given[field]]);
	return { ...rule, ...Object.fromEntries(changes) };
}

/** The fields that are given. */
export function fieldsIn(given: GivenRuleFields): (keyof RuleFields)[] {
	return (Object.keys(noFields) as (keyof RuleFields)[]).filter(
		(field) => given[field] !== undefined,
	);
}

/** The same with every field, those that are not given as undefined, and choices in the order in which rules have them. */
export function allOf(given: GivenRuleFields): {
	[Field in keyof RuleFields]: RuleFields[Field] | undefined;
} {
	const all = Object.keys(noFields) as (keyof RuleFields)[];
	const { presets, actions } = given;
	return {
		...(Object.fromEntries(
			all.map((field) => [field, given[field]]),
		) as ReturnType<typeof allOf>),
		presets: presets && presetNames.filter((one) => presets.includes(one)),
		actions: actions && actionNames.filter((one) => actions.includes(one)),
	};
}

/**
 * Throws an RpcError for fields that do not go together: a rule of this kind, as it would be, and what is new of it. What
 * was there before is Discord's business.
 */
export function requireFitting(
	trigger: TriggerName,
	rule: RuleFields,
	changes: GivenRuleFields,
): void {
	const own: readonly string[] = triggers[trigger].fields;
	const faults = soughtFields
		.filter((field) => changes[field] !== undefined && !own.includes(field))
		.map((field) => `${field}: ${trigger} rules have none`);
	if (
		(changes.keyword_filter ?? changes.regex_patterns) &&
		rule.keyword_filter.length + rule.regex_patterns.length === 0
	)
		faults.push(wordsMissing(trigger));
	if (own.includes("regex_patterns") && (changes.allow_list?.length ?? 0) > 100)
		faults.push(`allow_list: expected at most 100 in ${trigger} rules`);
	faults.push(...actionFaults(trigger, rule, changes));
	if (faults.length > 0) throw invalidParameters(faults);
}

/** Throws an RpcError for a new rule that would look for nothing. */
export function requireSought(
	trigger: TriggerName,
	given: GivenRuleFields,
): void {
	const own: readonly string[] = triggers[trigger].fields;
	const isMissing = (field: keyof Sought) =>
		own.includes(field) && given[field] === undefined;
	if (isMissing("keyword_filter") && isMissing("regex_patterns"))
		throw invalidParameters([wordsMissing(trigger)]);
	for (const field of ["presets", "mention_total_limit"] as const)
		if (isMissing(field))
			throw invalidParameters([`${field}: is required in ${trigger} rules`]);
}

function wordsMissing(trigger: TriggerName): string {
	return `keyword_filter: a ${trigger} rule needs some, or regex_patterns`;
}

function actionFaults(
	trigger: TriggerName,
	rule: RuleFields,
	changes: GivenRuleFields,
): string[] {
	const faults: string[] = [];
	for (const [field, action] of Object.entries(actionOf) as [
		keyof typeof actionOf,
		ActionName,
	][]) {
		if (changes[field] !== undefined && !rule.actions.includes(action))
			faults.push(`${field}: goes with the action ${action}`);
		const isNew = changes.actions?.includes(action);
		if (isNew && field !== "custom_message" && !rule[field])
			faults.push(`${field}: the action ${action} needs one`);
	}
	if (
		changes.actions?.includes("timeout") &&
		trigger !== "keyword" &&
		trigger !== "mention_spam"
	)
		faults.push("actions: only keyword and mention_spam rules time out");
	return faults;
}

/** What makes a new rule, or changes an old one: as it would be, and which of its fields that concerns. */
export function ruleBody(
	rule: RuleFields,
	changed: readonly (keyof RuleFields)[],
	before?: APIAutoModerationRule,
) {
	const concerns = (fields: readonly (keyof RuleFields)[]) =>
		fields.some((field) => changed.includes(field));
	const given = <Field extends keyof RuleFields>(field: Field) =>
		changed.includes(field) ? rule[field] : undefined;
	const sought = Object.fromEntries(
		soughtFields
			.filter((field) => changed.includes(field))
			.map((field) => [
				field,
				field === "presets"
					? rule.presets.map((one) => presets[one])
					: rule[field],
			]),
	);
	return {
		name: given("name"),
		enabled: given("enabled"),
		exempt_roles: given("exempt_role_ids"),
		exempt_channels: given("exempt_channel_ids"),
		// Discord replaces each of these as a whole.
		trigger_metadata: concerns(soughtFields)
			? { ...before?.trigger_metadata, ...sought }
			: undefined,
		actions: concerns(doneFields)
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
			...before.find((one) => one.type === type)?.metadata,
			...metadata[type],
		},
	}));
}

/** What Discord calls the trigger, and the event that sets it off. */
export function triggerBody(trigger: TriggerName) {
	return {
		trigger_type: triggers[trigger].type,
		event_type:
			trigger === "member_profile" ? Event.MemberUpdate : Event.MessageSend,
	};
}
