// Modals: a bot opens one as its response, a person submits it, and discord.js reads the values.

import { describe, expect, test } from "bun:test";
import {
	ActionRowBuilder,
	type Interaction,
	LabelBuilder,
	MessageFlags,
	ModalBuilder,
	type ModalSubmitInteraction,
	StringSelectMenuBuilder,
	TextDisplayBuilder,
	TextInputBuilder,
	TextInputStyle,
	UserSelectMenuBuilder,
} from "discord.js";
import { as } from "../support.ts";
import { buttons, general, post, startAnswering } from "./answering.ts";

const reason = () =>
	new TextInputBuilder().setCustomId("reason").setStyle(TextInputStyle.Paragraph).setMinLength(3).setMaxLength(100);

const inLabel = () =>
	new ModalBuilder()
		.setCustomId("warn:7")
		.setTitle("Warn zoe")
		.addTextDisplayComponents(new TextDisplayBuilder().setContent("Be kind."))
		.addLabelComponents(
			new LabelBuilder().setLabel("Reason").setDescription("zoe reads it").setTextInputComponent(reason()),
			new LabelBuilder().setLabel("Days").setStringSelectMenuComponent(
				new StringSelectMenuBuilder()
					.setCustomId("days")
					.setRequired(false)
					.addOptions(["1", "7"].map((value) => ({ label: `${value} days`, value }))),
			),
			new LabelBuilder().setLabel("Witness").setUserSelectMenuComponent(new UserSelectMenuBuilder().setCustomId("who")),
		);

const inRow = () =>
	new ModalBuilder()
		.setCustomId("note")
		.setTitle("Note")
		.addComponents(
			new ActionRowBuilder<TextInputBuilder>().addComponents(
				reason().setLabel("Reason").setValue("spam").setRequired(false),
			),
		);

const registered = [
	{ name: "warn", description: "Warn" },
	{ type: 3 as const, name: "Warn Author" },
];

/** A bot that opens `modal` on every command and button, and handles its submission with `submitted`. */
async function startOpening(
	modal: () => ModalBuilder,
	submitted?: (interaction: ModalSubmitInteraction) => Promise<unknown>,
) {
	const received: ModalSubmitInteraction[] = [];
	const world = await startAnswering(
		{
			any: async (interaction: Interaction) => {
				if (interaction.isCommand() || interaction.isButton()) await interaction.showModal(modal());
				if (!interaction.isModalSubmit()) return;
				received.push(interaction);
				await submitted?.(interaction);
			},
		},
		{},
		registered,
	);
	return Object.assign(world, { received });
}

describe("submitting", () => {
	test("a modal with labels arrives with its values and users", async () => {
		await using world = await startOpening(inLabel, (interaction) =>
			interaction.reply({ content: "warned", flags: MessageFlags.Ephemeral }),
		);
		const { simulator, ada, received, errors } = world;
		const asked = await ada.run(general, "warn");
		const modal = await asked.modal();
		expect(modal).toMatchObject({ customId: "warn:7", title: "Warn zoe" });
		expect(modal.inputs).toMatchObject([
			{ label: "Reason", custom_id: "reason", style: TextInputStyle.Paragraph },
			{ label: "Days", custom_id: "days", required: false },
			{ label: "Witness", custom_id: "who" },
		]);
		const zoe = simulator.user("zoe");
		const sent = await ada.submit(asked, { reason: "spam", who: zoe.id });
		expect(await sent.reply()).toMatchObject({ content: "warned", ephemeral: true });
		const [interaction] = received;
		expect(interaction?.customId).toBe("warn:7");
		expect(interaction?.isFromMessage()).toBe(false);
		expect(interaction?.user.id).toBe(ada.id);
		expect(interaction?.member).toMatchObject({ id: ada.id });
		expect(interaction?.fields.getTextInputValue("reason")).toBe("spam");
		expect(interaction?.fields.getStringSelectValues("days")).toEqual([]);
		const who = interaction?.fields.getSelectedMembers("who");
		expect([...(who?.keys() ?? [])]).toEqual([zoe.id]);
		expect(errors).toEqual([]);
	});

	test("a modal with a row arrives, with the value with which it opened", async () => {
		await using world = await startOpening(inRow, (interaction) =>
			interaction.reply(interaction.fields.getTextInputValue("reason")),
		);
		const { ada, simulator } = world;
		const asked = await ada.run(general, "warn");
		expect(await (await ada.submit(asked, {})).reply()).toMatchObject({ content: "spam", ephemeral: false });
		const [message] = simulator.world.messages.in(simulator.channel(general).id);
		expect(message).toMatchObject({ interaction_metadata: { type: 5, triggering_interaction_metadata: { type: 2 } } });
	});

	test("a command in the menu of a message can open a modal", async () => {
		await using world = await startOpening(inRow, (interaction) => interaction.reply("noted"));
		const { ada } = world;
		const message = await ada.say(general, "hello");
		const asked = await ada.runOnMessage(message, "Warn Author");
		expect(await (await ada.submit(asked, {})).reply()).toMatchObject({ content: "noted" });
	});

	test("a modal of a button can update the button's message", async () => {
		await using world = await startOpening(inRow, async (interaction) => {
			if (!interaction.isFromMessage()) throw new Error("there is a message");
			await interaction.update({ content: "done", components: buttons("Undo") });
			await interaction.followUp({ content: "really", flags: ["Ephemeral"] });
		});
		const { simulator, bot, ada, errors } = world;
		const message = await post(simulator, bot.client, "Warn");
		const pressed = await ada.press(message, "Warn");
		const sent = await ada.submit(pressed, {});
		const reply = await sent.reply();
		expect(reply).toMatchObject({ id: message.id, content: "done" });
		expect(reply.buttons.map(({ label }) => label)).toEqual(["Undo"]);
		expect(await sent.followUp()).toMatchObject({ content: "really", ephemeral: true });
		expect(errors).toEqual([]);
	});

	test("a submission can be deferred, and its response edited", async () => {
		await using world = await startOpening(inRow, async (interaction) => {
			await interaction.deferReply({ flags: MessageFlags.Ephemeral });
			await interaction.editReply({ content: "ok", components: buttons("Undo") });
		});
		const { ada } = world;
		const asked = await ada.run(general, "warn");
		const reply = await (await ada.submit(asked, {})).reply();
		expect(reply).toMatchObject({ content: "ok", ephemeral: true });
		expect(reply.buttons).toHaveLength(1);
	});
});

describe("refusals", () => {
	test.each([
		["no reason", {}, "reason"],
		["a short reason", { reason: "x" }, "reason"],
		["a long reason", { reason: "x".repeat(101) }, "reason"],
		["nobody", { reason: "spam" }, "COMPONENT_VALIDATION_FAILED"],
		["an unknown option", { days: "2" }, "COMPONENT_VALIDATION_FAILED"],
	])("%s is refused", async (_, values, message) => {
		await using world = await startOpening(inLabel);
		const { ada, received } = world;
		const asked = await ada.run(general, "warn");
		await asked.modal();
		const whole = message === "reason" ? values : { reason: "spam", ...values };
		await expect(ada.submit(asked, whole)).rejects.toThrow(message);
		expect(received).toEqual([]);
	});

	test("a modal is open only for the person for whom it opened", async () => {
		await using world = await startOpening(inRow);
		const { simulator, ada } = world;
		const asked = await ada.run(general, "warn");
		await asked.modal();
		await expect(simulator.user("zoe").submit(asked, {})).rejects.toThrow("Unknown interaction");
	});

	test("reply() of a modal is an error", async () => {
		await using world = await startOpening(inRow);
		const { ada } = world;
		const asked = await ada.run(general, "warn");
		await expect(asked.reply()).rejects.toThrow("the response is a modal");
	});

	const input = { type: 4, custom_id: "r", style: 1 };
	const label = { type: 18, label: "Reason", component: input };
	const row = { type: 1, components: [{ ...input, label: "Reason" }] };
	test.each([
		["a long title", { title: "x".repeat(46) }, "title"],
		["no components", { components: [] }, "components"],
		["six components", { components: Array(6).fill(row) }, "components"],
		["the same custom_id twice", { components: [row, label] }, "components"],
		["two inputs in a row", { components: [{ type: 1, components: [input, input] }] }, "components.0.components"],
		["a row without a label", { components: [{ type: 1, components: [input] }] }, "components.0.components.0.label"],
		["a button", { components: [{ ...label, component: { type: 2 } }] }, "components.0.component.type"],
		["a long label", { components: [{ ...label, label: "x".repeat(46) }] }, "components.0.label"],
	])("%s: refused", async (_, fault, path) => {
		await using world = await startAnswering({}, {}, registered);
		const { simulator, bot, ada } = world;
		const asked = await ada.run(general, "warn");
		const event = await bot.event("INTERACTION_CREATE");
		const alpha = as(simulator, simulator.bot("alpha"));
		const callback = `/interactions/${event.id}/${event.token}/callback`;
		const data = { custom_id: "m", title: "Warn", components: [label] };
		const answer = (more: object) => alpha("POST", callback, { type: 9, data: { ...data, ...more } });
		expect(Object.keys((await answer(fault)).faults)).toEqual([`data.${path}`]);
		expect((await answer({})).status).toBe(204);
		expect(await asked.modal()).toMatchObject({ customId: "m" });
	});
});
