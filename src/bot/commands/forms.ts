// What actions ask a person in Discord: the question whether to do it, and the form of a menu command.

import {
	ActionRowBuilder,
	ButtonBuilder,
	ButtonStyle,
	LabelBuilder,
	ModalBuilder,
	type ModalSubmitInteraction,
	TextInputBuilder,
	TextInputStyle,
} from "discord.js";
import { maxReasonLength } from "../../discord/text.ts";
import { ToolError } from "../../lib/tool-error.ts";
import type { Action, ActionMenu, ActionOption, MenuTarget, OptionValue } from "./action.ts";
import { commandText } from "./command-texts.ts";
import { isDurationWord } from "./durations.ts";

/** Of the buttons that confirm or cancel, and of the forms of context menus. */
export const questionPrefix = "confirm";
export const formPrefix = "ask";

/** `question`: id of the pending action. */
export function questionButtons(question: string) {
	return new ActionRowBuilder<ButtonBuilder>().addComponents(
		new ButtonBuilder().setCustomId(`${questionPrefix}:${question}:yes`).setLabel("Do it").setStyle(ButtonStyle.Danger),
		new ButtonBuilder()
			.setCustomId(`${questionPrefix}:${question}:no`)
			.setLabel("Cancel")
			.setStyle(ButtonStyle.Secondary),
	);
}

export function formFor(
	action: Action,
	menu: ActionMenu,
	{ userId, messageId = "", channelId }: MenuTarget,
	locale: string,
): ModalBuilder {
	const index = action.menus?.indexOf(menu) ?? 0;
	const labels = askedOptions(action, menu).map((option) => {
		const input = new TextInputBuilder()
			.setCustomId(option.name)
			.setStyle(option.kind === "reason" ? TextInputStyle.Paragraph : TextInputStyle.Short)
			.setRequired(option.required ?? false)
			.setMaxLength(option.max ?? maxReasonLength);
		const [example] = option.suggestions ?? [];
		if (example !== undefined) input.setPlaceholder(example);
		const path = [...action.name.split(" "), option.name];
		return new LabelBuilder()
			.setLabel(inSentenceCase(commandText(path, "name", locale)))
			.setDescription(commandText(path, "description", locale))
			.setTextInputComponent(input);
	});
	return new ModalBuilder()
		.setCustomId([formPrefix, action.name, index, userId, messageId, channelId].join(":"))
		.setTitle(commandText(["menu", menu.name], "name", locale))
		.addLabelComponents(labels);
}

function inSentenceCase(name: string): string {
	return name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
}

function askedOptions(action: Action, menu: ActionMenu): ActionOption[] {
	return (menu.asks ?? []).flatMap((name) => action.options.find((option) => option.name === name) ?? []);
}

export interface FilledForm {
	action: Action;
	menu: ActionMenu;
	target: MenuTarget;
	values: Map<string, OptionValue[]>;
}

/** `rest`: custom_id without the prefix. Throws a ToolError if the action is gone or a value is invalid. */
export function readForm(interaction: ModalSubmitInteraction, rest: string, actions: readonly Action[]): FilledForm {
	const [name, index, userId = "", messageId = "", channelId = ""] = rest.split(":");
	const action = actions.find((one) => one.name === name);
	const menu = action?.menus?.[Number(index)];
	if (!action || !menu)
		throw new ToolError("The bot has changed since this form was opened. Nothing was done; open it again.");
	const values = new Map<string, OptionValue[]>();
	for (const option of askedOptions(action, menu)) {
		const text = interaction.fields.getTextInputValue(option.name).trim();
		if (text !== "") values.set(option.name, [readField(option, text)]);
	}
	const target = { userId, channelId, ...(messageId && { messageId }) };
	return { action, menu, target, values };
}

function readField({ kind, name, suggestions }: ActionOption, text: string): OptionValue {
	if (kind === "duration" && !isDurationWord(text, suggestions))
		throw new ToolError(`${name}: write a duration such as 10m, 2h or 3d. Nothing was done.`);
	if (kind !== "integer" && kind !== "case") return text;
	if (/^\d{1,9}$/.test(text)) return Number(text);
	throw new ToolError(`${name}: write a number. Nothing was done.`);
}
