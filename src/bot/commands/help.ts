// `help`: lists what a person may use in a channel, as slash commands or chat commands.

import { sayIn } from "../../texts/texts.ts";
import type { Action } from "./action.ts";
import { chatUsage } from "./chat-arguments.ts";
import { commandText, slashName } from "./command-texts.ts";
import type { Command } from "./commands.ts";
import { helpCommand, type Offered } from "./definitions.ts";
import { type Page, pageButtons, pageOf } from "./pages.ts";
import type { Holds, Restricted } from "./who-may.ts";

export interface Helpful extends Omit<Offered, "granted"> {
	/** Such as "!m". */
	prefix: string;
	/** Of the chat. */
	commands: readonly Command[];
}

type ChatLine = Restricted & Pick<Command, "name" | "usage">;

function chatHelp(
	{ prefix, actions, commands }: Omit<Helpful, "menus">,
	holds: Holds,
	locale: string | null,
): string[] {
	const all: ChatLine[] = [
		{ ...helpCommand, usage: "" },
		...commands,
		...actions.map((action) => ({ ...action, usage: chatUsage(action, locale) })),
	];
	return all.filter(holds).map(({ name, usage }) => {
		const line = [prefix, name, usage].join(" ").trimEnd();
		return `\`${line}\`: ${commandText(name.split(" "), "description", locale)}`;
	});
}

function slashHelp(
	{ actions, menus }: Pick<Helpful, "actions" | "menus">,
	holds: Holds,
	locale: string | null,
): string[] {
	const all: (Restricted & Pick<Action, "name">)[] = [
		helpCommand,
		...actions,
		...menus.filter((menu) => menu.type === "slash"),
	];
	return all.filter(holds).map(({ name }) => {
		const path = name.split(" ");
		return `\`${slashName(path, locale)}\`: ${commandText(path, "description", locale)}`;
	});
}

// With the lines that wrap, what a phone shows at once.
const pageLines = 10;

/** "chat" lists chat commands for `asker`, "slash" slash commands for the only person who sees them. */
interface Shown {
	door: "chat" | "slash";
	asker: string;
	locale: string;
	holds: Holds;
}

export type Help = ReturnType<typeof createHelp>;

export function createHelp(offered: Helpful) {
	return ({ door, asker, locale, holds }: Shown, wanted = 0): { text: string; page: Page } => {
		const lines = (door === "chat" ? chatHelp : slashHelp)(offered, holds, locale);
		const pages = Math.ceil(lines.length / pageLines);
		const index = Math.min(Math.abs(Math.trunc(wanted)) || 0, pages - 1);
		const listed = lines.slice(index * pageLines, (index + 1) * pageLines).join("\n");
		const text = pages === 1 ? listed : `${listed}\n${sayIn(locale)("answer.page", { page: index + 1, pages })}`;
		const to = (other: number) => (other >= 0 && other < pages ? [other] : undefined);
		const turns = { asker, command: helpCommand.name, locale, back: to(index - 1), next: to(index + 1) };
		return { text, page: pageOf(text, [], pageButtons(turns)) };
	};
}
