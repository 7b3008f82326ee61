// Commands in the context menus of users and messages, as discord.js receives them, and where commands can be used.

import { expect, test } from "bun:test";
import { GatewayIntentBits as Intent, type Interaction, InteractionContextType, PermissionFlagsBits } from "discord.js";
import { isGuildChannel } from "../../../src/simulator/world/state/entities.ts";
import { testWith } from "../../support/test-with.ts";
import { as, connect, startSimulator } from "../support.ts";
import { general, startAnswering } from "./answering.ts";

const worldTest = testWith(() => startKeeping());

const { BanMembers, ManageMessages, ModerateMembers } = PermissionFlagsBits;

const registered = [
	{ type: 2 as const, name: "Warn Member", defaultMemberPermissions: ModerateMembers },
	{ type: 3 as const, name: "Report" },
	{ name: "report", description: "Report a message" },
];

async function startKeeping() {
	const received: Interaction[] = [];
	const world = await startAnswering(
		{
			any: async (interaction) => {
				received.push(interaction);
				if (interaction.isCommand()) await interaction.reply({ content: "done", flags: ["Ephemeral"] });
			},
		},
		{},
		registered,
	);
	return Object.assign(world, { received });
}

worldTest("a command in the menu of a user has the user and the member", async ({ simulator, ada, received, bot }) => {
	const jose = simulator.user("jose.garcia");
	const used = await ada.runOnUser(general, "Warn Member", jose.id);
	expect(await used.reply()).toMatchObject({ content: "done", ephemeral: true });
	const [interaction] = received;
	if (!interaction?.isUserContextMenuCommand()) throw new Error("wrong type");
	expect(interaction.commandName).toBe("Warn Member");
	expect(interaction.targetUser.username).toBe("jose.garcia");
	expect(interaction.targetMember).toMatchObject({ nickname: "Chef José" });
	expect(interaction.user.id).toBe(ada.id);
	expect(await bot.event("INTERACTION_CREATE")).toMatchObject({ data: { type: 2, target_id: jose.id } });
});

test("public responses name the target of a context menu", async () => {
	await using world = await startAnswering(
		{ any: async (one) => (one.isContextMenuCommand() ? one.reply("done") : undefined) },
		{},
		registered,
	);
	const { simulator, ada, errors } = world;
	const zoe = simulator.user("zoe");
	const message = await zoe.say(general, "soup");
	await (await ada.runOnUser(general, "Warn Member", zoe.id)).reply();
	await (await ada.runOnMessage(message, "Report")).reply();
	const [, warned, reported] = simulator.world.messages.in(message.channel_id);
	expect(warned).toMatchObject({ type: 23, interaction_metadata: { target_user: { id: zoe.id } } });
	expect(reported).toMatchObject({
		type: 23,
		message_reference: { message_id: message.id },
		interaction_metadata: { target_message_id: message.id },
	});
	expect(errors).toEqual([]);
});

worldTest("a person who has left has no member", async ({ simulator, ada, received }) => {
	const bob = simulator.user("bob_the_baker");
	await (await ada.runOnUser(general, "Warn Member", bob.id)).reply();
	const [interaction] = received;
	if (!interaction?.isUserContextMenuCommand()) throw new Error("wrong type");
	expect(interaction.targetUser.username).toBe("bob_the_baker");
	expect(interaction.targetMember).toBeNull();
});

worldTest("a command in the menu of a message has the message", async ({ simulator, ada, received }) => {
	const message = await simulator.user("zoe").say(general, "buy my soup");
	await (await ada.runOnMessage(message, "Report")).reply();
	const [interaction] = received;
	if (!interaction?.isMessageContextMenuCommand()) throw new Error("wrong type");
	expect(interaction.targetId).toBe(message.id);
	expect(interaction.targetMessage).toMatchObject({
		id: message.id,
		content: "buy my soup",
		author: { username: "zoe" },
	});
});

test("without the intent MessageContent the bot sees the content of such a message only", async () => {
	await using simulator = await startSimulator();
	const { Guilds, GuildMessages } = Intent;
	await using bot = await connect(simulator, "alpha", [Guilds, GuildMessages]);
	const { world } = simulator;
	const alpha = world.accounts.get(simulator.bot("alpha").token);
	if (alpha) alpha.privilegedIntents = [];
	await bot.client.application.commands.set(registered);
	const message = await simulator.user("zoe").say(general, "buy my soup");
	expect(await bot.event("MESSAGE_CREATE")).toMatchObject({ content: "" });
	await simulator.user("ada").runOnMessage(message, "Report");
	expect(await bot.event("INTERACTION_CREATE")).toMatchObject({
		data: { resolved: { messages: { [message.id]: { content: "buy my soup" } } } },
	});
});

worldTest("commands of other types and the same name are different ones", async ({ ada }) => {
	await expect(ada.run(general, "Report")).rejects.toThrow("can see no command");
	await expect(ada.runOnUser(general, "Report", ada.id)).rejects.toThrow("can see no command");
	await (await ada.run(general, "report")).reply();
});

worldTest("a command's target must exist, and its user needs permissions", async ({ simulator, ada }) => {
	const zoe = simulator.user("zoe");
	await expect(ada.runOnUser(general, "Warn Member", "1")).rejects.toThrow("Unknown User");
	const { id: channel_id } = simulator.channel(general);
	await expect(ada.runOnMessage({ id: "1", channel_id }, "Report")).rejects.toThrow("Unknown Message");
	await expect(zoe.runOnUser(general, "Warn Member", ada.id)).rejects.toThrow("Missing Permissions");
	const names = (who: typeof zoe) => who.commands(general).map(({ name }) => name);
	expect(names(zoe)).toEqual(["Report", "report"]);
	expect(names(ada)).toEqual(["Warn Member", "Report", "report"]);
});

worldTest(
	"in a thread, a command of users needs the permission to write in threads, and archived threads have no commands",
	async ({ simulator, errors }) => {
		const zoe = simulator.user("zoe");
		const { channel } = simulator.channel(general);
		const guild = simulator.guild("The Cooks");
		const author = simulator.world.users.get(zoe.id);
		if (!author || !isGuildChannel(channel)) throw new Error("wrong guild");
		const thread = simulator.world.threads.add(channel, author, { name: "soups" });
		const { id: channel_id } = thread;
		const message = simulator.world.messages.add(thread, author, { content: "leek" });
		const warn = () => zoe.runOnUser(channel_id, "Warn Member", zoe.id);
		const overwrite = { id: zoe.id, type: 1, allow: String(ModerateMembers) } as const;
		const deny = (bits: bigint) => simulator.world.channels.setOverwrite(channel, { ...overwrite, deny: String(bits) });
		deny(PermissionFlagsBits.SendMessages);
		await (await warn()).reply();
		deny(PermissionFlagsBits.SendMessagesInThreads);
		await expect(warn()).rejects.toThrow("Missing Permissions");
		expect(guild.threads.get(channel_id)?.archived).toBe(false);
		simulator.world.threads.edit(thread, { archived: true });
		for (const used of [
			() => zoe.run(channel_id, "report"),
			() => zoe.runOnMessage({ id: message.id, channel_id }, "Report"),
		])
			await expect(used()).rejects.toThrow("50083");
		expect(errors).toEqual([]);
	},
);

worldTest("default_member_permissions of 0 leave a command to administrators", async ({ simulator, bot, ada }) => {
	const jose = simulator.user("jose.garcia");
	await bot.client.application.commands.set([
		{ name: "raid", description: "Raid", defaultMemberPermissions: 0n },
		{ name: "both", description: "Two permissions", defaultMemberPermissions: ManageMessages | BanMembers },
	]);
	await expect(jose.run(general, "raid")).rejects.toThrow("Missing Permissions");
	await (await ada.run(general, "raid")).reply();
	await expect(jose.run(general, "both")).rejects.toThrow("Missing Permissions");
});

worldTest("contexts decide whether a command works in guilds and in direct messages", async (world) => {
	const { simulator, bot, ada } = world;
	const { Guild, BotDM } = InteractionContextType;
	const inGuild = simulator.guild("The Cooks").id;
	await bot.client.application.commands.set([
		{ name: "guild", description: "In guilds", contexts: [Guild] },
		{ name: "dm", description: "In DMs", contexts: [BotDM] },
		{ name: "restricted", description: "Anywhere", defaultMemberPermissions: ManageMessages },
	]);
	await bot.client.application.commands.set([{ name: "local", description: "In this guild" }], inGuild);
	const opened = await as(simulator, ada)("POST", "/users/@me/channels", { recipient_id: simulator.bot("alpha").id });
	const { id: dm } = opened.json<{ id: string }>();
	const names = (channel: string) => ada.commands(channel).map(({ name }) => name);
	expect(names(general)).toEqual(["local", "guild", "restricted"]);
	expect(names(dm)).toEqual(["dm", "restricted"]);
	await (await ada.run(dm, "restricted")).reply();
	await expect(ada.run(dm, "guild")).rejects.toThrow("can see no command");
});

worldTest(
	"a command that is registered globally and in the guild is there twice, and the guild's is used",
	async ({ simulator, bot, ada, received }) => {
		const guild = simulator.guild("The Cooks");
		const one = { name: "report", description: "Report a message" };
		await bot.client.application.commands.set([one], guild.id);
		const names = ada.commands(general).map(({ name }) => name);
		expect(names.filter((name) => name === "report")).toHaveLength(2);
		await (await ada.run(general, "report")).reply();
		const [interaction] = received;
		if (!interaction?.isChatInputCommand()) throw new Error("wrong type");
		expect(interaction.commandGuildId).toBe(guild.id);
	},
);
