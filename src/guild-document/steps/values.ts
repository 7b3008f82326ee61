// Comparing values of a document, and writing them as texts for people.

import { permissionNames } from "../read/from-api.ts";
import type { FieldChange, RawOverwrite } from "../steps.ts";

const sets = new Set([
	"permissions",
	"keyword_filter",
	"regex_patterns",
	"allow_list",
	"system_channel_flags",
	"presets",
	"actions",
	"exempt_roles",
	"exempt_channels",
	"default_channels",
	"roles",
	"channels",
	"allow",
	"deny",
	"overwrites",
]);

/** 32 hexadecimal digits. */
export const isPictureHash = (text: string) => /^[0-9a-f]{32}$/.test(text);

/** Also if lists of permissions differ in order. */
export function sameValue(field: string, a: unknown, b: unknown): boolean {
	return normalText(field, a) === normalText(field, b);
}

function normalText(field: string, value: unknown): string {
	if (Array.isArray(value)) {
		const texts = value.map((one) => normalText("", one));
		return `[${(sets.has(field) ? [...new Set(texts)].sort() : texts).join()}]`;
	}
	if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
	const parts = Object.entries(value)
		// Nothing is allowed or denied: the field may be left out.
		.filter(([, one]) => one !== undefined && !isEmptyList(one))
		.map(([name, one]) => `${JSON.stringify(name)}:${normalText(name, one)}`);
	return `{${parts.sort().join()}}`;
}

const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

const titleFields = ["name", "title", "channel"];

/** For users. */
export function describeValue(value: unknown, nameOf: (id: string) => string): string {
	if (typeof value === "string") {
		const [, emoji] = /^:(.+):$/.exec(value) ?? [];
		return emoji === undefined ? nameOf(value) : `:${nameOf(emoji)}:`;
	}
	if (Array.isArray(value)) return value.map((one) => describeValue(one, nameOf)).join(", ");
	if (typeof value !== "object" || value === null) return value === undefined ? "" : String(value);
	const given = Object.entries(value).filter(
		([, one]) => one !== undefined && one !== "" && one !== false && !isEmptyList(one),
	);
	const isTitle = ([field]: [string, unknown]) => titleFields.includes(field);
	return [
		...given.filter(isTitle).map(([, one]) => describeValue(one, nameOf)),
		...given.filter((entry) => !isTitle(entry)).map(([field, one]) => `${field} ${describeValue(one, nameOf)}`),
	].join(" ");
}

/** For users: one for each role or member whose overwrite changes. */
export function accessChanges(
	before: readonly RawOverwrite[],
	after: readonly RawOverwrite[],
	nameOf: (id: string) => string,
): FieldChange[] {
	const old = new Map(before.map((one) => [one.id, one]));
	const fresh = new Map(after.map((one) => [one.id, one]));
	return [...new Set([...fresh.keys(), ...old.keys()])].flatMap((id) => {
		const [from = "", to = ""] = [old.get(id), fresh.get(id)].map(describeOverwrite);
		if (from === to) return [];
		const change = { field: `access of ${nameOf(id)}`, after: to };
		return old.has(id) ? { ...change, before: from } : change;
	});
}

function describeOverwrite(overwrite: RawOverwrite | undefined): string {
	if (!overwrite) return "none";
	const { allow, deny } = overwrite;
	return (
		[...permissionNames(allow), ...permissionNames(deny).map((name) => `-${name}`)].join(", ") ||
		"nothing allowed or denied"
	);
}
