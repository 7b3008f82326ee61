// Runs slash commands with their autocompletion, and context menu commands of users and messages. Replies are ephemeral.

import {
	type ChatInputCommandInteraction,
	type Client,
	Events,
	GuildMember,
	type Interaction,
	type MessageContextMenuCommandInteraction,
	MessageFlags,
	PermissionFlagsBits,
	type RepliableInteraction,
	type UserContextMenuCommandInteraction,
} from "discord.js";
import type { JsonObject } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import { noMentions, sendablePieces } from "../messages/split-message.ts";
import type { Action, ActionMenu, MenuTarget, OptionValue } from "./action.ts";
import { answerPieces, answerPrivately, deferPrivately, describeFailure } from "./answer.ts";
import { autocomplete, type Suggest } from "./autocomplete.ts";
import type { Command } from "./commands.ts";
import type { ComponentHandler } from "./components.ts";
import { helpCommand } from "./definitions.ts";
import { formFor, formPrefix, questionButtons, questionPrefix, readForm } from "./forms.ts";
import { type Holds, slashHelp } from "./help.ts";
import { type CommandLimits, type ConcurrencyLimit, type LimitedRun, type Ran, weightOf } from "./limits.ts";
import type { MenuHandler } from "./menus.ts";
import type { Answer, Perform, Place } from "./perform.ts";
import type { Values } from "./tool-call.ts";

export interface SlashCommandsOptions {
	actions: readonly Action[];
	menus: readonly MenuHandler[];
	/** Those with `slash` are also slash commands. */
	commands: readonly Command[];
	suggest: Suggest;
	performing: Perform;
	limits: CommandLimits;
	concurrency: ConcurrencyLimit;
	log: Log;
}

type Answering = RepliableInteraction;

type MenuInteraction = UserContextMenuCommandInteraction | MessageContextMenuCommandInteraction;

const busy = "Too many commands are running. Try again in a moment.";

export function createSlashCommands(options: SlashCommandsOptions) {
	const { actions, menus, commands, performing, log } = options;
	const byName = new Map(actions.map((action) => [action.name, action]));
	const commandNamed = new Map(
		commands.flatMap((command) => (command.slash ? [[command.slash.name, command] as const] : [])),
	);

	function respond(
		interaction: Answering,
		limited: Omit<LimitedRun, "userId" | "guildId" | "tellsOnce">,
		work: () => Promise<Ran<Answer>>,
	): void {
		const guildId = interaction.guildId ?? "";
		const run = async () => {
			try {
				// Discord expects a response within 3 s.
				await deferPrivately(interaction);
				const answer = await options.limits.run(
					{
						...limited,
						guildId,
						userId: interaction.user.id,
						tellsOnce: false,
					},
					work,
				);
				await show(interaction, typeof answer === "object" ? answer : { text: answer ?? "" });
			} catch (error) {
				await fail(interaction, error);
			}
		};
		if (!options.concurrency.run(guildId, limited.weight, run)) answerPrivately(interaction, busy).catch(() => {});
	}

	async function fail(interaction: Answering, error: unknown): Promise<void> {
		const name = interaction.isCommand() ? interaction.commandName : "button";
		const text = describeFailure(error, log, { command: name });
		await answerPrivately(interaction, text).catch((failure) =>
			log.warn("could not answer a slash command", {
				command: name,
				reason: String((failure as Error).message),
			}),
		);
	}

	function act(interaction: Answering, action: Action, values: Values, command: string, given?: JsonObject): void {
		const weight = weightOf(action, holdsIn(interaction));
		const place = placeOf(interaction, command);
		const fixed = { ...action.fixed, ...given };
		respond(interaction, { weight }, () => performing.perform({ ...action, fixed }, values, place));
	}

	function onChatInput(interaction: ChatInputCommandInteraction): void {
		const { commandName } = interaction;
		const command = commandNamed.get(commandName);
		if (command?.slash) {
			const { slash, limiter, isVerbatim } = command;
			const rest = interaction.options.getString(slash.option.name) ?? "";
			respond(interaction, { weight: "open", limiter }, async () => ({
				answer: {
					text: await slash.run(interaction.user.id, rest.trim()),
					isVerbatim,
				},
				isMistake: false,
			}));
			return;
		}
		if (!interaction.inGuild()) return;
		if (commandName === helpCommand.name) {
			const text = slashHelp(options, holdsIn(interaction));
			respond(interaction, { weight: "open" }, async () => ({
				answer: { text },
				isMistake: false,
			}));
			return;
		}
		for (const menu of menus) {
			if (menu.type !== "slash" || menu.name !== commandName) continue;
			menu.run(interaction).catch((error) => fail(interaction, error));
			return;
		}
		const name = nameOf(interaction);
		const action = byName.get(name);
		if (action) act(interaction, action, valuesOf(interaction, action), `/${name}`);
	}

	function onMenu(interaction: MenuInteraction): void {
		if (!interaction.inGuild()) return;
		const type = interaction.isUserContextMenuCommand() ? "user" : "message";
		const isThis = (menu: { type: string; name: string }) =>
			menu.type === type && menu.name === interaction.commandName;
		const handler = menus.find(isThis);
		if (handler) {
			// The type of the interaction is the type of the handler, which TypeScript cannot infer.
			const run = handler.run as (one: MenuInteraction) => Promise<void>;
			run(interaction).catch((error) => fail(interaction, error));
			return;
		}
		for (const action of actions)
			for (const menu of action.menus ?? []) if (isThis(menu)) openMenu(interaction, action, menu);
	}

	function openMenu(interaction: MenuInteraction, action: Action, menu: ActionMenu): void {
		const target = targetOf(interaction);
		if (menu.asks === undefined) {
			act(interaction, action, new Map(), menu.name, menu.args(target));
			return;
		}
		interaction.showModal(formFor(action, menu, target)).catch((error) => fail(interaction, error));
	}

	const form: ComponentHandler = {
		prefix: formPrefix,
		async run(interaction, rest) {
			if (!interaction.isModalSubmit()) return;
			const { action, menu, target, values } = readForm(interaction, rest, actions);
			act(interaction, action, values, menu.name, menu.args(target));
		},
	};

	const confirmation: ComponentHandler = {
		prefix: questionPrefix,
		async run(interaction, rest) {
			if (!interaction.isButton()) return;
			const [question = "", decision] = rest.split(":");
			const asker = performing.askedBy(question);
			if (asker !== undefined && asker !== interaction.user.id) {
				await answerPrivately(interaction, "Only the person who used the command can answer this.");
				return;
			}
			await interaction.deferUpdate();
			const settled = await performing.answer(question, decision === "yes");
			if (settled.state === "answered") {
				// The message shows the result of the first answer, or will when the action has ended.
				await answerPrivately(interaction, "This was answered before.");
				return;
			}
			const [content = "", ...more] = answerPieces(
				settled.state === "done"
					? settled.text
					: "This is older than five minutes, or the bot was restarted. Nothing was done now.",
			);
			await interaction.editReply({
				content,
				allowedMentions: noMentions,
				components: [],
			});
			if (more.length > 0) await answerPrivately(interaction, "", more);
		},
	};

	return {
		components: [form, confirmation],
		attach(client: Client): void {
			client.on(Events.InteractionCreate, (interaction: Interaction) => {
				if (interaction.isChatInputCommand()) onChatInput(interaction);
				else if (interaction.isUserContextMenuCommand() || interaction.isMessageContextMenuCommand())
					onMenu(interaction);
				else if (interaction.isAutocomplete()) {
					const action = byName.get(nameOf(interaction));
					autocomplete(interaction, action, options.suggest).catch((error) =>
						log.debug("could not send suggestions", {
							reason: String((error as Error).message),
						}),
					);
				}
			});
		},
	};
}

async function show(interaction: Answering, { text, question, isVerbatim }: Answer): Promise<void> {
	if (question === undefined)
		return isVerbatim ? answerPrivately(interaction, text, sendablePieces(text)) : answerPrivately(interaction, text);
	const pieces = answerPieces(text);
	const last = pieces.pop() ?? "";
	if (pieces.length > 0) await answerPrivately(interaction, text, pieces);
	const body = {
		content: last,
		allowedMentions: noMentions,
		components: [questionButtons(question)],
	};
	if (pieces.length === 0) await interaction.editReply(body);
	else await interaction.followUp({ ...body, flags: MessageFlags.Ephemeral });
}

interface Named {
	commandName: string;
	options: {
		getSubcommand(required: false): string | null;
	};
}

function nameOf({ commandName, options }: Named): string {
	const subcommand = options.getSubcommand(false);
	return subcommand === null ? commandName : `${commandName} ${subcommand}`;
}

function valuesOf({ options }: ChatInputCommandInteraction, action: Action): Values {
	const values = new Map<string, OptionValue[]>();
	for (const { name } of action.options) {
		// Users, roles and channels have their id as value.
		const value = options.get(name)?.value;
		if (value !== undefined) values.set(name, [value]);
	}
	return values;
}

function placeOf({ guildId, channelId, createdTimestamp, user }: Answering, command: string): Place {
	return {
		guildId: guildId ?? "",
		channelId: channelId ?? "",
		at: createdTimestamp,
		person: { id: user.id, name: user.globalName ?? user.username },
		command,
	};
}

function holdsIn({ memberPermissions, member }: Pick<Answering, "memberPermissions" | "member">): Holds {
	return (name) => {
		const bit = PermissionFlagsBits[name];
		if (memberPermissions?.has(bit)) return true;
		return member instanceof GuildMember && member.permissions.has(bit);
	};
}

function targetOf(interaction: MenuInteraction): MenuTarget {
	const { channelId } = interaction;
	if (!interaction.isMessageContextMenuCommand()) return { userId: interaction.targetId, channelId };
	const { targetMessage, targetId: messageId } = interaction;
	return { userId: targetMessage.author.id, messageId, channelId };
}
