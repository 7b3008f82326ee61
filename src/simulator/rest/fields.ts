// The fields of request bodies and query strings: each reads a value from outside, or throws Discord's fault for it.
// An absent value is undefined, and may be: only `required` insists. Unknown keys are ignored, as Discord does.

import { isSnowflake } from "../world/state/snowflake.ts";
import { type FaultTree, FieldFault, fieldFault } from "./errors.ts";

export interface Field<T> {
	/** The value as a `T`; throws a FieldFault when it is none. */
	read(value: unknown): T;
}

/** What a field yields. */
export type Read<F> = F extends Field<infer T> ? T : never;

function optional<T>(read: (value: unknown) => T): Field<T | undefined> {
	return {
		read: (value) => {
			if (value === null)
				throw fieldFault("BASE_TYPE_REQUIRED", "This field is required");
			return value === undefined ? undefined : read(value);
		},
	};
}

export function required<T>(field: Field<T | undefined>): Field<T> {
	return {
		read: (value) => {
			const given = field.read(value);
			if (given === undefined)
				throw fieldFault("BASE_TYPE_REQUIRED", "This field is required");
			return given;
		},
	};
}

export function nullable<T>(field: Field<T>): Field<T | null> {
	return { read: (value) => (value === null ? null : field.read(value)) };
}

/** A text of `min` to `max` characters. */
export function text(min: number, max: number) {
	return optional((value) => {
		if (typeof value !== "string")
			throw fieldFault(
				"STRING_TYPE_CONVERT",
				`Could not interpret "${show(value)}" as string.`,
			);
		checkLength([...value].length, min, max);
		return value;
	});
}

function checkLength(length: number, min: number, max: number): void {
	if (length >= min && length <= max) return;
	if (min === 0)
		throw fieldFault(
			"BASE_TYPE_MAX_LENGTH",
			`Must be ${max} or fewer in length.`,
		);
	throw fieldFault(
		"BASE_TYPE_BAD_LENGTH",
		`Must be between ${min} and ${max} in length.`,
	);
}

/** A whole number; like Discord, one written as a text counts too. */
export function integer(min: number, max: number) {
	return optional((value) => {
		const number =
			typeof value === "string" && /^-?\d{1,16}$/.test(value)
				? Number(value)
				: value;
		if (!Number.isSafeInteger(number) || typeof number !== "number")
			throw fieldFault(
				"NUMBER_TYPE_COERCE",
				`Value "${show(value)}" is not int.`,
			);
		if (number < min)
			throw fieldFault(
				"NUMBER_TYPE_MIN",
				`int value should be greater than or equal to ${min}.`,
			);
		if (number > max)
			throw fieldFault(
				"NUMBER_TYPE_MAX",
				`int value should be less than or equal to ${max}.`,
			);
		return number;
	});
}

export const boolean = optional((value) => {
	if (value === true || value === "true") return true;
	if (value === false || value === "false") return false;
	throw fieldFault("BOOLEAN_TYPE_CONVERT", "Must be either true or false.");
});

export const snowflake = optional((value) => {
	const id = typeof value === "number" ? String(value) : value;
	if (typeof id !== "string" || !isSnowflake(id))
		throw fieldFault(
			"NUMBER_TYPE_COERCE",
			`Value "${show(value)}" is not snowflake.`,
		);
	return id;
});

/** Permission bits: a decimal text, as Discord sends them, or a number. */
export const permissionBits = optional((value) => {
	const bits = typeof value === "number" ? String(value) : value;
	if (typeof bits !== "string" || !/^\d{1,20}$/.test(bits))
		throw fieldFault(
			"NUMBER_TYPE_COERCE",
			`Value "${show(value)}" is not int.`,
		);
	return BigInt(bits);
});

/** One of a few numbers. */
export function choice<const T extends number>(...choices: readonly T[]) {
	return optional((value) => {
		const found = choices.find((one) => one === value);
		if (found === undefined)
			throw fieldFault(
				"BASE_TYPE_CHOICES",
				`Value must be one of {${choices.join(", ")}}.`,
			);
		return found;
	});
}

/** One of a few words. */
export function word<const T extends string>(...words: readonly T[]) {
	return optional((value) => {
		const found = words.find((one) => one === value);
		if (found === undefined)
			throw fieldFault(
				"BASE_TYPE_CHOICES",
				`Value must be one of {${words.map((one) => `'${one}'`).join(", ")}}.`,
			);
		return found;
	});
}

/** A moment in ISO 8601. */
export const timestamp = optional((value) => {
	const at = typeof value === "string" ? Date.parse(value) : Number.NaN;
	if (Number.isNaN(at))
		throw fieldFault(
			"DATE_TIME_TYPE_PARSE",
			`Could not parse ${show(value)}. Should be ISO8601.`,
		);
	return new Date(at);
});

/** A list of `min` to `max` items. */
export function list<T>(item: Field<T | undefined>, min: number, max: number) {
	return optional((value) => {
		if (!Array.isArray(value))
			throw fieldFault(
				"LIST_TYPE_CONVERT",
				"Only iterables may be used in a ListType",
			);
		checkLength(value.length, min, max);
		return readAll(
			value.map((one, index) => [
				String(index),
				() => required(item).read(one),
			]),
		).map(([, read]) => read as T);
	});
}

/** Up to `max` items of a query, where a list of one cannot be told from the item. */
export function several<T>(item: Field<T | undefined>, max: number) {
	const items = list(item, 1, max);
	return optional((value) =>
		required(items).read(Array.isArray(value) ? value : [value]),
	);
}

/** Fields by their names. */
export type Fields = Readonly<Record<string, Field<unknown>>>;

/** An object with these fields. */
export function object<const F extends Fields>(fields: F) {
	return optional((value) => {
		if (typeof value !== "object" || value === null || Array.isArray(value))
			throw fieldFault(
				"DICT_TYPE_CONVERT",
				"Only dictionaries may be used in a DictType",
			);
		const given = value as Readonly<Record<string, unknown>>;
		const read = readAll(
			Object.entries(fields).map(([key, field]) => [
				key,
				() => field.read(Object.hasOwn(given, key) ? given[key] : undefined),
			]),
		);
		return Object.fromEntries(read) as { [K in keyof F]: Read<F[K]> };
	});
}

/** Any value at all, kept as it came. For what the simulator stores and does not look into. */
export const anything: Field<unknown> = { read: (value) => value };

// Discord lists every fault of a form, not the first one.
function readAll(
	readers: readonly (readonly [key: string, read: () => unknown])[],
): [string, unknown][] {
	const values: [string, unknown][] = [];
	const faults: FaultTree = {};
	for (const [key, read] of readers) {
		try {
			values.push([key, read()]);
		} catch (error) {
			if (!(error instanceof FieldFault)) throw error;
			faults[key] = error.tree;
		}
	}
	if (Object.keys(faults).length > 0) throw new FieldFault(faults);
	return values;
}

function show(value: unknown): string {
	const shown = typeof value === "string" ? value : JSON.stringify(value);
	return shown.slice(0, 100);
}
