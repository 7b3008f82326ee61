// The fields of request bodies and query strings: each parses a value or throws Discord's error for it. A missing value is
// undefined unless the field is `required`, and so is null unless the field is `nullable`. Unknown keys are ignored, as by
// Discord. Also the pages of lists that a query asks for.

import { compareIds } from "../../../guild-document/names/ids.ts";
import { type Picture, recognizePicture } from "../../world/guilds/pictures.ts";
import type { Page } from "../../world/messages/messages.ts";
import { isSnowflake } from "../../world/state/snowflake.ts";
import { FormError, type FormErrors, formError, missingField, notSimulated } from "../errors.ts";

export interface Field<T> {
	read(value: unknown): T;
}

export type Read<F> = F extends Field<infer T> ? T : never;

function optional<T>(read: (value: unknown) => T): Field<T | undefined> {
	return { read: (value) => (value === undefined || value === null ? undefined : read(value)) };
}

export function required<T>(field: Field<T | undefined>): Field<T> {
	return {
		read: (value) => {
			const given = field.read(value);
			if (given === undefined) throw missingField();
			return given;
		},
	};
}

/** A field in which null has a meaning: it clears the value. */
export function nullable<T>(field: Field<T>): Field<T | null>;
/** Null stands for `cleared`. */
export function nullable<T, C>(field: Field<T>, cleared: C): Field<T | C>;
export function nullable<T>(field: Field<T>, cleared: unknown = null): Field<unknown> {
	return { read: (value) => (value === null ? cleared : field.read(value)) };
}

/** `convert` checks or converts the parsed value. A missing value stays undefined. */
export function refine<T, U>(field: Field<T | undefined>, convert: (value: T) => U): Field<U | undefined> {
	return {
		read: (value) => {
			const given = field.read(value);
			return given === undefined ? undefined : convert(given);
		},
	};
}

export function text(min: number, max: number) {
	return optional((value) => {
		if (typeof value !== "string")
			throw formError("STRING_TYPE_CONVERT", `Could not interpret "${show(value)}" as string.`);
		checkLength([...value].length, min, max);
		return value;
	});
}

function checkLength(length: number, min: number, max: number): void {
	if (length >= min && length <= max) return;
	if (min === 0) throw formError("BASE_TYPE_MAX_LENGTH", `Must be ${max} or fewer in length.`);
	throw formError("BASE_TYPE_BAD_LENGTH", `Must be between ${min} and ${max} in length.`);
}

/** A number or, as Discord allows, a decimal string. */
export function integer(min: number, max: number) {
	return optional((value) => {
		const number = typeof value === "string" && /^-?\d{1,16}$/.test(value) ? Number(value) : value;
		if (!Number.isSafeInteger(number) || typeof number !== "number")
			throw formError("NUMBER_TYPE_COERCE", `Value "${show(value)}" is not int.`);
		if (number < min) throw formError("NUMBER_TYPE_MIN", `int value should be greater than or equal to ${min}.`);
		if (number > max) throw formError("NUMBER_TYPE_MAX", `int value should be less than or equal to ${max}.`);
		return number;
	});
}

// The strings are those of query strings: https://discord.com/developers/docs/reference#http-api-boolean-query-strings
const trueValues: readonly unknown[] = [true, "true", "True", "1"];
const falseValues: readonly unknown[] = [false, "false", "False", "0"];

export const boolean = optional((value) => {
	const isTrue = trueValues.includes(value);
	if (isTrue || falseValues.includes(value)) return isTrue;
	throw formError("BOOLEAN_TYPE_CONVERT", "Must be either true or false.");
});

export const snowflake = optional((value) => {
	const id = typeof value === "number" ? String(value) : value;
	if (typeof id === "string" && isSnowflake(id)) return id;
	throw formError("NUMBER_TYPE_COERCE", `Value "${show(value)}" is not snowflake.`);
});

export const permissionBits = optional((value) => {
	const bits = typeof value === "number" ? String(value) : value;
	if (typeof bits !== "string" || !/^\d{1,20}$/.test(bits))
		throw formError("NUMBER_TYPE_COERCE", `Value "${show(value)}" is not int.`);
	return BigInt(bits);
});

export function choice<const T extends number | string>(...choices: readonly T[]) {
	return optional((value) => {
		const found = choices.find((one) => one === value);
		if (found === undefined) throw notOneOf(choices);
		return found;
	});
}

/** Returns Discord's error for a value that is none of `choices`, in the field `key` of the object that is parsed. */
export function notOneOf(choices: readonly (number | string)[], ...key: string[]) {
	const shown = choices.map((one) => (typeof one === "string" ? `'${one}'` : one));
	return formError("BASE_TYPE_CHOICES", `Value must be one of {${shown.join(", ")}}.`, ...key);
}

/** A date and time in ISO 8601, which is read in UTC. */
export const timestamp = optional((value) => {
	const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
	if (Number.isNaN(at)) throw formError("DATE_TIME_TYPE_PARSE", `Could not parse ${show(value)}. Should be ISO8601.`);
	return new Date(at).toISOString();
});

export function list<F extends Field<unknown>>(item: F, min: number, max: number) {
	return optional((value) => {
		if (!Array.isArray(value)) throw formError("LIST_TYPE_CONVERT", "Only iterables may be used in a ListType");
		checkLength(value.length, min, max);
		return readAll(value.map((one, index) => [String(index), () => required(item).read(one)])).map(
			([, read]) => read as Exclude<Read<F>, undefined>,
		);
	});
}

/** A query parameter that may occur up to `max` times in a request. The parsed value is always a list. */
export function queryList<F extends Field<unknown>>(item: F, max: number) {
	const items = list(item, 1, max);
	return optional((value) => required(items).read(Array.isArray(value) ? value : [value]));
}

export type Fields = Readonly<Record<string, Field<unknown>>>;

/** What an object with these fields is read as. A missing value has no key. */
export type ReadFields<F> = {
	[K in keyof F as undefined extends Read<F[K]> ? never : K]: Read<F[K]>;
} & { [K in keyof F as undefined extends Read<F[K]> ? K : never]?: Exclude<Read<F[K]>, undefined> };

export function object<const F extends Fields>(fields: F) {
	return optional((value) => {
		if (typeof value !== "object" || value === null || Array.isArray(value))
			throw formError("DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType");
		const given = value as Readonly<Record<string, unknown>>;
		const read = readAll(
			Object.entries(fields).map(([key, field]) => [
				key,
				() => field.read(Object.hasOwn(given, key) ? given[key] : undefined),
			]),
		);
		return Object.fromEntries(read.filter(([, value]) => value !== undefined)) as ReadFields<F>;
	});
}

export function byType<T extends { type: number }>(
	forms: Readonly<Record<number, Fields>>,
	unknown: (type: number, types: readonly number[]) => Error,
): Field<T | undefined> {
	const typed = required(object({ type: required(integer(1, 100)) }));
	const fields = new Map(Object.entries(forms).map(([type, form]) => [Number(type), required(object(form))]));
	return refine(unchecked, (value) => {
		const { type } = typed.read(value);
		const form = fields.get(type);
		if (!form) throw unknown(type, [...fields.keys()]);
		return { type, ...form.read(value) } as unknown as T;
	});
}

export const unchecked: Field<unknown> = { read: (value) => value };

/** A value for this field gets a response with status 501. */
export function notSimulatedField(what: string) {
	return refine(unchecked, (value): undefined => {
		const isEmpty = Array.isArray(value) && value.length === 0;
		if (value !== null && !isEmpty) throw notSimulated(what);
	});
}

// Discord reports all errors of a form.
function readAll(readers: readonly (readonly [key: string, read: () => unknown])[]): [string, unknown][] {
	const values: [string, unknown][] = [];
	const errors: FormErrors = {};
	for (const [key, read] of readers) {
		try {
			values.push([key, read()]);
		} catch (error) {
			if (!(error instanceof FormError)) throw error;
			errors[key] = error.tree;
		}
	}
	if (Object.keys(errors).length > 0) throw new FormError(errors);
	return values;
}

function show(value: unknown): string {
	return (typeof value === "string" ? value : JSON.stringify(value)).slice(0, 100);
}

/** The last items before the id `before` or, if that is missing, the first items after the id `after`. */
export function pageById<T>(
	items: Iterable<T>,
	idOf: (item: T) => string,
	{ before, after = "0", ...page }: Partial<Omit<Page, "around">>,
	defaultLimit: number,
): T[] {
	const { limit = defaultLimit } = page;
	const isOnPage = (one: T) =>
		before === undefined ? compareIds(idOf(one), after) > 0 : compareIds(idOf(one), before) < 0;
	const fitting = [...items].filter(isOnPage);
	fitting.sort((a, b) => compareIds(idOf(a), idOf(b)));
	return before === undefined ? fitting.slice(0, limit) : fitting.slice(-limit);
}

/** A request field with an image of at most `maxBytes` bytes as a data URI. */
export function image(maxBytes: number) {
	// A character of base64 has 6 bits; the rest is for "data:image/…;base64,".
	return refine(text(0, maxBytes * 2), (uri) => readImage(uri, maxBytes));
}

function readImage(uri: string, maxBytes: number): Picture {
	// The declared type does not matter: discord.js calls every image a JPEG.
	const [, data = ""] = /^data:image\/\w+;base64,([A-Za-z0-9+/]+={0,2})$/.exec(uri) ?? [];
	const bytes = Buffer.from(data, "base64");
	if (bytes.length > maxBytes)
		throw formError("BINARY_TYPE_MAX_SIZE", `File cannot be larger than ${maxBytes / 1024}.0 kb.`);
	const picture = recognizePicture(bytes);
	if (picture) return picture;
	throw formError("IMAGE_INVALID", "Invalid image data");
}
