// Slash commands. Their replies are visible only to the user, so only commands with a secret have this form.

import {
	ApplicationCommandOptionType,
	type ChatInputCommandInteraction,
	type Client,
	MessageFlags,
} from "discord.js";
import { noMentions, sendablePieces } from "../messages/split-message.ts";

/** All slash commands of the bot by name in lower case, enabled or not. Each command has one option. */
export const slashCommands = {
	verify: {
		description:
			"Link your game account with a code that /verify in the game gives you.",
		option: {
			name: "code",
			description: "The code from the game",
			required: false,
		},
	},
} as const;

export type SlashName = keyof typeof slashCommands;

export function isSlashName(name: string): name is SlashName {
	return Object.hasOwn(slashCommands, name);
}

/**
 * Registers the slash commands in `names` with Discord and deletes all other slash commands of the bot. If `names` is
 * empty, deletes only slash commands that this program defines.
 */
export async function registerSlashCommands(
	{ application }: Client<true>,
	names: readonly SlashName[],
): Promise<void> {
	if (names.length > 0) {
		await application.commands.set(names.map(toSlashCommand));
		return;
	}
	const registered = await application.commands.fetch();
	for (const [id, { name }] of registered)
		if (isSlashName(name)) await application.commands.delete(id);
}

/** Calls `run` with the value of the slash command's option, and replies with the result, visible only to the user. */
export async function answerInteraction(
	interaction: ChatInputCommandInteraction,
	name: SlashName,
	run: (rest: string) => Promise<string>,
): Promise<void> {
	// Discord expects a response within 3 s.
	await interaction.deferReply({ flags: MessageFlags.Ephemeral });
	const { option } = slashCommands[name];
	const rest = interaction.options.getString(option.name) ?? "";
	const [first = "", ...more] = sendablePieces(await run(rest.trim()));
	await interaction.editReply({ content: first, allowedMentions: noMentions });
	for (const content of more)
		await interaction.followUp({
			content,
			allowedMentions: noMentions,
			flags: MessageFlags.Ephemeral,
		});
}

function toSlashCommand(name: SlashName) {
	const { description, option } = slashCommands[name];
	const type = ApplicationCommandOptionType.String as const;
	return { name, description, options: [{ type, ...option }] };
}
