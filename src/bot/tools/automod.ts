// AutoMod rules.

import { type APIAutoModerationRule, Routes } from "discord.js";
import * as v from "valibot";
import { ToolError } from "../../mcp/tool.ts";
import { channel, role, textChannel } from "../discord/find.ts";
import type { NeededWith } from "../discord/permissions.ts";
import {
	type ActionName,
	actionNames,
	automodRule,
	changedRule,
	emptyRule,
	fieldsOf,
	givenFields,
	inOrder,
	moderatesMembers,
	presetNames,
	type RuleFields,
	requireTriggerFields,
	ruleBody,
	triggerBody,
	triggerNames,
	triggerOf,
	validateRule,
} from "../guild/automod.ts";
import { ruleLine, ruleName, wordLines } from "../guild/automod-lines.ts";
import {
	choice,
	flag,
	found,
	guild_id,
	integer,
	list,
	reason,
	text,
} from "../tool/arguments.ts";
import {
	destructiveTool,
	editTool,
	readTool,
	writeTool,
} from "../tool/define.ts";
import { changesOf } from "../tool/diff.ts";

const ruleId = found(automodRule, "rule");

const ruleFields = {
	keyword_filter: v.optional(
		list(text(1, 60, ""), 0, 1000, "Words; * is a wildcard at an end: *cat*."),
	),
	regex_patterns: v.optional(
		list(text(1, 260, ""), 0, 10, "Regexes, Rust syntax."),
	),
	presets: v.optional(list(choice(presetNames, ""), 1, 3, "Discord's lists.")),
	allow_list: v.optional(list(text(1, 60, ""), 0, 1000, "Allowed words.")),
	mention_total_limit: v.optional(
		integer(1, 50, "Maximum mentions per message."),
	),
	mention_raid_protection_enabled: v.optional(flag("Detect mention raids.")),
};

const actionFields = {
	custom_message: v.optional(
		text(0, 150, "What block_message tells the author."),
	),
	alert_channel_id: v.optional(
		found(textChannel, "channel of send_alert_message"),
	),
	duration_seconds: v.optional(
		integer(1, 2_419_200, "How long timeout lasts, at most 4 weeks."),
	),
	exempt_role_ids: v.optional(
		list(found(role, "role"), 0, 20, "Exempt roles."),
	),
	exempt_channel_ids: v.optional(
		list(found(channel, "channel"), 0, 50, "Exempt channels."),
	),
};

const actionList = list(choice(actionNames, ""), 1, 4, "Actions.");

const actionNeeds: NeededWith<{ actions?: ActionName[] | undefined }> = {
	permission: "ModerateMembers",
	with: "actions",
	when: ({ actions }) => moderatesMembers(actions),
};

export const listAutomodRules = readTool({
	name: "list_automod_rules",
	toolset: "automod",
	title: "List AutoMod rules",
	description:
		"List a guild's AutoMod rules; with rule_id, that one with all its words.",
	permissions: ["ManageGuild"],
	input: v.strictObject({ guild_id, rule_id: v.optional(ruleId) }),
	async run(_, { guild, discord, rule }) {
		if (rule) return [ruleLine(guild, rule), ...wordLines(rule)];
		const rules = (await discord.rest.get(
			Routes.guildAutoModerationRules(guild.id),
		)) as APIAutoModerationRule[];
		if (rules.length === 0)
			return `The guild ${guild.id} has no AutoMod rules.`;
		return [
			`${rules.length} AutoMod rule(s):`,
			...rules.map((rule) => ruleLine(guild, rule)),
		];
	},
});

export const createAutomodRule = writeTool({
	name: "create_automod_rule",
	toolset: "automod",
	title: "Create an AutoMod rule",
	description:
		"Create an AutoMod rule. A guild has at most 6 of trigger_type keyword and 1 of each other.",
	permissions: ["ManageGuild", actionNeeds],
	input: v.strictObject({
		guild_id,
		name: text(1, 100, "Name of the rule."),
		trigger_type: choice(triggerNames, "Trigger."),
		...ruleFields,
		actions: actionList,
		...actionFields,
		enabled: v.optional(flag("Whether it is on."), true),
		reason,
	}),
	async run(
		{ guild_id: _, reason: __, trigger_type, ...given },
		{ guild, discord },
	) {
		const rule = changedRule(emptyRule, given);
		requireTriggerFields(trigger_type, given);
		validateRule(trigger_type, rule, given);
		const made = (await discord.rest.post(
			Routes.guildAutoModerationRules(guild.id),
			{
				body: {
					...ruleBody(rule, givenFields(given)),
					...triggerBody(trigger_type),
				},
			},
		)) as APIAutoModerationRule;
		return [
			`Created the AutoMod rule ${ruleName(made)}, which is ${made.enabled ? "on" : "off"}.`,
			ruleLine(guild, made),
		];
	},
});

export const editAutomodRule = editTool({
	name: "edit_automod_rule",
	toolset: "automod",
	title: "Edit an AutoMod rule",
	description:
		"Change an AutoMod rule. Omitted fields stay; lists are replaced as a whole.",
	lock: "rule_id",
	permissions: ["ManageGuild", actionNeeds],
	input: v.strictObject({
		guild_id,
		rule_id: ruleId,
		name: v.optional(text(1, 100, "New name.")),
		...ruleFields,
		actions: v.optional(actionList),
		...actionFields,
		enabled: v.optional(flag("Whether it is on.")),
		reason,
	}),
	async run(
		{ guild_id: _, reason: __, rule_id: ___, ...given },
		{ guild, discord, rule },
	) {
		const trigger = triggerOf(rule);
		if (!trigger)
			throw new ToolError(
				`${ruleName(rule)} has a trigger that this tool does not support. Nothing was done.`,
			);
		const before = fieldsOf(rule);
		const changes = changesOf<RuleFields>(
			before,
			inOrder(given),
			ruleName(rule),
		);
		const after = changedRule(before, changes);
		validateRule(trigger, after, changes);
		const edited = (await discord.rest.patch(
			Routes.guildAutoModerationRule(guild.id, rule.id),
			{ body: ruleBody(after, givenFields(changes), rule) },
		)) as APIAutoModerationRule;
		return [
			`Changed ${givenFields(changes).join(", ")} of ${ruleName(edited)}.`,
			ruleLine(guild, edited),
		];
	},
});

export const deleteAutomodRule = destructiveTool({
	name: "delete_automod_rule",
	toolset: "automod",
	title: "Delete an AutoMod rule",
	description:
		"Delete an AutoMod rule permanently; edit_automod_rule can disable it.",
	permissions: ["ManageGuild"],
	lock: "rule_id",
	input: v.strictObject({ guild_id, rule_id: ruleId, reason }),
	plan(_, { guild, discord, rule }) {
		return {
			preview: [
				`Would delete the AutoMod rule ${ruleName(rule)}, which is ${rule.enabled ? "on" : "off"}.`,
				ruleLine(guild, rule),
			],
			write: () =>
				discord.rest.delete(Routes.guildAutoModerationRule(guild.id, rule.id)),
			result: `Deleted the AutoMod rule ${ruleName(rule)}.`,
		};
	},
});
