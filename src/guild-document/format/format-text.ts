// The format of guild documents as a text: a line for each part or, of chosen parts, for each field.

import * as v from "valibot";
import { documentSchema, type Part, partNames } from "./document.ts";
import { id, key, type Marks } from "./document-schema.ts";
import type { SchemaParts } from "./fields.ts";

const intro = [
	'JSON, whole or partial: absent parts and fields stay. ! marks what a new one needs, [] (or a plural) a list, | a choice; the rest are texts, "" for none. What has a name may have an id (to rename or move one that exists) and a key (if others share its name). Described once, it is the same elsewhere.',
	'role, channel: name or key; emoji: 👍 or :name:; user: id or @username; permission: such as VIEW_CHANNEL; color: #8E44AD, purple or "#8E44AD to #11806A"; time: 2030-01-31T18:00Z; ENUM: as in Discord. duration: 30s, 1h or 7d, off for none.',
];
const more = "With parts, it describes all their fields.";

/** People do not write these. */
const ofExports = new Set(["version", "omitted", "unseen", "managed", "animated"]);
/** Whose names do not say how to use them. In an overview they are explained where they come first. */
const explained = new Set([
	...["roles", "channels", "members"],
	...["overwrites", "content", "embeds", "mentions", "max", "scheduled_start_time", "location"],
]);
/** In an overview Discord's names for choices are cut, because errors list them. */
const constants = /^(\[?)[A-Z_]+\|.*?(\]?)$/;

/** With `parts`, a line for each of their fields, indented by depth. Otherwise one for each part and object. */
export function formatText(parts?: readonly Part[]): string[] {
	const known = new Set<unknown>();
	const isShown = ({ name }: Field) =>
		!parts || parts.some((part) => part === name) || !partNames.some((part) => part === name);
	const lines = linesOf(fieldsOf(documentSchema as SchemaParts).filter(isShown), "", known, parts !== undefined);
	return [...intro, ...(parts ? [] : [more]), ...lines];
}

/** Of what is inside, only objects that are not in `known` have lines. */
function linesOf(fields: readonly Field[], indent: string, known: Set<unknown>, isFull: boolean): string[] {
	const shortText = ({ name, sign, type, meaning }: Field) => {
		const isExplained = meaning !== "" && !known.has(meaning) && (isFull || (explained.has(name) && !known.has(name)));
		known.add(name).add(meaning);
		const isSaid = type === name || type === `[${name.replace(/s$/, "")}]` || name.endsWith(`_${type}`);
		const shown = isFull ? type : isSaid ? "" : type.replace(constants, "$1ENUM$2");
		return `${name}${sign}${shown && `: ${shown}`}${isExplained ? ` (${meaning.replace(/\.( Required if new\.)?$/, "")})` : ""}`;
	};
	return fields.flatMap((field) => {
		const { inside, type } = field;
		const isNew = inside && !known.has(inside.entries);
		if (!isNew) return isFull || indent === "" ? indent + shortText(field) : [];
		known.add(inside.entries);
		const below = fieldsOf(inside);
		const head = isFull || indent === "" ? shortText({ ...field, type: isFull ? type : "" }) : field.name;
		const shown = isFull ? "" : `: ${type.replace("{}", () => `{${below.map(shortText).join(", ")}}`)}`;
		return [indent + head + shown, ...linesOf(below, `${indent} `, known, isFull)];
	});
}

type Field = ReturnType<typeof fieldsOf>[number];

/** Those that people write, without id and key, which the introduction explains. `inside`: its object, or that of its list. */
function fieldsOf({ entries = {} }: SchemaParts) {
	return Object.entries(entries).flatMap(([name, field]) => {
		const schema = (field.type === "optional" && field.wrapped) || field;
		if (ofExports.has(name) || schema === id || schema === key) return [];
		const { item = schema } = schema;
		const inside = item.entries && item;
		const meaning = v.getDescription(schema) ?? "";
		const { isNeeded = schema === field }: Marks = v.getMetadata(schema);
		return { name, sign: isNeeded ? "!" : "", inside, type: typeText(schema), meaning };
	});
}

function typeText(schema: SchemaParts): string {
	const { type, item, options, entries } = schema;
	if (item) return `[${typeText(item)}]`;
	if (entries) return "{}";
	if (options) return options.map((one) => (one === "" ? '""' : one)).join("|");
	const { ref, notation }: Marks = v.getMetadata(schema);
	return notation ?? ref ?? (type === "number" ? "int" : type === "boolean" ? "bool" : "");
}
