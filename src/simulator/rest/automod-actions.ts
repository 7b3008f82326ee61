// Executes the actions of AutoMod rules that a new or edited message violates: block, alert, timeout.

import { AutoModerationActionType as Action, type APIAutoModerationAction, MessageType } from "discord.js";
import { managersOnly, type Violation } from "../world/guilds/automod.ts";
import type { EventPayloads } from "../world/state/api-types.ts";
import { type Channel, type Guild, inGuild, type Member, type Message } from "../world/state/entities.ts";
import { guildPermissions, has } from "../world/state/permissions.ts";
import type { World } from "../world/world.ts";
import { apiError } from "./errors.ts";
import type { Call } from "./route.ts";

interface ActionContext {
	world: World;
	guild: Guild;
	channel: Channel;
	member: Member;
	text: string;
	violation: Violation;
	/** Undefined if AutoMod blocked the message, because a blocked message is never created. */
	message: Message | undefined;
}

/** Throws Discord's error if a rule blocks the message, else returns a function that executes the other actions. */
export function moderate(call: Call, channel: Channel, text: string): (message: Message) => void {
	const { world, actor } = call;
	if (!inGuild(channel)) return () => {};
	const guild = world.guilds.of(channel);
	const member = guild.members.get(actor.user.id);
	if (!member || actor.user.bot || has(guildPermissions(guild, actor.user.id), "ManageGuild")) return () => {};
	const violations = world.autoModeration.violations(guild, {
		text,
		channelIds: [channel.id, channel.parent_id ?? ""],
		roleIds: member.roles,
	});
	const common = { world, guild, channel, member, text };
	const executeActions = (message: Message | undefined) => {
		for (const violation of violations)
			for (const action of violation.rule.actions) executeAction(action, { ...common, violation, message });
	};
	const blocks = violations.some(({ rule }) => rule.actions.some(({ type }) => type === Action.BlockMessage));
	if (!blocks) return executeActions;
	executeActions(undefined);
	throw apiError("MessageWasBlockedByAutomaticModeration");
}

function executeAction(action: APIAutoModerationAction, context: ActionContext): void {
	const { world, guild, channel, member, text, violation, message } = context;
	const { rule, keyword, content } = violation;
	const alert = action.type === Action.SendAlertMessage ? sendAlert(action.metadata?.channel_id, context) : undefined;
	if (action.type === Action.Timeout) {
		const ms = (action.metadata?.duration_seconds ?? 0) * 1000;
		world.members.edit(guild, member, { communication_disabled_until: new Date(Date.now() + ms).toISOString() });
	}
	world.state.dispatch({
		type: "AUTO_MODERATION_ACTION_EXECUTION",
		guildId: guild.id,
		data: ({ seesContent }): EventPayloads["AUTO_MODERATION_ACTION_EXECUTION"] => ({
			guild_id: guild.id,
			action,
			rule_id: rule.id,
			rule_trigger_type: rule.trigger_type,
			user_id: member.user.id,
			channel_id: channel.id,
			message_id: message?.id,
			alert_system_message_id: alert?.id,
			content: seesContent ? text : "",
			matched_keyword: keyword,
			matched_content: seesContent ? content : "",
		}),
		...managersOnly,
	});
}

function sendAlert(
	channelId: string | undefined,
	{ world, guild, channel, member, text, violation }: ActionContext,
): Message | undefined {
	const to = guild.channels.get(channelId ?? "");
	if (!to) return undefined;
	const field = (name: string, value: string | null) => (value === null ? [] : [{ name, value, inline: false }]);
	return world.messages.add(to, member.user, {
		content: "",
		type: MessageType.AutoModerationAction,
		embeds: [
			{
				type: "auto_moderation_message",
				description: text,
				fields: [
					...field("rule_name", violation.rule.name),
					...field("channel_id", channel.id),
					...field("keyword", violation.keyword),
					...field("keyword_matched_content", violation.content),
				],
			},
		],
	});
}
