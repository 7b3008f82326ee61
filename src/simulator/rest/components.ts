// Message components: rows of buttons and select menus are checked by Discord's rules, of what needs IS_COMPONENTS_V2 only
// the totals.
// https://discord.com/developers/docs/components/reference
//
// A gap: Components that need IS_COMPONENTS_V2 are stored unchecked, except for their number and the length of their
// texts.

import { ButtonStyle, ComponentType } from "discord.js";
import { selectTypes } from "../world/messages/buttons.ts";
import { FormError, type FormErrors, formError, missingField } from "./errors.ts";
import * as f from "./fields/fields.ts";
import { componentId, emoji, readMenu } from "./fields/select-fields.ts";

type Stored = Record<string, unknown> & { type: number };

const rowsPerMessage = 5;
const componentsPerMessage = 40;
/** https://github.com/discord/discord-api-docs/pull/8562 */
const textPerMessage = 4000;
const buttonsPerRow = 5;

const button = f.object({
	id: componentId,
	style: f.required(
		f.choice(ButtonStyle.Primary, ButtonStyle.Secondary, ButtonStyle.Success, ButtonStyle.Danger, ButtonStyle.Link),
	),
	label: f.nullable(f.text(0, 80)),
	emoji,
	custom_id: f.nullable(f.text(1, 100)),
	url: f.nullable(f.text(0, 512)),
	disabled: f.nullable(f.boolean),
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
		return { type: ComponentType.Button, ...f.pickBy(given, Boolean) };
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

function component(read: (type: number, value: unknown) => Stored) {
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

const topLevel = component((type, value) => {
	if (type === ComponentType.ActionRow) {
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
	}
	if (needsV2(type)) return { ...(value as Stored) };
	throw notOneOf(ComponentType.ActionRow);
});

/** Discord's error for a component of a wrong type. https://github.com/NetCordDev/NetCord/issues/151 */
function notOneOf(...types: readonly number[]): FormError {
	const list = types.length > 1 ? types.join(", ") : `${types[0]},`;
	return formError("UNION_TYPE_CHOICES", `Value of field "type" must be one of (${list}).`);
}

function needsV2(type: number): boolean {
	return type >= ComponentType.Section;
}

const few = f.list(f.unchecked, 0, rowsPerMessage);

export const components = f.refine(f.list(topLevel, 0, componentsPerMessage), (rows) => {
	if (!rows.some(({ type }) => needsV2(type))) few.read(rows);
	requireUniqueIds(rows);
	return numbered(rows);
});

/** Throws if a component needs the flag IS_COMPONENTS_V2, for a message without it. */
export function requireLegacyComponents(components: readonly unknown[]): void {
	const errors: FormErrors = {};
	for (const [index, one] of components.entries())
		if (needsV2(Object(one).type)) errors[index] = notOneOf(ComponentType.ActionRow).tree;
	if (Object.keys(errors).length > 0) throw new FormError({ components: errors });
}

/** Throws if a message with IS_COMPONENTS_V2 has too many components or too much text in them. */
export function checkTotals(components: readonly unknown[]): void {
	const all = nested(components);
	// A guess (components-total): the code of this error.
	if (all.length > componentsPerMessage)
		throw formError("BASE_TYPE_MAX_LENGTH", `Must be ${componentsPerMessage} or fewer in length.`, "components");
	const text = all.map(({ content }) => content ?? "").join("");
	if ([...text].length > textPerMessage)
		throw formError(
			"COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED",
			`Components displayable text size exceeds maximum size of ${textPerMessage}`,
			"components",
		);
}

function nested(given: readonly unknown[]): { content?: unknown }[] {
	return given.flatMap((value) => {
		const { components = [], accessory = [] } = Object(value);
		return [Object(value), ...nested([components, accessory].flat())];
	});
}

function requireUniqueIds(rows: readonly Stored[]): void {
	const seen = new Set<unknown>();
	const errors: FormErrors = {};
	for (const [index, { components = [] }] of rows.entries())
		for (const [place, one] of (components as Stored[]).entries()) {
			const { custom_id } = one;
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
function numbered(rows: readonly Stored[]): Stored[] {
	let last = 0;
	const number = (one: Stored): Stored => {
		last += 1;
		const { type, components, accessory, ...rest } = one;
		return {
			type,
			id: last,
			...(type === ComponentType.Container && { accent_color: null, spoiler: false }),
			...rest,
			...(Array.isArray(components) && { components: components.map(number) }),
			...(accessory !== undefined && { accessory: number(Object(accessory)) }),
		};
	};
	return rows.map(number);
}
