// The guilds that the bot is in.

import { type APIGuild, type Guild, GuildMFALevel, Routes } from "discord.js";
import { memberName, nowIs, time } from "../../discord/describe.ts";
import { fieldLine, oneField, resultLines } from "../../discord/text.ts";
import { visibleChannels } from "../../discord/visible-channels.ts";
import { guild_id } from "../tool/arguments/arguments.ts";
import { readTool } from "../tool/define.ts";
import { kindName } from "./channels/channel-fields.ts";
import { incidentsOf, settingTexts } from "./guild-settings.ts";

export const listGuilds = readTool({
	name: "list_guilds",
	toolset: "core",
	offered: "listed",
	title: "List guilds",
	description: "List the bot's guilds (Discord servers).",
	person: { managesBot: false },
	input: {},
	run(_, { discord, mayTouch }) {
		const guilds = [...discord.guilds.cache.values()].filter(({ id }) => mayTouch(id));
		// The gateway reads the id at the end of each line: nothing may follow it.
		return [
			`${guilds.length} guild(s):`,
			// A guild that has been unavailable since the start has no name in discord.js.
			...guilds.map(({ name = "(unavailable)", id }) => `${oneField(name)} | ID: ${id}`),
		];
	},
});

export const getGuildInfo = readTool({
	name: "get_guild_info",
	toolset: "core",
	offered: "listed",
	title: "Get guild info",
	description: "A guild at a glance: owner, counts, boosts, features, pauses, and its settings.",
	input: { guild_id },
	async run(_, { guild, discord }) {
		// Only a request with with_counts returns the number of online members.
		const current = (await discord.rest.get(Routes.guild(guild.id), {
			query: new URLSearchParams({ with_counts: "true" }),
		})) as APIGuild;
		const owner = guild.members.cache.get(current.owner_id);
		const bots = guild.members.cache.filter(({ user }) => user.bot).size;
		const online = current.approximate_presence_count;
		const { vanity_url_code: vanity } = current;
		return resultLines(
			fieldLine(
				`${oneField(current.name)} (ID: ${current.id})`,
				`owner: ${owner ? memberName(owner) : `ID: ${current.owner_id}`}`,
				`created: ${time(guild.createdTimestamp)}`,
			),
			current.description && `description: ${oneField(current.description)}`,
			fieldLine(
				`members: ${guild.memberCount}${bots > 0 ? `, ${bots} of them bot(s)` : ""}${online == null ? "" : `, about ${online} online`}`,
				`channels: ${channelCounts(guild)}`,
				`roles: ${current.roles.length}`,
			),
			fieldLine(
				`boosts: ${current.premium_subscription_count ?? 0}, level ${current.premium_tier}`,
				`features: ${current.features.join(", ") || "none"}`,
				vanity && `vanity invite: discord.gg/${oneField(vanity)}`,
			),
			fieldLine(
				`two-factor authentication for moderation: ${current.mfa_level === GuildMFALevel.Elevated ? "required" : "not required"}`,
				...pauses(current),
			),
			`settings: ${settingTexts(guild, current).join(" | ")}`,
		);
	},
});

function channelCounts(guild: Guild): string {
	const channels = visibleChannels(guild).filter((channel) => !channel.isThread());
	const counts = Array.from(Map.groupBy(channels.values(), kindName), ([kind, { length }]) => `${length} ${kind}`);
	return `${channels.size}${counts.length > 0 ? ` (${counts.join(", ")})` : ""}`;
}

function pauses({ incidents_data }: APIGuild): string[] {
	const { invites_disabled_until: invites, dms_disabled_until: messages } = incidentsOf(incidents_data);
	const texts = [
		invites && `invites paused until ${time(new Date(invites))}`,
		messages && `direct messages paused until ${time(new Date(messages))}`,
	].filter((text) => text !== "");
	return texts.length > 0 ? [...texts, nowIs()] : ["pauses: none"];
}
