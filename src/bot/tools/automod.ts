// AutoMod rules.

import {
	type APIAutoModerationAction,
	type APIAutoModerationRule,
	type Guild,
	PermissionFlagsBits,
	Routes,
} from "discord.js";
import * as v from "valibot";
import { channelLabel, channelName } from "../../discord/describe.ts";
import { absentIf, channel, role, textChannel } from "../../discord/find.ts";
import { bitsIn, type NeededWith, requirePermissions } from "../../discord/permissions.ts";
import { fieldLine, inlineText, oneField, oneLine } from "../../discord/text.ts";
import { visibleChannel } from "../../discord/visible-channels.ts";
import {
	type ActionName,
	actionNames,
	actionOf,
	actions,
	changedRule,
	emptyRule,
	type GivenRuleFields,
	givenFields,
	inOrder,
	presetNames,
	type RuleFields,
	ruleBody,
	ruleFieldsOf,
	type TriggerName,
	triggerBody,
	triggerFields,
	triggerNames,
	triggerOf,
	triggers,
	wordFields,
} from "../../guild-document/names/automod-rule.ts";
import { ToolError } from "../../lib/tool-error.ts";
import { invalidParameters } from "../../mcp/tool.ts";
import { said } from "../../texts/texts.ts";
import { asking } from "../results/result.ts";
import {
	changesOf,
	choice,
	duration,
	flag,
	found,
	guild_id,
	integer,
	list,
	reason,
	text,
} from "../tool/arguments/arguments.ts";
import { nameOfId } from "../tool/arguments/names.ts";
import { destructiveTool, readTool, writeTool } from "../tool/define.ts";

const ruleId = found(automodRule, "rule");

const words = (max: number, maxLength: number, description: string) =>
	v.optional(list(text(1, maxLength, ""), 0, max, description));

const actionNeeds: NeededWith<{ actions?: ActionName[] | undefined }> = {
	permission: "ModerateMembers",
	with: "actions",
	when: ({ actions }) => moderatesMembers(actions),
};

export const listAutomodRules = readTool({
	name: "list_automod_rules",
	toolset: "automod",
	title: "List AutoMod rules",
	description: "List a guild's AutoMod rules; with rule_id, that one with all its words.",
	permissions: ["ManageGuild"],
	input: { guild_id, rule_id: v.optional(ruleId) },
	async run(_, { guild, discord, rule }) {
		if (rule) return [ruleLine(guild, rule), ...wordLines(rule)];
		const rules = (await discord.rest.get(Routes.guildAutoModerationRules(guild.id))) as APIAutoModerationRule[];
		if (rules.length === 0) return `The guild ${guild.id} has no AutoMod rules.`;
		return [`${rules.length} AutoMod rule(s):`, ...rules.map((rule) => ruleLine(guild, rule))];
	},
});

export const setAutomodRule = writeTool({
	name: "set_automod_rule",
	toolset: "automod",
	title: "Create or edit an AutoMod rule",
	description: "Create an AutoMod rule, or with rule_id change it: lists are replaced.",
	lock: "rule_id",
	permissions: ["ManageGuild", actionNeeds],
	input: {
		guild_id,
		rule_id: v.optional(ruleId),
		name: v.optional(text(1, 100, "For a new rule.")),
		trigger_type: v.optional(choice(triggerNames, "For a new rule.")),
		keyword_filter: words(1000, 60, "Words; cat* and *cat* match parts."),
		regex_patterns: words(10, 260, "In Rust's syntax."),
		presets: v.optional(list(choice(presetNames, ""), 1, 3, "Discord's.")),
		allow_list: words(1000, 60, "Exceptions."),
		mention_total_limit: v.optional(integer(1, 50, "Mentions per message.")),
		actions: v.optional(list(choice(actionNames, ""), 1, 4, "What it does.")),
		custom_message: v.optional(text(0, 150, "Its text.")),
		alert_channel_id: v.optional(found(textChannel, "alerts' channel")),
		duration: v.optional(duration({ max: "28d" }, "Of timeout, up to 28d.")),
		exempt_role_ids: v.optional(list(found(role, "role"), 0, 20, "Exempt.")),
		exempt_channel_ids: v.optional(list(found(channel, "channel"), 0, 50, "Exempt.")),
		enabled: flag("Default: true."),
		reason,
	},
	destructive: ({ guild_id: _, reason: __, rule_id: ___, trigger_type: ____, ...args }, { rule }) => {
		const before = rule ? ruleFieldsOf(rule) : emptyRule;
		return whySilences(changedRule(before, fieldsOf(args)), before);
	},
	run({ guild_id: _, reason: __, rule_id: ___, trigger_type, ...args }, { guild, rule }) {
		const given = fieldsOf(args);
		if (rule) return editRule(guild, rule, trigger_type, given);
		const { name, actions } = given;
		if (name === undefined || !trigger_type || !actions)
			throw invalidParameters(
				Object.entries({ name, trigger_type, actions })
					.filter(([, value]) => value === undefined)
					.map(([field]) => `${field}: is required for a new rule`),
			);
		return createRule(guild, trigger_type, { enabled: true, ...given });
	},
});

/** Discord's name says the unit. */
function fieldsOf<Given extends { duration?: number | undefined }>({ duration, ...given }: Given) {
	return { ...given, duration_seconds: duration };
}

const fewMentions = 5;

function whySilences(after: RuleFields, before: RuleFields): string | undefined {
	const isSilencing = ({ enabled, actions }: RuleFields) =>
		enabled && actions.some((action) => action !== "send_alert_message");
	const old = isSilencing(before) ? before : emptyRule;
	const adds = (now: readonly string[], then: readonly string[]) => now.some((item) => !then.includes(item));
	const { keyword_filter, regex_patterns, mention_total_limit: limit } = after;
	const isWider =
		adds(after.actions, old.actions) ||
		adds(keyword_filter, old.keyword_filter) ||
		adds(regex_patterns, old.regex_patterns) ||
		adds(old.allow_list, after.allow_list) ||
		adds(old.exempt_role_ids, after.exempt_role_ids) ||
		adds(old.exempt_channel_ids, after.exempt_channel_ids) ||
		limit !== old.mention_total_limit;
	if (!isSilencing(after) || !isWider) return undefined;
	if (keyword_filter.length > 0 || regex_patterns.length > 0)
		return "blocks messages or members by words, and how many these match is not known";
	return limit > 0 && limit < fewMentions ? `blocks messages with ${limit} mentions` : undefined;
}

async function createRule(guild: Guild, trigger: TriggerName, given: GivenRuleFields): Promise<string[]> {
	const rule = changedRule(emptyRule, given);
	validateRule(trigger, rule, given);
	const made = (await guild.client.rest.post(Routes.guildAutoModerationRules(guild.id), {
		body: { ...ruleBody(rule, givenFields(given)), ...triggerBody(trigger) },
	})) as APIAutoModerationRule;
	return [
		`Created the AutoMod rule ${ruleName(made)}, which is ${made.enabled ? "on" : "off"}.`,
		ruleLine(guild, made),
	];
}

async function editRule(
	guild: Guild,
	rule: APIAutoModerationRule,
	wanted: TriggerName | undefined,
	given: GivenRuleFields,
): Promise<string[]> {
	const trigger = triggerOf(rule);
	if (!trigger)
		throw new ToolError(`${ruleName(rule)} has a trigger that this tool does not support. Nothing was done.`);
	if (wanted && wanted !== trigger)
		throw new ToolError(
			`Discord cannot change the trigger of an AutoMod rule: the trigger of ${ruleName(rule)} stays ${trigger}. Create another rule instead. Nothing was done.`,
		);
	const before = ruleFieldsOf(rule);
	const changes = changesOf<RuleFields>(before, inOrder(given), ruleName(rule));
	const after = changedRule(before, changes);
	validateRule(trigger, after, changes);
	const fields = givenFields(changes);
	const body = ruleBody(after, fields, rule);
	// Discord replaces all actions, also a timeout that the call does not name.
	if (body.actions && moderatesMembers(after.actions))
		requirePermissions(guild, undefined, PermissionFlagsBits.ModerateMembers);
	const edited = (await guild.client.rest.patch(Routes.guildAutoModerationRule(guild.id, rule.id), {
		body,
	})) as APIAutoModerationRule;
	return [
		`Changed ${fields.length} field(s) of the AutoMod rule ${ruleName(edited)}:`,
		...changeTexts(guild, before, after, fields),
	];
}

export const deleteAutomodRule = destructiveTool({
	name: "delete_automod_rule",
	toolset: "automod",
	title: "Delete an AutoMod rule",
	description: "Delete an AutoMod rule permanently; set_automod_rule can disable it.",
	permissions: ["ManageGuild"],
	lock: "rule_id",
	input: { guild_id, rule_id: ruleId, reason },
	plan(_, { guild, discord, rule }) {
		return {
			preview: asking(
				[
					`Would delete the AutoMod rule ${ruleName(rule)}, which is ${rule.enabled ? "on" : "off"}.`,
					ruleLine(guild, rule),
				],
				said("preview.delete_automod_rule", { name: inlineText(rule.name, 200) }),
			),
			write: () => discord.rest.delete(Routes.guildAutoModerationRule(guild.id, rule.id)),
			result: `Deleted the AutoMod rule ${ruleName(rule)}.`,
		};
	},
});

function moderatesMembers(actions: readonly ActionName[] = []): boolean {
	return actions.includes("timeout") || actions.includes("block_member_interaction");
}

async function automodRule(guild: Guild, id: string): Promise<APIAutoModerationRule> {
	requirePermissions(guild, undefined, bitsIn(undefined, ["ManageGuild"]));
	const found = await absentIf([404], () => guild.client.rest.get(Routes.guildAutoModerationRule(guild.id, id)));
	if (found) return found as APIAutoModerationRule;
	throw new ToolError(`There is no AutoMod rule ${id} in the guild ${guild.id}. list_automod_rules lists them.`);
}

/** Throws an RpcError for fields that Discord would ignore. `rule`: after the changes. */
function validateRule(trigger: TriggerName, rule: RuleFields, changes: GivenRuleFields): void {
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

const ruleName = ({ name, id }: APIAutoModerationRule) => `"${oneField(name)}" (ID: ${id})`;

const sampleSize = 5;

function ruleLine(guild: Guild, rule: APIAutoModerationRule): string {
	const fields = ruleFieldsOf(rule);
	const trigger = triggerOf(rule) ?? `trigger ${rule.trigger_type}`;
	const isSpam = trigger === "mention_spam";
	const raids = fields.mention_raid_protection_enabled ? "on" : "off";
	return fieldLine(
		oneField(rule.name),
		`ID: ${rule.id}`,
		trigger,
		fields.enabled ? "on" : "off",
		...wordFields.map((field) => counted(`${field}:`, fields[field].map(quoted))),
		named("presets", fields.presets),
		isSpam && `mentions: at most ${fields.mention_total_limit}`,
		isSpam && `raid protection: ${raids}`,
		`actions: ${rule.actions.map((action) => actionText(guild, action)).join(", ")}`,
		named("exempt roles", namesOf(guild, fields.exempt_role_ids)),
		named("exempt channels", namesOf(guild, fields.exempt_channel_ids)),
		`by: ${nameOfId(guild, rule.creator_id)}`,
	);
}

function wordLines(rule: APIAutoModerationRule): string[] {
	const fields = ruleFieldsOf(rule);
	return wordFields.flatMap((field) => {
		const words = fields[field].map(oneLine);
		if (words.length === 0) return [];
		return [`${words.length} in ${field}, one on each line:`, ...words];
	});
}

const namesOf = (guild: Guild, ids: readonly string[]) => ids.map((id) => nameOfId(guild, id));

function changeTexts(guild: Guild, before: RuleFields, after: RuleFields, fields: readonly (keyof RuleFields)[]) {
	return fields.map((field) => {
		const [old, now] = [before[field], after[field]];
		if (!Array.isArray(old) || !Array.isArray(now))
			return `${field}: ${valueText(guild, old)} → ${valueText(guild, now)}`;
		const text = (items: readonly string[]) => (field.endsWith("_ids") ? namesOf(guild, items) : items.map(quoted));
		const [had, has]: string[][] = [old, now];
		return `${field}: ${fieldLine(
			counted("added", text((has ?? []).filter((one) => !had?.includes(one)))),
			counted("removed", text((had ?? []).filter((one) => !has?.includes(one)))),
		)}`;
	});
}

/** Such as "added 7, a, b, c, d, e, …"; "" for none. */
function counted(what: string, items: readonly string[]): string {
	if (items.length === 0) return "";
	const more = items.length > sampleSize ? ", …" : "";
	return `${what} ${items.length}, ${items.slice(0, sampleSize).join(", ")}${more}`;
}

function valueText(guild: Guild, value: unknown): string {
	if (value === "" || value === 0) return "none";
	if (typeof value !== "string") return String(value);
	const channel = visibleChannel(guild, value);
	return channel ? channelName(channel) : quoted(value);
}

function quoted(text: string): string {
	return `"${oneField(text)}"`;
}

function named(name: string, ids: readonly string[]): string {
	return ids.length > 0 ? `${name}: ${ids.join(", ")}` : "";
}

function actionText(guild: Guild, { type, metadata = {} }: APIAutoModerationAction): string {
	const name = actionNames.find((action) => actions[action] === type);
	const { channel_id, custom_message, duration_seconds } = metadata;
	if (name === "timeout") return `timeout for ${duration_seconds} s`;
	if (name === "block_message" && custom_message) return `block_message saying "${oneField(custom_message)}"`;
	if (name !== "send_alert_message" || !channel_id) return name ?? `${type}`;
	const channel = visibleChannel(guild, channel_id);
	const where = channel ? `${channelLabel(channel)} ` : "";
	return `send_alert_message in ${where}(ID: ${channel_id})`;
}
