// The components of messages as text: buttons and selects, and the layout of newer messages (Components V2).
// https://discord.com/developers/docs/components/reference

import { ComponentType } from "discord.js";
import { isObject } from "../../lib/json.ts";
import { listFirst } from "../../lib/text.ts";

export const separator = "---";

const maxOptions = 10;

const selects: ReadonlyMap<unknown, string> = new Map([
	[ComponentType.StringSelect, "select"],
	[ComponentType.UserSelect, "user select"],
	[ComponentType.RoleSelect, "role select"],
	[ComponentType.MentionableSelect, "user or role select"],
	[ComponentType.ChannelSelect, "channel select"],
]);

type Component = Record<string, unknown>;

/** In display order, not escaped. */
export function componentTexts(components: unknown): string[] {
	return objectsIn(components).flatMap(textsOfOne);
}

function textsOfOne(component: Component): string[] {
	const { type } = component;
	const select = selects.get(type);
	if (select) return [selectText(select, component)];
	switch (type) {
		case ComponentType.TextDisplay:
			return [textOf(component.content)];
		case ComponentType.Button:
			return [buttonText(component)];
		case ComponentType.Thumbnail:
			return [mediaText("thumbnail", component)];
		case ComponentType.MediaGallery:
			return objectsIn(component.items).map((item) => mediaText("media", item));
		case ComponentType.File:
			return [fileText(component)];
		case ComponentType.Separator:
			return [separator];
		default:
			// Rows, sections, containers and labels; of components unknown today, at least the ones inside them.
			return [component.components, component.accessory, component.component]
				.map((inner) => (isObject(inner) ? [inner] : inner))
				.flatMap(componentTexts);
	}
}

function buttonText({ label, emoji, url, sku_id, disabled }: Component) {
	return bracketed(
		[
			isObject(emoji) && emojiText(emoji),
			textOf(label),
			sku_id !== undefined && `buy SKU ${sku_id}`,
			url !== undefined && `→ ${url}`,
		],
		disabled,
	);
}

function emojiText({ id, name }: Component): string {
	return textOf(id) ? `<:${textOf(name)}:${id}>` : textOf(name);
}

function selectText(kind: string, select: Component): string {
	const { placeholder, disabled } = select;
	const options = objectsIn(select.options).map(({ label }) => textOf(label));
	const named = listFirst(options, maxOptions, ", … ");
	return bracketed([`${kind}:`, textOf(placeholder), named && `(${named})`], disabled);
}

function bracketed(parts: readonly (string | false)[], disabled: unknown) {
	const text = parts.filter(Boolean).join(" ");
	return `[${text}${disabled === true ? ", disabled" : ""}]`;
}

function mediaText(kind: string, { media, description }: Component): string {
	const altText = textOf(description);
	return `${kind}: ${urlOf(media)}${altText && `, described as "${altText}"`}`;
}

function fileText({ file, name, size }: Component): string {
	const bytes = typeof size === "number" ? ` (${size} bytes)` : "";
	return `file: ${textOf(name)}${bytes} ${urlOf(file)}`;
}

function urlOf(media: unknown): string {
	return isObject(media) ? textOf(media.url) : "";
}

function objectsIn(value: unknown): Component[] {
	return Array.isArray(value) ? value.filter(isObject) : [];
}

function textOf(value: unknown): string {
	return typeof value === "string" ? value : "";
}
