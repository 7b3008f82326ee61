// A guild with one of everything that a backup restores, losing all of it, and an export of the simulator's own state:
// the judge of a restore, which shares nothing with the bot's comparison.

import type { GuildDocument } from "../../../src/guild-document/format/document.ts";
import type { Simulator } from "../../../src/simulator/simulator.ts";
import { newGuildSettings, noOnboarding } from "../../../src/simulator/world/state/defaults.ts";
import type { Guild } from "../../../src/simulator/world/state/entities.ts";

const onboardingChannels = ["rules", "news", "a", "b", "c", "d", "e"];

/** A document of a guild with this many additional roles, and twice as many additional channels. */
export function everything(memberIds: readonly string[], more: number): GuildDocument {
	const numbers = Array.from({ length: more }, (_, index) => index);
	const roles = ["Staff", "Guests", ...numbers.map((index) => `role ${index}`)];
	return {
		version: 1,
		omitted: "keep",
		settings: {
			community: true,
			verification_level: "LOW",
			explicit_content_filter: "ALL_MEMBERS",
			rules_channel: "rules",
			public_updates_channel: "mod-chat",
			system_channel: "a",
			afk_channel: "Lounge",
			afk_timeout: "15m",
		},
		everyone: ["VIEW_CHANNEL", "SEND_MESSAGES"],
		roles: roles.map((name, index) => ({
			name,
			color: `#10000${index % 9}`,
			hoist: index % 2 === 0,
			permissions: ["@everyone", "KICK_MEMBERS"],
		})),
		channels: [
			...onboardingChannels.map((name) => ({ name })),
			...numbers.map((index) => ({ name: `channel-${index}`, topic: "Here" })),
		],
		categories: [
			{
				name: "Staff only",
				overwrites: [
					{ role: "@everyone", deny: ["VIEW_CHANNEL"] },
					{ role: "Staff", allow: ["VIEW_CHANNEL"] },
				],
				channels: [
					{ name: "mod-chat" },
					{ name: "Lounge", kind: "voice", overwrites: [] },
					...numbers.map((index) => ({
						name: `staff-${index}`,
						overwrites: [{ role: `role ${index}`, allow: ["SEND_MESSAGES" as const] }],
					})),
				],
			},
			{ name: "Questions", channels: [{ name: "help", kind: "forum", default_reaction: ":soup:" }] },
		],
		automod: [
			{
				name: "Words",
				trigger: "keyword",
				keyword_filter: ["spoiler"],
				actions: ["send_alert_message"],
				alert_channel: "mod-chat",
				exempt_roles: ["Staff"],
				exempt_channels: ["a"],
			},
		],
		events: [
			{ name: "Party", entity_type: "voice", channel: "Lounge", scheduled_start_time: "2999-01-01T00:00:00.000Z" },
		],
		webhooks: [{ name: "Feed", channel: "news" }],
		welcome_screen: { enabled: true, channels: [{ channel: "a", description: "Hello", emoji: ":soup:" }] },
		onboarding: {
			enabled: true,
			default_channels: onboardingChannels,
			prompts: [{ title: "Who?", options: [{ title: "A guest", roles: ["Guests"], channels: ["e"] }] }],
		},
		members: memberIds.map((id, index) => ({ id, roles: ["Staff", roles[index % roles.length] ?? "Staff"] })),
	};
}

/** Removes all that a guild has, except its members and the roles of bots. */
export function wipe({ world }: Simulator, guild: Guild): void {
	world.onboardings.edit(guild, noOnboarding);
	guild.welcomeScreen = null;
	const { name } = guild;
	world.guilds.edit(guild, { ...newGuildSettings, name, features: [] });
	for (const rule of world.autoModeration.in(guild)) world.autoModeration.remove(rule);
	for (const event of world.scheduledEvents.in(guild)) world.scheduledEvents.remove(event);
	for (const webhook of world.webhooks.list({ guild_id: guild.id })) world.webhooks.remove(webhook);
	for (const emoji of [...guild.emojis.values()]) world.emojis.remove(guild, emoji);
	for (const channel of [...guild.channels.values()]) world.channels.remove(channel);
	for (const role of [...guild.roles.values()])
		if (role.id === guild.id) world.roles.edit(guild, role, { permissions: "0" });
		else if (!role.managed) world.roles.remove(guild, role);
}

/** Fields that differ in a thing that is made again, or that the order of the list replaces. */
const lost = new Set([
	...["id", "position", "auditLog", "token", "last_message_id", "version"],
	...["creator_id", "user", "application_id"],
]);

/** The state of a guild in the simulator, with names in place of ids. */
export function stateIn({ world }: Simulator, guild: Guild): unknown {
	const { roles, channels, emojis, members } = guild;
	const names = new Map<string, string>([[guild.id, "the guild"]]);
	for (const { id, name } of roles.values()) names.set(id, `role ${name}`);
	for (const { id, name } of emojis.values()) names.set(id, `emoji ${name}`);
	for (const { id, name } of channels.values()) names.set(id, `#${name}`);
	const nameOf = (id: string | null) => names.get(id ?? "") ?? id ?? "";
	const sorted = <Thing>(things: Iterable<Thing>, by: (one: Thing) => string) =>
		[...things].sort((a, b) => (by(a) < by(b) ? -1 : 1));
	const placed = ({ position }: { position: number }) => String(position).padStart(5, "0");
	const byName = <Thing extends { name: string }>(things: Iterable<Thing>) => sorted(things, ({ name }) => name);
	const whole = {
		...guild,
		roles: sorted(roles.values(), placed),
		// Each kind of channel in a category has an order of its own.
		channels: sorted(channels.values(), (channel) => `${nameOf(channel.parent_id)} ${channel.type} ${placed(channel)}`),
		emojis: byName(emojis.values()),
		automod: byName(world.autoModeration.in(guild)),
		events: byName(world.scheduledEvents.in(guild)),
		webhooks: byName(world.webhooks.list({ guild_id: guild.id })),
		members: [...members.values()].map(({ user, roles }) => ({
			username: user.username,
			roles: roles.map(nameOf).sort(),
		})),
	};
	return JSON.parse(
		JSON.stringify(whole, (field, value) =>
			lost.has(field) || value === null
				? undefined
				: field === "permission_overwrites"
					? sorted(
							value.map(({ id, ...rest }: { id: string }) => ({ of: nameOf(id), ...rest })),
							JSON.stringify,
						)
					: typeof value === "string"
						? nameOf(value)
						: value,
		),
	);
}
