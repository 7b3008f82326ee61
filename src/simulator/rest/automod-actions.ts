// Executes the actions of AutoMod rules that a new or edited message violates: block, alert, timeout.

import { AutoModerationActionType as Action, type APIAutoModerationAction, MessageType } from "discord.js";
import { managersOnly, type Violation } from "../world/guilds/automod.ts";
import type { EventPayloads } from "../world/state/api-types.ts";
import { type Channel, inGuild, type Message } from "../world/state/entities.ts";
import { guildPermissions, has } from "../world/state/permissions.ts";
import { apiError } from "./errors.ts";
import type { Call } from "./route.ts";

/** Throws Discord's error if a rule blocks the message, else returns a function that executes the other actions. */
export function moderate({ world, actor: { user } }: Call, channel: Channel, text: string): (message: Message) => void {
	if (!inGuild(channel)) return () => {};
	const guild = world.guilds.of(channel);
	const member = guild.members.get(user.id);
	if (!member || user.bot || has(guildPermissions(guild, user.id), "ManageGuild")) return () => {};
	const violations = world.autoModeration.violations(guild, {
		text,
		channelIds: [channel.id, channel.parent_id ?? ""],
		roleIds: member.roles,
	});

	function sendAlert(channelId: string | undefined, { rule, keyword, content }: Violation): Message | undefined {
		const to = guild.channels.get(channelId ?? "");
		if (!to) return undefined;
		const fields = { rule_name: rule.name, channel_id: channel.id, keyword, keyword_matched_content: content };
		return world.messages.add(to, user, {
			content: "",
			type: MessageType.AutoModerationAction,
			embeds: [
				{
					type: "auto_moderation_message",
					description: text,
					fields: Object.entries(fields).flatMap(([name, value]) =>
						value === null ? [] : [{ name, value, inline: false }],
					),
				},
			],
		});
	}

	function execute(action: APIAutoModerationAction, violation: Violation, message: Message | undefined): void {
		const { rule, keyword, content } = violation;
		const { channel_id, duration_seconds = 0 } = action.metadata ?? {};
		const alert = action.type === Action.SendAlertMessage ? sendAlert(channel_id, violation) : undefined;
		if (member && action.type === Action.Timeout) {
			const until = new Date(Date.now() + duration_seconds * 1000);
			world.members.edit(guild, member, { communication_disabled_until: until.toISOString() });
		}
		world.state.dispatch({
			type: "AUTO_MODERATION_ACTION_EXECUTION",
			guildId: guild.id,
			data: ({ seesContent }): EventPayloads["AUTO_MODERATION_ACTION_EXECUTION"] => ({
				guild_id: guild.id,
				action,
				rule_id: rule.id,
				rule_trigger_type: rule.trigger_type,
				user_id: user.id,
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

	// A blocked message is never created.
	const executeAll = (message?: Message) => {
		for (const violation of violations)
			for (const action of violation.rule.actions) execute(action, violation, message);
	};
	const blocks = violations.some(({ rule }) => rule.actions.some(({ type }) => type === Action.BlockMessage));
	if (!blocks) return executeAll;
	executeAll();
	throw apiError("MessageWasBlockedByAutomaticModeration");
}
