// Every message in every language with values that are hard to write.

import { describe, expect, test } from "bun:test";
import { SaidError } from "../../src/texts/said-error.ts";
import {
	allLanguages,
	type Language,
	languageOf,
	render,
	type Said,
	said,
	sayIn,
	type TextKey,
	textsOf,
	type Value,
} from "../../src/texts/texts.ts";

const counts = [0, 1, 2, 5, 1_000_000];
const names = ["שלום עולם", "x".repeat(100), "🍞👩‍👩‍👧", "\\*\\*bold\\*\\* \\_", "<@1574376982974562306>"];

const limits: Record<string, number> = {
	button: 80,
	label: 45,
	hint: 100,
	placeholder: 150,
	form: 45,
	title: 256,
	field: 256,
	name: 32,
	description: 100,
};
const limitOf = (key: TextKey) => limits[key.slice(key.lastIndexOf(".") + 1)] ?? 2000;

const keys = Object.keys(textsOf("en")) as TextKey[];

/** The message with each of the hard values in all its parameters. */
function* renderings(key: TextKey, language: Language): Generator<string> {
	const message = textsOf("en")[key];
	const text = typeof message === "object" ? Object.values(message).join(" ") : (message ?? "");
	const parameters = new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name));
	for (const count of typeof message === "object" ? counts : [1])
		for (const name of names) {
			const values: Record<string, Value> = { count };
			for (const parameter of parameters) if (parameter !== "count") values[parameter] = name;
			yield render({ key, values } as Said, language);
		}
}

describe.each(allLanguages.map((language) => ({ language })))("$language", ({ language }) => {
	test("every message exists", () => {
		expect(keys.filter((key) => textsOf(language)[key] === undefined)).toEqual([]);
	});

	test("no message has a placeholder left, a raw id, a double space, an (s) or a length over Discord's limit", () => {
		const bad = keys.flatMap((key) =>
			[...renderings(key, language)].flatMap((text) => {
				const plain = text.replace(/<(?:@[!&]?|#)\d+>/g, "@");
				const isLong = text.length > limitOf(key) + (text.length - plain.length);
				return /[{}]|\d{17}| {2}|\(s\)|undefined|NaN/.test(plain) || plain.trim() === "" || isLong
					? [`${key}: ${text}`]
					: [];
			}),
		);
		expect(bad).toEqual([]);
	});
});

test("numbers and plural forms are those of the language", () => {
	const messages = (locale: string, count: number) => sayIn(locale)("count.messages", { count });
	expect([0, 1, 2, 1_000_000].map((count) => messages("en-US", count))).toEqual([
		"0 messages",
		"1 message",
		"2 messages",
		"1,000,000 messages",
	]);
	expect([0, 1, 1_000_000].map((count) => messages("de", count))).toEqual([
		"0 Nachrichten",
		"1 Nachricht",
		"1.000.000 Nachrichten",
	]);
});

test("a locale without a language of its own is English", () => {
	expect(["de", "en-GB", "fr", "", undefined, null, "__proto__"].map((locale) => languageOf(locale))).toEqual([
		"de",
		"en",
		"en",
		"en",
		"en",
		"en",
		"en",
	]);
});

test("an error is English for models, and in the person's language for people", () => {
	const error = new SaidError(said("error.internal"));
	expect(error.message).toBe(render(said("error.internal"), "en"));
	expect(render(error.said, "de")).toBe(sayIn("de")("error.internal"));
});

test("a missing, a superfluous and an unknown parameter do not compile", () => {
	// @ts-expect-error: no values
	const missing = () => said("count.messages");
	// @ts-expect-error: one too many
	const superfluous = () => said("count.messages", { count: 1, name: "x" });
	// @ts-expect-error: none is needed
	const unneeded = () => said("error.internal", { name: "x" });
	expect([missing, superfluous, unneeded]).toHaveLength(3);
});
