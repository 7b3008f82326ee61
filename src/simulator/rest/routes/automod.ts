// AutoMod rules. Their actions are in ../automod-actions.ts.
// https://discord.com/developers/docs/resources/auto-moderation

import {
	AutoModerationActionType as Action,
	type APIAutoModerationAction,
	type APIAutoModerationRuleTriggerMetadata,
	AutoModerationRuleEventType as EventType,
	AutoModerationRuleTriggerType as Trigger,
} from "discord.js";
import { emptyMetadata } from "../../world/guilds/automod.ts";
import { requireGuildPermissions } from "../access.ts";
import { formError, found, httpError, missingField } from "../errors.ts";
import * as f from "../fields/fields.ts";
import { type Call, route } from "../route.ts";

const all = "/guilds/:guild_id/auto-moderation/rules";
const one = `${all}/:rule_id` as const;

const ruleLimit = (trigger: Trigger) => (trigger === Trigger.Keyword ? 6 : 1);
const longestTimeoutSeconds = 2_419_200;

const words = (max: number) => f.list(f.text(1, 60), 0, max);

const triggerMetadata = f.object({
	keyword_filter: words(1000),
	regex_patterns: f.list(f.text(1, 260), 0, 10),
	presets: f.list(f.choice(1, 2, 3), 0, 3),
	allow_list: words(1000),
	mention_total_limit: f.integer(0, 50),
	mention_raid_protection_enabled: f.boolean,
});

const action = f.object({
	type: f.required(
		f.choice(Action.BlockMessage, Action.SendAlertMessage, Action.Timeout, Action.BlockMemberInteraction),
	),
	metadata: f.object({
		channel_id: f.snowflake,
		duration_seconds: f.integer(1, longestTimeoutSeconds),
		custom_message: f.text(0, 150),
	}),
});

const fields = {
	name: f.text(1, 100),
	event_type: f.choice(EventType.MessageSend, EventType.MemberUpdate),
	trigger_metadata: triggerMetadata,
	actions: f.list(action, 1, 5),
	enabled: f.boolean,
	exempt_roles: f.list(f.snowflake, 0, 20),
	exempt_channels: f.list(f.snowflake, 0, 50),
};

const newFields = {
	...fields,
	name: f.required(fields.name),
	event_type: f.required(fields.event_type),
	actions: f.required(fields.actions),
	trigger_type: f.required(
		f.choice(Trigger.Keyword, Trigger.Spam, Trigger.KeywordPreset, Trigger.MentionSpam, Trigger.MemberProfile),
	),
};

function metadataOf(trigger: Trigger, given: f.Read<typeof triggerMetadata>): APIAutoModerationRuleTriggerMetadata {
	const empty = emptyMetadata[trigger];
	if (!empty) return {};
	if (!given) throw missingField("trigger_metadata");
	const { allow_list = [], mention_total_limit } = given;
	if (trigger === Trigger.MentionSpam && mention_total_limit === undefined)
		throw missingField("trigger_metadata", "mention_total_limit");
	if (trigger !== Trigger.KeywordPreset && allow_list.length > 100)
		throw formError("BASE_TYPE_BAD_LENGTH", "Must be between 0 and 100 in length.", "trigger_metadata", "allow_list");
	return { ...empty, ...Object.fromEntries(Object.entries(given).filter(([key]) => key in empty)) };
}

/**
 * For each AutoMod action that needs MODERATE_MEMBERS: the trigger types of the rules that may use the action. Source
 * for BlockMemberInteraction: discord-userdoccers (QUARANTINE_USER). Source for Timeout:
 * https://discord.com/developers/docs/resources/auto-moderation#auto-moderation-action-object-action-types
 * A guess (automod-timeout): Discord's error code if a rule with another trigger type uses the action.
 */
const triggersWith = new Map<Action, readonly Trigger[]>([
	[Action.Timeout, [Trigger.Keyword, Trigger.MentionSpam]],
	[Action.BlockMemberInteraction, [Trigger.MemberProfile]],
]);

function actionsOf(
	call: Call<":guild_id">,
	trigger: Trigger,
	given: readonly (f.Read<typeof action> & object)[],
): APIAutoModerationAction[] {
	return given.map(({ type, metadata }, index): APIAutoModerationAction => {
		const triggers = triggersWith.get(type);
		if (triggers) requireGuildPermissions(call, "ModerateMembers");
		if (triggers && !triggers.includes(trigger))
			throw formError(
				"AUTO_MODERATION_INVALID_ACTION_TYPE",
				`Rules with trigger type ${trigger} cannot have actions of type ${type}.`,
				"actions",
				index,
				"type",
			);
		if (type === Action.SendAlertMessage) {
			const channel_id = metadata?.channel_id;
			if (!channel_id) throw missingField("actions", index, "metadata", "channel_id");
			found(call.guild.channels.get(channel_id), "UnknownChannel");
			return { type, metadata: { channel_id } };
		}
		if (type === Action.Timeout) {
			const duration_seconds = metadata?.duration_seconds;
			if (!duration_seconds) throw missingField("actions", index, "metadata", "duration_seconds");
			return { type, metadata: { duration_seconds } };
		}
		const custom_message = metadata?.custom_message;
		const isExplained = type === Action.BlockMessage && custom_message;
		return { type, metadata: isExplained ? { custom_message } : {} };
	});
}

function ruleOf({ world, guild, params }: Call<typeof one>) {
	const rule = world.autoModeration.in(guild).find(({ id }) => id === params.rule_id);
	// Discord has no code for an unknown rule.
	if (!rule) throw httpError(404, "Not Found");
	return rule;
}

function wrongEventType(trigger: Trigger) {
	return formError(
		"AUTO_MODERATION_INVALID_EVENT_TYPE",
		`Rules with trigger type ${trigger} have another event type.`,
		"event_type",
	);
}

export const autoModerationRoutes = [
	route(`GET ${all}`, { needs: "ManageGuild", run: (call) => call.world.autoModeration.in(call.guild) }),
	route(`POST ${all}`, {
		needs: "ManageGuild",
		body: newFields,
		run: (call) => {
			const { guild, body, world } = call;
			const { trigger_type, event_type } = body;
			const isUpdate = event_type === EventType.MemberUpdate;
			if (isUpdate !== (trigger_type === Trigger.MemberProfile)) throw wrongEventType(trigger_type);
			const trigger_metadata = metadataOf(trigger_type, body.trigger_metadata);
			const actions = actionsOf(call, trigger_type, body.actions);
			const sameKind = world.autoModeration.in(guild).filter((rule) => rule.trigger_type === trigger_type);
			const limit = ruleLimit(trigger_type);
			if (sameKind.length >= limit)
				throw formError(
					"AUTO_MODERATION_MAX_RULES_OF_TYPE_EXCEEDED",
					`Maximum number of rules with trigger type ${trigger_type} is ${limit}`,
				);
			const given = {
				enabled: false,
				exempt_roles: [],
				exempt_channels: [],
				...body,
				creator_id: call.actor.user.id,
				trigger_metadata,
				actions,
			};
			return world.autoModeration.add(guild, given, call.by);
		},
	}),
	route(`GET ${one}`, { needs: "ManageGuild", run: ruleOf }),
	route(`PATCH ${one}`, {
		needs: "ManageGuild",
		body: fields,
		run: (call) => {
			const { body, world } = call;
			const rule = ruleOf(call);
			const { trigger_type } = rule;
			if (body.event_type && body.event_type !== rule.event_type) throw wrongEventType(trigger_type);
			const changes = {
				...body,
				trigger_metadata: body.trigger_metadata && metadataOf(trigger_type, body.trigger_metadata),
				actions: body.actions && actionsOf(call, trigger_type, body.actions),
			};
			world.autoModeration.edit(rule, changes, call.by);
			return rule;
		},
	}),
	route(`DELETE ${one}`, {
		needs: "ManageGuild",
		run: (call) => call.world.autoModeration.remove(ruleOf(call), call.by),
	}),
];
