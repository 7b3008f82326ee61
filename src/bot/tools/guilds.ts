// Guilds: the communities that the bot is in.

import { type APIGuild, GuildVerificationLevel, Routes } from "discord.js";
import * as v from "valibot";
import { memberName, time } from "../discord/describe.ts";
import { oneField } from "../discord/text.ts";
import { guild_id } from "../tool/arguments.ts";
import { tool } from "../tool/define.ts";

export const listGuilds = tool({
	name: "list_guilds",
	toolset: "core",
	title: "List guilds",
	description: "List the guilds (Discord servers) that the bot is in.",
	effect: "read",
	input: v.strictObject({}),
	run(_, { discord, mayTouch }) {
		const guilds = [...discord.guilds.cache.values()].filter(({ id }) =>
			mayTouch(id),
		);
		// The gateway reads the id at the end of a line: nothing may follow it.
		return [
			`${guilds.length} guild(s):`,
			// discord.js knows no name of one that has been unavailable since the bot started.
			...guilds.map(
				({ name = "(unavailable)", id }) => `${oneField(name)} | ID: ${id}`,
			),
		];
	},
});

export const getGuildInfo = tool({
	name: "get_guild_info",
	toolset: "core",
	title: "Get a guild's facts",
	description:
		"A guild's name, owner, counts of members, channels and roles, boosts, features and verification level.",
	effect: "read",
	input: v.strictObject({ guild_id }),
	async run(_, { guild, discord }) {
		// Discord counts who is online only when it is asked.
		const now = (await discord.rest.get(Routes.guild(guild.id), {
			query: new URLSearchParams({ with_counts: "true" }),
		})) as APIGuild;
		const owner = guild.members.cache.get(now.owner_id);
		const online = now.approximate_presence_count;
		const channels = guild.channels.cache.filter((one) => !one.isThread());
		const level = GuildVerificationLevel[now.verification_level] ?? "unknown";
		return [
			`${oneField(now.name)} (ID: ${now.id})`,
			`description: ${oneField(now.description ?? "") || "none"}`,
			`owner: ${owner ? memberName(owner) : `ID: ${now.owner_id}`}`,
			`members: ${guild.memberCount}${online == null ? "" : `, about ${online} of them online`}`,
			`channels: ${channels.size}, shown by list_channels`,
			`roles: ${now.roles.length}, shown by list_roles`,
			`boosts: ${now.premium_subscription_count ?? 0}, level ${now.premium_tier}`,
			`features: ${now.features.join(", ") || "none"}`,
			`verification level: ${level}`,
			`created: ${time(guild.createdTimestamp)}`,
		];
	},
});
