// Message components: rows of buttons and select menus, checked by Discord's rules.
// https://discord.com/developers/docs/components/reference
//
// A gap: There are no components that need IS_COMPONENTS_V2.

import { ButtonStyle, ComponentType } from "discord.js";
import { type FormError, formError, missingField, notSimulated } from "./errors.ts";
import * as f from "./fields/fields.ts";
import { checkCounts, componentId, duplicateId, emoji, numbering, selectFields } from "./fields/select-fields.ts";

const rowsPerMessage = 5;
const buttonsPerRow = 5;

type Part = { type: number; id?: number; custom_id?: string; [key: string]: unknown };
type Row = { type: number; id?: number; components: Part[] };

const link = f.refine(f.text(0, 512), (url) => {
	const scheme = URL.parse(url)?.protocol.slice(0, -1);
	if (scheme === undefined) throw formError("URL_TYPE_INVALID_URL", "Not a well formed URL.");
	if (["http", "https", "discord"].includes(scheme)) return url;
	throw formError("URL_TYPE_INVALID_SCHEME", `Scheme "${scheme}" is not supported.`);
});

const button = {
	id: componentId,
	style: f.required(
		f.choice(ButtonStyle.Primary, ButtonStyle.Secondary, ButtonStyle.Success, ButtonStyle.Danger, ButtonStyle.Link),
	),
	label: f.text(0, 80),
	emoji,
	custom_id: f.text(1, 100),
	url: link,
	disabled: f.boolean,
};

function checkButton({ style, label, emoji, custom_id, url }: f.ReadFields<typeof button>): void {
	if (custom_id && url)
		throw formError(
			"BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE",
			"A custom id and url cannot both be specified",
		);
	if (style === ButtonStyle.Link && !url) throw missingField("url");
	if (style !== ButtonStyle.Link && !custom_id)
		throw formError("BUTTON_COMPONENT_CUSTOM_ID_REQUIRED", "A custom id is required", "custom_id");
	if (!label && !emoji) throw missingField("label");
}

/** Discord's error for a component of a wrong type. https://github.com/NetCordDev/NetCord/issues/151 */
function wrongType(_type: number, types: readonly number[]): FormError {
	const list = types.length > 1 ? types.join(", ") : `${types[0]},`;
	return formError("UNION_TYPE_CHOICES", `Value of field "type" must be one of (${list}).`);
}

const menus = Object.fromEntries(
	Object.entries(selectFields).map(([type, fields]) => [type, { ...fields, disabled: f.boolean }]),
);

const inRow = f.refine(f.byType<Part>({ [ComponentType.Button]: button, ...menus }, wrongType), (part): Part => {
	if (part.type === ComponentType.Button) {
		checkButton(part as Part & f.ReadFields<typeof button>);
		return part;
	}
	checkCounts(part);
	// Discord's OpenAPI document requires these fields in responses.
	return { min_values: 1, max_values: 1, ...part };
});

const row = f.byType<Row>(
	{ [ComponentType.ActionRow]: { components: f.required(f.list(inRow, 1, buttonsPerRow)) } },
	(type, types) =>
		type >= ComponentType.Section ? notSimulated("components that need IS_COMPONENTS_V2") : wrongType(type, types),
);

const topLevel = f.refine(row, ({ type, components }) => {
	// A select menu is as wide as its row.
	const wide = components.findIndex((one) => one.type !== ComponentType.Button);
	if (wide >= 0 && components.length > 1)
		throw formError(
			"COMPONENT_LAYOUT_WIDTH_EXCEEDED",
			"The specified component exceeds the maximum width",
			"components",
			wide || 1,
		);
	return { type, components };
});

export const components = f.refine(f.list(topLevel, 0, rowsPerMessage), (rows: readonly Row[]) => {
	const seen = new Set<string>();
	for (const [index, { components }] of rows.entries())
		for (const [place, { custom_id }] of components.entries()) {
			if (custom_id === undefined) continue;
			if (seen.has(custom_id)) throw duplicateId(index, "components", place, "custom_id");
			seen.add(custom_id);
		}
	// As Discord does: the id in the request body, otherwise the number in the message, starting with 1.
	const number = numbering();
	return rows.map((row) => {
		const { type, id } = number(row);
		return { type, id, components: row.components.map(number) };
	});
});
