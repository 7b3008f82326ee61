// Slash commands: what Discord lists of the bot. Only what somebody else should not read is one: its answer is seen by
// nobody but the person who asked. All other commands live from being seen.

import {
	type ChatInputCommandInteraction,
	type Client,
	MessageFlags,
	SlashCommandBuilder,
} from "discord.js";
import { noMentions, sendablePieces } from "../messages/split-message.ts";

/** All that there are, whatever is switched on: their names in lower case, and their one option. */
export const slashForms = {
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

export type SlashName = keyof typeof slashForms;

export function isSlashName(name: string): name is SlashName {
	return Object.hasOwn(slashForms, name);
}

/** Has Discord list these; what an earlier configuration had listed goes, and without any, what others registered stays. */
export async function listSlashCommands(
	{ application }: Client<true>,
	names: readonly SlashName[],
): Promise<void> {
	if (names.length > 0) {
		await application.commands.set(names.map(toSlashCommand));
		return;
	}
	const listed = await application.commands.fetch();
	for (const [id, { name }] of listed)
		if (isSlashName(name)) await application.commands.delete(id);
}

/** Answers with what `run` makes of the option. */
export async function answerInteraction(
	interaction: ChatInputCommandInteraction,
	name: SlashName,
	run: (rest: string) => Promise<string>,
): Promise<void> {
	// The answer may take longer than the 3 s that Discord waits.
	await interaction.deferReply({ flags: MessageFlags.Ephemeral });
	const { option } = slashForms[name];
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
	const { description, option } = slashForms[name];
	return new SlashCommandBuilder()
		.setName(name)
		.setDescription(description)
		.addStringOption((one) =>
			one
				.setName(option.name)
				.setDescription(option.description)
				.setRequired(option.required),
		)
		.toJSON();
}
