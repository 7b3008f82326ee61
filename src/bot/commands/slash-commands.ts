// Runs slash commands with their autocompletion, and context menu commands of users and messages. Replies are ephemeral.

import {
	type ButtonInteraction,
	type ChatInputCommandInteraction,
	type Client,
	Events,
	type Interaction,
	type MessageContextMenuCommandInteraction,
	MessageFlags,
	type RepliableInteraction,
	type UserContextMenuCommandInteraction,
} from "discord.js";
import type { JsonObject } from "../../lib/json.ts";
import { LruMap } from "../../lib/lru-map.ts";
import { SaidError } from "../../texts/said-error.ts";
import { languageOf, render, said, sayIn } from "../../texts/texts.ts";
import { noMentions } from "../messages/split-message.ts";
import type { Action, MenuTarget, OptionValue } from "./action.ts";
import { answerPieces, answerPrivately, deferPrivately, describeFailure } from "./answer.ts";
import { autocomplete, type Suggest } from "./autocomplete.ts";
import { type ChatCommandsOptions, requirePrivate } from "./chat-commands.ts";
import { type ComponentHandler, type ComponentInteraction, callerOf } from "./components.ts";
import { helpCommand } from "./definitions.ts";
import {
	type Form,
	formFor,
	formPrefix,
	questionButtons,
	questionPrefix,
	readForm,
	retryButton,
	retryPrefix,
	valuesOfForm,
} from "./forms.ts";
import type { Helpful } from "./help.ts";
import { type LimitedRun, type Ran, weightOf } from "./limits.ts";
import { pagePrefix, valuesOfPage } from "./pages.ts";
import type { Answer, Place } from "./perform.ts";
import type { Values } from "./tool-call.ts";
import { holdsIn } from "./who-may.ts";

interface SlashCommandsOptions extends Omit<ChatCommandsOptions, "prefix" | "deleteSecrets">, Pick<Helpful, "menus"> {
	suggest: Suggest;
}

const maxForms = 500;

type InGuild = ChatInputCommandInteraction & { guildId: string };

type MenuInteraction = UserContextMenuCommandInteraction | MessageContextMenuCommandInteraction;

export class SlashCommands {
	readonly components: readonly ComponentHandler[] = [
		{ prefix: formPrefix, run: (interaction, rest) => this.#onForm(interaction, rest) },
		{ prefix: retryPrefix, run: (interaction, rest) => this.#onRetry(interaction, rest) },
		{ prefix: questionPrefix, run: (interaction, rest) => this.#onDecision(interaction, rest) },
		{ prefix: pagePrefix, run: (interaction, rest) => this.#onTurn(interaction, rest) },
	];

	/** What people typed in forms that were wrong, by the id of the button. */
	readonly #typed = new LruMap<string, { form: Form; userId: string }>(maxForms);

	constructor(private readonly options: SlashCommandsOptions) {}

	attach(client: Client): void {
		client.on(Events.InteractionCreate, (interaction: Interaction) => {
			if (interaction.isChatInputCommand()) this.#onChatInput(interaction);
			else if (interaction.isUserContextMenuCommand() || interaction.isMessageContextMenuCommand())
				this.#onMenu(interaction);
			else if (interaction.isAutocomplete()) {
				const command = this.#actionOf(interaction) ?? this.#menuOf(interaction);
				autocomplete(interaction, command, this.#holds(interaction), this.options.suggest).catch((error) =>
					this.options.log.debug("could not send suggestions", { reason: String((error as Error).message) }),
				);
			}
		});
	}

	#holds(interaction: Interaction) {
		return holdsIn(this.options.grants, interaction);
	}

	#actionOf({ commandName, options }: Named): Action | undefined {
		const subcommand = options.getSubcommand(false);
		const name = subcommand === null ? commandName : `${commandName} ${subcommand}`;
		return this.options.actions.find((action) => action.name === name);
	}

	#menuOf({ commandName }: Pick<Named, "commandName">) {
		return this.options.menus.filter((menu) => menu.type === "slash").find(({ name }) => name === commandName);
	}

	#respond(interaction: RepliableInteraction, weight: LimitedRun["weight"], work: () => Promise<Ran<Answer>>): void {
		const guildId = interaction.guildId ?? "";
		const run = async () => {
			try {
				// Discord expects a response within 3 s.
				await deferPrivately(interaction);
				const { user, locale } = interaction;
				const limited = { weight, guildId, userId: user.id, tellsOnce: false, locale };
				const answer = await this.options.limits(limited, work);
				await show(interaction, typeof answer === "object" ? answer : { text: answer ?? "" });
			} catch (error) {
				await this.#fail(interaction, error);
			}
		};
		if (this.options.concurrency(guildId, weight, run)) return;
		answerPrivately(interaction, sayIn(interaction.locale)("answer.busy")).catch(() => {});
	}

	async #fail(interaction: RepliableInteraction, error: unknown): Promise<void> {
		const { log } = this.options;
		const command = interaction.isCommand() ? interaction.commandName : "button";
		const text = describeFailure(error, interaction.locale, log, { command });
		await answerPrivately(interaction, text).catch((failure) =>
			log.warn("could not answer a slash command", { command, reason: String((failure as Error).message) }),
		);
	}

	#act(interaction: RepliableInteraction, action: Action, values: Values, command: string, given?: JsonObject): void {
		const weight = weightOf(action, this.#holds(interaction));
		const place = placeOf(interaction, command);
		const fixed = { ...action.fixed, ...given };
		this.#respond(interaction, weight, () => this.options.performing.perform({ ...action, fixed }, values, place));
	}

	#onChatInput(interaction: ChatInputCommandInteraction): void {
		const { commandName } = interaction;
		const menu = this.#menuOf(interaction);
		if (menu && (menu.inDms || interaction.inGuild()))
			return void menu.run(interaction as InGuild).catch((error) => this.#fail(interaction, error));
		if (!interaction.inGuild()) return;
		if (commandName === helpCommand.name) {
			const { user, locale } = interaction;
			const answer = this.options.help({ door: "slash", asker: user.id, locale, holds: this.#holds(interaction) });
			this.#respond(interaction, "open", async () => ({ answer, isMistake: false }));
			return;
		}
		const action = this.#actionOf(interaction);
		if (action) this.#act(interaction, action, valuesOf(interaction, action), `/${action.name}`);
	}

	#onMenu(interaction: MenuInteraction): void {
		if (!interaction.inGuild()) return;
		const type = interaction.isUserContextMenuCommand() ? "user" : "message";
		const isThis = (menu: { type: string; name: string }) =>
			menu.type === type && menu.name === interaction.commandName;
		for (const menu of this.options.menus)
			if (menu.type === "message" && interaction.isMessageContextMenuCommand() && isThis(menu))
				return void menu.run(interaction).catch((error) => this.#fail(interaction, error));
		for (const action of this.options.actions)
			for (const menu of action.menus ?? [])
				if (isThis(menu))
					interaction
						.showModal(formFor({ action, menu, target: targetOf(interaction) }, interaction.locale))
						.catch((error) => this.#fail(interaction, error));
	}

	async #onForm(interaction: ComponentInteraction, rest: string): Promise<void> {
		if (!interaction.isModalSubmit()) return;
		const form = readForm(interaction, rest, this.options.actions);
		const { action, menu, target } = form;
		try {
			this.#act(interaction, action, valuesOfForm(form), menu.name, menu.args(target));
		} catch (error) {
			if (!(error instanceof SaidError)) throw error;
			// A form cannot follow a form: MODAL is not available for MODAL_SUBMIT.
			// https://docs.discord.com/developers/interactions/receiving-and-responding#interaction-response-object-interaction-callback-type
			this.#typed.set(interaction.id, { form, userId: interaction.user.id });
			const { locale } = interaction;
			const components = [retryButton(interaction.id, locale)];
			const content = render(error.said, languageOf(locale));
			await interaction.reply({ content, components, flags: MessageFlags.Ephemeral, allowedMentions: noMentions });
		}
	}

	async #onRetry(interaction: ComponentInteraction, id: string): Promise<void> {
		if (!interaction.isButton()) return;
		const typed = this.#typed.get(id);
		if (!typed) throw new SaidError(said("answer.form_gone"));
		if (interaction.user.id !== typed.userId) throw new SaidError(said("answer.only_asker"));
		await interaction.showModal(formFor(typed.form, interaction.locale));
	}

	async #onDecision(interaction: ComponentInteraction, rest: string): Promise<void> {
		if (!interaction.isButton()) return;
		const { performing } = this.options;
		const say = sayIn(interaction.locale);
		const [question = "", decision] = rest.split(":");
		const asker = performing.askedBy(question);
		if (asker !== undefined && asker !== interaction.user.id) {
			await answerPrivately(interaction, say("answer.only_asker"));
			return;
		}
		await interaction.deferUpdate();
		const settled = await performing.answer(question, decision === "yes");
		if (settled.state === "answered") {
			// The message shows the result of the first answer, or will when the action has ended.
			await answerPrivately(interaction, say("answer.answered_before"));
			return;
		}
		const [content = "", ...more] = answerPieces(
			settled.state === "done" ? settled.text : sayIn(shownTo(interaction))("answer.expired"),
			shownTo(interaction),
		);
		await interaction.editReply({ content, allowedMentions: noMentions, components: [] });
		if (more.length > 0) await answerPrivately(interaction, "", more);
	}

	async #onTurn(interaction: ComponentInteraction, rest: string): Promise<void> {
		if (!interaction.isButton() || !interaction.inCachedGuild()) return;
		const [asker = "", name = "", ...query] = rest.split(":");
		const action = this.options.actions.find((one) => one.pages !== undefined && one.name === name);
		const values = action && valuesOfPage(action, query);
		if (!values && name !== helpCommand.name) throw new SaidError(said("answer.page_gone"));
		if (interaction.user.id !== asker) throw new SaidError(said("answer.only_asker"));
		const locale = shownTo(interaction);
		const door = interaction.message.flags.has(MessageFlags.Ephemeral) ? "slash" : "chat";
		if (action && door === "chat") requirePrivate(action, interaction.channel, locale);
		await interaction.deferUpdate();
		const holds = this.#holds(interaction);
		const place = { ...placeOf(interaction, `/${name}`), locale };
		const weight = weightOf(action ?? {}, holds);
		const limited = { guildId: place.guildId, userId: asker, weight, tellsOnce: false, locale };
		const answer =
			action && values
				? await this.options.limits(limited, () => this.options.performing.perform(action, values, place))
				: this.options.help({ door, asker, locale, holds }, Number(query[0]));
		// A refusal has no page: the list stays as it is.
		const { page, text } = typeof answer === "object" ? answer : { text: answer ?? "" };
		await (page ? interaction.editReply(page) : answerPrivately(interaction, text));
	}
}

async function show(interaction: RepliableInteraction, { text, question, page }: Answer): Promise<unknown> {
	const { locale } = interaction;
	if (page) return interaction.editReply(page);
	if (question === undefined) return answerPrivately(interaction, text);
	const pieces = answerPieces(text, locale);
	const last = pieces.pop() ?? "";
	if (pieces.length > 0) await answerPrivately(interaction, text, pieces);
	const body = { content: last, allowedMentions: noMentions, components: [questionButtons(question, locale)] };
	if (pieces.length === 0) return interaction.editReply(body);
	return interaction.followUp({ ...body, flags: MessageFlags.Ephemeral });
}

interface Named {
	commandName: string;
	options: { getSubcommand(required: false): string | null };
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

function placeOf(interaction: RepliableInteraction, command: string): Place {
	const { channelId, createdTimestamp, client } = interaction;
	return {
		...callerOf(interaction),
		channelId: channelId ?? "",
		at: createdTimestamp,
		command,
		isThread: (id) => client.channels.cache.get(id)?.isThread() ?? false,
	};
}

/** The language of the message with the pressed button: of the person if it is ephemeral, else of the guild. */
function shownTo({ message, locale, guildLocale }: ButtonInteraction): string {
	return message.flags.has(MessageFlags.Ephemeral) ? locale : (guildLocale ?? locale);
}

function targetOf(interaction: MenuInteraction): MenuTarget {
	const { channelId } = interaction;
	if (!interaction.isMessageContextMenuCommand()) return { userId: interaction.targetId, channelId };
	const { targetMessage, targetId: messageId } = interaction;
	return { userId: targetMessage.author.id, messageId, channelId };
}
