// Formats the text of a tool's result or error for people on Discord. Tools themselves omit text that is only for AI
// assistants (`forClients`). This file removes no lines, because a line may contain what people wrote.

import { escapeMarkdown } from "discord.js";
import { titleOf } from "../../discord/permissions.ts";
import { oneLine } from "../../discord/text.ts";
import { render } from "../../texts/texts.ts";

const noText = "It failed. The bot's log may have the details.";

/** Times as Discord timestamps, Markdown and mentions escaped. Never empty for an error. */
export function peopleText(text: string, { isError }: { isError: boolean }): string {
	const shown = isError ? inPeoplesWords(text) : text;
	return shown.split("\n").map(forDiscord).join("\n").trim() || (isError ? noText : "");
}

function inPeoplesWords(text: string): string {
	return text
		.replace(/^Invalid parameters: /, "")
		.replace(/\b[A-Z]{3,}(?:_[A-Z]+)*\b/g, (name) => render(titleOf(name), "en"))
		.replace(/\b([Tt])he guild(?: \d{17,20})?(?=[ .,:;'])(?! \(@)/g, "$1his server");
}

/** What a person wrote, in one line of a message. */
export function written(text: string): string {
	return forDiscord(oneLine(text));
}

function forDiscord(line: string): string {
	const escaped = escapeMarkdown(line, { maskedLink: true, heading: true, bulletedList: true })
		.replaceAll("<", "\\<")
		.replace(/^>/, "\\>");
	return escaped.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, (time) => {
		const seconds = Math.floor(Date.parse(time) / 1000);
		return Number.isNaN(seconds) ? time : `<t:${seconds}:f>`;
	});
}
