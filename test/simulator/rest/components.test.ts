// Buttons and select menus on messages: what can be sent, and what is refused how.

import { test as bunTest, expect } from "bun:test";
import { ActionRowBuilder, ButtonBuilder, ButtonStyle, TextChannel } from "discord.js";
import { as, connect, startSimulator, testWith } from "../support.ts";

const test = testWith();

const button = (custom_id: string, more: object = {}) => ({ type: 2, style: 1, label: custom_id, custom_id, ...more });
const row = (...components: unknown[]) => ({ type: 1, components });

const choices = (count: number) => Array.from({ length: count }, (_, n) => ({ label: `${n}`, value: `${n}` }));
const menu = (more: object = {}) => ({ type: 3, custom_id: "m", options: choices(2), ...more });

test("components that need IS_COMPONENTS_V2 are not simulated", async ({ alpha, channel }) => {
	const components = [{ type: 17, components: [{ type: 10, content: "soup" }] }];
	const { status } = await alpha("POST", `/channels/${channel.id}/messages`, { flags: 1 << 15, components });
	expect(status).toBe(501);
});

test("buttons are stored, dispatched, and changed by an edit", async ({ simulator }) => {
	await using bot = await connect(simulator);
	const { id } = simulator.channel("The Cooks/general");
	const channel = bot.client.channels.cache.get(id);
	if (!(channel instanceof TextChannel)) throw new Error("expected a text channel");
	const ban = new ButtonBuilder().setCustomId("ban").setLabel("Ban").setStyle(ButtonStyle.Danger);
	const link = new ButtonBuilder().setURL("https://example.org/").setEmoji("🔗").setStyle(ButtonStyle.Link);
	const buttons = () => new ActionRowBuilder<ButtonBuilder>().addComponents(ban, link);
	const message = await channel.send({ content: "?", components: [buttons()] });
	expect(await bot.event("MESSAGE_CREATE")).toMatchObject({
		components: [
			{
				type: 1,
				id: 1,
				components: [
					{ type: 2, id: 2, style: 4, label: "Ban", custom_id: "ban" },
					{ type: 2, id: 3, style: 5, url: "https://example.org/" },
				],
			},
		],
	});
	ban.setDisabled(true);
	const edited = await message.edit({ components: [buttons()] });
	expect(edited.components[0]?.toJSON()).toMatchObject({ components: [{ custom_id: "ban", disabled: true }, {}] });
	expect((await message.edit({ components: [] })).components).toEqual([]);
	expect((await message.fetch(true)).components).toEqual([]);
});

bunTest.each([
	[
		"six rows",
		Array.from({ length: 6 }, (_, number) => row(button(`${number}`))),
		{ components: "BASE_TYPE_MAX_LENGTH" },
	],
	[
		"six buttons in a row",
		[row(...Array.from({ length: 6 }, (_, number) => button(`${number}`)))],
		{ "components.0.components": "BASE_TYPE_BAD_LENGTH" },
	],
	["an empty row", [row()], { "components.0.components": "BASE_TYPE_BAD_LENGTH" }],
	[
		"two buttons with a custom_id, one of them disabled",
		[row(button("a")), row(button("b"), button("a", { disabled: true }))],
		{ "components.1.components.1.custom_id": "COMPONENT_CUSTOM_ID_DUPLICATED" },
	],
	["a button outside of a row", [button("a")], { "components.0": "UNION_TYPE_CHOICES" }],
	["a row in a row", [row(row(button("a")))], { "components.0.components.0": "UNION_TYPE_CHOICES" }],
	[
		"a style that there is not",
		[row(button("a", { style: 9 }))],
		{ "components.0.components.0.style": "BASE_TYPE_CHOICES" },
	],
	[
		"no custom_id",
		[row(button("a", { custom_id: undefined }))],
		{ "components.0.components.0.custom_id": "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED" },
	],
	[
		"a long custom_id, and a long label",
		[row(button("x".repeat(101)))],
		{
			"components.0.components.0.custom_id": "BASE_TYPE_BAD_LENGTH",
			"components.0.components.0.label": "BASE_TYPE_MAX_LENGTH",
		},
	],
	[
		"neither label nor emoji",
		[row(button("a", { label: "" }))],
		{ "components.0.components.0.label": "BASE_TYPE_REQUIRED" },
	],
	[
		"a link with a custom_id",
		[row(button("a", { style: 5, url: "https://example.org" }))],
		{ "components.0.components.0": "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE" },
	],
	[
		"a link to nowhere",
		[row({ type: 2, style: 5, label: "x" })],
		{ "components.0.components.0.url": "BASE_TYPE_REQUIRED" },
	],
	[
		"a link that is a script",
		[row({ type: 2, style: 5, label: "x", url: "javascript:alert(1)" })],
		{ "components.0.components.0.url": "URL_TYPE_INVALID_SCHEME" },
	],
	[
		"a menu beside a button",
		[row(button("a"), menu())],
		{ "components.0.components.1": "COMPONENT_LAYOUT_WIDTH_EXCEEDED" },
	],
	[
		"a menu without options",
		[row(menu({ options: [] }))],
		{ "components.0.components.0.options": "BASE_TYPE_BAD_LENGTH" },
	],
	[
		"26 options",
		[row(menu({ options: choices(26) }))],
		{ "components.0.components.0.options": "BASE_TYPE_BAD_LENGTH" },
	],
	[
		"the same value twice",
		[row(menu({ options: [...choices(2), ...choices(1)] }))],
		{ "components.0.components.0.options.2.value": "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED" },
	],
	[
		"a long label, and no value",
		[row(menu({ options: [{ label: "x".repeat(101) }] }))],
		{
			"components.0.components.0.options.0.label": "BASE_TYPE_BAD_LENGTH",
			"components.0.components.0.options.0.value": "BASE_TYPE_REQUIRED",
		},
	],
	[
		"more values than options",
		[row(menu({ max_values: 3 }))],
		{ "components.0.components.0.options": "BASE_TYPE_BAD_LENGTH" },
	],
	[
		"a minimum above the maximum",
		[row(menu({ min_values: 2 }))],
		{ "components.0.components.0.min_values": "NUMBER_TYPE_MAX" },
	],
	[
		"a long placeholder and no custom_id",
		[row({ type: 5, placeholder: "x".repeat(151) })],
		{
			"components.0.components.0.custom_id": "BASE_TYPE_REQUIRED",
			"components.0.components.0.placeholder": "BASE_TYPE_MAX_LENGTH",
		},
	],
])("%s is refused", async (_, components, faults) => {
	await using simulator = await startSimulator();
	const alpha = as(simulator, simulator.bot("alpha"));
	const { id } = simulator.channel("The Cooks/general");
	const answer = await alpha("POST", `/channels/${id}/messages`, { content: "?", components });
	expect(answer.code).toBe(50035);
	expect(answer.faults).toEqual(faults);
});
