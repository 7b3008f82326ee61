// What actions ask a person in Discord: the question whether to do it, and the form of a menu command.

import {
	ActionRowBuilder,
	ButtonBuilder,
	ButtonStyle,
	LabelBuilder,
	ModalBuilder,
	type ModalSubmitInteraction,
	TextDisplayBuilder,
	TextInputBuilder,
	TextInputStyle,
} from "discord.js";
import { inlineText, maxReasonLength } from "../../discord/text.ts";
import { SaidError } from "../../texts/said-error.ts";
import { type Say, said, sayIn } from "../../texts/texts.ts";
import type { Action, ActionMenu, ActionOption, MenuTarget, OptionValue } from "./action.ts";
import { commandText } from "./command-texts.ts";
import { requireDuration } from "./durations.ts";

/** Of the buttons that confirm or cancel, and of the forms of context menus. */
export const questionPrefix = "confirm";
export const formPrefix = "ask";

/** `question`: id of the pending action. */
export function questionButtons(question: string, locale: string) {
	const say = sayIn(locale);
	return new ActionRowBuilder<ButtonBuilder>().addComponents(
		new ButtonBuilder()
			.setCustomId(`${questionPrefix}:${question}:yes`)
			.setLabel(say("answer.do_it.button"))
			.setStyle(ButtonStyle.Danger),
		new ButtonBuilder()
			.setCustomId(`${questionPrefix}:${question}:no`)
			.setLabel(say("answer.cancel.button"))
			.setStyle(ButtonStyle.Secondary),
	);
}

/** Of the button that opens a form again with what was typed. */
export const retryPrefix = "retry";

export function retryButton(id: string, locale: string) {
	return new ActionRowBuilder<ButtonBuilder>().addComponents(
		new ButtonBuilder()
			.setCustomId(`${retryPrefix}:${id}`)
			.setLabel(sayIn(locale)("answer.try_again.button"))
			.setStyle(ButtonStyle.Primary),
	);
}

export interface Form {
	action: Action;
	menu: ActionMenu;
	target: MenuTarget;
	/** What the person typed before, by option name. */
	typed?: Readonly<Record<string, string>>;
}

export function formFor({ action, menu, target, typed = {} }: Form, locale: string): ModalBuilder {
	const index = action.menus?.indexOf(menu) ?? 0;
	const labels = askedOptions(action, menu).map((option) => {
		const input = new TextInputBuilder()
			.setCustomId(option.name)
			.setStyle(option.kind === "reason" ? TextInputStyle.Paragraph : TextInputStyle.Short)
			.setRequired(option.required ?? false)
			.setMaxLength(option.max ?? maxReasonLength)
			.setValue(typed[option.name] ?? "");
		const [example] = option.suggestions ?? [];
		if (example !== undefined) input.setPlaceholder(example);
		const path = [...action.name.split(" "), option.name];
		return new LabelBuilder()
			.setLabel(inSentenceCase(commandText(path, "name", locale)))
			.setDescription(commandText(path, "description", locale))
			.setTextInputComponent(input);
	});
	const { userId, messageId = "", channelId } = target;
	return new ModalBuilder()
		.setCustomId([formPrefix, action.name, index, userId, messageId, channelId].join(":"))
		.setTitle(commandText(["menu", menu.name], "name", locale))
		.addTextDisplayComponents(formPerson(userId, sayIn(locale)))
		.addLabelComponents(labels);
}

/** Whom the form is about. */
export function formPerson(userId: string, say: Say): TextDisplayBuilder {
	return new TextDisplayBuilder().setContent(say("answer.form_person", { person: `<@${userId}>` }));
}

function inSentenceCase(name: string): string {
	return name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
}

function askedOptions(action: Action, menu: ActionMenu): ActionOption[] {
	return (menu.asks ?? []).flatMap((name) => action.options.find((option) => option.name === name) ?? []);
}

/** `rest`: custom_id without the prefix. Throws a SaidError if the action is gone. */
export function readForm(
	interaction: ModalSubmitInteraction,
	rest: string,
	actions: readonly Action[],
): Required<Form> {
	const [name, index, userId = "", messageId = "", channelId = ""] = rest.split(":");
	const action = actions.find((one) => one.name === name);
	const menu = action?.menus?.[Number(index)];
	if (!action || !menu) throw new SaidError(said("answer.form_gone"));
	const typed = Object.fromEntries(
		askedOptions(action, menu).map((option) => [option.name, interaction.fields.getTextInputValue(option.name).trim()]),
	);
	return { action, menu, target: { userId, channelId, ...(messageId && { messageId }) }, typed };
}

/** Throws a SaidError if a value is invalid. */
export function valuesOfForm({ action, typed }: Required<Form>): Map<string, OptionValue[]> {
	const values = new Map<string, OptionValue[]>();
	for (const option of action.options) {
		const text = typed[option.name];
		if (text) values.set(option.name, [readField(option, text)]);
	}
	return values;
}

function readField(option: ActionOption, text: string): OptionValue {
	if (option.kind === "duration") return requireDuration(option, text);
	if (option.kind !== "integer" && option.kind !== "case") return text;
	if (/^\d{1,9}$/.test(text)) return Number(text);
	throw new SaidError(said("answer.not_a_number", { text: inlineText(text, 50) }));
}
