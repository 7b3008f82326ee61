import { Command } from "@sapphire/framework";
import { ActionRowBuilder, ButtonBuilder, ButtonStyle, EmbedBuilder } from "discord.js";

const menuOf = (meal) => ({
	embeds: [
		// As templates do: parts that stay empty.
		new EmbedBuilder({ image: {}, thumbnail: {}, footer: {} })
			.setTitle(`Menu for ${meal}`)
			.addFields({ name: "Soup", value: "Onion" }),
	],
	components: [
		new ActionRowBuilder().addComponents(
			new ButtonBuilder().setCustomId("order").setLabel("Order").setStyle(ButtonStyle.Primary),
		),
	],
});

export class MenuCommand extends Command {
	constructor(context, options) {
		super(context, {
			...options,
			description: "Shows the menu",
			preconditions: ["KitchenOnly"],
			cooldownDelay: 3_600_000,
		});
	}

	registerApplicationCommands(registry) {
		registry.registerChatInputCommand((builder) =>
			builder
				.setName(this.name)
				.setDescription(this.description)
				.addStringOption((option) => option.setName("meal").setDescription("Which").setRequired(true)),
		);
	}

	chatInputRun(interaction) {
		return interaction.reply(menuOf(interaction.options.getString("meal")));
	}

	async messageRun(message, args) {
		return message.reply(menuOf(await args.rest("string")));
	}
}
