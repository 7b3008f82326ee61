// Message components: rows of buttons and select menus, checked by Discord's rules.
// https://discord.com/developers/docs/components/reference
//
// A gap: There are no components that need IS_COMPONENTS_V2.

import { ButtonStyle, ComponentType } from "discord.js";
import { selectTypes } from "../world/messages/buttons.ts";
import { FormError, type FormErrors, formError, missingField, notSimulated } from "./errors.ts";
import * as f from "./fields/fields.ts";
import { componentId, emoji, readMenu } from "./fields/select-fields.ts";

type Stored = Record<string, unknown> & { type: number };
type Row = { type: number; components: Stored[] };

const rowsPerMessage = 5;
const buttonsPerRow = 5;

const button = f.object({
	id: componentId,
	style: f.required(
		f.choice(ButtonStyle.Primary, ButtonStyle.Secondary, ButtonStyle.Success, ButtonStyle.Danger, ButtonStyle.Link),
	),
	label: f.text(0, 80),
	emoji,
	custom_id: f.text(1, 100),
	url: f.text(0, 512),
	disabled: f.boolean,
});

const readButton = f.required(
	f.refine(button, (given): Stored => {
		const { style, label, emoji, custom_id, url } = given;
		if (custom_id && url)
			throw formError(
				"BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE",
				"A custom id and url cannot both be specified",
			);
		if (style === ButtonStyle.Link) checkLink(url);
		else if (!custom_id) throw formError("BUTTON_COMPONENT_CUSTOM_ID_REQUIRED", "A custom id is required", "custom_id");
		if (!label && !emoji) throw missingField("label");
		return { type: ComponentType.Button, ...given };
	}),
);

function checkLink(url: string | null | undefined): void {
	if (!url) throw missingField("url");
	const scheme = URL.parse(url)?.protocol.slice(0, -1);
	if (scheme === undefined) throw formError("URL_TYPE_INVALID_URL", "Not a well formed URL.", "url");
	if (!["http", "https", "discord"].includes(scheme))
		throw formError(
			"URL_TYPE_INVALID_SCHEME",
			`Scheme "${scheme}" is not supported. Scheme must be one of ('http', 'https', 'discord').`,
			"url",
		);
}

const selects = new Set<number>(selectTypes);

function component<T>(read: (type: number, value: unknown) => T) {
	const typed = f.object({ type: f.required(f.integer(1, 100)) });
	return f.refine(f.unchecked, (value) => read(f.required(typed).read(value).type, value));
}

const inRow = component((type, value) => {
	if (type === ComponentType.Button) return readButton.read(value);
	const select = selectTypes.find((one) => one === type);
	if (select) return readMenu(select, value);
	throw notOneOf(ComponentType.Button, ...selectTypes);
});

const row = f.required(f.object({ components: f.required(f.list(inRow, 1, buttonsPerRow)) }));

const topLevel = component((type, value): Row => {
	if (type >= ComponentType.Section) throw notSimulated("components that need IS_COMPONENTS_V2");
	if (type !== ComponentType.ActionRow) throw notOneOf(ComponentType.ActionRow);
	const { components } = row.read(value);
	// A select menu is as wide as its row.
	const wide = components.findIndex((one) => selects.has(one.type));
	if (wide >= 0 && components.length > 1)
		throw formError(
			"COMPONENT_LAYOUT_WIDTH_EXCEEDED",
			"The specified component exceeds the maximum width",
			"components",
			wide === 0 ? 1 : wide,
		);
	return { type, components };
});

/** Discord's error for a component of a wrong type. https://github.com/NetCordDev/NetCord/issues/151 */
function notOneOf(...types: readonly number[]): FormError {
	const list = types.length > 1 ? types.join(", ") : `${types[0]},`;
	return formError("UNION_TYPE_CHOICES", `Value of field "type" must be one of (${list}).`);
}

export const components = f.refine(f.list(topLevel, 0, rowsPerMessage), (rows) => {
	requireUniqueIds(rows);
	return numbered(rows);
});

function requireUniqueIds(rows: readonly Row[]): void {
	const seen = new Set<unknown>();
	const errors: FormErrors = {};
	for (const [index, { components }] of rows.entries())
		for (const [place, { custom_id }] of components.entries()) {
			if (custom_id === undefined) continue;
			if (seen.has(custom_id))
				Object.assign(
					errors,
					formError(
						"COMPONENT_CUSTOM_ID_DUPLICATED",
						"Component custom id cannot be duplicated",
						...[index, "components", place, "custom_id"],
					).tree,
				);
			seen.add(custom_id);
		}
	if (Object.keys(errors).length > 0) throw new FormError(errors);
}

/** As Discord does: the id in the request body, otherwise the number in the message, starting with 1. */
function numbered(rows: readonly Row[]) {
	let last = 0;
	const next = () => {
		last += 1;
		return last;
	};
	return rows.map(({ type, components }) => ({
		type,
		id: next(),
		components: components.map(({ type, ...rest }): Stored => ({ type, id: next(), ...rest })),
	}));
}
