// Lists in pages, each one message with buttons that turn them. Their custom_ids have the person who asked, the command
// and its options, so that buttons work after a restart of the bot.

import { type APIEmbed, ButtonStyle } from "discord.js";
import { languageOf, render, sayIn } from "../../texts/texts.ts";
import { buttonRow } from "../messages/buttons.ts";
import { noMentions } from "../messages/split-message.ts";
import type { Pages } from "../results/result.ts";
import type { PersonCall } from "../tool/call-as.ts";
import type { Action } from "./action.ts";
import type { Values } from "./tool-call.ts";

export const pagePrefix = "page";

// https://docs.discord.com/developers/components/reference#anatomy-of-a-component-custom-id
const maxId = 100;
// https://docs.discord.com/developers/resources/message#embed-object-embed-limits
const maxDescription = 4_096;

type Buttons = ReturnType<typeof buttonRow>;

export type Page = ReturnType<typeof pageOf>;

export function pageOf(content: string, embeds: APIEmbed[], buttons?: Buttons) {
	return { content, embeds, components: buttons ? [buttons] : [], allowedMentions: noMentions };
}

/** `back`, `next`: what the buttons say of the page before and after. Undefined if there is none. */
type Turns = Record<"asker" | "command" | "locale", string> & Record<"back" | "next", readonly unknown[] | undefined>;

/** Undefined if there is one page only, or if Discord would refuse the buttons. */
export function pageButtons({ asker, command, locale, back, next }: Turns): Buttons | undefined {
	const say = sayIn(locale);
	const idOf = (query: Turns["back"], none: string) =>
		[pagePrefix, ...(query ? [asker, command, ...query] : [none])].join(":");
	const ids = { back: idOf(back, "first"), next: idOf(next, "last") };
	if ((!back && !next) || Math.max(ids.back.length, ids.next.length) > maxId) return undefined;
	const style = ButtonStyle.Secondary;
	return buttonRow([
		{ id: ids.back, label: say("answer.previous.button"), style, disabled: !back },
		{ id: ids.next, label: say("answer.next.button"), style, disabled: !next },
	]);
}

/** What an action answered, and as one message if that is possible. */
export function paged(
	{ name: command, options, pages }: Action,
	values: Values,
	{ person, locale = "" }: PersonCall,
	{ text, title, back, next, more }: Pages & { text: string },
): { text: string; page?: Page } {
	const query = (to: number | null | undefined) =>
		to === undefined ? undefined : options.map(({ name }) => (name === pages ? to : values.get(name)?.[0]));
	const buttons = pageButtons({ asker: person.id, command, locale, back: query(back), next: query(next) });
	const language = languageOf(locale);
	const whole = more ? `${text}\n${render(more, language)}` : text;
	const description = buttons ? text : whole;
	if (description.length > maxDescription) return { text: whole };
	return { text: whole, page: pageOf("", [{ title: render(title, language), description, color: 0x546e7a }], buttons) };
}

/** Undefined if the action has other options. The tool checks the values. */
export function valuesOfPage({ options }: Action, query: readonly string[]): Values | undefined {
	if (query.length !== options.length) return undefined;
	const given = options.map(({ name, kind }, index) => {
		const value = query[index] ?? "";
		return [name, value === "" ? [] : [kind === "case" || kind === "integer" ? Number(value) : value]] as const;
	});
	return new Map(given);
}
