// Chat commands: what people type behind prefix and root, and the same as slash commands. One dispatcher for all of them:
// who wrote, what is left of the line, how to answer; each command knows only its own work.

import {
	type ChatInputCommandInteraction,
	type Client,
	Events,
	type Interaction,
	type Message,
	MessageFlags,
	PermissionFlagsBits,
	SlashCommandBuilder,
} from "discord.js";
import type { Log } from "../lib/log.ts";
import { toToolError } from "./errors.ts";
import { nobody, splitMessage } from "./reply.ts";

export interface Command {
	/** In lower case: what is typed after prefix and root, and after the slash. */
	name: string;
	/** For Discord's list of slash commands. */
	description: string;
	/** What is left of the line, as the one option of the slash command. */
	rest: { name: string; description: string; required: boolean };
	/** Whether what was typed is nobody else's business: then it is deleted where the bot may, if the operator wants that. */
	secret?: boolean;
	/** Answers a person; `rest` is what is left of the line, without white space at its ends. The text is sent as it is. */
	run(userId: string, rest: string): Promise<string>;
}

export interface CommandsOptions {
	/** Prefix and root, such as "!m". */
	prefix: string;
	commands: readonly Command[];
	/** Whether they are slash commands, too. */
	slash: boolean;
	/** Whether messages with a secret in them are deleted. */
	deleteSecrets: boolean;
	log: Log;
}

/** Serves the commands on a client, for as long as it lives. */
export function serveCommands(client: Client, options: CommandsOptions): void {
	const { commands, slash, log } = options;
	const byName = new Map(commands.map((command) => [command.name, command]));
	const failed = (command: Command) => (error: unknown) => {
		const refusal = toToolError(error);
		// Discord does not take the answer: that is no fault of ours.
		if (refusal)
			log.warn("could not answer a chat command", {
				command: command.name,
				reason: refusal.message,
			});
		else log.error("a chat command failed", { command: command.name, error });
	};

	client.on(Events.MessageCreate, (message) => {
		// Webhooks are authors, too, and no people; what Discord says of a new thread has the thread's name as its text.
		const { author, webhookId, system } = message;
		if (author.bot || webhookId || system || !message.inGuild()) return;
		const typed = readCommand(options.prefix, message.content);
		const command = typed && byName.get(typed.name);
		if (command)
			void answerMessage(message, command, typed.rest, options).catch(
				failed(command),
			);
	});
	client.on(Events.InteractionCreate, (interaction: Interaction) => {
		if (!slash || !interaction.isChatInputCommand()) return;
		const command = byName.get(interaction.commandName);
		if (command)
			void answerInteraction(interaction, command).catch(failed(command));
	});
	client.on(Events.ClientReady, (ready) => {
		const registered =
			slash && commands.length > 0
				? ready.application.commands.set(commands.map(toSlashCommand))
				: removeOurs(ready);
		registered.catch((error) =>
			log.warn("could not register the slash commands", {
				reason: String((error as Error).message),
			}),
		);
	});
}

/** The names of all commands that there are, whatever is switched on. */
const ourNames = ["verify"];

/** What an earlier configuration had listed goes; what others registered for the application stays. */
async function removeOurs({ application }: Client<true>): Promise<void> {
	const listed = await application.commands.fetch();
	for (const [id, { name }] of listed)
		if (ourNames.includes(name)) await application.commands.delete(id);
}

/** The command in a message, and what is left of the line; undefined where it holds none. */
export function readCommand(
	prefix: string,
	content: string,
): { name: string; rest: string } | undefined {
	if (!content.startsWith(prefix)) return undefined;
	const line = content.slice(prefix.length);
	// A prefix that ends in a letter is a word of its own: "!message" is not "!m essage".
	if (/[\p{L}\p{N}]$/u.test(prefix) && !/^\s/.test(line)) return undefined;
	const [, name, rest] = /^\s*(\S+)\s*([\s\S]*)$/.exec(line) ?? [];
	if (name === undefined || rest === undefined) return undefined;
	return { name: name.toLowerCase(), rest: rest.trimEnd() };
}

async function answerMessage(
	message: Message<true>,
	command: Command,
	rest: string,
	{ deleteSecrets, log }: CommandsOptions,
): Promise<void> {
	const deleted =
		command.secret && deleteSecrets && rest !== ""
			? deleteMessage(message, log)
			: undefined;
	const text = await command.run(message.author.id, rest);
	await deleted;
	for (const content of piecesOf(text)) await answer(message, content);
}

/** As a reply where the bot may, and else as a message: more than to send messages is not asked of it. */
async function answer(message: Message<true>, content: string): Promise<void> {
	const options = { content, allowedMentions: nobody };
	if (!may(message, PermissionFlagsBits.ReadMessageHistory)) {
		await message.channel.send(options);
		return;
	}
	// It may be gone by now.
	await message.reply({ ...options, failIfNotExists: false });
}

/** Whether the bot has the permission where the message is. A thread whose channel is not known gives none. */
function may({ guild, channel }: Message<true>, bit: bigint): boolean {
	const self = guild.members.me;
	return (self && channel.permissionsFor(self)?.has(bit)) ?? false;
}

/** What of a text can be sent: Discord takes no message of white space alone. */
function piecesOf(text: string): string[] {
	return splitMessage(text).filter((piece) => piece.trim() !== "");
}

async function deleteMessage(message: Message<true>, log: Log): Promise<void> {
	if (!may(message, PermissionFlagsBits.ManageMessages)) return;
	try {
		await message.delete();
	} catch (error) {
		log.warn("could not delete a message with a code in it", {
			reason: String((error as Error).message),
		});
	}
}

/** Seen by nobody but the person who asked. */
async function answerInteraction(
	interaction: ChatInputCommandInteraction,
	command: Command,
): Promise<void> {
	// The answer may take longer than the 3 s that Discord waits.
	await interaction.deferReply({ flags: MessageFlags.Ephemeral });
	const rest = interaction.options.getString(command.rest.name) ?? "";
	const text = await command.run(interaction.user.id, rest.trim());
	const [first = "", ...more] = piecesOf(text);
	await interaction.editReply({ content: first, allowedMentions: nobody });
	for (const content of more)
		await interaction.followUp({
			content,
			allowedMentions: nobody,
			flags: MessageFlags.Ephemeral,
		});
}

function toSlashCommand({ name, description, rest }: Command) {
	return new SlashCommandBuilder()
		.setName(name)
		.setDescription(description)
		.addStringOption((option) =>
			option
				.setName(rest.name)
				.setDescription(rest.description)
				.setRequired(rest.required),
		)
		.toJSON();
}
