// The effect of every tool's calls: always the same, or by the arguments of the call, with examples on each side.

import { ChannelType, GuildScheduledEventEntityType, PermissionFlagsBits } from "discord.js";
import type { Simulator } from "../../src/simulator/simulator.ts";
import { grant } from "./features/running-feature.ts";

type Args = Record<string, unknown>;

/** Calls that only write, and calls that count as destructive, each with a part of the reason. */
interface Examples {
	write: readonly Args[];
	destructive: readonly (readonly [reason: string, args: Args])[];
}

/** What the examples need in the guild, before the bot starts. */
export function prepareExamples(simulator: Simulator): void {
	const guild = simulator.guild("The Cooks");
	const { world } = simulator;
	const alpha = world.users.get(simulator.bot("alpha").id);
	const general = guild.channels.get(simulator.channel("The Cooks/general").id);
	const staff = guild.channels.get(simulator.channel("The Cooks/staff").id);
	if (!alpha || !general || !staff) throw new Error("the seed has these");
	grant(simulator, "Staff", PermissionFlagsBits.KickMembers);
	world.roles.add(guild, { name: "Helpers" });
	const insiders = world.roles.add(guild, { name: "Insiders" });
	const allow = String(PermissionFlagsBits.ViewChannel);
	const { id } = insiders;
	world.channels.setOverwrite(staff, { id, type: 0, allow, deny: "0" });
	world.channels.add(guild, { name: "Elsewhere", type: ChannelType.GuildCategory });
	world.messages.add(general, alpha, { content: "an announcement" });
	world.scheduledEvents.add(guild, guild.owner_id, {
		name: "Dinner",
		entity_type: GuildScheduledEventEntityType.External,
		entity_metadata: { location: "Outside" },
		scheduled_start_time: "2099-01-31T12:00:00.000Z",
		scheduled_end_time: "2099-01-31T13:00:00.000Z",
	});
	for (const enabled of [true, false])
		world.autoModeration.add(guild, {
			name: `Soup ${enabled}`,
			creator_id: guild.owner_id,
			enabled,
			event_type: 1,
			trigger_type: 1,
			exempt_roles: [],
			trigger_metadata: { keyword_filter: ["soup", "stew"] },
			actions: [{ type: 1, metadata: {} }],
			exempt_channels: [],
		});
}

/** The tools whose calls have different effects. */
export function examplesIn(simulator: Simulator): Record<string, Examples> {
	const guild = simulator.guild("The Cooks");
	const { world } = simulator;
	const named = <T extends { id: string; name: string }>(things: Iterable<T>, name: string) => {
		for (const thing of things) if (thing.name === name) return thing.id;
		throw new Error(`nothing is called ${name}`);
	};
	const role = (name: string) => named(guild.roles.values(), name);
	const channel = (name: string) => named(guild.channels.values(), name);
	const user = (name: string) => simulator.user(name).id;
	const general = channel("general");
	const [message] = world.messages.in(general);
	const event = named(world.scheduledEvents.in(guild), "Dinner");
	const rule = named(world.autoModeration.in(guild), "Soup true");
	const ruleThatIsOff = named(world.autoModeration.in(guild), "Soup false");
	const keyword = { name: "Words", trigger_type: "keyword", keyword_filter: ["*"] };
	const blocks = { actions: ["block_message"] };
	return {
		create_role: {
			write: [{ name: "Friends", permissions: ["SEND_MESSAGES"], user_ids: [user("mona_lisa")] }],
			destructive: [
				["gives a role MANAGE_GUILD", { name: "x", permissions: ["MANAGE_GUILD"] }],
				["gives a role ADMINISTRATOR", { name: "x", permissions: "10" }],
				["places a role above @Staff", { name: "x", below_role_id: role("alpha") }],
			],
		},
		edit_role: {
			write: [
				{ role_id: role("Regular"), color: "#112233" },
				{ role_id: role("Staff"), remove_permissions: ["KICK_MEMBERS"] },
			],
			destructive: [
				["gives @Regular (ID: ", { role_id: role("Regular"), add_permissions: ["BAN_MEMBERS"] }],
				[") MANAGE_MESSAGES", { role_id: guild.id, add_permissions: ["MANAGE_MESSAGES"] }],
				[") ADMINISTRATOR", { role_id: role("Newcomer"), add_permissions: ["ADMINISTRATOR"] }],
				["takes SEND_MESSAGES from @everyone", { role_id: guild.id, remove_permissions: ["SEND_MESSAGES"] }],
				["changes which roles rank below @Staff", { role_id: role("Staff"), below_role_id: role("Newcomer") }],
			],
		},
		move_roles: {
			write: [{ role_ids: [role("Helpers")], below_role_id: role("Regular") }],
			destructive: [
				["changes which roles rank below @Staff", { role_ids: [role("Regular")], above_role_id: role("Staff") }],
			],
		},
		create_invite: {
			write: [{ channel_id: general }, { channel_id: general, role_ids: [role("Helpers")] }],
			destructive: [
				["gives ", { channel_id: general, role_ids: [role("Staff")] }],
				["gives VIEW_CHANNEL in #staff", { channel_id: general, role_ids: [role("Insiders")] }],
			],
		},
		create_role_menu: {
			write: [{ channel_id: general, role_ids: [role("Helpers")] }],
			destructive: [
				["gives VIEW_CHANNEL in #staff", { channel_id: general, role_ids: [role("Insiders")] }],
				[
					"replaces what a message says",
					{ channel_id: general, role_ids: [role("Helpers")], content: "Choose", message_id: message?.id },
				],
			],
		},
		create_channel: {
			write: [{ name: "plain" }, { name: "private", view_role_ids: [role("Staff")] }],
			destructive: [
				[
					"allows MANAGE_MESSAGES in the channel",
					{ name: "x", permission_overwrites: [{ id: role("Regular"), allow: ["MANAGE_MESSAGES"] }] },
				],
			],
		},
		move_channels: {
			write: [{ channel_ids: [channel("Lounge")], category_id: channel("Elsewhere") }],
			destructive: [["", { channel_ids: [general], category_id: channel("Elsewhere"), lock_permissions: true }]],
		},
		lock_channel: {
			write: [{ channel_ids: [general] }, { all: true, unlock: true }],
			destructive: [
				["silences @everyone in all channels", { all: true }],
				["in several channels", { channel_ids: [channel("Talk")] }],
				["in several channels", { channel_ids: [general, channel("Lounge")] }],
			],
		},
		edit_guild: {
			write: [{ afk_timeout: 900 }],
			destructive: [["raises what members need", { verification_level: "VERY_HIGH" }]],
		},
		set_incident_actions: {
			write: [{ invites_disabled_until: "6h" }],
			destructive: [["pauses direct messages", { dms_disabled_until: "6h" }]],
		},
		edit_scheduled_event: {
			write: [{ event_id: event, name: "Supper" }],
			destructive: [["ends the event for good", { event_id: event, status: "canceled" }]],
		},
		set_automod_rule: {
			write: [
				{ ...keyword, actions: ["send_alert_message"], alert_channel_id: channel("staff") },
				{ name: "Slurs", trigger_type: "keyword_preset", presets: ["slurs"], ...blocks },
				{ rule_id: rule, name: "No soup" },
				{ rule_id: rule, keyword_filter: ["soup"] },
				{ rule_id: rule, enabled: false },
			],
			destructive: [
				["by words", { ...keyword, ...blocks }],
				["by words", { ...keyword, keyword_filter: [], regex_patterns: ["."], ...blocks }],
				[
					"blocks messages with 1 mentions",
					{ name: "Mentions", trigger_type: "mention_spam", mention_total_limit: 1, ...blocks },
				],
				["by words", { rule_id: rule, keyword_filter: ["soup", "stew", "the"] }],
				["by words", { rule_id: rule, actions: ["block_message", "timeout"], duration_seconds: 60 }],
				["by words", { rule_id: ruleThatIsOff, enabled: true }],
			],
		},
		warn_member: {
			write: [{ user_ids: [user("zoe")], reason: "Spam", tell: false }],
			// José has been warned once.
			destructive: [
				[
					'may set off the rule "2 warnings in 30d: kick"',
					{ user_ids: [user("jose.garcia")], reason: "Spam", tell: false },
				],
			],
		},
	};
}
