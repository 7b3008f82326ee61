// Permissions that Discord asks for in a channel or, instead, in the guild.

import { expect, test } from "bun:test";
import { ChannelType, PermissionFlagsBits } from "discord.js";
import { found, guild_id } from "../../../src/bot/tool/arguments/arguments.ts";
import { writeTool } from "../../../src/bot/tool/define.ts";
import * as find from "../../../src/discord/find.ts";
import { until } from "../../support/until.ts";
import { memberOverwrite } from "../../support/world.ts";
import { about, startRecording } from "./recording.ts";

const input = { guild_id, channel_id: found(find.currentChannel, "channel") };
const run = async () => "Done.";
const given = { with: "channel_id", permission: "ManageChannels" } as const;

const tools = [
	writeTool({ ...about, name: "in_guild", input, run, permissions: [{ ...given, orInGuild: "ManageChannels" }] }),
	writeTool({ ...about, name: "elsewhere", input, run, permissions: [{ ...given, orInGuild: "Administrator" }] }),
	writeTool({ ...about, name: "nothing", input, run, permissions: [] }),
];

test.each([
	["a permission that the bot holds in the guild", "in_guild", "Done."],
	["a permission that counts in the channel", "elsewhere", "CONNECT"],
	["no permission of its own", "nothing", "CONNECT"],
])("in a voice channel to which the bot cannot connect, a tool with %s", async (_, name, expected) => {
	await using bot = await startRecording({ tools });
	const { world } = bot.simulator;
	const channel = world.channels.add(bot.guild, { name: "closed", type: ChannelType.GuildVoice });
	world.channels.setOverwrite(
		channel,
		memberOverwrite(bot.simulator.bot("alpha").id, { deny: PermissionFlagsBits.Connect }),
	);
	const guild = bot.connection.guilds.find(({ id }) => id === bot.guild.id);
	await until("the bot has heard of it", () => {
		const known = guild?.channels.cache.get(channel.id);
		return known && "permissionOverwrites" in known ? known.permissionOverwrites.cache.size > 0 : false;
	});
	const { text } = await bot.call(name, { channel_id: channel.id });
	expect(text).toContain(expected);
});
