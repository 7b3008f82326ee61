// Names and descriptions of commands, options and choices in all languages. Their keys are made from the English names, by
// which the bot knows them: interactions have these in every language.
// https://docs.discord.com/developers/interactions/application-commands#localization

import { Locale, type LocalizationMap } from "discord.js";
import { languageOf, render, type Said, textsOf } from "../../texts/texts.ts";

/** Such as ["ban"], ["ban", "duration"], ["purge", "latest", "count"] or ["menu", "Time out"]. */
export type CommandPath = readonly string[];

type Kind = "name" | "description";

const locales = Object.values(Locale).filter((locale) => languageOf(locale) !== "en");

/** `command.ban.reason.name`, or `command.option.reason.name`, which options of several commands share. */
export function commandSaid(path: CommandPath, kind: Kind): Said | undefined {
	const last = (path.at(-1) ?? "").toLowerCase().replaceAll(" ", "_");
	const keys = [
		["command", ...path.slice(0, -1), last, kind],
		...(path.length > 1 ? [["command", "option", last, kind]] : []),
	];
	// The choices of /cases are the titles of cases.
	if (path.length > 2 && kind === "name") keys.push(["case", ...path.slice(-2)]);
	const key = keys.map((parts) => parts.join(".")).find((one) => Object.hasOwn(textsOf("en"), one));
	return key === undefined ? undefined : ({ key } as Said);
}

/** In the language of one of Discord's locales. The English name if there is no text. */
export function commandText(path: CommandPath, kind: Kind, locale: string | null): string {
	const said = commandSaid(path, kind);
	return said ? render(said, languageOf(locale)) : (path.at(-1) ?? "");
}

/** Such as "/purge latest", as a client in this language shows it. */
export function slashName(path: CommandPath, locale: string | null): string {
	return `/${path.map((_, index) => commandText(path.slice(0, index + 1), "name", locale)).join(" ")}`;
}

/** The fields of a definition. Discord ignores translations that are the same as the English text. */
function localized(path: CommandPath, kind: Kind): { text: string; all: LocalizationMap | null } {
	const text = commandText(path, kind, null);
	const all = locales.map((locale) => [locale, commandText(path, kind, locale)] as const);
	const others = all.filter(([, one]) => one !== text);
	return { text, all: others.length > 0 ? Object.fromEntries(others) : null };
}

export function namesOf(path: CommandPath): { name: string; name_localizations: LocalizationMap | null } {
	const { text, all } = localized(path, "name");
	return { name: text, name_localizations: all };
}

export function descriptionsOf(path: CommandPath): {
	description: string;
	description_localizations: LocalizationMap | null;
} {
	const { text, all } = localized(path, "description");
	return { description: text, description_localizations: all };
}
