// What people on Discord and visitors of a page read: messages with named parameters, one file per language. Logs, tool
// results for models and messages for operators are not here.

import { de } from "./de.ts";
import { en } from "./en.ts";
import type { Message, Names } from "./message.ts";

type English = typeof en;

export type TextKey = keyof English;

/** A message in no language yet. */
export interface Said {
	readonly key: TextKey;
	readonly values: Values;
	/** The English message, if en.ts has none. */
	readonly english?: string;
}

/**
 * Numbers are written as the language does. Text is inserted as it is: callers escape what people wrote, and pass ids as
 * mentions. A message is rendered in the same language.
 */
export type Value = string | number | Said;

/** A message, or text that is the same in all languages. */
export type Text = string | Said;

type Values = Readonly<Record<string, Value>>;

export type ValuesOf<Key extends TextKey> = {
	readonly [Name in Names<English[Key]>]: Name extends "count" ? number : Value;
};

type Arguments<Key extends TextKey> = [Names<English[Key]>] extends [never] ? [] : [values: ValuesOf<Key>];

const languages = { en, de } as const;

export type Language = keyof typeof languages;

export const allLanguages = Object.keys(languages) as readonly Language[];

/**
 * The language for one of Discord's locales, such as "de" or "en-GB": a person's (`interaction.locale`) for what only
 * that person sees, else the guild's `preferredLocale`. https://docs.discord.com/developers/reference#locales
 */
export function languageOf(locale: string | null | undefined): Language {
	const [name = ""] = locale?.split("-") ?? [];
	return allLanguages.find((one) => one === name) ?? "en";
}

/** The first of a browser's languages that exists, by the header Accept-Language (RFC 9110, section 12.5.4). */
export function acceptedLanguage(header: string | null): Language {
	const ranges = (header ?? "").split(",").map((range) => {
		const [name = "", weight = ""] = range.split(";").map((part) => part.trim());
		const [, q = "1"] = /^q=([01](?:\.\d{0,3})?)$/i.exec(weight) ?? [];
		return { name: name.toLowerCase().split("-")[0], q: Number(q) };
	});
	const wanted = ranges.filter(({ q }) => q > 0).sort((a, b) => b.q - a.q);
	for (const { name } of wanted) for (const language of allLanguages) if (language === name) return language;
	return "en";
}

export function said<Key extends TextKey>(key: Key, ...values: Arguments<Key>): Said {
	return { key, values: values[0] ?? {} };
}

/** One message of several lines. */
export function joined([first, ...rest]: readonly Said[]): Said | undefined {
	const more = rest.length > 0 ? joined(rest) : undefined;
	return first && more ? said("result.lines", { first, rest: more }) : first;
}

/** With commas between them; "" for none. */
export function inList(items: readonly Text[]): Text {
	return items.length === 0 ? "" : items.reduceRight((rest, first) => said("result.list", { first, rest }));
}

/** English if the language lacks the message. */
export function render(text: Text, language: Language): string {
	if (typeof text === "string") return text;
	const { key, values, english = en[key] } = text;
	const texts: Partial<Record<TextKey, Message>> = languages[language];
	const own = texts[key];
	return own === undefined ? fill(english, values, "en") : fill(own, values, language);
}

/** Writes messages in one language. */
export type Say = <Key extends TextKey>(key: Key, ...values: Arguments<Key>) => string;

/** For a language, or for one of Discord's locales. */
export function sayIn(locale: string | null | undefined): Say {
	const language = languageOf(locale);
	return (key, ...values) => render(said(key, ...values), language);
}

/** Every message of a language with its key; for `name_localizations`, and for tests. */
export function textsOf(language: Language): Readonly<Partial<Record<TextKey, Message>>> {
	return languages[language];
}

const forms = new Map(
	allLanguages.map((one) => [one, { plural: new Intl.PluralRules(one), number: new Intl.NumberFormat(one) }]),
);

function fill(message: Message, values: Values, language: Language): string {
	const { plural, number } = forms.get(language) ?? {};
	const rule = typeof message === "string" ? "other" : (plural?.select(Number(values.count)) ?? "other");
	const text = typeof message === "string" ? message : (message[rule] ?? message.other);
	return text.replace(/\{(\w+)\}/g, (_, name: string) => {
		const value = values[name] ?? "";
		if (typeof value === "object") return render(value, language);
		return typeof value === "number" ? (number?.format(value) ?? "") : value;
	});
}
