// A real discord.js bot with given responses to interactions, and buttons.

import {
	ActionRowBuilder,
	type ApplicationCommandDataResolvable,
	ApplicationCommandOptionType,
	ButtonBuilder,
	type ButtonInteraction,
	ButtonStyle,
	type ChatInputCommandInteraction,
	type Client,
	type Interaction,
} from "discord.js";
import type { Simulator, SimulatorOptions } from "../../../src/simulator/simulator.ts";
import { startSimulator } from "../../support/simulator.ts";
import { connect } from "../support.ts";

export const general = "The Cooks/general";

const commands = [
	{
		name: "verify",
		description: "Link your account",
		options: [
			{
				type: ApplicationCommandOptionType.String as const,
				name: "code",
				description: "The code",
				required: true,
				maxLength: 10,
			},
			{ type: ApplicationCommandOptionType.Integer as const, name: "times", description: "How often", minValue: 1 },
			{ type: ApplicationCommandOptionType.User as const, name: "who", description: "For whom" },
			{ type: ApplicationCommandOptionType.Boolean as const, name: "loud", description: "For all to see" },
		],
	},
];

interface Answers {
	command?(interaction: ChatInputCommandInteraction): Promise<unknown>;
	button?(interaction: ButtonInteraction): Promise<unknown>;
	/** Called for interactions of all types. */
	any?(interaction: Interaction): Promise<unknown> | undefined;
}

/** Starts a simulator and the bot alpha with these responses. Errors that they throw are in `errors`. */
export async function startAnswering(
	{ command, button, any }: Answers,
	options: SimulatorOptions = {},
	registered: readonly ApplicationCommandDataResolvable[] = commands,
) {
	const simulator = await startSimulator(options);
	const bot = await connect(simulator);
	const errors: unknown[] = [];
	await bot.client.application.commands.set(registered);
	bot.client.on("interactionCreate", async (interaction) => {
		try {
			await any?.(interaction);
			if (interaction.isChatInputCommand()) await command?.(interaction);
			if (interaction.isButton()) await button?.(interaction);
		} catch (error) {
			errors.push(error);
		}
	});
	return {
		simulator,
		bot,
		errors,
		ada: simulator.user("ada"),
		[Symbol.asyncDispose]: async () => {
			await bot[Symbol.asyncDispose]();
			await simulator.close();
		},
	};
}

export function buttons(...names: string[]) {
	return [
		new ActionRowBuilder<ButtonBuilder>().addComponents(
			names.map((name) =>
				new ButtonBuilder()
					.setCustomId(`id:${name}`)
					.setLabel(name)
					.setStyle(ButtonStyle.Primary)
					.setDisabled(name.startsWith("-")),
			),
		),
	];
}

/** Sends a message with these buttons as alpha in #general of The Cooks. */
export async function post(simulator: Simulator, client: Client, ...names: string[]) {
	const channel = client.channels.cache.get(simulator.channel(general).id);
	if (!channel?.isSendable()) throw new Error("general can be written in");
	const { id, channelId } = await channel.send({ content: "choose", components: buttons(...names) });
	return { id, channel_id: channelId };
}
