// Reads the arguments of a chat command: mentions, ids and names, several people at once, and the reason as the rest.

import { type Guild, type GuildBasedChannel, type GuildMember, PermissionFlagsBits, type Role } from "discord.js";
import { findByName } from "../../discord/members/name-search.ts";
import { isObfuscated } from "../../discord/obfuscation.ts";
import { fold, inlineText } from "../../discord/text.ts";
import { ToolError } from "../../lib/tool-error.ts";
import type { Action, ActionOption, OptionValue } from "./action.ts";
import { commandText } from "./command-texts.ts";
import { isDurationWord } from "./durations.ts";

const maxPeople = 50;
const maxFound = 1_000;
const maxCandidates = 5;

/** Wrong syntax: the reply then shows the right one. */
export class UsageError extends ToolError {}

export function chatName({ chat, name }: Action): string {
	return (chat || undefined)?.name ?? name;
}

function chatOptions({ chat, options }: Action): ActionOption[] {
	const { order, required = [] } = chat || {};
	const chosen = order?.flatMap((name) => options.find((option) => option.name === name) ?? []) ?? [
		...options.filter((option) => !isRest(option) && option.kind !== "flag"),
		...options.filter(isRest).slice(0, 1),
	];
	return chosen.map((option) => ({ ...option, required: option.required === true || required.includes(option.name) }));
}

function isRest({ kind }: ActionOption): boolean {
	return kind === "reason" || kind === "text";
}

/** Such as "<@user …> <duration> [reason]". */
export function chatUsage(action: Action, locale: string | null): string {
	return chatOptions(action)
		.map((option) => {
			const text = usageOf(action, option, locale);
			return option.required ? `<${text}>` : `[${text}]`;
		})
		.join(" ");
}

function usageOf(action: Action, { kind, name, several, choices = [] }: ActionOption, locale: string | null): string {
	const shown = commandText([...action.name.split(" "), name], "name", locale);
	const more = several ? " …" : "";
	if (kind === "user" || kind === "role") return `@${shown}${more}`;
	if (kind === "channel") return `#${shown}${more}`;
	return kind === "choice" ? choices.join("|") : shown;
}

interface Word {
	text: string;
	/** If a quotation mark follows, `text` does not contain the "@". */
	hasAt: boolean;
	isQuoted: boolean;
	start: number;
}

const quotes = new Map([
	['"', '"'],
	["“", "”"],
	["„", "“"],
	["«", "»"],
]);

function wordsOf(text: string): Word[] {
	const words: Word[] = [];
	for (let at = 0; at < text.length; ) {
		const space = /^\s+/.exec(text.slice(at))?.[0].length ?? 0;
		at += space;
		if (at >= text.length) break;
		const start = at;
		// @"Ada Lovelace" is a name, too.
		const opening = text[at] === "@" ? at + 1 : at;
		const closing = quotes.get(text[opening] ?? "");
		const end = closing ? text.indexOf(closing, opening + 1) : -1;
		if (end > 0) {
			const hasAt = opening > start;
			const word = text.slice(opening + 1, end);
			words.push({ text: word, hasAt, isQuoted: true, start });
			at = end + 1;
		} else {
			const [word = ""] = /^\S+/.exec(text.slice(at)) ?? [];
			const hasAt = word.startsWith("@");
			words.push({ text: word, hasAt, isQuoted: false, start });
			at += word.length;
		}
	}
	return words;
}

function unquoted(text: string): string {
	const closing = quotes.get(text[0] ?? "");
	const isQuoted = closing !== undefined && text.length > 1 && text.endsWith(closing);
	return isQuoted ? text.slice(1, -1).trim() : text;
}

/** Throws a UsageError for wrong syntax, and a ToolError if a name matches nobody or several people. */
export function readChatArguments(author: GuildMember, action: Action, text: string): Map<string, OptionValue[]> {
	const values = new Map<string, OptionValue[]>();
	const words = wordsOf(text);
	const options = chatOptions(action);
	for (const option of options) {
		const found = isRest(option) ? takeRest(text, words) : takeWords(author, option, words, option === options.at(-1));
		if (found.length > 0) values.set(option.name, found);
		else if (option.required) throw new UsageError(`${usageOf(action, option, null)} is missing.`);
	}
	const [left] = words;
	if (left) throw new UsageError(`"${inlineText(left.text, 50)}" is not expected here.`);
	return values;
}

function takeRest(text: string, words: Word[]): OptionValue[] {
	const [first] = words;
	if (!first) return [];
	words.length = 0;
	const rest = unquoted(text.slice(first.start).trim());
	return rest === "" ? [] : [rest];
}

function takeWords(author: GuildMember, option: ActionOption, words: Word[], isLast: boolean): OptionValue[] {
	const values: OptionValue[] = [];
	// Any word can be a name only in these cases; otherwise it can belong to the next option, such as the reason.
	const takesName = option.required === true || isLast;
	const max = option.several ? maxPeople : 1;
	while (values.length < max) {
		const [word] = words;
		if (!word) break;
		const value = readWord(author, option, word, takesName && values.length === 0);
		if (value === undefined) break;
		words.shift();
		if (!values.includes(value)) values.push(value);
	}
	return values;
}

function readWord(author: GuildMember, option: ActionOption, word: Word, isName: boolean): OptionValue | undefined {
	const { text, hasAt, isQuoted } = word;
	const { kind, choices = [] } = option;
	const { guild } = author;
	switch (kind) {
		case "user":
			return idIn(text, /^<@!?(\d{17,20})>$/) ?? (isName || hasAt ? memberNamed(guild, text) : undefined);
		case "role":
			return idIn(text, /^<@&(\d{17,20})>$/) ?? (isName || isQuoted ? roleNamed(guild, text) : undefined);
		case "channel":
			return (
				idIn(text, /^<#(\d{17,20})>$/) ?? (isName || text.startsWith("#") ? channelNamed(author, text) : undefined)
			);
		case "duration":
			if (isDurationWord(text, option.suggestions)) return text.toLowerCase();
			break;
		case "integer":
		case "case": {
			const digits = text.replace(kind === "case" ? /^#/ : /^\+/, "");
			if (/^\d{1,9}$/.test(digits)) return Number(digits);
			break;
		}
		case "choice":
			return choices.find((choice) => fold(choice) === fold(text));
		case "flag":
			if (/^(?:yes|on|true)$/i.test(text)) return true;
			if (/^(?:no|off|false)$/i.test(text)) return false;
			break;
		default:
			return text;
	}
	return undefined;
}

function idIn(text: string, mention: RegExp): string | undefined {
	return mention.exec(text)?.[1] ?? /^\d{17,20}$/.exec(text)?.[0];
}

function memberNamed(guild: Guild, text: string): string {
	const name = fold(text.replace(/^@/, ""));
	const shown = inlineText(text, 50);
	if (name === "") throw new UsageError(`${shown} is not the name of a member.`);
	const { total, members } = findByName(guild, name, maxFound);
	const owner = members.find(({ user }) => fold(user.username) === name);
	if (owner) return owner.id;
	const named = members.filter(({ displayName, user }) =>
		[displayName, user.globalName].some((one) => one && fold(one) === name),
	);
	const [only, ...others] = named;
	if (only && others.length === 0) return only.id;
	const candidates = (only ? named : members).slice(0, maxCandidates).map(
		({ id, displayName, user }) =>
			// The bullet prevents Discord from formatting a name as a heading or quote.
			`• ${inlineText(displayName, 40)} (@${inlineText(user.username, 40)}, ID: ${id})`,
	);
	if (candidates.length === 0)
		throw new ToolError(
			`No member of this server is called ${shown}. Nothing was done. Write a mention or an ID; of people who have left or are banned, the ID.`,
		);
	const count = only ? named.length : total;
	throw new ToolError(
		[
			`${only ? `Several members are called ${shown}` : `No member is called exactly ${shown}`}. Nothing was done. Write a mention, an ID, or the username of one:`,
			...candidates,
			...(count > candidates.length ? [`and ${count - candidates.length} more`] : []),
		].join("\n"),
	);
}

function roleNamed(guild: Guild, text: string): string {
	return uniquely("role", text, [...guild.roles.cache.values()], (role: Role) => role.name.replace(/^@/, ""));
}

function channelNamed(author: GuildMember, text: string): string {
	const visible = author.guild.channels.cache.filter(
		(channel) => channel.permissionsFor(author)?.has(PermissionFlagsBits.ViewChannel) && !isObfuscated(channel),
	);
	return uniquely("channel", text, [...visible.values()], (channel: GuildBasedChannel) => channel.name);
}

function uniquely<Thing extends { id: string }>(
	noun: string,
	text: string,
	things: readonly Thing[],
	nameOf: (thing: Thing) => string,
): string {
	const name = fold(text.replace(/^[@#]/, ""));
	const found = things.filter((thing) => fold(nameOf(thing)) === name);
	const [only, ...others] = found;
	if (only && others.length === 0) return only.id;
	const shown = inlineText(text, 50);
	throw new ToolError(
		only
			? `Several ${noun}s are called ${shown}: ${found
					.slice(0, maxCandidates)
					.map(({ id }) => id)
					.join(", ")}. Nothing was done. Write the ID of one.`
			: `No ${noun} is called ${shown}. Nothing was done. Write a mention or an ID.`,
	);
}
