// What auto-moderation does about a message that someone writes: blocks it, tells of it, times its author out.

import {
	AutoModerationActionType as Action,
	type APIAutoModerationAction,
	RESTJSONErrorCodes as Code,
	MessageType,
	PermissionFlagsBits,
} from "discord.js";
import { managersOnly, type Violation } from "../world/guilds/automod.ts";
import type {
	Channel,
	Guild,
	Member,
	Message,
} from "../world/state/entities.ts";
import { inGuild } from "../world/state/entities.ts";
import { guildPermissions, has } from "../world/state/permissions.ts";
import type { World } from "../world/world.ts";
import { refusal } from "./errors.ts";
import type { Call } from "./route.ts";

interface Offence {
	readonly world: World;
	readonly guild: Guild;
	readonly channel: Channel;
	readonly member: Member;
	readonly text: string;
	readonly violation: Violation;
	/** The message, if it was not blocked. */
	readonly message: Message | undefined;
}

/**
 * Lets the guild's rules look at a text that is to be written or edited: throws Discord's refusal when one blocks it. What
 * is returned is to be called with the message once it is there. Bots, and those who manage the guild, may write anything.
 */
export function moderate(
	call: Call,
	channel: Channel,
	text: string,
): (message: Message) => void {
	const { world, actor } = call;
	if (!inGuild(channel)) return () => {};
	const guild = world.guilds.of(channel);
	const member = guild.members.get(actor.user.id);
	const mayAll = has(
		guildPermissions(guild, actor.user.id),
		PermissionFlagsBits.ManageGuild,
	);
	if (!member || actor.user.bot || mayAll) return () => {};
	const violations = world.autoModeration.violations(guild, {
		text,
		channelIds: [channel.id, channel.parent_id ?? ""],
		roleIds: member.roles,
	});
	const actOn = (message: Message | undefined) => {
		for (const violation of violations)
			for (const action of violation.rule.actions)
				carryOut(action, {
					world,
					guild,
					channel,
					member,
					text,
					violation,
					message,
				});
	};
	const blocks = violations.some(({ rule }) =>
		rule.actions.some(({ type }) => type === Action.BlockMessage),
	);
	if (!blocks) return actOn;
	actOn(undefined);
	throw refusal(Code.MessageWasBlockedByAutomaticModeration);
}

function carryOut(action: APIAutoModerationAction, offence: Offence): void {
	const { world, guild, channel, member, text, violation, message } = offence;
	const { rule, keyword, content } = violation;
	const alert =
		action.type === Action.SendAlertMessage
			? sendAlert(action.metadata?.channel_id, offence)
			: undefined;
	if (action.type === Action.Timeout) {
		const ms = (action.metadata?.duration_seconds ?? 0) * 1000;
		world.members.edit(guild, member, {
			communication_disabled_until: new Date(Date.now() + ms).toISOString(),
		});
	}
	world.state.dispatchToGuild(
		"AUTO_MODERATION_ACTION_EXECUTION",
		guild,
		({ seesContent }) => ({
			guild_id: guild.id,
			action,
			rule_id: rule.id,
			rule_trigger_type: rule.trigger_type,
			user_id: member.user.id,
			channel_id: channel.id,
			...(message ? { message_id: message.id } : {}),
			...(alert ? { alert_system_message_id: alert.id } : {}),
			content: seesContent ? text : "",
			matched_keyword: keyword,
			matched_content: seesContent ? content : "",
		}),
		managersOnly,
	);
}

/** Discord's own message about the offence, in the channel that the rule names. */
function sendAlert(
	channelId: string | undefined,
	{ world, guild, channel, member, text, violation }: Offence,
): Message | undefined {
	const to = guild.channels.get(channelId ?? "");
	if (!to) return undefined;
	const field = (name: string, value: string | null) =>
		value === null ? [] : [{ name, value, inline: false }];
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
