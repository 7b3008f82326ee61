// What actions ask a person in Discord: the question whether to do it, and the form of a menu command.

import {
	type APIModalInteractionResponseCallbackData,
	ButtonStyle,
	ComponentType,
	type ModalSubmitInteraction,
	TextInputStyle,
} from "discord.js";
import { inlineText, maxReasonLength } from "../../discord/text.ts";
import { SaidError } from "../../texts/said-error.ts";
import { said, sayIn } from "../../texts/texts.ts";
import { buttonRow } from "../messages/buttons.ts";
import type { Action, ActionMenu, ActionOption, MenuTarget, OptionValue } from "./action.ts";
import { commandText } from "./command-texts.ts";
import { requireDuration } from "./durations.ts";

/** Of the buttons that confirm or cancel, and of the forms of context menus. */
export const questionPrefix = "confirm";
export const formPrefix = "ask";

/** `question`: id of the pending action. */
export function questionButtons(question: string, locale: string) {
	const say = sayIn(locale);
	const idOf = (answer: "yes" | "no") => `${questionPrefix}:${question}:${answer}`;
	return buttonRow([
		{ id: idOf("yes"), label: say("answer.do_it.button"), style: ButtonStyle.Danger },
		{ id: idOf("no"), label: say("answer.cancel.button"), style: ButtonStyle.Secondary },
	]);
}

/** Of the button that opens a form again with what was typed. */
export const retryPrefix = "retry";

export function retryButton(id: string, locale: string) {
	const label = sayIn(locale)("answer.try_again.button");
	return buttonRow([{ id: `${retryPrefix}:${id}`, label, style: ButtonStyle.Primary }]);
}

export interface Form {
	action: Action;
	menu: ActionMenu;
	target: MenuTarget;
	/** What the person typed before, by option name. */
	typed?: Readonly<Record<string, string>>;
}

export function formFor({ action, menu, target, typed = {} }: Form, locale: string) {
	const index = action.menus?.indexOf(menu) ?? 0;
	const fields = askedOptions(action, menu).map((option): FormField => {
		const path = [...action.name.split(" "), option.name];
		return {
			id: option.name,
			label: inSentenceCase(commandText(path, "name", locale)),
			hint: commandText(path, "description", locale),
			isLong: option.kind === "reason",
			required: option.required ?? false,
			max: option.max ?? maxReasonLength,
			value: typed[option.name] ?? "",
			example: option.suggestions?.[0],
		};
	});
	const { userId, messageId = "", channelId } = target;
	const id = [formPrefix, action.name, index, userId, messageId, channelId].join(":");
	return modalOf({ id, title: commandText(["menu", menu.name], "name", locale), fields, about: userId, locale });
}

interface FormField {
	id: string;
	label: string;
	hint?: string;
	/** Roles are picked, nothing is typed. https://docs.discord.com/developers/components/reference#role-select */
	isRoles?: boolean;
	isLong?: boolean;
	/** Default: true. */
	required?: boolean;
	max: number;
	value?: string | undefined;
	example?: string | undefined;
}

interface Modal {
	id: string;
	title: string;
	fields: readonly FormField[];
	/** Id of the person whom it is about. */
	about?: string;
	locale: string;
}

export function modalOf({ id, title, fields, about, locale }: Modal) {
	const { Label, RoleSelect, TextDisplay, TextInput } = ComponentType;
	const person = about && sayIn(locale)("answer.form_person", { person: `<@${about}>` });
	const labels = fields.map(({ id, label, hint, isRoles, isLong, required, max, value, example }) => {
		const style = isLong ? TextInputStyle.Paragraph : TextInputStyle.Short;
		const input = { type: TextInput, custom_id: id, style, required, max_length: max, value, placeholder: example };
		const roles = { type: RoleSelect, custom_id: id, required, min_values: 0, max_values: max };
		return { type: Label, label, description: hint, component: isRoles ? roles : input };
	});
	const components = [...(person ? [{ type: TextDisplay, content: person }] : []), ...labels];
	return { custom_id: id, title, components } as APIModalInteractionResponseCallbackData;
}

function inSentenceCase(name: string): string {
	return name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
}

function askedOptions(action: Action, menu: ActionMenu): ActionOption[] {
	return menu.asks.flatMap((name) => action.options.find((option) => option.name === name) ?? []);
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
