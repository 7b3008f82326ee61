// A form that is generated from a JSON Schema. Its fields check what is entered.

import { element } from "../dom.js";
import { createField, named, shown } from "./parts.js";

/** @typedef {Record<string, any>} Schema */
/** @typedef {{ id: string, name: string }[]} Choices */

/** @typedef {ReturnType<typeof createSchemaField>} Field */

/**
 * @param {Schema} schema
 * @param {{ choices: Map<string, Choices>, listFor: (name: string) => string | undefined, entered: Map<string, string> }} options
 * By name: `choices` of menus, which come first; `listFor`, the id of a `<datalist>`; `entered`, the last values.
 */
export function createFields(schema, { choices, listFor, entered }) {
	const required = new Set(Array.isArray(schema.required) ? schema.required : []);
	/** @param {string} name */
	const rankOf = (name) => [...choices.keys(), name].indexOf(name) - (required.has(name) ? 0.5 : 0);
	const sorted = Object.entries(schema.properties ?? {}).sort(([one], [other]) => rankOf(one) - rankOf(other));
	const fields = sorted.map(([name, property], index) =>
		createSchemaField(`field-${index}`, name, isSchema(property) ? property : {}, required.has(name), {
			choices: choices.get(name),
			list: listFor(name),
			entered,
		}),
	);
	const content = element("div.fields", ...fields.map((field) => field.content));
	if (fields.length === 0) content.append(element("p.quiet", "This tool takes no arguments."));
	return { fields, content };
}

/** The values of the fields that are not empty. Undefined if some are invalid, which is shown. @param {readonly Field[]} fields */
export function readFields(fields) {
	/** @type {Record<string, unknown>} */
	const values = Object.create(null);
	/** @type {Field | undefined} */
	let first;
	for (const field of fields) {
		try {
			const value = field.read();
			if (value !== undefined) values[field.name] = value;
			field.complain("");
		} catch (error) {
			field.complain(error instanceof Error ? error.message : String(error));
			first ??= field;
		}
	}
	first?.control.focus();
	return first ? undefined : values;
}

/** @param {unknown} value @returns {value is Schema} */
const isSchema = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * @param {string} id @param {string} name @param {Schema} schema @param {boolean} isRequired
 * @param {{ choices: Choices | undefined, list: string | undefined, entered: Map<string, string> }} options
 */
function createSchemaField(id, name, schema, isRequired, { choices, list, entered }) {
	const kind = kindOf(schema);
	const { hint, attributes, options, parse } = choices
		? { ...kind, options: choices.map(({ id }) => id) }
		: list && kind.tag === "textarea"
			? {
					...kind,
					hint: "Several are separated by commas.",
					parse: (/** @type {string} */ text) => parseLines(text.replaceAll(",", "\n"), { type: "string" }),
				}
			: kind;
	const tag = choices ? "select" : list ? "input" : kind.tag;
	const common = { name, "aria-required": isRequired && "true", autocomplete: "off", spellcheck: "false" };
	/** @type {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} */
	const control =
		tag === "select"
			? element(
					"select",
					common,
					element("option", { value: "" }, isRequired ? "choose" : "not set"),
					...(options ?? []).map((value, index) =>
						element("option", { value }, shown(choices?.[index]?.name ?? value, 80)),
					),
				)
			: tag === "textarea"
				? element("textarea", { ...common, rows: 3 })
				: element("input", { ...common, ...attributes, list });
	const before = entered.get(name);
	if (before !== undefined) control.value = before;
	const standard = schema.default === undefined ? "" : `Default: ${JSON.stringify(schema.default)}.`;
	const hints = choices ? [] : [hint, standard, schema.description].filter((text) => typeof text === "string" && text);
	const words = String(schema.title ?? wordsOf(name));
	const code = words.toLowerCase() === name ? "" : element("code.quiet", named(name, 64));
	const label = element("span", named(words, 64), " ", code, isRequired && element("span.required", " required"));
	return {
		...createField(id, label, hints.join(" "), control),
		name,
		control,
		/** Undefined if it is empty. Throws an Error to show if it does not match the schema. */
		read() {
			const { value } = control;
			entered.set(name, value);
			if (value.trim() !== "") return parse(value);
			if (isRequired) throw new Error("This is required.");
			return undefined;
		},
	};
}

/** Such as "Channels" for channel_ids. @param {string} name */
function wordsOf(name) {
	if (name === "instance") return "Bot";
	const words = name
		.replace(/y_ids$/, "ies")
		.replace(/_ids$/, "s")
		.replace(/_id$/, "")
		.replaceAll("_", " ")
		.trim();
	return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * @param {Schema} schema
 * @returns {{ tag: "input" | "select" | "textarea", hint?: string, attributes?: Record<string, unknown>, options?: string[], parse: (text: string) => unknown }}
 */
function kindOf(schema) {
	const { items } = schema;
	// One text or several: one per line is both.
	const type = Array.isArray(schema.type) && schema.type.includes("array") ? "array" : schema.type;
	if (Array.isArray(schema.enum)) {
		// An enum may contain values of any type. Values other than strings appear in the options as JSON text.
		const values = new Map(
			schema.enum.map((value) => [typeof value === "string" ? value : JSON.stringify(value), value]),
		);
		return { tag: "select", options: [...values.keys()], parse: (text) => values.get(text) };
	}
	if (type === "boolean") return { tag: "select", options: ["true", "false"], parse: (text) => text === "true" };
	if (type === "integer" || type === "number")
		return {
			tag: "input",
			hint: rangeOf(schema),
			attributes: { inputmode: type === "integer" ? "numeric" : "decimal" },
			parse: (text) => parseNumber(text, schema),
		};
	if (type === "string") return { tag: "input", parse: (text) => text };
	const itemType = isSchema(items) ? items.type : undefined;
	if (type === "array" && ["string", "integer", "number"].includes(itemType))
		return {
			tag: "textarea",
			hint: `One per line${Array.isArray(items.enum) ? `: ${items.enum.join(", ")}` : ""}.`,
			parse: (text) => parseLines(text, items),
		};
	return {
		tag: "textarea",
		hint: type === "array" ? "A JSON array." : type === "object" ? "A JSON object." : "JSON.",
		parse: (text) => parseJson(text, type),
	};
}

/** @param {Schema} schema */
function rangeOf({ minimum, maximum }) {
	if (minimum === undefined) return maximum === undefined ? "" : `At most ${maximum}.`;
	return maximum === undefined ? `At least ${minimum}.` : `${minimum} to ${maximum}.`;
}

/** @param {string} text @param {Schema} schema */
function parseNumber(text, { type, minimum = -Infinity, maximum = Infinity }) {
	const value = Number(text.trim());
	if (!Number.isFinite(value)) throw new Error("This is not a number.");
	if (type === "integer" && !Number.isSafeInteger(value)) throw new Error("This is not a whole number.");
	if (value < minimum) throw new Error(`The minimum is ${minimum}.`);
	if (value > maximum) throw new Error(`The maximum is ${maximum}.`);
	return value;
}

/** @param {string} text @param {Schema} items */
function parseLines(text, items) {
	const lines = text
		.split("\n")
		.map((line) => line.trim())
		.filter(Boolean);
	return lines.map((line) => {
		if (Array.isArray(items.enum) && !items.enum.map(String).includes(line))
			throw new Error(`“${shown(line, 40)}” is none of ${items.enum.join(", ")}.`);
		return items.type === "string" ? line : parseNumber(line, items);
	});
}

/** @param {string} text @param {unknown} type */
function parseJson(text, type) {
	/** @type {unknown} */
	let value;
	try {
		value = JSON.parse(text);
	} catch (error) {
		throw new Error(`This is not JSON: ${error instanceof Error ? error.message : error}`);
	}
	if (type === "array" && !Array.isArray(value)) throw new Error("This is not a JSON array.");
	if (type === "object" && !isSchema(value)) throw new Error("This is not a JSON object.");
	return value;
}
