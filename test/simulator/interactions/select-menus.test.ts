// Choosing values in select menus, which discord.js receives.

import { expect, test } from "bun:test";
import {
	ActionRowBuilder,
	type AnySelectMenuInteraction,
	ChannelSelectMenuBuilder,
	ComponentType,
	MentionableSelectMenuBuilder,
	RoleSelectMenuBuilder,
	StringSelectMenuBuilder,
	UserSelectMenuBuilder,
} from "discord.js";
import { as, connect, startSimulator } from "../support.ts";

const general = "The Cooks/general";

const menus = [
	new StringSelectMenuBuilder()
		.setCustomId("soup")
		.setMaxValues(2)
		.addOptions(...["leek", "pea", "miso"].map((value) => ({ label: value, value }))),
	new UserSelectMenuBuilder().setCustomId("who"),
	new RoleSelectMenuBuilder().setCustomId("role"),
	new ChannelSelectMenuBuilder().setCustomId("where"),
	new MentionableSelectMenuBuilder().setCustomId("any").setMaxValues(2),
];

async function startScene() {
	const simulator = await startSimulator();
	const bot = await connect(simulator);
	const received: AnySelectMenuInteraction[] = [];
	const replies: Promise<unknown>[] = [];
	bot.client.on("interactionCreate", (one) => {
		if (!one.isAnySelectMenu()) return;
		received.push(one);
		replies.push(one.reply({ content: "thanks", flags: ["Ephemeral"] }));
	});
	const { channel } = simulator.channel(general);
	const place = bot.client.channels.cache.get(channel.id);
	if (!place?.isSendable()) throw new Error("general can be written in");
	const { id: message_id } = await place.send({
		content: "choose",
		components: menus.map((menu) => new ActionRowBuilder<(typeof menus)[number]>().addComponents(menu)),
	});
	const ada = as(simulator, simulator.user("ada"));
	const choose = async (component_type: ComponentType, custom_id: string, ...values: string[]) => {
		const response = await ada("POST", "/interactions", {
			type: 3,
			application_id: bot.client.user.id,
			guild_id: simulator.guild("The Cooks").id,
			channel_id: channel.id,
			message_id,
			data: { component_type, custom_id, values },
		});
		const interaction = simulator.interactions.get(String(response.json().id));
		if (interaction)
			await simulator.interactions.until(interaction, () => (interaction.state === "waiting" ? undefined : true));
		return response;
	};
	return {
		simulator,
		choose,
		received,
		[Symbol.asyncDispose]: async () => {
			// The simulator knows a reply before the bot has its response.
			await Promise.all(replies);
			await bot[Symbol.asyncDispose]();
			await simulator.close();
		},
	};
}

test("the chosen values reach the bot, with the users, roles and channels", async () => {
	await using scene = await startScene();
	const { simulator, choose, received } = scene;
	const guild = simulator.guild("The Cooks");
	const zoe = simulator.user("zoe");
	const role = guild.roles.values().find(({ name }) => name === "Regular");
	if (!role) throw new Error("there is no role");
	await choose(ComponentType.StringSelect, "soup", "pea", "leek");
	await choose(ComponentType.UserSelect, "who", zoe.id);
	await choose(ComponentType.RoleSelect, "role", role.id);
	await choose(ComponentType.ChannelSelect, "where", simulator.channel(general).id);
	await choose(ComponentType.MentionableSelect, "any", role.id, zoe.id);
	expect(received.map(({ values }) => values)).toEqual([
		["pea", "leek"],
		[zoe.id],
		[role.id],
		[simulator.channel(general).id],
		[role.id, zoe.id],
	]);
	// Each menu comes after its row.
	expect(simulator.interactions.list().map(({ data }) => data)).toMatchObject([2, 4, 6, 8, 10].map((id) => ({ id })));
	const [, who, roles, where, any] = received;
	if (who?.isUserSelectMenu()) expect(who.users.map(({ username }) => username)).toEqual(["zoe"]);
	if (roles?.isRoleSelectMenu()) expect([...roles.roles.keys()]).toEqual([role.id]);
	if (where?.isChannelSelectMenu()) expect(where.channels.size).toBe(1);
	if (any?.isMentionableSelectMenu()) expect([any.roles.size, any.members.size]).toEqual([1, 1]);
});

test.each([
	["an unknown value", ComponentType.StringSelect, "soup", ["tomato"]],
	["a value twice", ComponentType.StringSelect, "soup", ["pea", "pea"]],
	["too many", ComponentType.StringSelect, "soup", ["pea", "leek", "miso"]],
	["too few", ComponentType.StringSelect, "soup", []],
	["another type", ComponentType.UserSelect, "soup", ["1"]],
	["an unknown menu", ComponentType.StringSelect, "salad", ["pea"]],
	["an unknown user", ComponentType.UserSelect, "who", ["1"]],
	["an unknown role", ComponentType.RoleSelect, "role", ["1"]],
])("%s is refused", async (_, type, id, values) => {
	await using scene = await startScene();
	const refused = await scene.choose(type, id, ...values);
	expect(refused.code).toBe(50035);
	expect(refused.faults).toEqual({ data: "COMPONENT_VALIDATION_FAILED" });
});
