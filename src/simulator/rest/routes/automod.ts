// AutoMod rules. Their actions are in ../automod-actions.ts.
// https://discord.com/developers/docs/resources/auto-moderation

import {
	AutoModerationActionType as Action,
	type APIAutoModerationAction,
	type APIAutoModerationRuleTriggerMetadata,
	RESTJSONErrorCodes as Code,
	AutoModerationRuleEventType as EventType,
	PermissionFlagsBits as Permission,
	AutoModerationRuleTriggerType as Trigger,
} from "discord.js";
import type { Guild } from "../../world/state/entities.ts";
import { guildPermissions, has } from "../../world/state/permissions.ts";
import { apiError, formError, httpError } from "../errors.ts";
import * as f from "../fields.ts";
import { type Call, guildOf, param, route } from "../route.ts";

const all = "/guilds/:guild_id/auto-moderation/rules";
const one = `${all}/:rule_id`;

/** The limit of rules by trigger type. */
const ruleLimit = (trigger: Trigger) => (trigger === Trigger.Keyword ? 6 : 1);
const longestTimeoutSeconds = 2_419_200;

const words = (max: number) => f.nullable(f.list(f.text(1, 60), 0, max));

const triggerMetadata = f.object({
	keyword_filter: words(1000),
	regex_patterns: f.nullable(f.list(f.text(1, 260), 0, 10)),
	presets: f.nullable(f.list(f.choice(1, 2, 3), 0, 3)),
	allow_list: words(1000),
	mention_total_limit: f.nullable(f.integer(0, 50)),
	mention_raid_protection_enabled: f.nullable(f.boolean),
});

const action = f.object({
	type: f.required(
		f.choice(
			Action.BlockMessage,
			Action.SendAlertMessage,
			Action.Timeout,
			Action.BlockMemberInteraction,
		),
	),
	metadata: f.nullable(
		f.object({
			channel_id: f.nullable(f.snowflake),
			duration_seconds: f.nullable(f.integer(1, longestTimeoutSeconds)),
			custom_message: f.nullable(f.text(0, 150)),
		}),
	),
});

const fields = {
	name: f.text(1, 100),
	event_type: f.choice(EventType.MessageSend, EventType.MemberUpdate),
	trigger_metadata: f.nullable(triggerMetadata),
	actions: f.list(action, 1, 5),
	enabled: f.boolean,
	exempt_roles: f.nullable(f.list(f.snowflake, 0, 20)),
	exempt_channels: f.nullable(f.list(f.snowflake, 0, 50)),
};

const newFields = {
	...fields,
	name: f.required(fields.name),
	event_type: f.required(fields.event_type),
	actions: f.required(fields.actions),
	trigger_type: f.required(
		f.choice(
			Trigger.Keyword,
			Trigger.Spam,
			Trigger.KeywordPreset,
			Trigger.MentionSpam,
			Trigger.MemberProfile,
		),
	),
};

/** The metadata that a rule with this trigger type stores. */
function metadataOf(
	trigger: Trigger,
	given: f.Read<typeof triggerMetadata> | null,
): APIAutoModerationRuleTriggerMetadata {
	if (trigger === Trigger.Spam) return {};
	const fault = (field: string, code: string, message: string) =>
		formError(code, message, "trigger_metadata", field);
	if (!given)
		throw formError(
			"BASE_TYPE_REQUIRED",
			"This field is required",
			"trigger_metadata",
		);
	const allow_list = given.allow_list ?? [];
	if (trigger === Trigger.MentionSpam) {
		const { mention_total_limit: limit } = given;
		if (limit === undefined || limit === null)
			throw fault(
				"mention_total_limit",
				"BASE_TYPE_REQUIRED",
				"This field is required",
			);
		return {
			mention_total_limit: limit,
			mention_raid_protection_enabled:
				given.mention_raid_protection_enabled ?? false,
		};
	}
	if (trigger === Trigger.KeywordPreset)
		return { presets: given.presets ?? [], allow_list };
	if (allow_list.length > 100)
		throw fault(
			"allow_list",
			"BASE_TYPE_BAD_LENGTH",
			"Must be between 0 and 100 in length.",
		);
	return {
		keyword_filter: given.keyword_filter ?? [],
		regex_patterns: given.regex_patterns ?? [],
		allow_list,
	};
}

/** The actions to store. Throws Discord's error for invalid ones. */
function actionsOf(
	call: Call,
	guild: Guild,
	trigger: Trigger,
	given: readonly Exclude<f.Read<typeof action>, undefined>[],
): APIAutoModerationAction[] {
	return given.map(({ type, metadata }, index): APIAutoModerationAction => {
		const isMissing = (field: string) =>
			formError(
				"BASE_TYPE_REQUIRED",
				"This field is required",
				"actions",
				index,
				"metadata",
				field,
			);
		if (type === Action.SendAlertMessage) {
			const channel_id = metadata?.channel_id;
			if (!channel_id) throw isMissing("channel_id");
			if (!guild.channels.has(channel_id)) throw apiError(Code.UnknownChannel);
			return { type, metadata: { channel_id } };
		}
		if (type === Action.Timeout) {
			const granted = guildPermissions(guild, call.actor.user.id);
			if (!has(granted, Permission.ModerateMembers))
				throw apiError(Code.MissingPermissions);
			if (trigger !== Trigger.Keyword && trigger !== Trigger.MentionSpam)
				throw formError(
					"AUTO_MODERATION_INVALID_ACTION_TYPE",
					`Rules with trigger type ${trigger} cannot time members out.`,
					"actions",
					index,
					"type",
				);
			const duration_seconds = metadata?.duration_seconds;
			if (!duration_seconds) throw isMissing("duration_seconds");
			return { type, metadata: { duration_seconds } };
		}
		const custom_message = metadata?.custom_message;
		return {
			type,
			metadata:
				type === Action.BlockMessage && custom_message
					? { custom_message }
					: {},
		};
	});
}

function ruleOf(call: Call) {
	const id = param(call, "rule_id");
	const rules = call.world.autoModeration.in(guildOf(call));
	const rule = rules.find((one) => one.id === id);
	// Discord has no code for an unknown rule.
	if (!rule) throw httpError(404, "Not Found");
	return rule;
}

export const autoModerationRoutes = [
	route({
		method: "GET",
		path: all,
		needs: Permission.ManageGuild,
		run: (call) => call.world.autoModeration.in(guildOf(call)),
	}),
	route({
		method: "POST",
		path: all,
		needs: Permission.ManageGuild,
		body: newFields,
		run: (call) => {
			const guild = guildOf(call);
			const { body, world } = call;
			const { trigger_type, event_type } = body;
			if (
				(event_type === EventType.MemberUpdate) !==
				(trigger_type === Trigger.MemberProfile)
			)
				throw formError(
					"AUTO_MODERATION_INVALID_EVENT_TYPE",
					`Rules with trigger type ${trigger_type} have another event type.`,
					"event_type",
				);
			const trigger_metadata = metadataOf(
				trigger_type,
				body.trigger_metadata ?? null,
			);
			const actions = actionsOf(call, guild, trigger_type, body.actions);
			const sameKind = world.autoModeration
				.in(guild)
				.filter((rule) => rule.trigger_type === trigger_type);
			const limit = ruleLimit(trigger_type);
			if (sameKind.length >= limit)
				throw formError(
					"AUTO_MODERATION_MAX_RULES_OF_TYPE_EXCEEDED",
					`Maximum number of rules with trigger type ${trigger_type} is ${limit}`,
				);
			return world.autoModeration.add(
				guild,
				{
					name: body.name,
					creator_id: call.actor.user.id,
					event_type,
					trigger_type,
					trigger_metadata,
					actions,
					enabled: body.enabled ?? false,
					exempt_roles: body.exempt_roles ?? [],
					exempt_channels: body.exempt_channels ?? [],
				},
				call.by,
			);
		},
	}),
	route({
		method: "GET",
		path: one,
		needs: Permission.ManageGuild,
		run: ruleOf,
	}),
	route({
		method: "PATCH",
		path: one,
		needs: Permission.ManageGuild,
		body: fields,
		run: (call) => {
			const guild = guildOf(call);
			const rule = ruleOf(call);
			const { body, world } = call;
			const { trigger_type } = rule;
			if (body.event_type && body.event_type !== rule.event_type)
				throw formError(
					"AUTO_MODERATION_INVALID_EVENT_TYPE",
					`Rules with trigger type ${trigger_type} have another event type.`,
					"event_type",
				);
			world.autoModeration.edit(
				guild,
				rule,
				{
					name: body.name,
					enabled: body.enabled,
					trigger_metadata: body.trigger_metadata
						? metadataOf(trigger_type, body.trigger_metadata)
						: undefined,
					actions:
						body.actions && actionsOf(call, guild, trigger_type, body.actions),
					exempt_roles: body.exempt_roles ?? undefined,
					exempt_channels: body.exempt_channels ?? undefined,
				},
				call.by,
			);
			return rule;
		},
	}),
	route({
		method: "DELETE",
		path: one,
		needs: Permission.ManageGuild,
		run: (call) => {
			const rule = ruleOf(call);
			call.world.autoModeration.remove(guildOf(call), rule, call.by);
		},
	}),
];
