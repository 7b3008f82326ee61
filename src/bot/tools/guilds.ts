// The guilds that the bot is in.

import { type APIGuild, GuildVerificationLevel, Routes } from "discord.js";
import * as v from "valibot";
import { memberName, time } from "../discord/describe.ts";
import { oneField } from "../discord/text.ts";
import { guild_id } from "../tool/arguments.ts";
import { readTool } from "../tool/define.ts";

export const listGuilds = readTool({
	name: "list_guilds",
	toolset: "core",
	title: "List guilds",
	description: "List the guilds (Discord servers) that the bot is in.",
	input: v.strictObject({}),
	run(_, { discord, mayTouch }) {
		const guilds = [...discord.guilds.cache.values()].filter(({ id }) =>
			mayTouch(id),
		);
		// The gateway reads the id at the end of each line: nothing may follow it.
		return [
			`${guilds.length} guild(s):`,
			// A guild that has been unavailable since the start has no name in discord.js.
			...guilds.map(
				({ name = "(unavailable)", id }) => `${oneField(name)} | ID: ${id}`,
			),
		];
	},
});

export const getGuildInfo = readTool({
	name: "get_guild_info",
	toolset: "core",
	title: "Get guild info",
	description:
		"A guild's name, owner, number of members, channels and roles, boosts, features, verification level.",
	input: v.strictObject({ guild_id }),
	async run(_, { guild, discord }) {
		// Only a request with with_counts returns the number of online members.
		const current = (await discord.rest.get(Routes.guild(guild.id), {
			query: new URLSearchParams({ with_counts: "true" }),
		})) as APIGuild;
		const owner = guild.members.cache.get(current.owner_id);
		const online = current.approximate_presence_count;
		const channels = guild.channels.cache.filter(
			(channel) => !channel.isThread(),
		);
		const level =
			GuildVerificationLevel[current.verification_level] ?? "unknown";
		return [
			`${oneField(current.name)} (ID: ${current.id})`,
			`description: ${oneField(current.description ?? "") || "none"}`,
			`owner: ${owner ? memberName(owner) : `ID: ${current.owner_id}`}`,
			`members: ${guild.memberCount}${online == null ? "" : `, about ${online} of them online`}`,
			`channels: ${channels.size}, shown by list_channels`,
			`roles: ${current.roles.length}, shown by list_roles`,
			`boosts: ${current.premium_subscription_count ?? 0}, level ${current.premium_tier}`,
			`features: ${current.features.join(", ") || "none"}`,
			`verification level: ${level}`,
			`created: ${time(guild.createdTimestamp)}`,
		];
	},
});
